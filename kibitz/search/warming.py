"""Compile ahead: every kernel once, on the smallest task there is."""

from ..games import Game
from ..names import BadInput
from .best_response import judge
from .cfr import Cfr
from .ismcts import IsMcts
from .mccfr import SAMPLERS
from .oos import Oos
from .playouts import playouts
from .sequence_form import unfold
from .strategy import uniform_strategy


def warm(game: Game) -> None:
    playouts(game, 1)
    IsMcts(game).run(0, 0)
    if game.facts.seats != 2 or not game.facts.zero_sum:
        return
    Oos(game).run(1)
    for sampler in SAMPLERS.values():
        sampler(game)._traverse(0)
    try:
        form = unfold(game, most_leaves=100_000)
    except BadInput:  # compiled all the same
        return
    judge(form, uniform_strategy(game))
    Cfr(game, "cfr", form).run(1)
