"""Strategies and ranges of hold'em as a picture: cells split by move, or shaded by weight."""

import io
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.patches import Patch, Rectangle

from ...app.ui.words import ENGLISH, Words
from ...play.players.german import said_in
from ..beliefs import Hands
from .range_grid import DIAGONAL, equity_in_words, mixed_in_words

if TYPE_CHECKING:
    from ..insight import HandInsight

# Of moves, as on the web table; blue, green and red are told apart by their lightness too.
COLOURS = {"fold": "#a9c1d9", "check": "#cfe8b9", "call": "#cfe8b9", "bet": "#d9705b", "raise": "#d9705b"}
WEIGHT, IMPOSSIBLE, LINES = "#8e5aa8", "#eeeeee", "#d8d8d8"
WIDTH, HEIGHT = 6.2, 7.8  # inches of a grid with its legend


def plot_strategies(
    players: Sequence[str], found: Sequence[Hands], title: str, form: str, words: Words = ENGLISH
) -> bytes:
    """What players do with every hand, one grid each, as the content of a file; `form` is png or svg."""
    figure, grids = _figure(len(found))
    for axes, player, hands in zip(grids, players, found, strict=True):
        _strategy(axes, player, hands, words)
    return _content(figure, title, form, words)


def plot_insight(insight: "HandInsight", title: str, form: str, words: Words = ENGLISH) -> bytes:
    """A seat's strategy, with its own hand framed, and the other seat's range, as the content of a file."""
    own, other = insight.believed.own, insight.believed.other
    figure, grids = _figure(2 if own.actions else 1)
    if own.actions:
        title_own = words("strategy of seat {seat} with each hand", seat=own.seat + 1)
        _strategy(grids[0], f"{title_own}\n{said_in(words.language, own.basis)}", own, words, insight.hand_class)
    _weights(grids[-1], words("range of seat {seat}", seat=other.seat + 1), other, words)
    return _content(figure, f"{title}\n{equity_in_words(insight, words)}", form, words)


def _figure(grids: int) -> tuple[Any, Any]:
    figure, axes = plt.subplots(1, grids, figsize=(WIDTH * grids, HEIGHT), layout="constrained", squeeze=False)
    return figure, axes[0]


def _strategy(axes: Any, title: str, hands: Hands, words: Words, marked: str = "") -> None:
    """Split each cell by the moves, from left to right the most aggressive one first; frame the marked class."""
    grid = hands.grid()
    for y, row in enumerate(grid):
        for x, cell in enumerate(row):
            left = float(x)
            for action, share in reversed(list(zip(hands.actions, cell["policy"], strict=True))):
                axes.add_patch(Rectangle((left, y), share, 1, color=COLOURS[action], linewidth=0))
                left += share
    _frame(axes, title, grid, marked)
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


def _frame(axes: Any, title: str, grid: list[list[dict[str, Any]]], marked: str = "") -> None:
    """Names, lines between the cells, a frame around the marked class, and grey for those that are impossible."""
    size = len(grid)
    for y, row in enumerate(grid):
        for x, cell in enumerate(row):
            if not cell["combos"]:
                axes.add_patch(Rectangle((x, y), 1, 1, color=IMPOSSIBLE, linewidth=0))
            axes.text(x + 0.5, y + 0.5, cell["name"], ha="center", va="center", fontsize=8,
                      color="black" if cell["combos"] else "#999999")  # fmt: skip
            if cell["name"] == marked:
                axes.add_patch(Rectangle((x, y), 1, 1, fill=False, linewidth=2.5, zorder=3, clip_on=False))
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


def _content(figure: Any, title: str, form: str, words: Words) -> bytes:
    figure.suptitle(title, fontsize=10, parse_math=False)
    figure.supxlabel(words(DIAGONAL), fontsize=9)
    data = io.BytesIO()
    figure.savefig(data, format=form, dpi=140, bbox_inches="tight")
    plt.close(figure)
    return data.getvalue()
