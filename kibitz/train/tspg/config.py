"""The configuration of TSPG, its presets, and what it refuses."""

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from ...core.names import BadInput, Interval
from ...games import OVER, Game, full_name, legal_actions, load, positions
from ...games.protocol import of_a_game
from ...jit import generators
from ..learner import ADVANCED
from .objectives import UNVISITED
from .sets import KIND_SETS
from .store import POLICIES

PRESETS = {
    "paper": "as published: 200 games, 1,600 simulations per move (800 on Hex 11)",
    "public": "as published, with the choices of the public code: ε inside the root, learning rate divided, unvisited "
    "actions count as lost",
    "best": "our best settings, with as many games and simulations",
    "small": "a minute or two, in any game",
}
FEWER = {"hex:11": 800}  # simulations per move in the paper
CASES = 4000  # approximate number of legal actions by which a pattern is chosen


@dataclass(frozen=True)
class TspgConfig:
    """The options of `kibitz train tspg` are made of these fields."""

    game: Annotated[str, "the game, with its parameters"]
    iterations: Annotated[int, "iterations of self-play and learning", range(1, 10**7)] = 200
    games: Annotated[int, "games of self-play per iteration", range(1, 10**4)] = 1
    simulations: Annotated[int, "simulations per move", range(1, 10**9)] = 1600
    features: Annotated[str, "atomic patterns: as in the paper, or with diagonals and goals too", KIND_SETS] = (
        "faithful"
    )
    new_patterns: Annotated[int, "patterns added per game and seat", range(100), ADVANCED] = 1
    growth_positions: Annotated[int, "positions by which a new pattern is chosen", range(1, 10**6), ADVANCED] = 30
    growth_wins: Annotated[
        bool, "choose a new pattern by all remembered positions in which a move wins, too", ADVANCED
    ] = False
    min_cases: Annotated[int, "minimum number of cases in which a new pattern is active", range(1, 10**6), ADVANCED] = 1
    confidence_bound: Annotated[
        bool, "choose patterns by the lower bound of the correlation's 95% interval", ADVANCED
    ] = False
    playouts: Annotated[str, "policy of the playouts", (*POLICIES, "uniform")] = "double"
    unvisited: Annotated[str, "value assumed for unvisited actions, for the policy tspg", UNVISITED, ADVANCED] = (
        "parent"
    )
    batch_size: Annotated[int, "positions per minibatch", range(1, 10**5)] = 30
    capacity: Annotated[int, "positions remembered per seat: the latest", range(1, 10**6)] = 400
    updates: Annotated[int, "updates of each weight vector per turn", range(1, 1000), ADVANCED] = 1
    learning_rate: Annotated[float, "learning rate of RMSProp", Interval(0, 1, below=True)] = 0.005
    epsilon_inside: Annotated[bool, "add epsilon inside the square root", ADVANCED] = False
    divide_learning_rate: Annotated[bool, "divide the learning rate by the number of patterns", ADVANCED] = False
    keep_every: Annotated[int, "iterations between features that are kept", range(1, 10**7)] = 25
    seed: Annotated[int, "random seed; equal seeds give equal runs", range(2**63)] = 1


def preset(game: Game, name: str) -> dict[str, Any]:
    if name == "small":
        return {"iterations": 30, "simulations": 200, "keep_every": 10}
    fewer = next((count for each, count in FEWER.items() if full_name(load(each)) == full_name(game)), None)
    values: dict[str, Any] = {} if fewer is None else {"simulations": fewer}
    if name == "public":
        values |= {"epsilon_inside": True, "divide_learning_rate": True, "unvisited": "loss"}
    if name == "best":
        # In a few positions thousands of pairs look good by chance, and the paper's learning rate never converges.
        from_positions = int(min(400, max(60, CASES / mean_actions(game))))
        values |= {
            "learning_rate": 0.0003, "capacity": 3000, "growth_positions": from_positions, "min_cases": 10,
            "confidence_bound": True,
        }  # fmt: skip
        # A game has one winning move, its last: in a sample of positions each way to win is rarely seen ten times.
        # Tried in Connect Four only.
        values |= {"growth_wins": game.name == "connect_four"}
        # On large boards most actions are never visited: at their parent's value they would all beat a bad visited one.
        values |= {"unvisited": "mixed"}
    return values


@of_a_game
def mean_actions(game: Game, count: int = 20) -> float:
    """Mean number of legal actions per turn, in random games."""
    rng, found = generators(1, 1)[0], []
    for _ in range(count):
        state = positions(game)[0]
        while game.turn(state) != OVER:
            found.append(len(legal_actions(game, state)))
            game.play(state, game.sample_action(state, rng))
    return float(np.mean(found))


def refuse(config: TspgConfig, game: Any) -> None:
    """Raise BadInput where the configuration can't be trained."""
    if not hasattr(game, "board") or game.facts.seats != 2 or game.facts.hidden:
        raise BadInput(f"{config.game} has no board for patterns: tspg is for two-player board games")
