"""Counterfactual regret minimization in torch for games of rising bids, as Liar's Dice: sweeps over all public states.

Bids only rise, so a public state is the set of bids made, a number of B bits, and the seat to move is the parity of its
bits. The states whose highest bid is c are the numbers from 2^c to 2^(c+1) - 1, and taking that bid away gives their
parents, 0 to 2^c - 1, in the same order. So each step of the tree, for all states at once, is an operation on two
contiguous slices of arrays [2^B, rolls]. The regret of a bid is kept at the state that it leads to, that of a call at
the state where the bid is called. The algorithm is that of `kibitz.solve.public_tree.cfr`.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch

from ..core.names import BadInput, choose
from ..games import full_name, offering
from ..jit import kernel
from ..nets.devices import check_device
from .best_response import Exploitability
from .public_tree.cfr import METHODS, kind_of
from .public_tree.matrices import Tables
from .public_tree.table import PublicStrategy, strategy_of
from .public_tree.tree import PublicTree
from .regrets import VARIANTS, discount, tensor_rates


def check_solvable(game: Any, device: str) -> None:
    """Refuse a game whose public states aren't sets of bids, and a GPU where there is none."""
    if not hasattr(game, "rising_bids"):
        raise BadInput(
            f"{full_name(game)} can't be solved on a GPU: only {offering('rising_bids')} can; use --device cpu"
        )
    check_device(device)


class BiddingCfr:
    """`run(n)` does n iterations; `tables` has regrets and sums in the order of the public tree."""

    def __init__(self, game: Any, method: str = "cfr+", device: str = "cuda", tree: PublicTree | None = None) -> None:
        check_solvable(game, device)
        choose("solver on a GPU", method, METHODS)
        self.game, self.variant, self.device, self.iterations = game, VARIANTS[method], device, 0
        self.tree = tree or PublicTree(game)
        self.kind = kind_of(self.tree)
        self.bids = game.rising_bids()
        self.states = 1 << self.bids
        # [states, 1]: whether seat 1 is to move; number of actions
        self.second = torch.zeros(self.states, 1, dtype=torch.bool, device=device)
        self.moves = torch.full((self.states, 1), self.bids, dtype=torch.int64, device=device)
        for bid, parents, children in self._slices():
            self.second[children] = ~self.second[parents]
            self.moves[children] = self.bids - bid
        real = torch.float64 if self.kind == np.float64 else torch.float32
        shape = self.states, self.tree.private
        # By state: of the bid that leads there, and of a call there.
        self.regrets = [torch.zeros(shape, dtype=real, device=device) for _ in range(2)]
        self.sums = [torch.zeros(shape, dtype=real, device=device) for _ in range(2)]
        self._index: tuple[np.ndarray, np.ndarray] | None = None

    def _slices(self, rising: bool = True) -> Iterator[tuple[int, slice, slice]]:
        """Each bid with the states before it and the states after it."""
        for bid in range(self.bids) if rising else range(self.bids - 1, -1, -1):
            yield bid, slice(0, 1 << bid), slice(1 << bid, 2 << bid)

    # ---------------------------------------------------------------- iterations

    def run(self, iterations: int) -> None:
        """Do some iterations."""
        for _ in range(iterations):
            self.iterations += 1
            for seat in range(2):
                self._update(seat, self.iterations)

    def _update(self, seat: int, t: int) -> None:
        """Update one seat against the present strategy of the other."""
        weight, gain, loss = tensor_rates(self.variant, t, self.regrets[0])
        own = self.second == bool(seat)
        bids, calls = self._strategy(*self.regrets)
        mine, other = self._reach(bids, own), self._reach(bids, ~own)
        called = self._called(torch.where(own, other, other * calls), seat)
        del other
        values = torch.where(own, calls * called, called)
        for _, parents, children in self._slices(rising=False):
            values[parents] += torch.where(own[parents], bids[children] * values[children], values[children])
        for _, parents, children in self._slices():
            total = self.regrets[0][children] + (values[children] - values[parents])
            discount(total, gain, loss)
            self.regrets[0][children] = torch.where(own[parents], total, self.regrets[0][children])
            self.sums[0][children] += torch.where(own[parents], weight * mine[children], 0.0)
        total = self.regrets[1] + (called - values)
        discount(total, gain, loss)
        total[0] = 0.0  # there is nothing to call yet
        self.regrets[1] = torch.where(own, total, self.regrets[1])
        self.sums[1] += torch.where(own, weight * mine * calls, 0.0)

    def _strategy(self, bids: torch.Tensor, calls: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """In proportion to positive numbers, uniform where there are none: of bids by the state after, of calls."""
        total = calls.clamp(min=0)
        for _, parents, children in self._slices():
            total[parents] += bids[children].clamp(min=0)
        none = total < torch.finfo(total.dtype).tiny  # the inverse of a smaller number would be infinite
        scale = torch.where(none, 1 / self.moves.to(total.dtype), 1 / total)
        chosen = bids.clamp(min=0)
        for _, parents, children in self._slices():
            chosen[children] = (chosen[children] + none[parents]) * scale[parents]
        called = (calls.clamp(min=0) + none) * scale
        called[0] = 0.0
        return chosen, called

    def _reach(self, bids: torch.Tensor, own: torch.Tensor) -> torch.Tensor:
        """[states, rolls]: the probability that a seat's own bids lead to a state."""
        reach = torch.ones_like(bids)
        for _, parents, children in self._slices():
            reach[children] = reach[parents] * torch.where(own[parents], bids[children], 1.0)
        return reach

    def _called(self, reach: torch.Tensor, seat: int) -> torch.Tensor:
        """[states, rolls]: a seat's values of a call, against the other's reach."""
        payoffs = torch.from_numpy(self.tree.payoffs).to(self.device, reach.dtype)  # by 2 * bid + parity of the bids
        values = torch.zeros_like(reach)
        for bid, _, children in self._slices():
            # After an odd number of bids seat 0 has made the last one, else seat 1: the same with the other sign.
            table = payoffs[2 * bid + 1].T if seat == 0 else -payoffs[2 * bid + 1]
            torch.matmul(reach[children], table, out=values[children])
            values[children] *= torch.where(self.second[children], 1.0, -1.0)
        return values

    # ---------------------------------------------------------------- results

    def evaluate(self) -> Exploitability:
        """How far the average strategy is from equilibrium, in double precision."""
        bids, calls = self._strategy(*(each.double() for each in self.sums))
        best, value = [], 0.0
        for seat in range(2):
            own = self.second == bool(seat)
            other = self._reach(bids, ~own)
            values = self._called(torch.where(own, other, other * calls), seat)
            del other
            if seat == 0:
                mine = self._reach(bids, own)
                value = float((torch.where(own, mine * calls, mine) * values).sum())
                del mine
            values[0] = torch.where(own[0], -torch.inf, 0.0)  # nothing to call
            for _, parents, children in self._slices(rising=False):
                here, after = values[parents], values[children]
                values[parents] = torch.where(own[parents], torch.maximum(here, after), here + after)
            best.append(float(values[0].sum()))
        return Exploitability(best[0] + best[1], value, (best[0], best[1]))

    @property
    def tables(self) -> Tables:
        """Regrets and sums in the order of the public tree, for files."""
        keys, first = self._order()
        found = []
        for bids, calls in (self.regrets, self.sums):
            table = np.zeros((self.tree.entries, self.tree.private), self.kind)
            _order(keys, first, self.bids, bids.cpu().numpy(), calls.cpu().numpy(), table, True)
            found.append(table)
        return Tables(*found)

    def restore(self, iterations: int, regrets: np.ndarray, sums: np.ndarray) -> None:
        """Continue from the tables after some iterations."""
        keys, first = self._order()
        self.iterations = iterations
        for tensors, table in ((self.regrets, regrets), (self.sums, sums)):
            bids, calls = (np.zeros((self.states, self.tree.private), self.kind) for _ in range(2))
            _order(keys, first, self.bids, bids, calls, table, False)
            for tensor, array in zip(tensors, (bids, calls), strict=True):
                tensor.copy_(torch.from_numpy(array))

    def _order(self) -> tuple[np.ndarray, np.ndarray]:
        if self._index is None:
            self._index = self.tree.index()
        return self._index

    def strategy(self) -> PublicStrategy:
        """The average strategy."""
        return strategy_of(self.tree, self.tables.sums)


@kernel
def _order(keys, first, count, bids, calls, table, out):
    """Copy numbers by state into the order of the public tree, or back."""
    for node in range(len(keys)):
        state, start, stop = np.int64(keys[node]), np.int64(first[node]), np.int64(first[node + 1])
        offered = stop - start - (state > 0)  # higher bids; a call is the last action
        for a in range(stop - start):
            after = state + (np.int64(1) << (count - offered + a))
            for h in range(table.shape[1]):
                if a == offered:
                    if out:
                        table[start + a, h] = calls[state, h]
                    else:
                        calls[state, h] = table[start + a, h]
                elif out:
                    table[start + a, h] = bids[after, h]
                else:
                    bids[after, h] = table[start + a, h]
