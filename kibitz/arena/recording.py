"""Recordings: many games of the same players, each of its own luck, for networks to learn from.

Played and written as a match is: all cores, each game as it ends, the same games whoever plays them.
"""

from collections.abc import Sequence
from pathlib import Path

from ..games import full_name, load
from ..names import BadInput, at_least
from ..runs import Run
from .match import table


def open_recording(folder: Path | None, game_name: str, names: Sequence[str], games: int, seed: int) -> Run:
    """A new run folder, or one that holds this recording, of as many games or fewer. One name is for all seats."""
    at_least("games", games, 1)
    at_least("seed", seed, 0)
    game = load(game_name)
    seats = game.facts.seats
    if len(names) not in (1, seats):
        raise BadInput(
            f"{full_name(game)} is for {seats} players: name one for all seats, or {seats}, not {len(names)}"
        )
    players = list(names) * (seats if len(names) == 1 else 1)
    table(game_name, players, seed)
    config = {"command": "record", "game": full_name(game), "players": players, "games": games, "seed": seed}
    return Run.create_or_resume(folder, f"{game.name}-record", config, may_grow=("games",))
