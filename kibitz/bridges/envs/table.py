"""One game in plain Python, as an environment needs it: chance has played, observations are made of views."""

from typing import Any

import numpy as np

from ...core.names import BadInput
from ...games import OVER, Game
from ...games.state import State
from .observations import observation, observation_size

RENDER_MODES = ("human", "ansi", "html")
BOUND = float(np.finfo(np.float32).max)  # encodings have no known bounds


class Table:
    """A game in progress.

    An environment has to survive illegal actions, which its users' checkers sample: one ends the game. The seat that
    played it gets the lowest payoff of the game, the others 0.
    """

    def __init__(self, game: Game, render_mode: str | None = None) -> None:
        if render_mode not in (None, *RENDER_MODES):
            raise BadInput(f"render_mode {render_mode!r} should be {', '.join(RENDER_MODES)} or None")
        self.game, self.render_mode = game, render_mode
        self.illegal: int | None = None  # the seat that has played an illegal action
        self._state: State | None = None

    @property
    def state(self) -> State:
        """The full state, of which seats see their views."""
        if self._state is None:
            raise BadInput("call reset() first")
        return self._state

    def start(self, generator: np.random.Generator) -> None:
        """Begin a game, with chance outcomes from this generator."""
        self._state = State(self.game, seed=int(generator.integers(2**63))).deal()
        self.illegal = None

    @property
    def turn(self) -> int:
        """The seat to move, or OVER."""
        return OVER if self.illegal is not None else self.state.turn

    def play(self, action: Any) -> None:
        """Play an action of the seat to move, then chance."""
        if action in self.state.legal_actions():
            self.state.play(int(action)).deal()
        else:
            self.illegal = self.state.turn

    @property
    def payoffs(self) -> list[float]:
        """The payoff of each seat when the game is over."""
        if self.illegal is None:
            return self.state.payoffs
        lowest = float(self.game.facts.payoffs[0])
        return [lowest if seat == self.illegal else 0.0 for seat in range(self.game.facts.seats)]

    def observe(self, seat: int, idle: int = 0) -> dict[str, np.ndarray]:
        """What a seat sees, and the mask of its legal actions.

        Args:
            seat: The seat.
            idle: How many actions a seat has that is not to move: none, or the action 0, which does nothing.
        """
        mask = np.zeros(self.game.facts.num_actions, np.int8)
        if self.turn == seat:
            mask[self.state.legal_actions()] = 1
        else:
            mask[:idle] = 1
        return {"observation": observation(self.game, self.state.record, seat), "action_mask": mask}

    def render(self, seat: int | None = None) -> str | None:
        """The view of a seat, or all of the state: printed (human), as text (ansi), or as HTML with SVG (html)."""
        shown = self.state if seat is None else self.state.view(seat)
        if self.render_mode == "html":
            return shown._repr_html_()
        if self.render_mode == "ansi":
            return str(shown)
        if self.render_mode == "human":
            print(shown)
        return None


def spaces(game: Game) -> tuple[Any, Any]:
    """Gymnasium's spaces of observations and of actions."""
    from gymnasium import spaces

    seen = spaces.Box(-BOUND, BOUND, (observation_size(game),), np.float32)
    mask = spaces.Box(0, 1, (game.facts.num_actions,), np.int8)
    return spaces.Dict({"observation": seen, "action_mask": mask}), spaces.Discrete(game.facts.num_actions)
