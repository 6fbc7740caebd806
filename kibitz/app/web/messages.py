"""What browsers send and are sent. Everything about a position is made from one seat's view of it."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from ..ui.words import LANGUAGES

Language = Literal["en", "de"]
assert set(LANGUAGES) == {"en", "de"}

Name = Annotated[str, Field(min_length=1, max_length=200, pattern=r"^[^\x00-\x1f\x7f]+$")]


MAX_GAMES = 48  # of a session, and games of which the results are shown


class Message(BaseModel):
    model_config = ConfigDict(extra="forbid")


# ---------------------------------------------------------------- from browsers


class NewTable(Message):
    """A table to open: its game, and who plays in each seat of the first game."""

    game: Name = Field(examples=["leduc"])
    seats: list[Name] = Field(
        min_length=1,
        max_length=16,
        description="In each seat `human`, a strength (`quick`, `solid`, `strong`) or the name of a player.",
        examples=[["human", "solid"]],
    )
    games: int = Field(
        0,
        ge=0,
        le=MAX_GAMES,
        description="Games of a session, where the game has sessions; 0: single games.",
    )


class Chosen(Message):
    """A game and a strength that somebody is about to play against."""

    game: Name = Field(examples=["leduc"])
    strength: Literal["quick", "solid", "strong"] = "solid"


class Move(Message):
    action: int = Field(ge=0, le=1 << 20, description="The number of a legal action.")
    turn: int = Field(ge=0, le=1 << 20, description="`turn` of the position in which it was chosen.")
    planned: bool = Field(False, description="Whether it is an action of the next turn, such as a card after silence.")


class Kibitz(Message):
    """Switches advice on or off, over a live connection."""

    on: bool
    player: Name = Field("solid", description="Who advises: a strength, or the name of a player.")


# ---------------------------------------------------------------- to browsers


class Problem(Message):
    """Why a request was refused, in one sentence."""

    detail: str


class GameInfo(Message):
    name: str
    about: str
    parameters: str = Field(description="Parameters with their defaults.")
    seats: int
    hidden: bool = Field(description="Whether the game has hidden information.")
    sessions: bool = Field(description="Whether it can be played as a session of several games.")
    strengths: dict[str, str] = Field(description="Players by strength.")


class PlayerInfo(Message):
    name: str
    about: str
    example: str


class SeatLink(Message):
    seat: int
    key: str = Field(description="Gives access to the table from this seat.")


class Opened(Message):
    """A new table, with one key per human, the first for whoever has opened it."""

    links: list[SeatLink]


class Seat(Message):
    seat: int = Field(description="From 1.")
    you: bool
    player: str = Field(description="`human`, or the name of a player.")
    strength: str = Field(description="In words, where the player was chosen by one.")
    to_move: bool


class LegalMove(Message):
    action: int
    name: str
    start: int = Field(description="The cell from which a piece moves; -1: none.")
    cells: list[int] = Field(description="Cells of the board that stand for the move.")
    planned: bool = Field(description="Whether it is an action of the next turn, after this one is passed over.")


class Result(Message):
    payoff: float
    text: str


class SessionView(Message):
    """Where a session stands. Seats are those of the game at the table, from 1; 0: none."""

    games: int = Field(description="Games of the session.")
    played: int = Field(description="Games that are over.")
    owes: list[bool] = Field(description="By seat: whether a compulsory solo is still owed.")
    solos: list[int] = Field(description="For each game that is over the seat whose compulsory solo it was.")
    dealer: int
    forced: int = Field(description="The seat that must play its compulsory solo now.")
    over: bool = Field(description="Whether all games are played: the totals are final, and a new session may begin.")


class TableView(Message):
    """A table as one seat sees it; everything once the game is over."""

    kind: Literal["table"] = "table"
    game: str
    number: int = Field(description="Games played at this table, this one included.")
    seats: list[Seat]
    phase: Literal["yours", "others", "over"]
    turn: int = Field(description="Number of moves that this seat has made.")
    picture: str = Field(description="The position as SVG or HTML.")
    text: str = Field(description="The position as text.")
    moves: list[LegalMove]
    events: list[str] = Field(description="What has happened, one sentence each.")
    result: Result | None
    score: str
    played: int = Field(description="Games finished at this table.")
    results: list[list[float]] = Field(description="Payoffs in the last of them, by the seats of this game.")
    totals: list[float] = Field(description="Payoffs in all of them, by the seats of this game.")
    session: SessionView | None = Field(description="The session, where the table plays one.")
    can_undo: bool
    can_resign: bool
    trouble: str = Field(description="Why the game can't go on or isn't saved; mostly empty.")


class Progress(Message):
    kind: Literal["progress"] = "progress"
    part: int = Field(description="Number of the part of the game that is compiled now, once; 0: none.")
    kibitzer: bool = Field(default=False, description="Whether it is the kibitzer, not a player at the table.")


class AdvisedMove(Message):
    action: int
    name: str
    policy: float
    value: float | None
    error: float | None = Field(description="Standard error of the value.")
    interval: tuple[float, float] | None = Field(description="95% interval of the value.")
    visits: int


class AdviceView(Message):
    kind: Literal["advice"] = "advice"
    turn: int
    number: int
    player: str
    label: str = Field(default="", description="What the adviser is, and how weak, in one sentence.")
    moves: list[AdvisedMove] = Field(description="The best first.")
    line: list[str] = Field(default=[], description="Principal variation.")
    notes: list[str]
    finished: bool
    seconds: float = 0.0
    trouble: str = ""


class Insight(Message):
    """What lies behind the advice on a position."""

    kind: Literal["insight"] = "insight"
    turn: int
    number: int
    beliefs: dict[str, Any] | None = Field(description="What the adviser believes; null: as before, or nothing.")
    patterns: list[dict[str, Any]] = Field(description="Of the most advised moves, where a policy of patterns advises.")
