"""The patterns behind the moves of a position, as a list that prints well."""

from __future__ import annotations

from html import escape
from typing import Any

from ..arena.statistics import text_table
from ..core.names import counted

HEADER = ["move", "probability", "contribution", "pattern"]
MOST_SHOWN = 5  # moves


class Explanation(list[dict[str, Any]]):
    """One dictionary per legal move, in the order of the rules; it prints as a table, the likeliest moves first."""

    def likeliest(self) -> list[dict[str, Any]]:
        """The moves that are shown."""
        return sorted(self, key=lambda move: -move["prob"])[:MOST_SHOWN]

    def __str__(self) -> str:
        rows = []
        for move in self.likeliest():
            first = [move["move"], f"{move['prob']:.1%}"]
            for pattern in move["patterns"] or [None]:
                rows.append([*first, *(_told(pattern) if pattern else ("", "no pattern"))])
                first = ["", ""]
        left = len(self) - len(self.likeliest())
        return "\n".join([text_table(HEADER, rows), *([f"and {counted(left, 'more move')}"] if left else [])])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """A table with the patterns drawn, for notebooks."""
        rows = []
        for move in self.likeliest():
            first = f"<td>{escape(move['move'])}</td><td>{move['prob']:.1%}</td>"
            for pattern in move["patterns"]:
                adds, words = _told(pattern)
                rows.append(f"<tr>{first}<td>{adds}</td><td>{escape(words)}</td><td>{pattern['svg']}</td></tr>")
                first = "<td></td><td></td>"
        head = "".join(f"<th>{title}</th>" for title in [*HEADER, ""])
        return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"


def _told(pattern: dict[str, Any]) -> tuple[str, str]:
    """What a pattern adds to the logit, and what it says; it may be one that only other moves have."""
    words = pattern["words"] if pattern["active"] else f"active for other moves only: {pattern['words']}"
    return f"{pattern['contribution']:+.2f}", words
