"""Players: what they are, how one is made from its name, and base classes for those that advise or follow a policy.

A player only ever gets views, so it can't peek. It is anything with a method `move(view) -> action`, or
`action_probs(views)` for many views at once; `begin(game, seat, seed)` and `advice` are optional.
`docs/write-a-player.md` writes one.
"""

import operator
from contextlib import suppress
from typing import Any, Protocol

import numpy as np

from ...core import names, plugins
from ...core.names import BadInput
from ...core.registry import Registry
from ...core.user_files import is_shipped
from ...games import Game, legal_actions
from ...search.advice import Advice, fixed_advice
from ...search.policies import action_probs, weighed

PLAYERS = Registry("player", "kibitz.play.players")
player = PLAYERS  # as a decorator: @player("name")


class Forfeit(BadInput):
    """A player can't go on, so that it loses the game."""


class Player(Protocol):
    """What plays a seat. Any object with `move` will do for `match` and others.

    A player may have a method `opened(actions)`: it is called with the random moves that a game begins with.
    """

    advice: Advice | None  # what the last move was drawn from; None where the player only moves

    def begin(self, game: Game, seat: int, seed: int) -> None:
        """Begin a new game from this seat. The same seed gives the same moves.

        Raises:
            BadInput: The player can't play this game.
        """

    def move(self, view: Any) -> int:
        """Return a legal action at a view of the player's seat, whose turn it is.

        Raises:
            Forfeit: The player can't go on.
        """


def same(one: Game, other: Game) -> bool:
    """Whether two games are the same. Tuples are equal by their fields, as Othello and Yavalath of size 4 are."""
    return type(one) is type(other) and one == other


def explained(player: Any, view: Any) -> Advice | None:
    """The advice behind a player's last move, as it is shown to people; None where the player only moves.

    A player may say more than its move needed: with a method `explain(view)`.
    """
    explain = getattr(player, "explain", None)
    return explain(view) if explain and player.advice is not None else player.advice


# ---------------------------------------------------------------- base classes


class AdvisedPlayer:
    """Draws its moves from its own advice. A subclass has `advise(view)`."""

    advice: Advice | None = None

    def begin(self, game: Game, seat: int, seed: int) -> None:
        self.game, self.seat = game, seat
        self.generator = np.random.default_rng(seed)

    def move(self, view: Any) -> int:
        self.advice = self.advise(view)
        return self.advice.draw(self.generator)

    def advise(self, view: Any) -> Advice:
        raise NotImplementedError


class PolicyPlayer(AdvisedPlayer):
    """Plays a compiled policy of the view alone. A subclass has `policy_for(game)`.

    Nothing is searched or remembered, so the policy can be evaluated at many views at once: matches play thousands of
    games of players that have `action_probs` side by side.
    """

    known: tuple[Game, Any] | None = None

    def begin(self, game: Game, seat: int, seed: int) -> None:
        super().begin(game, seat, seed)
        if self.known is None or not same(self.known[0], game):
            self.known = game, self.policy_for(game)

    def policy_for(self, game: Game) -> Any:
        raise NotImplementedError

    def advise(self, view: Any) -> Advice:
        assert self.known is not None
        probs = weighed(self.game, self.known[1], view, len(legal_actions(self.game, view)))
        return fixed_advice(self.game, view, probs)

    def action_probs(self, views: np.ndarray) -> np.ndarray:
        """Return [views, num_actions] f8: the probabilities of each view's legal actions in their order, then zeros.

        All views are of one seat, which is to move, in the game that was begun last.
        """
        assert self.known is not None
        return action_probs(self.game, self.known[1], views)


# ---------------------------------------------------------------- players from names and objects


def label(player: Any) -> str:
    """The name of a player in results and records: the text that it was given as, or its `name`, or its class's."""
    return player if isinstance(player, str) else str(getattr(player, "name", type(player).__name__))


def in_any_process(player: Any) -> bool:
    """Whether a worker process can make the player: it is given by name, and not registered by the main program."""
    if not isinstance(player, str) or player == "human":
        return False
    name = names.split(player)[0]
    if ".py" in name or name not in PLAYERS:
        return True
    return is_shipped(PLAYERS[name]) or plugins.is_installed(PLAYERS[name])


def complete(player: Any) -> Player:
    """Add what a player lacks: `begin`, `advice`, or `move` where it has `action_probs`."""
    if isinstance(player, type) or not (hasattr(player, "move") or hasattr(player, "action_probs")):
        what = f"the class {player.__name__}" if isinstance(player, type) else repr(player)
        raise BadInput(f"{what} is no player: give a name, or an object with move(view) or action_probs(views)")
    if all(hasattr(player, part) for part in ("begin", "move", "advice")):
        return player
    return Mover(player) if hasattr(player, "move") else Sampler(player)


class Completed:
    """Begins a player that may lack `begin`: then its `game`, `seat` and `generator` are set instead."""

    def __init__(self, player: Any) -> None:
        self.player, self.name = player, label(player)

    def begin(self, game: Game, seat: int, seed: int) -> None:
        self.game, self.seat = game, seat
        self.generator = np.random.default_rng(seed)
        if hasattr(self.player, "begin"):
            self.player.begin(game, seat, seed)
        else:
            with suppress(AttributeError):  # an object that can't be changed
                self.player.game, self.player.seat, self.player.generator = game, seat, self.generator

    def advice_at(self, view: Any) -> Advice:
        views = np.zeros(1, self.game.state)
        views[0] = view
        probs = np.asarray(self.player.action_probs(views), float)[0, : len(legal_actions(self.game, view))]
        if not np.isclose(probs.sum(), 1):
            raise BadInput(f"{self.name} gives probabilities that sum to {probs.sum():g}, not 1")
        return fixed_advice(self.game, view, probs)

    def __getattr__(self, name: str) -> Any:
        if name == "player":  # while a copy is made
            raise AttributeError(name)
        return getattr(self.player, name)


def action_of(chosen: Any, name: str) -> int:
    """The action that a player returned."""
    try:
        return operator.index(chosen)
    except TypeError:
        raise BadInput(f"{name} returned {chosen!r} as its move: the number of a legal action would be right") from None


class Mover(Completed):
    """A player with a `move` of its own."""

    advice: Advice | None = None

    def move(self, view: Any) -> int:
        action = action_of(self.player.move(view), self.name)
        self.advice = getattr(self.player, "advice", None)
        if self.advice is None and hasattr(self.player, "action_probs"):
            self.advice = self.advice_at(view)
        return action


class Sampler(Completed, AdvisedPlayer):
    """A player that gives the probabilities of its actions: moves are drawn from them."""

    def advise(self, view: Any) -> Advice:
        return self.advice_at(view)
