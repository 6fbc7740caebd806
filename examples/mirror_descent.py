"""Plot how the last iterate of magnetic mirror descent with exact gradients converges, and that of CFR doesn't.

Run it: python examples/mirror_descent.py
"""

import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import kibitz
from kibitz.solve.best_response import evaluate, evaluate_probs
from kibitz.solve.cfr import Cfr
from kibitz.solve.mirror_descent import MirrorDescent
from kibitz.solve.sequence_form import unfold


def main(games=("kuhn", "leduc"), iterations=100_000, folder="."):
    figure, grid = plt.subplots(1, len(games), figsize=(4.5 * len(games), 4), layout="constrained", squeeze=False)
    marks = np.unique(np.geomspace(1, iterations, 40).astype(int))
    last = {}
    for axes, name in zip(grid[0], games, strict=True):
        form = unfold(kibitz.load(name))
        descent, cfr = MirrorDescent(form.game, form), Cfr(form.game, form=form)
        curves = {"mirror descent, last iterate": [], "CFR, last iterate": []}
        for mark in marks:
            descent.run(mark - descent.iterations)
            cfr.run(mark - cfr.iterations)
            curves["mirror descent, last iterate"].append(evaluate(form, descent.strategy()).nash_conv)
            probs = [memory.probs for memory in cfr.memories]
            curves["CFR, last iterate"].append(evaluate_probs(form, *probs).nash_conv)
        for label, values in curves.items():
            axes.loglog(marks, values, label=label)
            print(f"{name}, {label}: NashConv {values[-1]:.2g} after {iterations:,} iterations")
        axes.set(title=name, xlabel="iterations", ylabel="NashConv")
        axes.grid(alpha=0.25)
        axes.legend()
        last[name] = curves["mirror descent, last iterate"][-1]
    path = Path(folder) / "mmd-exact.png"
    figure.savefig(path, dpi=120)
    plt.close(figure)
    print(f"plot: {path}")
    return last


if __name__ == "__main__":
    main(folder=sys.argv[1] if len(sys.argv) > 1 else ".")
