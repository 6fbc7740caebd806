"""Subgames of the last two streets in torch, for a GPU: what `kibitz.poker.solve.resolve` does on a core.

All cards that can come last are visited in every iteration, so it needs fewer of them than sampling does.
"""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import torch

from ...nets.cuda_graph import Replayed
from ...nets.devices import check_device, with_own_products
from ...solve.regrets import matched
from ..solve.resolve import check_street, forced, subtree
from ..solve.strategy import TableStrategy
from .public_chance import TorchPublicChanceCfr
from .public_levels import Levels, levels
from .public_replies import PublicReplies
from .public_streets import Batch, Pair, Street, compared, fused, lay_out, plain, public_street


class TorchSubgame(TorchPublicChanceCfr):
    """`run(n)` does n iterations of linear CFR.

    Args:
        strategy: The blueprint.
        root: The node of the betting tree with which the street begins.
        board: The cards on it.
        reach: [2, hands]: of both seats at the root.
        safe_for: The seat that plays the new strategy: the other one gets the gadget.
        device: `cpu` or `cuda`.
    """

    def __init__(
        self, strategy: TableStrategy, root: int, board: np.ndarray, reach: np.ndarray, safe_for: int | None = None,
        device: str = "cuda",
    ) -> None:  # fmt: skip
        check_device(device)
        self.rounded = False
        cards, street = strategy.buckets.cards, int(strategy.tree.street[root])
        check_street(street, cards)
        self.strategy, self.start, self.board, self.device, self.safe_for = strategy, root, board, device, safe_for
        self.tree = subtree(strategy.tree, root)
        self.iteration = torch.zeros((), device=device)  # its number
        self.steps, self.half = fused() if device.startswith("cuda") else plain, False
        self.levels: Levels | None = (
            None if street == cards.streets - 1 else levels(strategy.buckets, board[None], device)
        )
        self.hands = np.flatnonzero(cards.free(board)) if self.levels is None else self.levels.hands[0]
        self.lower = self._last_board() if self.levels is None else self._boards_below(self.levels)
        counts = (len(self.hands), self.lower.buckets[-1].numel())[: len(self.lower.buckets)]
        self.buckets = SimpleNamespace(counts=counts)  # type: ignore[assignment]  # each hand has its own bucket
        self.root = public_street(self.tree, np.zeros(1, np.int64))
        size = lay_out(self.root, self.tree, counts, device)
        self.regrets, self.sums, self.added = (torch.zeros(size, device=device) for _ in range(3))
        self.reach = torch.from_numpy(np.ascontiguousarray(reach[:, self.hands], np.float32)).to(device)
        self.gadget = torch.zeros(2, len(self.hands), device=device)  # regrets of entering and of refusing, by hand
        self.refused: torch.Tensor | None = None
        if safe_for is not None:
            self.refused = self._best_against_blueprint(1 - safe_for, street)
            self.forced = torch.from_numpy(forced(reach[1 - safe_for])[self.hands].astype(np.float32)).to(device)

    def _last_board(self) -> Batch:
        """The board itself, on the last street."""
        cards = self.strategy.buckets.cards
        held = torch.tensor(cards.held[self.hands], device=self.device)[None]
        ranks = torch.from_numpy(cards.values(self.board[None])[:, self.hands]).to(self.device)
        meets, wins = compared(held, ranks)
        assert wins is not None
        own = torch.zeros(1, meets.shape[1], dtype=torch.int32, device=self.device)
        own[0, : len(self.hands)] = torch.arange(len(self.hands), device=self.device)
        return Batch([own], wins, meets, len(self.hands))

    def _boards_below(self, found: Levels) -> Batch:
        """All boards of the last street. Hands that a permutation of suits makes equal share a bucket before it."""
        like = found.orders[0].amin(0).int()  # the least image of each hand
        first, last = (torch.zeros(found.lower.buckets[0].shape, dtype=torch.int32, device=self.device) for _ in "12")
        places = found.places[:, : found.lower.hands].long()
        first[:, : found.lower.hands] = like[places]
        last[:, : found.lower.hands] = torch.arange(places.numel(), device=self.device).view(places.shape)
        return Batch([first, last], found.lower.wins, found.lower.meets, found.lower.hands)

    @with_own_products
    def run(self, iterations: int) -> None:
        """Do some iterations; on a GPU one is recorded and replayed, as its kernels are small."""
        on_gpu = self.device.startswith("cuda")
        step = Replayed(self._step) if on_gpu else self._step
        for _ in range(iterations):
            step()
        if on_gpu:
            torch.cuda.synchronize()  # the recorded iteration is freed now

    def _step(self) -> None:
        """One iteration: always the same kernels on the same tensors."""
        self.iteration += 1
        kept = 1 - 1 / self.iteration
        for table in (self.regrets, self.sums, self.gadget):
            table *= kept  # so that iteration t has the weight t, up to a common factor
        if self.refused is None:
            self._walk(self.root, self._down(self.reach), self.lower, 1.0, 1.0)
            self.add_sums()
            return
        assert self.safe_for is not None
        other, reach, enters = 1 - self.safe_for, self.reach.clone(), matched(self.gadget.T)[:, 0]
        reach[other] = self.forced + (1 - self.forced) * enters
        values = self._walk(self.root, self._down(reach), self.lower, 1.0, 1.0)
        self.add_sums()
        entered = self._up(values[other])
        value = enters * entered + (1 - enters) * self.refused
        self.gadget += torch.stack([entered, self.refused]) - value

    def _down(self, reach: torch.Tensor) -> Pair:
        """Reaches [2, hands] on the boards of the last street, [boards, 1, hands] each."""
        if self.levels is None:
            return _filled(reach, self.lower)
        first, second = (self.levels.down(each[None, None]) for each in reach)
        return first, second

    def _up(self, values: torch.Tensor) -> torch.Tensor:
        """[hands]: the mean of values over the cards that can come last for two hands."""
        return self._for_two(values if self.levels is None else self.levels.up(values))

    def _for_two(self, values: torch.Tensor) -> torch.Tensor:
        """Values on the board, counted by the share of last cards that two hands leave: by the mean over those."""
        here = values[0, 0, : len(self.hands)]
        if self.levels is None:
            return here
        cards = self.strategy.buckets.cards
        left = cards.deck - len(self.board)
        return here * (left / (left - 2 * cards.hole))

    def _best_against_blueprint(self, seat: int, street: int) -> torch.Tensor:
        """[hands]: what a best response to the blueprint wins with a seat's hands here, times the other's reach."""
        given, counts = self.strategy, self.strategy.buckets.counts[street:]
        root = public_street(self.tree, np.zeros(1, np.int64))
        table = torch.zeros(lay_out(root, self.tree, counts, self.device), device=self.device)
        streets = [root, *(below for below, _ in root.below)]
        for node in (node for each in streets for node in each.nodes if node.seat >= 0):
            size = (node.table.stop - node.table.start) // len(node.nodes)
            parts = np.stack([given.probs[i : i + size] for i in given.first[self.start + node.nodes]])
            table[node.table] = torch.from_numpy(parts.astype(np.float32).reshape(-1)).to(self.device)
        if self.levels is None:
            buckets = given.buckets.on(self.board, street)[self.hands].astype(np.int32)
            more = self.lower.meets.shape[1] - len(self.hands)
            padded = torch.from_numpy(np.pad(buckets, (0, more))[None]).to(self.device)
            upper = lower = replace(self.lower, buckets=[padded])
        else:
            upper, lower = (
                replace(each, buckets=each.buckets[street:]) for each in (self.levels.upper, self.levels.lower)
            )
        return self._most_against(seat, root, counts, table, upper, lower)

    def most_against_average(self, seat: int) -> np.ndarray:
        """[hands]: what a best response to the average strategy so far wins with a seat's hands."""
        upper = self.lower
        if self.levels is not None:
            upper = self.levels.upper
            like = self.levels.orders[0].amin(0).int()
            more = upper.meets.shape[1] - len(like)
            upper = replace(upper, buckets=[torch.nn.functional.pad(like, (0, more))[None]])
        found = np.zeros(len(self.strategy.buckets.cards.hands))
        most = self._most_against(seat, self.root, self.buckets.counts, self.sums, upper, self.lower)
        found[self.hands] = most.cpu().numpy()
        return found

    @with_own_products
    def _most_against(
        self, seat: int, root: Street, counts: tuple[int, ...], table: torch.Tensor, upper: Batch, lower: Batch
    ) -> torch.Tensor:
        """Of a seat's hands here: what a best response to a table of the streets from `root` on wins."""
        boards = self.levels
        found = SimpleNamespace(upper=upper, lower=lower, down=boards and boards.down, up=boards and boards.up)
        replies = PublicReplies(root, counts, self.device)
        values = replies.respond(root, _filled(self.reach, upper), table, found)  # type: ignore[arg-type]
        return self._for_two(values[seat])

    def probs(self, node: int) -> np.ndarray:  # type: ignore[override]
        """[hands, actions]: the average strategy at a node of the betting tree on the subgame's first street."""
        here = next(each for each in self.root.nodes if each.seat >= 0 and each.nodes[0] == node - self.start)
        n = len(here.children)
        found = np.full((len(self.strategy.buckets.cards.hands), n), 1 / n)
        average = matched(self.sums[here.table].double().view(-1, n)).cpu().numpy()  # they add up to 1
        found[self.hands] = average if self.levels is None else average[self.levels.orders[0].amin(0).cpu().numpy()]
        return found


def _filled(reach: torch.Tensor, batch: Batch) -> Pair:
    """Reaches [2, hands] on one board, [1, 1, hands] each, filled up as its batch is."""
    first, second = torch.nn.functional.pad(reach, (0, batch.meets.shape[1] - batch.hands))[:, None, None].unbind(0)
    return first.contiguous(), second.contiguous()
