"""Positions and moves as engines write them: UCI with FEN for Breakthrough, GTP and Gomocup's protocol for boards of
stones.

GTP calls seat 0 black (`b`) and seat 1 white (`w`). A vertex is a letter for the column and a number for the row. In
Hex and Othello a1 is at the upper left and letters are used in turn, as is usual there; elsewhere a1 is at the lower
left and there is no `i`, as GTP has it. Gomocup's coordinates are column and row from 0 at the upper left.
"""

from typing import Any

import numpy as np

from ..core.names import BadInput
from . import Game, full_name, legal_actions, positions
from .protocol import of_a_game

DIALECTS = {  # game -> what its engines speak, the usual one first
    "breakthrough": ("uci",),
    "connect_four": ("gtp",),
    "gomoku": ("piskvork", "gtp"),
    "hex": ("gtp",),
    "othello": ("gtp",),
}
AUTO = "auto"
COLOURS = ("b", "w")
LETTERS = "abcdefghjklmnopqrstuvwxyz"  # of GTP
SWAP = "swap-pieces"
PASS = "pass"
PIECES = "Pp"  # of each seat, in FEN


def dialect_of(game: Game, dialect: str = AUTO) -> str:
    """The dialect of a game's engines; BadInput where they don't speak this one."""
    known = DIALECTS.get(game.name, ())
    if not known:
        raise BadInput(f"engines play {', '.join(DIALECTS)}, not {full_name(game)}")
    if dialect not in (AUTO, *known):
        raise BadInput(f"engines of {game.name} speak {' or '.join(known)}, not {dialect}")
    return known[0] if dialect == AUTO else dialect


def occupied(game: Any, view: Any, seat: int) -> list[int]:
    """The cells with a seat's pieces."""
    places = enumerate(game.places())
    return [cell for cell, place in places if int(game.pieces(view, seat, int(place) >> 6)) >> (int(place) & 63) & 1]


# ---------------------------------------------------------------- UCI


def variant_of(game: Any) -> str:
    """What UCI calls the game: boards of another size have it in their name."""
    size = "" if (game.rows, game.columns) == (8, 8) else f"-{game.rows}x{game.columns}"
    return f"{game.name}{size}"


def to_fen(game: Any, state: Any) -> str:
    """A position of Breakthrough in Forsyth-Edwards notation."""
    cells = {cell: PIECES[seat] for seat in range(2) for cell in occupied(game, state, seat)}
    rows = []
    for row in reversed(range(game.rows)):
        text, empty = "", 0
        for column in range(game.columns):
            piece = cells.get(row * game.columns + column)
            if piece is None:
                empty += 1
            else:
                text, empty = f"{text}{empty or ''}{piece}", 0
        rows.append(f"{text}{empty or ''}")
    return f"{'/'.join(rows)} {'b' if state.to_move == 1 else 'w'} - - 0 1"


def from_fen(game: Any, text: str) -> Any:
    """The position of a FEN, whose counters are ignored.

    Raises:
        BadInput: It is no position of this board in which the game goes on.
    """
    fields = text.split()
    rows = fields[0].split("/") if fields else []
    if len(fields) < 2 or fields[1] not in ("w", "b") or len(rows) != game.rows:
        raise BadInput(f"{text[:100]!r} is no FEN of {full_name(game)}")
    state = positions(game)[0]
    state.pieces[:] = 0
    for row, each in zip(reversed(range(game.rows)), rows, strict=True):
        column = 0
        for letter in each:
            if letter.isdecimal() and letter.isascii():
                column += int(letter)
            elif letter in PIECES and column < game.columns:
                state.pieces[PIECES.index(letter)] |= np.uint64(1) << np.uint64(row * game.columns + column)
                column += 1
            else:
                column = -1
                break
        if column != game.columns:
            raise BadInput(f"{text[:100]!r} is no FEN of {full_name(game)}: the row {each!r}")
    arrived = [any(cell // game.columns == far for cell in occupied(game, state, seat)) for seat, far in goals(game)]
    if any(arrived) or not state.pieces.all():
        raise BadInput(f"{text[:100]!r} is over: there is no move")
    state.to_move = 0 if fields[1] == "w" else 1
    return state


def goals(game: Any) -> tuple[tuple[int, int], tuple[int, int]]:
    """Each seat, and the row that it has to reach."""
    return (0, game.rows - 1), (1, 0)


def write_uci(game: Any, state: Any, action: int) -> str:
    names = game.board().names
    start, to = game.from_to(state, action)
    return names[start] + names[to]


def read_uci(game: Game, state: Any, text: str) -> int:
    """The legal move of a text such as `e2e3`."""
    for action in legal_actions(game, state):
        if write_uci(game, state, action) == text.strip().lower():
            return action
    raise BadInput(f"{text[:40]!r} is no move here")


# ---------------------------------------------------------------- GTP


@of_a_game
def vertices(game: Any) -> tuple[str, ...]:
    """The vertex of each cell."""
    if game.name in ("hex", "othello"):
        return tuple(game.board().names)
    return tuple(f"{LETTERS[column]}{row + 1}" for row, column in game.board().places)


def write_vertex(game: Game, state: Any, action: int) -> str:
    """A move in GTP."""
    cell = game.from_to(state, action)[1]
    return vertices(game)[cell] if cell >= 0 else SWAP if game.name == "hex" else PASS


def read_vertex(game: Game, state: Any, text: str) -> int:
    """The legal move of a text in GTP. In Connect Four the column will do, as a letter or a number from 1."""
    word = text.strip().lower()
    moves = {write_vertex(game, state, action): action for action in legal_actions(game, state)}
    if SWAP in moves:
        moves["swap"] = moves[SWAP]
    if game.name == "connect_four":
        moves |= {LETTERS[action]: action for action in moves.values()}
        moves |= {str(action + 1): action for action in moves.values()}
    if word not in moves:
        raise BadInput(f"{text[:40]!r} is no move here")
    return moves[word]


# ---------------------------------------------------------------- Gomocup's protocol


def write_xy(game: Any, cell: int) -> str:
    """A cell as `column,row`."""
    return f"{cell % game.size},{game.size - 1 - cell // game.size}"


def read_xy(game: Any, text: str) -> int:
    """The cell of `column,row`."""
    parts = [part.strip() for part in text.split(",")]
    numbers = [int(part) if part.isdecimal() and len(part) < 4 else -1 for part in parts]
    if len(numbers) != 2 or not all(0 <= number < game.size for number in numbers):
        raise BadInput(f"{text[:40]!r} is no cell of a board of size {game.size}")
    return (game.size - 1 - numbers[1]) * game.size + numbers[0]
