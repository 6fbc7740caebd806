"""Exact max^n values, against a slow, obvious twin."""

from pathlib import Path

import numpy as np
import pytest

from kibitz import games, jit
from kibitz.games import CHANCE, OVER, chance_outcomes, legal_actions, positions
from kibitz.search import maxn
from kibitz.search.ensemble_uct import EnsembleUct
from kibitz.search.maxn import MaxN

HEIRS = f"{Path(__file__).parents[1] / 'games' / 'heirs.py'}:Heirs:will=4"


def following(game, state, action):
    after = np.array([state], game.state)[0]
    game.play(after, action)
    return after


def worth(game, state):
    """The value for each seat, when each takes its own best action, of equals the first."""
    turn = game.turn(state)
    if turn == OVER:
        return np.array([game.reward(state, seat) for seat in range(game.facts.seats)])
    if turn == CHANCE:
        return sum(
            probs * worth(game, following(game, state, action)) for action, probs in chance_outcomes(game, state)
        )
    return max(
        (worth(game, following(game, state, action)) for action in legal_actions(game, state)), key=lambda w: w[turn]
    )


def size(game, state):
    """Positions behind this one."""
    if game.turn(state) == OVER:
        return 0
    return sum(1 + size(game, following(game, state, action)) for action in legal_actions(game, state))


def met(game, seed, turns):
    """A position after `turns` turns of a random game."""
    state, rng = positions(game)[0], jit.generators(seed, 1)[0]
    for _ in range(turns):
        game.play(state, game.sample_action(state, rng))
    return state


def check(game, state):
    solved = MaxN(game, 10**6).solve(state)
    expected = [worth(game, following(game, state, action)) for action in legal_actions(game, state)]
    np.testing.assert_allclose(solved.values, expected, rtol=1e-12)
    assert solved.positions == size(game, state)
    assert MaxN(game, solved.positions).solve(state)
    assert MaxN(game, solved.positions - 1).solve(state) is None
    assert MaxN(game, 0).solve(state) is None


LEDUC = pytest.param("leduc", (2, 3, 4), marks=pytest.mark.heavy)


@pytest.mark.parametrize(
    ("name", "turns"), [("kuhn", (0, 1, 3)), ("tic_tac_toe", (3, 4, 6)), (HEIRS, (0, 1, 2, 4)), LEDUC]
)
def test_values_are_those_of_backward_induction(name, turns):
    """Of two seats, with chance and without, and of three that aren't zero-sum."""
    game = games.load(name)
    for seed, many in enumerate(turns):
        check(game, met(game, seed, many))
    assert "_solve" not in jit.counting  # else it would be compiled twice, and be slower


def near_the_end(game, seed, cards):
    """A position of Doppelkopf near the end, with this number of cards left."""
    state, rng = positions(game)[0], jit.generators(seed, 1)[0]
    while game.turn(state) == CHANCE or int(state.count) < 48 - cards:
        game.play(state, game.sample_action(state, rng))
    return state


@pytest.mark.parametrize("name", ["doppelkopf:thesis", "doppelkopf"])
def test_endings_of_doppelkopf(name, monkeypatch):
    """Four seats, two parties; two tricks. The kernel runs as plain Python: the same code, not compiled."""
    monkeypatch.setattr(maxn, "_solve", getattr(maxn._solve, "py_func", maxn._solve))
    game = games.load(name)
    for seed in range(6):
        check(game, near_the_end(game, seed, 8))


@pytest.mark.heavy
def test_longer_endings_of_doppelkopf():
    game = games.load("doppelkopf:thesis")
    for seed in range(12):
        check(game, near_the_end(game, seed, 10 + seed % 3))


def test_positions_that_are_much_too_large_are_given_up_early():
    game = games.load("tic_tac_toe")
    search = MaxN(game, 30_000)
    assert search.solve(positions(game)[0]) is None  # of about half a million
    assert search.stack.next[0] == 1  # at its first move


def test_an_ensemble_solves_what_it_can():
    """In Kuhn poker every world is, so no simulation is done."""
    game = games.load("kuhn")
    state = met(game, 3, 3)
    seat = game.turn(state)
    view = games.view_of(game, state, seat)
    advice = EnsembleUct(game, 1, determinizations=200).advise(view, seat, 1000)
    assert advice.simulations == 0
    others = [card for card in range(3) if card != int(state.cards[seat])]
    expected = np.zeros(len(advice.actions))
    for card in others:
        world = np.array([state], game.state)[0]
        world.cards[1 - seat] = card
        expected += MaxN(game, 1000).solve(world).values[:, seat] / 2
    np.testing.assert_allclose(advice.value, expected, atol=0.3)  # a mean of 200 guesses
    assert EnsembleUct(game, 1, determinizations=200, exact=0).advise(view, seat, 1000).simulations > 0
