"""The command line, for what the arena prints."""

from ..app.conftest import kibitz

__all__ = ["kibitz"]
