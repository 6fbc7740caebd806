"""The linear policy over patterns, the slow and obvious way: every pattern is tested for every action in every turn.

The bit tables of `kibitz.train.tspg.sets` are timed against it, and tests check that the two agree.
"""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from kibitz.jit import helper
from kibitz.search.policies import policy
from kibitz.train.tspg.patterns import Pattern, images, seen_at, window
from kibitz.train.tspg.sets import BITS, marks_of


class Listed(NamedTuple):
    """The patterns of a seat as nested lists, flattened: patterns have images, images have elements."""

    image: np.ndarray  # [patterns + 1] i8: index of the first image of each pattern
    element: np.ndarray  # [images + 1] i8: index of the first element of each image
    came: np.ndarray  # [images, 2] i8: row and column of `from` relative to `to`; 0, 0: any
    anchor: np.ndarray  # [elements] i8
    place: np.ndarray  # [elements] i8
    allowed: np.ndarray  # [elements] i8: bit c: content c is allowed there
    needed: np.ndarray  # [patterns, anchors, cells + 1] bool: whether a cell can be the anchor; the last: no cell
    weights: np.ndarray  # [patterns] f8


@policy
class Naive(NamedTuple):
    first: Listed
    second: Listed
    cell: np.ndarray  # [cells + 1, places] i8: the cell at a place relative to a cell; off the board: the last
    bits: np.ndarray  # [cells] i8: bit of each cell in the game's piece sets
    content: np.ndarray  # [cells + 1] i8
    place: np.ndarray  # [cells + 1, 2] i8: row and column of each cell

    def weigh(self, game, state, actions, n, probs):
        for cell in range(len(self.bits)):
            word, bit = self.bits[cell] // BITS, np.uint64(self.bits[cell] % BITS)
            mine, theirs = game.pieces(state, 0, word) >> bit, game.pieces(state, 1, word) >> bit
            self.content[cell] = np.int64(mine & np.uint64(1)) + 2 * np.int64(theirs & np.uint64(1))
        seat, highest, total = game.turn(state), -1e300, 0.0
        for j in range(n):
            start, to = game.from_to(state, actions[j])
            if seat == 0:
                probs[j] = logit_of(self.first, self.cell, self.content, self.place, start, to)
            else:
                probs[j] = logit_of(self.second, self.cell, self.content, self.place, start, to)
            highest = max(highest, probs[j])
        for j in range(n):
            probs[j] = math.exp(probs[j] - highest)
            total += probs[j]
        for j in range(n):
            probs[j] /= total


@helper
def logit_of(listed, cell, content, place, start, to):
    found = 0.0
    for f in range(len(listed.weights)):
        if is_active(listed, cell, content, place, start, to, f):
            found += listed.weights[f]
    return found


@helper
def is_active(listed, cell, content, place, start, to, f):
    """Whether all tests hold in at least one image of pattern f."""
    if not (listed.needed[f, 0, to] and listed.needed[f, 1, start]):
        return False
    for image in range(listed.image[f], listed.image[f + 1]):
        up, right = listed.came[image]
        holds = (up == 0 and right == 0) or (
            place[start, 0] - place[to, 0] == up and place[start, 1] - place[to, 1] == right
        )
        for e in range(listed.element[image], listed.element[image + 1]):
            anchor = to if listed.anchor[e] == 0 else start
            if not listed.allowed[e] >> content[cell[anchor, listed.place[e]]] & 1:
                holds = False
                break
        if holds:
            return True
    return False


def listed(game: Any, kind: str, seat: int, patterns: Sequence[Pattern], weights: np.ndarray) -> Listed:
    eye, cells = window(game.board(), kind == "rich"), len(game.board().places)
    image, element, came, tests = [0], [0], [], []
    needed = np.ones((len(patterns), 2, cells + 1), bool)
    by_code = [0, 1 + seat, 2 - seat, 3]  # contents in the order empty, friend, enemy, off
    for f, pattern in enumerate(patterns):
        for each in sorted(set(images(pattern, eye))):
            for anchor, place, allowed in each.elements:
                codes = sum(1 << by_code[bit] for bit in range(4) if allowed >> bit & 1)
                tests.append((anchor, eye.places[place], codes))
            element.append(len(tests))
            came.append(each.start or (0, 0))
        image.append(len(element) - 1)
        for anchor in pattern.anchors:
            needed[f, anchor, cells] = False
        for anchor, name, value in pattern.marks:
            needed[f, anchor, :cells] &= marks_of(game, seat)[name, value]
    anchors, places, allowed_codes = np.array(tests, int).reshape(-1, 3).T.copy()
    return Listed(
        np.array(image), np.array(element), np.array(came), anchors, places, allowed_codes, needed,
        np.array(weights, float),
    )  # fmt: skip


def naive(game: Any, kind: str, patterns: Any, weights: Any) -> Naive:
    eye, board = window(game.board(), kind == "rich"), game.board()
    count = len(board.places)
    cell = np.full((count + 1, len(eye.places)), count)
    for at in range(count):
        for place, k in eye.places.items():
            seen = seen_at(board, at, place, kind == "rich")
            cell[at, k] = count if seen < 0 else seen
    content = np.zeros(count + 1, np.int64)
    content[count] = 3
    sides = [listed(game, kind, seat, patterns[seat], weights[seat]) for seat in range(2)]
    return Naive(
        sides[0], sides[1], cell, np.array(game.places(), np.int64), content, np.array([*board.places, (0, 0)])
    )
