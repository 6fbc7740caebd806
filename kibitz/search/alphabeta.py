"""Alpha-beta search with a transposition table, for two-seat zero-sum games without hidden information and chance.

With a budget of nodes or seconds it deepens iteratively, by `principal_variation`. With a depth alone it values every
move by a full window to exactly that depth: an independent check of other searches.
"""

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Annotated, Any

import numpy as np

from ..core.names import BadInput, Interval
from ..core.progress import SILENT, Reporter
from ..games import Game, full_name, legal_actions
from ..games.game import OVER
from .advice import Advice
from .connect_four_solver import ConnectFourSolver, decided, has_solver
from .evaluations import Even
from .principal_variation import (
    AT,
    ENTRY,
    NODES,
    Frames,
    Memory,
    Settings,
    captures_of,
    follow,
    reductions,
    search_on,
    start,
)
from .search import Search, search
from .tactics import tactics_of

DEPTH, DEEPEST = 6, 99  # plies, where no budget is given, and where one is
EXTRA = 32  # plies of captures below the depth
CHUNK = 256, 16_384  # nodes per call of the kernel where a clock runs: at first, and at most
PER_CALL = 0.004  # seconds per call that the chunks are adapted to

# The part of the budget for alpha-beta search where the game has a solver, which gets the rest: where more cells are
# empty than the solver can cope with, and elsewhere.
SHARES, EMPTY = (0.9, 0.15), 34


@search("alphabeta")
class AlphaBeta(Search):
    """Alpha-beta search with a transposition table and an evaluation; exact where the game ends within its depth."""

    budget = "depth"
    policy_from = "evaluation"
    keeps_tree = True  # values of a forced move are wanted too
    plays = "two-seat zero-sum games without hidden information and chance"

    def __init__(
        self,
        game: Game,
        seed: int = 1,
        depth: Annotated[int, "plies; by default 6, or as many as the nodes or seconds allow", range(1, 100)] = 0,
        megabytes: Annotated[float, "memory for the transposition table", Interval(0.001, 1e5)] = 32,
        evaluation: Any = None,
    ) -> None:
        """
        Args:
            game: The game that is played.
            seed: Makes no difference.
            depth: Maximum depth.
            megabytes: Size of the transposition table.
            evaluation: Values positions at the horizon (see `evaluations`); None: they count as draws.
        """
        facts = game.facts
        if facts.hidden or facts.max_chance_outcomes or facts.seats != 2 or not facts.zero_sum:
            needs = "two seats, zero-sum payoffs, no hidden information and no chance"
            raise BadInput(f"alphabeta needs {needs}: it can't play {full_name(game)}")
        super().__init__(game, seed)
        self.depth, self.evaluation = depth, Even() if evaluation is None else evaluation
        self.deepest = depth or DEEPEST
        captures, places = captures_of(game)  # type: ignore[arg-type]
        self.tactics, prune, win = tactics_of(game), not isinstance(self.evaluation, Even), float(max(facts.payoffs))
        self.fixed, self.free = (
            Settings(strict, captures and not strict, places, win, prune and not strict, reductions())
            for strict in (True, False)
        )
        rows, most = self.deepest + 2 + (EXTRA if captures else 0), facts.num_actions
        kinds = (np.int64,) * 4 + (float,) * 4 + (np.int64, bool, np.uint64, np.int64, float)
        singles = [np.zeros(rows, kind) for kind in kinds]
        self.frames = Frames(
            np.zeros(rows, game.state), np.zeros((rows, most), np.int64), np.zeros((rows, most), np.int64), *singles
        )
        entries = 1 << int(math.log2(megabytes * 1e6 / ENTRY.itemsize))
        self.entries = max(entries, 4)
        self.forget()

    def begin(self, seed: int) -> None:
        super().begin(seed)
        self.forget()

    def forget(self) -> None:
        """Empty the table and what orders moves."""
        rows, most = self.frames.actions.shape
        self.solver: ConnectFourSolver | None = None
        self.memory = Memory(
            np.zeros(self.entries, ENTRY), np.zeros(1, np.int64), np.zeros((2, most), np.int64),
            np.full((rows, 2), -1, np.int64), np.full(most, -1, np.int64), np.zeros(most), np.zeros(most, np.int64),
            np.zeros(2, np.int64),
        )  # fmt: skip

    def value(self, state: Any, depth: int, low: float = -math.inf, high: float = math.inf) -> float:
        """The value of a position for seat 0 at exactly this depth, exact within the window from `low` to `high`."""
        if self.game.turn(state) == OVER:
            return float(self.game.payoff(state, 0))
        sign = 1 if self.game.turn(state) == 0 else -1
        self._start(state, min(depth, self.deepest), *((low, high) if sign == 1 else (-high, -low)))
        self._go(self.fixed, math.inf)
        return sign * float(self.frames.best[0])

    def _start(self, state: Any, depth: int, low: float = -math.inf, high: float = math.inf) -> None:
        """Make a position the root of a search to a depth."""
        self.frames.states[0] = state
        start(self.frames, self.memory, depth, low, high)

    def _go(self, settings: Settings, limit: float) -> bool:
        """Search on until `limit` nodes were visited in all; return whether the search is finished."""
        most = int(min(limit, 2**62))
        return bool(search_on(self.game, self.evaluation, self.tactics, self.frames, self.memory, settings, most))

    def _advise(self, view: Any, seat: int, simulations: int, seconds: float, report: Reporter) -> Advice:
        """Search to the depth, or deepen until the nodes or seconds are used up. `simulations` counts nodes."""
        memory, free = self.memory, bool(simulations) or seconds < math.inf
        memory.now[NODES], self.chunk = 0, CHUNK[0]
        if not memory.age[0]:  # the first time: compile
            self._start(view, 1)
            self._go(self.fixed, 0)
            self.principal_variation(view, legal_actions(self.game, view)[0])
        self.clock.restart()
        memory.age[0] = memory.age[0] % 255 + 1
        memory.history[:] //= 8
        if free and self.solver is None and not self.depth and has_solver(self.game):
            self.solver = ConnectFourSolver(self.game)
            self.solver.reaches(view, 0, 1)  # compile
            self.clock.restart()
        if free and self.solver is None:
            return self._deepen(view, simulations or math.inf, seconds, report)
        if free:
            assert self.solver is not None
            part = SHARES[self.solver.empty(view) <= EMPTY]
            share = max(1, int(simulations * part)) if simulations else math.inf
            advice = self._deepen(view, share, seconds * part, report)
            return advice if advice.exact else self._solve(view, advice, simulations or math.inf, seconds, report)
        depth = min(self.depth or DEPTH, self.deepest)
        self._start(view, depth)
        for done in self._slices(self.fixed, math.inf):  # noqa: B007
            report.progress(int(memory.now[NODES]))
            if report.stopped:
                break
        actions = np.array(legal_actions(self.game, view))
        value = memory.root_value[actions]
        best = value >= np.fmax.reduce(value) - 1e-9
        if not best.any():  # stopped before the first move was valued
            best[0] = True
        visits = np.maximum(memory.root_nodes[actions], 0)
        return self._advice(view, actions, best / best.sum(), value, visits, depth if done else 0)

    def _slices(self, settings: Settings, nodes: float) -> Iterator[bool]:
        """Search on until it is finished or `nodes` were visited in all, in calls of a few milliseconds; yield after
        each whether it is finished."""
        memory, done = self.memory, False
        while not done and memory.now[NODES] < nodes:
            before = self.clock.seconds
            done = self._go(settings, min(memory.now[NODES] + self.chunk, nodes))
            if self.clock.seconds - before < PER_CALL:
                self.chunk = min(2 * self.chunk, CHUNK[1])
            yield done

    def _deepen(self, view: Any, nodes: float, seconds: float, report: Reporter) -> Advice:
        """Search to depth 1, 2, ... until the budget is used up or the result is exact."""
        memory, frames = self.memory, self.frames
        actions = np.array(legal_actions(self.game, view))
        chosen, value, complete = int(actions[0]), np.full(len(actions), np.nan), 0

        def so_far() -> Advice:
            visits = np.maximum(memory.root_nodes[actions], 0)
            return self._advice(view, actions, (actions == chosen).astype(float), value, visits, complete)

        for depth in range(1, self.deepest + 1):
            self._start(view, depth)
            done = False
            for done in self._slices(self.free, nodes):  # noqa: B007
                report.progress(int(memory.now[NODES]), None, f"depth {depth}")
                report.advice(so_far, complete)
                over = self.clock.seconds >= seconds or report.stopped
                if over and depth > 1:
                    break
            if frames.chosen[0] < 0:  # stopped before the first move was valued
                break
            lost = done and bool(frames.best[0] <= -self.free.win)
            if not lost or depth == 1:  # in a lost position, the move that seemed best before
                chosen = int(frames.chosen[0])
            if done:
                complete = depth
                value = np.full(len(actions), -self.free.win) if lost else memory.root_value[actions]
            value[actions == chosen] = frames.best[0]
            report.advice(so_far, complete)
            if not done or over or frames.complete[0] or len(actions) == 1:
                break
        return so_far()

    def _solve(self, view: Any, advice: Advice, nodes: float, seconds: float, report: Reporter = SILENT) -> Advice:
        """Ask the game's solver what it knows of each move by the end of the budget; else keep the advice."""
        assert self.solver is not None
        memory, solver, chunk = self.memory, self.solver, CHUNK[1]
        before, earlier = int(memory.now[NODES]), int(solver.nodes[0])

        def left() -> int:
            spent = before + int(solver.nodes[0]) - earlier
            return 0 if self.clock.seconds >= seconds or report.stopped else int(min(nodes - spent, chunk))

        aside = np.abs(advice.actions - np.mean((0, self.game.facts.num_actions - 1)))  # from the middle column
        ranked = np.lexsort((aside, -np.nan_to_num(advice.value, nan=-math.inf), -advice.policy))
        bounds = solver.bounds(view, advice.actions[ranked].tolist(), left)
        best = int(np.argmax(2 * bounds[:, 0] + (bounds[:, 1] > bounds[:, 0])))  # of several, the most promising
        value, known = advice.value.copy(), bounds[:, 0] == bounds[:, 1]
        value[ranked[known]] = bounds[known, 0] * self.free.win
        simulations = before + int(solver.nodes[0]) - earlier
        policy = np.zeros(len(ranked))
        policy[ranked[best]] = 1
        return replace(advice, policy=policy, value=value, simulations=simulations, exact=decided(bounds))

    def _advice(self, view: Any, actions: Any, policy: Any, value: Any, visits: Any, depth: int) -> Advice:
        even, nodes = np.full(len(actions), 1 / len(actions)), int(self.memory.now[NODES])
        exact = bool(self.frames.complete[0] and self.memory.now[AT] == 0 and self.frames.n[0] > 0)
        line = self.principal_variation(view, int(actions[np.argmax(policy)]))
        value = value + 0.0  # no -0.0
        return Advice(actions, policy, value, visits, even, nodes, line=line, depth=depth, exact=exact)

    def principal_variation(self, view: Any, first: int) -> tuple[int, ...]:
        """The first move, and those that the table holds after it."""
        states, line = np.array([view], self.game.state), np.full(self.deepest, first, np.int64)
        actions = np.zeros(self.frames.actions.shape[1], np.int64)  # its own: a search may be going on
        return tuple(line[: follow(self.game, self.memory.table, states, actions, line)].tolist())

    @classmethod
    def precompile(cls, game: Game, view: Any, seat: int) -> None:
        cls(game, depth=1).advise(view, seat)
