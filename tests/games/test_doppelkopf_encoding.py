"""Derived features of the encoding, compared with slow and obvious computations."""

import numpy as np
import pytest

from kibitz.doppelkopf.rules.cards import KINDS, NAMES, POINTS, trumps
from kibitz.doppelkopf.rules.encoding import (
    BEATS_TRICK,
    FRIENDS,
    PARTY_POINTS,
    PLACE,
    SIZE,
    TRICK_POINTS,
    TRICK_WINNER,
    TRUMPS,
    UNBEATABLE,
    UNSEEN,
)
from kibitz.doppelkopf.rules.rules import playable
from kibitz.doppelkopf.rules.state import CARDS, is_re
from kibitz.games import CHANCE, OVER, load, positions, view_of
from kibitz.jit import generators

RISING = ("9", "J", "Q", "K", "10", "A")


def met(name, seed, games):
    """Positions of random games in which a card is played next."""
    game, rng = load(name), generators(seed, 1)[0]
    for _ in range(games):
        states = positions(game)
        game.start(states[0])
        while (turn := game.turn(states[0])) != OVER:
            if turn != CHANCE and states[0].phase == CARDS:
                yield game, states[0]
            game.play(states[0], game.sample_action(states[0], rng))


def suit_of(kind, high):
    return "trump" if NAMES[kind] in high else NAMES[kind][0]


def best_of(cards, high):
    """The place of the card that wins a trick of these, straight from the rules."""
    best = 0
    for place, kind in enumerate(cards):
        now = cards[best]
        if suit_of(kind, high) == "trump":
            higher = suit_of(now, high) != "trump" or high.index(NAMES[kind]) < high.index(NAMES[now])
        else:
            same = suit_of(kind, high) == suit_of(now, high)
            higher = same and RISING.index(NAMES[kind][1:]) > RISING.index(NAMES[now][1:])
        best = place if higher and place else best
    return best


def copies(hand):
    return [int(hand) >> 2 * kind & 3 for kind in range(KINDS)]


@pytest.mark.parametrize("name", ["doppelkopf:thesis", "doppelkopf"])
def test_derived_features_equal_slow_computations(name):
    out, seen = np.zeros(SIZE, np.float32), 0
    for game, state in met(name, 7, 6):
        seat, high, count = int(game.turn(state)), trumps(int(state.type)), int(state.count)
        game.observe(view_of(game, state, seat), seat, out)
        own, others = copies(state.hands[seat]), sum(np.array(copies(state.hands[seat + i & 3])) for i in (1, 2, 3))
        assert out[UNSEEN : UNSEEN + 2 * KINDS].reshape(KINDS, 2).sum(axis=1).tolist() == others.tolist()
        is_trump = np.array([NAMES[kind] in high for kind in range(KINDS)])
        assert np.rint(out[TRUMPS : TRUMPS + 2] * [12, 24]).tolist() == [own @ is_trump, others @ is_trump]
        trick = [int(kind) for kind in state.played[count & ~3 : count]]
        assert np.flatnonzero(out[PLACE : PLACE + 4]).tolist() == [len(trick)]
        assert round(float(out[TRICK_POINTS]) * 30) == sum(POINTS[kind] for kind in trick)
        legal = int(playable(state, seat))
        for kind in range(KINDS):
            takes = trick and legal >> 2 * kind & 3 and best_of([*trick, kind], high) == len(trick)
            assert out[BEATS_TRICK + kind] == bool(takes)
            rivals = [k for k in range(KINDS) if others[k] and suit_of(k, high) == suit_of(kind, high)]
            assert out[UNBEATABLE + kind] == (own[kind] > 0 and all(best_of([kind, k], high) == 0 for k in rivals))
        friends, foes = out[FRIENDS : FRIENDS + 8].reshape(4, 2).T
        truth = np.array([is_re(state, seat + i & 3) == is_re(state, seat) for i in range(4)])
        assert friends[0]
        assert not (friends.astype(bool) & ~truth).any()
        assert not (foes.astype(bool) & truth).any()
        points = np.array([int(state.points[seat + i & 3]) for i in range(4)])
        assert np.rint(out[PARTY_POINTS : PARTY_POINTS + 2] * 120).tolist() == [friends @ points, foes @ points]
        if trick:
            taker = int(state.leaders[count >> 2]) + best_of(trick, high) - seat & 3
            expected = [*(np.arange(4) == taker), friends[taker], foes[taker]]
            assert out[TRICK_WINNER : TRICK_WINNER + 6].tolist() == [float(each) for each in expected]
        seen += 1
    assert seen > 200
