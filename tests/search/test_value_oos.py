"""OOS with a learned value: baselines cancel out in expectation, leaves are not played out, noise is lower."""

from typing import NamedTuple

import numpy as np
import pytest

from kibitz import games
from kibitz.search import oos_simulation as oos
from kibitz.search import value_oos
from kibitz.search.value_oos import ValueOos, critic
from kibitz.solve.best_response import evaluate
from kibitz.solve.regrets import match
from kibitz.solve.sequence_form import unfold

from .exact import regrets_and_weights
from .test_oos import decisions, expected_update, filled_table, plain, view_of


@critic
class Wrong(NamedTuple):
    """A value that differs from position to position and means nothing."""

    def history_value(self, game, state):
        return float(int(game.infoset(state, 0)) % 7) - float(int(game.infoset(state, 1)) % 5)


@pytest.mark.parametrize("gamma", [0.0, 0.01])
@pytest.mark.parametrize("delta", [0.0, 0.9])
def test_on_kuhn_every_expected_update_is_exact_whatever_the_critic_says(delta, gamma, monkeypatch):
    game = games.load("kuhn")
    table, places = filled_table(game)

    def strategy(key, n):
        probs = np.empty(n)
        match(table.cells, places[key][0], n, probs)
        return gamma / n + (1 - gamma) * probs

    def simulate(scripted, root, view, table, scratch, focus, settings, policy, count, rng):
        return plain(value_oos.simulate)(
            scripted, root, view, table, scratch, focus, settings, policy, search.critic, search.values, search.after,
            count, rng,
        )  # fmt: skip

    monkeypatch.setattr(oos, "simulate", simulate)
    for updating in (0, 1):
        regrets, weights = regrets_and_weights(game, strategy, updating)
        for seat, state in list(decisions(game).values())[::3]:
            search = ValueOos(game, Wrong(), delta=delta, gamma=gamma)
            found = expected_update(search, table, updating, view_of(game, state, seat), seat, monkeypatch)
            for key, (at, n) in places.items():
                np.testing.assert_allclose(found[at : at + n], regrets.get(key, np.zeros(n)), atol=1e-10)
                np.testing.assert_allclose(found[at + n : at + 2 * n], weights.get(key, np.zeros(n)), atol=1e-10)


def test_it_converges_with_a_wrong_critic_once_the_tree_is_complete():
    game = games.load("kuhn")
    search = ValueOos(game, Wrong())
    search.run(300_000)
    assert evaluate(unfold(game), search.strategy()).nash_conv < 0.05
    assert search.simulations == 300_000


def test_the_value_of_a_leaf_takes_the_place_of_a_playout():
    """One simulation of Kuhn: all actions of the first infoset get the values of the positions after them."""
    game = games.load("kuhn")
    search = ValueOos(game, Wrong(), gamma=0.0)
    search.run(1)
    [slot] = search.table.slots[search.table.slots["key"] != 0]
    wanted = []
    for action in games.legal_actions(game, search.scratch.trail[0, 0]):
        state = search.scratch.trail[0, 0].copy()
        game.play(state, action)
        wanted.append(Wrong().history_value(game, state))
    regrets = search.table.cells[slot["at"] : slot["at"] + 2]
    np.testing.assert_allclose(regrets, np.array(wanted) - np.mean(wanted))
