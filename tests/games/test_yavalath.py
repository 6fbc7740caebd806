"""Yavalath against a twin: a direct implementation of the rules on cells with three coordinates that add up to 0."""

import itertools

import numpy as np
import pytest

from kibitz import games, jit
from kibitz.games import OVER
from kibitz.games.bitboards import mask
from kibitz.games.yavalath import cells_of

from .counted import perft
from .replays import agrees_with_its_image
from .test_oracles import Games, play_games

AXES = ((0, 1, -1), (1, 0, -1), (1, -1, 0))


class Twin:
    """Slow and obvious. A stone of seat s is the value s at its cell."""

    def __init__(self, side, stones=None):
        reach = range(1 - side, side)
        self.cells = sorted(cell for cell in itertools.product(reach, repeat=3) if sum(cell) == 0)
        self.stones = dict(stones or {})
        self.over, self.winner = False, None

    @property
    def turn(self):
        return OVER if self.over else len(self.stones) % 2

    def legal(self):
        return [number for number, cell in enumerate(self.cells) if cell not in self.stones]

    def play(self, number):
        mover, cell = self.turn, self.cells[number]
        self.stones[cell] = mover
        rows = [1 + self.run(cell, axis, 1) + self.run(cell, axis, -1) for axis in AXES]
        if max(rows) >= 4:
            self.over, self.winner = True, mover
        elif max(rows) == 3:
            self.over, self.winner = True, 1 - mover
        elif len(self.stones) == len(self.cells):
            self.over = True

    def run(self, cell, axis, way):
        """Own stones one after the other, from the next cell on."""
        following = tuple(x + way * step for x, step in zip(cell, axis, strict=True))
        return 1 + self.run(following, axis, way) if self.stones.get(following) == self.stones[cell] else 0

    def payoff(self, seat):
        return 0.0 if self.winner is None else 1.0 if self.winner == seat else -1.0

    def lines_of_play(self, depth):
        if depth == 0:
            return 1
        if self.over:
            return 0
        found = 0
        for number in self.legal():
            after = Twin.__new__(Twin)
            after.cells, after.stones, after.over, after.winner = self.cells, dict(self.stones), False, None
            after.play(number)
            found += after.lines_of_play(depth - 1)
        return found


def yavalath(side):
    return games.GAMES["yavalath"](side)


@pytest.mark.parametrize(("side", "count"), [(3, 1500), (4, 500), (5, 500)])
def test_random_games_agree_with_the_twin(side, count):
    game = yavalath(side)
    rows, width = count * (game.facts.max_game_length + 1), game.facts.num_actions
    log = Games(
        *(np.zeros(rows, np.int64) for _ in range(3)),
        np.zeros((rows, width), np.int16),
        np.zeros((rows, 1)),
        np.zeros(rows, np.uint64),
        np.zeros((rows, 2)),
    )
    twin, payoffs = Twin(side), set()
    for row in range(play_games(game, count, games.positions(game), jit.generators(16, 1)[0], *log)):
        assert twin.turn == log.turns[row]
        if twin.over:
            assert [twin.payoff(seat) for seat in range(2)] == log.payoffs[row].tolist()
            payoffs.add((len(twin.stones) % 2, twin.payoff(0)))
            twin = Twin(side)
        else:
            assert twin.legal() == log.legal[row, : log.counts[row]].tolist()
            twin.play(int(log.played[row]))
    assert payoffs >= {(mover, payoff) for mover in range(2) for payoff in (1.0, -1.0)}  # by four and by three, each


@pytest.mark.parametrize("side", [3, 4, 5])
def test_every_row_of_four_wins_and_every_row_of_three_loses(side):
    """Whichever of its stones is the last."""
    game = yavalath(side)
    for length, winner in ((4, 0), (3, 1)):
        for row in game.board().lines(length).tolist():
            for last in row:
                state = games.positions(game)[0]
                state.stones[0] = mask(set(row) - {last})
                game.play(state, last)
                assert state.winner == winner


@pytest.mark.parametrize("side", [3, 4, 5])
def test_a_stone_has_the_same_effect_as_in_the_twin(side):
    game, rng = yavalath(side), np.random.default_rng(20)
    empty = Twin(side)
    for _ in range(600):
        many = int(rng.integers(1, len(empty.cells) // 2))
        first, second, (cell,) = np.split(rng.permutation(len(empty.cells))[: 2 * many + 1], [many, 2 * many])
        state = games.positions(game)[0]
        state.stones[0], state.stones[1] = mask(first), mask(second)
        twin = Twin(side, {empty.cells[number]: seat for seat, held in enumerate((first, second)) for number in held})
        game.play(state, int(cell))
        twin.play(cell)
        assert game.turn(state) == twin.turn
        assert state.winner == (-1 if twin.winner is None else twin.winner)


@pytest.mark.parametrize(("side", "threes"), [(3, 27), (4, 69)])
def test_until_the_third_stone_every_empty_cell_is_legal(side, threes):
    """The fifth move is the first that may end it: three stones in one of the rows, in any order."""
    game, n = yavalath(side), 3 * side * (side - 1) + 1
    assert len(game.board().lines(3)) == threes
    assert perft(game, 4) == n * (n - 1) * (n - 2) * (n - 3)
    assert perft(game, 5) == n * (n - 1) * (n - 2) * (n - 3) * (n - 4)
    ended = threes * 6 * (n - 3) * (n - 4)
    assert perft(game, 6) == (n * (n - 1) * (n - 2) * (n - 3) * (n - 4) - ended) * (n - 5)


@pytest.mark.parametrize(("side", "moves", "depth"), [(3, 8, 3), (3, 10, 4), (4, 12, 3), (5, 16, 2), (5, 20, 2)])
def test_lines_of_play_from_midgame_are_those_of_the_twin(side, moves, depth):
    game, compared = yavalath(side), 0
    for rng in jit.generators(17, 40):
        state, twin = games.positions(game)[0], Twin(side)
        while not twin.over and len(twin.stones) < moves:
            action = int(game.sample_action(state, rng))
            game.play(state, action)
            twin.play(action)
        if not twin.over and compared < 3:
            assert perft(game, depth, state) == twin.lines_of_play(depth)
            compared += 1
    assert compared == 3


def after(moves, side=5):
    game, state = yavalath(side), games.positions(yavalath(side))[0]
    for move in moves.split():
        game.play(state, game.parse_action(state, move))
    return game, state


@pytest.mark.parametrize(
    ("moves", "winner"),
    [
        ("e1 a1 e2 a3 e4 a5 e3", 0),  # four, of which three are in a row
        ("e1 a1 e2 a3 e4 a5 e5 b2 e3", 0),  # five at once
        ("e1 a1 e2 a3 e3", 1),  # three
        ("e1 a1 e2 a3 e9 a4 i5 a2", 1),  # four of the second player
        ("e1 a1 e2 a3 e9 a2", 0),  # three of the second player
        ("c5 a1 d2 a3 f3 a5 e3", 1),  # three, upwards to the right
        ("c1 a1 d2 a3 f3 a5 e3", 0),  # four
        ("g1 a1 f2 a3 d3 a5 e3", 0),  # and to the left
        ("e1 a1 e2 a3 e4 a5", None),
    ],
)
def test_four_in_a_row_is_checked_before_three(moves, winner):
    game, state = after(moves)
    assert state.winner == (-1 if winner is None else winner)
    assert (game.turn(state) == OVER) == (winner is not None)


def test_four_in_one_direction_outweighs_three_in_another():
    game, state = after("e1 a1 e2 a2 e4 a4 d3 b1 c3 b3 e3")  # c3, d3 lie below e3
    board = game.board()
    below = board.neighbours[board.names.index("e3")].tolist()
    assert board.names.index("d3") in below
    assert state.winner == 0


def test_a_full_board_without_three_in_a_row_is_a_draw():
    game = yavalath(3)
    for rng in jit.generators(18, 4000):
        state = games.positions(game)[0]
        finish(game, states := np.array([state], game.state).view(np.recarray), rng)
        if states[0].winner < 0:
            break
    assert int(states[0].stones[0] | states[0].stones[1]) == 2**19 - 1
    assert game.turn(states[0]) == OVER
    assert [game.payoff(states[0], seat) for seat in range(2)] == [0.0, 0.0]


@jit.kernel
def finish(game, states, rng):
    game.random_playout(states[0], rng)


@pytest.mark.parametrize("side", [3, 5])
def test_symmetric_positions_have_symmetric_moves(side):
    game = yavalath(side)
    assert len(game.board().symmetries) == 12
    for images in game.board().symmetries.tolist():
        agrees_with_its_image(game, images.__getitem__)


def test_an_action_is_the_cell_of_its_stone():
    game = yavalath(5)
    for action in range(61):
        assert cells_of(game, action) == (-1, action)
        state = games.positions(game)[0]
        game.play(state, action)
        assert int(state.stones[0]) == 1 << action
        assert game.action_to_string(state, action) == game.board().names[action]


def test_no_kernel_counts_references():
    jit.counting.clear()
    finish(yavalath(4), games.positions(yavalath(4)).view(np.recarray), jit.generators(1, 1)[0])
    perft(yavalath(4), 2)
    assert jit.counting == []
