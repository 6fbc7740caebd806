"""Which `.py` files may be imported and which programs started: those that the person has named or trusts."""

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from .names import as_path


class Trust:
    """Which `.py` files may be imported, and which programs started: those that the person has named, not those that
    only data names."""

    def __init__(self, named: Iterable[Path] = (), guarded: bool = False, everything: bool = False) -> None:
        self.named = set(named)  # by the person, on the command line or in Python, since this process was started
        self.programs: set[str] = set()  # likewise: commands of engines
        self.guarded = guarded  # whether only those may be imported
        self.everything = everything  # whether data may name any other

    def allows(self, file: Path) -> bool:
        """Whether a file may be imported. Where nothing is guarded, Python code names it: that is remembered."""
        if not self.guarded:
            self.named.add(file.resolve())
        return self.everything or file.resolve() in self.named

    def allows_program(self, command: str) -> bool:
        """Whether a program may be started, as `allows` says of a file."""
        if not self.guarded:
            self.programs.add(command)
        return self.everything or command in self.programs


_trust = Trust()
ENGINE = "engine:"  # how the name of a player begins that is a program


def program_in(text: str) -> str:
    """The command in the name of a player that is a program: `engine:COMMAND,seconds=1` -> `COMMAND`."""
    parts = [part.strip() for part in text.removeprefix(ENGINE).split(",")]
    named = [part.partition("=")[2].strip() for part in parts if part.startswith("path=")]
    return named[0] if named else parts[0]


@contextmanager
def only_named(*texts: Any, trust: bool = False) -> Iterator[None]:
    """Allow only `.py` files to be imported, and programs to be started, that these texts name or that were before.

    The command line and the functions of the API run inside such a block, with what the person has given them; names
    that come from a file are resolved inside one without texts.

    Args:
        texts: Command-line arguments, or names of games, players, searches and learners; other objects are ignored.
        trust: Whether any file may be imported, as the person has said so.
    """
    before = _trust.guarded, _trust.everything
    for text in texts:
        name = re.sub("^--?[a-z_-]+=", "", text) if isinstance(text, str) else ""
        if name.startswith(ENGINE):
            _trust.programs.add(program_in(name))
        elif ".py:" in name:
            _trust.named.add(as_path(name.rpartition(".py:")[0] + ".py").resolve())
    _trust.guarded, _trust.everything = True, _trust.everything or trust
    try:
        yield
    finally:
        _trust.guarded, _trust.everything = before


def trust_all() -> None:
    """Allow every file until the end of the surrounding `only_named`: the person has said so."""
    _trust.everything = True


def trust() -> Trust:
    """What may be imported now, for `use_trust` in a worker process."""
    return _trust


def use_trust(given: Trust) -> None:
    """Allow in this process what another one allows."""
    global _trust
    _trust = given
