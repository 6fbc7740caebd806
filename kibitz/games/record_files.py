"""Reads recorded games of any format, and recognizes the format. A class with `@record_format("name")` adds one."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from ..core import names
from ..core.files import read_text
from ..core.names import BadInput, located
from ..core.registry import Registry
from ..jit import kernel
from . import OVER, Game, full_name, load, load_stored, positions
from .game import SCRATCH
from .records import FILE, Record, read_line, read_records

FORMATS = record_format = Registry("record format")  # but for json, Kibitz's own
JSON, JSON_ABOUT = "json", "JSON lines, as matches write them"
MANY = 1000  # games for which it pays to compile the rules
UNKNOWN = "unknown"  # the player of a format without names


class RecordFormat:
    """A format of recorded games. What `__init__` takes, `Annotated`, are its options: `thesis:position=dealer`."""

    about = ""  # what it is, for help
    suffix = ""  # of files of this format, such as .txt; empty: they have none of their own
    rules = ""  # the game where none is named; empty: files name theirs
    writes = True  # False: it is only read
    between = ""  # what stands between two games
    loses = ""  # what a record may have and a file of this format doesn't

    def recognizes(self, text: str) -> bool:
        """Whether a file that begins like this is of the format."""
        return False

    def plays(self, game: Game) -> bool:
        """Whether games by these rules can be written."""
        raise NotImplementedError

    def read(self, text: str, game: Game | None, left_out: Callable[[str], None]) -> Iterator[tuple[Record, Any]]:
        """Yield each game with its last position; tell `left_out` why something in the file is no whole game.

        Args:
            text: The content of a file.
            game: The rules; None where files name theirs.
            left_out: Receives the reasons.

        Raises:
            BadInput: A game can't have been played; the message begins with its line.
        """
        raise NotImplementedError

    def write(self, game: Game, record: Record, end: Any, language: str) -> str:
        """A game with its last position as text."""
        raise NotImplementedError

    def is_lossy(self, end: Any) -> bool:
        """Whether the game with this last position has something that is lost (see `loses`)."""
        return False

    def replay(self, game: Game, record: Record, many: bool) -> Any:
        """The last position of a record, or BadInput with what is wrong; with `many` rules are compiled."""
        if many:
            end = positions(game)[0]
            played = play_all(game, np.array(record.actions, np.int64), end, np.empty(SCRATCH, np.int64))
            if played and record.payoffs == [game.payoff(end, seat) for seat in range(game.facts.seats)]:
                return end
        return record.verify()


def format_of(text: str) -> RecordFormat:
    """A format from its name and options, such as `thesis:position=dealer`."""
    name, parameters = names.split(text)
    cls = FORMATS[names.choose("format", name, [JSON, *FORMATS])]
    made: RecordFormat = cls(**names.parameters(name, cls, parameters))
    return made


def looks_like(text: str) -> str:
    """The name of the format of recorded games."""
    first = text.lstrip().lstrip("\ufeff")
    if not first or first.startswith("{"):
        return JSON
    for name in FORMATS:
        if format_of(name).recognizes(first):
            return name
    raise BadInput(f"the format of these games isn't recognized: known are {', '.join([JSON, *FORMATS])}")


def read_games(
    text: str,
    read_as: str | None = None,
    rules: str | None = None,
    left_out: Callable[[str], None] = lambda reason: None,
) -> Iterator[tuple[Record, Any]]:
    """Yield each recorded game with its last position.

    Args:
        text: The content of a file.
        read_as: Its format, with options; None: as `looks_like` says.
        rules: The game that was played, for formats that don't name it; None: the format's usual one.
        left_out: Receives the reason for each part of the file that is no whole game.

    Raises:
        BadInput: A game can't have been played.
    """
    read_as = looks_like(text) if read_as is None else read_as
    if read_as == JSON:
        yield from _from_json(text)
        return
    form = format_of(read_as)
    rules = form.rules if rules is None else rules
    game = load(rules) if form.rules else None
    if game is not None and not form.plays(game):
        usual, name = names.split(form.rules)[0], names.split(read_as)[0]
        raise BadInput(f"--rules {rules}: the format {name} is for {usual}")
    yield from form.read(text, game, left_out)


def read_game(path: Path, number: int = 1, read_as: str | None = None, rules: str | None = None) -> Record:
    """One game, of any rules, of a file of any format or of the run folder that holds one, by its number from 1.

    Games of a match are found by their own numbers, others by their places in the file.
    """
    path = path / FILE if path.is_dir() else path
    text = read_text(path, "file of games")
    with located(path):
        read_as = looks_like(text) if read_as is None else read_as
    if read_as == JSON:
        records = {record.number + 1: record for record in read_records(path)}
    with located(path):
        if read_as != JSON:
            records = {place: record for place, (record, _) in enumerate(read_games(text, read_as, rules), 1)}
        if number not in records:
            held = f"its games are {min(records)} to {max(records)}" if records else "it is empty"
            raise BadInput(f"it has no game {number}: {held}")
        records[number].verify()
    return records[number]


def unnamed(number: int, game: Game, actions: list[int], payoffs: list[float]) -> Record:
    """The record of a game of a format without names."""
    return Record(number, full_name(game), [UNKNOWN] * game.facts.seats, 0, actions, payoffs)


def _from_json(text: str) -> Iterator[tuple[Record, Any]]:
    many = text.count("\n") >= MANY
    for number, line in enumerate(text.splitlines()):
        where = f"line {number + 1}"
        record = read_line(line, f"{where},")
        with located(where):
            end = _end_of(record, many)
        yield record, end


def _end_of(record: Record, many: bool) -> Any:
    """Return the last position of a game; refuse one that can't have been played, or has no other format."""
    with located(f"game {record.number + 1}"):
        game = load_stored(record.game)
        forms = [format_of(name) for name in FORMATS]
        form = next((form for form in forms if form.plays(game)), None)
        if form is None:
            raise BadInput(f"games of {record.game} have no form but Kibitz's own")
    return form.replay(game, record, many)


@kernel
def play_all(game, actions, state, legal):
    """Whether these are all the actions of a game, and all legal."""
    for action in actions:
        found = False
        if game.turn(state) != OVER:
            for i in range(game.actions(state, legal)):
                found |= legal[i] == action
        if not found:
            return False
        game.play(state, action)
    return game.turn(state) == OVER
