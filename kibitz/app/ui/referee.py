"""Who knows all cards at a table. It hands out what one seat sees, and the truth only when the game is over."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ...games import CHANCE, OVER, Game, positions, view_of
from ...jit import generators
from ...players import Player


def after(game: Game, state: Any, action: int) -> Any:
    """The position that an action leads to; the one before it stays as it was."""
    state = state.copy()
    game.play(state, action)
    return state


def same(one: Any, two: Any) -> bool:
    """Field by field: the gaps between fields don't count."""
    return all(np.array_equal(one[field], two[field]) for field in one.dtype.names)


def views_on_the_way(game: Game, states: list[Any], seat: int) -> list[Any]:
    """What a seat saw whenever it had to move."""
    return [view_of(game, state, seat) for state in states if game.turn(state) == seat]


class Led:
    """A player that is led through the views of its seat in their order, as in a match.

    Where the way changed behind it (a move was taken back), it starts afresh.
    """

    def __init__(self, player: Player, game: Game, seat: int, seed: int) -> None:
        self.player, self.game, self.seat, self.seed = player, game, seat, seed
        self.seen: list[Any] = []
        self.action = -1

    def move(self, views: list[Any]) -> int:
        """What it plays at the last view."""
        if not self.seen or len(self.seen) > len(views) or not all(map(same, self.seen, views)):
            self.player.begin(self.game, self.seat, self.seed)
            self.seen = []
        for view in views[len(self.seen) :]:
            self.action = self.player.move(view.copy())
            self.seen.append(view)
        return self.action


class Step(NamedTuple):
    turn: int  # whose it was: a seat or CHANCE
    before: Any  # two views of the same seat
    after: Any


class Referee:
    """One game, as one seat meets it."""

    def __init__(self, game: Game, seat: int, others: list[Player], seed: int) -> None:
        self.game, self.seat, self.seed = game, seat, seed
        self._states = [positions(game)[0]]
        seats = [other for other in range(game.facts.seats) if other != seat]
        self._others = {at: Led(other, game, at, mixed(seed, at)) for at, other in zip(seats, others, strict=True)}

    def view(self) -> Any:
        return view_of(self.game, self._states[-1], self.seat)

    def views(self) -> list[Any]:
        """What the seat saw at each of its turns so far."""
        return views_on_the_way(self.game, self._states, self.seat)

    def play(self, action: int) -> Step:
        """The seat's own move."""
        return self._go(action)

    def step(self) -> Step:
        """The move of another seat, or of chance."""
        turn = self.game.turn(self._states[-1])
        if turn == CHANCE:
            return self._go(self._deal(len(self._states)))
        return self._go(self._others[turn].move(views_on_the_way(self.game, self._states, turn)))

    def back(self, asked: Callable[[Any], bool] = lambda view: True) -> int | None:
        """Return to the previous decision of the seat, where it was asked: how many turns are left; None: no such."""
        own = [
            i
            for i, state in enumerate(self._states[:-1])
            if self.game.turn(state) == self.seat and asked(view_of(self.game, state, self.seat))
        ]
        if not own:
            return None
        del self._states[own[-1] + 1 :]
        return own[-1]

    def truth(self) -> Any:
        if self.game.turn(self._states[-1]) != OVER:
            raise RuntimeError("the truth is told when the game is over")
        return self._states[-1].copy()

    def _deal(self, ply: int) -> int:
        """Chance depends on the ply alone: a move taken back doesn't shuffle the cards."""
        return int(self.game.sample_action(self._states[-1], generators(mixed(self.seed, -1, ply), 1)[0]))

    def _go(self, action: int) -> Step:
        state = self._states[-1]
        before = self.view()
        self._states.append(after(self.game, state, action))
        return Step(self.game.turn(state), before, self.view())


def mixed(seed: int, *numbers: int) -> int:
    """A seed of its own for each use of one."""
    return int(np.random.SeedSequence([seed, *(number + 1 for number in numbers)]).generate_state(1)[0])
