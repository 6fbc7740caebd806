"""Distillation: a network learns to play as a table strategy of hold'em, from its probabilities at sampled decisions.

The loss is the cross-entropy, with the same weight for every street. One network plays both seats; whose turn it is
follows from the bets. What is measured and exported is the exponential moving average of its weights.
"""

import functools
import math
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from ...core.names import LEARNING_RATE, PATH, BadInput, Interval, as_path
from ...core.progress import Reporter
from ...core.tensor_files import Format, like, tensor_file_about
from ...games import full_name
from ...train.checkpoints import Changed
from ...train.deep_cfr.average import Table
from ...train.deep_cfr.networks import CARDS, Model, Shape, Weights, new_weights, save_model
from ...train.deep_cfr.traits import packing_of
from ...train.deep_cfr.worker import INIT
from ...train.learner import ADVANCED, Learner, Metrics, Samples, learner
from ..rules.encoding import HAND_CATEGORY, by_street
from ..solve.files import STRATEGY, read_strategy_of
from ..solve.solver import poker_form
from ..solve.strategy import TableStrategy

if TYPE_CHECKING:
    import torch

    from .table_samples import Labelled

FORMAT = Format("kibitz distillation checkpoint 1", "checkpoint", about={"source": str})
SAMPLES, VALIDATION, HELD_OUT = 7, 8, 9  # second number of a seed: what it is for (see `worker`)
WARM_UP = 0.02  # share of the steps in which the learning rate rises from 0
AVERAGING = 0.01  # steps over which weights are averaged, as a share of all steps
MAX_NORM = 1.0  # of gradients
ROWS = 20_000  # evaluated at once


@dataclass(frozen=True)
class DistillConfig:
    """The options of `kibitz train distill` are made of these fields."""

    game: Annotated[str, "the game, with its parameters"]
    from_: Annotated[str, "run of kibitz solve --with pcs, or its strategy file, to learn from", PATH] = ""
    iterations: Annotated[int, "iterations: new samples, and steps of learning from them", range(1, 10**6)] = 200
    samples: Annotated[int, "decisions sampled per iteration and street after the first", range(1, 10**8)] = 16_384
    steps: Annotated[int, "gradient steps per iteration", range(1, 10**6)] = 16
    batch_size: Annotated[int, "sampled decisions per minibatch, as many of each street", range(1, 10**7)] = 3072
    exploration: Annotated[
        float, "probability that a seat explores in a hand: never folds, else plays uniformly", Interval(0.01, 1)
    ] = 0.4
    hidden: Annotated[int, "width of the layers; 288: less than 2 MB in a file", range(1, 10**5)] = 288
    learning_rate: Annotated[float, "highest learning rate of Adam; a cosine decreases it to 0", LEARNING_RATE] = 1e-3
    held_out: Annotated[
        float, "share of the boards of each street that are only evaluated on; 0: none", Interval(0, 0.5)
    ] = 0.01
    evaluation_samples: Annotated[int, "decisions evaluated on per street", range(1, 10**7), ADVANCED] = 4096
    device: Annotated[str, "device of torch", ("auto", "cpu", "cuda")] = "auto"
    evaluate_every: Annotated[int, "iterations between evaluations; 0: never", range(10**7)] = 50
    keep_every: Annotated[int, "iterations between networks that are kept; 0: none", range(10**7), ADVANCED] = 0
    seed: Annotated[int, "random seed; equal seeds give equal runs", range(2**63)] = 1

    def seen(self, game: Any) -> Any:
        """The game by whose rules views are encoded for the network."""
        return game._replace(inputs=HAND_CATEGORY)

    def shape(self, game: Any) -> Shape:
        facts, deck = self.seen(game).facts, (game.streets, game.ranks, game.suits)
        return Shape(CARDS, facts.encoding, (self.hidden,), facts.num_actions, "layer", True, deck)


PRESETS = {
    "full": "full hold'em on a large GPU: some minutes, a network of less than 2 MB",
    "small": "a small deck: a minute on two cores",
}
VALUES: dict[str, dict[str, Any]] = {
    "full": {
        "iterations": 1600, "samples": 262_144, "steps": 24, "batch_size": 65_536,
        "evaluation_samples": 65_536, "evaluate_every": 100,
    },
    "small": {"iterations": 300, "samples": 4096, "steps": 8, "batch_size": 1024, "hidden": 64, "learning_rate": 4e-3,
              "held_out": 0.0, "evaluate_every": 30},
}  # fmt: skip


@functools.lru_cache(1)
def table_of(path: Path, game: Any, checksum: str) -> TableStrategy:
    """The strategy in a file; `checksum` tells one content of the file from another."""
    return read_strategy_of(path, game)


@learner("distill")
class Distill(Learner):
    """Samples of a table strategy, and the network that learns from them."""

    Config = DistillConfig
    about = (
        "Distillation: a network learns to play as a table strategy of hold'em. It learns the probabilities of all "
        "actions at decisions that the strategy and a seat that explores reach, by cross-entropy, and takes a "
        "thousandth of the space. For hold'em."
    )
    examples = (
        "holdem --from runs/blueprint --preset full --device cuda",
        "holdem:flop,ranks=5,suits=2 --from runs/holdem-pcs-001 --preset small",
    )
    presets = PRESETS
    headline = ("loss", "kl", "aces_raise", "nash_conv")

    def __init__(self, config: DistillConfig, game: Any) -> None:
        super().__init__(config, game)
        self.seen, self.shape = config.seen(game), config.shape(game)
        self.path = strategy_file(config.from_)
        self.source = str(tensor_file_about(self.path).get("checksum"))
        self._fit: Fit | None = None

    @staticmethod
    def preset(game: Any, name: str) -> dict[str, Any]:
        return VALUES[name]

    @staticmethod
    def refuse(config: DistillConfig, game: Any) -> None:
        if game.name != "holdem" or not by_street(game):
            raise BadInput(f"distill is for holdem with inputs=0, not for {full_name(game)}")
        if not config.from_:
            raise BadInput("distill needs a strategy to learn from: name a run of kibitz solve --with pcs by --from")
        path = strategy_file(config.from_)
        of = tensor_file_about(path).get("game")
        if of != full_name(game):
            raise BadInput(f"{path} is a strategy for {of}, not for {full_name(game)}")

    @property
    def fit(self) -> "Fit":
        """Tables and networks on the device, made when they are used first."""
        if self._fit is None:
            self._fit = Fit(self)
        return self._fit

    # ------------------------------------------------------------ the loop

    def learn(self, iteration: int, samples: Samples | None, report: Reporter) -> Metrics:
        from ...nets.devices import one_thread, products

        config = self.config
        with one_thread(), products(True, str(self.fit.device)):
            self.fit.refill([config.seed, SAMPLES, iteration])
            began = time.perf_counter()
            losses = [self.fit.step((iteration - 1) * config.steps + step) for step in range(config.steps)]
            loss = float(sum(losses)) / config.steps
        if not math.isfinite(loss):
            raise BadInput(f"the network's loss is {loss}: learning_rate={config.learning_rate} is too high")
        speed = config.steps * config.batch_size / (time.perf_counter() - began)
        report.progress(iteration, config.iterations, f"{speed:,.0f} samples/s")
        return {"loss": loss}

    def totals(self, iteration: int) -> dict[str, int]:
        return {"samples": iteration * self.config.steps * self.config.batch_size}

    def evaluate(self) -> Metrics:
        """Cross-entropy, KL from the table strategy and agreement in the most likely action, by street and in the mean.

        On boards that are held out, where there are some; before the flop over all hands. In a small game NashConv too.
        """
        from ...nets.devices import one_thread, products

        with one_thread(), products(True, str(self.fit.device)):
            found = self.fit.evaluate()
        if self.fit.table is not None:
            table, weights = self.fit.table, self.weights()
            probs = [table.softmax(seat, self.shape, weights) for seat in range(2)]
            found["nash_conv"] = table.evaluate(*probs).nash_conv
        return found

    # ------------------------------------------------------------ files

    def weights(self) -> Weights:
        """What players read."""
        return {name: each.cpu().numpy().copy() for name, each in self.fit.average.items()}

    def export(self, path: Path, made: str) -> None:
        names, network = (full_name(self.game), full_name(self.seen)), [self.weights()]
        model = Model(*names, made, "network", "argmax", self.shape, (network, network), np.ones(1))
        save_model(path, model, np.float16)

    def save(self, folder: Path) -> None:
        from ...nets.torch_state import save_state

        averages = {f"average.{name}": each for name, each in self.fit.average.items()}
        save_state(
            folder / "network.safetensors", FORMAT, self.fit.module, self.fit.optimizer, averages, source=self.source
        )

    def restore(self, folder: Path) -> None:
        from ...nets.torch_state import restore_state

        averages = {f"average.{name}": like(each) for name, each in self.fit.average.items()}
        path = folder / "network.safetensors"
        found, about = restore_state(path, FORMAT, self.fit.module, self.fit.optimizer, averages)
        if about["source"] != self.source:
            raise Changed(f"{self.path} is another strategy now than when the run was begun")
        for name, each in self.fit.average.items():
            each.copy_(found[f"average.{name}"])


def strategy_file(source: str) -> Path:
    """The table strategy in a run folder, or the file itself.

    Raises:
        BadInput: There is none.
    """
    path = as_path(source)
    file = path / "strategy.safetensors" if path.is_dir() else path
    if not file.exists():
        raise BadInput(f"{source} has no strategy.safetensors in it" if path.is_dir() else f"no strategy {source!r}")
    if not STRATEGY.fits(file):
        raise BadInput(f"{file} is no table strategy: distill learns from a run of kibitz solve --with pcs")
    return file


class Fit:
    """A network, its optimizer, and samples, all on one device."""

    def __init__(self, learner: Distill) -> None:
        import torch

        from ...nets.cuda_graph import Replayed
        from ...nets.torch_mlp import pick_device
        from .table_samples import TableSamples

        config = self.config = learner.config
        self.shape, self.device = learner.shape, torch.device(pick_device(config.device, large=True))
        table = table_of(learner.path, learner.game, learner.source)
        held_out_by = int(np.random.SeedSequence([config.seed, HELD_OUT]).generate_state(1)[0])
        self.source = TableSamples(table, str(self.device), config.exploration, config.held_out, held_out_by)
        form = poker_form(learner.game, table.tree, table.buckets.cards) if config.evaluate_every else None
        self.table = None if form is None else Table(form, learner.seen)

        weights = new_weights(self.shape, np.random.default_rng([config.seed, INIT]))
        tensors = {name: torch.from_numpy(array).to(self.device) for name, array in weights.items()}
        self.average = {name: tensor.clone() for name, tensor in tensors.items()}
        self.parameters = {name: torch.nn.Parameter(tensor) for name, tensor in tensors.items()}
        self.module = torch.nn.ParameterList(self.parameters.values())
        on_gpu = self.device.type == "cuda"
        rate = torch.tensor(config.learning_rate, device=self.device) if on_gpu else config.learning_rate
        self.optimizer = torch.optim.Adam(self.module.parameters(), lr=rate, fused=True, capturable=on_gpu)
        self.share = torch.zeros((), device=self.device)  # of the new weights in the average

        self.random = torch.Generator(self.device)
        packing = packing_of(learner.seen)
        columns = packing.no_views().columns
        self.decode = packing.unpacker(columns, self.device)
        self.decode_shuffled = packing.unpacker(columns, self.device, self.random)
        self.preflop, self.weight = self.source.preflop()
        count, streets = config.samples, len(self.source.streets)
        self.views = torch.zeros((streets, count, len(columns)), dtype=torch.uint8, device=self.device)
        self.values = torch.zeros((streets, count, self.shape.actions), device=self.device)
        self.validation: list[Labelled] = []
        self._one_step: Any = Replayed(self._step, self.random) if on_gpu else self._step

    def _seed(self, numbers: list[int]) -> "torch.Generator":
        seed = int(np.random.SeedSequence(numbers).generate_state(1, np.uint64)[0] >> np.uint64(1))
        return self.random.manual_seed(seed)

    def refill(self, seed: list[int]) -> None:
        """Sample the decisions that the next steps draw from."""
        for i, rows in enumerate(self.source.rows(self.config.samples, self._seed(seed))):
            self.views[i].copy_(rows.views)
            self.values[i].copy_(rows.values)

    def step(self, number: int) -> "torch.Tensor":
        """Learn from a minibatch and return its loss. Steps are counted from 0 over all iterations."""
        config = self.config
        total = config.iterations * config.steps
        done = number / total
        rate = config.learning_rate * min((number + 1) / (WARM_UP * total), 1.0) * (1 + math.cos(math.pi * done)) / 2
        for group in self.optimizer.param_groups:
            group["lr"] = rate if isinstance(group["lr"], float) else group["lr"].fill_(rate)
        # The first weights count less and less: the average is over the last steps, however few there were.
        self.share.fill_(1 / min(max(AVERAGING * total, 1.0), 1 + number / 2))
        return self._one_step().clone()

    def _step(self) -> "torch.Tensor":
        import torch

        from ...nets.torch_mlp import minimize
        from ...train.deep_cfr.fitting import ENTROPY, errors
        from ...train.deep_cfr.networks import forward

        views, values, weights = [self.preflop.views], [self.preflop.values], [self.weight]
        streets, count = self.views.shape[:2]
        each = -(-self.config.batch_size // max(streets, 1))
        for i in range(streets):
            drawn = torch.randint(count, (each,), generator=self.random, device=self.device)
            views.append(self.views[i, drawn])
            values.append(self.values[i, drawn])
            weights.append(self.weight.new_full((each,), 1 / each))
        said = forward(self.shape, self.parameters, self.decode_shuffled(torch.cat(views)))
        loss = (torch.cat(weights) * errors(said, torch.cat(values), ENTROPY)).sum() / (streets + 1)
        minimize(self.optimizer, loss, self.module.parameters(), MAX_NORM)
        with torch.no_grad():
            for name, average in self.average.items():
                average.lerp_(self.parameters[name], self.share)
        return loss.detach()

    def evaluate(self) -> Metrics:
        """Measurements of the averaged weights by street, and their means."""
        import torch

        config, streets = self.config, [0, *self.source.streets]
        if not self.validation:
            random = self._seed([config.seed, VALIDATION])
            self.validation = self.source.rows(config.evaluation_samples, random, config.held_out > 0)
        found: Metrics = {}
        with torch.no_grad():
            for street, rows in zip(streets, [self.preflop, *self.validation], strict=True):
                weight = self.weight if street == 0 else self.weight.new_full((len(rows.views),), 1 / len(rows.views))
                parts = [
                    compared(self.shape, self.average, self.decode(views), values)
                    for views, values in zip(*(each.split(ROWS) for each in rows), strict=True)
                ]
                whole = torch.cat(parts)
                for name, mean in zip(MEASURED, (weight[:, None] * whole).sum(0).tolist(), strict=True):
                    found[f"{name}_{street + 1}"] = mean
            first = self.decode(self.preflop.views[:1])
            wanted = self.preflop.values[:1]
            raises = distribution(self.shape, self.average, first, wanted)[0, -1]
        means = {name: float(np.mean([found[f"{name}_{street + 1}"] for street in streets])) for name in MEASURED}
        return means | found | {"aces_raise": float(raises), "aces_raise_table": float(wanted[0, -1])}


MEASURED = ("cross_entropy", "kl", "agreement")


def distribution(shape: Shape, weights: dict[str, Any], encodings: Any, values: Any) -> Any:
    """Probabilities [rows, actions] that a network plays, where `values` of illegal actions are NaN."""
    import torch

    from ...nets.torch_mlp import BANNED
    from ...train.deep_cfr.networks import forward

    return torch.softmax(torch.where(values.isnan(), BANNED, forward(shape, weights, encodings)), dim=1)


def compared(shape: Shape, weights: dict[str, Any], encodings: Any, values: Any) -> Any:
    """[rows, MEASURED]: cross-entropy of a network to the probabilities `values`, KL, and whether both agree.

    They agree where the network's most likely action is one of those of the highest probability in `values`.
    """
    import torch

    probs = distribution(shape, weights, encodings, values)
    wanted = values.nan_to_num(0.0)
    entropy = -torch.xlogy(wanted, wanted).sum(1)
    cross = -(wanted * probs.clamp_min(1e-30).log()).sum(1)
    best = wanted.gather(1, probs.argmax(1, keepdim=True))[:, 0]
    return torch.stack([cross, cross - entropy, (best == wanted.amax(1)).float()], 1)
