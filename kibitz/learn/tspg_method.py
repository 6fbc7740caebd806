"""TSPG as a method of training: its presets, its learner."""

from dataclasses import replace
from typing import Any

import numpy as np

from ..games import Game, full_name, load
from .features.store import Features
from .method import Method
from .tspg import Student, Tspg, refuse, self_play

PRESETS = {
    "paper": "as published: 200 games, 1,600 simulations a move (800 on Hex 11)",
    "small": "a minute or two, in any game",
}
FEWER = {"hex:11": 800}  # simulations a move in the paper


def preset(game: Game, name: str) -> dict[str, Any]:
    if name == "small":
        return {"iterations": 30, "simulations": 200, "keep_every": 10}
    fewer = next((count for each, count in FEWER.items() if full_name(load(each)) == full_name(game)), None)
    return {} if fewer is None else {"simulations": fewer}


def size(config: Tspg, game: Game, knowledge: Features, rows: dict[str, np.ndarray]) -> int:
    remembered = sum(array[0].nbytes for array in rows.values()) * 2 * config.capacity
    patterns = sum(map(len, knowledge.patterns)) + 2 * config.iterations * config.games * config.grow
    return 2 * remembered + 80 * patterns * (config.iterations // config.keep_every + 3)


METHOD = Method(
    config=Tspg,
    about="Policies on growing spatial features: PUCT plays against itself, weights of patterns are learned from its "
    "visits and from its values, and guide it. Every game adds a pattern.",
    examples=("connect_four --preset small", "yavalath --preset paper", "gomoku --preset paper --features rich"),
    presets=PRESETS,
    preset=preset,
    refuse=refuse,
    learner=lambda config, game: Student(game, config),
    self_play=self_play,
    tasks=lambda config, game, workers: config.games,
    judge=lambda config, game: lambda features: {},
    probe=lambda config: (replace(config), 1.0),
    size=size,
    player="features",
)
