"""Alpha-beta to a fixed depth, with no judgement of positions: what isn't decided by then counts as even.

Exact where the game ends within the depth; an independent check on the other searches in small games.
"""

import math
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..core.names import BadInput
from ..games import Game, full_name, legal_actions
from ..games.game import OVER
from ..jit import kernel
from .advice import Advice


class Stack(NamedTuple):
    """A row for each ply. Values are those of seat 0, which maximises."""

    states: np.ndarray  # [plies] positions
    actions: np.ndarray  # [plies, most] i8
    n: np.ndarray  # [plies] i8
    next: np.ndarray  # [plies] i8: action to try
    low: np.ndarray  # [plies] f8: what seat 0 has for sure
    high: np.ndarray  # [plies] f8: what seat 1 has for sure
    nodes: np.ndarray  # [1] i8


class AlphaBeta:
    def __init__(self, game: Game, seed: int = 1, depth: int = 6) -> None:
        facts = game.facts
        if facts.hidden or facts.max_chance_outcomes or facts.seats != 2 or not facts.zero_sum:
            raise BadInput(f"alphabeta is for two seats, zero-sum, nothing hidden, no chance: not {full_name(game)}")
        self.game, self.depth = game, min(depth, facts.max_game_length)
        rows = self.depth + 1
        self.stack = Stack(
            states=np.zeros(rows, game.state),
            actions=np.zeros((rows, facts.num_actions), np.int64),
            n=np.zeros(rows, np.int64),
            next=np.zeros(rows, np.int64),
            low=np.zeros(rows),
            high=np.zeros(rows),
            nodes=np.zeros(1, np.int64),
        )
        self.even = sum(facts.payoffs) / 2
        self.begin(seed)

    def begin(self, seed: int) -> None:
        self.generator = np.random.default_rng(seed)

    def value(self, state: Any, depth: int, low: float = -math.inf, high: float = math.inf) -> float:
        """Of a position for seat 0."""
        self.stack.states[0] = state
        return float(_search(self.game, self.stack, depth, low, high, self.even))

    def advise(
        self,
        view: Any,
        seat: int,
        simulations: int = 0,
        seconds: float = math.inf,
        progress: Callable[[int], None] = lambda done: None,
    ) -> Advice:
        """The exact value of every move to the depth; among the best one at random."""
        began = time.perf_counter()
        self.stack.nodes[0] = 0
        actions = legal_actions(self.game, view)
        values = []
        for action in actions:
            after = np.array([view], self.game.state)[0]
            self.game.play(after, action)
            mine = self.value(after, self.depth - 1)
            values.append(mine if seat == 0 else -mine)
        value = np.array(values)
        best = value >= value.max() - 1e-9
        count = len(actions)
        policy = best / best.sum()
        visits = np.zeros(count, np.int64)
        taken = time.perf_counter() - began
        return Advice(
            np.array(actions), policy, value, visits, np.full(count, 1 / count), int(self.stack.nodes[0]), taken
        )


@kernel
def _search(game, stack, depth, low, high, even):
    """The value of states[0], by a walk with a stack of its own."""
    at = 0
    stack.n[0] = -1
    stack.low[0], stack.high[0] = low, high
    while True:
        state = stack.states[at]
        if stack.n[at] < 0:  # here for the first time
            stack.nodes[0] += 1
            turn = game.turn(state)
            if turn == OVER or at == depth:
                value = game.payoff(state, 0) if turn == OVER else even
                done = True
            else:
                stack.n[at] = game.actions(state, stack.actions[at])
                stack.next[at] = 0
                done = False
        else:
            done = False
        if not done:
            turn = game.turn(state)
            finished = stack.next[at] == stack.n[at] or stack.low[at] >= stack.high[at]
            if not finished:
                stack.states[at + 1] = state
                game.play(stack.states[at + 1], stack.actions[at, stack.next[at]])
                stack.next[at] += 1
                stack.low[at + 1], stack.high[at + 1] = stack.low[at], stack.high[at]
                stack.n[at + 1] = -1
                at += 1
                continue
            value = stack.low[at] if turn == 0 else stack.high[at]
        if at == 0:
            return value
        at -= 1
        if game.turn(stack.states[at]) == 0:
            stack.low[at] = max(stack.low[at], value)
        else:
            stack.high[at] = min(stack.high[at], value)
