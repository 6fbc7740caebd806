"""Search teaches networks to play games, and the networks make the search better.

The names below are the public interface; each is imported when it is first used, so `import kibitz` takes no time.
`docs/python.md` shows them at work.
"""

import importlib
import types
from typing import TYPE_CHECKING, Any

from .core.version import __version__

_PUBLIC = {
    # what to do with games
    "load": "api.loading", "solve": "api.solving", "advise": "api.positions", "match": "api.playing",
    "tournament": "api.playing", "train": "api.training", "resume": "api.training", "exploit": "api.playing",
    "play": "api.playing", "search": "api.positions", "models": "api.training", "check": "api.loading",
    "beliefs": "api.positions", "review": "api.positions", "explain": "api.positions",
    # what comes back
    "Solution": "api.solving", "TrainingRun": "api.training", "Advice": "search.advice",
    "State": "games.state", "MatchResult": "play.match", "Standings": "play.tournament", "BadInput": "core.names",
    # for authors of games and players
    "game": "games.game", "CHANCE": "games.game", "OVER": "games.game", "record": "jit", "helper": "jit",
    "player": "play.players.player",
    # environments for learners of others
    "gym": "bridges.envs", "pettingzoo": "bridges.envs", "vector": "bridges.envs",
}  # fmt: skip
_BRIDGES = {"openspiel": "bridges.openspiel"}  # modules that import an extra
__all__ = [
    "CHANCE",
    "OVER",
    "Advice",
    "BadInput",
    "MatchResult",
    "Solution",
    "Standings",
    "State",
    "TrainingRun",
    "__version__",
    "advise",
    "beliefs",
    "check",
    "explain",
    "exploit",
    "game",
    "gym",
    "helper",
    "load",
    "match",
    "models",
    "openspiel",
    "pettingzoo",
    "play",
    "player",
    "record",
    "resume",
    "review",
    "search",
    "solve",
    "tournament",
    "train",
    "vector",
]

if TYPE_CHECKING:
    from .api.loading import check, load
    from .api.playing import exploit, match, play, tournament
    from .api.positions import advise, beliefs, explain, review, search
    from .api.solving import Solution, solve
    from .api.training import TrainingRun, models, resume, train
    from .bridges import openspiel
    from .bridges.envs import gym, pettingzoo, vector
    from .core.names import BadInput
    from .games.game import CHANCE, OVER, game
    from .games.state import State
    from .jit import helper, record
    from .play.match import MatchResult
    from .play.players.player import player
    from .play.tournament import Standings
    from .search.advice import Advice


class _Room(types.ModuleType):  # whose name is a function, too: `kibitz.solve("leduc")`, and `kibitz.solve.cfr`
    def __call__(self, *arguments: Any, **options: Any) -> Any:
        return self._function(*arguments, **options)

    @property
    def _function(self) -> Any:
        name = self.__name__.rpartition(".")[2]
        return getattr(importlib.import_module(f"{__name__}.{_PUBLIC[name]}"), name)

    @property
    def __doc__(self) -> str:  # type: ignore[override]
        return str(self._function.__doc__)

    @property
    def __signature__(self) -> Any:
        import inspect

        return inspect.signature(self._function)


if not TYPE_CHECKING:
    from . import play, search, solve, train

    for _room in (play, search, solve, train):
        _room.__class__ = _Room


def __getattr__(name: str) -> Any:
    if name in _BRIDGES:
        return importlib.import_module(f"{__name__}.{_BRIDGES[name]}")
    if name not in _PUBLIC:
        raise AttributeError(f"module 'kibitz' has no attribute {name!r}: it has {', '.join(__all__)}")
    value = getattr(importlib.import_module(f"{__name__}.{_PUBLIC[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
