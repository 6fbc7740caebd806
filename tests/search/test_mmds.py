"""Magnetic mirror descent search: the belief is Bayes' rule, values are unbiased, the step is the closed form."""

import math
from functools import partial
from itertools import count
from typing import NamedTuple

import numpy as np
import pytest

from kibitz.games import OVER, legal_actions, load, positions, view_of
from kibitz.jit import generators
from kibitz.search import belief_sampling
from kibitz.search.belief_sampling import Belief, joined, sample_belief, weighted_means
from kibitz.search.mmds import Mmds, mirror_step
from kibitz.search.policies import policy
from kibitz.solve.mirror_descent import MirrorDescent
from kibitz.solve.sequence_form import unfold

KUHN = load("kuhn")
JACK, QUEEN, KING = range(3)
PASS, BET = range(2)
BETS = np.array([0.1, 0.3, 0.9])  # by card, of the policy below


@policy
class ByCard(NamedTuple):
    """Bets, or calls, the more often the higher the card: what a seat does tells what it has."""

    bets: np.ndarray

    def weigh(self, game, state, actions, n, probs):
        probs[1] = self.bets[int(state.cards[int(game.turn(state))])]
        probs[0] = 1.0 - probs[1]


@policy
class Third(NamedTuple):
    """Plays the third action half of the time."""

    def weigh(self, game, state, actions, n, probs):
        for j in range(n):
            probs[j] = 1.0 / n if n < 3 else 0.5 / (n - 1)
        if n > 2:
            probs[2] = 0.5


def kuhn(*moves):
    state = positions(KUHN)[0]
    for move in moves:
        KUHN.play(state, move)
    seat = int(KUHN.turn(state))
    return view_of(KUHN, state, seat), seat


def value(state, seat):
    """The expected payoff if all seats follow `ByCard`."""
    turn = KUHN.turn(state)
    if turn == OVER:
        return KUHN.payoff(state, seat)
    found = []
    for action in (PASS, BET):
        after = state.copy()
        KUHN.play(after, action)
        found.append(value(after, seat))
    bet = BETS[state.cards[turn]]
    return (1 - bet) * found[PASS] + bet * found[BET]


def exact(own, moves, seat):
    """The probabilities of the other's cards by Bayes' rule, and the value of each action."""
    others, weights, values = [card for card in range(3) if card != own], [], []
    for other in others:
        cards, weight, state = (own, other) if seat == 0 else (other, own), 1.0, positions(KUHN)[0]
        for card in cards:
            KUHN.play(state, card)
        for move in moves:
            turn = KUHN.turn(state)
            if turn != seat:
                weight *= BETS[other] if move == BET else 1 - BETS[other]
            KUHN.play(state, move)
        weights.append(weight)
        after = [state.copy(), state.copy()]
        for action in (PASS, BET):
            KUHN.play(after[action], action)
        values.append([value(each, seat) for each in after])
    weights = np.array(weights) / sum(weights)
    return dict(zip(others, weights, strict=True)), weights @ np.array(values)


SITUATIONS = [(QUEEN, (), 0), (QUEEN, (BET,), 1), (QUEEN, (PASS,), 1), (JACK, (PASS, BET), 0)]


def at(own, moves, seat):
    other = (own + 1) % 3
    return kuhn(*((own, other) if seat == 0 else (other, own)), *moves)


@pytest.mark.parametrize(("own", "moves", "seat"), SITUATIONS)
@pytest.mark.parametrize("share", [0.0, 1.0])
def test_worlds_are_weighted_by_bayes_rule(own, moves, seat, share, monkeypatch):
    """Also where particles are drawn anew after every move."""
    monkeypatch.setattr(belief_sampling, "LEAST_SHARE", share)
    view, seat = at(own, moves, seat)
    belief = sample_belief(KUHN, view, seat, 20_000, ByCard(BETS), generators(1, 1)[0])
    assert len(belief.worlds) == 20_000
    assert (belief.worlds["cards"][:, seat] == own).all()
    cards = belief.worlds["cards"][:, 1 - seat]
    probs, _ = exact(own, moves, seat)
    means, covariance = weighted_means(np.array([cards == card for card in probs]).T.astype(float), belief)
    np.testing.assert_allclose(means, list(probs.values()), atol=4 * math.sqrt(covariance[0, 0]))
    assert math.sqrt(covariance[0, 0]) < 0.01


def test_mistakes_soften_what_the_others_moves_tell():
    view, seat = at(QUEEN, (BET,), 1)
    found = []
    for share in (0.0, 0.5, 1.0):
        belief = sample_belief(KUHN, view, seat, 20_000, ByCard(BETS), generators(1, 1)[0], share)
        kings = (belief.worlds["cards"][:, 0] == KING)[:, None].astype(float)
        found.append(weighted_means(kings, belief)[0][0])
    assert found == pytest.approx([0.9, 0.7 / (0.7 + 0.3), 0.5], abs=0.02)


def test_many_hidden_moves_are_followed_to_the_view():
    """Goofspiel: every history of the other's bids that fits, by its probability."""
    game, follows = load("goofspiel:4"), Third()
    state = positions(game)[0]
    for move in (1, 3, 0, 1):  # the other seat has won both rounds
        game.play(state, move)
    view, weights = view_of(game, state, 0), {}

    def walk(state, weight, bids):
        if len(bids) == 2:
            if all(state.winner[:2] == view.winner[:2]):
                weights[bids] = weights.get(bids, 0.0) + weight
            return
        legal = legal_actions(game, state)
        if game.turn(state) == 0:
            legal = [int(view.bids[0, int(state.rounds)])]
        for j, action in enumerate(legal):
            after, prob = state.copy(), 1.0
            game.play(after, action)
            if game.turn(state) == 1:
                prob = 0.5 if j == 2 and len(legal) > 2 else 0.5 / (len(legal) - 1) if len(legal) > 2 else 0.5
                walk(after, weight * prob, (*bids, action))
            else:
                walk(after, weight, bids)

    walk(positions(game)[0], 1.0, ())
    belief = sample_belief(game, view, 0, 20_000, follows, generators(2, 1)[0])
    seen = [tuple(bids) for bids in belief.worlds["bids"][:, 1, :2].tolist()]
    means, covariance = weighted_means(np.array([[bids == each for each in weights] for bids in seen], float), belief)
    wanted = np.array(list(weights.values())) / sum(weights.values())
    assert len(weights) > 3
    assert (np.abs(means - wanted) < 4.5 * np.sqrt(np.diag(covariance)) + 1e-9).all()
    assert set(seen) == set(weights)


def test_the_error_counts_particles_of_one_forebear_as_one():
    values, logs = np.array([[1.0], [3.0], [3.0], [2.0]]), np.log([1.0, 2.0, 1.0, 4.0])
    means, covariance = weighted_means(values, Belief(np.zeros(4), logs, np.array([0, 1, 1, 2])))
    assert means == pytest.approx([18 / 8])
    parts = [-1.25 / 8, 0.75 * 3 / 8, -0.25 * 4 / 8]
    assert covariance[0, 0] == pytest.approx(sum(each**2 for each in parts) * 3 / 2)
    assert np.isnan(weighted_means(values, Belief(np.zeros(4), logs, np.zeros(4, int)))[1]).all()
    two = joined([Belief(np.zeros(2), np.zeros(2), np.array([0, 1])), Belief(np.zeros(1), np.zeros(1), np.array([0]))])
    assert two.forebears.tolist() == [0, 1, 2]


@pytest.mark.parametrize(("own", "moves", "seat"), SITUATIONS)
def test_values_are_unbiased_and_their_intervals_cover(own, moves, seat):
    """The mean of 300 small searches is the exact value, and about 95% of their intervals hold it."""
    view, seat = at(own, moves, seat)
    search, (_, wanted) = Mmds(KUHN, policy=ByCard(BETS), mistakes=0.0), exact(own, moves, seat)
    found = [search.advise(view, seat, 100) for _ in range(300)]
    values = np.array([advice.value for advice in found])
    assert (np.abs(values.mean(axis=0) - wanted) < 4 * values.std(axis=0) / 300**0.5 + 1e-9).all()
    varies = values.std(axis=0) > 1e-9  # who folds always loses 1
    held = np.array([np.abs(advice.value - wanted) <= 1.96 * advice.error for advice in found])[:, varies]
    assert ((held.mean(axis=0) > 0.89) & (held.mean(axis=0) < 0.99)).all()
    differences = np.array([advice.value[1] - advice.value[0] for advice in found])
    paired = np.mean([advice.paired_error[0, 1] for advice in found])
    assert paired == pytest.approx(differences.std(), rel=0.2)


def test_the_step_is_that_of_mirror_descent():
    """At a seat's last infosets, with exact values: there the dilated update has no other infoset to look ahead to."""
    form = unfold(KUHN)
    descent = MirrorDescent(KUHN, form, 2.0, 0.3)
    other, side = descent.memories[0].plan.copy(), form.sides[1]
    step, pull = descent.step, descent.pull
    descent.run(1)
    for infoset, view in enumerate(form.views[1]):
        here = slice(side.first[infoset], side.first[infoset + 1])
        gains = [
            side.payoffs[side.rows[s] : side.rows[s + 1]] @ other[side.others[side.rows[s] : side.rows[s + 1]]]
            for s in range(here.start, here.stop)
        ]
        reach = 0.5 * len([card for card in range(3) if card != view.cards[1]]) / 6  # of the uniform first policy
        after = mirror_step(np.full(2, 0.5), np.array(gains) / reach, step * reach, pull / reach)
        assert after == pytest.approx(np.exp(descent.memories[1].logs[here]))


def test_the_step_is_the_best_of_its_objective():
    policy, values, eta, alpha = np.array([0.2, 0.5, 0.3]), np.array([0.3, -0.1, 0.4]), 2.0, 0.3

    def objective(probs):
        return eta * (values @ probs - alpha * probs @ np.log(probs)) - probs @ np.log(probs / policy)

    best = mirror_step(policy, values, eta, alpha)
    generator = np.random.default_rng(1)
    for scale in (0.3, 0.01) * 30:
        tried = best * np.exp(scale * generator.normal(size=3))
        assert objective(tried / tried.sum()) < objective(best)


def test_advice_is_the_step_from_the_policy_by_the_values():
    view, seat = at(JACK, (PASS, BET), 0)
    search = Mmds(KUHN, 3, eta=4.0, alpha=0.1, policy=ByCard(BETS))
    advice = search.advise(view, seat, 500)
    assert advice.prior == pytest.approx([0.9, 0.1])
    # Payoffs in Kuhn poker lie between -2 and 2.
    assert advice.policy == pytest.approx(mirror_step(advice.prior, advice.value / 2, 4.0, 0.1))
    assert advice.visits.tolist() == [500, 500]
    assert Mmds(KUHN, eta=0.0, policy=ByCard(BETS)).advise(view, seat, 5).policy == pytest.approx(advice.prior)
    likeliest = Mmds(KUHN, eta=0.0, threshold=0.2, policy=ByCard(BETS)).advise(view, seat, 5).policy
    assert likeliest.tolist() == [1.0, 0.0]


def test_where_the_policy_never_leads_to_the_view_every_world_that_fits_counts():
    view, seat = at(QUEEN, (BET,), 1)
    search = Mmds(KUHN, mistakes=0.0, eta=0.1, policy=ByCard(np.array([0.0, 0.5, 0.0])))  # only the queen bets
    advice = search.advise(view, seat, 2000)
    assert advice.visits.tolist() == [2000, 2000]
    assert advice.value[PASS] == pytest.approx(-1)
    assert advice.value[BET] == pytest.approx(0, abs=0.2)  # against a jack or a king


def test_actions_that_would_hardly_be_played_are_tried_no_more():
    """With the king against a bet: a fold loses 1, a call wins 2."""
    view, seat = at(KING, (PASS, BET), 0)
    advice = Mmds(KUHN, policy=ByCard(BETS), eta=20.0, alpha=0.0).advise(view, seat, 1000)
    assert advice.policy[BET] > 0.999
    assert advice.simulations == 64  # there was no more to decide
    assert advice.value == pytest.approx([-1, 2])
    advice = Mmds(KUHN, policy=ByCard(BETS), eta=0.1).advise(view, seat, 1000)
    assert advice.visits.tolist() == [1000, 1000]


def test_it_searches_until_its_time_is_up_and_one_round_at_least(monkeypatch):
    """By a clock that advances by a second each time it is read."""
    monkeypatch.setattr("kibitz.search.budget.time.perf_counter", partial(next, count()))
    view, seat = at(QUEEN, (), 0)
    search = Mmds(KUHN)
    assert search.advise(view, seat, seconds=1e-9).simulations == 64
    # A second after 64 worlds there is time for 128 more, as many as the next round has; then for half of these 192.
    assert search.advise(view, seat, seconds=3).simulations == 64 + 128 + 96
    assert search.advise(view, seat, 10, seconds=1e-9).simulations == 10
