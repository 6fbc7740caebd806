"""Positions and actions as text for people."""

from collections.abc import Sequence
from typing import Any

from ..core.names import choose
from . import german
from .boards import board_text
from .protocol import OVER, Game, legal_actions

LANGUAGES = ("en", "de")
SYMBOLS = "xo"  # pieces of seat 0 and seat 1


def seat_name(who: int, seat: int) -> str:
    """A seat as people count, from 1; `seat` is the one that reads it."""
    return f"seat {who + 1}{' (you)' if who == seat else ''}"


def piece_owners(game: Any, state: Any) -> list[int]:
    """The seat whose piece is on each cell of the board; -1: empty."""
    places = [int(place) for place in game.places()]
    words = range((max(places) >> 6) + 1)
    first, second = ([int(game.pieces(state, seat, word)) for word in words] for seat in range(2))
    owners = []
    for place in places:
        word, bit = place >> 6, place & 63
        owners.append(0 if first[word] >> bit & 1 else 1 if second[word] >> bit & 1 else -1)
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
    """Presents a game to people at a terminal: strings of positions and actions, keys, order of the moves.

    Everything else is the game's own. A game with a display of its own sets the class as `display`.
    """

    unit = "payoff"  # what payoffs are, for people: "payoff" or "points"
    symbol = ""  # of the unit, behind a payoff
    stage_head = ""  # what the parts of a game are called, such as "street"; empty: decisions are found by their turn

    def __init__(self, game: Game, language: str = "en") -> None:
        self.game, self.language = game, choose("language", language, LANGUAGES)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.game, name)

    def show(self, state: Any, seat: int) -> str:
        return german.said_in(self.language, self.game.show(state, seat))

    def picture(self, state: Any, seat: int) -> str:
        return german.drawn_in(self.language, self.game.picture(state, seat))

    def final_picture(self, state: Any, seat: int) -> str:
        """The picture of a finished game for one of its seats: everything is visible."""
        return self.picture(state, -1)

    def moves(self, view: Any) -> list[int]:
        """The legal actions in the order in which they are listed."""
        return legal_actions(self.game, view)

    def keys(self, view: Any) -> dict[str, int]:
        """Actions by key, instead of by number; "" is the key of an empty line."""
        return {}

    def planned_actions(self, view: Any) -> list[int]:
        """Actions of the next turn that may be named already now (see `parse_planned`)."""
        return []

    def parse_planned(self, view: Any, text: str) -> int:
        """The action to play now if `text` is a move of the next turn; -1 if it isn't."""
        return -1

    def parse_addition(self, before: Any, action: int, text: str) -> int:
        """The action that should have been played at the view `before` instead of `action`, if `text` adds to it.

        Such as `no 90` after `Re`. -1 if it adds nothing.
        """
        return -1

    def forced_action(self, view: Any) -> int:
        """The action to play without asking, as there is nothing to decide; -1: ask."""
        return -1

    def describe_observed(self, before: Any, action: int, after: Any) -> str:
        """Text of another seat's action after it was played."""
        return self.action_to_string(before, action)

    def stage(self, view: Any) -> str:
        """The part of the game that a view is of, where there is a `stage_head`."""
        return ""

    def is_visible(self, view: Any, action: int) -> bool:
        """Whether an action is reported at all."""
        return True


def display(game: Game, language: str = "en") -> Any:
    """The game's own display, or the default one."""
    return getattr(game, "display", Display)(game, language)
