"""Plots of runs, studies and tournaments, written as PNG files."""

import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

# The palette of Okabe and Ito, which colour-blind people can tell apart; further lines repeat it, dashed and dotted.
COLOURS = ("#20639b", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
STYLES = ("-", "--", ":")
FEW = 40  # up to this number of points a line shows them as dots

Points = Sequence[tuple[float, float]]


class Plot:
    """A plot that a notebook shows; `figure` is matplotlib's."""

    def __init__(self, figure: Any) -> None:
        self.figure = figure

    def _repr_png_(self) -> bytes:
        data = io.BytesIO()
        self.figure.savefig(data, dpi=100)
        return data.getvalue()


def convergence(path: Path | None, title: str, iterations: Sequence[int], nash_conv: Sequence[float]) -> Plot:
    """Plot NashConv over iterations on a logarithmic axis, its last value to the right of the line's end."""
    points = [(at, max(value, 1e-16)) for at, value in zip(iterations, nash_conv, strict=True)]
    return curves(path, {title: points}, title, "NashConv", log_x=True)


def curves(
    path: Path | None,
    lines: Mapping[str, Points],
    title: str,
    measured: str,
    over: str = "iterations",
    log_x: bool = False,
) -> Plot:
    """Plot one metric of several runs: name of the run -> points."""
    return panels(path, title, {measured: lines}, over, log_x)


def panels(
    path: Path | None,
    title: str,
    measured: Mapping[str, Mapping[str, Points]],
    over: str = "iterations",
    log_x: bool = False,
) -> Plot:
    """Plot one panel per metric with one line per run, into a file if a path is given.

    `measured` is label of the axis -> name of the run -> points.

    A metric that spans more than a factor of ten has a logarithmic axis.
    """
    figure, grid = plt.subplots(
        len(measured), 1, figsize=(7.6, 1 + 3.4 * len(measured)), layout="constrained", sharex=True, squeeze=False
    )
    for axes, (label, lines) in zip(grid[:, 0], measured.items(), strict=True):
        values = [value for points in lines.values() for _, value in points]
        for i, points in enumerate(lines.values()):
            style: dict[str, Any] = {"color": COLOURS[i % len(COLOURS)]}
            style["linestyle"] = STYLES[i // len(COLOURS) % len(STYLES)]
            marker = "o" if len(points) <= FEW else ""
            axes.plot(*zip(*points, strict=True), linewidth=1.6, marker=marker, markersize=3, **style)
        if log_x:
            axes.set_xscale("log")
        if min(values) > 0 and max(values) > 10 * min(values):
            axes.set_yscale("log")
            axes.yaxis.set_major_formatter("{x:g}")
            shown = "25" if max(values) < 100 * min(values) else ""
            axes.yaxis.set_minor_formatter(lambda y, _, shown=shown: f"{y:g}" if f"{y:e}"[0] in shown else "")
        elif min(values) >= 0:
            axes.set_ylim(bottom=0)
        axes.set_ylabel(label, parse_math=False)
        axes.grid(which="both", alpha=0.25)
        axes.spines[["top", "right"]].set_visible(False)
        _name(axes, lines)
    grid[0, 0].set_title(title, parse_math=False)
    grid[-1, 0].set_xlabel(over)
    if path is not None:
        figure.savefig(path, dpi=140)
    plt.close(figure)
    return Plot(figure)


def multiples(
    path: Path, title: str, games: Mapping[str, Mapping[str, Sequence[tuple[float, ...]]]], over: str, measured: str
) -> None:
    """Plot one small panel per game with the same lines in each: points (x, y), or (x, y, low, high)."""
    columns = min(len(games), 3 if len(games) < 10 else 5)
    rows = -(-len(games) // columns)
    figure, grid = plt.subplots(
        rows, columns, figsize=(1 + 2.6 * columns, 1 + 2.1 * rows), layout="constrained", sharex=True, sharey=True,
        squeeze=False,
    )  # fmt: skip
    for place, axes in enumerate(grid.flat):
        if place >= len(games):
            axes.set_visible(False)
            continue
        game, lines = list(games.items())[place]
        for colour, (name, points) in zip(COLOURS, lines.items(), strict=False):
            x, y, *ends = (list(column) for column in zip(*points, strict=True))
            axes.plot(x, y, color=colour, linewidth=1.4, label=name)
            if ends:
                axes.fill_between(x, *ends, color=colour, alpha=0.2, linewidth=0)
        axes.set_title(game, fontsize=9, parse_math=False)
        axes.grid(alpha=0.25)
        axes.spines[["top", "right"]].set_visible(False)
    handles, names = grid[0, 0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside right upper", frameon=False)
    figure.suptitle(title, parse_math=False)
    figure.supxlabel(over, fontsize=9)
    figure.supylabel(measured, fontsize=9)
    figure.savefig(path, dpi=140)
    plt.close(figure)


def matrix(path: Path, title: str, names: Sequence[str], values: Any, margins: Any, form: str) -> None:
    """Plot the payoffs of each row's player against each column's: violet where it wins, orange where it loses.

    A cell whose margin (half of its interval) covers 0 has a grey number.
    """
    count = len(names)
    figure, axes = plt.subplots(figsize=(3.2 + 0.95 * count, 1.6 + 0.62 * count), layout="constrained")
    most = max((abs(values[i][j]) for i in range(count) for j in range(count) if i != j), default=1) or 1
    axes.imshow([[0 if i == j else values[i][j] for j in range(count)] for i in range(count)],
                cmap="PuOr", vmin=-1.6 * most, vmax=1.6 * most, aspect="auto")  # fmt: skip
    for i in range(count):
        for j in range(count):
            if i != j:
                significant = abs(values[i][j]) > margins[i][j]
                text = f"{values[i][j]:{form}}\n±{margins[i][j]:{form.lstrip('+')}}"
                axes.text(j, i, text, ha="center", va="center", fontsize=7, color="black" if significant else "#777777")
    axes.set_xticks(range(count), [str(j + 1) for j in range(count)])
    axes.set_yticks(range(count), [f"{_short(name)}  {i + 1}" for i, name in enumerate(names)], parse_math=False)
    axes.tick_params(length=0, labelsize=8)
    axes.xaxis.tick_top()
    axes.set_title(title, fontsize=9, parse_math=False)
    figure.savefig(path, dpi=140)
    plt.close(figure)


def _name(axes: Any, lines: Mapping[str, Points]) -> None:
    """Write each run's name and last value at the right end of its line, moved apart where they overlap."""
    axes.autoscale_view()
    to_axes = axes.transData + axes.transAxes.inverted()
    ends = [to_axes.transform(points[-1])[1] for points in lines.values()]
    room = 0.13 / (axes.get_window_extent().height / axes.figure.dpi)  # height of one line of text
    below = float("-inf")
    for i in sorted(range(len(ends)), key=ends.__getitem__):
        below = ends[i] = max(ends[i], below + room)
    above = max(1.0, room * len(ends))
    for i in sorted(range(len(ends)), key=ends.__getitem__, reverse=True):  # and back down from above the top
        above = ends[i] = min(ends[i], above)
        above -= room
    for height, line, (name, points) in zip(ends, axes.get_lines(), lines.items(), strict=True):
        text = f"{points[-1][1]:.3g}" if len(lines) == 1 else f"{_short(name)}  {points[-1][1]:.3g}"
        axes.annotate(
            text, (1.015, height), xycoords="axes fraction", va="center", fontsize=8, color=line.get_color(),
            annotation_clip=False, parse_math=False,
        )  # fmt: skip


def _short(name: str) -> str:
    """Shorten a long name in the middle: names mostly differ at their ends."""
    return name if len(name) <= 34 else f"{name[:12]}…{name[-21:]}"
