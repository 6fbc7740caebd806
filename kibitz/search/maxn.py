"""Exact max^n search of small perfect-information positions (Luckhardt and Irani 1986), for any number of seats.

Each seat maximises its own reward; seats with the same rewards therefore play as partners. Chance nodes are
expectations. The search gives up on positions that are too large, early where they are much too large.
"""

from typing import Any, NamedTuple

import numpy as np

from ..games import Game
from ..games.protocol import CHANCE, OVER, TooLong
from ..jit import helper, kernel, long_helper

EARLY = 32  # the total is estimated after this fraction of the limit
TOO_MUCH = 8  # the search gives up if the estimate is this many times the limit


class Stack(NamedTuple):
    """One row per choice on the path. Turns with a single action take no row."""

    states: np.ndarray  # [turns]
    actions: np.ndarray  # [turns, most] i8
    probs: np.ndarray  # [turns, most] f8: probabilities at chance nodes
    turn: np.ndarray  # [turns] i8
    n: np.ndarray  # [turns] i8: actions
    next: np.ndarray  # [turns] i8: action to try
    best: np.ndarray  # [turns, seats] f8: rewards; at chance nodes the expectation so far


class Solved(NamedTuple):
    values: np.ndarray  # [n, seats] f8: exact rewards after each legal action
    positions: int  # searched


class MaxN:
    """`solve(state)` returns None where there are more than `most` positions."""

    def __init__(self, game: Game, most: int) -> None:
        facts = game.facts
        self.game, self.most = game, most
        turns, wide = facts.max_game_length + 1, max(facts.num_actions, facts.max_chance_outcomes)
        self.stack = Stack(
            states=np.zeros(turns, game.state),
            actions=np.zeros((turns, wide), np.int64),
            probs=np.zeros((turns, wide)),
            turn=np.zeros(turns, np.int64),
            n=np.zeros(turns, np.int64),
            next=np.zeros(turns, np.int64),
            best=np.zeros((turns, facts.seats)),
        )

    def solve(self, state: Any) -> Solved | None:
        if not self.most:
            return None
        self.stack.states[0] = state
        values = np.zeros((self.stack.actions.shape[1], self.game.facts.seats))
        looked = _solve(self.game, self.stack, values, self.most)
        if looked < 0:
            return None
        return Solved(values[: int(self.stack.n[0])], looked)


@kernel
def _solve(game, stack, values, most):
    """Write the values of the actions at states[0] for each seat; return the number of positions, -1: too many."""
    enter(game, stack, 0)
    at, looked, check = 0, 0, max(most // EARLY, 1000)
    while True:
        if stack.next[at] < stack.n[at]:
            chosen = stack.actions[at, stack.next[at]]
            stack.next[at] += 1
            if at + 1 == len(stack.n):
                raise TooLong
            stack.states[at + 1] = stack.states[at]
            at += 1
            while chosen >= 0:
                if looked > most:
                    return -1
                game.play(stack.states[at], chosen)
                looked += 1
                enter(game, stack, at)
                chosen = stack.actions[at, 0] if stack.n[at] == 1 else -1  # a single action takes no row
            if looked > most or (looked > check and looked > TOO_MUCH * most * seen(stack, at)):
                return -1
            check = most if looked > check else check
        elif at == 0:
            return looked
        else:
            at -= 1
            if at == 0:
                for seat in range(values.shape[1]):
                    values[stack.next[0] - 1, seat] = stack.best[1, seat]
            take(stack, at)


@helper
def seen(stack, at):
    """Estimate the searched share of all positions, as if all subtrees of a node had the same size."""
    share, part = 0.0, 1.0
    for row in range(at):
        part /= stack.n[row]
        share += (stack.next[row] - 1) * part
    return share


@long_helper
def enter(game, stack, at):
    """Initialise the row of a position."""
    state = stack.states[at]
    turn = game.turn(state)
    stack.turn[at] = turn
    stack.next[at] = 0
    stack.n[at] = 0 if turn == OVER else game.actions(state, stack.actions[at])
    for seat in range(stack.best.shape[1]):
        stack.best[at, seat] = game.reward(state, seat) if turn == OVER else 0.0
    if turn == CHANCE:
        game.chance_probs(state, stack.actions[at], stack.n[at], stack.probs[at])


@helper
def take(stack, at):
    """Back up the value of the last action: the mover takes it if it is the best so far."""
    tried, turn = stack.next[at] - 1, stack.turn[at]
    taken = turn != CHANCE and (tried == 0 or stack.best[at + 1, turn] > stack.best[at, turn])
    for seat in range(stack.best.shape[1]):  # one by one: whole rows take seconds to compile
        if turn == CHANCE:
            stack.best[at, seat] += stack.probs[at, tried] * stack.best[at + 1, seat]
        elif taken:
            stack.best[at, seat] = stack.best[at + 1, seat]
