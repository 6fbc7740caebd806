"""What every search says about the view it was asked about: one record for players, learners and people."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..games import Game, legal_actions


@dataclass(frozen=True)
class Advice:
    actions: np.ndarray  # [n] i8: the legal actions, in the order of the rules
    policy: np.ndarray  # [n] f8: what it recommends; sums to 1
    value: np.ndarray  # [n] f8: expected payoff of the seat after each action; NaN where unknown
    visits: np.ndarray  # [n] i8: simulations that tried it
    prior: np.ndarray  # [n] f8: what was thought of it before the search
    simulations: int = 0  # done for this advice
    seconds: float = 0.0  # spent on it
    line: tuple[int, ...] = ()  # the moves that are expected, where a search knows
    error: np.ndarray | None = None  # [n] f8: standard error of the value, where a search knows
    won: np.ndarray | None = None  # [n] f8: share of the simulations that the seat won, where a search knows

    @property
    def root_value(self) -> float:
        """Expected payoff of the seat when it follows the advice; NaN where unknown."""
        used = self.policy > 0
        return float(self.policy[used] @ self.value[used])

    @property
    def best(self) -> int:
        return int(self.actions[np.argmax(self.policy)])

    def draw(self, generator: np.random.Generator) -> int:
        return int(generator.choice(self.actions, p=self.policy))

    def as_json(self, game: Game, view: Any) -> dict[str, Any]:
        moves = [
            {
                "move": game.action_to_string(view, int(action)),
                "action": int(action),
                "policy": float(self.policy[i]),
                "value": None if np.isnan(self.value[i]) else float(self.value[i]),
                "visits": int(self.visits[i]),
                "prior": float(self.prior[i]),
            }
            | {name: float(known[i]) for name, known in (("error", self.error), ("won", self.won)) if known is not None}
            for i, action in enumerate(self.actions)
        ]
        value = None if np.isnan(self.root_value) else self.root_value
        told = {"moves": moves, "value": value, "simulations": self.simulations, "seconds": self.seconds}
        return told | ({"line": self.spelled_line(game, view)} if self.line else {})

    def spelled_line(self, game: Game, view: Any) -> list[str]:
        """The moves that are expected, as players write them."""
        state, words = np.array([view], game.state)[0], []
        for action in self.line:
            words.append(game.action_to_string(state, action))
            game.play(state, action)
        return words


def fixed_advice(game: Game, view: Any, policy: np.ndarray) -> Advice:
    """Advice of something that doesn't search: a policy, and nothing known beyond it."""
    actions = np.array(legal_actions(game, view))
    unknown = np.full(len(actions), np.nan)
    return Advice(actions, policy, unknown, np.zeros(len(actions), np.int64), policy)
