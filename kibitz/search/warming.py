"""Compile ahead: every kernel once, on the smallest task there is."""

import contextlib

import numpy as np

from ..games import CHANCE, Game, legal_actions, positions
from ..games.protocol import aside, usual
from ..jit import generators
from ..names import BadInput
from .alphabeta import AlphaBeta
from .asides import Asides
from .best_response import judge
from .cfr import Cfr
from .ensemble import Ensemble
from .ismcts import IsMcts
from .mccfr import SAMPLERS
from .oos import Oos
from .playouts import playouts
from .policies import usual_action
from .puct import Puct
from .sequence_form import unfold
from .strategy import uniform_strategy
from .uct import Uct


def warm(game: Game) -> None:
    playouts(game, 1)
    warm_guesses(game)
    if not game.facts.hidden:
        warm_trees(game)
    if game.facts.seats != 2 or not game.facts.zero_sum:
        return
    oos = Oos(game)
    oos.run(1)
    oos.aim(positions(game)[0], 0)
    for sampler in SAMPLERS.values():
        sampler(game)._traverse(0)
    try:
        form = unfold(game, most_leaves=100_000)
    except BadInput:  # compiled all the same
        return
    judge(form, uniform_strategy(game))
    Cfr(game, "cfr", form).run(1)


def warm_guesses(game: Game) -> None:
    """At the first choice of a random game."""
    view, rng = positions(game)[0], generators(1, 1)[0]
    while (seat := game.turn(view)) == CHANCE or len(legal_actions(game, view)) == 1:
        game.play(view, game.pick(view, rng))
    IsMcts(game).advise(view, seat, 1)
    Ensemble(game, 1, 1, exact=1).advise(view, seat, 1)
    if type(game).aside is not aside:  # type: ignore[comparison-overlap]
        Asides(game, 2).scores(view, seat, np.array(legal_actions(game, view)), rng)
    if type(game).usual is not usual:  # type: ignore[comparison-overlap]
        usual_action(game, view, rng)


def warm_trees(game: Game) -> None:
    for search in (Uct(game), Puct(game)):
        view = positions(game)[0]
        game.play(view, search.advise(view, 0, 1).line[0])
        search.aim(view)  # what lies below it is kept
    with contextlib.suppress(BadInput):  # it plays fewer games than they do
        AlphaBeta(game, depth=1).advise(positions(game)[0], 0)
