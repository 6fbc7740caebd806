"""The tree search with a network: sequential halving, policy improvement, proofs, legal moves."""

import functools

import numpy as np
import pytest

from kibitz.core.names import BadInput
from kibitz.games import legal_actions, load, positions
from kibitz.search.batched_puct import settings_for, start
from kibitz.search.contract import check_search
from kibitz.search.gumbel import halving, improve, root_value, select_improved, to_probs
from kibitz.search.network_puct import NetworkPuct
from kibitz.search.selection import UNKNOWN
from kibitz.search.tree import new_network_trees


def untrained(seed=1, actions=9):
    """A network that knows nothing: random logits and values that depend on the encoding alone."""
    weights = np.random.default_rng(seed).normal(size=(18, actions + 1)).astype(np.float32)

    def evaluate(encodings):
        found = encodings @ weights
        return found[:, :-1], np.tanh(found[:, -1])

    return evaluate


def new_search(game, seed=1, network=1, **settings):
    frames = np.tile(np.arange(game.facts.num_actions, dtype=np.int32), (2, 1))
    return NetworkPuct(game, seed, untrained(network), frames, **settings)


# ---------------------------------------------------------------- sequential halving


def played(means, simulations, considered, logits=None, noise=None):
    """Visits of a bandit's actions by sequential halving at the root, and their improved policy.

    The actions have known values, so a visit adds the mean.
    """
    tree, scores, noise, prior = searched(means, simulations, considered, logits, noise)
    probs = np.exp(scores - scores.max())
    most = tree.visits[1:] == tree.visits[1:].max()
    action = int(np.argmax(np.where(most, scores + noise, -np.inf)))
    return tree.visits[1:].copy(), probs / probs.sum(), action, prior


def searched(means, simulations, considered, logits=None, noise=None):
    """The tree of such a search, its improved logits, the noise and the prior."""
    n = len(means)
    tree, scores, settings = new_network_trees(1, n + 1), np.zeros(n), settings_for(load("tic_tac_toe"), gumbel=True)
    tree.first[0], tree.children[0], tree.used[0] = 1, n, n + 1
    logits = np.zeros(n) if logits is None else np.asarray(logits, float)
    prior = np.exp(logits) / np.exp(logits).sum()
    tree.prior[1:], tree.logit[1:], tree.proven[:] = prior, np.log(prior), 2.0
    tree.own[0] = prior @ means
    noise = np.zeros(n) if noise is None else noise
    for wanted in halving(considered, simulations)[min(considered, n)][:simulations]:
        improve(tree, 0, settings, scores)
        allowed = tree.visits[1:] == wanted
        chosen = int(np.argmax(np.where(allowed, scores + noise, -np.inf)))
        tree.visits[1 + chosen] += 1
        tree.total[1 + chosen] += means[chosen]
    improve(tree, 0, settings, scores)
    tree.visits[0], tree.total[0] = 1 + simulations, tree.own[0] + tree.total[1:].sum()
    return tree, scores, noise, prior


def test_sequential_halving_halves_the_actions():
    visits = played(np.linspace(-0.5, 0.5, 8), 24, 8)[0]
    assert sorted(visits.tolist()) == [1, 1, 1, 1, 3, 3, 7, 7]
    assert visits.sum() == 24


@pytest.mark.parametrize("simulations", [2, 4, 16])
def test_the_improved_policy_has_a_higher_value_on_a_bandit(simulations):
    """In the mean over random bandits and priors, for the policy that is learned and for the action that is played."""
    rng, gains = np.random.default_rng(1), []
    for _ in range(100):
        means, logits = rng.uniform(-1, 1, 6), rng.normal(size=6)
        _, improved, action, prior = played(means, simulations, 4, logits, rng.gumbel(size=6))
        gains.append((improved @ means - prior @ means, means[action] - prior @ means))
    assert (np.mean(gains, axis=0) > 0.1).all()


def test_the_improved_policy_is_never_worse_where_all_values_are_known():
    rng = np.random.default_rng(1)
    for _ in range(50):
        means, logits = rng.uniform(-1, 1, 6), rng.normal(size=6)
        _, improved, _, prior = played(means, 24, 6, logits, rng.gumbel(size=6))
        assert improved @ means >= prior @ means


def test_the_value_of_a_search_is_that_of_its_improved_policy():
    """Not the mean of its simulations, most of which tried actions that were dropped."""
    tree, scores, *_ = searched([0.9, -0.9, -0.9, -0.9, -0.9, -0.9], 12, 6)
    settings = settings_for(load("tic_tac_toe"), gumbel=True)
    assert tree.total[0] / tree.visits[0] < 0
    assert 0.6 < root_value(tree, 0, settings, scores) <= 0.9
    tree.proven[0] = 1.0  # for the other seat
    assert root_value(tree, 0, settings, scores) == -1.0


def test_small_differences_of_value_leave_the_policy_soft():
    """An untrained network's values are noise: the policy to learn follows them only a little, but a win fully."""
    noise = np.random.default_rng(1).normal(0, 0.05, 6)
    assert played(noise, 16, 6)[1].max() < 0.4
    assert played([-1, -1, 1, -1, -1, -1], 16, 6)[1][2] > 0.95


def test_a_proven_win_takes_all_of_the_improved_policy_and_a_proven_loss_nothing():
    """Even where the other actions have no visits and are believed to be as good."""
    settings = settings_for(load("tic_tac_toe"), gumbel=True)
    for seat in (0, 1):
        tree, scores, *_ = searched(np.full(6, 0.9), 1, 6)
        tree.mover[0], tree.proven[1:3] = seat, (1, -1)
        improve(tree, 0, settings, scores)
        to_probs(scores, 6)
        assert scores[0] > 0.99
        assert scores[1] < 1e-4


def test_more_simulations_find_the_best_action_more_often():
    rng, found = np.random.default_rng(2), {2: 0, 32: 0}
    for _ in range(50):
        means, noise = rng.uniform(-1, 1, 8), rng.gumbel(size=8)
        for simulations in found:
            found[simulations] += played(means, simulations, 8, noise=noise)[2] == means.argmax()
    assert found[32] > 1.5 * found[2] > 0, found


def test_below_the_root_the_action_that_lags_most_behind_the_improved_policy_is_selected():
    """By `improve` and `to_probs` over all children; visited children come first."""
    rng, settings = np.random.default_rng(3), settings_for(load("tic_tac_toe"), gumbel=True)
    for _ in range(20):
        n, means = 8, rng.uniform(-1, 1, 8)
        tree, scores, *_ = searched(means, 0, 8, rng.normal(size=n))
        tree.own[0], tree.action[1:] = rng.uniform(-1, 1), np.arange(n)
        for _ in range(30):
            improve(tree, 0, settings, scores)
            to_probs(scores, n)
            visits = tree.visits[1:]
            wanted = tree.action[1 + np.argmax(scores - visits / (1 + visits.sum()))]
            child = select_improved(tree, 0, settings, scores)
            assert tree.action[child] == wanted
            tree.visits[child] += 1
            tree.total[child] += means[wanted]
            if rng.random() < 0.1:
                tree.proven[child] = rng.choice([-1, 1])
            assert (np.sort(tree.visits[1:] > 0)[::-1] == (tree.visits[1:] > 0)).all()


def test_a_tree_that_is_planted_again_is_as_new():
    """Whatever was in it: a search of the same position gives the same advice."""
    game = load("tic_tac_toe")
    search = new_search(game)
    first = search.advise(positions(game)[0], 0, 50)
    search.advise(after(game, 4), 1, 300)
    start(game, positions(game), search.tree)
    assert not search.tree.visits.any()
    assert not search.tree.children.any()
    assert (search.tree.proven == UNKNOWN).all()
    assert search.advise(positions(game)[0], 0, 50).visits.tolist() == first.visits.tolist()


# ---------------------------------------------------------------- the search of one position


@pytest.mark.parametrize("threads", [1, 2])
def test_the_search_keeps_the_contract(threads):
    make = functools.partial(new_search, threads=threads)
    check_search(make, load("tic_tac_toe"), simulations=30, count=10)


@pytest.mark.parametrize("threads", [2, 3])
def test_threads_share_a_tree(threads):
    """Every simulation is counted once, none waits at the end, and the same search gives the same tree."""
    game, found = load("tic_tac_toe"), []
    for _ in range(2):
        search = new_search(game, threads=threads, prove=False)
        advice = search.advise(positions(game)[0], 0, 200)
        assert advice.simulations == 200
        assert search.tree.visits[0] == 200
        assert not search.tree.pending.any()
        found.append(advice.visits.tolist())
    assert found[0] == found[1]


def after(game, *actions):
    state = positions(game)[0]
    for action in actions:
        game.play(state, action)
    return state


@pytest.mark.parametrize(("seed", "threads"), [(0, 1), (1, 1), (2, 2)])
def test_an_untrained_network_finds_a_forced_win(seed, threads):
    """x plays a corner, o an edge beside it: x has a fork, three moves before the end."""
    game = load("tic_tac_toe")
    state = after(game, 0, 1)
    advice = new_search(game, network=seed, threads=threads).advise(state, 0, 5000)
    assert advice.exact
    assert advice.root_value == 1
    assert advice.best in (3, 4, 6)  # of the winning replies
    assert advice.simulations < 5000


@pytest.mark.parametrize("threads", [1, 2])
def test_a_full_tree_ends_the_search(threads):
    game = load("tic_tac_toe")
    search = new_search(game, megabytes=0.01, threads=threads)
    advice = search.advise(positions(game)[0], 0, 5000)
    assert 0 < advice.simulations < 5000
    assert advice.best in legal_actions(game, positions(game)[0])


def test_hidden_information_and_chance_are_refused():
    with pytest.raises(BadInput, match=r"it can't play leduc"):
        new_search(load("leduc"))


def test_after_an_interrupt_the_next_search_is_as_new():
    game, calls = load("tic_tac_toe"), []
    search, fresh = new_search(game), new_search(game)
    evaluate, state = search.evaluate, positions(game)[0]
    game.play(state, 4)

    def interrupted(encodings):
        calls.append(len(encodings))
        if len(calls) == 6:
            raise KeyboardInterrupt
        return evaluate(encodings)

    search.evaluate = interrupted
    with pytest.raises(KeyboardInterrupt):
        search.advise(positions(game)[0], 0, 100)
    one, two = (each.advise(state, 1, 50) for each in (search, fresh))
    np.testing.assert_array_equal(one.visits, two.visits)
    np.testing.assert_array_equal(one.value, two.value)
