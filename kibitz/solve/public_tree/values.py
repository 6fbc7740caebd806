"""Exact best responses on the public tree, to a strategy in tables or one that answers batches of views.

One walk gives both seats' best responses and the value of the game. Nothing is stored but the path, and of the strategy
one batch of subtrees at a time.
"""

import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from ...core.names import BadInput
from ...core.progress import SILENT, Reporter
from ...core.workers import cores
from ...games import full_name
from ...games.protocol import OVER
from ...jit import kernel
from ..best_response import Exploitability
from .matrices import Tables
from .tree import SUBTREE, PublicTree
from .walk import BOTH, DOWN, UP, Rates, Walker

Answer = Callable[[np.ndarray], np.ndarray]  # views -> [views, num_actions]: of the legal actions in order, then zeros
FIRST = 0.01  # part of the work after which its duration is estimated
LONG = 60.0  # seconds from which it is told
NEAR = 1e-4  # by which probabilities may miss 1


def evaluate_tables(
    tree: PublicTree, weights: np.ndarray, threads: int | None = None, report: Reporter = SILENT
) -> Exploitability:
    """Evaluate a strategy in proportion to weights by entry and private state, [entries, private] of any type."""
    if weights.shape != (tree.entries, tree.private):
        raise BadInput(f"a strategy of {full_name(tree.game)} should be {[tree.entries, tree.private]} numbers")
    return _evaluate(tree, [_Slices(tree, weights)] * (threads or cores()), report)


def evaluate_answers(tree: PublicTree, answers: list[Answer], report: Reporter = SILENT) -> Exploitability:
    """Evaluate a strategy that gives probabilities for a batch of views; one function per thread.

    All views of a call are of one seat, which is to move.
    """
    return _evaluate(tree, [_Asker(tree, answer) for answer in answers], report)


def _evaluate(tree: PublicTree, sources: Sequence["_Slices | _Asker"], report: Reporter) -> Exploitability:
    (walker, hands), rates, none = tree.walker(np.float64, len(sources)), Rates.of(np.float64), np.zeros((0, 0))
    trunk = Tables(sources[0].trunk(), none)

    def do(batch: range, thread: int) -> None:
        weights, first = sources[thread].subtrees(batch), 0
        for number in batch:
            walker.subtree(number, hands, Tables(weights, none), rates, BOTH, True, thread, first)
            first += int(tree.subtrees.size[number, 1])

    walker.trunk(DOWN, hands, trunk, rates, BOTH, best=True, packed=True)
    _reported(tree, walker, do, report)
    best = walker.trunk(UP, hands, trunk, rates, BOTH, best=True, packed=True).sum(axis=1).tolist()
    return Exploitability(best[0] + best[1], float(walker.shares.sum()), (best[0], best[1]))


def _reported(tree: PublicTree, walker: Walker, do: Callable[[range, int], None], report: Reporter) -> None:
    batches, done = tree.batches(), 0
    sizes = [int(tree.subtrees.size[batch.start : batch.stop, 0].sum()) for batch in batches]
    began, told = time.perf_counter(), False
    for size, _ in zip(sizes, walker.spread(do, batches), strict=True):
        done += size
        report.progress(done, tree.nodes, "public states")
        took = time.perf_counter() - began
        if not told and done > FIRST * tree.nodes and took > 1:
            told = True
            if took * tree.nodes / done > LONG:
                report.message(f"{tree.infosets:,} infosets: about {took * tree.nodes / done / 60:.0f} minutes in all")


# ---------------------------------------------------------------- strategies


class _Slices:
    """The strategy of a table."""

    def __init__(self, tree: PublicTree, weights: np.ndarray) -> None:
        self.tree, self.table = tree, weights

    def trunk(self) -> np.ndarray:
        """Weights of the trunk, without entries for subtrees."""
        start, size = self.tree.subtrees.start[:, 1], self.tree.subtrees.size[:, 1]
        ends = np.append(start, self.tree.entries)
        gaps = zip(np.append(0, start + size).tolist(), ends.tolist(), strict=True)
        return np.concatenate([self.table[one:two] for one, two in gaps]).astype(np.float64)

    def subtrees(self, batch: range) -> np.ndarray:
        """Weights of some subtrees, one after the other."""
        start, size = self.tree.subtrees.start[:, 1], self.tree.subtrees.size[:, 1]
        return np.concatenate([self.table[start[i] : start[i] + size[i]] for i in batch]).astype(np.float64)


class Asked(NamedTuple):
    """The views at decisions, one node after the other: [nodes, private]."""

    views: np.ndarray
    turns: np.ndarray  # [nodes]
    n: np.ndarray  # [nodes]: number of actions


class _Asker:
    """Collects the views of subtrees and asks for the strategy there."""

    def __init__(self, tree: PublicTree, answer: Answer) -> None:
        self.tree, self.answer, self.path = tree, answer, tree.path()
        depth, private = tree.depth + 1, tree.private
        self.levels = np.zeros((2, depth, private), tree.game.state)  # both seats' views along the path
        self.asked = self._room(SUBTREE)

    def _room(self, nodes: int) -> Asked:
        views = np.zeros((nodes, self.tree.private), self.tree.game.state)
        return Asked(views, np.zeros(nodes, np.int64), np.zeros(nodes, np.int64))

    def trunk(self) -> np.ndarray:
        """Weights of the trunk, packed: without entries for subtrees."""
        tree, parts = self.tree, self.tree.subtrees
        self.asked = self._room(tree.nodes - int(parts.size[:, 0].sum()))
        count = self._collect(0, parts.actions[:0].reshape(-1), 0, True)
        weights = self._weights(count, tree.entries - int(parts.size[:, 1].sum()))
        self.asked = self._room(SUBTREE)
        return weights

    def subtrees(self, batch: range) -> np.ndarray:
        """Weights of some subtrees, one after the other."""
        parts, count = self.tree.subtrees, 0
        size = parts.size[batch.start : batch.stop].sum(axis=0)
        if size[0] > len(self.asked.n):
            self.asked = self._room(int(size[0]))
        for number in batch:
            count = self._collect(count, parts.actions[number], int(parts.length[number]), False)
        return self._weights(count, int(size[1]))

    def _collect(self, count: int, actions: np.ndarray, length: int, trunk: bool) -> int:
        tree, levels = self.tree, self.levels
        self.path.states[0] = tree.root[0]
        levels[:, 0] = tree.views
        parts = tree.subtrees
        return int(
            _collect(tree.game, self.path, levels, actions, length, parts.start, parts.size, trunk, self.asked, count)
        )

    def _weights(self, count: int, entries: int) -> np.ndarray:
        """Ask for the views of all nodes, seat by seat, and lay the probabilities out as tables."""
        private, most = self.tree.private, self.tree.game.facts.num_actions
        turns, n = self.asked.turns[:count], self.asked.n[:count]
        probs = np.zeros((count, private, most))
        for seat in range(2):
            mine = np.flatnonzero(turns == seat)
            if len(mine):
                views = self.asked.views[mine].reshape(-1)
                found = np.asarray(self.answer(views), float)
                if found.shape != (len(views), most) or not (np.abs(found.sum(axis=1) - 1) < NEAR).all():
                    raise BadInput(f"a strategy should give [{len(views)}, {most}] probabilities that sum to 1")
                probs[mine] = found.reshape(len(mine), private, most)
        weights = np.zeros((entries, private))
        _lay_out(probs, n, weights)
        return weights


@kernel
def _collect(game, path, levels, actions, length, starts, sizes, trunk, asked, count):
    """Walk the trunk or the subtree at the end of `actions`; write the mover's views at each of its decisions."""
    private = levels.shape[2]
    for k in range(length):
        action = np.int64(actions[k])
        game.play(path.states[0], action)
        for seat in range(2):
            for h in range(private):
                game.play(levels[seat, 0, h], action)
    depth, node, stop = 0, 0, 0
    path.tried[0] = -1
    while depth >= 0:
        turn = game.turn(path.states[depth])
        if path.tried[depth] < 0:
            if turn == OVER:
                depth -= 1
                continue
            if trunk and stop < len(starts) and node == starts[stop, 0]:
                node += sizes[stop, 0]
                stop += 1
                depth -= 1
                continue
            node += 1
            path.tried[depth] = 0
            path.n[depth] = game.actions(path.states[depth], path.actions[depth])
            if turn >= 0:
                for h in range(private):
                    asked.views[count, h] = levels[turn, depth, h]
                asked.turns[count] = turn
                asked.n[count] = path.n[depth]
                count += 1
        if path.tried[depth] == path.n[depth]:
            depth -= 1
            continue
        action = path.actions[depth, path.tried[depth]]
        path.tried[depth] += 1
        path.states[depth + 1] = path.states[depth]
        game.play(path.states[depth + 1], action)
        if game.turn(path.states[depth + 1]) != OVER:
            for seat in range(2):
                for h in range(private):
                    levels[seat, depth + 1, h] = levels[seat, depth, h]
                    game.play(levels[seat, depth + 1, h], action)
        path.tried[depth + 1] = -1
        depth += 1
    return count


@kernel
def _lay_out(probs, n, weights):
    at, private = 0, probs.shape[1]
    for node in range(len(n)):
        for a in range(n[node]):
            for h in range(private):
                weights[at, h] = probs[node, h, a]
            at += 1
