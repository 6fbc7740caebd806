"""Learners, one folder each, and the loop that runs them: imports `solve` and the rooms before it."""
