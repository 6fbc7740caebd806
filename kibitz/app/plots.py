"""Pictures, where people would rather look than read."""

from collections.abc import Mapping, Sequence
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


def curves(path: Path, lines: Mapping[str, Sequence[tuple[int, float]]], title: str, measured: str) -> None:
    """A measurement over the iterations of several runs; logarithmic where it spans more than one power of ten."""
    figure, axes = plt.subplots(figsize=(7, 4.2), layout="constrained")
    values = [value for points in lines.values() for _, value in points]
    for name, points in lines.items():
        axes.plot(*zip(*points, strict=True), label=name, linewidth=1.6)
    if min(values) > 0 and max(values) > 10 * min(values):
        axes.set_yscale("log")
    elif min(values) >= 0:
        axes.set_ylim(bottom=0)
    axes.set(title=title, xlabel="iterations", ylabel=measured)
    axes.grid(which="both", alpha=0.25)
    axes.legend()
    figure.savefig(path, dpi=140)
    plt.close(figure)
