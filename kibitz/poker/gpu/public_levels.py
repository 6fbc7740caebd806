"""All boards of the last street below boards of the street before it, each class of boards by one of its own.

A street before the last is walked on the upper boards, the last one on the lower boards. Of the cards that can come
last, those that a permutation of suits makes equal, given the upper board, are visited once: values that come up from
below are weighted by the number of boards, and averaged over those permutations.
"""

from dataclasses import dataclass, field
from math import comb
from typing import Any

import numpy as np
import torch

from ..solve.buckets import Buckets
from ..solve.cards import Cards
from .public_best_response import next_boards
from .public_streets import PADDED, Batch, Pair, compared, fused, moved, plain

AT_ONCE = 64  # boards whose hands are compared at once


@dataclass
class Levels:
    """Upper boards, and all boards below them. Hands of a board are numbered by their place on it."""

    boards: np.ndarray  # [upper boards, cards]
    hands: np.ndarray  # [upper boards, hands]: the possible hands of each
    upper: Batch  # `meets` counts a pair of hands by the share of lower boards that it meets on; `wins` is not used
    lower: Batch  # boards are weighted by the share of lower boards that each stands for
    parents: torch.Tensor  # [lower boards]: the upper board of each
    places: torch.Tensor  # [lower boards, hands] i4: the place of each hand on its upper board; -1: it fills up
    back: torch.Tensor  # [lower boards, hands of the upper board] i4: the place of each hand; -1: it is impossible
    first: torch.Tensor  # [upper boards + 1]: where the lower boards of each begin
    pairs: float  # pairs of hands on an upper board, each counted by the share of lower boards that it meets on
    orders: list[torch.Tensor]  # by upper board: [permutations, hands], the place of each hand's image on it
    apart: list[torch.Tensor] = field(default_factory=list)  # CFR-BR: by street of the trunk, the number of each hand

    def start(self) -> Pair:
        """The reach of all hands before the first bet."""
        boards, hands = self.upper.buckets[0].shape
        ones = torch.zeros(boards, 1, hands, device=self.places.device)
        ones[:, :, : self.upper.hands] = 1.0
        return ones, ones

    def down(self, reach: torch.Tensor) -> torch.Tensor:
        """From [upper boards, ways, hands] to [lower boards, ways, hands], which are filled up."""
        return self._steps().deal(reach, self.parents, self.places)

    def up(self, values: torch.Tensor) -> torch.Tensor:
        """The sum of values, [lower boards, ways, hands], over the lower boards of each upper board."""
        numbers = torch.arange(len(self.parents), device=values.device)
        weights = self.lower.weights
        if weights is None:  # the matrices have them
            weights = torch.ones(len(numbers), device=values.device)
        found = self._steps().collect(values, numbers, self.back, self.first, weights)
        for board, orders in enumerate(self.orders):
            if len(orders) > 1:
                found[board, :, : self.upper.hands] = found[board][:, orders].mean(1)
        return found

    def _steps(self) -> Any:
        return fused() if self.places.is_cuda else plain


def same_streets(cards: Cards, board: np.ndarray, street: int) -> tuple[int, ...]:
    """Permutations of suits that leave a board as it is, street by street."""
    found = []
    for number, order in enumerate(cards.suit_orders):
        moved = cards.permuted(board, order)
        ends = cards.dealt[: street + 1]
        parts = zip((0, *ends), ends, strict=False)
        if all(set(moved[a:b].tolist()) == set(board[a:b].tolist()) for a, b in parts):
            found.append(number)
    return tuple(found)


def levels(buckets: Buckets, boards: np.ndarray, device: str, half: bool = False) -> Levels:
    """The upper boards, [boards, cards], with all boards below them; `half`: these in half precision."""
    cards = buckets.cards
    street, new = cards.streets - 2, cards.dealt[-1] - cards.dealt[-2]
    deck = cards.deck - cards.dealt[street]
    groups = [same_streets(cards, board, street) for board in boards]
    dealt = [next_boards(cards, board, group, new) for board, group in zip(boards, groups, strict=True)]
    counts = [len(each) for each in dealt]
    parents = np.repeat(np.arange(len(boards)), counts)
    lower = np.stack([each.board for some in dealt for each in some])
    weights = np.array([len(each.images) / comb(deck, new) for some in dealt for each in some])
    above, below = _hands(cards, boards), _hands(cards, lower)
    filled = [each + -each % PADDED for each in (above.shape[1], below.shape[1])]
    place, back = (_places(cards, each) for each in (above, below))
    orders = [place[number][cards.hand_orders[list(group)][:, above[number]]] for number, group in enumerate(groups)]
    share = comb(deck - 2 * cards.hole, new) / comb(deck, new)

    return Levels(
        boards,
        above,
        _batch(buckets, boards, above, np.full(len(boards), share), street, device),
        _batch(buckets, lower, below, weights, street + 1, device, half),
        moved(parents, device),
        moved(_filled(place[parents[:, None], below], filled[1]), device),
        moved(_filled(back[np.arange(len(lower))[:, None], above[parents]], filled[0]), device),
        moved(np.cumsum([0, *counts]), device),
        comb(deck, cards.hole) * comb(deck - cards.hole, cards.hole) * share,
        [moved(each, device) for each in orders],
    )


def _places(cards: Cards, hands: np.ndarray) -> np.ndarray:
    """[boards, all hands]: the place of each hand among those of a board; -1: it is impossible there."""
    found = np.full((len(hands), len(cards.hands)), -1, np.int64)
    np.put_along_axis(found, hands, np.arange(hands.shape[1])[None].repeat(len(hands), 0), 1)
    return found


def _filled(places: np.ndarray, size: int) -> np.ndarray:
    return np.pad(places, ((0, 0), (0, size - places.shape[1])), constant_values=-1).astype(np.int32)


def _hands(cards: Cards, boards: np.ndarray) -> np.ndarray:
    """[boards, hands]: the hands that are possible on each board."""
    free = cards.free(boards)
    return np.argsort(~free, axis=1, kind="stable")[:, : int(free[0].sum())]


def _batch(
    buckets: Buckets, boards: np.ndarray, hands: np.ndarray, weights: np.ndarray, street: int, device: str,
    half: bool = False,
) -> Batch:  # fmt: skip
    """Boards of a street, whose pairs of hands are weighted; `wins` only on the last street."""
    cards = buckets.cards
    count, last = hands.shape[1], street == cards.streets - 1
    size = count + -count % PADDED
    held = moved(cards.held[hands], device)
    ranks = moved(np.take_along_axis(cards.values(boards), hands, 1), device) if last else None
    shares = moved(weights.astype(np.float32), device)
    if half:
        meets, wins = compared(held, ranks, True)
    else:
        meets = torch.zeros(len(boards), size, size, device=device)
        wins = torch.zeros_like(meets) if last else meets
        for start in range(0, len(boards), AT_ONCE):
            part = slice(start, start + AT_ONCE)
            meeting, winning = compared(held[part], None if ranks is None else ranks[part])
            meets[part] = meeting * shares[part, None, None]
            if winning is not None:
                wins[part] = winning * shares[part, None, None]
    by_street = []
    for each in range(street + 1):
        found = np.take_along_axis(buckets.of(boards[:, : cards.dealt[each]], each), hands, 1)
        by_street.append(moved(np.pad(found, ((0, 0), (0, size - count))).astype(np.int32), device))
    return Batch(by_street, meets if wins is None else wins, meets, count, shares if half else None)


def boards_below(cards: Cards, upper: int) -> int:
    """The number of boards of the last street below some boards of the street before, at most."""
    if not cards.dealt[-2]:
        return len(cards.classes(cards.dealt[-1])[0])
    return upper * comb(cards.deck - cards.dealt[-2], cards.dealt[-1] - cards.dealt[-2])


def matrices_bytes(cards: Cards, upper: int) -> float:
    """Memory of the matrices of pairs of hands on those boards."""
    hands = comb(cards.deck - cards.dealt[-1], cards.hole)
    return 8.0 * boards_below(cards, upper) * (hands + -hands % PADDED) ** 2
