"""A position with methods, for notebooks and scripts. Kernels and players use the record inside it."""

import operator
import secrets
from typing import Any

import numpy as np

from ..core.names import BadInput, at_least
from ..jit import generators
from .protocol import CHANCE, OVER, Game, chance_outcomes, legal_actions, positions, view_of
from .svg import board_svg

SPECTATOR = -1  # the seat that `show` and `picture` are given for somebody who sees everything


class State:
    """A game's position, changed in place by `play`.

    The full state holds everything, hidden cards included; `view(seat)` holds what one seat knows. Chance turns are
    turns like others: play an outcome, `sample` one, or call `deal` to sample until a seat is to move.

    Example:
        >>> from kibitz.games import load
        >>> state = load("kuhn").initial(seed=1).deal()
        >>> state.turn, state.legal()
        (0, ['pass', 'bet'])
        >>> state.play("bet").play("pass").payoffs
        [1.0, -1.0]
    """

    def __init__(self, game: Game, record: Any = None, seed: int | None = None) -> None:
        """
        Args:
            game: The game.
            record: The position to copy; the opening position where it is None.
            seed: Seed of `sample` and `deal`; None takes a random one.
        """
        if seed is not None:
            at_least("seed", seed, 0)
        self.game = game
        self.seat: int | None = None  # whose view this is; None: the full state
        self.history: list[int] = []  # actions played through this object, chance outcomes included
        (self.record,) = positions(game) if record is None else np.array([record], game.state)
        self._before: list[Any] = []  # the record before each action of the history
        (self._rng,) = generators(secrets.randbits(64) if seed is None else seed, 1)

    # ------------------------------------------------------------ whose turn, what is legal

    @property
    def turn(self) -> int:
        """The seat to move, from 0; CHANCE (-1) or OVER (-2)."""
        return int(self.game.turn(self.record))

    @property
    def is_chance(self) -> bool:
        """Whether chance is to move."""
        return self.turn == CHANCE

    @property
    def is_over(self) -> bool:
        """Whether the game is over."""
        return self.turn == OVER

    def legal_actions(self) -> list[int]:
        """Numbers of the legal actions, at a chance turn of the possible outcomes; empty when the game is over.

        Raises:
            BadInput: This is the view of a seat that isn't to move: it may not know what the other seat can do.
        """
        if self.is_over:
            return []
        if self._masked and self.turn != self.seat:
            raise BadInput(f"seat {self.seat} is not to move: its view doesn't tell what is legal")
        return legal_actions(self.game, self.record)

    def legal(self) -> list[str]:
        """The legal actions as strings, in the order of `legal_actions`."""
        return [self.game.action_to_string(self.record, action) for action in self.legal_actions()]

    def chance_outcomes(self) -> list[tuple[str, float]]:
        """The possible outcomes of a chance turn and their probabilities.

        Raises:
            BadInput: A seat is to move, the game is over, or this is a view.
        """
        self._need_full("its chance outcomes")
        if not self.is_chance:
            raise BadInput("this is no chance turn")
        found = chance_outcomes(self.game, self.record)
        return [(self.game.action_to_string(self.record, action), probability) for action, probability in found]

    # ------------------------------------------------------------ moves

    def play(self, action: str | int) -> "State":
        """Play an action, or a chance outcome, in place.

        Args:
            action: As in `legal` (`"raise"`) or as in `legal_actions` (`2`).

        Returns:
            This state, for chaining: `state.play("raise").play("call")`.

        Raises:
            BadInput: The action is illegal (the message lists the legal ones), the game is over, or this is a view.
        """
        self._need_full("the next position")
        if self.is_over:
            raise BadInput(f"the game is over: {action!r} can't be played")
        if isinstance(action, str):
            return self._play(self.game.parse_action(self.record, action))
        try:
            number = operator.index(action)
        except TypeError:
            raise BadInput(
                f"{action!r} is no action: give its number, such as {self.legal_actions()[0]}, or its name, "
                f"such as {self.legal()[0]!r}"
            ) from None
        if number not in self.legal_actions():
            legal = zip(self.legal_actions(), self.legal(), strict=True)
            raise BadInput(f"{number} is illegal here: {', '.join(f'{each} ({name})' for each, name in legal)}")
        return self._play(number)

    def sample(self) -> "State":
        """Play a chance outcome by its probability, or a uniformly random action, with this state's own generator."""
        self._need_full("the next position")
        if self.is_over:
            raise BadInput("the game is over")
        return self._play(int(self.game.sample_action(self.record, self._rng)))

    def deal(self) -> "State":
        """Sample chance outcomes until a seat is to move or the game is over."""
        while self.is_chance:
            self.sample()
        return self

    def undo(self) -> "State":
        """Take back the last action of the history."""
        if not self.history:
            raise BadInput("there is no action to undo")
        self.history.pop()
        self.record = self._before.pop()
        return self

    def _play(self, action: int) -> "State":
        self._before.append(self.record.copy())
        self.history.append(action)
        self.game.play(self.record, action)
        return self

    # ------------------------------------------------------------ other states

    @property
    def records(self) -> list[Any]:
        """The records of all states from the first to this one."""
        return [*self._before, self.record]

    def clone(self) -> "State":
        """An independent copy that samples the same actions as this state will."""
        copy = State(self.game, self.record, seed=0)
        copy.seat, copy.history, copy._before = self.seat, self.history.copy(), self._before.copy()
        copy._rng[:] = self._rng
        return copy

    def view(self, seat: int) -> "State":
        """What a seat knows: a state in which everything hidden from it is masked.

        In a game with hidden information a view has no history (that would name the hidden cards), can't be played on,
        and has no payoffs.
        """
        if seat not in range(self.game.facts.seats):
            raise BadInput(f"seat {seat} should be 0 to {self.game.facts.seats - 1}")
        seen = State(self.game, view_of(self.game, self.record, seat)) if self.game.facts.hidden else self.clone()
        seen.seat = seat
        return seen

    @property
    def payoffs(self) -> list[float]:
        """Each seat's payoff.

        Raises:
            BadInput: The game isn't over, or this is a view.
        """
        self._need_full("the payoffs")
        if not self.is_over:
            raise BadInput("the game is not over: there are no payoffs yet")
        return [float(self.game.payoff(self.record, seat)) for seat in range(self.game.facts.seats)]

    @property
    def _masked(self) -> bool:
        return self.seat is not None and self.game.facts.hidden

    def _need_full(self, what: str) -> None:
        if self._masked:
            raise BadInput(f"this is the view of seat {self.seat}: only the full state has {what}")

    # ------------------------------------------------------------ for people

    def __str__(self) -> str:
        return self.game.show(self.record, SPECTATOR if self.seat is None else self.seat)

    def __repr__(self) -> str:
        turn = {CHANCE: "chance to move", OVER: "over"}.get(self.turn, f"seat {self.turn} to move")
        return f"<{'State' if self.seat is None else f'View of seat {self.seat}'} of {self.game.name}: {turn}>"

    def _repr_html_(self) -> str:
        """The picture that a notebook shows, with the last move highlighted on a board."""
        if hasattr(self.game, "board") and self.history:
            return board_svg(self.game, self.record, self.history[-1], self._before[-1])
        return self.game.picture(self.record, SPECTATOR if self.seat is None else self.seat)
