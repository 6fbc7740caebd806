"""Slow, obvious twins: exact counterfactual regrets and average weights by walking the whole game."""

from collections import defaultdict
from collections.abc import Callable
from typing import Any

import numpy as np

from kibitz.games import CHANCE, OVER, Game, chance_outcomes, legal_actions, positions
from kibitz.solve.sequence_form import SequenceForm

Policy = Callable[[int, int], np.ndarray]  # key, number of actions -> odds


def regrets_and_weights(game: Game, policy: Policy, seat: int) -> tuple[dict, dict]:
    """Of each infoset: the counterfactual regrets of `seat`; the other's average weights Σ π_chance π_other σ."""
    regrets: dict[int, Any] = defaultdict(float)
    weights: dict[int, Any] = defaultdict(float)

    def walk(state: Any, others: float) -> float:
        turn = game.turn(state)
        if turn == OVER:
            return game.payoff(state, seat)
        if turn == CHANCE:
            return sum(
                probs * walk(after(state, outcome), others * probs) for outcome, probs in chance_outcomes(game, state)
            )
        actions, key = legal_actions(game, state), int(game.infoset(state, turn))
        sigma = policy(key, len(actions))
        if turn == seat:
            values = np.array([walk(after(state, action), others) for action in actions])
            value = float(sigma @ values)
            regrets[key] = regrets[key] + others * (values - value)
            return value
        weights[key] = weights[key] + others * sigma
        return sum(sigma[i] * walk(after(state, action), others * sigma[i]) for i, action in enumerate(actions))

    def after(state: Any, action: int) -> Any:
        copy = np.array([state], game.state)
        game.play(copy[0], action)
        return copy[0]

    walk(positions(game)[0], 1.0)
    return dict(regrets), dict(weights)


def infosets(game: Game) -> dict[int, tuple[int, int]]:
    """Key -> seat, number of actions."""
    found: dict[int, tuple[int, int]] = {}

    def walk(state: Any) -> None:
        turn = game.turn(state)
        if turn == OVER:
            return
        actions = legal_actions(game, state)
        if turn != CHANCE:
            found[int(game.infoset(state, turn))] = (turn, len(actions))
        for action in actions:
            copy = np.array([state], game.state)
            game.play(copy[0], action)
            walk(copy[0])

    walk(positions(game)[0])
    return found


def regrets_by_sequence(
    form: SequenceForm, seat: int, own: np.ndarray, other: np.ndarray, responds: np.ndarray | None = None
) -> np.ndarray:
    """Of each sequence of a seat, its counterfactual regret at the infoset that it begins at.

    Args:
        form: Of the game, the payoffs weighted by chance.
        seat: Whose regrets.
        own: Its probabilities, by sequence.
        other: Those of the other seat.
        responds: [infosets] bool: where the seat plays a best response instead.
    """
    side, theirs = form.sides[seat], form.sides[1 - seat]
    plan = np.ones(theirs.sequences)
    for infoset, parent in enumerate(theirs.parent):
        here = slice(theirs.first[infoset], theirs.first[infoset + 1])
        plan[here] = plan[parent] * other[here]
    rows = np.repeat(np.arange(side.sequences), np.diff(side.rows))
    values = np.bincount(rows, side.payoffs * plan[side.others], side.sequences)
    for infoset in range(len(side.parent) - 1, -1, -1):
        here = slice(side.first[infoset], side.first[infoset + 1])
        best = responds is not None and responds[infoset]
        value = values[here].max() if best else own[here] @ values[here]
        values[side.parent[infoset]] += value
        values[here] -= value
    return values
