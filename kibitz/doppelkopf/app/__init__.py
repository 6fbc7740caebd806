"""Commands of Doppelkopf."""
