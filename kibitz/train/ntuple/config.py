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
    games: Annotated[int, "games of self-play per iteration", range(1, 10**5)] = 1000
    depth: Annotated[int, "plies that alpha-beta search looks ahead: 1 to as many, by game", range(1, 50)] = 2
    tuples: Annotated[str, "groups: cells; also blocks of two by three, lines of four, both; squares", KINDS] = "both"
    opening: Annotated[int, "a game begins with as many random plies, at most", range(1000)] = 16
    epsilon: Annotated[float, "probability of a random move afterwards", Interval(0, 1)] = 0.04
    lambda_: Annotated[float, "lambda of TD(lambda): 0 learns from searches alone, 1 from results", Interval(0, 1)] = (
        0.75
    )
    capacity: Annotated[int, "positions remembered: the latest", range(1, 10**8)] = 200_000
    batch_size: Annotated[int, "positions per step", range(1, 10**8), ADVANCED] = 2048
    learning_rate: Annotated[float, "how far a step moves the logits, by their mean error", Interval(0, 100)] = 6.0
    keep_every: Annotated[int, "iterations between evaluations that are kept", range(1, 10**7)] = 50
    seed: Annotated[int, "random seed; equal seeds give equal runs", range(2**63)] = 1


def preset(game: Game, name: str) -> dict[str, Any]:
    return {"iterations": 30, "keep_every": 10}


def refuse(config: NTupleConfig, game: Any) -> None:
    """Raise BadInput where the configuration can't be trained."""
    facts = game.facts
    if not hasattr(game, "board") or facts.seats != 2 or facts.hidden or facts.max_chance_outcomes:
        raise BadInput(f"{full_name(game)} has no board for n-tuples: ntuple is for two-player board games")
