"""Networks of Deep CFR learn, and answer in batches. Torch works here.

An advantage network learns by squared errors over the legal actions, weighted; a strategy network by the cross-entropy
of what the iterations played (or squared errors of its odds, as in the paper).
"""

import copy
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch

from ..cuda_graph import Replayed
from ..torch_mlp import BANNED, one_thread
from .memory import Packing, Rows
from .networks import Shape, Weights, forward
from .unpacking import unpacker

SQUARES, ENTROPY, ADVANTAGES = "squares", "entropy", "advantages"
MOMENTUM = 0.05  # of batch norm's running statistics
TOLD_EVERY = 50  # steps
AT_ONCE = 100_000  # held-out rows that are judged together


@dataclass(frozen=True)
class Lesson:
    """How a network learns from rows."""

    steps: int
    batch: int
    rate: float
    rate_falls: bool
    clip: float  # 0: none
    held_out: float  # share of rows
    patience: int  # passes
    newest: bool  # the newest are held out
    shuffled: bool  # hands are seen with other suits each time
    loss: str


@dataclass(frozen=True)
class Learned:
    weights: Weights
    loss: float  # mean of the last tenth of the steps; of all, where it may stop early
    steps: int


class Learner:
    """A network, its optimizer, and the rows on its device."""

    def __init__(
        self, shape: Shape, weights: Weights, rows: Rows, packing: Packing, lesson: Lesson, seed: int, device: str
    ) -> None:
        self.shape, self.lesson, self.device = shape, lesson, torch.device(device)
        self.random = torch.Generator(self.device).manual_seed(seed)
        self.parameters = {
            name: torch.from_numpy(array.copy()).to(self.device).requires_grad_(not _is_statistic(name))
            for name, array in weights.items()
        }
        self.learned = [each for each in self.parameters.values() if each.requires_grad]
        on_gpu = self.device.type == "cuda"
        rate = torch.tensor(lesson.rate, device=self.device) if on_gpu else lesson.rate
        self.optimizer = torch.optim.Adam(self.learned, lr=rate, fused=True, capturable=on_gpu)
        views, values, weight = (torch.from_numpy(np.ascontiguousarray(each)).to(self.device) for each in rows)
        self.views, self.values, self.weight = views, values, weight / weight.mean()  # for linear CFR: times 2 / T
        self.decode = unpacker(packing, self.device, self.random if lesson.shuffled else None)
        self.train, self.apart = self._split(len(views))
        # Few rows are all seen at every step, and decoded once.
        self.kept = self.decode(views[self.train]) if len(self.train) <= lesson.batch and not lesson.shuffled else None
        self._one_step = Replayed(self._step, self.random) if on_gpu else self._step

    def _split(self, n: int) -> tuple[torch.Tensor, torch.Tensor]:
        """Rows to learn from, and rows that are held out."""
        apart = int(n * self.lesson.held_out)
        if self.lesson.newest:  # rows stand in order of age
            order = torch.arange(n, device=self.device)
        elif apart:
            order = torch.randperm(n, generator=self.random, device=self.device)
        else:
            order = torch.arange(n, device=self.device)
        return order[: n - apart], order[n - apart :]

    def step(self, number: int) -> torch.Tensor:
        if self.lesson.rate_falls:
            for group in self.optimizer.param_groups:
                rate = self.lesson.rate * (1 - number / self.lesson.steps)
                group["lr"] = group["lr"].fill_(rate) if torch.is_tensor(group["lr"]) else rate
        return self._one_step()

    def _step(self) -> torch.Tensor:
        if self.kept is not None:
            drawn, encodings = self.train, self.kept
        else:
            drawn = torch.randint(len(self.train), (self.lesson.batch,), generator=self.random, device=self.device)
            drawn = self.train[drawn]
            encodings = self.decode(self.views[drawn])
        said = forward(self.shape, self.parameters, encodings, self._statistics)
        loss = self.loss(said, self.values[drawn], self.weight[drawn])
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        if self.lesson.clip:
            torch.nn.utils.clip_grad_norm_(self.learned, self.lesson.clip)
        self.optimizer.step()
        return loss.detach()

    def loss(self, said: torch.Tensor, values: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        return (weight * errors(said, values, self.lesson.loss)).mean()

    def held_out_loss(self) -> float:
        total = 0.0
        with torch.no_grad():
            for rows in self.apart.split(AT_ONCE):
                said = forward(self.shape, self.parameters, self.decode(self.views[rows]))
                total += float(self.loss(said, self.values[rows], self.weight[rows])) * len(rows)
        return total / len(self.apart)

    def _statistics(self, mean: torch.Tensor, variance: torch.Tensor) -> None:
        for name, found in (("mean", mean), ("variance", variance)):
            self.parameters[f"norm.{name}"].lerp_(found.detach(), MOMENTUM)

    def result(self) -> Weights:
        return {name: each.detach().cpu().numpy().copy() for name, each in self.parameters.items()}


def fit(
    shape: Shape,
    weights: Weights,
    rows: Rows,
    packing: Packing,
    lesson: Lesson,
    seed: int,
    device: str,
    watch: Callable[[int], None] = lambda step: None,
) -> Learned:
    """All steps, or until what is held out gets no better; then the best of it counts."""
    with one_thread():
        learner = Learner(shape, weights, rows, packing, lesson, seed, device)
        a_pass = max(1, len(learner.train) // lesson.batch)
        best, best_weights, since = float("inf"), None, 0
        tail, counted = torch.zeros((), device=learner.device), 0
        done = 0
        for step in range(lesson.steps):
            loss = learner.step(step)
            done = step + 1
            if done > lesson.steps - max(1, lesson.steps // 10) or len(learner.apart):
                tail += loss
                counted += 1
            if done % TOLD_EVERY == 0:
                watch(done)
            if len(learner.apart) and done % a_pass == 0:
                found = learner.held_out_loss()
                since += 1
                if found < best:
                    best, since, best_weights = found, 0, copy.deepcopy(learner.result())
                if since > lesson.patience:
                    break
        return Learned(best_weights or learner.result(), float(tail) / counted, done)


def errors(said: torch.Tensor, values: torch.Tensor, loss: str) -> torch.Tensor:
    """Of each row. Illegal actions, whose value is NaN, have no share in it."""
    legal = ~values.isnan()
    values = values.nan_to_num(0.0)
    if loss == ADVANTAGES:
        return torch.where(legal, (said - values) ** 2, 0.0).sum(dim=1)
    logs = torch.log_softmax(torch.where(legal, said, BANNED), dim=1)
    if loss == SQUARES:
        return torch.where(legal, (logs.exp() - values) ** 2, 0.0).sum(dim=1)
    return -(values * torch.where(legal, logs, 0.0)).sum(dim=1)


def _is_statistic(name: str) -> bool:
    return name in ("norm.mean", "norm.variance")


def answerer(shape: Shape, weights: Weights, device: str) -> Callable[[np.ndarray], np.ndarray]:
    """A function from encodings to what the network says of them, both NumPy arrays [rows, ...] f4."""
    tensors = {name: torch.from_numpy(array).to(device) for name, array in weights.items()}
    torch.set_num_threads(1)  # one process a core

    def answer(encodings: np.ndarray) -> np.ndarray:
        with torch.inference_mode():
            return forward(shape, tensors, torch.from_numpy(encodings).to(device)).cpu().numpy()

    return answer
