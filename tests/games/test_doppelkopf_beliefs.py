"""Beliefs about unseen cards: compared with an enumeration of all deals near the end of games."""

import itertools
import math

import numpy as np
import pytest

from kibitz.doppelkopf.rules.beliefs import ROOM, expected_counts
from kibitz.doppelkopf.rules.cards import CLASS, CLUB_QUEEN, KINDS
from kibitz.doppelkopf.rules.deals import NOTES, WAYS, count_deals, may_hold, may_hold_queens, voids
from kibitz.doppelkopf.rules.encoding import HANDS, OPEN_SIZE, RE, SIZE, encode_open
from kibitz.doppelkopf.rules.state import is_re
from kibitz.games import load, positions, view_of
from kibitz.jit import generators, kernel

GAME = load("doppelkopf:thesis")


def late(seed, count):
    """A random game after `count` cards."""
    rng, state = generators(seed, 1)[0], positions(GAME)[0]
    while state.count < count:
        GAME.play(state, GAME.sample_action(state, rng))
    return state


def deals(view, seat):
    """All consistent deals of physical cards, as counts per kind and other seat [KINDS, 3]."""
    unseen = [kind for kind in range(KINDS) for _ in range(2)]
    for kind in range(KINDS):
        for _ in range(int(view.hands[seat]) >> 2 * kind & 3):
            unseen.remove(kind)
    for card in view.played[: view.count]:
        unseen.remove(int(card))
    sizes = [12 - (int(view.count) - (int(view.count) & 3)) // 4 - 0] * 3
    for i in range(int(view.count) & ~3, int(view.count)):
        side = int(view.leaders[i >> 2]) + i - seat & 3
        if side:
            sizes[side - 1] -= 1
    found, least = voids(view), np.zeros(3)
    queens = may_hold_queens(GAME, view, seat, found, least)
    for holders in itertools.product(range(3), repeat=len(unseen)):
        if [holders.count(j) for j in range(3)] != sizes:
            continue
        able = [queens if k == CLUB_QUEEN else may_hold(found, CLASS[int(view.type), k], seat) for k in unseen]
        if all(who >> j & 1 for who, j in zip(able, holders, strict=True)):
            table = np.zeros((KINDS, 3))
            np.add.at(table, (unseen, list(holders)), 1)
            yield table


@pytest.mark.parametrize(("seed", "count"), [(1, 36), (2, 37), (3, 39), (4, 40), (5, 42), (6, 45)])
def test_expected_counts_and_likelihoods_equal_those_of_all_deals(seed, count):
    state = late(seed, count)
    seat = GAME.turn(state)
    view = view_of(GAME, state, seat)
    weights = np.exp(np.random.default_rng(seed).normal(size=(1, KINDS, 3)))
    every = np.array(list(deals(view, seat)))
    notes = np.zeros(NOTES)
    count_deals(GAME, view, seat, notes)
    assert len(every) == notes[WAYS] > 1
    shares = np.prod(weights[0] ** every, axis=(1, 2))
    counts, logs = np.zeros((1, KINDS, 3)), np.zeros(1)
    views = positions(GAME)
    views[0] = view
    expected_counts(GAME, views, np.array([seat]), weights, np.zeros(ROOM), counts, logs)
    assert math.isclose(logs[0], math.log(shares.sum()), rel_tol=1e-12)
    np.testing.assert_allclose(counts[0], (shares[:, None, None] * every).sum(axis=0) / shares.sum(), atol=1e-12)


def test_no_deal_is_consistent_with_a_view_that_has_too_many_cards():
    state = late(3, 40)
    views = positions(GAME)
    views[0] = view_of(GAME, state, GAME.turn(state))
    views[0].played[39] = views[0].played[0]
    views[0].hands[GAME.turn(state)] += 1 << 2 * int(state.played[0])
    counts, logs = np.ones((1, KINDS, 3)), np.zeros(1)
    seats = np.array([GAME.turn(state)])
    expected_counts(GAME, views, seats, np.ones((1, KINDS, 3)), np.zeros(ROOM), counts, logs)
    assert logs[0] == -math.inf
    assert not counts.any()


@kernel
def opened(game, states, seat, out):
    encode_open(game, states[0], seat, out)


@pytest.mark.parametrize("count", [0, 5, 30])
def test_open_encodings_contain_all_hands_from_the_viewer_on(count):
    states = positions(GAME)
    states[0] = late(7, count) if count else late(7, 1)
    state = states[0]
    for seat in range(4):
        out, own = np.ones(OPEN_SIZE, np.float32), np.zeros(SIZE, np.float32)
        opened(GAME, states, seat, out)
        GAME.observe(view_of(GAME, state, seat), seat, own)
        assert np.array_equal(out[:SIZE], own)
        for side in range(1, 4):
            hand = out[HANDS + 48 * (side - 1) :][:48].reshape(KINDS, 2).sum(axis=1)
            assert hand.tolist() == [int(state.hands[seat + side & 3]) >> 2 * kind & 3 for kind in range(KINDS)]
        assert out[RE:].tolist() == [float(is_re(state, seat + side & 3)) for side in range(4)]
