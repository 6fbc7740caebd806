"""Records that refuse what a rule writes and the field can't hold: NumPy would drop the fraction without a word."""

from typing import Any

import numpy as np

from ..protocol import Game


class DropsFraction(TypeError):
    """A rule writes a number that isn't whole into a field of whole numbers."""


def _refuse(what: str, kind: np.dtype, value: Any) -> None:
    if kind.base.kind in "iu" and np.asarray(value).dtype.kind == "f" and (np.asarray(value) % 1 != 0).any():
        first = np.asarray(value)[np.asarray(value) % 1 != 0].ravel()[0]
        raise DropsFraction(f"it writes {first:g} into {what} of whole numbers ({kind.base.name})")


class _Numbers(np.ndarray):
    """An array in a record."""

    def __setitem__(self, key: Any, value: Any) -> None:
        _refuse("an array", self.dtype, value)
        super().__setitem__(key, value)


class _Record(np.record):  # type: ignore[misc]
    def __setattr__(self, name: str, value: Any) -> None:
        if name in (self.dtype.names or ()):
            _refuse(f"the field {name}", self.dtype[name], value)
        super().__setattr__(name, value)

    def __setitem__(self, key: Any, value: Any) -> None:
        if isinstance(key, str) and key in (self.dtype.names or ()):
            _refuse(f"the field {key}", self.dtype[key], value)
        super().__setitem__(key, value)

    def __getattribute__(self, name: str) -> Any:
        found = super().__getattribute__(name)
        return found.view(_Numbers) if type(found) is np.ndarray else found


def strict(game: Game, states: np.ndarray) -> Any:
    """The first of some records, which shares its memory."""
    return states.view(np.dtype((_Record, game.state)))[0]
