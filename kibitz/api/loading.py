"""Games by name, and the check of their rules."""

from __future__ import annotations

from ..core.names import at_least
from ..core.trust import only_named
from ..games import Game
from ..games import check as _check
from ..games import load as _load
from .arguments import AnyGame


def load(game: AnyGame) -> Game:
    """Load a game.

    Args:
        game: A name with parameters (`"leduc"`, `"goofspiel:13"`, `"liars_dice:dice=2,faces=6"`), a game in a file
            (`"path/to/my_game.py:MyGame"`), or a game, which is returned as it is.

    Returns:
        The game. `game.initial()` gives its first state, `game.facts` its facts.

    Example:
        >>> import kibitz
        >>> game = kibitz.load("leduc")
        >>> game.facts.num_actions
        3
    """
    with only_named(game):
        return _load(game)


def check(game: AnyGame, games: int = 40, seed: int = 1) -> int:
    """Check that the rules and facts of a game are right: for authors of games.

    Random games are played in plain Python, and everything that the rules return is checked against the facts and
    against each other; then each rule is compiled by itself and compared with plain Python, and what `determinize`
    gives is compared with all positions that fit.

    Args:
        game: A game or its name.
        games: Number of random games.
        seed: The same seed plays the same games.

    Returns:
        The number of positions that were checked.

    Raises:
        BadInput: Something is wrong. The message is one line: file, line, rule or fact, and what to write.

    Example:
        >>> import kibitz
        >>> kibitz.check("kuhn", games=2) > 6
        True
    """
    at_least("games", games, 1)
    at_least("seed", seed, 0)
    return _check(_load(game), games, seed=seed)
