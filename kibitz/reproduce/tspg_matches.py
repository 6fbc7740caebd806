"""Games of biased MCTS against UCT, with the entropy of searches and policies at each move."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..games import OVER, Game, legal_actions, positions
from ..search.policies import weighed
from ..train.tspg.sample_games import entropy

STAGES = 10  # of a game, in figure 3


def match_game(
    game: Game, make: Callable[[], dict[str, Any]], policies: dict[str, Any], seed: int, number: int
) -> dict[str, Any]:
    """The score of biased MCTS in one game; entropies with the stage of the game, and the name of the policy."""
    players, mine, state = make(), number % 2, positions(game)[0]
    names = ["biased" if seat == mine else "uct" for seat in range(2)]
    for seat, name in enumerate(names):
        players[name].begin(game, seat, seed * 10_000 + 2 * number + seat)
    turns, here = 0, []
    while (turn := game.turn(state)) != OVER:
        name = names[turn]
        action = players[name].move(state.copy())
        n = len(legal_actions(game, state))
        advice = players[name].advice
        if n > 1 and advice is not None:
            here.append((turns, name, entropy(advice.visits / advice.visits.sum())))
            here += [(turns, each, entropy(weighed(game, by, state, n))) for each, by in policies.items()]
        game.play(state, action)
        turns += 1
    got, theirs = game.payoff(state, mine), game.payoff(state, 1 - mine)
    score = 0.5 * ((got > theirs) + (got >= theirs))
    return {"score": score, "entropy": [(at / turns, name, value) for at, name, value in here]}


def stages(entropies: Sequence[tuple[float, str, float]]) -> dict[str, list[float | None]]:
    """Mean entropy by name and stage of the game."""
    found: dict[str, list[list[float]]] = {}
    for place, name, value in entropies:
        found.setdefault(name, [[] for _ in range(STAGES)])[min(int(place * STAGES), STAGES - 1)].append(value)
    return {name: [float(np.mean(each)) if each else None for each in values] for name, values in found.items()}


def known_mean(values: Sequence[float | None]) -> float | None:
    """Mean of the values that are known: short games have no moves at some stages."""
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if known else None
