"""Local best response (Lisý and Bowling 2017): an opponent who knows the player's policy and looks one move ahead.

It keeps the player's range, a weight per hand, updated by the probabilities of the moves that were made. At its turn it
takes the best of three actions, as if both only checked or called from then on. With the pot P, c to call, a raise of
b, f the share of the range that folds to it, w the equity of its own hand against the range and w' against the part
that doesn't fold:

    fold 0,    call  w·P - (1-w)·c,    raise  f·P + (1-f)·(w'·(P+b) - (1-w')·(c+b)).

A player that draws one of several strategies for each game, as SD-CFR does, is to its opponents the mixture of these:
each counts by the probability that it was drawn and made the moves so far. Which one was drawn is not known.

Its winnings are a lower bound of the player's exploitability.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from ..core.names import BadInput
from ..games import CHANCE, Game, full_name, legal_actions, positions
from ..games.holdem import Holdem
from ..games.holdem.ranges import all_hands, boards_to_come, equities, masks
from ..games.holdem.state import CALL, DEALT_BY, FOLD, HIDDEN, HOLE, RAISE, first_to_move, moves_made, nth_move
from ..games.records import Record
from ..players import label, make_for
from ..search.advice import Advice
from .play import as_game, labels, play_game

BOARDS = 300  # sampled to compute equities, where more may come
NAME = "lbr"


class LocalBestResponse:
    """A player that exploits an opponent with `action_probs`."""

    advice: Advice | None = None

    def __init__(self, opponent: Any, boards: int = BOARDS) -> None:
        self.opponent, self.boards = opponent, boards
        self.weights = np.asarray(getattr(opponent, "draw_weights", [1.0]), float)
        self.game: Any = None

    def begin(self, game: Game, seat: int, seed: int) -> None:
        if self.game != game:
            self.hands = all_hands(game)
            self.cards = masks(self.hands)
            self.before_flop: dict[tuple[int, ...], np.ndarray] = {}  # own hand -> equities
        self.game, self.seat, self.other = game, seat, 1 - seat
        self.generator = np.random.default_rng(seed)
        # [strategies, hands]: the probability to draw a strategy, times that of its moves so far with each hand.
        self.reach = self.weights[:, None] * np.ones(len(self.hands))
        self.followed = 0  # moves of the hand that the range accounts for
        self.street = -1
        self.asked: dict[int, np.ndarray] = {}  # line -> the opponent's probabilities there

    def move(self, view: Any) -> int:
        self.look(view)
        seat, other, legal = self.seat, self.other, legal_actions(self.game, view)
        pot, to_call = int(view.paid.sum()), int(view.paid[other] - view.paid[seat])
        wins = self.wins(self.range)
        values = {FOLD: 0.0, CALL: wins * pot - (1 - wins) * to_call}
        if RAISE in legal:
            after = view.copy()
            self.game.play(after, RAISE)
            bet = int(after.paid[seat] - view.paid[other])
            staying = (self.reach * (1 - self.probs(after)[:, :, FOLD])).sum(axis=0)
            folds, wins = 1 - staying.sum() / self.range.sum(), self.wins(staying)
            values[RAISE] = folds * pot + (1 - folds) * (wins * (pot + bet) - (1 - wins) * (to_call + bet))
        return max(legal, key=lambda action: values[action])

    @property
    def range(self) -> np.ndarray:
        """The weight of each of the opponent's hands, [hands] f8."""
        return self.reach.sum(axis=0)

    def look(self, view: Any) -> None:
        """Update the range, and the equity of the own hand against each of its hands, to a view."""
        own = view.hole[self.seat].astype(np.int64)
        board = view.board[: int(view.dealt) - HOLE].astype(np.int64)
        self.free = self.cards & (masks(own) | masks(board)) == 0  # hands that the opponent may hold
        self.narrow(np.ones(self.reach.shape))
        for now, action in list(moves_to(self.game, view))[self.followed :]:
            if self.game.turn(now) == self.other:
                self.narrow(self.probs(now)[:, :, action])
            self.followed += 1
        if self.street != view.street:
            self.street = int(view.street)
            self.equities = self.equities_of(own, board)

    def narrow(self, probs: np.ndarray) -> None:
        """Update the range by the probabilities of a move; after a move of probability 0, reset it to all hands."""
        changed = np.where(self.free, self.reach * probs, 0.0)
        self.reach = changed if changed.any() else self.weights[:, None] * self.free

    def wins(self, weights: np.ndarray) -> float:
        """Return the equity of the own hand against a range; 0 against an empty one."""
        total = weights.sum()
        return float(weights @ self.equities / total) if total > 0 else 0.0

    def probs(self, state: Any) -> np.ndarray:
        """Return [strategies, hands, 3] f8: the probabilities of the opponent's moves with each hand, at its turn.

        They are 0 with a hand that a strategy can't hold here.
        """
        line = int(state.line)
        if line not in self.asked:
            strategy, hand = np.nonzero(self.free & (self.reach > 0))
            views = np.zeros(len(hand), self.game.state)
            views[:] = state
            views["hole"][:, self.seat] = HIDDEN
            views["hole"][:, self.other] = self.hands[hand]
            legal = legal_actions(self.game, state)
            begun = (strategy,) if hasattr(self.opponent, "drawn") else ()
            found = np.zeros((*self.reach.shape, 3))
            found[strategy[:, None], hand[:, None], legal] = self.opponent.action_probs(views, *begun)[:, : len(legal)]
            self.asked[line] = found
        return self.asked[line]

    def equities_of(self, own: np.ndarray, board: np.ndarray) -> np.ndarray:
        hand = tuple(own.tolist())
        if len(board) == 0 and hand in self.before_flop:
            return self.before_flop[hand]
        # The same boards whenever it holds this hand before the flop, so that results don't depend on earlier games.
        generator = self.generator if len(board) else np.random.default_rng(hand)
        boards = boards_to_come(self.game, hand, board.tolist(), self.boards, generator)
        found, counts = np.zeros(len(self.hands)), np.zeros(len(self.hands))
        equities(own, masks(own), self.hands, self.cards, boards, masks(boards), counts, found)
        if len(board) == 0:
            self.before_flop[hand] = found
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


def lbr_games(game: str | Game, players: Sequence[Any], seed: int) -> Callable[[int], Record]:
    """Return the function that plays a game by its number: local best response, named first, against a player."""
    rules = as_game(game)
    made = [LocalBestResponse(adviser(players[1], rules)), make_for(players[1], rules)]
    return partial(play_game, rules, made, labels(players), seed)


def adviser(player: Any, game: Game) -> Any:
    """Make a player of hold'em whose policy with every hand is known."""
    if not isinstance(game, Holdem):
        raise BadInput(f"local best response is for holdem, not for {full_name(game)}")
    made = make_for(player, game)
    if not hasattr(made, "action_probs"):
        raise BadInput(f"{label(player)} gives no probabilities for every hand, which local best response needs")
    if hasattr(made, "drawn") and not hasattr(made, "draw_weights"):
        raise BadInput(f"{label(player)} has `drawn` without `draw_weights`, which local best response needs")
    return made
