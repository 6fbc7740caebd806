"""Heads-up limit hold'em. `rules` holds the game, the other files its parts."""

from .rules import Holdem

__all__ = ["Holdem"]
