"""The configuration of ExIt-OOS, its presets, and what it refuses."""

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated, Any

from ...core.names import BadInput
from ...games import Game, full_name, load
from ...search.budget import max_memory
from ...search.oos import Oos
from ..encodings import survey
from ..mlp import parse_sizes, sizes_of

COMPILED_UP_TO = 400_000  # weights after the first layer: larger networks are faster in batches (see docs/results.md)
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


@dataclass(frozen=True)
class ExItOosConfig:
    """Every number of the method; `kibitz train exit-oos --help` is made of this."""

    game: Annotated[str, "the game, with its parameters"]
    iterations: Annotated[int, "rounds of playing and learning", range(1, 10**7)] = 100
    games: Annotated[int, "games of self-play an iteration", range(1, 10**6)] = 32
    simulations: Annotated[int, "simulations a move", range(1, 10**9)] = 10_000
    hidden: Annotated[str, "sizes of the hidden layers, as 128-64"] = "128"
    steps: Annotated[int, "gradient steps an iteration", range(1, 10**6)] = 128
    batch_size: Annotated[int, "rows of experience a step", range(1, 10**6)] = 128
    learning_rate: Annotated[float, "learning rate of Adam"] = 1e-3
    capacity: Annotated[int, "games that the experience holds", range(1, 10**8)] = 32_000
    replay: Annotated[str, "which rows of experience stay", ("exponential", "uniform", "latest")] = "exponential"
    replay_decay: Annotated[float, "of the exponential reservoir"] = 2.0
    exploration: Annotated[float, "share of uniform moves in self-play"] = 0.2
    epsilon: Annotated[float, "exploration of the search"] = 0.4
    delta: Annotated[float, "share of targeted simulations"] = 0.9
    gamma: Annotated[float, "mistakes mixed into the search's strategies"] = 0.01
    target: Annotated[str, "what simulations aim at", ("auto", "pst", "ist")] = "auto"
    linear_averaging: Annotated[bool, "whether later simulations count more in the search's average strategy"] = False
    playouts: Annotated[
        str, "the network inside the search's kernel, or in batches", ("auto", "compiled", "batched")
    ] = "auto"
    in_flight: Annotated[int, "simulations of one search at once, where in batches", range(1, 10**4)] = 20
    device: Annotated[str, "where torch computes", ("auto", "cpu", "cuda")] = "auto"
    evaluate_every: Annotated[int, "iterations between exact NashConvs of the network; 0: never", range(10**7)] = 10
    keep_every: Annotated[int, "iterations between networks that are kept", range(1, 10**7)] = 100
    shared_seed: Annotated[int, "games that share one random stream (a mistake, for comparison)", range(1, 10**6)] = 1
    seed: Annotated[int, "the same seed gives the same run", range(2**63)] = 1

    @property
    def hidden_sizes(self) -> tuple[int, ...]:
        return parse_sizes("hidden", self.hidden)

    def in_batches(self, game: Game) -> bool:
        """Whether playouts ask the network in batches; else it is compiled into the search."""
        if self.playouts != "auto":
            return self.playouts == "batched"
        sizes = sizes_of(game, self.hidden_sizes)[1:]
        return sum(a * b for a, b in pairwise(sizes)) > COMPILED_UP_TO

    def search_settings(self) -> dict[str, Any]:
        return {
            "epsilon": self.epsilon,
            "delta": self.delta,
            "gamma": self.gamma,
            "target": self.target,
            "linear": self.linear_averaging,
        }


def preset(game: Any, name: str) -> dict[str, Any]:
    """By the game's name; what only changes how it is encoded makes no difference."""
    plain = full_name(game._replace(by_seat=False) if hasattr(game, "by_seat") else game)
    known = next((each for each in PAPER if full_name(load(each)) == plain), None)
    if name == "small":
        return (PAPER[known] if known else {}) | SMALL
    if known is None:
        raise BadInput(f"preset {name} has no {full_name(game)}, only {', '.join(PAPER)}; small is for any game")
    return PAPER[known] if name == "paper" else PAPER[known] | OURS[known] | {"linear_averaging": True, "steps": 512}


def refuse(config: ExItOosConfig, game: Game) -> None:
    """What can't be trained, before anything is written."""
    if not game.facts.encoding:
        raise BadInput(f"{full_name(game)} has no encoding for a network: give it the rule `observe`")
    for name, low, high in (
        ("exploration", 0, 1),
        ("epsilon", 1e-6, 1),
        ("delta", 0, 0.999999),
        ("gamma", 0, 0.999999),
    ):
        if not low <= getattr(config, name) <= high:
            raise BadInput(f"{name}={getattr(config, name)} should be from {low:g} to {high:g}")
    if not 0 < config.learning_rate < 1:
        raise BadInput(f"learning_rate={config.learning_rate} should be above 0 and below 1")
    if not 0 < config.replay_decay < math.inf:
        raise BadInput(f"replay_decay={config.replay_decay} should be above 0")
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
