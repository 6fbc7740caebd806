"""Trees that grow side by side and wait for a network: they follow equation 12, and don't depend on each other."""

import math
from typing import NamedTuple

import numpy as np
import pytest

from kibitz import games
from kibitz.games import legal_actions, view_of
from kibitz.jit import hash_record
from kibitz.search.batched_ensemble import BatchedEnsemble
from kibitz.search.determinization import sample_worlds
from kibitz.search.policies import policy
from kibitz.search.selection import OBENAUS_C, ObenausUcb
from kibitz.search.tree import new_tree

from .test_ensemble_uct import after, open_value


@policy
class Slow(NamedTuple):
    """Waits for every position once; then the weight of action a is weights[a]."""

    keys: np.ndarray
    counts: np.ndarray  # asked for, known
    weights: np.ndarray

    def ask(self, game, state):
        key = hash_record(state)
        for i in range(self.counts[0]):
            if self.keys[i] == key:
                return i >= self.counts[1]
        self.keys[self.counts[0]] = key
        self.counts[0] += 1
        return True

    def weigh(self, game, state, actions, n, probs):
        total = 0.0
        for j in range(n):
            total += self.weights[actions[j]]
        for j in range(n):
            probs[j] = self.weights[actions[j]] / total


class Adviser:
    def __init__(self, *weights):
        self.oracle = Slow(np.zeros(10_000, np.uint64), np.zeros(2, np.int64), np.array(weights, float))

    def prepare(self, view, seat, simulations, trees):
        self.oracle.counts[:] = 0

    def answer(self):
        fresh = self.oracle.counts[0] - self.oracle.counts[1]
        self.oracle.counts[1] = self.oracle.counts[0]
        return int(fresh)


def as_in_the_thesis(visits, values, probabilities):
    """Equation 12 as it is written: values from 0 to 1, probabilities of legal cards that don't sum to 1."""
    n = np.array(visits)
    p = np.array(probabilities) / sum(probabilities) * len(n)
    alpha, q = 1 / np.sqrt(1 + n), np.sqrt(2 * math.log(1 + n.sum()) / (1 + n))
    return np.array(values) + (alpha * p + (1 - alpha)) * q


def test_selection_is_equation_12():
    generator = np.random.default_rng(1)
    for _ in range(200):
        count = int(generator.integers(2, 8))
        visits, values = generator.integers(0, 9, count), generator.random(count)
        visits[0], values[visits == 0] = 1, 0.5
        said = generator.random(count) * 0.3
        tree, select = new_tree(1 + count), ObenausUcb(OBENAUS_C)
        tree.first[0], tree.children[0], tree.visits[0] = 1, count, visits.sum()
        tree.visits[1:], tree.total[1:], tree.prior[1:] = visits, (2 * values - 1) * visits, said / said.sum()
        for child in np.flatnonzero(tree.visits[1:]) + 1:
            select.visited(tree, child)
        assert select.select(tree, 0, None) == 1 + np.argmax(as_in_the_thesis(visits, values, said))


def test_unvisited_children_are_selected_by_the_prior_alone():
    tree = new_tree(4)
    tree.first[0], tree.children[0] = 1, 3
    tree.prior[1:] = 0.2, 0.5, 0.3
    for visits in (0, 1):
        tree.visits[0] = visits
        assert ObenausUcb(OBENAUS_C).select(tree, 0, None) == 2


@pytest.mark.parametrize("words", [["Q", "K"], ["J", "Q", "pass", "bet"]])
def test_values_are_the_mean_over_worlds_of_open_games(words):
    game = games.load("kuhn")
    state = after(game, *words)
    seat = game.turn(state)
    advice = BatchedEnsemble(game, Adviser(1, 4), determinizations=200, exact=0).advise(
        view_of(game, state, seat), seat, 200 * 300
    )
    assert advice.simulations == advice.visits.sum() == 200 * 300
    np.testing.assert_allclose(advice.prior, [0.2, 0.8], atol=1e-6)
    expected = np.zeros(2)
    for card in {0, 1, 2} - {int(state.cards[seat])}:
        world = np.array([state], game.state)[0]
        world.cards[1 - seat] = card
        for i, action in enumerate(legal_actions(game, state)):
            following = np.array([world], game.state)[0]
            game.play(following, action)
            expected[i] += open_value(game, following, seat) / 2
    np.testing.assert_allclose(advice.value, expected, atol=0.2)


def test_a_tree_does_not_depend_on_the_trees_beside_it():
    game = games.load("kuhn")
    state = after(game, "Q", "K")
    view = view_of(game, state, 0)
    search = BatchedEnsemble(game, Adviser(1, 4), determinizations=3, exact=0)
    worlds = sample_worlds(game, view, 0, 3, search.rng)
    found = []
    for share in ([50, 50, 50], [0, 50, 0]):
        search.begin(5)
        search.grow(view, 0, worlds, np.array(share))
        found.append(search.root(1))
    for one, other in zip(*found, strict=True):
        np.testing.assert_array_equal(one, other)
    assert found[0][1].sum() == 50


def test_a_position_is_asked_for_once_and_trees_wait_together():
    game = games.load("kuhn")
    search = BatchedEnsemble(game, Adviser(1, 4), determinizations=20, exact=0)
    search.advise(view_of(game, after(game, "Q", "K"), 0), 0, 20 * 100)
    keys = search.adviser.oracle.keys[: search.asked]
    assert len(set(keys.tolist())) == search.asked == 2 * 4  # J or K behind Q, four decisions in each
    assert search.batches < search.asked


def test_small_worlds_are_solved():
    game = games.load("kuhn")
    search = BatchedEnsemble(game, Adviser(1, 4), determinizations=5, exact=1000)
    advice = search.advise(view_of(game, after(game, "Q", "K"), 0), 0, 5 * 100)
    assert advice.simulations == search.asked == 0
    assert not np.isnan(advice.value).any()
