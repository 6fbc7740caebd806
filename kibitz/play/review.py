"""Review of a finished game: what a player would have advised at each decision, and what each move cost.

The cost of a move is the value of the best move less the value of the move that was played, both by the same advice; a
policy without search is valued by its own play (`policy_values`). Where nothing is hidden, a search that hardly tried
the move that was played has a better value of it: the one that it finds at the next position. A cost is marked by its
share of the range of payoffs that searches scale to, or by what the game says (`review_marks`). Costs that are
estimated by playouts have a standard error; they are marked only beyond twice that error.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from ..core.names import BadInput, at_least
from ..core.progress import SILENT, Reporter
from ..games import Game, legal_actions, load_stored, view_of
from ..games.display import display
from ..games.records import Record
from ..search.advice import Advice
from .players import default_player, explained, label, make_adviser
from .policy_values import with_values
from .statistics import html_table, text_table

# Marks and the smallest share of the payoff range that they begin at, as the marks of chess sites do.
MARKS = {"blunder": 0.15, "mistake": 0.10, "inaccuracy": 0.05}
HEAD = ["turn", "seat", "played", "policy", "value", "best", "value", "cost", "mark"]
VALUES = (4, 6, 7)  # columns with payoffs


OWN_MARKS_IN_WORDS = "marks by cost: {marks}{unit}, where the cost is beyond its margin of error"
MARKS_IN_WORDS = "marks by cost: {marks} ({shares} of the range from {low} to {high})"


def thresholds(game: Game) -> dict[str, float]:
    """The cost from which each mark is given, in payoffs."""
    own: dict[str, float] | None = getattr(game, "review_marks", None)
    if own is not None:
        return own
    low, high = game.facts.rewards
    return {mark: share * (high - low) for mark, share in MARKS.items()}


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
    def margin(self) -> float:
        """Half of the 95% interval of the cost; NaN: unknown, or the value is exact."""
        errors, actions = self.advice.paired_error, self.advice.actions.tolist()
        if errors is None:
            return math.nan
        return 1.96 * float(errors[actions.index(self.best_action), actions.index(self.action)])

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

    def total_margin(self, seat: int) -> float:
        """Half of the 95% interval of the total cost, by that of each move; 0 where none is known."""
        return math.hypot(*(move.margin for move in self.moves if move.seat == seat and not math.isnan(move.margin)))

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
        return thresholds(self.game)

    @property
    def marks_in_words(self) -> str:
        """What the marks mean."""
        return self.mark_text.format(**self.mark_values())

    @property
    def mark_text(self) -> str:
        """The sentence on marks, whose values are `mark_values`."""
        return OWN_MARKS_IN_WORDS if hasattr(self.game, "review_marks") else MARKS_IN_WORDS

    @property
    def by_playouts(self) -> bool:
        """Whether values are those of a policy without search, by its own play."""
        return any(move.advice.paired_error is not None for move in self.moves)

    def mark_values(self, spelled: Callable[[str], str] = str, number: Callable[[str], str] = str) -> dict[str, str]:
        """The values of MARKS_IN_WORDS; `spelled` translates a mark, `number` a number."""
        parts = [f"{spelled(mark)} {number(f'{self.thresholds[mark]:g}')}" for mark in reversed(MARKS)]
        low, high = (number(f"{bound:g}") for bound in self.game.facts.rewards)
        shares = ", ".join(f"{share:.0%}" for share in reversed(MARKS.values()))
        unit = display(self.game).symbol
        unit = f" {unit}" if unit else ""
        return {"marks": ", ".join(parts), "shares": shares, "low": low, "high": high, "unit": unit}

    def rows(self, shown: Any = None) -> list[list[str]]:
        """One row of HEAD per decision; `shown` spells the actions instead of the game."""
        spelled = (self.game if shown is None else shown).action_to_string
        return [
            [
                str(move.turn),
                str(move.seat + 1),
                spelled(move.view, move.action),
                f"{100 * move.prob:.0f}%",
                "-" if math.isnan(move.value) else f"{move.value:+.2f}",
                spelled(move.view, move.best_action),
                "-" if math.isnan(move.best_value) else f"{move.best_value:+.2f}",
                "-" if math.isnan(move.cost) else f"{move.cost:.2f}{_margin(move)}",
                move.mark,
            ]
            for move in self.moves
        ]

    def _total(self, seat: int) -> dict[str, Any]:
        total = {"seat": seat + 1, "total": _known(self.total_cost(seat))}
        return total | ({"margin": self.total_margin(seat)} if self.by_playouts else {})

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
                "margin": _known(move.margin),
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
            "cost": [self._total(seat) for seat in seats],
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
    name = default_player(game) if player is None else player
    turns = decisions(game, record, seat)
    found: list[ReviewedMove] = []
    moves = review_moves(game, turns, name, seed)
    for done in range(len(turns)):
        report.progress(done, len(turns))
        move = next(moves)
        found.extend([move] if move else [])
    found.sort(key=lambda move: move.turn)
    following = [*found[1:], None]
    return Review(game, record, label(name), tuple(map(partial(revalued, game, record), found, following)))


def decisions(game: Game, record: Record, seat: int | None = None) -> list[tuple[int, Any, int]]:
    """Turn, from 1, position and action of each decision of a game, or of those of one seat."""
    if seat is not None and seat not in range(game.facts.seats):
        raise BadInput(f"seat {seat} should be 0 to {game.facts.seats - 1}")
    return [
        (turn, state, action)
        for turn, (state, action) in enumerate(record.replay(), 1)
        if action is not None and game.turn(state) >= 0 and seat in (None, game.turn(state))
    ]


def review_moves(
    game: Game, turns: list[tuple[int, Any, int]], player: Any, seed: int = 1
) -> Iterator[ReviewedMove | None]:
    """Yield the review of each decision; None where only one action was legal.

    Args:
        game: The game.
        turns: Its decisions, as `decisions` finds them.
        player: The adviser, by name: then decisions are reviewed in order; or as an object: then seat by seat.
        seed: The same seed gives the same advice, for a budget of simulations.
    """
    at_least("seed", seed, 0)
    advisers: dict[int, Any] = {}
    for turn, state, action in turns if isinstance(player, str) else sorted(turns, key=lambda each: game.turn(each[1])):
        mover = int(game.turn(state))
        if mover not in advisers:
            advisers[mover] = make_adviser(player, game)
            advisers[mover].begin(game, mover, seed)
        yield _reviewed(game, advisers[mover], label(player), view_of(game, state, mover), mover, turn, action)


def revalued(
    game: Game, record: Record, move: ReviewedMove, following: ReviewedMove | None, over: bool = True
) -> ReviewedMove:
    """A move with the value of the position that it led to, which a search knows better than a move it hardly tried.

    Args:
        game: The game. Where something is hidden or chance comes next, nothing changes.
        record: Its record.
        move: A decision, as `review_moves` yields it.
        following: The next one; None: there is none.
        over: Whether the record ends with the end of the game.
    """
    facts = game.facts
    if facts.hidden or not facts.zero_sum or facts.seats != 2 or not move.advice.simulations:
        return move
    if move.action == move.best_action:
        return move
    if following is not None and following.turn == move.turn + 1:
        value = following.best_value if following.seat == move.seat else -following.best_value
    elif following is None and over and move.turn == len(record.actions):
        value = record.payoffs[move.seat]
    else:
        return move
    return move if math.isnan(value) else replace(move, value=value, mark=_mark(game, move.best_value - value))


def _mark(game: Game, cost: float) -> str:
    """The mark of a cost; empty where it is too small or NaN."""
    return next((mark for mark, least in thresholds(game).items() if cost >= least - 1e-9), "")


def _reviewed(game: Game, adviser: Any, name: str, view: Any, seat: int, turn: int, action: int) -> ReviewedMove | None:
    """The review of one decision; None where only one action is legal, but the adviser sees the view."""
    adviser.move(view.copy())
    if len(legal_actions(game, view)) == 1:
        return None
    advice = explained(adviser, view)
    if advice is None:
        raise BadInput(f"{name} gives no advice, only moves: name a player such as oos:1000")
    advice = with_values(game, adviser, view, seat, advice, turn)
    # Of the actions that the adviser plays and the one that was played: others may have been tried too rarely for their
    # values to mean anything.
    values = np.where((advice.policy > 0) | (advice.actions == action), advice.value, np.nan)
    best = int(np.argmax(advice.policy)) if np.isnan(values).all() else int(np.nanargmax(values))
    value, best_value = float(advice.value[advice.actions == action][0]), float(advice.value[best])
    best_action = int(advice.actions[best])
    found = ReviewedMove(
        turn, seat, view, action, game.action_to_string(view, action), advice,
        game.action_to_string(view, best_action), best_action, value, best_value, "",
    )  # fmt: skip
    sure = math.isnan(found.margin) or found.cost > found.margin
    return replace(found, mark=_mark(game, found.cost)) if sure else found


def _margin(move: ReviewedMove) -> str:
    """` ±0.30`; nothing where a cost is 0 or its margin isn't known."""
    return "" if math.isnan(move.margin) or not move.cost else f" ±{move.margin:.2f}"


def _known(value: float) -> float | None:
    """None for NaN, which JSON doesn't have."""
    return None if math.isnan(value) else value
