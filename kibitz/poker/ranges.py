"""Range tracking in hold'em: the weights of all hands that a seat may hold, from its moves and a known policy.

A player that draws one of several strategies for each game, as SD-CFR does, is to its opponents the mixture of these:
each counts by the probability that it was drawn and made the moves so far. Which one was drawn is not known.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from ..games import CHANCE, legal_actions, positions
from ..games.public_cards import masks
from .rules.ranges import all_hands
from .rules.state import DEALT_BY, HIDDEN, HOLE, first_to_move, moves_made, nth_move


class LastMove(NamedTuple):
    """A move of a range's seat, with what was known before it."""

    state: Any  # the position as both seats saw it
    action: int
    reach: np.ndarray  # [strategies, hands] f8
    probs: np.ndarray  # [strategies, hands, 3] f8


class HandRange:
    """The range of a seat that plays by a policy: a player with `action_probs`, or None for no assumption."""

    def __init__(self, game: Any, player: Any) -> None:
        self.game, self.player = game, player
        self.hands = all_hands(game)
        self.cards = masks(self.hands)
        self.weights = np.asarray(getattr(player, "draw_weights", [1.0]), float)

    def begin(self, seat: int) -> None:
        """Begin a new hand of this seat, with all hands equally likely."""
        self.seat = seat
        # [strategies, hands]: the probability to draw a strategy, times that of its moves so far with each hand.
        self.reach = self.weights[:, None] * np.ones(len(self.hands))
        self.followed = 0  # moves of the hand that the range accounts for
        self.surprised = False  # whether a move had probability 0 with every hand, so that the range was reset
        self.last: LastMove | None = None
        self.asked: dict[int, np.ndarray] = {}  # line -> the probabilities there

    @property
    def range(self) -> np.ndarray:
        """The weight of each hand, [hands] f8."""
        return self.reach.sum(axis=0)

    def look(self, view: Any, known: int) -> None:
        """Update the range to a view; `known` are cards that the seat can't hold, as bits."""
        self.free = self.cards & known == 0
        self.narrow(np.ones(self.reach.shape))
        for now, action in list(moves_to(self.game, view))[self.followed :]:
            if self.game.turn(now) == self.seat and self.player is not None:
                self.last = LastMove(now, action, self.reach, self.probs(now))
                self.narrow(self.last.probs[:, :, action])
            self.followed += 1

    def narrow(self, probs: np.ndarray) -> None:
        """Update the range by the probabilities of a move; after a move of probability 0, reset it to all hands."""
        changed = np.where(self.free, self.reach * probs, 0.0)
        self.surprised |= not changed.any()
        self.reach = changed if changed.any() else self.weights[:, None] * self.free

    def probs(self, state: Any) -> np.ndarray:
        """Return [strategies, hands, 3] f8: the probabilities of the seat's moves with each hand, at its turn.

        They are 0 with a hand that a strategy can't hold here.
        """
        line = int(state.line)
        if line not in self.asked:
            self.asked[line] = self.ask(state, self.free & (self.reach > 0))
        return self.asked[line]

    def ask(self, state: Any, which: np.ndarray) -> np.ndarray:
        """The same for some hands, as [strategies, hands] bool."""
        strategy, hand = np.nonzero(which)
        views = np.zeros(len(hand), self.game.state)
        views[:] = state
        views["hole"][:, 1 - self.seat] = HIDDEN
        views["hole"][:, self.seat] = self.hands[hand]
        legal = legal_actions(self.game, state)
        drawn = (strategy,) if hasattr(self.player, "drawn") else ()
        found = np.zeros((*which.shape, 3))
        found[strategy[:, None], hand[:, None], legal] = self.player.action_probs(views, *drawn)[:, : len(legal)]
        return found


def moves_to(game: Any, view: Any) -> Iterator[tuple[Any, int]]:
    """Yield each turn of a seat on the path to a view, as both could see it, and the move that was made."""
    now, made = positions(game)[0], moves_made(view)
    for i in range(made):
        if now.to_move == CHANCE:
            street = int(now.street)
            now.dealt = DEALT_BY[street]
            now.board[: now.dealt - HOLE] = view.board[: now.dealt - HOLE]
            now.to_move = first_to_move(street)
        action = int(nth_move(view.line, made, i))
        yield now.copy(), action
        game.play(now, action)
