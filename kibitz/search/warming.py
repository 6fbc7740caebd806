"""Compile ahead: every kernel once, on the smallest task there is."""

import contextlib

from ..games import Game, positions
from ..names import BadInput
from .alphabeta import AlphaBeta
from .best_response import judge
from .cfr import Cfr
from .ensemble import Ensemble
from .ismcts import IsMcts
from .mccfr import SAMPLERS
from .oos import Oos
from .playouts import playouts
from .puct import Puct
from .sequence_form import unfold
from .strategy import uniform_strategy
from .uct import Uct


def warm(game: Game) -> None:
    playouts(game, 1)
    IsMcts(game).run(0, 0)
    if game.facts.hidden:
        Ensemble(game).tree.advise(positions(game)[0], 0, 1)
    else:
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


def warm_trees(game: Game) -> None:
    for search in (Uct(game), Puct(game)):
        view = positions(game)[0]
        game.play(view, search.advise(view, 0, 1).line[0])
        search.aim(view)  # what lies below it is kept
    with contextlib.suppress(BadInput):  # it plays fewer games than they do
        AlphaBeta(game, depth=1).advise(positions(game)[0], 0)
