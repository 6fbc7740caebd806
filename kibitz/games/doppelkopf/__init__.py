"""Doppelkopf by the tournament rules of the DDV. `rules` holds the game, the other files its parts."""

from .rules import Doppelkopf

__all__ = ["Doppelkopf"]
