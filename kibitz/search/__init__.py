"""Deciding one position, one file per algorithm: imports `games` and the rooms before it."""
