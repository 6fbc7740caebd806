"""Shell completion of games, players, models and run folders: names are read from the source files and from disk.

Nothing of the package is imported for it, as importing all games and players takes longer than one waits for a Tab.
"""

import re
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).parents[1]
MODELS = "models/"
FROM_FILES = {  # players from files -> the file in a run folder
    "cards": "network.safetensors",
    "doko": "network.safetensors",
    "features": "network.safetensors",
    "lstm": "network.safetensors",
    "net": "network.safetensors",
    "strategy": "strategy.safetensors",
}


@cache
def registered(folder: str) -> list[str]:
    """Names that classes are registered by, `@player("random")`, in the source files of a package and below."""
    found = re.compile(r'^@\w+\(\s*"([\w+-]+)"', re.MULTILINE)
    files = sorted((PACKAGE / folder).rglob("*.py"))
    return sorted(name for path in files for name in found.findall(path.read_text(encoding="utf-8")))


def games(incomplete: str) -> list[str]:
    """Games whose name begins like this."""
    return _beginning(registered("games"), incomplete)


def players(incomplete: str) -> list[str]:
    """Players whose name begins like this; after `net:` and the like, models and run folders."""
    kind, colon, start = incomplete.partition(":")
    if not colon:
        return _beginning([*registered("players"), *registered("search")], incomplete)
    if kind not in FROM_FILES:
        return []
    found = [f"{MODELS}{name}" for name in _models()] if kind != "strategy" else []
    return [f"{kind}:{name}" for name in _beginning([*found, *_runs(FROM_FILES[kind])], start)]


def models(incomplete: str) -> list[str]:
    """Models that ship with the package."""
    return _beginning([f"{MODELS}{name}" for name in _models()], incomplete)


def runs(incomplete: str) -> list[str]:
    """Run folders in `runs`."""
    return _beginning(_runs("config.json"), incomplete)


def _models() -> list[str]:
    return [path.stem for path in (PACKAGE / "models").glob("*.safetensors")]


def _runs(file: str) -> list[str]:
    return [path.parent.as_posix() for path in Path("runs").glob(f"*/{file}")]


def _beginning(names: list[str], start: str) -> list[str]:
    return sorted(name for name in names if name.startswith(start))
