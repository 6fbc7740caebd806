"""Cuckoo: one card each, which a seat may exchange once for the top card of the deck; the higher card wins."""
