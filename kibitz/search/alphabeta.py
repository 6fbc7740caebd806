"""Alpha-beta search to a fixed depth without an evaluation function: undecided positions count as a draw.

It is exact where the game ends within the depth, and so an independent check of the other searches in small games.
"""

import math
from typing import Annotated, Any, NamedTuple

import numpy as np

from ..core.names import BadInput
from ..core.progress import Reporter
from ..games import Game, full_name, legal_actions
from ..games.game import OVER
from ..jit import kernel
from .advice import Advice
from .search import Search, search


class Stack(NamedTuple):
    """One row per ply. Values are those of seat 0, which maximises."""

    states: np.ndarray  # [plies] positions
    actions: np.ndarray  # [plies, most] i8
    n: np.ndarray  # [plies] i8
    next: np.ndarray  # [plies] i8: action to try
    low: np.ndarray  # [plies] f8: alpha, the value that seat 0 is sure of
    high: np.ndarray  # [plies] f8: beta, the value that seat 1 is sure of
    nodes: np.ndarray  # [1] i8


@search("alphabeta")
class AlphaBeta(Search):
    """Alpha-beta search to a fixed depth, without an evaluation function."""

    budget = "none"
    keeps_tree = True  # values of a forced move are wanted too
    deterministic = True
    plays = "two-seat zero-sum games without hidden information and chance"

    def __init__(self, game: Game, seed: int = 1, depth: Annotated[int, "plies", range(1, 100)] = 6) -> None:
        facts = game.facts
        if facts.hidden or facts.max_chance_outcomes or facts.seats != 2 or not facts.zero_sum:
            needs = "two seats, zero-sum payoffs, no hidden information and no chance"
            raise BadInput(f"alphabeta needs {needs}: it can't play {full_name(game)}")
        super().__init__(game, seed)
        self.depth = min(depth, facts.max_game_length)
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

    def value(self, state: Any, depth: int, low: float = -math.inf, high: float = math.inf) -> float:
        """The value of a position for seat 0, exact within the window from `low` to `high`."""
        self.stack.states[0] = state
        return float(_search(self.game, self.stack, depth, low, high, self.even))

    def _advise(self, view: Any, seat: int, simulations: int, seconds: float, report: Reporter) -> Advice:
        """Value every action to the full depth; the policy is uniform over the best. `simulations` counts nodes."""
        self.value(view, 0)  # compiles
        self.clock.restart()
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
        visits, prior = np.zeros(len(actions), np.int64), np.full(len(actions), 1 / len(actions))
        return Advice(np.array(actions), best / best.sum(), value, visits, prior, int(self.stack.nodes[0]))

    @classmethod
    def precompile(cls, game: Game, view: Any, seat: int) -> None:
        cls(game, depth=1).advise(view, seat)


@kernel
def _search(game, stack, depth, low, high, even):
    """The value of states[0]. An explicit stack takes the place of recursion."""
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
