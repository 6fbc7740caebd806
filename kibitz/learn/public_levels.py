"""All boards of the last street below boards of the street before it, each class of boards by one of its own.

A street before the last is walked on the upper boards, the last one on the lower boards. Of the cards that can come
last, those that a permutation of suits makes equal, given the upper board, are visited once: values that come up from
below are weighted by the number of boards, and averaged over those permutations.
"""

from dataclasses import dataclass
from math import comb

import numpy as np
import torch

from ..search.public_chance.buckets import Buckets
from ..search.public_chance.cards import Cards
from .public_best_response import next_boards
from .public_streets import PADDED, Batch, Pair, compared

AT_ONCE = 64  # boards whose hands are compared at once


@dataclass
class Levels:
    """Upper boards, and all boards below them. Hands of a board are numbered by their place on it."""

    boards: np.ndarray  # [upper boards, cards]
    hands: np.ndarray  # [upper boards, hands]: the possible hands of each
    upper: Batch  # `meets` counts a pair of hands by the share of lower boards that it meets on; `wins` is not used
    lower: Batch  # `wins` and `meets` are weighted by the share of lower boards that each stands for
    parents: torch.Tensor  # [lower boards]: the upper board of each
    places: torch.Tensor  # [lower boards, hands]: the place of each hand on its upper board
    pairs: float  # pairs of hands on an upper board, each counted by the share of lower boards that it meets on
    orders: list[torch.Tensor]  # by upper board: [permutations, hands], the place of each hand's image on it

    def start(self) -> Pair:
        """The reach of all hands before the first bet."""
        boards, hands = self.upper.buckets[0].shape
        ones = torch.zeros(boards, 1, hands, device=self.places.device)
        ones[:, :, : self.upper.hands] = 1.0
        return ones, ones

    def down(self, reach: torch.Tensor) -> torch.Tensor:
        """From [upper boards, ways, hands] to [lower boards, ways, hands], which are filled up."""
        ways = reach.shape[1]
        places = self.places[:, None].expand(-1, ways, -1)
        found = reach.new_zeros(len(self.parents), ways, self.lower.meets.shape[1])
        found[..., : self.lower.hands] = reach[self.parents].gather(2, places)
        return found

    def up(self, values: torch.Tensor) -> torch.Tensor:
        """The sum of values, [lower boards, ways, hands], over the lower boards of each upper board."""
        boards, hands = self.upper.buckets[0].shape
        ways = values.shape[1]
        where = self.parents[:, None] * hands + self.places  # [lower boards, hands]
        found = values.new_zeros(ways, boards * hands)
        found.index_add_(1, where.reshape(-1), values[..., : self.lower.hands].transpose(0, 1).reshape(ways, -1))
        found = found.view(ways, boards, hands).transpose(0, 1).contiguous()
        for board, orders in enumerate(self.orders):
            if len(orders) > 1:
                found[board, :, : self.upper.hands] = found[board][:, orders].mean(1)
        return found


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


def levels(buckets: Buckets, boards: np.ndarray, device: str) -> Levels:
    """The upper boards, [boards, cards], with all boards below them."""
    cards = buckets.cards
    street, new = cards.streets - 2, cards.dealt[-1] - cards.dealt[-2]
    deck = cards.deck - cards.dealt[street]
    lower, weights, parents, groups = [], [], [], []
    for number, board in enumerate(boards):
        groups.append(same_streets(cards, board, street))
        dealt = next_boards(cards, board, groups[-1], new)
        lower += [each.board for each in dealt]
        weights += [len(each.images) / comb(deck, new) for each in dealt]
        parents += [number] * len(dealt)
    above = _hands(cards, boards)
    below = _hands(cards, np.stack(lower))
    place = np.zeros((len(boards), len(cards.hands)), np.int64)
    np.put_along_axis(place, above, np.arange(above.shape[1])[None].repeat(len(boards), 0), 1)
    orders = [place[number][cards.hand_orders[list(group)][:, above[number]]] for number, group in enumerate(groups)]
    share = comb(deck - 2 * cards.hole, new) / comb(deck, new)
    upper = _batch(buckets, boards, above, np.full(len(boards), share), street, device)
    return Levels(
        boards,
        above,
        upper,
        _batch(buckets, np.stack(lower), below, np.array(weights), street + 1, device),
        torch.tensor(parents, device=device),
        torch.from_numpy(place[np.array(parents)[:, None], below]).to(device),
        comb(deck, cards.hole) * comb(deck - cards.hole, cards.hole) * share,
        [torch.from_numpy(each).to(device) for each in orders],
    )


def _hands(cards: Cards, boards: np.ndarray) -> np.ndarray:
    """[boards, hands]: the hands that are possible on each board."""
    free = np.stack([cards.free(board) for board in boards])
    return np.argsort(~free, axis=1, kind="stable")[:, : int(free[0].sum())]


def _batch(
    buckets: Buckets, boards: np.ndarray, hands: np.ndarray, weights: np.ndarray, street: int, device: str
) -> Batch:
    """Boards of a street, whose pairs of hands are weighted; `wins` only on the last street."""
    cards = buckets.cards
    count, last = hands.shape[1], street == cards.streets - 1
    size = count + -count % PADDED
    held = torch.tensor(cards.held, device=device)
    meets = torch.zeros(len(boards), size, size, device=device)
    wins = torch.zeros_like(meets) if last else meets
    scale = torch.tensor(weights, dtype=torch.float32, device=device)[:, None, None]
    for start in range(0, len(boards), AT_ONCE):
        part = slice(start, start + AT_ONCE)
        ranks = None
        if last:
            ranks = torch.from_numpy(np.take_along_axis(cards.values(boards[part]), hands[part], 1)).to(device)
        meeting, winning = compared(held[torch.from_numpy(hands[part]).to(device)], ranks)
        meets[part] = meeting * scale[part]
        if winning is not None:
            wins[part] = winning * scale[part]
    by_street = []
    for each in range(street + 1):
        found = np.take_along_axis(buckets.of(boards[:, : cards.dealt[each]], each), hands, 1)
        by_street.append(torch.from_numpy(np.pad(found, ((0, 0), (0, size - count))).astype(np.int32)).to(device))
    return Batch(by_street, wins, meets, count)


def boards_below(cards: Cards, upper: int) -> int:
    """The number of boards of the last street below some boards of the street before, at most."""
    if not cards.dealt[-2]:
        return len(cards.classes(cards.dealt[-1])[0])
    return upper * comb(cards.deck - cards.dealt[-2], cards.dealt[-1] - cards.dealt[-2])


def matrices_bytes(cards: Cards, upper: int) -> float:
    """Memory of the matrices of pairs of hands on those boards."""
    hands = comb(cards.deck - cards.dealt[-1], cards.hole)
    return 8.0 * boards_below(cards, upper) * (hands + -hands % PADDED) ** 2
