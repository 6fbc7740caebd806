"""Games of Doppelkopf as readable text, and as lines of letters."""

from collections.abc import Callable, Iterator
from typing import Annotated, Any

from ...core.names import BadInput, located
from ...games import Game, record_files
from ...games.record_files import RecordFormat, record_format, unnamed
from ...games.records import Record
from . import notation, thesis_lines
from .german import to_german
from .rules import Doppelkopf


class _Games(RecordFormat):
    def plays(self, game: Game) -> bool:
        return isinstance(game, Doppelkopf)

    def replay(self, game: Game, record: Record, many: bool) -> Any:
        with located(f"game {record.number + 1}"):
            end = notation.replay(game, record.actions, many)
            if payoffs(end) != record.payoffs:
                raise BadInput(f"it pays {payoffs(end)}, not {record.payoffs}")
        return end


@record_format("text")
class Text(_Games):
    about = "Doppelkopf as readable text, with card symbols"
    suffix = ".txt"
    between = "\n"

    def recognizes(self, text: str) -> bool:
        return text.startswith(("game ", "Spiel "))

    def read(self, text: str, game: Any, left_out: Callable[[str], None]) -> Iterator[tuple[Record, Any]]:
        for found in notation.read(text):
            yield Record(*found[:5], payoffs(found.end)), found.end

    def write(self, game: Game, record: Record, end: Any, language: str) -> str:
        text = notation.write(record.number, record.game, record.players, record.seed, record.actions)
        return to_german(text) if language == "de" else text


@record_format("thesis")
class ThesisLines(_Games):
    about = "Doppelkopf in lines of 62 letters"
    rules = "doppelkopf:thesis"
    loses = "announcements and silent marriages"

    def __init__(
        self,
        letters: Annotated[str, "the 24 cards from a to x, as '♣9 ♣J ♣Q ...'; empty: by suit, 9 J Q K 10 A"] = "",
        position: Annotated[
            str,
            "meaning of the digit. place: 0 leads the first trick, 3 is the dealer; dealer: 0 is the dealer, 1 leads "
            "the first trick; leader: number of seats from the player, to the left, to the leader of the first trick",
        ] = "place",
        hand: Annotated[str, "order of the cards in a hand: letters, or held (trumps first)"] = "letters",
        marriage: Annotated[str, "announced: a player with both ♣Q announces a marriage; silent: nobody"] = "announced",
        seat: Annotated[int, "write only the line of this seat; 0: all four", range(5)] = 0,
    ) -> None:
        self.form = thesis_lines.form(letters, position, hand, marriage)
        self.seats = [seat - 1] if seat else list(range(4))

    def recognizes(self, text: str) -> bool:
        return text.partition("\n")[0].strip().isalnum()

    def read(self, text: str, game: Any, left_out: Callable[[str], None]) -> Iterator[tuple[Record, Any]]:
        many = text.count("\n") >= record_files.MANY
        for count, (actions, end) in enumerate(thesis_lines.read_games(game, text, self.form, many)):
            yield unnamed(count, game, actions, payoffs(end)), end

    def write(self, game: Game, record: Record, end: Any, language: str) -> str:
        with located(f"game {record.number + 1}"):
            return "".join(thesis_lines.write_line(game, record.actions, end, seat, self.form) for seat in self.seats)

    def is_lossy(self, end: Any) -> bool:
        return thesis_lines.is_lossy(end)


def payoffs(end: Any) -> list[float]:
    return [float(score) for score in end.scores]
