"""Which `.py` files may be imported and which programs started: those that the person has named or trusts."""

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from .names import as_path


class Trust:
    """Which `.py` files may be imported, and which programs started: those that the person has named, not those that
    only data names.

    What was named holds for the whole process; `guarded` and `everything` for one call (see `only_named`).
    """

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

    def __getstate__(self) -> dict[str, Any]:  # a copy, as other threads may add names meanwhile
        return vars(self) | {"named": set(self.named), "programs": set(self.programs)}

    def within_call(self, trust: bool) -> "Trust":
        """The same for a call that the person has made, who may have said that everything is trusted."""
        inner = Trust(guarded=True, everything=self.everything or trust)
        inner.named, inner.programs = self.named, self.programs
        return inner


_of_process = Trust()
_of_call: ContextVar[Trust | None] = ContextVar("trust", default=None)
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
    that come from a file are resolved inside one without texts. It holds for this call, not for what runs in other
    threads or tasks at the same time; a thread that is started inside takes a copy of the context to be guarded, too.

    Args:
        texts: Command-line arguments, or names of games, players, searches and learners; other objects are ignored.
        trust: Whether any file may be imported, as the person has said so.
    """
    outer = _of_call.get() or _of_process
    for text in texts:
        name = re.sub("^--?[a-z_-]+=", "", text) if isinstance(text, str) else ""
        if name.startswith(ENGINE):
            outer.programs.add(program_in(name))
        elif ".py:" in name:
            outer.named.add(as_path(name.rpartition(".py:")[0] + ".py").resolve())
    before = _of_call.set(outer.within_call(trust))
    try:
        yield
    finally:
        _of_call.reset(before)


def trust_all() -> None:
    """Allow every file until the end of the surrounding `only_named`: the person has said so."""
    trust().everything = True


def trust() -> Trust:
    """What may be imported now, for `use_trust` in a worker process."""
    return _of_call.get() or _of_process


def use_trust(given: Trust) -> None:
    """Allow in this process, in all of its threads, what another one allows."""
    global _of_process
    _of_process = given
