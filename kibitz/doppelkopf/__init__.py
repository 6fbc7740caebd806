"""Doppelkopf. A guest: it enters by registries and hooks (see `plugin`)."""
