"""Speed of mmd: decisions per second of self-play, of the network's forward pass alone, and of a whole iteration.

python -m benchmarks.mmd goofspiel:13 --games 16384 --hidden 256-256 --device cuda
"""

import argparse
import time
from collections.abc import Callable

import torch

from kibitz.core.progress import SILENT
from kibitz.core.workers import cores
from kibitz.games import load
from kibitz.nets.torch_mlp import one_thread
from kibitz.train.mmd.learner import PART, Mmd
from kibitz.train.trainer import configured


def seconds(work: Callable[[], object], at_least: float) -> float:
    """Mean duration of a call, after a first one that compiles."""
    work()
    count, began = 0, time.perf_counter()
    while (spent := time.perf_counter() - began) < at_least or not count:
        work()
        count += 1
        if torch.cuda.is_available():
            torch.cuda.synchronize()
    return spent / count


def measure(game: str, games: int, hidden: str, network: str, device: str, at_least: float = 3.0) -> dict[str, float]:
    """Decisions per second, by what is done with them."""
    config = configured("mmd", game, None, {"games": games, "hidden": hidden, "network": network, "device": device})
    learner = Mmd(config, load(config.game))
    learner.processes = cores()
    with one_thread(), torch.no_grad():
        batch = learner.play(1)
        views = batch.encodings[: min(PART, games), : learner.game.facts.encoding].contiguous()
        forward = len(views) / seconds(lambda: learner.policy(views), at_least)
        playing = len(batch.games) / seconds(lambda: learner.play(1), at_least)
    whole = len(batch.games) / seconds(lambda: learner.learn(1, None, SILENT), at_least)
    return {"forward pass": forward, "self-play": playing, "whole iteration": whole}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("game")
    parser.add_argument("--games", type=int, default=2048)
    parser.add_argument("--hidden", default="128-128")
    parser.add_argument("--network", default="mlp")
    parser.add_argument("--device", default="cpu")
    given = parser.parse_args()
    for name, speed in measure(given.game, given.games, given.hidden, given.network, given.device).items():
        print(f"{name}: {speed:,.0f} decisions/s")
