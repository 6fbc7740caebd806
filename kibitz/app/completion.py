"""Shell completion of games, players, models and run folders: names are read from the index and from disk.

Importing all games and players would take longer than one waits for a Tab.
"""

from pathlib import Path

from ..core import plugins
from .index import index

FROM_FILES = {  # players from files -> the file in a run folder
    "cards": "network.safetensors",
    "doko": "network.safetensors",
    "features": "network.safetensors",
    "lstm": "network.safetensors",
    "net": "network.safetensors",
    "strategy": "strategy.safetensors",
}


def games(incomplete: str) -> list[str]:
    """Games whose name begins like this."""
    from .commands.games import listed

    return _beginning(list(listed()), incomplete)


def players(incomplete: str) -> list[str]:
    """Players whose name begins like this; after `net:` and the like, models and run folders."""
    kind, colon, start = incomplete.partition(":")
    if not colon:
        names = index()["players"]
        if plugins.have("player"):
            from ..players import PLAYERS

            names = list(PLAYERS)
        return _beginning(names, incomplete)
    if kind not in FROM_FILES:
        return []
    found = _models() if kind != "strategy" else []
    return [f"{kind}:{name}" for name in _beginning([*found, *_runs(FROM_FILES[kind])], start)]


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
