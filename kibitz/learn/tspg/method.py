"""TSPG as a method of training: its presets, its learner."""

from dataclasses import replace
from typing import Any

import numpy as np

from ...games import OVER, Game, full_name, legal_actions, load, positions
from ...jit import generators
from ..method import Method
from .self_play import Student, Tspg, refuse, self_play
from .store import Features

PRESETS = {
    "paper": "as published: 200 games, 1,600 simulations a move (800 on Hex 11)",
    "public": "the same with the optimizer of the public code: its ε inside the root, its rate divided",
    "kibitz": "what we found to be better, as many games and simulations",
    "small": "a minute or two, in any game",
}
FEWER = {"hex:11": 800}  # simulations a move in the paper
CASES = 4000  # actions by which a pattern is chosen, about


def preset(game: Game, name: str) -> dict[str, Any]:
    if name == "small":
        return {"iterations": 30, "simulations": 200, "keep_every": 10}
    fewer = next((count for each, count in FEWER.items() if full_name(load(each)) == full_name(game)), None)
    values: dict[str, Any] = {} if fewer is None else {"simulations": fewer}
    if name == "public":
        values |= {"inside": True, "shared": True}
    if name == "kibitz":
        # A few positions make thousands of pairs look good by luck, and steps of the text's size never settle.
        from_positions = int(min(400, max(60, CASES / mean_actions(game))))
        values |= {"rate": 0.0003, "capacity": 3000, "grow_from": from_positions, "fewest": 10, "confident": True}
        # On wide boards most actions are never tried: at their parent's value all of them beat a bad one that was.
        values |= {"unvisited": "mixed"}
    return values


def mean_actions(game: Game, count: int = 20) -> float:
    """Legal actions a turn, in some random games."""
    rng, found = generators(1, 1)[0], []
    for _ in range(count):
        state = positions(game)[0]
        while game.turn(state) != OVER:
            found.append(len(legal_actions(game, state)))
            game.play(state, game.sample_action(state, rng))
    return float(np.mean(found))


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
    evaluate=lambda config, game: lambda features: {},
    probe=lambda config: (replace(config), 1.0),
    size=size,
    player="features",
)
