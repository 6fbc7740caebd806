"""The value network of ExIt-OOS: the payoff that seat 0 can expect from a history if both seats play by their network.

Its input is what both seats see, its output one number. It learns from games that the policy network plays against
itself, which cost a thousandth of games with search. Some moves at the beginning of each are random, so that it knows
positions that only a search reaches; from there on the game is the policy's, and these positions are learned.
"""

from typing import NamedTuple

import numpy as np

from ...games import Game, positions
from ...games.protocol import CHANCE, OVER
from ...jit import below, generators, helper, kernel, uniform
from ...nets.mlp import Layers, Mlp, compiled, forward
from ...search.value_oos import critic

RANDOM = 0.5  # probability that a move before the first position to learn is uniformly random


@critic
class Critic(NamedTuple):
    """The compiled value network."""

    net: Mlp
    bounds: np.ndarray  # [2] f8: lowest and highest payoff

    def history_value(self, game, state):
        encode_both(game, state, self.net.encoding, self.net.widths[0] // 2)
        forward(self.net)
        return min(max(np.float64(self.net.units[0]), self.bounds[0]), self.bounds[1])


def compiled_critic(game: Game, layers: Layers) -> Critic:
    return Critic(compiled(layers), np.array(game.facts.payoffs))


@helper
def encode_both(game, state, out, width):
    """Encode what each of the two seats sees, side by side."""
    game.observe(state, 0, out[:width])
    game.observe(state, 1, out[width : 2 * width])


def policy_games(game: Game, policy: Mlp, games: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Play games of a policy against itself; return [rows, 2 x encoding] f4 and [rows] f4, the payoff of seat 0."""
    turns = game.facts.max_game_length
    rows = np.zeros((games * turns, 2 * game.facts.encoding), np.float32)
    payoffs, most = np.zeros(games * turns, np.float32), max(game.facts.num_actions, game.facts.max_chance_outcomes)
    count = _policy_games(
        game, positions(game, 2), policy, games, generators(seed, 1)[0], np.zeros(most, np.int64),
        np.zeros(most), rows, payoffs,
    )  # fmt: skip
    return rows[:count], payoffs[:count]


@kernel
def _policy_games(game, states, policy, games, rng, actions, probs, rows, payoffs):
    filled, turns, width = 0, len(rows) // games, rows.shape[1] // 2
    for _ in range(games):
        states[0] = states[1]
        state = states[0]
        begin, first, ply = below(rng, turns), filled, 0
        turn = game.turn(state)
        while turn != OVER:
            if turn == CHANCE or (ply < begin and uniform(rng) < RANDOM):
                game.play(state, game.sample_action(state, rng))
            else:
                if ply >= begin and filled < len(rows):
                    encode_both(game, state, rows[filled], width)
                    filled += 1
                game.play(state, policy.step(game, state, actions, probs, rng))
            ply += 1
            turn = game.turn(state)
        for row in range(first, filled):
            payoffs[row] = game.payoff(state, 0)
    return filled
