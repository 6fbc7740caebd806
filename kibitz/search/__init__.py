"""Searches, solvers and best responses on the rules of a game: one file per algorithm, no terminal, no torch."""
