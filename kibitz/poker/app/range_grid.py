"""Strategies and ranges of hold'em in the terminal: grids of 13 x 13 hand classes that need no colours.

Rows and columns are ranks from the ace; pairs are on the diagonal, suited hands above it, offsuit hands below.
Two grids stand side by side in 80 columns, with the ranks of their rows between them.
"""

from typing import TYPE_CHECKING, Any

from rich.text import Text

from ...app.ui.words import ENGLISH, Words
from ...play.players.german import said_in
from ..beliefs import Hands
from ..rules.display import RANKS

if TYPE_CHECKING:
    from ..insight import HandInsight

COLOURS = {"fold": "blue", "check": "green", "call": "green", "bet": "red", "raise": "red"}
# Characters for the weight of a class, and the least share of the likeliest class's weight that they stand for.
SHADES = (("██", 0.75), ("▓▓", 0.5), ("▒▒", 0.25), ("░░", 0.05), ("··", 1e-9))
DIAGONAL = "pairs on the diagonal, suited hands above it, offsuit hands below"

Cells = list[list[tuple[str, str]]]  # text and style of each class


def strategy_cells(hands: Hands, percent: bool = False, marked: str = "") -> Cells:
    """The likeliest move's letter and its share with each class, in tenths or percent; blank where it is impossible.

    Args:
        percent: `r97` instead of `r9`.
        marked: The name of a class that is shown reversed.
    """

    def cell(found: dict[str, Any]) -> tuple[str, str]:
        if not found["combos"]:
            return "", ""
        share = max(found["policy"])
        action = hands.actions[found["policy"].index(share)]
        number = f"{100 * share:.0f}" if percent else str(min(int(10 * share + 1e-9), 9))
        return action[0] + number, COLOURS[action] + " reverse" * (found["name"] == marked)

    return [[cell(found) for found in row] for row in hands.grid()]


def weight_cells(hands: Hands) -> Cells:
    """A shade for the weight of each class relative to the likeliest one's; blank where it is impossible."""
    shades = [
        [next((shade for shade, least in SHADES if each >= least), "") for each in row] for row in hands.weights()
    ]
    return [[(shade, "magenta") for shade in row] for row in shades]


def grid_text(grids: list[tuple[str, Cells]], width: int = 2) -> Text:
    """One grid or two side by side, under their titles; `width` is that of a cell."""
    ranks = len(grids[0][1])
    wide = ranks * (width + 1) - 1
    names = RANKS[:ranks][::-1]
    head = " ".join(f"{name:^{width}}" for name in names)
    text = Text()
    if len(grids) == 1:
        text.append(f"  {grids[0][0]}\n", "bold").append(f"  {head}".rstrip(), "dim")
        for name, row in zip(names, grids[0][1], strict=True):
            text.append(f"\n{name} ", "dim")
            _append_row(text, row, width)
    else:
        (left, one), (right, other) = grids
        wide = max(wide, len(left))
        text.append(f"{left:{wide}}   {right}\n", "bold").append(f"{head:{wide}}   {head}".rstrip(), "dim")
        for name, row, beside in zip(names, one, other, strict=True):
            text.append("\n")
            _append_row(text, row, width, pad=True)
            text.append(f"{' ' * (wide - ranks * (width + 1) + 1)} {name} ", "dim")
            _append_row(text, beside, width)
    return text


def _append_row(text: Text, row: list[tuple[str, str]], width: int, pad: bool = False) -> None:
    for i, (cell, style) in enumerate(row):
        text.append(" " * (i > 0)).append(cell, style)
        if i < len(row) - 1 or pad:
            text.append(" " * (width - len(cell)))


# ---------------------------------------------------------------- in words


def moves_in_words(hands: Hands) -> str:
    """The letters of the moves: `f fold, c call, r raise`."""
    return ", ".join(f"{action[0]} {action}" for action in hands.actions)


def mixed_in_words(actions: tuple[str, ...], policy: Any) -> str:
    """A mixture of moves, the likeliest first: `raise 97%, call 3%`."""
    pairs = sorted(zip(policy, actions, strict=True), reverse=True)
    return ", ".join(f"{action} {100 * share:.0f}%" for share, action in pairs if share >= 0.005)


def equity_in_words(insight: "HandInsight", words: Words = ENGLISH) -> str:
    """`As Ah (AA) wins 84.3% of showdowns against this range (a tie is half a win)`."""
    found = insight.equity
    share = f"{100 * found.share:.1f}%" if found.exact else words("about {share}", share=f"{100 * found.share:.0f}%")
    text = "{hand} wins {share} of showdowns against this range (a tie is half a win)"
    return words(text, hand=f"{found.hand} ({insight.hand_class})", share=share)


def insight_text(insight: "HandInsight", width: int, words: Words = ENGLISH, legend: bool = True) -> Text:
    """Both grids of a view, the seat's strategy and the other seat's range, with their legends and the equity.

    Args:
        width: Columns of the terminal; where they are too few the grids stand one above the other.
        legend: Whether to say what the grids mean.
    """
    own, other = insight.believed.own, insight.believed.other
    grids = [(words("range of seat {seat}", seat=other.seat + 1), weight_cells(other))]
    shades = words("██ 75% or more of the highest weight, ▓▓ 50%, ▒▒ 25%, ░░ 5%, ·· less, blank 0")
    lines = [said_in(words.language, other.basis), shades]
    if own.actions:
        title = words("strategy of seat {seat} with each hand", seat=own.seat + 1)
        grids.insert(0, (title, strategy_cells(own, marked=insight.hand_class)))
        played = words("on average {mixed}", mixed=mixed_in_words(own.actions, own.mean_policy()))
        lines = [
            f"{words('left')}: {said_in(words.language, own.basis)}; {played}",
            words("likeliest move ({moves}) and its share in tenths; 9: 90% or more", moves=moves_in_words(own)),
            f"{words('right')}: {lines[0]}",
            shades,
        ]
    together = grid_text(grids)
    fits = max(map(len, together.plain.splitlines())) <= width
    text = together if fits else Text("\n").join(grid_text([each]) for each in grids)
    for line in [*lines, words(DIAGONAL)] if legend else []:
        text.append("\n").append(line, "dim")
    return text.append("\n").append(equity_in_words(insight, words))
