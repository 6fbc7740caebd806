"""Compile ahead: call every kernel of searches and solvers once, on the smallest task that there is."""

import contextlib

import numpy as np

from ..core.names import BadInput
from ..games import CHANCE, Game, legal_actions, positions
from ..games.game import heuristic, is_announcement
from ..games.random_games import playouts
from ..jit import generators
from .announcements import Announcements
from .best_response import evaluate
from .cfr import Cfr
from .mccfr import SAMPLERS
from .policies import heuristic_action
from .search import SEARCHES
from .sequence_form import unfold
from .strategy import uniform_strategy


def precompile(game: Game) -> None:
    """Compile everything that searches and solvers need for a game."""
    playouts(game, 1)
    view, rng = positions(game)[0], generators(1, 1)[0]
    while (seat := game.turn(view)) == CHANCE or len(legal_actions(game, view)) == 1:  # to the first real choice
        game.play(view, game.sample_action(view, rng))
    for search in SEARCHES.values():
        with contextlib.suppress(BadInput):  # it can't play this game
            search.precompile(game, view, seat)
    if type(game).is_announcement is not is_announcement:  # type: ignore[comparison-overlap]
        Announcements(game, 2).scores(view, seat, np.array(legal_actions(game, view)), rng)
    if type(game).heuristic is not heuristic:  # type: ignore[comparison-overlap]
        heuristic_action(game, view, rng)
    if game.facts.seats == 2 and game.facts.zero_sum:
        precompile_solvers(game)


def precompile_solvers(game: Game) -> None:
    for sampler in SAMPLERS.values():
        sampler(game)._traverse(0)
    try:
        form = unfold(game, max_leaves=100_000)
    except BadInput:  # compiled all the same
        return
    evaluate(form, uniform_strategy(game))
    Cfr(game, "cfr", form).run(1)
