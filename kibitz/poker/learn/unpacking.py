"""Packed views -> encodings, by torch, on the device that fits the networks, so that minibatches need no transfer.

The cards of a hold'em hand are set one by one. The encoding of the bets depends on the sequence of moves alone, and
there are some thousand sequences: they are encoded once, and looked up.
"""

from collections.abc import Callable
from itertools import permutations
from typing import Any

import numpy as np
import torch

from ...games import OVER, legal_actions, positions
from ...games.game import CHANCE
from ...games.protocol import of_a_game
from ..rules.encoding import DECK, HAND_CATEGORY, IN_RUN, MADE, PACKED, RANKS, SUITED, by_street
from ..rules.state import DEALT_BY, first_to_move, max_chips

Unpack = Callable[[torch.Tensor], torch.Tensor]
CARDS_AT = PACKED.fields["cards"][1]  # type: ignore[index]


def streets(views: torch.Tensor) -> torch.Tensor:
    """Return the street of each packed view, [rows] i8 from 0, on the device of the views."""
    later = views[:, CARDS_AT + 4 : CARDS_AT + 7].contiguous().view(torch.int8)  # the flop's last card, turn, river
    return (later >= 0).sum(dim=1)


def unpacker(game: Any, device: torch.device, shuffle: torch.Generator | None) -> Unpack:
    """As `Packing.unpacker`; `shuffle` permutes the suits of hands at random."""
    width = game.facts.encoding
    lines, bets = (torch.from_numpy(each).to(device) for each in encoded_lines(game))
    places = torch.from_numpy(card_places(game)).to(device)
    bets_at = width - bets.shape[1]
    runs = torch.from_numpy(IN_RUN.astype(np.float32)).to(device)
    orders = torch.tensor([(*order, *range(game.suits, 4)) for order in permutations(range(game.suits))], device=device)

    def unpack(views: torch.Tensor) -> torch.Tensor:
        line = views[:, :8].contiguous().view(torch.int64)[:, 0]
        cards = views[:, CARDS_AT : CARDS_AT + 7].contiguous().view(torch.int8).long()
        if shuffle is not None:
            drawn = torch.randint(len(orders), (len(views),), generator=shuffle, device=device)
            cards = torch.where(cards < 0, cards, cards // 4 * 4 + orders[drawn].gather(1, cards.clip(min=0) % 4))
        out = torch.zeros((len(views), width + 1), device=device)  # missing cards go to the last column
        out.scatter_(1, places.gather(0, cards + 1), 1.0)
        out[:, bets_at:width] = bets[torch.searchsorted(lines, line)]
        if game.inputs == HAND_CATEGORY:
            out[:, width - MADE : width] = made(cards, runs)
        return out[:, :width]

    return unpack


def made(cards: torch.Tensor, runs: torch.Tensor) -> torch.Tensor:
    """Hand categories [rows, MADE] f4 of cards [rows, 7], -1 where there is none; as `holdem.encoding.read`."""
    count, ones = len(cards), torch.ones(cards.shape, device=cards.device)
    rank, suit = torch.where(cards < 0, RANKS, cards // 4), torch.where(cards < 0, 4, cards % 4)
    ranks = torch.zeros((count, RANKS + 1), device=cards.device).scatter_add_(1, rank, ones)[:, :RANKS]
    suits = torch.zeros((count, 5), device=cards.device).scatter_add_(1, suit, ones)
    there = (ranks > 0).float() @ runs
    together = torch.where(cards[:, :2] < 0, 0, suits.gather(1, suit[:, :2]))
    own = torch.zeros((count, RANKS + 1), device=cards.device)
    own.scatter_(1, torch.where(together >= 4, rank[:, :2], RANKS), 1.0)
    most = together.amax(1, keepdim=True)
    many = torch.arange(2, 2 + SUITED, device=cards.device)
    parts = [ranks >= 2, ranks >= 3, ranks >= 4, there >= 4, there >= 5, most >= many]
    return torch.cat([*(part.float() for part in parts), own[:, :RANKS]], dim=1)


def card_places(game: Any) -> np.ndarray:
    """[card + 1, 7] i8: the column of the encoding that each of seven cards sets; `facts.encoding` for none."""
    found = np.full((DECK + 1, 7), game.facts.encoding)
    for card in range(DECK):
        for i in range(7):
            if not by_street(game):
                found[card + 1, i] = card + (DECK if i < 2 else 0)
            elif card // 4 < game.ranks and card % 4 < game.suits:
                part = 0 if i < 2 else max(i - 3, 1)
                if part < game.streets:
                    found[card + 1, i] = (part * game.ranks + card // 4) * game.suits + card % 4
    return found


@of_a_game
def encoded_lines(game: Any) -> tuple[np.ndarray, np.ndarray]:
    """All sequences of moves that end at a decision, ascending, and the part of the encoding that depends on them."""
    cards = game.streets * game.ranks * game.suits if by_street(game) else 2 * DECK
    encoding = np.zeros(game.facts.encoding, np.float32)
    todo, found = [positions(game)[0]], {}
    while todo:
        state = todo.pop()
        if game.turn(state) == CHANCE:  # cards don't matter here: mark them as dealt
            if state.street and min(state.paid) >= max_chips(game):
                continue
            state.dealt, state.to_move = DEALT_BY[int(state.street)], first_to_move(int(state.street))
        game.observe(state, int(game.turn(state)), encoding)
        found[int(state.line)] = encoding[cards:].copy()
        for action in legal_actions(game, state):
            after = state.copy()
            game.play(after, action)
            if game.turn(after) != OVER:
                todo.append(after)
    lines = np.array(sorted(found), np.int64)
    return lines, np.stack([found[line] for line in lines.tolist()])
