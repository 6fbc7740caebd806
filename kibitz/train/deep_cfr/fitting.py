"""Fitting the networks of Deep CFR with torch, and evaluating them in batches.

An advantage network minimizes weighted squared errors over the legal actions; a strategy network the cross-entropy of
the iterations' policies (or squared errors of its probabilities, as in the paper).
"""

import copy
import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import torch

from ...nets.cuda_graph import Replayed
from ...nets.devices import one_thread, products, without_onednn
from ...nets.torch_mlp import BANNED, minimize
from .networks import Shape, Weights, forward
from .packing import Packing, Rows

SQUARES, ENTROPY, ADVANTAGES = "squares", "entropy", "advantages"
MOMENTUM = 0.05  # of batch norm's running statistics
PATIENCE = 10  # epochs without improvement on the held-out samples before it stops
REPORT_EVERY = 50  # steps
VALIDATION_BATCH = 100_000  # rows
WARM_UP = 10  # after n steps the moving average covers the last n / 9, until the decay allows no more


@dataclass(frozen=True)
class FitSettings:
    """How a network is fitted to samples."""

    steps: int
    batch_size: int
    learning_rate: float
    learning_rate_decay: str  # none, linear or cosine
    weight_averaging: float  # decay of the moving average; 0: none
    max_gradient_norm: float  # 0: no clipping
    validation: float  # share of rows
    newest_held_out: bool  # the newest rows are the validation set
    permute_suits: bool  # at random, each time a view is drawn
    balance_streets: bool  # every street has the same share of minibatches and of the loss
    loss: str


@dataclass(frozen=True)
class Fitted:
    weights: Weights
    loss: float  # mean over the last tenth of the steps; over all steps, where it may stop early
    steps: int
    preparing: float = 0.0  # seconds before the first step
    fitting: float = 0.0  # seconds of all steps


class Fitter:
    """A network, its optimizer, and the samples on its device."""

    def __init__(
        self,
        shape: Shape,
        weights: Weights,
        rows: Rows,
        packing: Packing,
        settings: FitSettings,
        seed: int,
        device: str,
    ) -> None:
        self.shape, self.settings, self.device = shape, settings, torch.device(device)
        self.random = torch.Generator(self.device).manual_seed(seed)
        self.parameters = {
            name: torch.from_numpy(array.copy()).to(self.device).requires_grad_(not _is_statistic(name))
            for name, array in weights.items()
        }
        self.played = self.parameters  # or their moving average
        if settings.weight_averaging:
            self.played = {name: each.detach().clone() for name, each in self.parameters.items()}
        self.share = torch.ones((), device=self.device)  # of the newest weights in the moving average
        self.learned = [each for each in self.parameters.values() if each.requires_grad]
        on_gpu = self.device.type == "cuda"
        rate = torch.tensor(settings.learning_rate, device=self.device) if on_gpu else settings.learning_rate
        self.optimizer = torch.optim.Adam(self.learned, lr=rate, fused=True, capturable=on_gpu)
        parts = rows.views.rows, rows.values, rows.weights
        views, values, weight = (torch.from_numpy(np.ascontiguousarray(each)).to(self.device) for each in parts)
        self.views, self.values, self.weight = views, values, weight / weight.mean()  # for linear CFR: times 2 / T
        self.decode = packing.unpacker(rows.views.columns, self.device, self.random if settings.permute_suits else None)
        self.train, self.held_out = self._split(len(views))
        self.streets: StreetSampler | None = None
        if settings.balance_streets:
            street = packing.streets(rows.views.columns, views)
            self.streets = StreetSampler(street, self.train, self.weight, settings.batch_size)
            self.weight = self.weight * self.streets.factors
        # Rows that fit into one minibatch are all used at every step, and decoded once.
        self.kept = (
            self.decode(views[self.train])
            if len(self.train) <= settings.batch_size and not settings.permute_suits
            else None
        )
        self._one_step = Replayed(self._step, self.random) if on_gpu else self._step

    def _split(self, n: int) -> tuple[torch.Tensor, torch.Tensor]:
        """Split the rows into training and validation."""
        apart = int(n * self.settings.validation)
        if self.settings.newest_held_out:  # rows are in order of age
            order = torch.arange(n, device=self.device)
        elif apart:
            order = torch.randperm(n, generator=self.random, device=self.device)
        else:
            order = torch.arange(n, device=self.device)
        return order[: n - apart], order[n - apart :]

    def step(self, number: int) -> torch.Tensor:
        settings = self.settings
        if settings.learning_rate_decay != "none":
            rate = settings.learning_rate * remaining_rate(settings.learning_rate_decay, number / settings.steps)
            for group in self.optimizer.param_groups:
                group["lr"] = group["lr"].fill_(rate) if torch.is_tensor(group["lr"]) else rate
        if settings.weight_averaging:
            self.share.fill_(1 - min(settings.weight_averaging, (1 + number) / (WARM_UP + number)))
        return self._one_step()

    def _step(self) -> torch.Tensor:
        if self.kept is not None:
            drawn, encodings = self.train, self.kept
        else:
            drawn = self._draw()
            encodings = self.decode(self.views[drawn])
        said = forward(self.shape, self.parameters, encodings, self._statistics)
        weight = self.weight[drawn]
        if self.streets is not None and self.kept is None:
            weight = weight * self.streets.drawn_less
        loss = self.loss(said, self.values[drawn], weight)
        minimize(self.optimizer, loss, self.learned, self.settings.max_gradient_norm)
        if self.played is not self.parameters:
            for name, each in self.played.items():
                each.lerp_(self.parameters[name].detach(), self.share)
        return loss.detach()

    def _draw(self) -> torch.Tensor:
        """Draw the rows of a minibatch, with replacement."""
        if self.streets is not None:
            return self.streets.draw(self.random)
        size = (self.settings.batch_size,)
        return self.train[torch.randint(len(self.train), size, generator=self.random, device=self.device)]

    def loss(self, said: torch.Tensor, values: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        return (weight * errors(said, values, self.settings.loss)).mean()

    def validation_loss(self) -> float:
        total = 0.0
        with torch.no_grad():
            for rows in self.held_out.split(VALIDATION_BATCH):
                said = forward(self.shape, self.played, self.decode(self.views[rows]))
                total += float(self.loss(said, self.values[rows], self.weight[rows])) * len(rows)
        return total / len(self.held_out)

    def _statistics(self, mean: torch.Tensor, variance: torch.Tensor) -> None:
        for name, found in (("mean", mean), ("variance", variance)):
            self.parameters[f"norm.{name}"].lerp_(found.detach(), MOMENTUM)

    def clock(self) -> float:
        """The time when all that was asked of the device is done."""
        if self.device.type == "cuda":
            torch.cuda.synchronize(self.device)
        return time.perf_counter()

    def result(self) -> Weights:
        return {name: each.detach().cpu().numpy().copy() for name, each in self.played.items()}


class StreetSampler:
    """Draws minibatches with the same number of rows of each street, and weights all streets alike.

    With weights w and errors e the loss is the mean of the streets' Σ w e / Σ w, however it is sampled.
    """

    def __init__(self, street: torch.Tensor, train: torch.Tensor, weight: torch.Tensor, batch_size: int) -> None:
        """
        Args:
            street: [rows] i8, from 0.
            train: Numbers of the rows to draw from.
            weight: [rows] f4.
            batch_size: Rows per minibatch.
        """
        here = street[train]
        rows = [train[here == each] for each in range(int(street.max()) + 1)]  # of each street
        counts = torch.tensor([len(each) for each in rows])
        sums = torch.tensor([float(weight[each].double().sum()) for each in rows], dtype=torch.float64)
        present = counts.nonzero()[:, 0]
        factors = torch.zeros(len(rows))  # held-out rows of a street without training rows don't count
        factors[present] = (len(train) / (len(present) * sums[present])).float()
        slots = present[torch.arange(batch_size) % len(present)]
        self.factors = factors.to(train.device)[street]  # of the weight of each row
        self.order = torch.cat(rows)
        self.starts, self.counts = (each[slots].to(train.device) for each in (counts.cumsum(0) - counts, counts))
        # A row of a small street is drawn more often than by chance, and counts as much less each time.
        self.drawn_less = (len(present) * counts[slots].double() / len(train)).float().to(train.device)

    def draw(self, random: torch.Generator) -> torch.Tensor:
        """Draw the rows of a minibatch, with replacement."""
        at = torch.rand(len(self.starts), generator=random, dtype=torch.float64, device=self.starts.device)
        return self.order[self.starts + (at * self.counts).long()]


def fit(
    shape: Shape,
    weights: Weights,
    rows: Rows,
    packing: Packing,
    settings: FitSettings,
    seed: int,
    device: str,
    watch: Callable[[int], None] = lambda step: None,
) -> Fitted:
    """Fit for all steps, or until the validation loss stops improving: then the best weights count."""
    began = time.perf_counter()
    with one_thread(), without_onednn(), products(True, device):
        fitter = Fitter(shape, weights, rows, packing, settings, seed, device)
        epoch = max(1, len(fitter.train) // settings.batch_size)
        best, best_weights, since = float("inf"), None, 0
        tail, counted = torch.zeros((), device=fitter.device), 0
        done = 0
        prepared = fitter.clock()
        for step in range(settings.steps):
            loss = fitter.step(step)
            done = step + 1
            if done > settings.steps - max(1, settings.steps // 10) or len(fitter.held_out):
                tail += loss
                counted += 1
            if done % REPORT_EVERY == 0:
                watch(done)
            if len(fitter.held_out) and done % epoch == 0:
                found = fitter.validation_loss()
                since += 1
                if found < best:
                    best, since, best_weights = found, 0, copy.deepcopy(fitter.result())
                if since > PATIENCE:
                    break
        fitted = Fitted(best_weights or fitter.result(), float(tail) / counted, done, prepared - began)
        return replace(fitted, fitting=fitter.clock() - prepared)


def remaining_rate(decay: str, progress: float) -> float:
    """The share of the learning rate that is left after a share of the steps."""
    return 1 - progress if decay == "linear" else (1 + math.cos(math.pi * progress)) / 2


def errors(said: torch.Tensor, values: torch.Tensor, loss: str) -> torch.Tensor:
    """Loss of each row. Illegal actions, whose value is NaN, don't contribute."""
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


def evaluator(shape: Shape, weights: Weights, device: str) -> Callable[[np.ndarray], np.ndarray]:
    """Return the function from encodings to the network's outputs, both NumPy arrays [rows, ...] f4."""
    tensors = {name: torch.from_numpy(array).to(device) for name, array in weights.items()}

    def evaluate(encodings: np.ndarray) -> np.ndarray:
        with one_thread(), torch.inference_mode():
            return forward(shape, tensors, torch.from_numpy(encodings).to(device)).cpu().numpy()

    return evaluate
