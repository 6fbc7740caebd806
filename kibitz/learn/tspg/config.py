"""The configuration of TSPG, its presets, and what it refuses."""

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from ...core.names import BadInput
from ...games import OVER, Game, full_name, legal_actions, load, positions
from ...jit import generators
from .objectives import OBJECTIVES, UNVISITED
from .sets import KIND_SETS
from .store import POLICIES

PRESETS = {
    "paper": "as published: 200 games, 1,600 simulations a move (800 on Hex 11)",
    "public": "the same with the optimizer of the public code: its ε inside the root, its rate divided",
    "kibitz": "what we found to be better, as many games and simulations",
    "small": "a minute or two, in any game",
}
FEWER = {"hex:11": 800}  # simulations a move in the paper
CASES = 4000  # actions by which a pattern is chosen, about


@dataclass(frozen=True)
class TspgConfig:
    """Every number of the method; `kibitz train tspg --help` is made of this."""

    game: Annotated[str, "the game, with its parameters"]
    iterations: Annotated[int, "rounds of playing and learning", range(1, 10**7)] = 200
    games: Annotated[int, "games of self-play an iteration", range(1, 10**4)] = 1
    simulations: Annotated[int, "simulations a move", range(1, 10**9)] = 1600
    features: Annotated[str, "what patterns grow from: as in the paper, or with diagonals and goals", KIND_SETS] = (
        "faithful"
    )
    new_patterns: Annotated[int, "new patterns a game and seat", range(100)] = 1
    growth_positions: Annotated[int, "positions by which patterns are chosen", range(1, 10**6)] = 30
    min_cases: Annotated[int, "cases in which a new pattern has to be active", range(1, 10**6)] = 1
    confidence_bound: Annotated[bool, "whether a correlation counts by the lower end of its interval"] = False
    playouts: Annotated[str, "which policy plays out simulations", (*POLICIES, "uniform")] = "double"
    target: Annotated[str, "what ce and double learn from", tuple(OBJECTIVES)] = "visits"
    unvisited: Annotated[str, "what an action counts that was never tried, for tspg", UNVISITED] = "parent"
    batch_size: Annotated[int, "positions an update", range(1, 10**5)] = 30
    capacity: Annotated[int, "positions that are remembered, of each seat", range(1, 10**6)] = 400
    updates: Annotated[int, "updates of each vector a turn", range(1, 1000)] = 1
    learning_rate: Annotated[float, "learning rate of RMSProp"] = 0.005
    momentum: Annotated[float, "of RMSProp"] = 0.9
    decay: Annotated[float, "of RMSProp's means"] = 0.9
    epsilon: Annotated[float, "what RMSProp adds to the denominator"] = 1e-8
    epsilon_inside: Annotated[bool, "whether it is added inside the root"] = False
    divide_learning_rate: Annotated[bool, "whether the learning rate is divided by the number of patterns"] = False
    exploration: Annotated[float, "of PUCT"] = 2.5
    prove: Annotated[bool, "whether the search proves wins and losses"] = False
    playout_plies: Annotated[int, "of a playout, then it is a draw; 0: no limit", range(10**6)] = 200
    max_turns: Annotated[int, "of a game of self-play, then it is stopped", range(1, 10**6)] = 150
    keep_every: Annotated[int, "iterations between features that are kept", range(1, 10**7)] = 25
    keep_first: Annotated[bool, "whether those of the first iteration are kept too"] = True
    seed: Annotated[int, "the same seed gives the same run", range(2**63)] = 1


def preset(game: Game, name: str) -> dict[str, Any]:
    if name == "small":
        return {"iterations": 30, "simulations": 200, "keep_every": 10}
    fewer = next((count for each, count in FEWER.items() if full_name(load(each)) == full_name(game)), None)
    values: dict[str, Any] = {} if fewer is None else {"simulations": fewer}
    if name == "public":
        values |= {"epsilon_inside": True, "divide_learning_rate": True}
    if name == "kibitz":
        # A few positions make thousands of pairs look good by luck, and steps of the text's size never settle.
        from_positions = int(min(400, max(60, CASES / mean_actions(game))))
        values |= {
            "learning_rate": 0.0003, "capacity": 3000, "growth_positions": from_positions, "min_cases": 10,
            "confidence_bound": True,
        }  # fmt: skip
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


def refuse(config: TspgConfig, game: Any) -> None:
    """What can't be trained, before anything is written."""
    if not hasattr(game, "board") or game.facts.seats != 2 or game.facts.hidden:
        raise BadInput(f"{config.game} has no board for patterns: tspg is for board games of two")
    for name, low, high in (("learning_rate", 0, 1), ("momentum", 0, 1), ("decay", 0, 1), ("epsilon", 0, 1)):
        if not low <= getattr(config, name) < high:
            raise BadInput(f"{name}={getattr(config, name)} should be from {low} to below {high}")
    if not config.exploration >= 0:
        raise BadInput(f"exploration={config.exploration} should be at least 0")
