"""Review of a finished game: what a player would have advised at each decision, and what each move cost.

The cost of a move is the value of the best move less the value of the move that was played, both by the same advice; a
policy without search is valued by its own play (`policy_values`). A cost is marked by its share of the range of payoffs
that searches scale to.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core.names import BadInput, at_least
from ..core.progress import SILENT, Reporter
from ..games import Game, legal_actions, load_stored, view_of
from ..games.records import Record
from ..players import default_player, explained, label, make_adviser
from ..search.advice import Advice
from .policy_values import with_values
from .statistics import html_table, text_table

# Marks and the smallest share of the payoff range that they begin at, as the marks of chess sites do.
MARKS = {"blunder": 0.15, "mistake": 0.10, "inaccuracy": 0.05}
HEAD = ["turn", "seat", "played", "value", "best", "value", "cost", "mark"]


@dataclass(frozen=True)
class ReviewedMove:
    """A decision of a game, with the advice on it."""

    turn: int  # of the game, from 1; chance outcomes count too
    seat: int
    view: Any  # what the seat saw
    action: int
    played: str  # the action as players write it
    advice: Advice
    best: str  # the best action, by value where it is known, else by probability
    best_action: int
    value: float  # expected payoff of the seat after the action that was played; NaN: unknown
    best_value: float  # and after the best one
    mark: str  # a word of MARKS, or empty

    @property
    def cost(self) -> float:
        """How much better the best move is; 0 where the played one is as good, NaN: unknown."""
        return max(self.best_value - self.value, 0.0) if not math.isnan(self.best_value - self.value) else math.nan

    @property
    def prob(self) -> float:
        """The probability with which the adviser plays the action."""
        return float(self.advice.policy[self.advice.actions == self.action][0])


@dataclass(frozen=True)
class Review:
    """All decisions of a game, or those of one seat. Prints as a table."""

    game: Game
    record: Record
    adviser: str
    moves: tuple[ReviewedMove, ...]  # without those where only one move was legal

    def total_cost(self, seat: int) -> float:
        """The sum of the known costs of a seat's moves; NaN where none is known."""
        costs = [move.cost for move in self.moves if move.seat == seat and not math.isnan(move.cost)]
        return float(sum(costs)) if costs else math.nan

    def costly(self) -> list[ReviewedMove]:
        """The marked moves, the costliest first."""
        return sorted((move for move in self.moves if move.mark), key=lambda move: -move.cost)

    def curve(self) -> list[dict[str, Any]]:
        """The value over moves, for a graph: turn, seat, its value before and after its move.

        In a zero-sum game of two seats `first` is the value after the move for the first seat; the last point is the
        result.
        """
        zero_sum = self.game.facts.seats == 2 and self.game.facts.zero_sum
        points: list[dict[str, Any]] = []
        for move in self.moves:
            after = _known(move.value)
            first = None if after is None or not zero_sum else after if move.seat == 0 else -after
            point = {"turn": move.turn, "seat": move.seat + 1, "before": _known(move.best_value), "after": after}
            points.append(point | {"first": first})
        last = {"turn": len(self.record.actions) + 1, "seat": None, "before": None, "after": None}
        return [*points, last | {"first": self.record.payoffs[0] if zero_sum else None}]

    @property
    def thresholds(self) -> dict[str, float]:
        """The cost from which each mark is given, in payoffs."""
        low, high = self.game.facts.rewards
        return {mark: share * (high - low) for mark, share in MARKS.items()}

    @property
    def marks_in_words(self) -> str:
        """What the marks mean."""
        parts = [f"{mark} {self.thresholds[mark]:g}" for mark in reversed(MARKS)]
        low, high = self.game.facts.rewards
        shares = ", ".join(f"{share:.0%}" for share in reversed(MARKS.values()))
        return f"marks by cost: {', '.join(parts)} ({shares} of the range from {low:g} to {high:g})"

    def rows(self) -> list[list[str]]:
        """One row of HEAD per decision."""
        return [
            [
                str(move.turn),
                str(move.seat + 1),
                move.played,
                "-" if math.isnan(move.value) else f"{move.value:+.2f}",
                move.best,
                "-" if math.isnan(move.best_value) else f"{move.best_value:+.2f}",
                "-" if math.isnan(move.cost) else f"{move.cost:.2f}",
                move.mark,
            ]
            for move in self.moves
        ]

    def as_json(self) -> dict[str, Any]:
        """Everything, as values for JSON. Seats are counted from 1."""
        moves = [
            {
                "turn": move.turn,
                "seat": move.seat + 1,
                "played": move.played,
                "action": move.action,
                "prob": move.prob,
                "best": move.best,
                "best_action": move.best_action,
                "value": _known(move.value),
                "best_value": _known(move.best_value),
                "cost": _known(move.cost),
                "mark": move.mark or None,
                "advice": move.advice.as_json(self.game, move.view),
            }
            for move in self.moves
        ]
        seats = sorted({move.seat for move in self.moves})
        return {
            "game": self.record.game,
            "number": self.record.number + 1,
            "players": self.record.players,
            "payoffs": self.record.payoffs,
            "with": self.adviser,
            "marks": self.thresholds,
            "cost": [{"seat": seat + 1, "total": _known(self.total_cost(seat))} for seat in seats],
            "moves": moves,
            "curve": self.curve(),
        }

    def __str__(self) -> str:
        return text_table(HEAD, self.rows())

    def _repr_html_(self) -> str:
        return html_table(HEAD, self.rows())


def review(
    record: Record, player: Any = None, seat: int | None = None, seed: int = 1, report: Reporter = SILENT
) -> Review:
    """Review a finished game.

    Args:
        record: The game.
        player: The adviser, by name or as an object; by default that of `kibitz advise`.
        seat: Review only the moves of this seat, from 0.
        seed: The same seed gives the same advice, for a budget of simulations.
        report: Receives the number of decisions done.

    Raises:
        BadInput: The game can't have been played, or the player gives no advice.
    """
    record.verify()
    game = load_stored(record.game)
    at_least("seed", seed, 0)
    if seat is not None and seat not in range(game.facts.seats):
        raise BadInput(f"seat {seat} should be 0 to {game.facts.seats - 1}")
    name = default_player(game) if player is None else player
    turns = [
        (turn, state, action)
        for turn, (state, action) in enumerate(record.replay(), 1)
        if action is not None and game.turn(state) >= 0 and seat in (None, game.turn(state))
    ]
    found: list[ReviewedMove] = []
    for mover in sorted({int(game.turn(state)) for _, state, _ in turns}):
        adviser = make_adviser(name, game)
        adviser.begin(game, mover, seed)
        for turn, state, action in turns:
            if game.turn(state) == mover:
                report.progress(len(found), len(turns))
                found.extend(_reviewed(game, adviser, label(name), view_of(game, state, mover), mover, turn, action))
    return Review(game, record, label(name), tuple(sorted(found, key=lambda move: move.turn)))


def _reviewed(
    game: Game, adviser: Any, name: str, view: Any, seat: int, turn: int, action: int
) -> Iterator[ReviewedMove]:
    """The review of one decision; nothing where only one action is legal, but the adviser sees the view."""
    adviser.move(view.copy())
    if len(legal_actions(game, view)) == 1:
        return
    advice = explained(adviser, view)
    if advice is None:
        raise BadInput(f"{name} gives no advice, only moves: name a player such as oos:1000")
    advice = with_values(game, adviser, view, seat, advice, turn)
    # Of the actions that the adviser plays and the one that was played: others may have been tried too rarely for their
    # values to mean anything.
    values = np.where((advice.policy > 0) | (advice.actions == action), advice.value, np.nan)
    best = int(np.argmax(advice.policy)) if np.isnan(values).all() else int(np.nanargmax(values))
    value, best_value = float(advice.value[advice.actions == action][0]), float(advice.value[best])
    low, high = game.facts.rewards
    share = (best_value - value) / (high - low)
    mark = next((mark for mark, least in MARKS.items() if share >= least - 1e-9), "")
    best_action = int(advice.actions[best])
    yield ReviewedMove(
        turn, seat, view, action, game.action_to_string(view, action), advice,
        game.action_to_string(view, best_action), best_action, value, best_value, mark,
    )  # fmt: skip


def _known(value: float) -> float | None:
    """None for NaN, which JSON doesn't have."""
    return None if math.isnan(value) else value
