"""Searches on determinizations in Doppelkopf, against a published program."""

from collections.abc import Callable
from functools import partial
from typing import Any

from kibitz import games
from kibitz.jit import generators
from kibitz.search.determinization import sample_worlds
from kibitz.search.ensemble_uct import EnsembleUct
from kibitz.search.ismcts import SingleUct

from .measuring import Row, Work

# The published C++ program: 4.5 s for the decisions of one seat in a game at 10 determinizations x 1,000 rollouts, on
# one slow ARM core. The figure is quoted, not measured here.
PUBLISHED_SECONDS = 4.5
DECISIONS, ROLLOUTS = 12, 10_000
CARDS = (1, 13, 25, 37)  # number of the card to be played


def some_views(seat: int | None = None) -> dict[int, tuple[Any, int]]:
    """Views of a random game of Doppelkopf: number of the card -> view, seat to play it; of all seats or of one."""
    game, rng = games.load("doppelkopf:thesis"), generators(1, 1)[0]
    state, found = games.positions(game)[0], {}
    while (turn := game.turn(state)) != games.OVER:
        announcing = turn != games.CHANCE and game.is_announcement(state)
        if turn != games.CHANCE and not announcing and seat in (None, turn):
            found[1 + int(state.count)] = games.view_of(game, state, turn), turn
        game.play(state, games.legal_actions(game, state)[0] if announcing else game.sample_action(state, rng))
    return found


def _our_rollouts(make: Callable[..., Any], card: int) -> Work:
    search, (view, seat) = make(games.load("doppelkopf:thesis"), 1), some_views()[card]

    def work(count: int) -> None:
        while count > 0:
            search.advise(view, seat, min(count, ROLLOUTS))
            count -= ROLLOUTS

    return work


def _our_worlds(card: int) -> Work:
    game, (view, seat), rng = games.load("doppelkopf:thesis"), some_views()[card], generators(1, 1)[0]

    def work(count: int) -> None:
        while count > 0:
            sample_worlds(game, view, seat, min(count, ROLLOUTS), rng)
            count -= ROLLOUTS

    return work


def decisions(make: Callable[..., Any]) -> Work:
    """All decisions of one seat in a game, counted in games."""
    search, views = make(games.load("doppelkopf:thesis"), 1), some_views(0).values()

    def work(count: int) -> None:
        for _ in range(count):
            for view, seat in views:
                search.advise(view, seat, ROLLOUTS)

    return work


ROWS: list[Row] = []
for label, make in (("ensemble", partial(EnsembleUct, exact=0)), ("single", SingleUct)):
    ROWS += [
        Row(
            f"{label}-uct-doppelkopf-card-{card}",
            "simulations/s",
            5,
            partial(_our_rollouts, make, card),
            DECISIONS * ROLLOUTS / PUBLISHED_SECONDS,
        )
        for card in CARDS
    ]
ROWS.append(
    Row("determinizations-doppelkopf-card-25", "worlds/s", 1, partial(_our_worlds, 25), 1e6)
)  # a million wanted
ROWS += [
    Row(f"{label}-uct-doppelkopf-game", "games/s", 5, partial(decisions, make), 1 / PUBLISHED_SECONDS)
    for label, make in (("ensemble", EnsembleUct), ("single", SingleUct))
]
