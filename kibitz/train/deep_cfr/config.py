"""The configuration of Deep CFR, its presets, and what it refuses."""

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from ...core.names import LEARNING_RATE, BadInput, Interval
from ...games import CHANCE, OVER, full_name, positions
from ...jit import generators
from ...nets.mlp import parse_sizes
from ..learner import ADVANCED
from . import thesis_defects
from .networks import CARDS, PLAIN, Shape
from .traits import traits_of
from .traversal import MAX_NODES

WALKS = 50  # random games per seat, to estimate the size of a traversal
DECAYS = ("none", "linear", "cosine")  # of the learning rate
AVERAGES = ("network", "sd", "both")


@dataclass(frozen=True)
class DeepCfrConfig:
    """The options of `kibitz train deep-cfr` are made of these fields."""

    game: Annotated[str, "the game, with its parameters"]
    iterations: Annotated[
        int, "iterations of CFR: traversals and a new advantage network per seat", range(1, 10**6)
    ] = 100
    traversals: Annotated[int, "traversals per seat and iteration", range(1, 10**8)] = 1500
    in_flight: Annotated[int, "traversals that share batches of network evaluations", range(1, 10**6), ADVANCED] = 500
    network: Annotated[str, "architecture; auto: cards if views have them by street", ("auto", PLAIN, CARDS)] = "auto"
    hidden: Annotated[str, "sizes of the hidden layers, such as 64-64-64; cards: the first is the width of all"] = (
        "64-64-64"
    )
    norm: Annotated[str, "normalization before the last layer", ("none", "layer", "batch"), ADVANCED] = "layer"
    skip_connections: Annotated[bool, "add the input of a layer to its output where the sizes are equal", ADVANCED] = (
        True
    )
    init_scale: Annotated[
        float, "initial weights are uniform in ± this; 0: ±1/sqrt(inputs)", Interval(0, 100), ADVANCED
    ] = 0.0
    reinitialize: Annotated[bool, "fit the advantage networks of each iteration from new weights", ADVANCED] = True
    steps: Annotated[int, "gradient steps per advantage network and iteration, at most", range(1, 10**7)] = 750
    epochs: Annotated[
        float,
        "passes over all samples, so that steps grow with them; 0: always --steps",
        Interval(0, 1e6),
        ADVANCED,
    ] = 0.0
    min_steps: Annotated[int, "with --epochs: gradient steps at least", range(1, 10**7), ADVANCED] = 100
    batch_size: Annotated[int, "samples per minibatch", range(1, 10**6)] = 2048
    strategy_steps: Annotated[int, "gradient steps of the strategy network", range(1, 10**7), ADVANCED] = 5000
    strategy_batch_size: Annotated[int, "samples per minibatch of the strategy network", range(1, 10**6), ADVANCED] = (
        2048
    )
    strategy_loss: Annotated[
        str, "loss of the strategy network: cross-entropy, or squared errors of probabilities", ("entropy", "squares"),
        ADVANCED,
    ] = "entropy"  # fmt: skip
    learning_rate: Annotated[float, "learning rate of Adam", LEARNING_RATE] = 1e-3
    learning_rate_decay: Annotated[
        str, "how the learning rate decreases to 0 over the steps of a network", DECAYS, ADVANCED
    ] = "none"
    weight_averaging: Annotated[
        float,
        "decay of the moving average of weights over the steps, which is the network; 0: the last weights",
        Interval(0, 0.999999), ADVANCED,
    ] = 0.0  # fmt: skip
    max_gradient_norm: Annotated[float, "clip gradients to this norm; 0: no clipping", Interval(0, 1e9), ADVANCED] = 1.0
    validation: Annotated[
        float, "share of samples held out for early stopping; 0: none", Interval(0, 0.9), ADVANCED
    ] = 0.0
    replay: Annotated[str, "samples to keep: a uniform reservoir, or the latest", ("reservoir", "latest"), ADVANCED] = (
        "reservoir"
    )
    capacity: Annotated[int, "advantage samples kept per seat", range(1, 10**9)] = 1_000_000
    strategy_capacity: Annotated[int, "strategy samples kept per seat", range(1, 10**9), ADVANCED] = 1_000_000
    merge_samples: Annotated[
        bool, "fit the weighted mean of all samples of a view: the same expected gradient with less noise", ADVANCED
    ] = False
    average_power: Annotated[
        float, "weight strategies of iteration t by t to this power in the average", Interval(0, 10), ADVANCED
    ] = 1.0
    fallback: Annotated[str, "policy where no regret is positive", ("argmax", "uniform"), ADVANCED] = "argmax"
    average: Annotated[str, "a strategy network, SD-CFR: all advantage networks, or both", AVERAGES] = "network"
    shared_chance: Annotated[bool, "all branches of a traversal get the same chance outcomes", ADVANCED] = True
    hand_categories: Annotated[bool, "add pairs, straights and flushes to the network's inputs", ADVANCED] = False
    suit_isomorphism: Annotated[bool, "permute suits at random in each minibatch", ADVANCED] = False
    balance_streets: Annotated[bool, "draw equally many samples of each street for a minibatch", ADVANCED] = False
    device: Annotated[str, "device that fits the networks", ("auto", "cpu", "cuda")] = "auto"
    inference_device: Annotated[str, "device that evaluates networks in traversals", ("cpu", "cuda"), ADVANCED] = "cpu"
    evaluate_every: Annotated[int, "iterations between exact NashConvs, in small games; 0: never", range(10**7)] = 10
    keep_every: Annotated[int, "iterations between models that are kept", range(1, 10**7)] = 10
    defects: Annotated[
        str, f"defects of the thesis to reproduce, comma-separated: {', '.join(thesis_defects.DEFECTS)}"
    ] = ""
    seed: Annotated[int, "random seed; equal seeds give equal runs", range(2**63)] = 1

    @property
    def defect_set(self) -> frozenset[str]:
        return thesis_defects.parse(self.defects)

    @property
    def sizes(self) -> tuple[int, ...]:
        return parse_sizes("hidden", self.hidden)

    @property
    def with_network(self) -> bool:
        """Whether strategy networks are fitted."""
        return self.average != "sd"

    @property
    def with_sd(self) -> bool:
        """Whether the advantage networks of all iterations are kept."""
        return self.average != "network"

    def steps_for(self, samples: int) -> int:
        """Gradient steps of an advantage network that is fitted to so many samples."""
        if not self.epochs:
            return self.steps
        return min(self.steps, max(self.min_steps, round(self.epochs * samples / self.batch_size)))

    def traversed(self, game: Any) -> Any:
        """The game that is traversed and encoded: the game itself, except for defects of the thesis."""
        return self.seen(thesis_defects.traversed_game(game, self.defect_set))

    def seen(self, game: Any) -> Any:
        """The game by whose rules views are encoded for the networks."""
        if self.hand_categories:
            return traits_of(game).with_hand_categories()
        return thesis_defects.encoded_game(game, self.defect_set)

    def shape(self, game: Any) -> Shape:
        facts = game.facts
        known = traits_of(game).deck
        cards = self.network == CARDS or (self.network == "auto" and any(known))
        deck = known if cards else (0, 0, 0)
        return Shape(
            kind=CARDS if cards else PLAIN, inputs=facts.encoding, hidden=self.sizes, actions=facts.num_actions,
            norm=self.norm, skips=self.skip_connections, deck=deck,
        )  # fmt: skip


PRESETS = {
    "paper": "as published (Brown et al. 2019; in small games Steinberger's sizes)",
    "thesis": "sizes of Żarejko's thesis (2021), without its defects",
    "thesis-faithful": "the thesis with all its defects",
    "best": "our best settings",
    "small": "a minute or two, in any small game",
    "flop-gpu": "large decks and two streets, with 16 cores and a large GPU, in less than half an hour",
}

PAPER: dict[str, Any] = {
    "traversals": 10_000, "in_flight": 1000, "iterations": 450, "steps": 4000, "batch_size": 10_000,
    "strategy_steps": 4000, "strategy_batch_size": 10_000, "hidden": "64-64-64", "strategy_loss": "squares",
    "shared_chance": False, "capacity": 40_000_000, "strategy_capacity": 40_000_000, "keep_every": 10,
}  # fmt: skip
PAPER_SMALL_GAMES = {
    "traversals": 1500, "in_flight": 500, "steps": 750, "batch_size": 2048, "strategy_steps": 5000,
    "strategy_batch_size": 2048, "capacity": 1_000_000, "strategy_capacity": 1_000_000,
}  # fmt: skip
THESIS: dict[str, Any] = {
    "traversals": 250, "in_flight": 250, "iterations": 50, "keep_every": 10, "network": "plain",
    "hidden": "512-512-256", "norm": "batch", "skip_connections": False, "init_scale": 0.005, "learning_rate": 1e-4,
    "max_gradient_norm": 0.0, "steps": 16_000, "batch_size": 500, "strategy_steps": 16_000, "strategy_batch_size": 500,
    "strategy_loss": "squares", "validation": 0.2, "replay": "latest", "capacity": 100_000,
    "strategy_capacity": 100_000,
}  # fmt: skip
# Few views occur again and again in small games: all samples of a view are merged.
BEST_SMALL_GAMES: dict[str, Any] = {
    "traversals": 1500, "in_flight": 500, "iterations": 300, "hidden": "64-64-64", "steps": 200,
    "learning_rate_decay": "linear", "reinitialize": False, "merge_samples": True, "average": "sd",
    "capacity": 4_000_000, "keep_every": 100,
}  # fmt: skip
SMALL = {
    "iterations": 40,
    "traversals": 500,
    "evaluate_every": 5,
    "keep_every": 20,
    "steps": 100,
    "learning_rate": 3e-3,
    "hidden": "32-32",
}


def preset(game: Any, name: str) -> dict[str, Any]:
    """Return the values of a preset."""
    known = traits_of(game)
    values = known.preset(name)
    return (_preset(game, name) if values is None else values) | known.always()


def _preset(game: Any, name: str) -> dict[str, Any]:
    """The values for any game."""
    if name == "paper":
        return PAPER | PAPER_SMALL_GAMES
    if name == "thesis":
        return THESIS
    if name == "thesis-faithful":
        return THESIS | {"defects": thesis_defects.possible(game)}
    if name == "flop-gpu":
        raise BadInput(f"the preset flop-gpu is for large decks and two streets, not for {full_name(game)}")
    return BEST_SMALL_GAMES | SMALL if name == "small" else BEST_SMALL_GAMES


def refuse(config: DeepCfrConfig, game: Any) -> None:
    """Raise BadInput where the configuration can't be trained."""
    facts = game.facts
    if facts.seats != 2 or not facts.zero_sum:
        raise BadInput(f"deep-cfr is for two-player zero-sum games, and {full_name(game)} is none")
    if not facts.encoding:
        raise BadInput(f"{full_name(game)} has no encoding for a network: it needs the rule `observe`")
    known = traits_of(game)
    if config.suit_isomorphism and not known.permutes_suits:
        raise BadInput(f"suit_isomorphism is for games with suits to permute, not for {full_name(game)}")
    if config.balance_streets and not known.streets:
        raise BadInput(f"balance_streets is for games with streets, not for {full_name(game)}")
    by_streets = "for encodings with cards street by street"
    if config.network == CARDS and not any(known.deck):
        raise BadInput(f"network=cards is {by_streets}; {full_name(game)} needs network=plain")
    if config.hand_categories and not any(known.deck):
        raise BadInput(f"hand_categories is {by_streets}, not for {full_name(game)}")
    if config.epochs and config.min_steps > config.steps:
        raise BadInput(f"min_steps={config.min_steps} should be at most steps={config.steps}")
    thesis_defects.refuse(config, game)
    _refuse_size(config, config.traversed(game))
    config.shape(config.seen(game))


def _refuse_size(config: DeepCfrConfig, game: Any) -> None:
    each, at_once = traversal_size(game), min(config.in_flight, config.traversals)
    if each > MAX_NODES:
        raise BadInput(
            f"a traversal of {full_name(game)} tries all actions of a seat and visits about {each:,.0f} positions, "
            f"more than the limit of {MAX_NODES:,}: choose a smaller game"
        )
    if each * at_once > MAX_NODES:
        raise BadInput(
            f"in_flight={config.in_flight} traversals of {full_name(game)} hold about {each * at_once:,.0f} positions, "
            f"more than the limit of {MAX_NODES:,}: use {int(MAX_NODES / each)} or less"
        )


def traversal_size(game: Any) -> float:
    """Estimate the nodes that a traversal of the larger seat holds, where the other seat plays uniformly.

    By random walks (Knuth 1975): a node on the way represents all nodes that its seat's earlier choices lead to.
    """
    rng, actions = generators(1, 1)[0], np.zeros(game.facts.num_actions, np.int64)
    needed = np.zeros(2)
    for seat in range(2):
        for _ in range(WALKS):
            state = positions(game)[0]
            stands_for, nodes, room = 1.0, 0.0, 0.0
            while (turn := game.turn(state)) != OVER:
                if turn != CHANCE:
                    nodes += stands_for
                    room = nodes + stands_for * (game.facts.num_actions if turn == seat else 1)
                if turn == seat:
                    stands_for *= game.actions(state, actions)
                game.play(state, game.sample_action(state, rng))
            needed[seat] += max(room, nodes + stands_for) / WALKS
    return float(needed.max())
