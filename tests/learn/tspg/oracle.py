"""Patterns the obvious way: turn a displacement by a matrix, look at the board, test. And some of both, by chance.

Nothing here knows of rays, tables or bits but what a game says of its stones.
"""

import functools
import itertools

import numpy as np

from kibitz import games
from kibitz.games import OVER, boards
from kibitz.jit import generators
from kibitz.train.tspg.patterns import ALL, Element, Pattern, canonical, combined, turned, window
from kibitz.train.tspg.sets import atoms_of

TEN = [
    "breakthrough", "connect_four", "fanorona", "gomoku", "hex:7", "hex:11", "knightthrough", "othello", "teeko",
    "yavalath",
]  # fmt: skip
EMPTY, FRIEND, ENEMY, OFF = range(4)
KINDS = ("faithful", "rich")
HEXAGONAL = (boards.rhombus(3), boards.hexagon(3))


def is_hexagonal(board):
    return len(board.directions) == 6


# ---------------------------------------------------------------- turning, by matrices

QUARTER, FLIP = np.array([[0, -1], [1, 0]]), np.array([[1, 0], [0, -1]])
SIXTH = np.array([[0, 0, -1], [-1, 0, 0], [0, -1, 0]])  # of cube coordinates: x + y + z = 0
SWAP = np.array([[0, 1, 0], [1, 0, 0], [0, 0, 1]])


def turns_of(board):
    """All rotations and reflections: matrices."""
    turn, mirror, count = (SIXTH, SWAP, 6) if is_hexagonal(board) else (QUARTER, FLIP, 4)
    rotations = [np.linalg.matrix_power(turn, k) for k in range(count)]
    return [rotation @ mirroring for rotation in rotations for mirroring in (np.eye(len(turn), dtype=int), mirror)]


def moved(board, matrix, place):
    row, column = place
    if is_hexagonal(board):
        x, _, z = (matrix @ np.array([column, -row - column, row])).tolist()
        return z, x
    row, column = (matrix @ np.array(place)).tolist()
    return row, column


@functools.cache
def turned_places(board, place):
    """Where a place goes, under each symmetry."""
    return [moved(board, matrix, place) for matrix in turns_of(board)]


def apart(board, one, other):
    """Steps to any neighbour from one place to another."""
    up, right = one[0] - other[0], one[1] - other[1]
    return max(abs(up), abs(right), abs(up + right)) if is_hexagonal(board) else max(abs(up), abs(right))


# ---------------------------------------------------------------- what is active


def contents(game, state, seat):
    """Place -> what lies there, as the seat sees it."""
    found = {}
    for place, bit in zip(game.board().places, game.places(), strict=True):
        word, shift = divmod(int(bit), 64)
        mine, theirs = (int(game.pieces(state, who, word)) >> shift & 1 for who in (seat, 1 - seat))
        found[place] = FRIEND if mine else ENEMY if theirs else EMPTY
    return found


def content_at(game, there, cell, place, kind):
    """What lies at a place from a cell. In Fanorona no walk leads along a diagonal that isn't there."""
    row, column = game.board().places[cell]
    if kind == "faithful" and game.name == "fanorona" and (row + column) % 2 and min(map(abs, place)) > 1:
        return OFF
    return there.get((row + place[0], column + place[1]), OFF)


def fits(game, there, seat, pattern, start, to, symmetry, kind="rich"):
    """Whether one image of a pattern fits around the cells of an action."""
    board = game.board()
    ends = (to, start)
    if any(ends[anchor] < 0 for anchor in pattern.anchors):
        return False
    for anchor, name, value in pattern.marks:
        here = board.places[ends[anchor]]
        if min(apart(board, here, board.places[cell]) for cell in game.regions(seat)[name]) != value:
            return False
    if pattern.start:
        (row, column), (up, right) = board.places[to], turned_places(board, pattern.start)[symmetry]
        if board.places[start] != (row + up, column + right):
            return False
    for anchor, place, allowed in pattern.elements:
        if not allowed >> content_at(game, there, ends[anchor], turned_places(board, place)[symmetry], kind) & 1:
            return False
    return True


def is_active(game, there, seat, pattern, start, to, kind="rich"):
    return any(
        fits(game, there, seat, pattern, start, to, symmetry, kind) for symmetry in range(symmetries(game.board()))
    )


def symmetries(board):
    return 12 if is_hexagonal(board) else 8


def activities(game, states, seat, patterns, kind="rich"):
    """[cases, patterns] f4, and their actions: what `Finder.find` should find."""
    rows, actions = [], []
    for state in states:
        there = contents(game, state, seat)
        for action in games.legal_actions(game, state):
            start, to = game.from_to(state, action)
            rows.append([is_active(game, there, seat, pattern, start, to, kind) for pattern in patterns])
            actions.append(action)
    return np.array(rows, np.float32), actions


# ---------------------------------------------------------------- by chance


def positions_met(game, count, seed, seat=None):
    """Positions of random games, none over, far apart; of one seat to move, or of both."""
    rng, generator = generators(seed, 1)[0], np.random.default_rng(seed)
    found = np.zeros(count, game.state)
    for i in range(count):
        while True:
            state, last = games.positions(game), None
            for _ in range(int(generator.integers(0, 12 + 60 * (i % 2)))):
                if seat is None or game.turn(state[0]) == seat:
                    last = state.copy()
                game.play(state[0], game.sample_action(state[0], rng))
                if game.turn(state[0]) == OVER:
                    break
            if last is not None:
                found[i] = last[0]
                break
    return found


def some_pattern(game, kind, state, generator):
    """One to five tests around a random action, most of which hold there; in its canonical form."""
    eye, seat = window(game.board(), kind == "rich"), game.turn(state)
    there, places = contents(game, state, seat), list(eye.places)
    start, to = game.from_to(state, int(generator.choice(games.legal_actions(game, state))))
    possible = [anchor for anchor, cell in enumerate((to, start)) if cell >= 0] or [0]
    anchors = sorted(generator.choice(possible, generator.integers(1, len(possible) + 1), replace=False).tolist())
    came = None
    if len(anchors) == 2 and generator.random() < 0.5:
        came = tuple(int(a - b) for a, b in zip(game.board().places[start], game.board().places[to], strict=True))
    pattern = Pattern(tuple(anchors), (), (), came)
    for _ in range(int(generator.integers(1, 6))):
        anchor = int(generator.choice(anchors))
        place = places[int(generator.integers(len(places)))]
        allowed = int(generator.integers(1, ALL))
        if generator.random() < 0.9 and (to, start)[anchor] >= 0:
            allowed |= 1 << content_at(game, there, (to, start)[anchor], place, kind)
        if allowed != ALL:
            pattern = combined(pattern, Pattern((anchor,), (Element(anchor, place, allowed),)), eye) or pattern
    return canonical(turned(pattern, eye, int(generator.integers(len(eye.turns)))), eye)


def some_patterns(game, kind, seat, states, count, seed, first=10**6):
    """So many atoms first (if there are), then what is found around the actions of positions; all different."""
    generator = np.random.default_rng(seed)
    found = dict.fromkeys(atoms_of(game, kind, seat)[: min(first, count)])
    for state in itertools.cycle(states):
        if len(found) >= count:
            return list(found)
        found[some_pattern(game, kind, state, generator)] = None
    raise ValueError("no positions")
