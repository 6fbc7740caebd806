"""Self-play of AlphaZero: network evaluations per second, against the forward pass alone on batches of that size."""

from functools import cache, partial

import numpy as np

from kibitz.games import load
from kibitz.learn.alphazero.config import AlphaZeroConfig
from kibitz.learn.alphazero.geometry import geometry_of
from kibitz.learn.alphazero.self_play import SelfPlay

from .measuring import Row, Work
from .pcs import has_gpu

# Game, device, games at the same time in one process, channels, blocks.
CASES = [("connect_four", "cpu", 32, 32, 4), ("breakthrough", "cpu", 32, 32, 4)]
if has_gpu():
    CASES += [("connect_four", "cuda", 512, 64, 6), ("breakthrough", "cuda", 512, 64, 6)]
WARM_UP = 200  # rounds after which games are at different moves


@cache
def playing(name: str, device: str, games: int, channels: int, blocks: int):
    """Games in the middle, and an untrained network."""
    from kibitz.learn.alphazero.torch_network import BoardNetwork, Evaluator

    game = load(name)
    config = AlphaZeroConfig(
        name, games=games, parts=1, simulations=64, fast_simulations=16, channels=channels, blocks=blocks, device=device
    )
    network = BoardNetwork(geometry_of(game), config.shape, np.random.default_rng(1), "cpu")
    evaluate = Evaluator(geometry_of(game), config.shape, network.folded(), device)
    return SelfPlay(game, config, range(games)), evaluate


def _self_play(*case) -> Work:
    play, evaluate = playing(*case)

    def work(rounds: int) -> None:
        for _ in range(rounds):
            play.advance()
            play.batch.logits[:], play.batch.values[:] = evaluate(play.batch.encodings)
        play.finished.clear()

    work(WARM_UP)
    return work


def _forward(*case) -> Work:
    play, evaluate = playing(*case)

    def work(rounds: int) -> None:
        for _ in range(rounds):
            evaluate(play.batch.encodings)

    return work


ROWS = [
    Row(
        f"selfplay-{case[0]}-{case[1]}",
        "evaluations/s",
        0.5,
        partial(_self_play, *case),
        partial(_forward, *case),
        case[2],
    )
    for case in CASES
]
