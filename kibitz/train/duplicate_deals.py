"""Matches of compiled policies: one against the others, each deal from every seat."""

import math
from typing import Any, NamedTuple

import numpy as np

from ..games import Game, positions
from ..games.game import CHANCE, OVER
from ..jit import generators, kernel
from ..search.policies import Heuristic


class Points(NamedTuple):
    mean: float  # per game
    error: float  # standard error over deals


def evaluate_policy(game: Game, policy: Any, deals: int, seed: int, others: Any = None) -> Points:
    """Mean payoff of a policy against `others` (none: the game's heuristic) in all other seats."""
    wide = max(game.facts.num_actions, game.facts.max_chance_outcomes)
    scores, legal, probs = np.zeros(deals), np.zeros(wide, np.int64), np.zeros(wide)
    others = Heuristic() if others is None else others
    play_deals(game, policy, others, game.facts.seats, positions(game), legal, probs, generators(seed, deals), scores)
    return Points(float(scores.mean()), float(scores.std() / math.sqrt(deals)))


@kernel
def play_deals(game, policy, others, seats, states, legal, probs, rngs, scores):
    """scores[deal]: mean over the seats of the policy, all from the same random numbers."""
    state = states[0]
    for deal in range(len(scores)):
        one, two = rngs[deal, 0], rngs[deal, 1]
        for seat in range(seats):
            rng = rngs[deal]
            rng[0], rng[1] = one, two
            game.start(state)
            turn = game.turn(state)
            while turn != OVER:
                if turn == CHANCE:
                    action = game.sample_action(state, rng)
                elif turn == seat:
                    action = policy.step(game, state, legal, probs, rng)
                else:
                    action = others.step(game, state, legal, probs, rng)
                game.play(state, action)
                turn = game.turn(state)
            scores[deal] += game.payoff(state, seat) / seats
