"""Objectives: what the weights learn from a search's advice.

The policy is a softmax of sums of weights, so the gradient of a loss is Φᵀc, with one number c per case. With π the
policy, M the visits divided by their sum, Q the values of actions in -1..1:

    visits       cross-entropy to the visits:  c = π - M
    tspg         the expected value of one move by the policy, then search (Soemers et al. 2019):  c = -π (Q - Σ π Q)
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .cases import Cases

UNVISITED = ("loss", "parent", "mixed")


@dataclass(frozen=True)
class Batch:
    """Cases, and the search's advice on each."""

    cases: Cases
    visits: np.ndarray  # [cases] f8: number of visits
    value: np.ndarray  # [cases] f8: mean of its simulations, -1..1; NaN where there was none
    prior: np.ndarray  # [cases] f8: prior probability of the search
    root: np.ndarray  # [positions] f8: mean of all simulations

    @property
    def shares(self) -> np.ndarray:
        return self.visits / self.cases.spread(self.cases.summed(self.visits))

    def values(self, unvisited: str) -> np.ndarray:
        """Values of all actions; an unvisited one is assumed a loss, its parent's value, or a mix of known values."""
        if unvisited == "loss":
            unknown = np.full(len(self.value), -1.0)
        elif unvisited == "parent":
            unknown = self.cases.spread(self.root)
        else:
            unknown = self.cases.spread(self._mixed())
        return np.where(np.isnan(self.value), unknown, self.value)

    def _mixed(self) -> np.ndarray:
        """Mean of the root's value and the prior-weighted value of visited actions, which counts by their visits."""
        known = ~np.isnan(self.value)
        weight = np.where(known, self.prior, 0.0)
        tried = self.cases.summed(self.visits)
        mean = self.cases.summed(weight * np.where(known, self.value, 0.0)) / np.maximum(
            self.cases.summed(weight), 1e-12
        )
        return (self.root + tried * mean) / (1.0 + tried)


def visits(batch: Batch, probs: np.ndarray, unvisited: str) -> np.ndarray:
    return probs - batch.shares


def tspg(batch: Batch, probs: np.ndarray, unvisited: str) -> np.ndarray:
    values = batch.values(unvisited)
    return -probs * (values - batch.cases.spread(batch.cases.summed(probs * values)))


OBJECTIVES: dict[str, Callable[[Batch, np.ndarray, str], np.ndarray]] = {
    "visits": visits,
    "tspg": tspg,
}


def gradient(batch: Batch, weights: np.ndarray, objective: str, unvisited: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the gradient by the weights, mean over the positions, and the policy of the weights."""
    probs = batch.cases.softmax((batch.cases.active @ weights.astype(np.float32)).astype(float))
    change = OBJECTIVES[objective](batch, probs, unvisited)
    return batch.cases.active.T @ change.astype(np.float32) / len(batch.cases.first), probs
