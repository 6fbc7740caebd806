"""Files of n-tuple evaluations, which players read; and the evaluation of a game without one."""

from pathlib import Path
from typing import Any

import numpy as np

from ...core.files import Expected, Shapes, check_fits, read_tensors, readable, write_tensors
from ...core.names import BadInput, absolute, choose, located
from ...games import Game, full_name, load_stored
from ...nets.model_files import Description, model_format
from ...search.connect_four_solver import has_solver, threats
from .tuples import KINDS, NTuples, count_contents, ntuples, sharing

FORMAT = "kibitz n-tuples 1"
SEARCH = "alphabeta:seconds=1,eval={}"  # the player that searches with such a file
PIECE = 0.4  # logit of a piece, in the default evaluation of races
ADVANCE = 0.6  # logit that a piece gains on its way to the far row


def save_ntuples(path: Path, game: Game, kind: str, weights: np.ndarray, made: str = "") -> None:
    """Write an evaluation atomically; `made` describes its origin."""
    write_tensors(path, FORMAT, {"weights": weights.astype(np.float16)}, game=full_name(game), made=made, kind=kind)


def read_ntuples(path: Path, game: Any = None) -> tuple[Any, str, np.ndarray, str]:
    """Read an evaluation: its game, kind of groups, weights, and how it was made.

    Raises:
        BadInput: It is no such file, is damaged, or is for another game than `game`.
    """
    tensors, about = read_tensors(path, FORMAT, "evaluation", _schema)
    with readable(path, "evaluation"):
        game = load_stored(about["game"]) if game is None else game
    if absolute(about["game"]) != full_name(game):
        raise BadInput(f"{path} has an evaluation for {about['game']}, not for {full_name(game)}")
    with located(path):
        kind = choose("kind of n-tuples", about["kind"], KINDS)
    weights = tensors["weights"]
    if not hasattr(game, "board") or weights.shape[0] != sharing(game, kind).size:
        raise BadInput(f"{path} has {weights.shape[0]} weights, which doesn't fit {full_name(game)}")
    return game, kind, weights, about["made"]


def _schema(shapes: Shapes, about: dict[str, Any]) -> dict[str, Expected]:
    check_fits(about, {"game": str, "made": str, "kind": str})
    return {"weights": Expected("float16", (None,))}


@model_format(FORMAT)
def describe(path: Path) -> Description:
    game, _, weights, made = read_ntuples(path)
    what = f"{weights.size:,} weights of n-tuples"
    return Description(full_name(game), made, what, "ntuple", SEARCH)


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
