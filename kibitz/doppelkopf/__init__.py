"""Doppelkopf, a guest: imports any room but `app`, where only its own folder `app` may look; no room imports it."""
