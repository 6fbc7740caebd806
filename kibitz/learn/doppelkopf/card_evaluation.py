"""How well a network plays Doppelkopf by itself: against three who play as is usual, or by another network.

Every deal is played from all four seats.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from ...games import Game, positions
from ...games.doppelkopf.state import CARDS
from ...games.game import CHANCE, OVER
from ...jit import generators, kernel
from ...search.policies import Heuristic
from .card_network import CardPolicy


class Strength(NamedTuple):
    points: float  # a game, on the mean
    error: float  # of it, by deals


def strength(game: Game, policy: CardPolicy, deals: int, seed: int, others: Any = None) -> Strength:
    """`others`: a policy; none: as is usual."""
    wide = max(game.facts.num_actions, game.facts.max_chance_outcomes)
    scores = np.zeros(deals)
    legal, probs = np.zeros(wide, np.int64), np.zeros(wide)
    play_deals(
        game,
        policy,
        Heuristic() if others is None else others,
        positions(game),
        legal,
        probs,
        generators(seed, deals),
        scores,
    )
    return Strength(float(scores.mean()), float(scores.std() / math.sqrt(deals)))


@kernel
def play_deals(game, policy, others, states, legal, probs, rngs, scores):
    """scores[deal]: mean over the seats that the policy takes; the same luck deals each time."""
    state = states[0]
    for deal in range(len(scores)):
        one, two = rngs[deal, 0], rngs[deal, 1]
        for seat in range(4):
            rng = rngs[deal]
            rng[0], rng[1] = one, two
            game.start(state)
            turn = game.turn(state)
            while turn != OVER:
                if turn == CHANCE:
                    action = game.sample_action(state, rng)
                elif turn == seat and state.phase == CARDS:
                    action = policy.step(game, state, legal, probs, rng)
                elif state.phase == CARDS:
                    action = others.step(game, state, legal, probs, rng)
                else:
                    action = game.heuristic(state, rng)
                game.play(state, action)
                turn = game.turn(state)
            scores[deal] += game.payoff(state, seat) / 4.0
