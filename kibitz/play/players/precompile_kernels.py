"""Compile ahead: call every kernel of searches and solvers once, on the smallest task that there is."""

import contextlib

import numpy as np

from ...core.names import BadInput
from ...games import CHANCE, Game, legal_actions, positions
from ...games.game import heuristic, is_announcement
from ...games.random_games import playouts
from ...jit import generators
from ...search.announcements import Announcements
from ...search.policies import heuristic_action
from ...search.search import SEARCHES
from ...search.strategy import uniform_strategy
from ...solve.best_response import evaluate
from ...solve.cfr import Cfr
from ...solve.mccfr import SAMPLERS
from ...solve.sequence_form import measurable_form

SOLVERS, ANNOUNCEMENTS, HEURISTIC = "solvers", "announcements", "heuristic"  # parts beside the searches


def parts(game: Game) -> list[str]:
    """What there is to compile for a game, in parts that separate processes may compile: searches and solvers."""
    own = type(game)
    found = list(SEARCHES)
    found += [ANNOUNCEMENTS] if own.is_announcement is not is_announcement else []  # type: ignore[comparison-overlap]
    found += [HEURISTIC] if own.heuristic is not heuristic else []  # type: ignore[comparison-overlap]
    return found + ([SOLVERS] if game.facts.seats == 2 and game.facts.zero_sum else [])


def precompile(game: Game) -> None:
    """Compile everything that searches and solvers need for a game."""
    for part in parts(game):
        precompile_part(game, part)


def precompile_part(game: Game, part: str) -> None:
    """Compile one of the `parts` of a game."""
    if part == SOLVERS:
        precompile_solvers(game)
        return
    view, rng = positions(game)[0], generators(1, 1)[0]
    while (seat := game.turn(view)) == CHANCE or len(legal_actions(game, view)) == 1:  # to the first real choice
        game.play(view, game.sample_action(view, rng))
    if part == ANNOUNCEMENTS:
        Announcements(game, 2).scores(view, seat, np.array(legal_actions(game, view)), rng)
    elif part == HEURISTIC:
        heuristic_action(game, view, rng)
    else:
        with contextlib.suppress(BadInput):  # it can't play this game
            SEARCHES[part].precompile(game, view, seat)


def precompile_solvers(game: Game) -> None:
    playouts(game, 1)
    for sampler in SAMPLERS.values():
        sampler(game)._traverse(0)
    form = measurable_form(game, max_leaves=100_000)  # compiled even where the game is too large
    if form is not None:
        evaluate(form, uniform_strategy(game))
        Cfr(game, "cfr", form).run(1)
