"""Teeko against a slow twin, its patterns counted, and the values that Guy Steele found, found again."""

import itertools
import math

import numpy as np
import pytest

from kibitz import games, jit
from kibitz.games import OVER
from kibitz.games.bitboards import ONE, bit, mask
from kibitz.games.random_games import playouts
from kibitz.games.teeko import BOARD, CELLS, FULL, PATTERNS, REACH, cells_of, won
from kibitz.jit import lowest

from .counted import perft
from .replays import agrees_with_its_image
from .walks import walk, walks

GAME = games.load("teeko")
PLACES = [(row, column) for row in range(5) for column in range(5)]


# ---------------------------------------------------------------- the twin


def twin_wins(places):
    """Four in a row, or in a square of neighbours: looked for from the lowest."""
    if len(places) < 4:
        return False
    row, column = min(places)
    shapes = [[(i * down, i * right) for i in range(4)] for down, right in ((0, 1), (1, -1), (1, 0), (1, 1))]
    shapes.append([(0, 0), (0, 1), (1, 0), (1, 1)])
    return any({(row + down, column + right) for down, right in shape} == places for shape in shapes)


class Twin:
    """A direct implementation of the rules: two sets of places."""

    def __init__(self, limit, sides=(frozenset(), frozenset()), plies=0):
        self.limit, self.sides, self.plies = limit, sides, plies

    def winner(self):
        return next((seat for seat in range(2) if twin_wins(self.sides[seat])), None)

    def over(self):
        return self.winner() is not None or self.plies == self.limit

    def moves(self):
        """(from, to) as cells, from is -1 where a marker is dropped."""
        mine = self.sides[self.plies % 2]
        empty = [place for place in PLACES if place not in self.sides[0] | self.sides[1]]
        if len(mine) < 4:
            return [(-1, cell_of(place)) for place in empty]
        pairs = itertools.product(mine, empty)
        return sorted((cell_of(a), cell_of(b)) for a, b in pairs if max(abs(a[0] - b[0]), abs(a[1] - b[1])) == 1)

    def after(self, move):
        start, to = move
        mine = self.sides[self.plies % 2] - {PLACES[start] if start >= 0 else None} | {PLACES[to]}
        sides = (mine, self.sides[1]) if self.plies % 2 == 0 else (self.sides[0], mine)
        return Twin(self.limit, sides, self.plies + 1)

    def perft(self, depth):
        if depth == 0 or self.over():
            return int(depth == 0)
        return sum(self.after(move).perft(depth - 1) for move in self.moves())


def cell_of(place):
    return PLACES.index(place)


@pytest.mark.parametrize(("limit", "count"), [(300, 20), (60, 40), (8, 10), (9, 10)])
def test_random_games_agree_with_a_twin(limit, count):
    game = games.load(f"teeko:{limit}")
    for steps in walks(game, count):
        twin = Twin(limit)
        for step in steps:
            assert (step.turn == OVER) == twin.over()
            if step.turn == OVER:
                expected = {None: [0, 0], 0: [1, -1], 1: [-1, 1]}[twin.winner()]
                assert [game.payoff(step.state, seat) for seat in range(2)] == expected
                continue
            assert step.turn == twin.plies % 2
            assert sorted(cells_of(game, action) for action in step.actions) == twin.moves()
            twin = twin.after(cells_of(game, step.action))


def test_lines_of_play():
    drops = [25, 25 * 24, 25 * 24 * 23, 25 * 24 * 23 * 22, 25 * 24 * 23 * 22 * 21]
    assert [perft(GAME, depth) for depth in range(1, 6)] == drops


@pytest.mark.parametrize(
    ("words", "counts"),
    [
        ("a1 c3 b2 c4 d5 e4 a3 d2", [14, 305, 4500, 92103, 1383980, 27312978]),
        ("c3 b2 d4 b4 b3 c4 d3", [18, 272, 4475, 77833, 1329147]),  # seat 2 drops its last one
        ("a1 e5 a2 e4 a4 e2", [19, 324, 4529, 65761, 1013921]),
    ],
)
def test_lines_of_play_from_a_position(words, counts):
    """Those of four turns, too, were counted by the twin."""
    state = played(GAME, words)
    assert [perft(GAME, depth, state) for depth in range(1, len(counts) + 1)] == counts
    sides = [frozenset(place for i, place in enumerate(PLACES) if int(side) >> i & 1) for side in state.markers]
    assert [Twin(300, tuple(sides), int(state.plies)).perft(depth) for depth in (1, 2, 3)] == counts[:3]


def played(game, words):
    state = games.positions(game)[0]
    for word in words.split():
        game.play(state, game.parse_action(state, word))
    return state


# ---------------------------------------------------------------- patterns, moves, the limit


def test_there_are_44_patterns_and_all_of_them_win():
    assert len(set(PATTERNS)) == len(PATTERNS) == 44
    fours = list(itertools.combinations(range(CELLS), 4))
    assert len(fours) == 12650
    found = [cells for cells in fours if won(mask(cells))]
    assert {mask(cells) for cells in found} == set(PATTERNS)
    assert found == [cells for cells in fours if twin_wins({PLACES[cell] for cell in cells})]


def test_fewer_than_four_markers_never_win():
    assert not any(won(mask(cells)) for size in (1, 2, 3) for cells in itertools.combinations(range(CELLS), size))


def test_there_is_always_a_move():
    """Four markers that haven't won have more neighbours than four others can stand on."""
    neighbours = [{cell for cell in range(CELLS) if cell != at and step(at, cell)} for at in range(CELLS)]
    for cells in itertools.combinations(range(CELLS), 4):
        if not won(mask(cells)):
            assert len(set.union(*(neighbours[cell] for cell in cells)) - set(cells)) >= 5


def step(one, other):
    return max(abs(a - b) for a, b in zip(PLACES[one], PLACES[other], strict=True)) == 1


@pytest.mark.parametrize("symmetry", range(8))
def test_symmetric_positions_have_symmetric_moves(symmetry):
    image = BOARD.symmetries[symmetry].tolist()
    named = {cells_of(GAME, action): action for action in every_action()}

    def moved(action):
        start, to = cells_of(GAME, action)
        return named[image[start] if start >= 0 else -1, image[to]]

    agrees_with_its_image(GAME, moved)


def every_action():
    return [action for action in range(GAME.facts.num_actions) if REACH[action]]


def test_every_drop_and_step_is_one_action():
    found = [cells_of(GAME, action) for action in every_action()]
    drops = [(-1, cell) for cell in range(CELLS)]
    assert sorted(found) == sorted(drops + [(a, b) for a in range(CELLS) for b in range(CELLS) if step(a, b)])


def test_markers_are_dropped_first_and_then_moved():
    state = played(GAME, "a1 c3 b2 c4 d5 e4 a3")
    assert GAME.turn(state) == 1
    assert [GAME.action_to_string(state, action) for action in games.legal_actions(GAME, state)][:2] == ["b1", "c1"]
    state = played(GAME, "a1 c3 b2 c4 d5 e4 a3 d2")
    assert {GAME.action_to_string(state, action)[:2] for action in games.legal_actions(GAME, state)} == {
        "a1",
        "b2",
        "d5",
        "a3",
    }


@pytest.mark.parametrize(
    ("words", "winner"),
    [
        ("a1 a5 b1 b5 c1 c5 d1", 0),  # the last drop of the first
        ("a1 a5 b2 b5 c3 c5 e1 d5", 1),
        ("c3 a5 b3 b5 c2 e5 b1 d1 b1-b2", 0),
        ("c3 a5 b3 b5 c1 c4 a1 e5 a1-a2 c4-d5", None),
        ("c3 a5 b3 b5 c1 c5 a1 e4 a1-a2 e4-d5", 1),
        ("e1 a5 d2 b5 c3 c4 c5 e5 c5-b4", 0),
    ],
)
def test_four_in_a_row_or_in_a_square_win(words, winner):
    state = played(GAME, words)
    assert GAME.turn(state) == (OVER if winner is not None else len(words.split()) % 2)
    if winner is not None:
        assert [GAME.payoff(state, seat) for seat in range(2)] == [[1, -1], [-1, 1]][winner]


def test_at_the_limit_it_is_a_draw_unless_the_last_ply_wins():
    game = games.load("teeko:9")
    assert game.turn(played(game, "c3 a5 b3 b5 c2 e5 b1 d1")) == 0
    for last, payoffs in (("b1-b2", [1, -1]), ("b1-a1", [0, 0])):
        state = played(game, f"c3 a5 b3 b5 c2 e5 b1 d1 {last}")
        assert game.turn(state) == OVER
        assert [game.payoff(state, seat) for seat in range(2)] == payoffs
    assert {len(walk(game, seed)) for seed in range(20)} <= {8, 9, 10}


def test_the_board_is_shown():
    assert GAME.show(played(GAME, "a1 e5"), 0).splitlines() == [
        "seat 1 (you): x, to move",
        "seat 2: o",
        "plies: 2 of 300",
        " 5 . . . . o",
        " 4 . . . . .",
        " 3 . . . . .",
        " 2 . . . . .",
        " 1 x . . . .",
        "   a b c d e",
    ]


def test_no_kernel_counts_references():
    jit.counting.clear()
    playouts(GAME, 1)
    assert jit.counting == []


# ---------------------------------------------------------------- solved

LARGE_SQUARES = [
    mask(5 * (row + down) + column + right for down in (0, side) for right in (0, side))
    for side in (2, 3, 4)
    for row in range(5 - side)
    for column in range(5 - side)
]
WIN, LOSS = 1, 2  # for the seat to move; 0 is a draw, or not known yet
CHOOSE = np.array([[math.comb(n, k) for k in range(5)] for n in range(CELLS)])


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("patterns", "first_drops", "value"),
    [
        (PATTERNS, [0] * 25, 0),
        (PATTERNS + LARGE_SQUARES, [0] * 12 + [LOSS] + [0] * 12, WIN),  # Advanced Teeko: only the centre wins
    ],
    ids=["standard", "advanced"],
)
def test_standard_teeko_is_a_draw_and_advanced_teeko_is_won_from_the_centre(patterns, first_drops, value):
    """Guy L. Steele Jr., Summary of the Solving of the Game of Teeko, 1999. By the steps of our rules."""
    assert len(patterns) == (44 if patterns is PATTERNS else 58)
    fours = subsets(4)
    wins = np.isin(fours, np.array(patterns))
    # Positions where all markers are dropped, the markers of the mover up to symmetry: worked backwards from wins.
    images = np.array([np.searchsorted(fours, moved(fours, symmetry)) for symmetry in BOARD.symmetries])
    least, turns = images.min(axis=0), images.argmin(axis=0)
    canonical = np.unique(least)
    rows = np.searchsorted(canonical, least)
    after = np.zeros((len(canonical), len(fours)), np.uint8)
    while settle_steps(fours, wins, canonical, rows, turns, images, after):
        pass
    # Then drop by drop back to the empty board: how many markers the mover has, how many the other.
    for mine, theirs in ((3, 4), (3, 3), (2, 3), (2, 2), (1, 2), (1, 1), (0, 1), (0, 0)):
        values = np.zeros((math.comb(CELLS, mine), math.comb(CELLS, theirs)), np.uint8)
        settle_drops(subsets(mine), subsets(theirs), wins, rows, turns, images, after, values)
        after = values
        if (mine, theirs) == (0, 1):
            assert values[0].tolist() == first_drops
    assert after[0, 0] == value


def subsets(size):
    """All sets of `count` cells, ascending."""
    return np.sort(np.array([mask(cells) for cells in itertools.combinations(range(CELLS), size)]))


def moved(sets, symmetry):
    return sum((sets >> np.uint64(cell) & ONE) << np.uint64(to) for cell, to in enumerate(symmetry))


@jit.helper
def rank(cells):
    """The place of a set among those of its size."""
    found, size = 0, 0
    while cells:
        size += 1
        found += CHOOSE[lowest(cells), size]
        cells &= cells - ONE
    return found


@jit.kernel
def settle_steps(fours, wins, canonical, rows, turns, images, values):
    """One more pass; number of values found."""
    found = 0
    for row in range(len(canonical)):
        mine = fours[canonical[row]]
        for other in range(len(fours)):
            if fours[other] & mine or wins[canonical[row]] or wins[other] or values[row, other]:
                continue
            empty = FULL & ~(mine | fours[other])
            best = LOSS
            left = mine
            while left and best != WIN:
                cell = lowest(left)
                left &= left - ONE
                for action in range(9 * cell, 9 * cell + 9):
                    if REACH[action] & empty:
                        there = rank(mine & ~bit(cell) | REACH[action])
                        value = LOSS if wins[there] else values[rows[other], images[turns[other], there]]
                        if value == LOSS:
                            best = WIN
                            break
                        if value == 0:
                            best = 0
            values[row, other] = best
            found += best > 0
    return found


@jit.kernel
def settle_drops(mine, theirs, wins, rows, turns, images, after, values):
    last = len(mine) < len(theirs) and len(theirs) == len(wins)  # steps come next
    for i in range(len(mine)):
        for j in range(len(theirs)):
            if mine[i] & theirs[j] or (last and wins[j]):
                continue
            empty = FULL & ~(mine[i] | theirs[j])
            best = LOSS
            while empty and best != WIN:
                there = rank(mine[i] | empty & ~(empty - ONE))
                empty &= empty - ONE
                if (last or len(after[0]) == len(wins)) and wins[there]:
                    value = LOSS
                elif last:
                    value = after[rows[j], images[turns[j], there]]
                else:
                    value = after[j, there]
                if value == LOSS:
                    best = WIN
                elif value == 0:
                    best = 0
            values[i, j] = best
