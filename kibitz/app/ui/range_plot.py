"""Strategies and ranges of hold'em as a picture: cells split by move, or shaded by weight."""

import io
from collections.abc import Sequence
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.patches import Patch, Rectangle

from ...players.german import said_in
from ...players.holdem_beliefs import Hands, RangeBeliefs
from .range_grid import DIAGONAL, mixed_in_words
from .words import ENGLISH, Words

# Of moves, as on the web table; blue, green and red are told apart by their lightness too.
COLOURS = {"fold": "#a9c1d9", "check": "#cfe8b9", "call": "#cfe8b9", "bet": "#d9705b", "raise": "#d9705b"}
WEIGHT, IMPOSSIBLE, LINES = "#8e5aa8", "#eeeeee", "#d8d8d8"
HEIGHT = 8.1  # inches


def plot_strategies(titles: Sequence[str], found: Sequence[Hands], form: str, words: Words = ENGLISH) -> bytes:
    """What players do with every hand, one grid each, as the content of a file; `form` is png or svg."""
    figure, grids = plt.subplots(1, len(found), figsize=(6.2 * len(found), HEIGHT), layout="constrained", squeeze=False)
    for axes, title, hands in zip(grids[0], titles, found, strict=True):
        _strategy(axes, title, hands, words)
    return _content(figure, form, words)


def plot_beliefs(believed: RangeBeliefs, title: str, form: str, words: Words = ENGLISH) -> bytes:
    """A seat's strategy and the other seat's range side by side, as the content of a file."""
    own, other = believed.own, believed.other
    figure, grids = plt.subplots(1, 2 if own.actions else 1, figsize=(12.4 if own.actions else 6.2, HEIGHT),
                                 layout="constrained", squeeze=False)  # fmt: skip
    if own.actions:
        title_own = words("moves of seat {seat} by hand", seat=own.seat + 1)
        _strategy(grids[0, 0], f"{title_own}\n{said_in(words.language, own.basis)}", own, words)
    _weights(grids[0, -1], words("hands of seat {seat}", seat=other.seat + 1), other, words)
    figure.suptitle(title, fontsize=10, parse_math=False)
    return _content(figure, form, words)


def _strategy(axes: Any, title: str, hands: Hands, words: Words) -> None:
    """Split each cell by the moves, from left to right the most aggressive one first."""
    grid = hands.grid()
    for y, row in enumerate(grid):
        for x, cell in enumerate(row):
            left = float(x)
            for action, share in reversed(list(zip(hands.actions, cell["policy"], strict=True))):
                axes.add_patch(Rectangle((left, y), share, 1, color=COLOURS[action], linewidth=0))
                left += share
    _frame(axes, title, grid)
    mixed = mixed_in_words(hands.actions, hands.mean_policy())
    legend = [Patch(color=COLOURS[action], label=action) for action in reversed(hands.actions)]
    note = words("width: share of the move; on average {mixed}", mixed=mixed)
    _legend(axes, legend, note)


def _weights(axes: Any, title: str, hands: Hands, words: Words) -> None:
    """Fill each cell from below by the weight of a hand of its class, as a share of the likeliest one's."""
    grid = hands.grid()
    for y, (row, weights) in enumerate(zip(grid, hands.weights(), strict=True)):
        for x, (_, weight) in enumerate(zip(row, weights, strict=True)):
            axes.add_patch(Rectangle((x, y + 1 - weight), 1, weight, color=WEIGHT, alpha=0.25 + 0.5 * weight,
                                     linewidth=0))  # fmt: skip
    _frame(axes, f"{title}\n{said_in(words.language, hands.basis)}", grid)
    note = words("height: how likely a hand of this class is, relative to the likeliest")
    _legend(axes, [Patch(color=WEIGHT, label=words("weight"))], note)


def _frame(axes: Any, title: str, grid: list[list[dict[str, Any]]]) -> None:
    """Names, lines between the cells, and grey for classes that are impossible."""
    size = len(grid)
    for y, row in enumerate(grid):
        for x, cell in enumerate(row):
            if not cell["combos"]:
                axes.add_patch(Rectangle((x, y), 1, 1, color=IMPOSSIBLE, linewidth=0))
            axes.text(x + 0.5, y + 0.5, cell["name"], ha="center", va="center", fontsize=8,
                      color="black" if cell["combos"] else "#999999")  # fmt: skip
    for at in range(size + 1):
        axes.axhline(at, color=LINES, linewidth=0.8)
        axes.axvline(at, color=LINES, linewidth=0.8)
    axes.set(xlim=(0, size), ylim=(size, 0), aspect="equal")
    axes.axis("off")
    axes.set_title(title, fontsize=9, parse_math=False)


def _legend(axes: Any, patches: list[Patch], note: str) -> None:
    axes.legend(
        handles=patches, loc="upper center", bbox_to_anchor=(0.5, 0), ncols=3, frameon=False, fontsize=9, title=note,
        title_fontsize=9,
    )  # fmt: skip


def _content(figure: Any, form: str, words: Words) -> bytes:
    figure.supxlabel(words(DIAGONAL), fontsize=9)
    data = io.BytesIO()
    figure.savefig(data, format=form, dpi=140, bbox_inches="tight")
    plt.close(figure)
    return data.getvalue()
