"""What weights learn from a search's advice. An objective says how much more or less likely each action should be.

The policy is a softmax of sums of weights, so that a gradient is Φᵀc: c has one number a case, and the loss falls most
along it. With π the policy, M the visits' shares, Q the values of actions in -1..1:

    visits       cross-entropy to the visits:  c = π - M
    tspg         the expected value of one move by the policy, then search (Soemers et al. 2019):  c = -π (Q - Σ π Q)
    completed    cross-entropy to the policy that Gumbel search improves by values (Danihelka et al. 2022):
                 c = π - softmax(log P + σ(Q)),  σ(q) = (50 + most visits) q / 10
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .cases import Cases

UNVISITED = ("loss", "parent", "mixed")


@dataclass(frozen=True)
class Batch:
    """Cases, and what the search said of each."""

    cases: Cases
    visits: np.ndarray  # [cases] f8: how often
    value: np.ndarray  # [cases] f8: mean of its simulations, -1..1; NaN where there was none
    prior: np.ndarray  # [cases] f8: what the search began with
    root: np.ndarray  # [positions] f8: mean of all simulations

    @property
    def shares(self) -> np.ndarray:
        return self.visits / self.cases.spread(self.cases.summed(self.visits))

    def values(self, unvisited: str) -> np.ndarray:
        """Of all actions: one never tried counts as lost, as its parent, or as a mix of what is known."""
        if unvisited == "loss":
            unknown = np.full(len(self.value), -1.0)
        elif unvisited == "parent":
            unknown = self.cases.spread(self.root)
        else:
            unknown = self.cases.spread(self._mixed())
        return np.where(np.isnan(self.value), unknown, self.value)

    def _mixed(self) -> np.ndarray:
        """The root's mean, and the values of what was tried weighted by the prior, by how often it was tried."""
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


def completed(batch: Batch, probs: np.ndarray, unvisited: str) -> np.ndarray:
    most = batch.cases.spread(np.maximum.reduceat(batch.visits, batch.cases.first))
    logits = np.log(np.maximum(batch.prior, 1e-12)) + (50.0 + most) * batch.values(unvisited) / 10.0
    return probs - batch.cases.softmax(logits)


OBJECTIVES: dict[str, Callable[[Batch, np.ndarray, str], np.ndarray]] = {
    "visits": visits,
    "tspg": tspg,
    "completed": completed,
}


def gradient(batch: Batch, weights: np.ndarray, objective: str, unvisited: str) -> tuple[np.ndarray, np.ndarray]:
    """Of the weights, mean of the positions; and the policy that they make."""
    probs = batch.cases.softmax((batch.cases.active @ weights.astype(np.float32)).astype(float))
    change = OBJECTIVES[objective](batch, probs, unvisited)
    return batch.cases.active.T @ change.astype(np.float32) / len(batch.cases.first), probs
