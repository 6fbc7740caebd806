"""Speed on one core, against OpenSpiel and against simpler implementations of our own. One file per kind of work."""

from kibitz.core.names import BadInput, choose

from . import deep_cfr, doppelkopf, doppelkopf_networks, holdem, networks, openspiel, patterns, pcs, selfplay, vector
from .measuring import Row

ROWS: list[Row] = [
    row
    for rows in (
        openspiel,
        holdem,
        doppelkopf,
        doppelkopf_networks,
        patterns,
        networks,
        deep_cfr,
        pcs,
        vector,
        selfplay,
    )
    for row in rows.ROWS
]


def select(wanted: list[str]) -> list[Row]:
    """Rows whose name contains one of the words, all if no word is given; those without a peer are skipped.

    Raises:
        BadInput: There is no such row, or no peer of any row is installed.
    """
    for word in wanted:
        if not any(word in row.name for row in ROWS):
            choose("benchmark", word, [row.name for row in ROWS])
    found = [row for row in _named(wanted) if not row.missing]
    if not found:
        raise BadInput(f"{', '.join(skipped(wanted))}: the peer isn't installed: pip install 'kibitz[bench]'")
    return found


def skipped(wanted: list[str]) -> list[str]:
    """The names of rows that would be measured if their peer were installed."""
    return [row.name for row in _named(wanted) if row.missing]


def _named(wanted: list[str]) -> list[Row]:
    return [row for row in ROWS if not wanted or any(word in row.name for word in wanted)]
