"""The patterns behind the moves of a position, as a list that prints well."""

from __future__ import annotations

from html import escape
from typing import Any

from ..core.names import counted
from ..play.statistics import text_table

HEADER = ["move", "probability", "contribution", "pattern"]
MOST_SHOWN = 5  # moves


class ExplainedMoves(list[dict[str, Any]]):
    """One dictionary per legal move, in the order of the rules; it prints as a table, the likeliest moves first."""

    def __str__(self) -> str:
        return "\n".join([text_table(HEADER, [cells for cells, _ in self._rows()]), *self._left_out()])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """The table with drawings of the patterns, for notebooks."""
        head = "".join(f"<th>{title}</th>" for title in [*HEADER, ""])
        body = "".join(
            f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in cells)}<td>{svg}</td></tr>"
            for cells, svg in self._rows()
        )
        left_out = "".join(f"<p>{text}</p>" for text in self._left_out())
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{left_out}"

    def _rows(self) -> list[tuple[list[str], str]]:
        """Cells of the table and a drawing, per pattern of the likeliest moves."""
        rows = []
        for move in sorted(self, key=lambda move: -move["prob"])[:MOST_SHOWN]:
            first = [move["move"], f"{move['prob']:.1%}"]
            for pattern in move["patterns"]:
                words = pattern["words"] if pattern["active"] else f"active for other moves only: {pattern['words']}"
                rows.append(([*first, f"{pattern['contribution']:+.2f}", words], pattern["svg"]))
                first = ["", ""]
            if not move["patterns"]:
                rows.append(([*first, "", "no pattern"], ""))
        return rows

    def _left_out(self) -> list[str]:
        left = len(self) - MOST_SHOWN
        return [f"and {counted(left, 'more move')}"] if left > 0 else []
