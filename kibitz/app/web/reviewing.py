"""The review of a game in a worker process, one line of JSON per decision."""

import math
import time
from collections.abc import Iterator
from functools import partial

from ...games import OVER, Game
from ...games.records import read_line
from ...play.review import ReviewedMove, decisions, revalued, review_moves, thresholds
from ...search.advice import Advice
from .insight import advised
from .review_messages import JudgedMove, ReviewEnd, ReviewLine, ReviewProgress, ReviewStart

LIMIT = 600.0  # seconds of a whole review
MAX_ADVISED = 40  # moves of which the advice is sent, per decision
TRIED = 0.1  # share of the visits of the most visited move from which on a value means something


def review_lines(game: Game, line: str, player: str, seed: int, language: str) -> Iterator[tuple[str, str]]:
    """Review a game, given by its record: yield ("line", JSON) for each message, at last ("end", JSON).

    A decision is sent twice where the one after it gives it another value.
    """
    record = read_line(line, "this game")
    turns, ends = decisions(game, record), time.monotonic() + LIMIT
    *_, (last, _) = record.replay()
    valued = partial(revalued, game, record, over=int(game.turn(last)) == OVER)
    zero_sum = game.facts.seats == 2 and game.facts.zero_sum
    start = ReviewStart(player=player, total=len(turns), zero_sum=zero_sum, marks=thresholds(game))
    yield "line", start.model_dump_json()
    before: ReviewedMove | None = None
    for done, move in enumerate(review_moves(game, turns, player, seed), 1):
        if move is not None:
            if before is not None and (better := valued(before, move)).value != before.value:
                yield "line", described(game, better, language).model_dump_json()
            before = valued(move, None)
            yield "line", described(game, before, language).model_dump_json()
        yield "line", ReviewProgress(done=done).model_dump_json()
        if time.monotonic() > ends and done < len(turns):
            late = ReviewEnd(complete=False, trouble=f"a review takes at most {LIMIT:g} seconds")
            yield "end", late.model_dump_json()
            return
    yield "end", ReviewEnd(complete=True, trouble="").model_dump_json()


def described(game: Game, move: ReviewedMove, language: str) -> ReviewLine:
    """A decision with the advice on it, for a browser."""
    found, good = advised(game, move.view, move.advice, language), good_actions(game, move)

    def known(value: float) -> float | None:
        return None if math.isnan(value) else value

    return ReviewLine(
        turn=move.turn,
        seat=move.seat + 1,
        action=move.action,
        best=move.best_action,
        value=known(move.value),
        best_value=known(move.best_value),
        cost=known(move.cost),
        mark=move.mark,  # type: ignore[arg-type]
        moves=[JudgedMove(**each, good=each["action"] in good) for each in found["moves"][:MAX_ADVISED]],
        notes=found["notes"],
    )


def good_actions(game: Game, move: ReviewedMove) -> set[int]:
    """The best action, and those that cost less than the smallest mark and were tried often enough to say so."""
    advice: Advice = move.advice
    least = min(thresholds(game).values())
    tried = (advice.policy > 0) | (advice.visits >= max(1.0, TRIED * advice.visits.max()))
    near = tried & (move.best_value - advice.value < least - 1e-9)  # false where a value is unknown
    return {move.best_action, *map(int, advice.actions[near])}
