"""What a player is, and what those have in common that draw their moves from advice."""

from typing import Any, Protocol

import numpy as np

from ..games import Game, legal_actions
from ..search.advice import Advice, fixed_advice
from ..search.policies import action_probs, weighed


class Player(Protocol):
    advice: Advice | None

    def begin(self, game: Game, seat: int, seed: int) -> None:
        """A new game, from this seat. The same seed gives the same moves."""

    def move(self, view: Any) -> int:
        """An action at a view of the seat, whose turn it is."""


def same(one: Game, other: Game) -> bool:
    """Whether two games are one: tuples are equal by their fields, as Othello and Yavalath of size 4 are."""
    return type(one) is type(other) and one == other


class Advised:
    """Draws its moves from its own advice."""

    advice: Advice | None = None

    def begin(self, game: Game, seat: int, seed: int) -> None:
        self.game, self.seat = game, seat
        self.generator = np.random.default_rng(seed)

    def move(self, view: Any) -> int:
        self.advice = self.advise(view)
        return self.advice.draw(self.generator)

    def advise(self, view: Any) -> Advice:
        raise NotImplementedError


class Weighing(Advised):
    """Plays a compiled policy of the view alone: nothing is searched or remembered, so many views can be asked at once.

    Any player that can do that has `action_probs`: matches then play thousands of its games side by side.
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
        """[views, most actions] f8: at each view the odds of its legal actions, in the order of the rules; then zeros.

        Views are of one seat, which is to move, in the game that was begun last.
        """
        assert self.known is not None
        return action_probs(self.game, self.known[1], views)
