"""A few random games of doppelkopf:thesis, for tests."""

import functools

from kibitz.play.play import recorded_games

RULES = "doppelkopf:thesis"


@functools.cache
def records(count=24):
    return tuple(map(recorded_games(RULES, ["random"] * 4, 1), range(count)))


def write(path, found=None):
    path.write_text("".join(record.line() for record in (records() if found is None else found)))
    return path
