"""What browsers send and are sent about run folders and trainings."""

from typing import Annotated, Literal

from pydantic import Field

from .messages import Message, Name

NewName = Annotated[str, Field(max_length=50, pattern=r"^([A-Za-z0-9][A-Za-z0-9_-]*)?$")]

# ---------------------------------------------------------------- from browsers


class NewTraining(Message):
    """A short training to start, with the preset `small`."""

    learner: Name = Field(examples=["exit-oos"])
    game: Name = Field(examples=["kuhn"])
    name: NewName = Field("", description="Of the folder in runs/; empty: the next free one.")
    options: dict[Annotated[str, Field(max_length=40)], Annotated[int, Field(ge=0, lt=1 << 31)]] = Field(
        default_factory=dict, max_length=10, description="Values other than the preset's; see `/api/lab/learners`."
    )


class OneRun(Message):
    """Which run is meant, by the name of its folder in runs/."""

    run: Name


class Watch(Message):
    """Says over a live connection of which run the details are sent."""

    run: Name | None


# ---------------------------------------------------------------- to browsers


class Option(Message):
    name: str
    about: str
    most: int


class OfferedGame(Message):
    game: str
    defaults: dict[str, int] = Field(description="The preset's values of the options.")


class LearnerInfo(Message):
    name: str
    about: str
    options: list[Option]
    games: list[OfferedGame]


class Interval(Message):
    """A mean with its 95% interval, where there is one."""

    mean: float | None
    low: float | None
    high: float | None


State = Literal["starting", "running", "stopping", "stopped", "finished", "failed", "damaged"]


class RunInfo(Message):
    """A run folder at a glance."""

    name: str = Field(description="Its folder in runs/.")
    command: str = Field(description="`train`, `solve`, `match`, `tournament`, `session`, `record`.")
    method: str = Field(description="Learner or solver.")
    game: str
    players: list[str]
    state: State
    done: int | None = Field(description="Iterations or games.")
    wanted: int | None
    figures: dict[str, float] = Field(description="The last measurements.")
    score: Interval | None = Field(description="Of the first player of a match, where payoffs don't differ in size.")
    payoff: Interval | None = Field(description="Its mean payoff, where they do.")
    changed: float = Field(description="Seconds since 1970.")
    problem: str = Field(description="Why it can't be read or has failed; mostly empty.")
    player: str = Field(description="The name of the player that plays what was learned; empty: none yet.")
    seats: int = Field(description="Of the game, where it can be played here; else 0.")
    can_stop: bool
    can_resume: bool


class RunList(Message):
    kind: Literal["runs"] = "runs"
    runs: list[RunInfo] = Field(description="The newest first.")
    left_out: int = Field(description="Older runs that aren't listed.")


class Curve(Message):
    name: str
    points: list[tuple[float, float]] = Field(description="Iteration and value; thinned where there are many.")


class Standing(Message):
    player: str
    payoff: Interval


class ResultView(Message):
    """The result of a match, a session or a tournament."""

    wins: int | None
    draws: int | None
    losses: int | None
    rows: list[Standing] = Field(description="The best first.")
    cross: list[list[float | None]] = Field(description="Mean payoff of the player of a row against that of a column.")


class RunDetail(Message):
    kind: Literal["run"] = "run"
    run: RunInfo
    curves: list[Curve]
    settings: dict[str, str]
    result: ResultView | None
    log: str = Field(description="The end of what a training of this server has printed.")


class Gone(Message):
    """Why nothing is sent about the run that is watched."""

    kind: Literal["gone"] = "gone"
    detail: str


class RatedPlayer(Message):
    player: str
    elo: float
    low: float
    high: float
    games: int
    score: float
    note: str


class RatingList(Message):
    """Elo ratings from all games in runs/; intervals are relative to the player whose rating is fixed."""

    games: list[str] = Field(description="Games of two seats that there are records of.")
    game: str = Field(description="The rated one; empty: none.")
    players: list[RatedPlayer]
    problem: str = Field(description="Why there is no rating, or what was left out; mostly empty.")
