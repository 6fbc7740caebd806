"""A few random games of doppelkopf:thesis, for tests."""

import functools

from kibitz.arena.match import play_match

RULES = "doppelkopf:thesis"


@functools.cache
def records(count=24):
    return tuple(play_match(RULES, ["random"] * 4, count, 1, 1, fresh=True))


def write(path, found=None):
    path.write_text("".join(record.line() for record in (records() if found is None else found)))
    return path
