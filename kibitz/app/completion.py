"""Shell completion of games, players, models and run folders: names are read from the index and from disk.

Importing all games and players would take longer than one waits for a Tab.
"""

from pathlib import Path

from ..core import plugins
from .index import games_listed, index


def games(incomplete: str) -> list[str]:
    """Games whose name begins like this."""
    return _beginning(list(games_listed()), incomplete)


def players(incomplete: str) -> list[str]:
    """Players whose name begins like this; after `net:` and the like, models and run folders."""
    kind, colon, start = incomplete.partition(":")
    if not colon:
        names = index()["players"]
        if plugins.have("player"):
            from ..play.players import PLAYERS

            names = list(PLAYERS)
        return _beginning(names, incomplete)
    file = index()["files"].get(kind)
    if file is None:
        return []
    found = _models() if kind != "strategy" else []
    return [f"{kind}:{name}" for name in _beginning([*found, *_runs(file)], start)]


def models(incomplete: str) -> list[str]:
    """Models that ship with the package."""
    return _beginning(_models(), incomplete)


def runs(incomplete: str) -> list[str]:
    """Run folders in `runs`."""
    return _beginning(_runs("config.json"), incomplete)


def _models() -> list[str]:
    return [model["network"] for model in index()["models"]]


def _runs(file: str) -> list[str]:
    return [path.parent.as_posix() for path in Path("runs").glob(f"*/{file}")]


def _beginning(names: list[str], start: str) -> list[str]:
    return sorted(name for name in names if name.startswith(start))
