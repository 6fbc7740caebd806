"""Solvers of poker as runs use them: an iteration, a measurement, and tables in one order, whatever the device."""

import math
from typing import Any

import numpy as np

from ...core import memory
from ...core.names import BadInput, at_least
from ...games import full_name
from ...nets.devices import check_device
from ..solve.betting_tree import BettingTree, betting_tree
from ..solve.buckets import Buckets
from ..solve.cards import Cards
from ..solve.solver import PublicChanceCfr, first_entries

VECTORS = 20  # bytes per node, board and hand: reaches and values of both seats, strategies
Tables = dict[str, np.ndarray]  # by name; each [entries], node after node


def pairs_of_hands(cards: Cards) -> int:
    """The number of pairs of hands on a whole board."""
    left = cards.deck - cards.dealt[-1]
    return math.comb(left, cards.hole) * math.comb(left - cards.hole, cards.hole)


def has_threads(method: str, device: str, boards: int | str | None) -> bool:
    """Whether threads can be chosen: all but sampling on processor cores is done by torch."""
    return method == "pcs" and device == "cpu" and boards != "all"


def check_threads(threads: int | None, method: str, device: str, boards: int | str | None) -> None:
    """Refuse threads that can't be chosen."""
    if threads is not None:
        at_least("threads", threads, 1, 1024)
        if not has_threads(method, device, boards):
            what = "on all boards" if boards == "all" else f"on {device}"
            raise BadInput(
                f"--threads {threads} is for pcs on processor cores with sampled boards, not {method} {what}"
            )


class OnCores:
    """Public chance sampling on processor cores. It also averages the value of the game over its boards."""

    boards = 1  # per iteration

    def __init__(self, game: Any, buckets: Buckets, seed: int, threads: int | None) -> None:
        self.solver = PublicChanceCfr(game, buckets, seed, threads)
        self.tree, self.first = self.solver.tree, self.solver.tables.first
        self.pairs = pairs_of_hands(buckets.cards)
        self.total = 0.0  # of the values of seat 0, weighted as the average strategy

    def run(self) -> None:
        """Do an iteration."""
        self.solver.iterations += 1
        number = self.solver.iterations
        values = self.solver.step(self.solver.sample(number), float(number))
        self.total += number * float(values[0].sum(dtype=np.float64)) / self.pairs

    def measure(self) -> dict[str, float]:
        """What is known without a best response: the bound by regrets, and the value of the game."""
        weights = self.solver.iterations * (self.solver.iterations + 1) / 2
        bound = regret_bound(self.tree, self.first, self.solver.buckets.counts, self.solver.tables.regrets)
        return {"regret_bound": bound / (weights * self.pairs)} | known("value", self.total / weights)

    def sizes(self) -> dict[str, int]:
        """The sizes of the tables."""
        return {"regrets": len(self.solver.tables.regrets), "sums": len(self.solver.tables.sums)}

    def tables(self) -> Tables:
        return {"regrets": self.solver.tables.regrets, "sums": self.solver.tables.sums}

    def restore(self, iterations: int, tables: Tables) -> None:
        self.solver.iterations = iterations
        self.solver.tables.regrets[:], self.solver.tables.sums[:] = tables["regrets"], tables["sums"]


class InTorch:
    """A solver in torch, whose tables have an order of their own."""

    def __init__(self, solver: Any) -> None:
        self.solver = solver
        self.tree, self.counts = solver.tree, solver.buckets.counts
        self.first = first_entries(self.tree, self.counts)[0]

    @property
    def total(self) -> float:
        return float(self.solver.total)

    @total.setter
    def total(self, total: float) -> None:
        self.solver.total.fill_(total)

    def run(self) -> None:
        """Do an iteration."""
        self.solver.run(1)

    def sizes(self) -> dict[str, int]:
        """The sizes of the tables."""
        return {"regrets": len(self.solver.regrets), "sums": len(self.solver.sums)}

    def tables(self) -> Tables:
        """Regrets and sums in the order of the tables on processor cores."""
        found = {"regrets": self.solver.regrets, "sums": self.solver.sums}
        return {key: self._ordered(each.cpu().numpy(), self.solver.first, self.first) for key, each in found.items()}

    def restore(self, iterations: int, tables: Tables) -> None:
        import torch

        self.solver.iterations = iterations
        for key, tensor in (("regrets", self.solver.regrets), ("sums", self.solver.sums)):
            tensor.copy_(torch.from_numpy(self._ordered(tables[key], self.first, self.solver.first)))

    def _ordered(self, array: np.ndarray, source: np.ndarray, target: np.ndarray) -> np.ndarray:
        found = np.empty_like(array)
        for node in np.flatnonzero(self.tree.choices):
            size = int(self.tree.choices[node]) * self.counts[self.tree.street[node]]
            found[target[node] :][:size] = array[source[node] :][:size]
        return found


class OnGpu(InTorch):
    """Public chance sampling in torch, some boards per iteration."""

    def __init__(self, game: Any, buckets: Buckets, seed: int, boards: int, device: str) -> None:
        from .public_chance import TorchPublicChanceCfr

        check_device(device)
        super().__init__(TorchPublicChanceCfr(game, buckets, seed, boards, device))
        self.boards, self.pairs = boards, pairs_of_hands(buckets.cards)

    def measure(self) -> dict[str, float]:
        """What is known without a best response: the bound by regrets, and the value of the game."""
        iterations = self.solver.iterations
        scale = iterations * (iterations + 1) / 2 * self.pairs * self.boards
        bound = self.solver.regret_bound()
        return {"regret_bound": bound / scale} | known("value", self.total / scale)


class OnAllBoards(InTorch):
    """Discounted CFR in torch, all boards per iteration, for games of two streets; NashConv is exact."""

    def __init__(self, game: Any, buckets: Buckets, device: str) -> None:
        from .public_tree_cfr import PublicTreeCfr

        check_device(device)
        check_gpu_memory(device, game, below_bytes(betting_tree(game, buckets.cards), buckets))
        super().__init__(PublicTreeCfr(game, buckets, device))
        self.boards = len(self.solver.levels.parents)

    def measure(self) -> dict[str, float]:
        """NashConv of the average strategy, and the mean value of the game over the iterations."""
        return {"nash_conv": sum(self.solver.best_responses()), "value": self.solver.value()}


class AgainstBest(InTorch):
    """CFR-BR in torch; NashConv is exact in games of two streets."""

    def __init__(self, game: Any, buckets: Buckets, seed: int, boards: int | str, device: str) -> None:
        from .cfr_br import CfrBr

        check_device(device)
        upper = 1 if isinstance(boards, str) else boards
        check_gpu_memory(device, game, below_bytes(betting_tree(game, buckets.cards), buckets, upper))
        super().__init__(CfrBr(game, buckets, seed, upper, device))
        self.boards = len(self.solver.sampled(0).parents) if isinstance(boards, str) else upper

    def measure(self) -> dict[str, float]:
        """What the opponents win; NashConv of the average and of the current strategy in a game of two streets."""
        solver, found = self.solver, {"opponents_win": self.solver.opponents_win()}
        if not solver.trunk_streets:
            found["nash_conv"] = sum(solver.best_responses(solver.sums))
            found["nash_conv_current"] = sum(solver.best_responses(solver.regrets))
        return found

    def sizes(self) -> dict[str, int]:
        """The sizes of the tables."""
        return super().sizes() | ({"trunk": len(self.solver.trunk)} if self.solver.trunk_streets else {})

    def tables(self) -> Tables:
        """Regrets and sums in the order of the tables on processor cores; regrets of the opponents in the trunk."""
        trunk = {"trunk": self.solver.trunk.cpu().numpy()} if self.solver.trunk_streets else {}
        return super().tables() | trunk

    def start_trunk(self, regrets: np.ndarray) -> np.ndarray:
        """Regrets of the opponents in the trunk, from those of the learners."""
        found: np.ndarray = self.solver.start_trunk(regrets, self.first)
        return found

    def restore(self, iterations: int, tables: Tables) -> None:
        import torch

        super().restore(iterations, tables)
        if self.solver.trunk_streets:
            self.solver.trunk.copy_(torch.from_numpy(tables["trunk"]))


def below_bytes(tree: BettingTree, buckets: Buckets, upper: int = 1) -> float:
    """Memory of a solver that visits all boards below some at once (below the empty one: all boards)."""
    from .public_levels import boards_below, matrices_bytes

    cards, entries = buckets.cards, first_entries(tree, buckets.counts)[1]
    last = int((tree.street == cards.streets - 1).sum())
    vectors = VECTORS * last * boards_below(cards, upper) * len(cards.hands)
    return 16.0 * entries + matrices_bytes(cards, upper) + vectors


def check_gpu_memory(device: str, game: Any, need: float) -> None:
    """Refuse what needs more memory than is free on the GPU."""
    import torch

    if device == "cuda" and need > (free := torch.cuda.mem_get_info()[0]):
        raise BadInput(
            f"{full_name(game)} needs {memory.spelled(need)} of memory on the GPU, where {memory.spelled(free)} are "
            "free: choose a smaller deck or an abstraction of fewer buckets"
        )


def known(key: str, value: float) -> dict[str, float]:
    """A measurement, unless it isn't a number."""
    return {} if math.isnan(value) else {key: value}


def regret_bound(tree: BettingTree, first: np.ndarray, counts: tuple[int, ...], regrets: np.ndarray) -> float:
    """The sum over all buckets of the largest positive regret."""
    total = 0.0
    for node in np.flatnonzero(tree.choices):
        n = int(tree.choices[node])
        part = regrets[first[node] :][: n * counts[tree.street[node]]].reshape(-1, n)
        total += float(np.maximum(part.max(axis=1), 0).sum(dtype=np.float64))
    return total
