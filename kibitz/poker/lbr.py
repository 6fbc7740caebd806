"""Local best response (Lisý and Bowling 2017): an opponent who knows the player's policy and looks one move ahead.

It keeps the player's range (`poker.ranges`), updated by the probabilities of the moves that were made. At its
turn it takes the best of three actions, as if both only checked or called from then on. With the pot P, c to call, a
raise of b, f the share of the range that folds to it, w the equity of its own hand against the range and w' against the
part that doesn't fold:

    fold 0,    call  w·P - (1-w)·c,    raise  f·P + (1-f)·(w'·(P+b) - (1-w')·(c+b)).

Its winnings are a lower bound of the player's exploitability.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from ..core.names import BadInput
from ..games import Game, full_name, legal_actions
from ..games.public_cards import masks
from ..games.records import Record
from ..play.measures import Measure, measure
from ..play.play import labels, play_game
from ..play.players import label, make_for
from ..search.advice import Advice
from .ranges import HandRange
from .rules import Holdem
from .rules.ranges import boards_to_come, equities
from .rules.state import CALL, FOLD, HOLE, RAISE

BOARDS = 300  # sampled to compute equities, where more may come
NAME = "lbr"


class LocalBestResponse:
    """A player that exploits an opponent with `action_probs`."""

    advice: Advice | None = None

    def __init__(self, opponent: Any, boards: int = BOARDS) -> None:
        self.opponent, self.boards = opponent, boards
        self.game: Any = None

    def begin(self, game: Game, seat: int, seed: int) -> None:
        if self.game != game:
            self.theirs = HandRange(game, self.opponent)
            self.before_flop: dict[tuple[int, ...], np.ndarray] = {}  # own hand -> equities
        self.game, self.seat, self.other = game, seat, 1 - seat
        self.generator = np.random.default_rng(seed)
        self.theirs.begin(self.other)
        self.street = -1

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
            staying = (self.theirs.reach * (1 - self.theirs.probs(after)[:, :, FOLD])).sum(axis=0)
            folds, wins = 1 - staying.sum() / self.range.sum(), self.wins(staying)
            values[RAISE] = folds * pot + (1 - folds) * (wins * (pot + bet) - (1 - wins) * (to_call + bet))
        return max(legal, key=lambda action: values[action])

    @property
    def range(self) -> np.ndarray:
        """The weight of each of the opponent's hands, [hands] f8."""
        return self.theirs.range

    def look(self, view: Any) -> None:
        """Update the range, and the equity of the own hand against each of its hands, to a view."""
        own = view.hole[self.seat].astype(np.int64)
        board = view.board[: int(view.dealt) - HOLE].astype(np.int64)
        self.theirs.look(view, masks(own) | masks(board))
        if self.street != view.street:
            self.street = int(view.street)
            self.equities = self.equities_of(own, board)

    def wins(self, weights: np.ndarray) -> float:
        """Return the equity of the own hand against a range; 0 against an empty one."""
        total = weights.sum()
        return float(weights @ self.equities / total) if total > 0 else 0.0

    def equities_of(self, own: np.ndarray, board: np.ndarray) -> np.ndarray:
        hand = tuple(own.tolist())
        if len(board) == 0 and hand in self.before_flop:
            return self.before_flop[hand]
        # The same boards whenever it holds this hand before the flop, so that results don't depend on earlier games.
        generator = self.generator if len(board) else np.random.default_rng(hand)
        boards = boards_to_come(self.game, hand, board.tolist(), self.boards, generator)
        hands, cards = self.theirs.hands, self.theirs.cards
        found, counts = np.zeros(len(hands)), np.zeros(len(hands))
        equities(own, masks(own), hands, cards, boards, masks(boards), counts, found)
        if len(board) == 0:
            self.before_flop[hand] = found
        return found


@measure(NAME)
class ByLocalBestResponse(Measure):
    about = "local best response, which plays games of hold'em: a lower bound"
    title = "local best response"

    @staticmethod
    def games(game: Game, players: Sequence[Any], seed: int) -> Callable[[int], Record]:
        """Return the function that plays a game by its number: local best response, named first, against a player."""
        made = [LocalBestResponse(adviser(players[1], game)), make_for(players[1], game)]
        return partial(play_game, game, made, labels(players), seed)


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
