"""Gomoku against OpenSpiel's, against a slow twin for rows of just five, and against what is known of small boards."""

import random

import pytest

from kibitz import games
from kibitz.core.names import BadInput
from kibitz.games import OVER
from kibitz.games.gomoku import cells_of

from . import test_compiled
from .counted import layers, perft, value
from .replays import agrees_with_its_image, agrees_with_openspiel

GAME = games.load("gomoku")
DIRECTIONS = [(0, 1), (1, 0), (1, 1), (1, -1)]


@pytest.mark.parametrize(
    ("size", "connect", "count"), [(15, 5, 40), (9, 5, 100), (7, 4, 200), (6, 3, 200), (5, 5, 200), (13, 6, 30)]
)
def test_random_games_agree_with_openspiel(size, connect, count):
    game = games.load(f"gomoku:{size},connect={connect}")
    agrees_with_openspiel(game, f"gomoku(size={size},connect={connect})", lambda action: action, range(count))


def test_compiled_rules_give_what_plain_python_gives_on_the_full_board():
    """The contract is held by smaller ones, as each of its tests looks at every move of whole games."""
    test_compiled.test_compiled_rules_give_what_plain_python_gives(GAME)


# ---------------------------------------------------------------- the twin


class Twin:
    """A direct implementation of the rules: a dictionary of stones, and a walk both ways from the last one."""

    def __init__(self, game):
        self.game, self.mover, self.winner, self.stones = game, 0, None, {}

    def actions(self):
        size = self.game.size
        return [
            row * size + column for row in range(size) for column in range(size) if (row, column) not in self.stones
        ]

    def rows(self, action):
        """How long the rows are in which a stone there would stand."""
        cell = divmod(action, self.game.size)
        return [1 + self.run(cell, *each) + self.run(cell, *(-step for step in each)) for each in DIRECTIONS]

    def run(self, cell, up, right):
        """Stones of the mover beyond a cell, one beside the other."""
        beyond = cell[0] + up, cell[1] + right
        return 1 + self.run(beyond, up, right) if self.stones.get(beyond) == self.mover else 0

    def wins(self, action):
        connect = self.game.connect
        return any(row == connect or (row > connect and self.game.overlines) for row in self.rows(action))

    def play(self, action):
        if self.wins(action):
            self.winner = self.mover
        self.stones[divmod(action, self.game.size)] = self.mover
        self.mover = 1 - self.mover

    def turn(self):
        return OVER if self.winner is not None or len(self.stones) == self.game.size**2 else self.mover


@pytest.mark.parametrize("overlines", ["yes", "no"])
@pytest.mark.parametrize(("size", "connect", "count"), [(15, 5, 10), (8, 4, 50), (6, 3, 100), (5, 3, 100)])
def test_games_agree_with_a_twin(size, connect, overlines, count):
    """Moves that win are avoided most times, so that games get long, and so do rows."""
    game = games.load(f"gomoku:{size},connect={connect},overlines={overlines}")
    longer = 0
    for seed in range(count):
        rng, twin, state = random.Random(seed), Twin(game), games.positions(game)[0]
        while twin.turn() != OVER:
            assert game.turn(state) == twin.turn()
            assert games.legal_actions(game, state) == twin.actions()
            for _ in range(5):
                action = rng.choice(twin.actions())
                if not twin.wins(action):
                    break
            longer += max(twin.rows(action)) > connect
            game.play(state, action)
            twin.play(action)
        sign = 0 if twin.winner is None else 1 - 2 * twin.winner
        assert game.turn(state) == OVER
        assert [game.payoff(state, seat) for seat in range(2)] == [sign, -sign]
    assert longer > count / 10


# ---------------------------------------------------------------- what is known


def test_on_three_by_three_it_is_tic_tac_toe():
    """With its 255,168 lines of play, its 5,478 positions and its value: see `test_tic_tac_toe.py`."""
    game = games.load("gomoku:3,connect=3")
    assert [perft(game, depth) for depth in range(1, 10)] == [9, 72, 504, 3024, 15120, 54720, 148176, 200448, 127872]
    assert sum(map(len, layers(game))) == 5478
    assert value(game) == 0


def test_lines_of_play():
    """Nobody can have won before the ninth move."""
    expected = 1
    for depth in range(1, 4):
        expected *= 226 - depth
        assert perft(GAME, depth) == expected


@pytest.mark.parametrize(("size", "connect", "expected"), [(4, 3, 1), (4, 4, 0)])
def test_small_boards_have_their_known_values(size, connect, expected):
    """Of rows of three and four on 4x4 (J. W. H. M. Uiterwijk, The Advantage of the Initiative)."""
    game = games.load(f"gomoku:{size},connect={connect}")
    middle = [min(row, size - 1 - row) + min(column, size - 1 - column) for row, column in game.board().places]
    assert value(game, promise=middle) == expected


@pytest.mark.parametrize("image", GAME.board().symmetries.tolist())
def test_symmetric_positions_have_symmetric_moves(image):
    agrees_with_its_image(GAME, lambda action: image[action], [0])


@pytest.mark.parametrize("overlines", [True, False])
@pytest.mark.parametrize("direction", DIRECTIONS)
def test_a_row_of_six_wins_only_in_freestyle(direction, overlines):
    """x fills the gap in a row of six; o has lost its stones elsewhere."""
    game = GAME._replace(overlines=overlines)
    start = (9, 5) if direction[1] >= 0 else (9, 10)
    if direction[0]:
        start = 4, start[1]
    row = [game.board().cell[start[0] + i * direction[0], start[1] + i * direction[1]] for i in range(6)]
    state = games.positions(game)[0]
    for mine, other in zip([row[i] for i in (0, 1, 2, 4, 5)], (0, 2, 4, 6, 8), strict=True):
        game.play(state, mine)
        game.play(state, other)
    assert game.turn(state) == 0
    game.play(state, row[3])
    assert game.turn(state) == (OVER if overlines else 1)
    assert state.winner == (0 if overlines else -1)


@pytest.mark.parametrize("line", GAME.board().lines(5)[::37].tolist())
def test_five_win_anywhere(line):
    for overlines in (True, False):
        game = GAME._replace(overlines=overlines)
        state = games.positions(game)[0]
        others = [cell for cell in range(0, 225, 2) if cell not in line]
        for i in range(5):
            assert game.turn(state) == 0
            game.play(state, line[(2 * i) % 5])
            if i < 4:
                game.play(state, others[7 * i])
        assert (game.turn(state), game.payoff(state, 0)) == (OVER, 1)


def test_a_position_is_shown():
    game = games.load("gomoku:5,connect=4")
    state = games.positions(game)[0]
    for word in ("c3", "b2", "e5"):
        game.play(state, game.parse_action(state, word))
    assert game.show(state, 1).splitlines() == [
        "seat 1: x",
        "seat 2 (you): o, to move",
        " 5 . . . . x",
        " 4 . . . . .",
        " 3 . . x . .",
        " 2 . o . . .",
        " 1 . . . . .",
        "   a b c d e",
    ]


def test_an_action_is_the_cell_of_its_stone():
    assert [cells_of(GAME, action) for action in (0, 224)] == [(-1, 0), (-1, 224)]


def test_a_row_that_does_not_fit_is_refused():
    with pytest.raises(BadInput, match="connect=5 doesn't fit into size=4"):
        games.load("gomoku:4")
