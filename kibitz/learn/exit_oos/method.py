"""ExIt-OOS as a method of training: its presets, what it refuses, its learner."""

import math
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from ...core.names import BadInput
from ...games import Game, full_name, load, positions
from ...games.game import CHANCE, OVER
from ...jit import generators
from ...search.best_response import evaluate_policy
from ...search.budget import max_memory
from ...search.oos import Oos
from ...search.sequence_form import unfold
from ..method import Method
from ..mlp import Layers, compiled, sizes_of
from ..replay import Experience
from .self_play import ExItOos, self_play

MAX_LEAVES = 2_000_000  # of a game whose networks are judged exactly on the way
MAX_WEIGHTS = 100_000_000

# What the paper says; simulations are those that its steps of state machines came to.
PAPER: dict[str, dict[str, Any]] = {
    "leduc": {"hidden": "128", "simulations": 66_000, "iterations": 1000},
    "goofspiel:6": {"hidden": "128-64", "simulations": 10_000, "iterations": 2500, "steps": 128},
    "goofspiel:13": {"hidden": "128-128-64", "simulations": 8_000, "iterations": 500, "steps": 512},
    "liars_dice:1": {"hidden": "128-64", "simulations": 10_000, "iterations": 1000},
    "liars_dice:2": {"hidden": "128-64", "simulations": 10_000, "iterations": 1000},
}
SMALL = {"iterations": 60, "simulations": 1000, "evaluate_every": 5, "keep_every": 20}
# What we found to be better: a network soon plays as well as the search that it learns from, so fewer and deeper ones.
OURS: dict[str, dict[str, Any]] = {
    "leduc": {"simulations": 100_000, "iterations": 300},
    "goofspiel:6": {"simulations": 40_000, "iterations": 200},
    "goofspiel:13": {"simulations": 20_000, "iterations": 30},
    "liars_dice:1": {"simulations": 40_000, "iterations": 300},
    "liars_dice:2": {"simulations": 40_000, "iterations": 200},
}
PRESETS = {
    "paper": "as published",
    "kibitz": "what we found to be better, in its games",
    "small": "a minute or two, in any game",
}


def preset(game: Any, name: str) -> dict[str, Any]:
    """By the game's name; what only changes how it is encoded makes no difference."""
    plain = full_name(game._replace(by_seat=False) if hasattr(game, "by_seat") else game)
    known = next((each for each in PAPER if full_name(load(each)) == plain), None)
    if name == "small":
        return (PAPER[known] if known else {}) | SMALL
    if known is None:
        raise BadInput(f"preset {name} has no {full_name(game)}, only {', '.join(PAPER)}; small is for any game")
    return PAPER[known] if name == "paper" else PAPER[known] | OURS[known] | {"linear": True, "steps": 512}


def refuse(config: ExItOos, game: Game) -> None:
    """What can't be trained, before anything is written."""
    if not game.facts.encoding:
        raise BadInput(f"{full_name(game)} has no encoding for a network: give it the rule `observe`")
    for name, low, high in (("explore", 0, 1), ("epsilon", 1e-6, 1), ("delta", 0, 0.999999), ("gamma", 0, 0.999999)):
        if not low <= getattr(config, name) <= high:
            raise BadInput(f"{name}={getattr(config, name)} should be from {low:g} to {high:g}")
    if not 0 < config.rate < 1:
        raise BadInput(f"rate={config.rate} should be above 0 and below 1")
    if not 0 < config.decay < math.inf:
        raise BadInput(f"decay={config.decay} should be above 0")
    encoding, actions = game.facts.encoding, game.facts.num_actions
    sizes = sizes_of(game, config.hidden_sizes)
    weights = sum(a * b for a, b in pairwise(sizes))
    if weights > MAX_WEIGHTS:
        raise BadInput(f"hidden={config.hidden} makes {weights:,} weights, and more than {MAX_WEIGHTS:,} is too many")
    held = config.capacity * survey(game)[0] * (-(-encoding // 8) + 2 * actions + -(-actions // 8))
    if held > max_memory():
        raise BadInput(f"capacity={config.capacity} games need {held / 1e9:.1f} GB of memory: give fewer")
    Oos(game, **config.search_settings()).refuse_beyond_memory(config.simulations * game.facts.max_game_length)
    if config.device == "cuda":
        from ..torch_mlp import pick_device

        pick_device(config.device, large=True)


def evaluate(config: Any, game: Game) -> Callable[[Layers], dict[str, float]]:
    """NashConv of a network, where the game is small enough to be written out."""
    if not config.evaluate_every:
        return lambda layers: {}
    try:
        form = unfold(game, MAX_LEAVES)
    except BadInput:
        return lambda layers: {}
    return lambda layers: {"nash_conv": evaluate_policy(form, compiled(layers)).nash_conv}


def learner(config: Any, game: Game) -> Any:
    from ..torch_mlp import Apprentice, pick_device

    decisions, bits = survey(game)
    facts = game.facts
    experience = Experience(
        config.capacity * decisions, facts.encoding, facts.num_actions, config.rule, config.decay, bits
    )
    device = pick_device(config.device, config.in_batches(game))
    sizes = config.hidden_sizes
    return Apprentice(game, experience, sizes, config.rate, config.batch, config.steps, config.seed, device)


def survey(game: Game, count: int = 50) -> tuple[int, bool]:
    """By some random games: decisions a game (the mean, rounded up), and whether encodings are all 0 and 1."""
    rng, encoding = generators(1, 1)[0], np.zeros(game.facts.encoding, np.float32)
    decisions, bits = 0, True
    for _ in range(count):
        state = positions(game)[0]
        while (turn := game.turn(state)) != OVER:
            if turn != CHANCE:
                decisions += 1
                game.observe(state, turn, encoding)
                bits = bits and bool(np.isin(encoding, (0, 1)).all())
            game.play(state, game.sample_action(state, rng))
    return -(-decisions // count), bits


def tasks(config: ExItOos, game: Game, workers: int) -> int:
    """Games that share batches are one task."""
    return min(workers, config.games) if config.in_batches(game) else config.games


def size(config: ExItOos, game: Game, knowledge: Layers, rows: dict[str, np.ndarray]) -> int:
    held = Experience(1, game.facts.encoding, game.facts.num_actions, bits=survey(game)[1]).bytes * len(rows["legal"])
    weights = sum(array.nbytes for layer in knowledge for array in layer)
    kept = config.iterations // config.keep_every + 1
    return held * min(config.capacity, config.iterations * config.games) + weights * (kept + 4)


METHOD = Method(
    config=ExItOos,
    about="Expert iteration with Online Outcome Sampling: the search plays against itself, a network learns what it "
    "says, and plays out its simulations.",
    examples=("leduc --preset small", "goofspiel:13 --preset paper --simulations 2000 --iterations 100"),
    presets=PRESETS,
    preset=preset,
    refuse=refuse,
    learner=learner,
    self_play=self_play,
    tasks=tasks,
    evaluate=evaluate,
    probe=lambda config: (replace(config, capacity=1, steps=5), config.steps / 5),
    size=size,
    player="net",
)
