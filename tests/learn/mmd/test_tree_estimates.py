"""Estimates by all games together: exact where the games cover the tree, whatever the exploration."""

import numpy as np
import pytest
import torch

from kibitz.games import CHANCE, OVER, chance_outcomes, legal_actions, load, positions
from kibitz.train.mmd.loss import log_policy
from kibitz.train.mmd.self_play import Part
from kibitz.train.mmd.tree_estimates import tree_estimates

GAME = load("kuhn")
WEIGHTS = torch.from_numpy(np.random.default_rng(1).normal(size=(GAME.facts.encoding, 2)).astype(np.float32))


def policy(encodings, legal):
    return log_policy(encodings[:, : GAME.facts.encoding] @ WEIGHTS, legal)


def batch_of(count, explore):
    seeds = np.random.SeedSequence(1).generate_state(2 * count, np.uint64).reshape(count, 2)
    return Part(GAME, count, True, torch.device("cpu"), traced=True, explore=explore).play(seeds, policy)


def estimated(batch, values=0.0):
    probs = batch.log_probs.exp().numpy()
    guesses = np.full(probs.shape, values, np.float32)
    return tree_estimates(batch, batch.trace, batch.actions.numpy(), probs, guesses, batch.payoffs[:, 0])


def exact_values():
    """(seat, infoset) -> values of its actions for the seat, by the definition."""
    sums, weights = {}, {}

    def visit(state, reach):
        """Value for seat 0; `reach` is that of both seats and chance."""
        turn = GAME.turn(state)
        if turn == OVER:
            return GAME.payoff(state, 0)
        outcomes = chance_outcomes(GAME, state) if turn == CHANCE else [(a, 0.0) for a in legal_actions(GAME, state)]
        if turn != CHANCE:
            encoding = np.zeros(GAME.facts.encoding, np.float32)
            GAME.observe(state, turn, encoding)
            probs = policy(torch.from_numpy(encoding[None]), torch.ones(1, 2, dtype=torch.bool)).exp()[0].tolist()
            outcomes = [(a, probs[a]) for a, _ in outcomes]
        values = []
        for action, prob in outcomes:
            after = state.copy()
            GAME.play(after, action)
            values.append(visit(after, [r * (prob if i in (turn, turn + 3) else 1) for i, r in enumerate(reach)]))
        value = sum(prob * v for (_, prob), v in zip(outcomes, values, strict=True))
        if turn != CHANCE:
            key, weight = (int(turn), int(GAME.infoset(state, turn))), reach[1 - turn] * reach[2]
            sign = 1 - 2 * int(turn)
            sums[key] = sums.get(key, 0) + weight * sign * np.array(values)
            weights[key] = weights.get(key, 0) + weight
        return value

    visit(positions(GAME)[0], [1.0, 1.0, 1.0])
    return {key: total / weights[key] for key, total in sums.items()}


@pytest.mark.parametrize("explore", [0.2, 1.0])
def test_they_are_exact_where_all_was_tried(explore):
    batch = batch_of(2000, explore)
    found, wanted = estimated(batch), exact_values()
    assert len(found.rows) == len(wanted) == 12
    keys = {tuple(np.round(values, 4)) for values in wanted.values()}
    assert {tuple(np.round(row.astype(float), 4)) for row in found.values} == keys


def test_one_game_counts_by_its_payoff_and_the_value_network():
    """The last decision has the payoff as value of the action played; the other action has the estimate."""
    batch = batch_of(1, 0.0)
    found = estimated(batch, 0.25)
    last = len(batch.games) - 1
    (place,) = np.flatnonzero(found.rows == last)
    action, seat = int(batch.actions[last]), int(batch.seats[last])
    assert found.values[place, action] == batch.payoffs[0, seat]
    assert found.values[place, 1 - action] == 0.25
    assert len(found.tried_rows) == len(batch.games)
