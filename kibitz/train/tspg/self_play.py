"""Self-play of TSPG: PUCT plays whole games, guided by the weights of patterns.

Weights change between games, where the paper changed them between turns too: the number of updates is the same, and a
game can be played by any worker.
"""

from collections.abc import Callable

import numpy as np

from ...games import OVER, Game, load, positions
from ...search.mcts import Puct
from ..learner import Samples
from .config import TspgConfig
from .store import Features, biased

PLAYOUT_PLIES = 200  # until a playout counts as a draw
MAX_TURNS = 150  # until a game is stopped


def self_play(config: TspgConfig) -> Callable[[tuple[int, ...], Features], list[tuple[int, Samples]]]:
    """Return the function of a worker: numbers of games, and features -> the samples of these games."""
    game = load(config.game)

    def play(numbers: tuple[int, ...], features: Features) -> list[tuple[int, Samples]]:
        policy = biased(game, features, "ce", config.playouts)
        search = Puct(game, policy=policy, plies=PLAYOUT_PLIES, prove=False)
        return [(number, play_one(game, search, config, number)) for number in numbers]

    return play


def play_one(game: Game, search: Puct, config: TspgConfig, number: int) -> Samples:
    """Play one game; the samples of a turn are the position and the search's advice."""
    generator = np.random.default_rng([config.seed, 2, number])
    search.begin(int(generator.integers(2**63)))
    state, most = positions(game), game.facts.num_actions
    low, high = game.facts.rewards
    states, seats, visits, values, priors, roots = [], [], [], [], [], []
    turns, seat = 0, int(game.turn(state[0]))
    while seat != OVER and turns < MAX_TURNS:
        advice = search.advise(state[0].copy(), seat, config.simulations)
        scaled = (2 * advice.value - high - low) / (high - low)
        tried = advice.visits > 0
        row_visits, row_values = np.zeros(most, np.int32), np.full(most, np.nan, np.float32)
        row_priors = np.zeros(most, np.float32)
        row_visits[advice.actions], row_values[advice.actions] = advice.visits, scaled
        row_priors[advice.actions] = advice.prior
        states.append(np.frombuffer(state.tobytes(), np.uint8))
        seats.append(seat)
        visits.append(row_visits)
        values.append(row_values)
        priors.append(row_priors)
        roots.append(float(advice.visits[tried] @ scaled[tried]) / max(int(advice.visits.sum()), 1))
        share = advice.visits / advice.visits.sum() if tried.any() else advice.policy
        game.play(state[0], int(generator.choice(advice.actions, p=share)))
        after = int(game.turn(state[0]))
        turns += after != seat  # a continued capture is the same turn
        seat = after
    return {
        "states": np.array(states),
        "seats": np.array(seats, np.int8),
        "visits": np.array(visits),
        "values": np.array(values),
        "priors": np.array(priors),
        "roots": np.array(roots, np.float32),
    }
