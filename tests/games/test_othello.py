"""Othello against OpenSpiel's, against a slow twin on small boards, and against counts and values of others."""

import itertools

import numpy as np
import pytest

from kibitz import games
from kibitz.core.names import BadInput
from kibitz.games import OVER
from kibitz.games.othello import cells_of

from .counted import lines_of_play, perft, value
from .replays import agrees_with_its_image, agrees_with_openspiel
from .walks import walk, walks

GAME = games.load("othello")
SIZES = [4, 6, 8]
DIRECTIONS = [(down, right) for down in (-1, 0, 1) for right in (-1, 0, 1) if down or right]


@pytest.mark.parametrize("first", range(0, 200, 50))
def test_random_games_agree_with_openspiel(first):
    agrees_with_openspiel(GAME, "othello", lambda action: action, range(first, first + 50))


# ---------------------------------------------------------------- the twin


class Twin:
    """A direct implementation of the rules: a dictionary of discs, and a walk in every direction."""

    def __init__(self, size):
        middle = size // 2
        self.size, self.mover = size, 0
        self.discs = {
            (middle - 1, middle - 1): 1,
            (middle, middle): 1,
            (middle - 1, middle): 0,
            (middle, middle - 1): 0,
        }

    def turned(self, seat, row, column):
        found = []
        for down, right in DIRECTIONS:
            run, at = [], (row + down, column + right)
            while self.discs.get(at) == 1 - seat:
                run.append(at)
                at = at[0] + down, at[1] + right
            found += run if self.discs.get(at) == seat else []
        return found

    def moves(self, seat):
        cells = [(row, column) for row in range(self.size) for column in range(self.size)]
        return [cell for cell in cells if cell not in self.discs and self.turned(seat, *cell)]

    def turn(self):
        return self.mover if self.moves(0) or self.moves(1) else OVER

    def actions(self):
        cells = [row * self.size + column for row, column in self.moves(self.mover)]
        return cells or [self.size**2]

    def play(self, action):
        if action < self.size**2:
            cell = divmod(action, self.size)
            for turned in [*self.turned(self.mover, *cell), cell]:
                self.discs[turned] = self.mover
        self.mover = 1 - self.mover

    def lead(self):
        held = list(self.discs.values())
        return held.count(0) - held.count(1)


@pytest.mark.parametrize("size", SIZES)
def test_random_games_agree_with_a_twin(size):
    game = games.load(f"othello:{size}")
    for steps in walks(game, {4: 200, 6: 30, 8: 5}[size]):
        twin = Twin(size)
        for step in steps:
            assert twin.turn() == step.turn
            mine, theirs = (
                [row * size + column for (row, column), owner in twin.discs.items() if owner == who] for who in range(2)
            )
            assert [int(discs) for discs in step.state.discs] == [
                sum(1 << c for c in cells) for cells in (mine, theirs)
            ]
            if step.turn == OVER:
                assert [game.payoff(step.state, seat) for seat in range(2)] == [
                    np.sign(twin.lead()),
                    -np.sign(twin.lead()),
                ]
            else:
                assert step.actions == twin.actions()
                twin.play(step.action)


def test_random_games_contain_all_kinds_of_ends_and_passes():
    """Else the tests above would miss cases."""
    seen = set()
    for steps in walks(games.load("othello:4"), 200):
        held = [int(discs) for discs in steps[-1].state.discs]
        seen.add("full" if sum(held) == 2**16 - 1 else "wiped out" if 0 in held else "stuck")
        seen.add("draw" if held[0].bit_count() == held[1].bit_count() else "won")
        passes = [step.actions == [16] for step in steps]
        seen.add("pass" if any(passes) else "no pass")
        assert not any(one and two for one, two in itertools.pairwise(passes))
    assert seen == {"full", "wiped out", "stuck", "draw", "won", "pass", "no pass"}


# ---------------------------------------------------------------- what is known


def test_lines_of_play():
    """Aart Bik's counts (aartbik.com, Reversi perft); a pass is a turn."""
    counts = [perft(GAME, depth) for depth in range(1, 10)]
    assert counts == [4, 12, 56, 244, 1396, 8200, 55092, 390216, 3005288]


def test_lines_of_play_that_may_have_ended():
    """Aart Bik counts those too; 228 end with the ninth move."""
    found, ended = lines_of_play(GAME, 10)
    assert (found + ended, ended) == (24571284, 228)


@pytest.mark.heavy
def test_more_lines_of_play():
    assert sum(lines_of_play(GAME, 11)) == 212258800


def test_the_second_player_wins_on_the_smallest_board():
    assert value(games.load("othello:4")) == -1


@pytest.mark.parametrize("size", SIZES)
def test_symmetric_positions_have_symmetric_moves(size):
    """On those four of eight that leave the opening as it is."""
    game = games.load(f"othello:{size}")
    opening = games.positions(game)[0]
    kept = 0
    for image in game.board().symmetries.tolist():
        black = [cell for cell in range(size**2) if int(opening.discs[0]) >> cell & 1]
        if sorted(image[cell] for cell in black) == black:
            agrees_with_its_image(game, lambda action, image=image: [*image, size**2][action])
            kept += 1
    assert kept == 4


def test_the_shortest_game_ends_at_once():
    """Nine moves, and white has no disc left."""
    state = games.positions(GAME)[0]
    for word in ("e6", "f4", "e3", "f6", "g5", "d6", "e7", "f5", "c5"):
        assert GAME.turn(state) >= 0
        GAME.play(state, GAME.parse_action(state, word))
    assert GAME.turn(state) == OVER
    assert (state.discs[1], GAME.payoff(state, 0), GAME.payoff(state, 1)) == (0, 1, -1)


def test_the_opening_is_shown_as_in_books():
    assert GAME.show(games.positions(GAME)[0], 0).splitlines() == [
        "seat 1 (you): x, 2 discs, to move",
        "seat 2: o, 2 discs",
        "   a b c d e f g h",
        " 1 . . . . . . . .",
        " 2 . . . . . . . .",
        " 3 . . . . . . . .",
        " 4 . . . o x . . .",
        " 5 . . . x o . . .",
        " 6 . . . . . . . .",
        " 7 . . . . . . . .",
        " 8 . . . . . . . .",
    ]


def test_a_pass_has_no_cells():
    assert [cells_of(GAME, action) for action in (0, 63, 64)] == [(-1, 0), (-1, 63), (-1, -1)]
    passing = next(step for seed in range(99) for step in walk(GAME, seed) if step.actions == [64])
    assert GAME.action_to_string(passing.state, 64) == "pass"


@pytest.mark.parametrize("size", [5, 7])
def test_a_board_with_an_odd_side_is_refused(size):
    with pytest.raises(BadInput, match="even"):
        games.load(f"othello:{size}")
