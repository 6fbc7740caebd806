"""What no command reaches on a processor: solvers written for a GPU, exact mirror descent, predictions of cards.

Each takes the folder that the rows share and returns figures.
"""

from pathlib import Path
from typing import Any

import kibitz

from .figures import of_arrays, of_exploitability


def pcs_by_infoset(folder: Path) -> dict[str, Any]:
    """Public chance sampling as `kibitz.solve` measures it, by infoset."""
    found = kibitz.solve("leduc", "pcs", iterations=50)
    return of_arrays("strategy", [found.strategy.probs]) | of_exploitability(found.exploitability)


def pcs_in_torch(folder: Path) -> dict[str, Any]:
    """Public chance sampling of the GPU, four boards at a time."""
    from kibitz.poker.gpu.pcs_solvers import OnGpu
    from kibitz.poker.solve.buckets import lossless
    from kibitz.poker.solve.cards import cards_of

    game = kibitz.load("leduc")
    solver = OnGpu(game, lossless(cards_of(game)), 1, 4, "cpu")
    for _ in range(10):
        solver.run()
    return of_arrays("tables", list(solver.tables().values())) | solver.measure()


def bidding_in_torch(folder: Path) -> dict[str, Any]:
    """CFR+ on the public tree of Liar's Dice, as on a GPU."""
    from kibitz.solve.bidding_cfr import BiddingCfr

    solver = BiddingCfr(kibitz.load("liars_dice:faces=3"), "cfr+", "cpu")
    solver.run(15)
    return of_arrays("tables", list(solver.tables)) | of_exploitability(solver.evaluate())


def response_on_public_tree(folder: Path) -> dict[str, Any]:
    """The best response to a player that is asked at every infoset of a game, as if the game were large."""
    from kibitz.play.public_tree_best_response import evaluate_on_public_tree

    player = f"strategy:{folder / 'liars-dice-cfr+-public-tree'}"
    return of_exploitability(evaluate_on_public_tree(kibitz.load("liars_dice:faces=3"), player, 1))


def mirror_descent(folder: Path) -> dict[str, Any]:
    """Mirror descent with exact gradients."""
    from kibitz.solve.mirror_descent import MirrorDescent

    game = kibitz.load("leduc")
    solver = MirrorDescent(game)
    solver.run(20)
    strategy = solver.strategy()
    return of_arrays("strategy", [strategy.probs]) | of_exploitability(kibitz.exploit(game, strategy).by_seed[0])


def predictions(folder: Path) -> dict[str, Any]:
    """Probabilities of the next card by the networks of `next-card` and of `cards`."""
    from kibitz.core.runs import Run
    from kibitz.doppelkopf.learn.predictors import predictor_of
    from kibitz.doppelkopf.learn.recorded_games import read_games

    games = read_games(folder / "records", "doppelkopf:thesis").take([0, 1])
    return {
        key: figure
        for name in ("next-card", "cards")
        for key, figure in of_arrays(name, [predictor_of(Run(folder / name), 0.3).predict(games)]).items()
    }
