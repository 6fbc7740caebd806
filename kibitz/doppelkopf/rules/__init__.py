"""Doppelkopf by the tournament rules of the DDV. The game is in `rules`, its parts in the other files."""

from .rules import Doppelkopf

__all__ = ["Doppelkopf"]
