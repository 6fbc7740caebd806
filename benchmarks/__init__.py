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
    """Rows whose name contains one of the words; all if no word is given."""
    try:
        import phevaluator  # noqa: F401
        import pyspiel  # noqa: F401
    except ImportError:
        raise BadInput("benchmarks need OpenSpiel and phevaluator: pip install 'kibitz[bench]'") from None
    chosen = [row for row in ROWS if not wanted or any(word in row.name for word in wanted)]
    for word in wanted:
        if not any(word in row.name for row in chosen):
            choose("benchmark", word, [row.name for row in ROWS])
    return chosen
