"""Self-play of AlphaZero without a network: simulations per second of one core, with random answers that cost nothing.

python -m benchmarks.search_alone [GAME ...]
"""

import sys
import time

import numpy as np

from kibitz.games import load
from kibitz.search.batched_puct import new_batch
from kibitz.train.alphazero.config import AlphaZeroConfig
from kibitz.train.alphazero.self_play import SelfPlay

GAMES = 512  # at the same time
WARM_UP, ROUNDS = 200, 800


def simulations_per_second(name: str, games: int = GAMES, warm_up: int = WARM_UP, rounds: int = ROUNDS) -> float:
    game = load(name)
    config = AlphaZeroConfig(name, games=games, parts=1, simulations=64, fast_simulations=16)
    play, batch, generator = SelfPlay(game, config, range(games)), new_batch(game, games), np.random.default_rng(1)
    answers = [(generator.normal(0, 1, batch.logits.shape), generator.uniform(-0.9, 0.9, games)) for _ in range(8)]
    spent = 0.0
    for number in range(warm_up + rounds):
        began = time.process_time()
        play.advance(batch)
        spent += time.process_time() - began if number >= warm_up else 0.0
        batch.logits[:], batch.values[:] = answers[number % len(answers)]
    return games * rounds / spent


if __name__ == "__main__":
    for wanted in sys.argv[1:] or ["connect_four", "breakthrough"]:
        print(f"{wanted}: {simulations_per_second(wanted):,.0f} simulations/s")
