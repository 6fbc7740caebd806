"""Tables that fit the terminal."""

from rich.measure import Measurement
from rich.table import Table

from .progress import out


def compact_table(*heads: str) -> Table:
    """A table without lines between its cells; long cells continue on the next line."""
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="bold")
    for head in heads:
        table.add_column(head, overflow="fold")
    return table


def fits(table: Table) -> bool:
    """Whether a table is shown without wrapping its cells."""
    return Measurement.get(out, out.options.update(max_width=100_000), table).maximum <= out.width
