"""Magnetic mirror descent with exact gradients: its last iterate is the known equilibrium."""

import math

import numpy as np
import pytest

from kibitz.games import load
from kibitz.solve.best_response import evaluate, evaluate_probs
from kibitz.solve.mirror_descent import MirrorDescent
from kibitz.solve.sequence_form import unfold

JACK, QUEEN, KING = range(3)


@pytest.fixture(scope="module")
def kuhn():
    return unfold(load("kuhn"))


def policies(form, strategy, seat):
    """(card, moves so far) -> probability of the bet or call, by the views of a seat."""
    found = {}
    for key, view in zip(form.sides[seat].keys, form.views[seat], strict=True):
        found[int(view["cards"][seat]), form.game.show(view, seat)] = strategy.at(int(key), 2)[1]
    return found


def test_the_last_iterate_on_kuhn_is_the_equilibrium(kuhn):
    descent = MirrorDescent(kuhn.game, kuhn)
    gaps = []
    for iterations in (100, 900, 9_000, 90_000):
        descent.run(iterations)
        gaps.append(evaluate(kuhn, descent.strategy()).nash_conv)
    assert gaps == sorted(gaps, reverse=True)
    assert gaps[-1] < 1e-3
    found = evaluate(kuhn, descent.strategy())
    assert found.value == pytest.approx(-1 / 18, abs=1e-3)
    # The second seat's equilibrium is unique: it calls with the queen, and bluffs with the jack, one time in three.
    second = sorted(policies(kuhn, descent.strategy(), 1).values())
    assert second == pytest.approx([0, 0, 1 / 3, 1 / 3, 1, 1], abs=0.02)


def test_an_iteration_is_the_solution_of_its_problem(kuhn):
    """No other policy does better in the objective of the first iteration (in the module's docstring)."""
    step, pull = 2.0, 0.3
    descent = MirrorDescent(kuhn.game, kuhn, step, pull)
    step, pull = descent.step, descent.pull
    side, other = kuhn.sides[0], descent.memories[1].plan.copy()
    gradient = np.zeros(side.sequences)
    for s in range(side.sequences):
        here = slice(side.rows[s], side.rows[s + 1])
        gradient[s] = side.payoffs[here] @ other[side.others[here]]

    def objective(probs):
        total, plan = 0.0, np.ones(side.sequences)
        for infoset, parent in enumerate(side.parent):
            here = slice(side.first[infoset], side.first[infoset + 1])
            plan[here] = plan[parent] * probs[here]
            # Magnet and present policy are both uniform.
            total -= (step * pull + 1) * plan[parent] * sum(p * math.log(2 * p) for p in probs[here])
        return total + step * gradient @ plan

    descent.run(1)
    best = np.exp(descent.memories[0].logs)
    generator = np.random.default_rng(1)
    for scale in (0.3, 0.01) * 50:
        tried = best.copy()
        for first, end in zip(side.first[:-1], side.first[1:], strict=True):
            tried[first:end] = tried[first:end] * np.exp(scale * generator.normal(size=end - first))
            tried[first:end] /= tried[first:end].sum()
        assert objective(tried) < objective(best)


def test_probabilities_are_the_strategy(kuhn):
    descent = MirrorDescent(kuhn.game, kuhn)
    descent.run(10)
    probs = [np.exp(memory.logs) for memory in descent.memories]
    assert evaluate_probs(kuhn, *probs).nash_conv == pytest.approx(evaluate(kuhn, descent.strategy()).nash_conv)
