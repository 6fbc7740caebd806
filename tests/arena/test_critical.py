"""Critical positions: the solvers are right, the perfect player keeps every outcome, and a random one doesn't."""

import json

import numpy as np
import pytest

from kibitz.core.names import BadInput
from kibitz.games import OVER, legal_actions, load, positions
from kibitz.play.critical import AlphaBetaSolver, critical_position, examine_players
from kibitz.search.connect_four_solver import ConnectFourSolver

from ..app.conftest import kibitz
from ..search.test_mcts import after

__all__ = ["kibitz"]


@pytest.mark.parametrize("name", ["connect_four:4,columns=4", "connect_four:4,columns=5", "connect_four:5,columns=4"])
def test_the_solver_of_connect_four_agrees_with_alpha_beta(name):
    game, generator = load(name), np.random.default_rng(2)
    solver, exact, found = ConnectFourSolver(game), AlphaBetaSolver(game), set()
    for _ in range(25):
        state = positions(game)[0]
        for _ in range(int(generator.integers(8, 15))):
            if game.turn(state) != OVER:
                game.play(state, int(generator.choice(legal_actions(game, state))))
        if game.turn(state) != OVER:
            outcomes = solver.outcomes(state)
            assert outcomes == exact.outcomes(state)
            found |= set(outcomes)
    assert found == {-1, 0, 1}


def test_known_positions_of_connect_four():
    game = load("connect_four")
    solver = ConnectFourSolver(game)
    won = after(game, *"417556115161")
    assert solver.outcomes(won).count(1) == 1
    assert solver.outcomes(won)[0] == 1
    with pytest.raises(BadInput, match="this solver is for connect_four with rows of four"):
        ConnectFourSolver(load("connect_four:4,columns=4,connect=3"))


def test_a_critical_position_has_moves_that_keep_the_outcome_and_others():
    game = load("connect_four:4,columns=5")
    actions, outcomes = critical_position(game, ConnectFourSolver(game), 1, 0, (6, 10))
    assert 6 <= len(actions) <= 10
    assert min(outcomes) < max(outcomes)
    assert critical_position(game, ConnectFourSolver(game), 1, 0, (6, 10)) == (actions, outcomes)


def test_the_perfect_player_keeps_every_outcome():
    found = examine_players("tic_tac_toe", ["alphabeta:9", "random"], 30, (2, 5), processes=1)
    assert found["alphabeta:9"].mean == 1
    assert found["alphabeta:9"].low < 1
    assert found["random"].mean < 0.8


@pytest.mark.parametrize(
    ("game", "plies", "why"), [("kuhn", (1, 2), "it can't play kuhn"), ("tic_tac_toe", (5, 2), "plies from 5 to 2")]
)
def test_what_can_not_be_measured_is_refused(game, plies, why):
    with pytest.raises(BadInput, match=why):
        examine_players(game, ["random"], 5, plies, processes=1)


def test_the_command(kibitz, tmp_path):
    asked = ("critical", "tic_tac_toe", "random", "--positions", "10", "--plies", "2-5", "--processes", "1")
    code, out, _ = kibitz(*asked, "--json", "found.json")
    assert code == 0
    assert "10 critical positions of tic_tac_toe" in out
    assert 0 <= json.loads((tmp_path / "found.json").read_text())["players"]["random"]["mean"] <= 1
    assert kibitz("critical", "tic_tac_toe", "random", "--plies", "few")[0] == 2
