"""The answer of every search, for players, learners and people: one record."""

import html
import math
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from ..core.names import counted
from ..games import Game, legal_actions


@dataclass(frozen=True)
class Advice:
    """Policy and value of each legal action at a view. Arrays have one entry per action."""

    actions: np.ndarray  # [n] i8: the legal actions, in the order of the rules
    policy: np.ndarray  # [n] f8: recommended probabilities; they sum to 1
    value: np.ndarray  # [n] f8: expected payoff of the seat after each action; NaN: unknown
    visits: np.ndarray  # [n] i8: simulations that tried it
    prior: np.ndarray  # [n] f8: probabilities before the search
    simulations: int = 0  # done for this advice; of a search to a depth: positions visited
    seconds: float = 0.0  # spent on it
    line: tuple[int, ...] = ()  # principal variation, where the search has one
    error: np.ndarray | None = None  # [n] f8: standard error of the value, where the search knows it; NaN: unknown
    # [n, n] f8: standard error of the difference of two values, where they come from the same random numbers.
    paired_error: np.ndarray | None = None
    won: np.ndarray | None = None  # [n] f8: share of the simulations that the seat won, where the search knows it
    averaged: bool = (
        False  # whether each value is the plain mean of the rewards of its visits: then `interval` is known
    )
    depth: int | None = None  # plies that were searched completely, by a search to a depth
    exact: bool = False  # whether the search has proven the best action, however few visits that took
    names: tuple[str, ...] = ()  # the actions as players write them, for display (see `named`)

    @property
    def root_value(self) -> float:
        """Expected payoff of the seat if it follows the policy; NaN: unknown."""
        used = self.policy > 0
        return float(self.policy[used] @ self.value[used])

    @property
    def best(self) -> int:
        """The action of the highest probability."""
        return int(self.actions[np.argmax(self.policy)])

    def interval(self, game: Game) -> np.ndarray:
        """[n, 2] f8: the lower and upper end of the 95% interval of each value; NaN: unknown.

        By the standard error where the search knows it. For a mean of rewards it is Wilson's score interval: no reward
        between the two bounds varies more than one that takes only these bounds, so it is exact where games are won or
        lost, and too wide elsewhere. It is about the simulations: it doesn't cover what the search can't see.
        """
        if self.error is not None:
            found = self.value[:, None] + 1.96 * self.error[:, None] * [-1, 1]
        elif self.averaged:
            low, high = game.facts.rewards
            found = low + (high - low) * _wilson((self.value - low) / (high - low), self.visits)
        else:
            found = np.full((len(self.value), 2), np.nan)
        if self.exact:
            found[self.actions == self.best] = self.value[self.actions == self.best]
        return found

    def root_margin(self, game: Game) -> float:
        """Half of the 95% interval of `root_value`; NaN: unknown.

        Where an action that the policy plays was hardly tried, its value is anything that the game may pay.
        """
        interval = self.interval(game)
        half, (low, high) = (interval[:, 1] - interval[:, 0]) / 2, game.facts.rewards
        return (
            math.nan if np.isnan(half).all() else math.hypot(*self.policy * np.nan_to_num(half, nan=(high - low) / 2))
        )

    def draw(self, generator: np.random.Generator) -> int:
        """Sample an action from the policy."""
        return int(generator.choice(self.actions, p=self.policy))

    def named(self, game: Game, view: Any) -> Self:
        """A copy that shows its actions as players write them."""
        return replace(self, names=tuple(game.action_to_string(view, int(action)) for action in self.actions))

    def rows(self) -> list[tuple[str, str, str, str]]:
        """Action, policy, value and visits in words, the best action first."""
        names = self.names or [f"action {action}" for action in self.actions]
        order = np.lexsort((-np.nan_to_num(self.value, nan=-np.inf), -self.visits, -self.policy))
        return [
            (
                names[i],
                f"{self.policy[i]:.1%}",
                "-" if np.isnan(self.value[i]) else f"{self.value[i]:+.3f}",
                f"{self.visits[i]:,}",
            )
            for i in order
        ]

    def __str__(self) -> str:
        rows = [HEADER, *self.rows()]
        widths = [max(len(row[column]) for row in rows) for column in range(4)]
        lines = [
            "  ".join([row[0].ljust(widths[0]), *(row[i].rjust(widths[i]) for i in (1, 2, 3))]).rstrip() for row in rows
        ]
        return "\n".join([*lines, *self._spent()])

    def _repr_html_(self) -> str:
        """A table, for notebooks."""
        head = "".join(f"<th>{title}</th>" for title in HEADER)
        body = "".join(
            "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in self.rows()
        )
        spent = "".join(f"<caption>{html.escape(line)}</caption>" for line in self._spent())
        return f"<table>{spent}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"

    def _spent(self) -> list[str]:
        if not self.simulations:
            return []
        depth = "" if self.depth is None else f"depth {self.depth}, "
        what = counted(self.simulations, "simulation" if self.depth is None else "position")
        return [f"{depth}{what} in {self.seconds:.2f} s"]

    def as_json(self, game: Game, view: Any) -> dict[str, Any]:
        """Everything, as values for JSON."""
        interval = self.interval(game)
        moves = [
            {
                "move": game.action_to_string(view, int(action)),
                "action": int(action),
                "policy": float(self.policy[i]),
                "value": None if np.isnan(self.value[i]) else float(self.value[i]),
                "visits": int(self.visits[i]),
                "prior": float(self.prior[i]),
                "interval": None if np.isnan(interval[i]).any() else interval[i].tolist(),
            }
            | {
                name: None if np.isnan(known[i]) else float(known[i])
                for name, known in (("error", self.error), ("won", self.won))
                if known is not None
            }
            for i, action in enumerate(self.actions)
        ]
        value = None if np.isnan(self.root_value) else self.root_value
        found = {"moves": moves, "value": value, "simulations": self.simulations, "seconds": self.seconds}
        found |= {} if self.depth is None else {"depth": self.depth}
        return found | ({"principal_variation": self.spelled_line(game, view)} if self.line else {})

    def spelled_line(self, game: Game, view: Any) -> list[str]:
        """The principal variation as players write it."""
        state, words = np.array([view], game.state)[0], []
        for action in self.line:
            words.append(game.action_to_string(state, action))
            game.play(state, action)
        return words


HEADER = ("action", "policy", "value", "visits")


def _wilson(share: np.ndarray, visits: np.ndarray) -> np.ndarray:
    """[n, 2] f8: Wilson's 95% interval of shares; NaN without visits."""
    with np.errstate(invalid="ignore", divide="ignore"):
        z2 = 1.96**2 / visits
        middle, half = share + z2 / 2, np.sqrt(z2 * (share * (1 - share) + z2 / 4))
        return np.stack([middle - half, middle + half], axis=1) / (1 + z2)[:, None]


def fixed_advice(game: Game, view: Any, policy: np.ndarray) -> Advice:
    """The advice of a policy without a search: values are unknown, visits zero."""
    actions = np.array(legal_actions(game, view))
    unknown = np.full(len(actions), np.nan)
    return Advice(actions, policy, unknown, np.zeros(len(actions), np.int64), policy)


def greedy_advice(
    actions: np.ndarray,
    score: np.ndarray,
    value: np.ndarray,
    visits: np.ndarray,
    simulations: int,
    prior: np.ndarray | None = None,
) -> Advice:
    """Advise the action of the highest score (NaN: unknown), the first of several. Without a prior it is uniform."""
    policy = np.zeros(len(actions))
    policy[0 if np.isnan(score).all() else np.nanargmax(score)] = 1.0
    even = np.full(len(actions), 1 / len(actions))
    return Advice(actions, policy, value, visits, even if prior is None else prior, simulations)
