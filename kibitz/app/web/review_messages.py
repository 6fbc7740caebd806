"""What browsers send and are sent about reviews of finished games."""

from typing import Annotated, Literal

from pydantic import Field

from ...games.records import LARGEST
from .messages import AdvisedMove, LegalMove, Message, Name

MAX_ACTIONS = 5000  # of a game
MAX_TEXT = 60_000  # characters of a file

Integer = Annotated[int, Field(ge=0, lt=LARGEST)]


class ForfeitedGame(Message):
    seat: Annotated[int, Field(ge=0, lt=16)]
    reason: Annotated[str, Field(max_length=1000)]


class GameRecord(Message):
    """A game as `kibitz match` records it: `actions` include outcomes of chance."""

    number: Integer = 0
    game: Name = Field(examples=["kuhn"])
    players: list[Annotated[str, Field(max_length=300)]] = Field(min_length=1, max_length=16)
    seed: Integer = 0
    actions: list[Integer] = Field(max_length=MAX_ACTIONS)
    payoffs: list[Annotated[float, Field(allow_inf_nan=False)]] = Field(min_length=1, max_length=16)
    forfeit: ForfeitedGame | None = Field(None, description="Who couldn't go on, and why.")


class RunGames(Message):
    name: str = Field(description="The folder, inside `runs/`.")
    game: str
    players: list[str]
    changed: float = Field(description="When it was last written to, in seconds since 1970.")


class GameList(Message):
    games: list[GameRecord]
    more: bool = Field(description="Whether there are games after these.")


class FinishedGame(Message):
    record: GameRecord
    seat: int = Field(description="Of the person who asks, from 1.")


class GameFile(Message):
    """A file of games, in any format that `kibitz review` reads."""

    text: str = Field(min_length=1, max_length=MAX_TEXT)
    rules: Annotated[str, Field(max_length=200, pattern=r"^[^\x00-\x1f\x7f]*$")] = Field(
        "", description="The game that was played, for formats that don't name it; empty: the usual one."
    )


class Spelling(Message):
    """An action to spell as players write it."""

    turn: int = Field(ge=1, le=MAX_ACTIONS)
    action: Integer


class OutlineRequest(Message):
    record: GameRecord
    spell: list[Spelling] = Field([], max_length=MAX_ACTIONS)


class Turn(Message):
    turn: int = Field(description="From 1.")
    seat: int = Field(description="From 1; 0: chance.")
    action: int
    name: str
    told: bool = Field(description="Whether a table tells of it: nobody hears that a seat announces nothing.")


class Outline(Message):
    """A game move by move."""

    turns: list[Turn]
    names: list[str] = Field(description="The actions that were to be spelled, in order.")
    over: bool = Field(description="Whether the game was played to its end.")
    hidden: bool
    strengths: dict[str, str] = Field(description="Players who may advise, by strength.")


class PositionRequest(Message):
    record: GameRecord
    turn: int = Field(ge=1, le=MAX_ACTIONS + 1, description="Show the position before this turn.")
    revealed: bool = Field(False, description="Whether to show everything, not what the seat to move saw.")


class Position(Message):
    seat: int = Field(description="The seat to move, from 1; 0: chance, or nobody.")
    picture: str
    text: str
    moves: list[LegalMove]


class ReviewRequest(Message):
    record: GameRecord
    player: Name = Field("solid", description="Who advises: a strength, or the name of a player.")
    browser: Annotated[str, Field(max_length=64, pattern=r"^[\w-]+$")] = Field(
        description="A name that the browser has chosen: its next review ends this one."
    )


# ---------------------------------------------------------------- lines of a review


class JudgedMove(AdvisedMove):
    good: bool = Field(description="Whether it is the best move, or costs too little to be marked.")


class ReviewStart(Message):
    kind: Literal["start"] = "start"
    player: str = Field(description="Who advises.")
    total: int = Field(description="Number of decisions.")
    zero_sum: bool = Field(description="Whether what one of two seats wins the other loses.")
    marks: dict[str, float] = Field(description="The cost from which each mark is given.")


class ReviewLine(Message):
    """A decision of the game with the advice on it. Values are expected payoffs of the seat that moves.

    A later line of the same turn replaces it.
    """

    kind: Literal["move"] = "move"
    turn: int = Field(description="From 1; outcomes of chance count.")
    seat: int = Field(description="From 1.")
    action: int
    best: int = Field(description="The best action.")
    value: float | None = Field(description="After the action that was played; null: unknown.")
    best_value: float | None
    cost: float | None
    mark: Literal["", "inaccuracy", "mistake", "blunder"]
    moves: list[JudgedMove] = Field(description="The advice, the best move first.")
    notes: list[str]


class ReviewProgress(Message):
    kind: Literal["progress"] = "progress"
    done: int = Field(description="Decisions reviewed.")


class ReviewCompiling(Message):
    kind: Literal["compiling"] = "compiling"
    part: int = Field(description="Number of the part of the game that is compiled now, once; 0: none.")


class ReviewEnd(Message):
    kind: Literal["end"] = "end"
    complete: bool
    trouble: str = Field(description="Why it isn't complete; empty: it was stopped.")
