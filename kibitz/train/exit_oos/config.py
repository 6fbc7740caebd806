"""The configurations of expert iteration with a perceptron, their presets, and what they refuse."""

from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated, Any

import numpy as np

from ...core import memory
from ...core.names import LEARNING_RATE, BadInput, Interval
from ...games import Game, full_name, load
from ...nets.encodings import survey
from ...nets.mlp import parse_sizes, sizes_of
from ...search.advice import Advice
from ...search.oos import Oos
from ...search.search import Search
from ...search.value_oos import ValueOos
from ..learner import ADVANCED

COMPILED_UP_TO = 400_000  # weights after the first layer: larger networks are faster in batches (see docs/results.md)
MAX_WEIGHTS = 100_000_000

# As published; the paper counts steps of state machines, which are converted to simulations here.
PAPER: dict[str, dict[str, Any]] = {
    "leduc": {"hidden": "128", "simulations": 66_000, "iterations": 1000},
    "goofspiel:6": {"hidden": "128-64", "simulations": 10_000, "iterations": 2500, "steps": 128},
    "goofspiel:13": {"hidden": "128-128-64", "simulations": 8_000, "iterations": 500, "steps": 512},
    "liars_dice:1": {"hidden": "128-64", "simulations": 10_000, "iterations": 1000},
    "liars_dice:2": {"hidden": "128-64", "simulations": 10_000, "iterations": 1000},
}
SMALL = {"iterations": 60, "simulations": 1000, "evaluate_every": 5, "keep_every": 20}
# Our best settings: a network soon plays as well as the search that it learns from, so fewer and deeper searches.
OURS: dict[str, dict[str, Any]] = {
    "leduc": {"simulations": 100_000, "iterations": 300},
    "goofspiel:6": {"simulations": 40_000, "iterations": 200},
    "goofspiel:13": {"simulations": 20_000, "iterations": 30},
    "liars_dice:1": {"simulations": 40_000, "iterations": 300},
    "liars_dice:2": {"simulations": 40_000, "iterations": 200},
}
# For few simulations per infoset: the network is their prior, and a value network takes out noise. Not tuned.
LARGE: dict[str, Any] = {
    "simulations": 200,
    "iterations": 300,
    "steps": 256,
    "leaf": "value",
    "prior_weight": 10.0,
    "keep_every": 20,
}
LEAVES = ("playout", "value")
PRESETS = {
    "paper": "as published",
    "best": "our best settings, for the games of the paper",
    "large": "a value network and a prior, for games with more infosets than simulations",
    "small": "a minute or two, in any game",
}


@dataclass(frozen=True)
class ExItConfig:
    """What all experts share. The options of `kibitz train NAME` are made of the fields."""

    game: Annotated[str, "the game, with its parameters"]
    iterations: Annotated[int, "iterations of self-play and learning", range(1, 10**7)] = 100
    games: Annotated[int, "games of self-play per iteration", range(1, 10**6)] = 32
    simulations: Annotated[int, "simulations per move", range(1, 10**9)] = 10_000
    hidden: Annotated[str, "sizes of the hidden layers, such as 128-64"] = "128"
    steps: Annotated[int, "gradient steps per iteration", range(1, 10**6)] = 128
    batch_size: Annotated[int, "samples per minibatch", range(1, 10**6)] = 128
    learning_rate: Annotated[float, "learning rate of Adam", LEARNING_RATE] = 1e-3
    capacity: Annotated[int, "games that the replay buffer holds", range(1, 10**8)] = 32_000
    exploration: Annotated[float, "probability of a uniformly random move in self-play", Interval(0, 1), ADVANCED] = 0.2
    device: Annotated[str, "device for torch", ("auto", "cpu", "cuda")] = "auto"
    evaluate_every: Annotated[int, "iterations between exact NashConvs, in small games; 0: never", range(10**7)] = 10
    keep_every: Annotated[int, "iterations between networks that are kept", range(1, 10**7)] = 100
    seed: Annotated[int, "random seed; equal seeds give equal runs", range(2**63)] = 1

    @property
    def hidden_sizes(self) -> tuple[int, ...]:
        return parse_sizes("hidden", self.hidden)

    def in_batches(self, game: Game) -> bool:
        """Return whether playouts evaluate the network in batches; else it is compiled into the search."""
        return False

    def new_search(self, game: Game, policy: Any = None) -> Search:
        """Return the expert, with a policy for its playouts."""
        raise NotImplementedError

    def to_learn(self, advice: Advice) -> np.ndarray:
        """Return the policy that the network learns from the expert's advice, and that moves are drawn from."""
        return advice.policy


@dataclass(frozen=True)
class ExItOosConfig(ExItConfig):
    linear_averaging: Annotated[bool, "weight the t-th simulation of the search by t", ADVANCED] = False
    leaf: Annotated[
        str, "at the end of a simulation: a playout by the network, or the value of a second network", LEAVES
    ] = "playout"
    prior_weight: Annotated[
        float, "weight of the network's policy in the regrets of a new infoset, in samples", Interval(0, 1e6)
    ] = 0.0
    value_hidden: Annotated[str, "sizes of the hidden layers of the value network", ADVANCED] = "64-32"
    value_games: Annotated[
        int, "games without search that the value network learns from, per iteration", range(1, 10**7), ADVANCED
    ] = 2000
    playouts: Annotated[
        str, "evaluate the network inside the search's kernel, or in batches", ("auto", "compiled", "batched"), ADVANCED
    ] = "auto"
    shared_seed: Annotated[
        int, "number of games that share one random stream (a defect, for comparison)", range(1, 10**6), ADVANCED
    ] = 1

    @property
    def value_sizes(self) -> tuple[int, ...]:
        return parse_sizes("value_hidden", self.value_hidden)

    def in_batches(self, game: Game) -> bool:
        """Return whether playouts evaluate the network in batches; else it is compiled into the search."""
        if self.playouts != "auto":
            return self.playouts == "batched"
        if self.leaf == "value" or self.prior_weight:
            return False
        sizes = sizes_of(game, self.hidden_sizes)[1:]
        return sum(a * b for a, b in pairwise(sizes)) > COMPILED_UP_TO

    def search_settings(self) -> dict[str, Any]:
        return {"linear": self.linear_averaging, "prior_weight": self.prior_weight}

    def new_search(self, game: Game, policy: Any = None, critic: Any = None) -> Search:
        if critic is not None:
            return ValueOos(game, critic, policy=policy, **self.search_settings())
        return Oos(game, policy=policy, **self.search_settings())


def preset(game: Any, name: str) -> dict[str, Any]:
    """Return the values of a preset for a game, whatever its encoding."""
    plain = full_name(game._replace(by_seat=False) if hasattr(game, "by_seat") else game)
    known = next((each for each in PAPER if full_name(load(each)) == plain), None)
    if name in ("small", "large"):
        return (PAPER[known] if known else {}) | (SMALL if name == "small" else LARGE)
    if known is None:
        known_games = ", ".join(PAPER)
        raise BadInput(
            f"preset {name} is for {known_games}, not for {full_name(game)}; presets small and large are for any game"
        )
    return PAPER[known] if name == "paper" else PAPER[known] | OURS[known] | {"linear_averaging": True, "steps": 512}


def refuse(config: ExItConfig, game: Game) -> None:
    """Raise BadInput where the configuration can't be trained."""
    if not game.facts.encoding:
        raise BadInput(f"{full_name(game)} has no encoding for a network: it needs the rule `observe`")
    search = config.new_search(game)  # refuses a game before `survey` plays some
    if isinstance(config, ExItOosConfig):
        _ = config.value_sizes  # refuses what isn't a list of sizes
    if isinstance(config, ExItOosConfig) and config.in_batches(game) and config.leaf != "playout":
        raise BadInput(f"leaf={config.leaf} needs the compiled network: use playouts=compiled, not batched")
    encoding, actions = game.facts.encoding, game.facts.num_actions
    sizes = sizes_of(game, config.hidden_sizes)
    weights = sum(a * b for a, b in pairwise(sizes))
    if weights > MAX_WEIGHTS:
        raise BadInput(f"hidden={config.hidden} makes {weights:,} weights, more than the limit of {MAX_WEIGHTS:,}")
    held = config.capacity * survey(game) * (-(-encoding // 8) + 2 * actions + -(-actions // 8))
    memory.check(held, f"a replay buffer of {config.capacity:,} games", "lower capacity")
    search.refuse_beyond_memory(config.simulations * (game.facts.max_game_length if search.keeps_tree else 1))
