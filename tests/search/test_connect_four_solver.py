"""The solver of Connect Four as a part of alpha-beta search: what it says of moves is true, whenever it has to stop."""

import numpy as np
import pytest

from kibitz.core.progress import SILENT
from kibitz.games import OVER, legal_actions, load, positions
from kibitz.search.alphabeta import AlphaBeta
from kibitz.search.connect_four_solver import OPEN, ConnectFourSolver, decided, guaranteed, spots, threats

from .test_mcts import after, random_positions


def late_positions(game, count):
    """Random positions with few empty cells."""
    found = random_positions(game, 20 * count, seed=5, most=game.rows * game.columns - 6)
    return [state for state in found if int(state.stones[0] | state.stones[1]).bit_count() > 12][:count]


def test_bounds_are_true_however_few_positions_are_visited():
    game = load("connect_four:5,columns=5")
    exact, narrowed = ConnectFourSolver(game), 0
    for state in late_positions(game, 8):
        actions, truth = legal_actions(game, state), np.array(exact.outcomes(state))
        for most in (1, 20, 500, 10**6):
            solver = ConnectFourSolver(game)
            bounds = solver.bounds(state, actions, lambda s=solver, m=most: m - int(s.nodes[0]))
            assert solver.nodes[0] <= most
            assert (bounds[:, 0] <= truth).all()
            assert (truth <= bounds[:, 1]).all()
            narrowed += most == 500 and bool((bounds[:, 1] - bounds[:, 0] < 2).any())
        assert decided(bounds)
        assert truth[np.argmax(bounds[:, 0])] == truth.max()
    assert narrowed > 2


@pytest.mark.parametrize("name", ["connect_four:4,columns=5", "connect_four:5,columns=5", "connect_four:6,columns=4"])
def test_a_simple_strategy_reaches_what_it_guarantees(name):
    """Both seats, to move or not, by plain alpha-beta search; where the seat to move wins at once it isn't asked."""
    game = load(name)
    shape, found, cells = ConnectFourSolver.shape_of(game), [], game.rows * game.columns
    search = AlphaBeta(game, depth=cells)
    for state in random_positions(game, 700, seed=8, most=cells - 4):
        stones, taken = state.stones, state.stones[0] | state.stones[1]
        playable = (taken + shape.bottom) & shape.board
        mover = game.turn(state)
        lines = [spots(each, taken, shape.height, shape.board) for each in stones]
        if int(taken).bit_count() < cells - 14 or lines[mover] & playable:
            continue
        for seat in (0, 1):
            least = guaranteed(shape, stones[seat], stones[1 - seat], lines[seat], int(seat == mover))
            truth = search.value(state, cells) * (1 - 2 * seat)
            assert least <= truth
            found.append((least, truth))
    assert found.count((0, 0)) > 5
    assert found.count((1, 1)) > 5


def test_a_search_in_slices_is_the_same_search():
    game = load("connect_four")
    whole, sliced, state = ConnectFourSolver(game), ConnectFourSolver(game), after(game, *"4175561151")
    answer, search = whole.reaches(state, 1), sliced.ask(state, 1)
    while (found := sliced.search_on(search, 7)) == OPEN:
        pass
    assert found == answer
    assert sliced.nodes[0] == whole.nodes[0] > 100
    np.testing.assert_array_equal(sliced.table, whole.table)


def test_a_proven_draw_is_played_rather_than_what_may_be_more():
    """Of moves that are still open the one that alpha-beta search prefers is played, even if it can't win."""
    game = load("connect_four")
    search, state = AlphaBeta(game), positions(game)[0]
    search.advise(state, 0, 100)
    advice = search._deepen(state, 1000, np.inf, SILENT)
    others = np.flatnonzero(advice.policy == 0)
    for known, wanted in (([-1, 0], advice.best), ([-1, -1], 3 if advice.best != 3 else 2), ([0, 0], advice.best)):
        search.solver.bounds = lambda state, actions, left, known=known: np.array([known] + [[-1, 1]] * len(others))
        assert search._solve(state, advice, 2000, np.inf).best == wanted


def test_alpha_beta_search_plays_what_the_solver_has_proven():
    game = load("connect_four")
    solver, search = ConnectFourSolver(game), AlphaBeta(game)
    state = after(game, *"417556115161")  # column 1 wins, in nine plies
    advice = search.advise(state, 0, 20_000)
    assert advice.exact
    assert (game.action_to_string(state, advice.best), advice.root_value) == ("1", 1)
    assert advice.simulations <= 20_000
    assert not AlphaBeta(game).advise(positions(game)[0], 0, 2000).exact
    for state in late_positions(game, 6):
        advice = search.advise(state, game.turn(state), 2_000_000)
        outcomes = solver.outcomes(state)
        assert outcomes[legal_actions(game, state).index(advice.best)] == max(outcomes)
        assert advice.exact
    assert search.solver is not None
    limited = AlphaBeta(game, depth=3)
    limited.advise(state, game.turn(state), 1000)
    assert limited.solver is None  # a depth is a limit


def test_threats_are_worth_more_on_rows_that_serve_the_seat():
    game = load("connect_four")
    evaluation, state = threats(game), positions(game)[0]
    assert evaluation.leaf_value(game, state) == 0
    column = [sum(1 << 7 * c + row for c in range(1, 4)) for row in range(6)]  # three in a row, in columns 2 to 4
    values = []
    for row in (1, 2):
        state.stones[0], state.stones[1] = column[row], 0
        values.append(evaluation.leaf_value(game, state))
        state.stones[0], state.stones[1] = 0, column[row]
        values.append(evaluation.leaf_value(game, state))
    even_first, even_second, odd_first, odd_second = values
    assert odd_first > even_first > 0 > odd_second > even_second
    assert even_second == pytest.approx(-odd_first)
    assert game.turn(state) != OVER
