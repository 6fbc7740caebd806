"""Make a model of the weights that `breakthrough_evaluation.cpp` has learned:

python -m benchmarks.breakthrough_evaluation weights.f32 kibitz/models/breakthrough-evaluation.safetensors "how"
"""

import sys
from pathlib import Path

import numpy as np

from kibitz.games import load
from kibitz.learn.ntuple.store import save_ntuples
from kibitz.learn.ntuple.tuples import count_contents, sharing

SQUARES, CONTENTS = 36, 3**9


def convert(source: Path, model: Path, made: str) -> None:
    """Write the model. The program has weights of squares, by row and column, where the seat to move moves up."""
    game = load("breakthrough")
    values = np.full((count_contents(game.board(), "squares"), 2), np.nan)
    values[-SQUARES * CONTENTS :, 0] = np.fromfile(source, np.float32)
    values[: -SQUARES * CONTENTS] = 0  # of single cells: they are part of the squares'
    save_ntuples(model, game, "squares", sharing(game, "squares").mean(values), made)


if __name__ == "__main__":
    convert(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3])
