"""Sets of patterns, a set for each seat, compiled into tables of bits.

Around each cell are rays, and the contents of a ray are a code of two bits per place. For each ray and code, a table
has one bit per pattern: whether its tests on that ray hold. A pattern, under a symmetry, is active where the bits of
all rays are set: some dozen ANDs evaluate all patterns at once, whatever their tests. The image of a ray is a ray, so
one table serves all symmetries.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ...games import OVER, legal_actions, positions
from ...games.protocol import of_a_game
from ...jit import generators
from ...jit.bitsets import CODES, ROWS, WORDS
from .patterns import Pattern, Place, atoms, seen_at, window

KIND_SETS = ("faithful", "rich")
BITS = 64
FAR = 4  # steps from a region that marks distinguish


class Sight(NamedTuple):
    """What all sets of a game share: from where a cell is tested, and at which place."""

    empty_codes: np.ndarray  # [cells, rays] u1: of an empty board
    first: np.ndarray  # [cells + 1] u4: where the cells begin that have this one on a ray, in the next three
    anchor: np.ndarray  # u2: such a cell
    ray: np.ndarray  # u1: its ray
    shift: np.ndarray  # u1: the bits of this cell in the ray's code
    cell_at: np.ndarray  # [64 * words] i2: the cell of a bit of the game's stones; -1: none


@of_a_game
def sight(game: Any, rich: bool) -> Sight:
    eye = window(game.board(), rich)
    cells = game.board().places
    places = [(ray, spot, place) for ray, row in enumerate(eye.rays) for spot, place in enumerate(row)]
    empty = np.zeros((len(cells), len(eye.rays)), np.uint8)
    seen_from: list[list[tuple[int, int, int]]] = [[] for _ in cells]
    for ray, spot, place in places:
        for cell in range(len(cells)):
            seen = seen_at(game.board(), cell, place, rich)
            if seen < 0:
                empty[cell, ray] |= 3 << 2 * spot
            else:
                seen_from[seen].append((cell, ray, 2 * spot))
    first = np.cumsum([0, *map(len, seen_from)]).astype(np.uint32)
    anchors, rays, shifts = np.array([each for row in seen_from for each in row]).T
    bits = np.array(game.places(), int)
    cell_at = np.full((bits.max() // BITS + 1) * BITS, -1, np.int16)
    cell_at[bits] = np.arange(len(cells))
    return Sight(empty, first, anchors.astype(np.uint16), rays.astype(np.uint8), shifts.astype(np.uint8), cell_at)


@of_a_game
def marks_of(game: Any, seat: int) -> dict[tuple[str, int], np.ndarray]:
    """Marks of cells by their distance to the game's regions: `goal=1` is one step from the goal."""
    board, found = game.board(), {}
    for name, region in game.regions(seat).items():
        away = np.full(len(board.places), -1)
        away[list(region)] = 0
        for steps in range(1, FAR):
            for cell in np.flatnonzero(away == steps - 1):
                near = board.neighbours[cell]
                near = near[near >= 0]
                away[near[away[near] < 0]] = steps
        for steps in range(FAR):
            found[name, steps] = away == steps
    return found


@of_a_game
def starts_of(game: Any, count: int = 2) -> tuple[Place, ...]:
    """Where actions come from, relative to where they go, in random games; none where pieces don't move."""
    found: set[Place] = set()
    places, rng = game.board().places, generators(1, 1)[0]
    for _ in range(count):
        state = positions(game)[0]
        while game.turn(state) != OVER:
            for start, to in (game.from_to(state, action) for action in legal_actions(game, state)):
                if start >= 0:
                    found.add((places[start][0] - places[to][0], places[start][1] - places[to][1]))
            game.play(state, game.sample_action(state, rng))
    return tuple(sorted(found))


@of_a_game
def atoms_of(game: Any, kind: str, seat: int) -> tuple[Pattern, ...]:
    """The atoms from which a game's patterns grow."""
    marks = marks_of(game, seat) if kind == "rich" else ()
    return tuple(atoms(window(game.board(), kind == "rich"), starts_of(game), marks))


class Tables(NamedTuple):
    """A set of patterns, compiled for a seat."""

    rows: np.ndarray  # [anchors * rays * ROWS, words] u8: bit f: pattern f's tests on a ray hold for a code
    here: np.ndarray  # [anchors, cells + 1, 4, words] u8: tests on the anchor itself, by its content; last: no cell
    moving: np.ndarray  # [1] bool: whether a pattern has tests around `from`
    course: np.ndarray  # [cells, cells] i2: row of `directed` for a move by from and to
    directed: np.ndarray  # [courses, symmetries, words] u8: bit f: pattern f allows the direction under a symmetry


def words_for(patterns: int) -> int:
    """Number of words for the bits of `count` patterns: whole vectors."""
    few, many = WORDS
    return few if patterns <= BITS * few else -(-patterns // (BITS * many)) * many


def compile_set(game: Any, kind: str, seat: int, patterns: Sequence[Pattern], words: int) -> Tables:
    eye = window(game.board(), kind == "rich")
    cells = len(game.board().places)
    held = np.zeros((2, len(eye.rays), ROWS, words * BITS), bool)
    held[:, :, :CODES] = True
    here = np.ones((2, cells + 1, 4, words * BITS), bool)
    place_of = {place: (ray, spot) for ray, row in enumerate(eye.rays) for spot, place in enumerate(row)}
    contents = np.array([[0, 1 + seat, 2 - seat, 3].index(code) for code in range(4)])  # code -> kind, for the seat
    marks = marks_of(game, seat)
    for f, pattern in enumerate(patterns):
        for anchor in pattern.anchors:
            here[anchor, cells, :, f] = False
        for anchor, place, allowed in pattern.elements:
            if place == (0, 0):
                here[anchor, :cells, :, f] &= (allowed >> contents & 1).astype(bool)
                continue
            ray, spot = place_of[place]
            held[anchor, ray, :CODES, f] &= (allowed >> contents[np.arange(CODES) >> 2 * spot & 3] & 1).astype(bool)
        for anchor, name, value in pattern.marks:
            here[anchor, :cells, :, f] &= marks[name, value][:, None]
    here[..., len(patterns) :] = False
    course, directed = _directions(game, patterns, words)
    moving = np.array([any(1 in pattern.anchors for pattern in patterns)])
    return Tables(_packed(held).reshape(-1, words), _packed(here), moving, course, _packed(directed))


def _directions(game: Any, patterns: Sequence[Pattern], words: int) -> tuple[np.ndarray, np.ndarray]:
    """`course` and `directed`, not packed yet. Row 0 is for moves in a direction that no pattern has."""
    eye, places = window(game.board()), game.board().places
    symmetries = range(len(eye.turns))
    starts = {
        pattern.start: [eye.turned(pattern.start, s) for s in symmetries] for pattern in patterns if pattern.start
    }
    rows = {place: row for row, place in enumerate(sorted({place for each in starts.values() for place in each}), 1)}
    directed = np.ones((len(rows) + 1, len(symmetries), words * BITS), bool)
    for f, pattern in enumerate(patterns):
        if pattern.start:
            directed[:, :, f] = False
            for symmetry, place in enumerate(starts[pattern.start]):
                directed[rows[place], symmetry, f] = True
    found = [[rows.get((r - up, c - right), 0) for up, right in places] for r, c in places]  # [from, to]
    return np.array(found, np.int16), directed


def _packed(bits: np.ndarray) -> np.ndarray:
    return np.packbits(bits, axis=-1, bitorder="little").view(np.uint64)
