"""Deep CFR as a learner: traverse for a seat, fit its advantage network, do the same for the other seat.

Everything random follows from the seed and the iteration, and traversals are divided into the same parts whichever
worker does them: a run is the same with any number of processes.
"""

import itertools
import math
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ...core.progress import SILENT, Reporter
from ...core.tensor_files import About, Format, Shapes
from ...core.workers import Pool
from ...games import full_name
from ...nets.model_files import NETWORK
from ...solve.sequence_form import measurable_form
from ..learner import Learner, Metrics, Samples, learner
from ..replay import ReplayBuffer
from . import config as settings
from .average import Table
from .config import DeepCfrConfig
from .duration import measured, seconds_left
from .networks import SD, Model, Weights, new_weights, save_model
from .packing import Rows, merged
from .thesis_defects import sample_weights
from .traits import packing_of
from .traversal import SeatSamples
from .worker import FIT, INIT, REPLAY, traversing

MAX_LEAVES = 2_000_000  # of a game whose NashConv is computed
FORMAT = Format("kibitz deep cfr checkpoint 1", "checkpoint", about={"values": [int]})


@learner("deep-cfr")
class DeepCfr(Learner):
    """Reservoirs and networks of both seats."""

    Config = DeepCfrConfig
    about = (
        "Deep CFR: CFR with regrets approximated by a neural network. Traversals of the game sample regrets, a network "
        "per seat learns them, and the average of the strategies approaches an equilibrium. For two-player zero-sum "
        "games."
    )
    examples = (
        "leduc --preset best",
        "leduc --preset thesis --defects one-deal,flipped-signs",
    )
    presets = settings.PRESETS
    preset = staticmethod(settings.preset)
    refuse = staticmethod(settings.refuse)
    worker = staticmethod(traversing)
    headline = ("loss_1", "loss_2", "nash_conv")

    def __init__(self, config: DeepCfrConfig, game: Any) -> None:
        super().__init__(config, game)
        self.seen = config.traversed(game)
        self.shape, self.packing = config.shape(self.seen), packing_of(self.seen)
        self.advantages = [self._buffer(config.capacity) for _ in range(2)]
        self.strategies = [self._buffer(config.strategy_capacity) for _ in range(2)]
        self.networks: list[Weights | None] = [None, None]
        self.all: tuple[list[Weights], list[Weights]] = [], []  # advantage networks of all iterations, for SD-CFR
        self.iteration = 0
        self.model: tuple[int, list[Weights]] = 0, []  # the iteration of the strategy networks, and these
        self.probs: tuple[list[np.ndarray], list[np.ndarray]] = [], []  # strategies of `all`, as far as evaluated
        self._device, self._table = "", list[Table | None]()

    def _buffer(self, capacity: int) -> ReplayBuffer:
        empty = self.packing.empty(self.game.facts.num_actions)
        rule = "uniform" if self.config.replay == "reservoir" else "latest"
        return ReplayBuffer(capacity, empty, rule, may_be_nan=("values",))  # where an action is illegal

    @property
    def device(self) -> str:
        if not self._device:
            from ...nets.torch_mlp import pick_device

            self._device = pick_device(self.config.device, large=True)
        return self._device

    @property
    def table(self) -> Table | None:
        """The infosets of the game, if it is small enough to be written out and NashConv is wanted."""
        if not self._table:
            self._table = [None]
            if self.config.evaluate_every:
                form = measurable_form(self.game, MAX_LEAVES)
                self._table = [None if form is None else Table(form, self.config.seen(self.game))]
        return self._table[0]

    # ------------------------------------------------------------ the loop

    @property
    def tasks(self) -> int:
        return -(-self.config.traversals // self.config.in_flight)

    def totals(self, iteration: int) -> dict[str, int]:
        return {"traversals": 2 * iteration * self.config.traversals}

    def collect(self, workers: Pool, iteration: int, report: Reporter) -> None:
        """Collect nothing yet: seat 2 traverses against what seat 1 has just learned, so `learn` does both in turn."""
        self.workers = workers

    def learn(self, iteration: int, samples: Samples | None, report: Reporter) -> Metrics:
        metrics: Metrics = {"nodes": 0}
        self.times = {"sampling": 0.0, "preparing": 0.0, "fitting": 0.0}
        for seat in range(2):
            began = time.perf_counter()
            metrics["nodes"] += self._traverse(iteration, seat, report)
            self.times["sampling"] += time.perf_counter() - began
            metrics |= self.fit_advantages(iteration, seat, report)
        self.iteration = iteration
        if self.keeps(iteration) or (self.evaluates(iteration) and self.table is not None):
            self.fit_strategies(report)
        report.progress(iteration, self.config.iterations)
        return metrics | {"rows": sum(map(len, self.advantages))}

    def _traverse(self, iteration: int, seat: int, report: Reporter) -> int:
        """Add the samples of a seat's traversals to the reservoirs; return the number of nodes visited."""
        config, began = self.config, time.perf_counter()
        found: dict[int, tuple[SeatSamples, SeatSamples]] = {}
        nodes = 0
        self.workers.share((self.networks[0], self.networks[1]))
        tasks = [(iteration, seat, part) for part in range(self.tasks)]
        for part, advantages, strategies, count in self.workers.do(tasks):
            found[part] = advantages, strategies
            nodes += count
            done = min(len(found) * config.in_flight, config.traversals)
            speed = nodes / max(time.perf_counter() - began, 1e-9)
            note = f"seat {seat + 1}: {done:,}/{config.traversals:,} traversals, {speed:,.0f} nodes/s"
            report.progress(iteration - 1, config.iterations, note)
        ordered = [found[part] for part in range(self.tasks)]
        self.add(iteration, seat, [each[0] for each in ordered], [each[1] for each in ordered])
        return nodes

    def add(self, iteration: int, seat: int, advantages: list[SeatSamples], strategies: list[SeatSamples]) -> None:
        """Add the samples of a seat's traversals, in the order of their parts."""
        config = self.config
        generator = np.random.default_rng([config.seed, REPLAY, iteration, seat])
        for buffer, found, power in (
            (self.advantages[seat], advantages, 1.0),
            (self.strategies[1 - seat], strategies, config.average_power),
        ):
            if found is strategies and not config.with_network:
                continue
            for each in found:
                weights = sample_weights(each.steps, iteration**power, config.defect_set)
                buffer.add({"views": each.views, "values": each.values, "weights": weights}, generator)

    def fit_advantages(self, iteration: int, seat: int, report: Reporter = SILENT) -> Metrics:
        """Fit the advantage network of a seat to its reservoir."""
        from .fitting import ADVANTAGES

        before = self.networks[seat]
        if self.config.reinitialize or before is None:
            before = self._untrained(iteration, seat)
        fitted = self._fit(before, self.advantages[seat], ADVANTAGES, iteration, seat, report)
        self.networks[seat] = fitted.weights
        for part in ("preparing", "fitting"):
            self.times[part] = self.times.get(part, 0.0) + getattr(fitted, part)
        if self.config.with_sd:
            self.all[seat].append(fitted.weights)
        return {f"loss_{seat + 1}": fitted.loss, f"steps_{seat + 1}": fitted.steps}

    def fit_strategies(self, report: Reporter = SILENT) -> None:
        """Fit the strategy networks to what was played so far, at most once per iteration."""
        if not self.config.with_network or self.model[0] == self.iteration:
            return
        loss, found, began = self.config.strategy_loss, [], time.perf_counter()
        for seat, buffer in enumerate(self.strategies):
            before = self._untrained(self.iteration, 2 + seat)
            found.append(self._fit(before, buffer, loss, self.iteration, 2 + seat, report).weights)
        self.model = self.iteration, found
        self.times["averaging"] = time.perf_counter() - began

    def _untrained(self, iteration: int, number: int) -> Weights:
        generator = np.random.default_rng([self.config.seed, INIT, iteration, number])
        return new_weights(self.shape, generator, self.config.init_scale)

    def _fit(
        self, before: Weights, buffer: ReplayBuffer, loss: str, iteration: int, number: int, report: Reporter
    ) -> Any:
        from .fitting import ADVANTAGES, Fitted, fit

        config, of_regrets = self.config, loss == ADVANTAGES
        if not len(buffer):  # few traversals, and the other seat folded in all of them
            return Fitted(before, 0.0, 0)
        began = time.perf_counter()
        rows = self._ready(Rows(**buffer.all()))
        merging = time.perf_counter() - began
        chosen = self._settings(loss, config.steps_for(len(buffer)) if of_regrets else config.strategy_steps)
        seed = int(np.random.SeedSequence([config.seed, FIT, iteration, number]).generate_state(1, np.uint64)[0] >> 1)
        what = f"seat {number + 1}" if of_regrets else f"strategy of seat {number - 1}"

        def watch(step: int) -> None:
            report.progress(iteration - 1, config.iterations, f"{what}: {step:,}/{chosen.steps:,} steps")

        found = fit(self.shape, before, rows, self.packing, chosen, seed, self.device, watch)
        return replace(found, preparing=merging + found.preparing)

    def _ready(self, rows: Rows) -> Rows:
        """The rows that a network is fitted to."""
        return merged(rows) if self.config.merge_samples else rows

    def _settings(self, loss: str, steps: int) -> Any:
        from .fitting import ADVANTAGES, FitSettings

        config = self.config
        return FitSettings(
            steps, config.batch_size if loss == ADVANTAGES else config.strategy_batch_size,
            config.learning_rate, config.learning_rate_decay, config.weight_averaging, config.max_gradient_norm,
            config.validation, "newest-held-out" in config.defect_set, config.suit_isomorphism,
            config.balance_streets, loss,
        )  # fmt: skip

    def evaluate(self) -> Metrics:
        """NashConv of the average strategy; of SD-CFR's too, where both are made. At first, of uniform play."""
        table, config = self.table, self.config
        if table is None:
            return {}
        if not self.iteration:
            legal = table.legal
            uniform = [table.probs(seat, legal[seat] / legal[seat].sum(axis=1, keepdims=True)) for seat in range(2)]
            return {"nash_conv": table.evaluate(*uniform).nash_conv}
        found = {}
        if config.with_network:
            learned = [table.softmax(seat, self.shape, self.model[1][seat]) for seat in range(2)]
            found["nash_conv"] = table.evaluate(*learned).nash_conv
        if config.with_sd:
            name = "nash_conv_sd" if config.with_network else "nash_conv"
            found[name] = table.evaluate(*(self._mean(table, seat) for seat in range(2))).nash_conv
        return found

    def _mean(self, table: Table, seat: int) -> np.ndarray:
        """The exact average of a seat's advantage networks."""
        for network in self.all[seat][len(self.probs[seat]) :]:
            self.probs[seat].append(table.matched(seat, self.shape, network, self.config.fallback))
        return table.mean(seat, self.probs[seat], self._sd_weights())

    def _sd_weights(self) -> np.ndarray:
        """Weights with which SD-CFR draws the networks of each iteration."""
        return np.arange(1.0, len(self.all[1]) + 1) ** self.config.average_power

    @classmethod
    def predict(cls, config: DeepCfrConfig, lines: list[dict[str, Any]]) -> float:
        rates = measured(config, lines)
        return math.nan if rates is None else seconds_left(config, rates, lines[-1]["iteration"])

    # ------------------------------------------------------------ files

    def learned_by(self, iteration: int) -> int:
        """Strategy networks are fitted now and then only."""
        return self.model[0] if self.config.with_network else iteration

    def export(self, path: Path, made: str) -> None:
        """Write the average strategy; where both are made, SD-CFR's into `sd.safetensors` beside the last network.

        Both are of the same iterations.
        """
        config = self.config
        names = full_name(self.game), full_name(config.seen(self.game)), made

        def write(to: Path, average: str, seats: Any, weights: np.ndarray) -> None:
            save_model(to, Model(*names, average, config.fallback, self.shape, seats, weights))

        if config.average == "sd":
            write(path, "sd", self.all, self._sd_weights())
        elif self.model[0]:
            write(path, "network", ([self.model[1][0]], [self.model[1][1]]), np.ones(1))
        if config.average == "both" and path.name == NETWORK and (count := self.model[0]):
            write(path.with_name(SD), "sd", (self.all[0][:count], self.all[1][:count]), self._sd_weights()[:count])

    def save(self, folder: Path) -> None:
        lists: dict[str, Any] = {
            "last": [[each] for each in self.networks],
            "all": self.all,
            "model": [[each] for each in self.model[1]],
        }
        tensors = {
            f"{kind}.{seat}.{name}": np.stack([each[name] for each in networks])
            for kind, seats in lists.items()
            for seat, networks in enumerate(seats)
            for name in (self.shape.shapes() if networks else ())
        }
        FORMAT.write(folder / "networks.safetensors", tensors, values=[self.iteration, self.model[0]])
        for name, buffer in self._buffers().items():
            buffer.save(folder / f"{name}.safetensors")

    def restore(self, folder: Path) -> None:
        shapes = self.shape.shapes()

        def declared(about: About, found: Shapes) -> dict[str, str]:
            _, made = about["values"]
            wanted = {}
            for kind, seat in itertools.product(("last", "all", "model"), range(2)):
                there = f"{kind}.{seat}.head.biases" in found
                if kind == "last" or (kind == "model" and made) or there:
                    count = f"all{seat}" if kind == "all" else 1
                    for name, size in shapes.items():
                        wanted[f"{kind}.{seat}.{name}"] = f"float32 {count} {' '.join(map(str, size))}"
            return wanted

        tensors, about = FORMAT.read(folder / "networks.safetensors", declared)

        def networks(kind: str, seat: int) -> list[Weights]:
            stacks = {name: tensors[f"{kind}.{seat}.{name}"] for name in shapes if f"{kind}.{seat}.{name}" in tensors}
            return [
                {name: stack[i] for name, stack in stacks.items()} for i in range(len(stacks.get("head.biases", ())))
            ]

        self.iteration, made = about["values"]
        self.networks = [networks("last", seat)[0] for seat in range(2)]
        self.all = networks("all", 0), networks("all", 1)
        self.model = made, [networks("model", seat)[0] for seat in range(2)] if made else []
        for name, buffer in self._buffers().items():
            buffer.restore(folder / f"{name}.safetensors")

    def _buffers(self) -> dict[str, ReplayBuffer]:
        kinds = {"advantages": self.advantages, "strategies": self.strategies}
        return {f"{kind}-{seat + 1}": each[seat] for kind, each in kinds.items() for seat in range(2)}
