"""Arguments that the functions of the interface share: games and players by name or as objects, and paths."""

from pathlib import Path

from ..core.names import as_path
from ..games import Game
from ..play.players.player import Player

AnyGame = Game | str
AnyPlayer = Player | str


def path_or_none(folder: str | Path | None) -> Path | None:
    return None if folder is None else as_path(folder)
