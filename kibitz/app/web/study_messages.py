"""What the page of studies and the server tell each other."""

from typing import Annotated, Literal

from pydantic import Field

from .messages import AdviceView, LegalMove, Message, Name

MAX_TEXT = 12_000  # characters of a position

Text = Annotated[str, Field(max_length=MAX_TEXT)]


class Position(Message):
    """A position to show."""

    game: Name = Field(examples=["leduc"])
    moves: Text = Field(
        "",
        description="All moves and chance outcomes so far, ? for what is unknown; or a whole command `kibitz advise`.",
        examples=["? K raise"],
    )
    seat: int = Field(0, ge=0, le=16, description="Who looks, from 1; 0: the seat to move.")
    fill: Literal["", "unknown", "deal", "forced"] = Field(
        "",
        description="Go on with deals: `unknown` leaves those open that the seat doesn't see, `deal` draws the others, "
        "too; or `forced`, with moves that nobody has to decide.",
    )


class Question(Message):
    """A position to advise on, over a live connection."""

    number: int = Field(ge=0, description="Comes back with the advice.")
    game: Name
    moves: Text
    seat: int = Field(ge=1, le=16)
    players: list[Name] = Field(max_length=2, description="Strengths, or names of players.")


class StudyStep(Message):
    """A move that was made on the way to a position."""

    seat: int = Field(description="Who moved, from 1; 0: chance.")
    name: str
    word: str = Field(description="As `kibitz advise` reads it; ?: unknown.")
    told: bool = Field(description="Whether it is worth telling; silence isn't.")


class StudyMove(LegalMove):
    word: str = Field(description="As `kibitz advise` reads it.")


class StudyView(Message):
    """A position as one seat sees it."""

    game: str
    seats: int
    hidden: bool = Field(description="Whether the game has hidden information.")
    moves: str = Field(description="The text that `kibitz advise` reads.")
    steps: list[StudyStep]
    seat: int = Field(description="Who looks, from 1.")
    turn: int = Field(description="Who moves next, from 1; 0: chance, -1: the game is over.")
    picture: str = Field(description="The position as SVG or HTML.")
    text: str = Field(description="The position as text.")
    options: list[StudyMove] = Field(description="Legal moves or chance outcomes, as far as the seat can know.")
    unknown: int = Field(description="How many turns from this one on may stay unknown: 0, 1 or more.")
    payoffs: list[float] | None = Field(description="By seat, when the game is over and nothing is unknown.")


class StudyAdvice(AdviceView):
    side: int = Field(description="Which of the two advisers: 0 or 1.")
    label: str = Field(description="What the adviser is, and its weakness where one was measured.")


class StudyProgress(Message):
    kind: Literal["progress"] = "progress"
    side: int
    part: int = Field(description="Number of the part of the game that is compiled now, once.")


class Moves(Message):
    """A position to study."""

    game: str
    moves: str
    seat: int
