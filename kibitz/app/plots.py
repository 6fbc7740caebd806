"""Pictures, where people would rather look than read."""

from collections.abc import Sequence
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt


def convergence(path: Path, title: str, iterations: Sequence[int], nash_conv: Sequence[float]) -> None:
    """NashConv over iterations, both logarithmic."""
    figure, axes = plt.subplots(figsize=(7, 4.2), layout="constrained")
    axes.loglog(iterations, [max(value, 1e-16) for value in nash_conv], marker="o", markersize=3, color="#20639b")
    axes.set(title=title, xlabel="iterations", ylabel="NashConv")
    axes.grid(which="both", alpha=0.25)
    axes.annotate(
        f"{nash_conv[-1]:.3g}",
        (iterations[-1], max(nash_conv[-1], 1e-16)),
        textcoords="offset points",
        xytext=(-8, -4),
        ha="right",
        va="top",
    )
    figure.savefig(path, dpi=140)
    plt.close(figure)
