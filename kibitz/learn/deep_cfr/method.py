"""Deep CFR as a method of training: its presets, and how long a run will take."""

import time
from dataclasses import replace
from typing import Any

import numpy as np

from ...games import Game
from ...games.holdem.encoding import by_street
from ..method import Solving
from .config import DeepCfr, refuse
from .loop import solve
from .networks import new_weights
from .solver import Known, Solver, traversing

PRESETS = {
    "paper": "as published (Brown et al. 2019; in small games Steinberger's sizes)",
    "thesis": "the sizes of the thesis on hold'em, its defects corrected",
    "thesis-faithful": "the same with all its defects",
    "kibitz": "what we found to be better",
    "small": "a minute or two, in any small game",
}
DEFECTS = (
    "one_deal", "whole_pot", "flipped_signs", "free_raises", "newest_held_out", "calls_unseen", "weight_by_step",
)  # fmt: skip
IN_HOLDEM = ("whole_pot", "free_raises", "calls_unseen")  # defects that only hold'em can have
PROBE_STEPS = 20
FEW_CARDS = 8

PAPER: dict[str, Any] = {
    "traversals": 10_000, "in_flight": 1000, "iterations": 450, "steps": 4000, "batch": 10_000, "strategy_steps": 4000,
    "strategy_batch": 10_000, "hidden": "64-64-64", "strategy_loss": "squares", "shared_chance": False,
    "capacity": 40_000_000, "strategy_capacity": 40_000_000, "keep_every": 10,
}  # fmt: skip
PAPER_OF_FOUR_STREETS = {"steps": 32_000, "batch": 20_000, "strategy_steps": 32_000, "strategy_batch": 20_000}
PAPER_OF_SMALL_GAMES = {
    "traversals": 1500, "in_flight": 500, "steps": 750, "batch": 2048, "strategy_steps": 5000, "strategy_batch": 2048,
    "capacity": 1_000_000, "strategy_capacity": 1_000_000,
}  # fmt: skip
THESIS: dict[str, Any] = {
    "traversals": 250, "in_flight": 250, "iterations": 50, "keep_every": 10, "net": "plain", "hidden": "512-512-256",
    "norm": "batch", "skips": False, "init": 0.005, "rate": 1e-4, "clip": 0.0, "steps": 16_000, "batch": 500,
    "strategy_steps": 16_000, "strategy_batch": 500, "strategy_loss": "squares", "held_out": 0.2, "patience": 10,
    "memory": "latest", "capacity": 100_000, "strategy_capacity": 100_000,
}  # fmt: skip
# Where few views come back again and again, all samples of a view are learned as one.
KIBITZ_OF_SMALL_GAMES: dict[str, Any] = {
    "traversals": 1500, "in_flight": 500, "iterations": 300, "hidden": "64-64-64", "steps": 200, "rate_falls": True,
    "scratch": False, "merge": True, "average": "sd", "capacity": 4_000_000, "keep_every": 100,
}  # fmt: skip
# (Parts of 160 traversals: 63 of them keep 16 processes busy to the end.)
KIBITZ_OF_HOLDEM: dict[str, Any] = {
    "traversals": 10_000, "in_flight": 160, "iterations": 200, "hidden": "128", "steps": 1000, "batch": 32_768,
    "strategy_steps": 5000, "strategy_batch": 32_768, "scratch": False, "rate_falls": True, "capacity": 20_000_000,
    "strategy_capacity": 20_000_000, "suits_alike": True, "keep_every": 20,
}  # fmt: skip
SMALL = {
    "iterations": 40,
    "traversals": 500,
    "evaluate_every": 5,
    "keep_every": 20,
    "steps": 100,
    "rate": 3e-3,
    "hidden": "32-32",
}


def preset(game: Any, name: str) -> dict[str, Any]:
    """A deck of more than a few cards can't be written out, so it isn't tried."""
    values = _preset(game, name)
    return (
        values | {"evaluate_every": 0}
        if game.facts.max_chance_outcomes > FEW_CARDS and game.name == "holdem"
        else values
    )


def _preset(game: Any, name: str) -> dict[str, Any]:
    holdem = game.name == "holdem"
    if name == "paper":
        sizes = {} if holdem else PAPER_OF_SMALL_GAMES
        return PAPER | (PAPER_OF_FOUR_STREETS if holdem and game.streets == 4 else sizes)
    if name == "thesis":
        return THESIS
    if name == "thesis-faithful":
        return THESIS | {name: True for name in DEFECTS if holdem or name not in IN_HOLDEM}
    if name == "small":
        return KIBITZ_OF_SMALL_GAMES | SMALL
    if holdem:
        return KIBITZ_OF_HOLDEM | {"reads": by_street(game)}  # the thesis' encoding has no room for it
    return KIBITZ_OF_SMALL_GAMES


def estimate(config: DeepCfr, game: Game, processes: int, done: int) -> tuple[float, int]:
    """Seconds that are still to come and bytes on disk, by a part of an iteration and a few steps of learning."""
    probe = replace(config, traversals=min(config.traversals, config.in_flight), steps=PROBE_STEPS, held_out=0.0)
    solver, traverse = Solver(probe, game), traversing(probe)
    untrained = new_weights(solver.shape, np.random.default_rng(1))
    known: Known = (untrained, untrained)
    for _ in range(2):  # the first one compiles
        began = time.perf_counter()
        traverse((1, 0, 0), known)
        traversing_each = (time.perf_counter() - began) / probe.traversals
    _, advantages, strategies, _ = traverse((1, 0, 0), (None, None))  # an untrained opponent may fold all hands
    fills = (
        1 if config.merge else -(-(config.batch + 1) // max(len(advantages.views), 1))
    )  # a memory larger than a minibatch
    solver.take(1, 0, [advantages] * fills, [strategies])
    for _ in range(2):
        began = time.perf_counter()
        solver.learn(1, 0)
        step = (time.perf_counter() - began) / PROBE_STEPS
    left = config.iterations - done
    seconds = left * 2 * (config.traversals * traversing_each / processes + config.steps * step)
    if config.average == "network":
        seconds += left / config.keep_every * 2 * config.strategy_steps * step * config.strategy_batch / config.batch
    rows = len(advantages.views) / probe.traversals * config.traversals * config.iterations
    kept = min(rows, config.capacity) + (min(rows, config.strategy_capacity) if config.average == "network" else 0)
    networks = config.iterations if config.average == "sd" else config.iterations // config.keep_every + 2
    return seconds, int(2 * kept * solver.advantages[0].bytes_each + networks * 8 * solver.shape.count())


METHOD = Solving(
    config=DeepCfr,
    about="Deep CFR: traversals of the game sample regrets, a network for each seat foretells them, and the average of "
    "what they play nears equilibrium. For games of two seats whose payoffs sum to zero.",
    examples=(
        "leduc --preset kibitz",
        "holdem --preset kibitz --device cuda",
        "holdem:thesis --preset thesis --calls-unseen",
    ),
    presets=PRESETS,
    preset=preset,
    refuse=refuse,
    worker=traversing,
    parts=lambda config: -(-config.traversals // config.in_flight),
    solve=solve,
    estimate=estimate,
    player="net",
)
