"""The solver of Connect Four as a part of alpha-beta search: what it says of moves is true, whenever it has to stop."""

import numpy as np
import pytest

from kibitz.games import OVER, legal_actions, load, positions
from kibitz.search.alphabeta import AlphaBeta
from kibitz.search.connect_four_solver import ConnectFourSolver, decided, threats

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
