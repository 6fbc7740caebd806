"""Files of n-tuple evaluations, which players read; and the evaluation of a game without one."""

from pathlib import Path
from typing import Any

import numpy as np

from ...core.files import readable
from ...core.names import BadInput, choose, located
from ...games import Game, full_name, load_stored, name_if
from ...nets.model_files import MADE, ModelFormat
from ...search.connect_four_solver import has_solver, threats
from .tuples import KINDS, NTuples, count_contents, ntuples, sharing

FORMAT = ModelFormat(
    "kibitz n-tuples 1",
    "evaluation",
    {"weights": "float16 ?"},
    MADE | {"kind": str},
    player="ntuple",
    search="alphabeta:seconds=1,eval={}",
)
PIECE = 0.4  # logit of a piece, in the default evaluation of races
ADVANCE = 0.6  # logit that a piece gains on its way to the far row


def save_ntuples(path: Path, game: Game, kind: str, weights: np.ndarray, made: str = "") -> None:
    """Write an evaluation atomically; `made` describes its origin."""
    FORMAT.write(path, {"weights": weights.astype(np.float16)}, game=full_name(game), made=made, kind=kind)


def read_ntuples(path: Path, game: Any = None) -> tuple[Any, str, np.ndarray, str]:
    """Read an evaluation: its game, kind of groups, weights, and how it was made.

    Raises:
        BadInput: It is no such file, is damaged, or is for another game than `game`.
    """
    tensors, about = FORMAT.read(path, game=name_if(game))
    with readable(path, FORMAT.what), located(path):
        game = load_stored(about["game"]) if game is None else game
        kind = choose("kind of n-tuples", about["kind"], KINDS)
    weights = tensors["weights"]
    if not hasattr(game, "board") or weights.shape[0] != sharing(game, kind).size:
        raise BadInput(f"{path} has {weights.shape[0]} weights, which doesn't fit {full_name(game)}")
    return game, kind, weights, about["made"]


@FORMAT.described
def weights_in(path: Path) -> str:
    return f"{read_ntuples(path)[2].size:,} weights of n-tuples"


def ntuples_for(path: Path, game: Game) -> NTuples:
    """The evaluation in a file, for a game."""
    if not hasattr(game, "board"):
        raise BadInput(f"{full_name(game)} has no board, so it has no n-tuples")
    _, kind, weights, _ = read_ntuples(path, game)
    return ntuples(game, kind, weights)


def default_values(game: Any, kind: str) -> np.ndarray:
    """[contents, 2] f8: in races to a goal the value of pieces and how far they have come; zeros elsewhere."""
    values = np.zeros((count_contents(game.board(), kind), 2))
    if "goal" in game.regions(0) and hasattr(game, "rows"):
        for cell, (row, _) in enumerate(game.board().places):  # single cells are the first groups
            for seat, done in enumerate((row, game.rows - 1 - row)):
                values[3 * cell + 1 + seat] = (1 - 2 * seat) * (PIECE + ADVANCE * (done / (game.rows - 1)) ** 2)
    return values


def default_evaluation(game: Any) -> Any:
    """The evaluation without a file: threats in Connect Four, else the default weights; None where they are zeros."""
    if has_solver(game):
        return threats(game)
    values = default_values(game, "cells") if hasattr(game, "board") else np.zeros(0)
    return ntuples(game, "cells", sharing(game, "cells").mean(values)) if values.any() else None
