"""Heads-up limit hold'em. The game is in `rules`, its parts in the other files."""

from .rules import Holdem

__all__ = ["Holdem"]
