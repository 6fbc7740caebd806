"""How a game is talked about at a table with people. Most do it in the words they have; some have more to say."""

from collections.abc import Sequence
from typing import Any

from ..core.names import BadInput
from .boards import board_text
from .game import OVER, Game, legal_actions

SYMBOLS = "xo"  # pieces of seat 0 and seat 1


def seat_name(who: int, seat: int) -> str:
    """A seat as people count, from 1; `seat` is the one that reads it."""
    return f"seat {who + 1}{' (you)' if who == seat else ''}"


def piece_owners(game: Any, state: Any) -> list[int]:
    """The seat whose piece is on each cell of the board; -1: empty."""
    owners = []
    for place in map(int, game.places()):
        held = [int(game.pieces(state, seat, place >> 6)) >> (place & 63) & 1 for seat in range(2)]
        owners.append(held.index(1) if 1 in held else -1)
    return owners


def show_board(game: Any, state: Any, seat: int, notes: Sequence[str] = ("", "")) -> str:
    """One line per seat with its symbol, its note and whether it moves or has won; then the board."""
    turn, lines = int(game.turn(state)), []
    for who in range(2):
        wins = turn == OVER and game.payoff(state, who) > 0
        status = ", to move" if turn == who else ", wins" if wins else ""
        lines.append(f"{seat_name(who, seat)}: {SYMBOLS[who]}{notes[who]}{status}")
    symbols = ["." if owner < 0 else SYMBOLS[owner] for owner in piece_owners(game, state)]
    return "\n".join([*lines, board_text(game.board(), symbols)])


class Display:
    """A game whose `show`, `spell` and `read` are those of a table, with what else people need there."""

    languages: tuple[str, ...] = ("en",)

    def __init__(self, game: Game, language: str = "en") -> None:
        if language not in self.languages:
            raise BadInput(f"{game.name} speaks {' and '.join(self.languages)}, not {language}")
        self.game, self.language = game, language

    def __getattr__(self, name: str) -> Any:
        return getattr(self.game, name)

    def moves(self, view: Any) -> list[int]:
        """In the order in which they are listed."""
        return legal_actions(self.game, view)

    def keys(self, view: Any) -> dict[str, int]:
        """Moves by a key, where they have no numbers; "" is that of an empty line."""
        return {}

    def ahead(self, view: Any, text: str) -> int:
        """What to do now where the text is meant for the next turn; -1: it isn't."""
        return -1

    def unasked(self, view: Any) -> int:
        """What is done without a question, as there is nothing to decide; -1: ask."""
        return -1

    def heard(self, before: Any, action: int, after: Any) -> str:
        """Another seat's move, as it is told once it was made."""
        return self.action_to_string(before, action)

    def tells(self, view: Any, action: int) -> bool:
        """Whether what somebody does is worth a line."""
        return True


def display(game: Game, language: str = "en") -> Any:
    """Its own talk, or the plain one."""
    return getattr(game, "display", Display)(game, language)
