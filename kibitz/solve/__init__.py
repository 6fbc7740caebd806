"""Whole games: CFR, the sequence form, best responses; imports `nets` and the rooms before it."""
