"""Compile ahead: every kernel once, on the smallest task there is."""

import contextlib

import numpy as np

from ..core.names import BadInput
from ..games import CHANCE, Game, legal_actions, positions
from ..games.game import heuristic, is_announcement
from ..games.random_games import playouts
from ..jit import generators
from .alphabeta import AlphaBeta
from .announcements import Announcements
from .best_response import evaluate
from .cfr import Cfr
from .ensemble_uct import EnsembleUct
from .ismcts import IsMcts
from .mccfr import SAMPLERS
from .oos import Oos
from .policies import heuristic_action
from .puct import Puct
from .sequence_form import unfold
from .strategy import uniform_strategy
from .uct import Uct


def precompile(game: Game) -> None:
    playouts(game, 1)
    precompile_determinization(game)
    if not game.facts.hidden:
        precompile_trees(game)
    if game.facts.seats != 2 or not game.facts.zero_sum:
        return
    oos = Oos(game)
    oos.run(1)
    oos.target(positions(game)[0], 0)
    for sampler in SAMPLERS.values():
        sampler(game)._traverse(0)
    try:
        form = unfold(game, max_leaves=100_000)
    except BadInput:  # compiled all the same
        return
    evaluate(form, uniform_strategy(game))
    Cfr(game, "cfr", form).run(1)


def precompile_determinization(game: Game) -> None:
    """At the first choice of a random game."""
    view, rng = positions(game)[0], generators(1, 1)[0]
    while (seat := game.turn(view)) == CHANCE or len(legal_actions(game, view)) == 1:
        game.play(view, game.sample_action(view, rng))
    IsMcts(game).advise(view, seat, 1)
    EnsembleUct(game, 1, 1, exact=1).advise(view, seat, 1)
    if type(game).is_announcement is not is_announcement:  # type: ignore[comparison-overlap]
        Announcements(game, 2).scores(view, seat, np.array(legal_actions(game, view)), rng)
    if type(game).heuristic is not heuristic:  # type: ignore[comparison-overlap]
        heuristic_action(game, view, rng)


def precompile_trees(game: Game) -> None:
    for search in (Uct(game), Puct(game)):
        view = positions(game)[0]
        game.play(view, search.advise(view, 0, 1).line[0])
        search.target(view)  # what lies below it is kept
    with contextlib.suppress(BadInput):  # it plays fewer games than they do
        AlphaBeta(game, depth=1).advise(positions(game)[0], 0)
