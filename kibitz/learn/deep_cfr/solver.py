"""Memories and networks of both seats: what traversals found goes in, networks come out."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import safetensors
import safetensors.numpy

from ...core.files import write_atomically
from ...games import full_name, load
from .config import DeepCfr
from .memory import Memory, Packing, merged
from .networks import Model, Weights, new_weights, save_model
from .traversal import Fair, Samples, Settings, Traverser, WholePot

LUCK, MEMORY, FIT, INIT = 3, 4, 5, 6  # what a seed is for

Known = tuple[Weights | None, Weights | None]  # advantage networks; None: uniform
Task = tuple[int, int, int]  # iteration, seat, part


def traversing(config: DeepCfr) -> Callable[[Task, Known], tuple[int, Samples, Samples, int]]:
    """What a worker needs: the function from a part of an iteration's traversals, and networks, to samples."""
    game = config.traversed(load(config.game))
    settings = Settings(config.shared_chance, config.flipped_signs, config.fallback == "uniform")
    traverser = Traverser(game, Packing(game), settings, WholePot() if config.whole_pot else Fair())
    shape = config.shape(game)
    last: list[Any] = [None, None]  # networks, and how they answer

    def traverse(task: Task, known: Known) -> tuple[int, Samples, Samples, int]:
        iteration, seat, part = task
        if last[0] is not known:
            from .learning import answerer

            last[:] = known, [None if each is None else answerer(shape, each, config.answers) for each in known]
        count = min(config.in_flight, config.traversals - part * config.in_flight)
        streams = _streams([config.seed, LUCK, iteration, seat, part], 2 * count)
        luck = streams[:count]
        if config.one_deal:
            luck = np.repeat(_streams([config.seed, LUCK, iteration], 1), count, axis=0)
        found = traverser.run(seat, luck, streams[count:], last[1])
        return part, found.advantages, found.strategies, found.nodes

    return traverse


def _streams(seed: list[int], count: int) -> np.ndarray:
    return np.random.SeedSequence(seed).generate_state(2 * count, np.uint64).reshape(count, 2)


class Solver:
    """Memories and networks of both seats, and what they have come to."""

    def __init__(self, config: DeepCfr, game: Any) -> None:
        self.config, self.game, self.seen = config, game, config.traversed(game)
        self.shape, self.packing = config.shape(self.seen), Packing(self.seen)
        width, actions = self.packing.bytes, game.facts.num_actions
        self.advantages = [Memory(config.capacity, width, actions, config.memory) for _ in range(2)]
        self.strategies = [Memory(config.strategy_capacity, width, actions, config.memory) for _ in range(2)]
        self.networks: list[Weights | None] = [None, None]
        self.all: tuple[list[Weights], list[Weights]] = [], []  # of SD-CFR
        self.iteration = 0
        self.model: tuple[int, list[Weights]] = 0, []  # strategy networks, and of which iteration
        self._device = ""

    @property
    def device(self) -> str:
        if not self._device:
            from ..torch_mlp import pick_device

            self._device = pick_device(self.config.device, large=True)
        return self._device

    def take(self, iteration: int, seat: int, advantages: list[Samples], strategies: list[Samples]) -> None:
        """Samples of a seat's traversals, in the order of their parts."""
        config = self.config
        generator = np.random.default_rng([config.seed, MEMORY, iteration, seat])
        for memory, found, power in (
            (self.advantages[seat], advantages, config.regret_power),
            (self.strategies[1 - seat], strategies, config.average_power),
        ):
            if found is strategies and config.average == "sd":
                continue
            for each in found:
                weights = np.full(len(each.views), iteration**power, np.float32)
                if config.weight_by_step:
                    weights = each.steps.astype(np.float32)
                memory.add(each.views, each.values, weights, generator)

    def learn(self, iteration: int, seat: int, watch: Callable[[int], None] = lambda step: None) -> dict[str, float]:
        """A new advantage network of a seat."""
        from .learning import ADVANTAGES

        before = self.networks[seat]
        if self.config.scratch or before is None:
            before = self._untrained(iteration, seat)
        learned = self._fit(before, self.advantages[seat], ADVANTAGES, iteration, seat, watch)
        self.networks[seat] = learned.weights
        if self.config.average == "sd":
            self.all[seat].append(learned.weights)
        return {f"loss_{seat + 1}": learned.loss, f"steps_{seat + 1}": learned.steps}

    def learn_strategy(self, watch: Callable[[int], None] = lambda step: None) -> None:
        """Strategy networks of what was played so far; once an iteration is enough."""
        if self.config.average == "sd" or self.model[0] == self.iteration:
            return
        loss, found = self.config.strategy_loss, []
        for seat, memory in enumerate(self.strategies):
            before = self._untrained(self.iteration, 2 + seat)
            found.append(self._fit(before, memory, loss, self.iteration, 2 + seat, watch).weights)
        self.model = self.iteration, found

    def _untrained(self, iteration: int, number: int) -> Weights:
        generator = np.random.default_rng([self.config.seed, INIT, iteration, number])
        return new_weights(self.shape, generator, self.config.init)

    def _fit(
        self, before: Weights, memory: Memory, loss: str, iteration: int, number: int, watch: Callable[[int], None]
    ) -> Any:
        from .learning import ADVANTAGES, Learned, Lesson, fit

        config, of_regrets = self.config, loss == ADVANTAGES
        rows = memory.rows()
        if not len(memory):  # few traversals, and the other seat folded in all of them
            return Learned(before, 0.0, 0)
        if config.merge:
            rows = merged(rows)
        lesson = Lesson(
            config.steps if of_regrets else config.strategy_steps,
            config.batch if of_regrets else config.strategy_batch,
            config.rate, config.rate_falls, config.clip, config.held_out, config.patience, config.newest_held_out,
            config.suits_alike, loss,
        )  # fmt: skip
        seed = int(np.random.SeedSequence([config.seed, FIT, iteration, number]).generate_state(1, np.uint64)[0] >> 1)
        return fit(self.shape, before, rows, self.packing, lesson, seed, self.device, watch)

    # ------------------------------------------------------------ what is kept

    def publish(self, path: Path, made: str) -> None:
        """Write what players read, if there is anything yet."""
        config = self.config
        if config.average == "sd":
            seats, weights = self.all, np.arange(1.0, len(self.all[1]) + 1) ** config.average_power
        elif self.model[0]:
            seats, weights = ([self.model[1][0]], [self.model[1][1]]), np.ones(1)
        else:
            return
        path.parent.mkdir(exist_ok=True)
        names = full_name(self.game), full_name(config.seen(self.game))
        save_model(path, Model(*names, made, config.average, config.fallback, self.shape, seats, weights))

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
        meta = {"about": json.dumps([self.iteration, self.model[0]])}
        write_atomically(folder / "networks.safetensors", safetensors.numpy.save(tensors, meta))
        for name, memory in self._memories().items():
            memory.save(folder / f"{name}.safetensors")

    def restore(self, folder: Path) -> None:
        with safetensors.safe_open(folder / "networks.safetensors", "numpy") as file:  # type: ignore[no-untyped-call]
            tensors = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118
            self.iteration, made = json.loads((file.metadata() or {})["about"])
        shapes = self.shape.shapes()

        def networks(kind: str, seat: int) -> list[Weights]:
            stacks = {name: tensors[f"{kind}.{seat}.{name}"] for name in shapes if f"{kind}.{seat}.{name}" in tensors}
            for name, stack in stacks.items():
                if stack.shape[1:] != shapes[name]:
                    raise ValueError(f"{name} has the shape {stack.shape[1:]}, not {shapes[name]}")
            count = len(next(iter(stacks.values()))) if len(stacks) == len(shapes) else 0
            return [{name: stack[i] for name, stack in stacks.items()} for i in range(count)]

        self.networks = [networks("last", seat)[0] for seat in range(2)]
        self.all = networks("all", 0), networks("all", 1)
        self.model = made, [networks("model", seat)[0] for seat in range(2)] if made else []
        for name, memory in self._memories().items():
            memory.restore(folder / f"{name}.safetensors")

    def _memories(self) -> dict[str, Memory]:
        kinds = {"advantages": self.advantages, "strategies": self.strategies}
        return {f"{kind}-{seat + 1}": each[seat] for kind, each in kinds.items() for seat in range(2)}
