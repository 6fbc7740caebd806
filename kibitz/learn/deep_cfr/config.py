"""Every number of Deep CFR, and each known defect of the thesis by its name."""

import math
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from ...core.names import BadInput
from ...games import CHANCE, OVER, full_name, positions
from ...games.holdem.encoding import CALLS_UNSEEN, READ, by_street
from ...jit import generators
from .networks import CARDS, PLAIN, Shape
from .traversal import MAX_NODES

MEMORIES = ("reservoir", "latest")
WALKS = 50  # of each seat, to see how large a traversal is
FREE_RAISES = 5  # a street, the most that the rules of hold'em can be asked for


@dataclass(frozen=True)
class DeepCfrConfig:
    """`kibitz train deep-cfr --help` is made of this."""

    game: Annotated[str, "the game, with its parameters"]
    iterations: Annotated[int, "of CFR: traversals and a new network for each seat", range(1, 10**6)] = 100
    traversals: Annotated[int, "traversals a seat and iteration", range(1, 10**8)] = 1500
    in_flight: Annotated[int, "traversals that share batches of the network", range(1, 10**6)] = 500
    net: Annotated[str, "auto: cards for hold'em, else plain", ("auto", PLAIN, CARDS)] = "auto"
    hidden: Annotated[str, "sizes of hidden layers, as 64-64-64; of cards the first is the width of all"] = "64-64-64"
    norm: Annotated[str, "what is done before the last layer", ("none", "layer", "batch")] = "layer"
    skips: Annotated[bool, "whether layers of one width are added to what they are given"] = True
    init: Annotated[float, "weights begin even between ± this; 0: by the number of inputs"] = 0.0
    scratch: Annotated[bool, "whether an advantage network begins anew each iteration"] = True
    steps: Annotated[int, "gradient steps of an advantage network an iteration", range(1, 10**7)] = 750
    batch_size: Annotated[int, "samples a step", range(1, 10**6)] = 2048
    strategy_steps: Annotated[int, "gradient steps of the strategy network", range(1, 10**7)] = 5000
    strategy_batch: Annotated[int, "its samples a step", range(1, 10**6)] = 2048
    strategy_loss: Annotated[str, "its loss: cross-entropy, or squares of odds", ("entropy", "squares")] = "entropy"
    learning_rate: Annotated[float, "learning rate of Adam"] = 1e-3
    rate_falls: Annotated[bool, "whether it falls to 0 along the steps"] = False
    clip: Annotated[float, "the longest gradient; 0: any"] = 1.0
    held_out: Annotated[float, "share of samples that are only watched, to stop early; 0: none"] = 0.0
    patience: Annotated[int, "passes over the samples without progress on these, before it stops", range(10**6)] = 10
    memory: Annotated[str, "every sample with the same chance of staying, or the latest", MEMORIES] = "reservoir"
    capacity: Annotated[int, "advantage samples of a seat", range(1, 10**9)] = 1_000_000
    strategy_capacity: Annotated[int, "strategy samples of a seat", range(1, 10**9)] = 1_000_000
    merge: Annotated[bool, "whether equal views are learned as one, by their mean: the same loss, less noise"] = False
    regret_power: Annotated[float, "samples of iteration t weigh t to this (1: linear CFR)"] = 1.0
    average_power: Annotated[float, "and so do strategies in the average"] = 1.0
    fallback: Annotated[str, "where no regret is positive", ("argmax", "uniform")] = "argmax"
    average: Annotated[str, "a strategy network, or SD-CFR: all advantage networks", ("network", "sd")] = "network"
    shared_chance: Annotated[bool, "whether all branches of a traversal meet the same cards"] = True
    reads: Annotated[bool, "whether networks are told what a hand of hold'em makes, besides its cards"] = False
    suits_alike: Annotated[bool, "whether hands of hold'em are learned with other suits each time"] = False
    device: Annotated[str, "where networks learn", ("auto", "cpu", "cuda")] = "auto"
    answers: Annotated[str, "where they answer traversals", ("cpu", "cuda")] = "cpu"
    evaluate_every: Annotated[int, "iterations between exact NashConvs, of small games; 0: never", range(10**7)] = 10
    keep_every: Annotated[int, "iterations between models that are kept", range(1, 10**7)] = 10
    one_deal: Annotated[bool, "defect 1: the same cards in all traversals of an iteration"] = False
    whole_pot: Annotated[bool, "defect 2: who wins gets, who loses pays the whole pot"] = False
    flipped_signs: Annotated[bool, "defect 3: values change sign at every move, as if turns alternated"] = False
    free_raises: Annotated[bool, "defect 4: small raises in all streets, and no cap but the stack"] = False
    newest_held_out: Annotated[bool, "defect 5: the newest samples are held out, never learned from"] = False
    calls_unseen: Annotated[bool, "defect 6: calls can't be seen in the encoding"] = False
    weight_by_step: Annotated[bool, "defect 7: samples weigh by the move in the hand, not the iteration"] = False
    seed: Annotated[int, "the same seed gives the same run", range(2**63)] = 1

    @property
    def sizes(self) -> tuple[int, ...]:
        try:
            sizes = tuple(int(size) for size in self.hidden.split("-"))
        except ValueError:
            sizes = (0,)
        if min(sizes) < 1:
            raise BadInput(f"hidden={self.hidden} should be sizes of layers, such as 64 or 64-64-64")
        return sizes

    def traversed(self, game: Any) -> Any:
        """The game that is traversed and encoded: the game itself, but for defects of the thesis."""
        if self.free_raises:
            game = game._replace(big_bet=game.small_bet, preflop_raises=FREE_RAISES, raises=FREE_RAISES)
        return self.seen(game)

    def seen(self, game: Any) -> Any:
        """The game by whose rules views are encoded for the networks."""
        if self.reads:
            return game._replace(inputs=READ)
        return game._replace(inputs=CALLS_UNSEEN) if self.calls_unseen else game

    def shape(self, game: Any) -> Shape:
        facts = game.facts
        cards = self.net == CARDS or (self.net == "auto" and game.name == "holdem" and by_street(game))
        deck = (game.streets, game.ranks, game.suits) if cards else (0, 0, 0)
        return Shape(
            kind=CARDS if cards else PLAIN, inputs=facts.encoding, hidden=self.sizes, actions=facts.num_actions,
            norm=self.norm, skips=self.skips, deck=deck,
        )  # fmt: skip


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
FEW_CARDS = 8

PAPER: dict[str, Any] = {
    "traversals": 10_000, "in_flight": 1000, "iterations": 450, "steps": 4000, "batch_size": 10_000,
    "strategy_steps": 4000, "strategy_batch": 10_000, "hidden": "64-64-64", "strategy_loss": "squares",
    "shared_chance": False, "capacity": 40_000_000, "strategy_capacity": 40_000_000, "keep_every": 10,
}  # fmt: skip
PAPER_OF_FOUR_STREETS = {"steps": 32_000, "batch_size": 20_000, "strategy_steps": 32_000, "strategy_batch": 20_000}
PAPER_OF_SMALL_GAMES = {
    "traversals": 1500, "in_flight": 500, "steps": 750, "batch_size": 2048, "strategy_steps": 5000,
    "strategy_batch": 2048, "capacity": 1_000_000, "strategy_capacity": 1_000_000,
}  # fmt: skip
THESIS: dict[str, Any] = {
    "traversals": 250, "in_flight": 250, "iterations": 50, "keep_every": 10, "net": "plain", "hidden": "512-512-256",
    "norm": "batch", "skips": False, "init": 0.005, "learning_rate": 1e-4, "clip": 0.0, "steps": 16_000,
    "batch_size": 500, "strategy_steps": 16_000, "strategy_batch": 500, "strategy_loss": "squares", "held_out": 0.2,
    "patience": 10, "memory": "latest", "capacity": 100_000, "strategy_capacity": 100_000,
}  # fmt: skip
# Where few views come back again and again, all samples of a view are learned as one.
KIBITZ_OF_SMALL_GAMES: dict[str, Any] = {
    "traversals": 1500, "in_flight": 500, "iterations": 300, "hidden": "64-64-64", "steps": 200, "rate_falls": True,
    "scratch": False, "merge": True, "average": "sd", "capacity": 4_000_000, "keep_every": 100,
}  # fmt: skip
# (Parts of 160 traversals: 63 of them keep 16 processes busy to the end.)
KIBITZ_OF_HOLDEM: dict[str, Any] = {
    "traversals": 10_000, "in_flight": 160, "iterations": 200, "hidden": "128", "steps": 1000, "batch_size": 32_768,
    "strategy_steps": 5000, "strategy_batch": 32_768, "scratch": False, "rate_falls": True, "capacity": 20_000_000,
    "strategy_capacity": 20_000_000, "suits_alike": True, "keep_every": 20,
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


def refuse(config: DeepCfrConfig, game: Any) -> None:
    """What can't be trained, before anything is written."""
    facts = game.facts
    if facts.seats != 2 or not facts.zero_sum:
        raise BadInput(f"deep-cfr is for two seats and sums of zero, and {full_name(game)} isn't")
    if not facts.encoding:
        raise BadInput(f"{full_name(game)} has no encoding for a network: give it the rule `observe`")
    for name, low, high in (("held_out", 0, 0.9), ("regret_power", 0, 10), ("average_power", 0, 10)):
        if not low <= getattr(config, name) <= high:
            raise BadInput(f"{name}={getattr(config, name)} should be from {low:g} to {high:g}")
    if not 0 < config.learning_rate < 1:
        raise BadInput(f"learning_rate={config.learning_rate} should be above 0 and below 1")
    for name in ("clip", "init"):
        if not 0 <= getattr(config, name) < math.inf:
            raise BadInput(f"{name}={getattr(config, name)} should be 0 or above")
    _refuse_defects(config, game)
    _refuse_size(config, config.traversed(game))
    config.shape(config.seen(game))
    for device in (config.device, config.answers):
        if device == "cuda":
            from ..torch_mlp import pick_device

            pick_device(device, large=True)


def _refuse_defects(config: DeepCfrConfig, game: Any) -> None:
    holdem = game.name == "holdem"
    if config.suits_alike and not holdem:
        raise BadInput(f"suits_alike is for holdem, not for {full_name(game)}")
    for name in ("whole_pot", "free_raises", "calls_unseen"):
        if getattr(config, name) and not holdem:
            raise BadInput(f"{name} is a mistake that can be made in holdem, not in {full_name(game)}")
    if config.net == CARDS and not (holdem and by_street(game)):
        raise BadInput(f"net=cards reads hold'em with inputs=0, not {full_name(game)}: net=plain reads any encoding")
    if config.reads and not (holdem and by_street(game)):
        raise BadInput(f"reads is for hold'em with inputs=0, not for {full_name(game)}")
    for name in ("free_raises", "calls_unseen"):
        if getattr(config, name) and game.inputs == 0:
            raise BadInput(f"{name} needs the thesis' encoding, holdem with inputs=1: {full_name(game)} has inputs=0")
    if config.one_deal and not config.shared_chance:
        raise BadInput("one_deal means that all luck is shared: not with shared_chance=no")
    if config.newest_held_out and (config.memory != "latest" or not config.held_out or config.merge):
        raise BadInput("newest_held_out needs memory=latest, held_out above 0, and merge=no: samples in order of age")


def _refuse_size(config: DeepCfrConfig, game: Any) -> None:
    each, at_once = room_of_one(game), min(config.in_flight, config.traversals)
    if each > MAX_NODES:
        raise BadInput(
            f"a traversal of {full_name(game)} tries all actions of a seat, and that makes about {each:,.0f} "
            f"positions: {MAX_NODES:,} have room, so choose a smaller game"
        )
    if each * at_once > MAX_NODES:
        raise BadInput(
            f"in_flight={config.in_flight} makes about {each * at_once:,.0f} positions of {full_name(game)} at once: "
            f"{MAX_NODES:,} have room, so give {int(MAX_NODES / each)} or less"
        )


def room_of_one(game: Any) -> float:
    """Nodes that a traversal of the larger seat needs room for, about, where the other seat plays anything.

    By random walks (Knuth 1975): a node on the way stands for all that its seat's choices before it lead to.
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
