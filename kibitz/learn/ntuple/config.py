"""The configuration of n-tuple learning, its presets, and what it refuses."""

from dataclasses import dataclass
from typing import Annotated, Any

from ...core.names import BadInput, Interval
from ...games import Game, full_name
from ..learner import ADVANCED
from .tuples import KINDS

PRESETS = {"small": "a few minutes, in any board game"}


@dataclass(frozen=True)
class NTupleConfig:
    """The options of `kibitz train ntuple` are made of these fields."""

    game: Annotated[str, "the game, with its parameters"]
    iterations: Annotated[int, "iterations of self-play and learning", range(1, 10**7)] = 200
    games: Annotated[int, "games of self-play per iteration", range(1, 10**5)] = 50
    nodes: Annotated[int, "positions that alpha-beta search visits per move", range(1, 10**9)] = 400
    tuples: Annotated[str, "groups: cells; also blocks of two by three, lines of four, both; squares", KINDS] = "both"
    opening: Annotated[int, "a game begins with as many random plies, at most", range(1000)] = 12
    epsilon: Annotated[float, "probability of a random move afterwards", Interval(0, 1)] = 0.02
    mix: Annotated[float, "weight of a game's result in the target; the rest is the search's value", Interval(0, 1)] = (
        0.5
    )
    capacity: Annotated[int, "positions remembered: the latest", range(1, 10**8)] = 200_000
    samples: Annotated[int, "positions that are learned from per new position", range(1, 1000), ADVANCED] = 4
    learning_rate: Annotated[float, "how far the first step of AdaGrad moves a logit", Interval(0, 100)] = 1.0
    keep_every: Annotated[int, "iterations between evaluations that are kept", range(1, 10**7)] = 50
    seed: Annotated[int, "random seed; equal seeds give equal runs", range(2**63)] = 1


def preset(game: Game, name: str) -> dict[str, Any]:
    return {"iterations": 60, "games": 20, "nodes": 200, "keep_every": 20}


def refuse(config: NTupleConfig, game: Any) -> None:
    """Raise BadInput where the configuration can't be trained."""
    facts = game.facts
    if not hasattr(game, "board") or facts.seats != 2 or facts.hidden or facts.max_chance_outcomes:
        raise BadInput(f"{full_name(game)} has no board for n-tuples: ntuple is for two-player board games")
