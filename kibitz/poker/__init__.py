"""Poker with public cards that come street by street. A guest: it enters by registries and hooks (see `plugin`)."""
