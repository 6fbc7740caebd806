"""AIVAT: estimates of what a player wins in poker that vary less than the payoffs, and are unbiased.

The policy of a player with `action_probs` is known with every hand it might have held. Given the bets, the board and
the other player's hand, its own hand is distributed as the deal times the probabilities of its moves with that hand;
where both policies are known, so is the pair of hands. The payoff of a game is replaced by its mean over these hands:
imaginary observations (Bowling, Johanson, Burch and Szafron 2008). Then luck is subtracted (Burch, Schmid, Moravčík,
Morrill and Bowling 2018): at each move of a known policy, and at each deal to the board, the value of what happened is
compared to its expectation,

    estimate = E[payoff | end] + sum over these events of  E[value | before] - value after.

The terms have mean 0 whatever the values are. Here the value of a position is what a showdown would bring if nobody bet
any more. Where many boards may come, as before the turn in hold'em, they are sampled, and the luck of the next deal is
not subtracted.
"""

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from functools import lru_cache
from itertools import combinations
from math import comb
from typing import Any

import numpy as np

from ..core.names import BadInput
from ..core.pool import Places, spread
from ..core.progress import SILENT, Reporter
from ..core.workers import START
from ..games import CHANCE, Game, legal_actions, positions, view_of
from ..games.leduc import Leduc
from ..games.records import Record
from ..play.play import as_game, labels, player_at, seed_of, shared
from ..play.players import make_for
from ..play.statistics import Reduced, summary
from ..play.variance import VarianceReduction, variance_reduction
from .rules import Holdem
from .rules.ranges import showdown
from .solve.cards import Cards, cards_of

BLOCK = 100  # games per task
MOST = 60  # boards to come; more are sampled
KEPT = 500  # probabilities at positions that are kept for further games
FOLD = 0  # the same number in both games

Task = tuple[tuple[int, tuple[int, ...]], ...]  # numbers of games, with their actions


def known_policies(game: Game, players: Sequence[Any]) -> list[str]:
    """The names of those players whose policies are known.

    Raises:
        BadInput: There is none.
    """
    names = labels(players)
    known = [name for name, each in zip(names, players, strict=True) if hasattr(make_for(each, game), "action_probs")]
    if not known:
        both = " and ".join(names)
        raise BadInput(f"{both} give no probabilities for every hand: to reduce the variance, one of them must")
    return known


def reduced(
    game: Game,
    players: Sequence[Any],
    records: Sequence[Record],
    processes: Places | None = None,
    report: Reporter = SILENT,
    alone: float = START,
) -> Reduced:
    """The mean payoff of the first player of a match, from estimates in place of the payoffs.

    Args:
        game, players: Those of the match.
        records: Its games. The estimates depend on nothing else.
        processes, report, alone: As for `match`.
    """
    known = known_policies(game, players)
    tasks: list[Task] = [
        tuple((record.number, tuple(record.actions)) for record in records[start : start + BLOCK])
        for start in range(0, len(records), BLOCK)
    ]
    given, processes = shared(game, players, processes)
    found: dict[int, float] = {}
    with closing(spread(estimates, (given, list(players), records[0].seed), tasks, processes, report, alone)) as parts:
        for part in parts:
            found |= part
            report.progress(len(found), len(records), "reducing the variance")
    ends = [replace(each, payoffs=[found[each.number], -found[each.number]]) for each in records]
    result = summary(ends)
    return Reduced(result.payoff, result.of_pairs, known)


@variance_reduction("aivat")
class Aivat(VarianceReduction):
    games = "leduc and holdem"

    def plays(self, game: Game) -> bool:
        return isinstance(game, Leduc | Holdem)

    def known_policies(self, game: Game, players: Sequence[Any]) -> list[str]:
        return known_policies(game, players)

    def reduced(
        self, game: Game, players: Sequence[Any], records: Sequence[Record], processes: Places | None, report: Reporter
    ) -> Reduced:
        return reduced(game, players, records, processes, report)


def estimates(game: str | Game, players: Sequence[Any], seed: int) -> Callable[[Task], dict[int, float]]:
    """Return the function from games to estimates of the first seat's payoff: the part of each worker process."""
    rules = as_game(game)
    estimator = Estimator(rules, [make_for(each, rules) for each in players], labels(players), seed)

    def of(task: Task) -> dict[int, float]:
        return {number: estimator.estimate(number, actions) for number, actions in task}

    return of


# ---------------------------------------------------------------- all hands at once


class Showdowns:
    """Showdowns of all hands after a board, over the boards to come: all of them, or a sample."""

    def __init__(self, cards: Cards, board: tuple[int, ...]) -> None:
        self.cards = cards
        rest = np.setdiff1d(np.arange(cards.deck), board)
        missing = cards.dealt[-1] - len(board)
        boards = comb(len(rest), missing)
        self.exact = boards <= MOST
        if self.exact:
            more = np.array(list(combinations(rest.tolist(), missing)), np.int64).reshape(boards, missing)
        else:
            random = np.random.default_rng([len(board), *board])
            boards, more = MOST, random.permuted(np.tile(rest, (MOST, 1)), axis=1)[:, :missing]
        complete = np.hstack([np.tile(np.array(board, np.int64), (boards, 1)), more])
        self.values = cards.values(complete)
        self.free = (self.values >= 0).astype(float)
        self.order = np.argsort(self.values, axis=1, kind="stable")
        # of the boards to come, the share that is possible with two given hands
        self.count = boards * comb(len(rest) - 2 * cards.hole, missing) / comb(len(rest), missing)

    def balance(self, weights: np.ndarray) -> np.ndarray:
        """[hands]: the weight of the hands that each hand beats, minus that of those that beat it; a mean over boards.

        Hands with a card in common don't meet.
        """
        weights = weights * self.free
        if self.cards.hole == 1:  # equal hands are ties
            found = np.einsum("bij,bj->bi", np.sign(self.values[:, :, None] - self.values[:, None]), weights)
        else:
            found = np.zeros(self.free.shape)
            by_card = np.zeros(self.cards.deck)
            showdown(self.cards.hands, self.values, self.order, weights, by_card, found)
        return (found * self.free).sum(axis=0) / self.count


def meeting(cards: Cards, weights: np.ndarray) -> np.ndarray:
    """[hands]: the total weight of the hands that share no card with each hand."""
    by_card = np.zeros(cards.deck)
    for column in cards.hands.T:
        by_card += np.bincount(column, weights, cards.deck)
    return weights.sum() - by_card[cards.hands].sum(axis=1) + (cards.hole - 1) * weights


# ---------------------------------------------------------------- estimates


class Estimator:
    """Estimates the payoffs of the games of a match between these players."""

    def __init__(
        self, game: Any, players: Sequence[Any], names: Sequence[str], seed: int, corrections: bool = True
    ) -> None:
        """`corrections`: whether luck of moves and deals is subtracted, or only imaginary observations are used."""
        self.game, self.players, self.names, self.seed, self.corrections = game, players, names, seed, corrections
        self.cards = cards_of(game)
        self.known = [hasattr(each, "action_probs") for each in players]
        self.showdowns = lru_cache(16)(lambda board: Showdowns(self.cards, board))
        self.asked: dict[tuple[int, ...], np.ndarray] = {}

    def estimate(self, number: int, actions: Sequence[int]) -> float:
        """An unbiased estimate of the first seat's payoff, from the record of game `number`."""
        game, cards = self.game, self.cards
        order = [player_at(seat, number, 2) for seat in range(2)]
        for seat, player in enumerate(order):
            if self.known[player]:
                self.players[player].begin(game, seat, seed_of(self.seed, number, player))
        unknown = next((seat for seat in range(2) if not self.known[order[seat]]), None)
        reach = np.ones((2, len(cards.hands)))  # the probability of a seat's moves so far, with each hand
        board: tuple[int, ...] = ()
        state, luck = positions(game)[0], 0.0
        for action in actions:
            turn = game.turn(state)
            if turn != CHANCE:
                legal = legal_actions(game, state)
                place = legal.index(action)
                if self.known[order[turn]]:
                    moves = reach[turn, :, None] * self.probs(order[turn], state, turn, board)  # [hands, actions]
                    if not moves[:, place].any():
                        name, game_number = self.names[order[turn]], number + 1
                        raise BadInput(f"{name} never plays as in game {game_number}: its action_probs differ")
                    if self.corrections:
                        luck += self.luck_of_move(state, turn, legal, place, moves, reach[1 - turn], board)
                    reach[turn] = moves[:, place]
            game.play(state, action)
            if turn == CHANCE and game.turn(state) != CHANCE:
                hands, boards = cards.read(np.array([state], game.state), np.array([unknown or 0]))
                dealt = tuple(boards[0, : int(state.dealt) - 2 * cards.hole].tolist())
                if not dealt and unknown is not None:
                    reach[unknown] = np.arange(len(cards.hands)) == hands[0]
                before, board = board, dealt
                after = reach * cards.free(np.array(dealt, np.int64))
                if dealt and self.corrections and self.showdowns(before).exact:
                    change = self.equity(after, board) - self.equity(reach, before)
                    luck += cards.stake(state) * change
                reach = after
        if turn != CHANCE and action == FOLD:
            return float(game.payoff(state, 0)) - luck
        return cards.stake(state) * self.equity(reach, board) - luck

    def equity(self, reach: np.ndarray, board: tuple[int, ...]) -> float:
        """The probability that the first seat wins a showdown, minus that it loses it, if nobody bets any more."""
        return float(reach[0] @ self.showdowns(board).balance(reach[1]) / (reach[0] @ meeting(self.cards, reach[1])))

    def luck_of_move(
        self,
        state: Any,
        turn: int,
        legal: list[int],
        place: int,
        moves: np.ndarray,
        other: np.ndarray,
        board: tuple[int, ...],
    ) -> float:
        """The value, for the first seat, of the move that was made, minus the mean over those that might have been.

        Args:
            moves: [hands, actions]: the probability of the mover's moves so far and of each action, with each hand.
            other: [hands]: the same of the other seat's moves so far.
        """
        weights = meeting(self.cards, other) @ moves
        won = self.showdowns(board).balance(other) @ moves
        for i, action in enumerate(legal):
            after = state.copy()
            self.game.play(after, action)
            if action == FOLD:
                won[i] = weights[i] * self.game.payoff(after, turn)
            else:
                won[i] *= self.cards.stake(after)
        luck = won[place] / weights[place] - won.sum() / weights.sum()
        return float(luck if turn == 0 else -luck)

    def probs(self, player: int, state: Any, turn: int, board: tuple[int, ...]) -> np.ndarray:
        """[hands, actions]: the policy of a player with each hand; 0 with hands that share a card with the board."""
        one = self.players[player]
        drawn = getattr(one, "drawn", 0)
        key = player, drawn, int(state.line), *board
        if key not in self.asked:
            if len(self.asked) == KEPT:
                self.asked.clear()
            hands = np.flatnonzero(self.cards.free(np.array(board, np.int64)))
            views = np.zeros(len(hands), self.game.state)
            views[:] = view_of(self.game, state, turn)
            self.cards.write(views, turn, hands)
            begun = (np.full(len(hands), drawn),) if hasattr(one, "drawn") else ()
            count = len(legal_actions(self.game, state))
            found = np.zeros((len(self.cards.hands), count))
            found[hands] = np.asarray(one.action_probs(views, *begun), float)[:, :count]
            self.asked[key] = found
        return self.asked[key]
