"""Solve a game with several variants of CFR, and plot how fast each approaches an equilibrium.

Run it: python examples/solve_and_plot.py
"""

import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

import kibitz


def main(game="leduc", iterations=1000, folder="."):
    found = {method: kibitz.solve(game, method, iterations) for method in ("cfr", "cfr+", "pcfr+")}
    figure, axes = plt.subplots(figsize=(7, 4))
    for method, solution in found.items():
        print(solution)  # NashConv, and the value for the first seat
        axes.loglog(*zip(*solution.curve, strict=True), label=method)
    axes.set(title=game, xlabel="iterations", ylabel="NashConv")
    axes.legend()
    path = Path(folder) / "convergence.png"
    figure.savefig(path)
    plt.close(figure)
    print(f"plot: {path}")

    # The strategy is a table: infoset -> probabilities of the legal actions.
    best = min(found.values(), key=lambda solution: solution.nash_conv)
    state = best.game.initial(seed=1).deal()
    print(state.view(state.turn))
    key = int(best.game.infoset(state.record, state.turn))
    for name, prob in zip(state.legal(), best.strategy.at(key, len(state.legal())), strict=True):
        print(f"  {name}: {prob:.1%}")
    return found


if __name__ == "__main__":
    main(*sys.argv[1:2])
