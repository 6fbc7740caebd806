"""Policies on growing spatial features (Soemers et al. 2019) as a learner.

Three vectors of weights per seat are learned from the search's advice: `ce` from visits; `double` and `tspg` are
offsets from it, the first learned from visits again, the second from values. After each game every seat gets one more
pattern.
"""

from pathlib import Path
from typing import Any

import numpy as np

from ...core.tensor_files import About, Declared, Expected, Format, Shapes, like
from ...games import Game
from ..expert_iteration import ExpertIteration
from ..learner import Metrics, Samples, learner
from ..replay import ReplayBuffer
from . import config as settings
from .cases import Finder
from .config import TspgConfig
from .growth import best_pair
from .objectives import Batch, gradient
from .patterns import Pattern, parse, spelled, window
from .rmsprop import RmsProp
from .self_play import self_play
from .sets import Tables, atoms_of, compile_set, words_for
from .store import FORMAT as FEATURES
from .store import POLICIES, Features, save_features

FORMAT = Format("kibitz tspg 1", "checkpoint", about={"generator": dict, "sides": [{"seen": int, "patterns": [str]}]})


class Side:
    """Patterns, weights and remembered positions of one seat."""

    def __init__(self, game: Any, config: TspgConfig, seat: int) -> None:
        self.game, self.config, self.seat = game, config, seat
        self.finder = Finder(game, config.features)
        self.patterns: list[Pattern] = list(atoms_of(game, config.features, seat))
        self.vectors = {name: np.zeros(len(self.patterns)) for name in POLICIES}
        self.optimizers = {name: RmsProp(config.learning_rate, config.epsilon_inside) for name in POLICIES}
        self.memory = ReplayBuffer(config.capacity, empty_rows(game), "latest")
        self.compile()

    def compile(self) -> None:
        count = len(self.patterns)
        self.tables: Tables = compile_set(self.game, self.config.features, self.seat, self.patterns, words_for(count))

    def draw(self, generator: np.random.Generator, count: int) -> np.ndarray:
        """The slots of some remembered positions."""
        return generator.choice(len(self.memory), min(count, len(self.memory)), replace=False)

    def won(self) -> np.ndarray:
        """The remembered positions whose most visited action won in all its simulations."""
        rows, arrays = len(self.memory), self.memory.arrays
        best = arrays["visits"][:rows].argmax(axis=1)
        return np.flatnonzero(arrays["values"][np.arange(rows), best] == 1)

    def batch(self, drawn: np.ndarray) -> tuple[np.ndarray, Batch]:
        """The states of some remembered positions, and the search's advice on them."""
        arrays = self.memory.arrays
        states = arrays["states"][drawn].reshape(-1).view(self.game.state)
        cases = self.finder.find(states, self.tables, len(self.patterns))
        at = np.repeat(drawn, cases.lengths), cases.actions
        batch = Batch(
            cases, arrays["visits"][at].astype(float), arrays["values"][at].astype(float),
            arrays["priors"][at].astype(float), arrays["roots"][drawn].astype(float),
        )  # fmt: skip
        return states, batch

    def update(self, generator: np.random.Generator) -> float:
        """Update each weight vector; return the cross-entropy before the update."""
        _, batch = self.batch(self.draw(generator, self.config.batch_size))
        loss = 0.0
        for name in POLICIES:
            weights = self.vectors["ce"] + (self.vectors[name] if name != "ce" else 0.0)
            objective = "tspg" if name == "tspg" else "visits"
            slope, probs = gradient(batch, weights, objective, self.config.unvisited)
            if name == "ce":
                loss = float(-(batch.shares * np.log(np.maximum(probs, 1e-12))).sum()) / len(batch.root)
            step = self.optimizers[name].step(slope.astype(float))
            self.vectors[name] = self.vectors[name] + step / (len(step) if self.config.divide_learning_rate else 1)
        return loss

    def grow(self, generator: np.random.Generator) -> None:
        """Add a pattern of weight 0, if there is a new one."""
        drawn = self.draw(generator, self.config.growth_positions)
        if self.config.growth_wins:
            drawn = np.union1d(drawn, self.won())
        states, batch = self.batch(drawn)
        _, probs = gradient(batch, self.vectors["ce"], "visits", self.config.unvisited)
        found = best_pair(
            self.finder, self.config.features, states, self.tables, self.patterns, self.vectors["ce"],
            probs - batch.shares, self.config.min_cases, self.config.confidence_bound,
        )  # fmt: skip
        if found is not None:
            self.patterns.append(found.pattern)
            self.vectors = {name: np.append(vector, 0.0) for name, vector in self.vectors.items()}
            self.compile()


def empty_rows(game: Any) -> Samples:
    """The arrays of remembered positions, without rows."""
    actions = game.facts.num_actions
    return {
        "states": np.zeros((0, game.state.itemsize), np.uint8),
        "visits": np.zeros((0, actions), np.int32),
        "values": np.zeros((0, actions), np.float32),
        "priors": np.zeros((0, actions), np.float32),
        "roots": np.zeros(0, np.float32),
    }


@learner("tspg")
class Tspg(ExpertIteration):
    Config = TspgConfig
    about = (
        "Policies on growing spatial features, for board games. PUCT plays against itself, weights of patterns are "
        "learned from its visits and values, and guide it. Every game adds a pattern per seat."
    )
    examples = ("connect_four --preset small", "yavalath --preset paper", "gomoku --preset paper --features rich")
    presets = settings.PRESETS
    preset = staticmethod(settings.preset)
    refuse = staticmethod(settings.refuse)
    worker = staticmethod(self_play)
    player = "features"
    search = FEATURES.search

    def __init__(self, config: TspgConfig, game: Game) -> None:
        super().__init__(config, game)
        self.generator = np.random.default_rng([config.seed, 1])
        self.sides = [Side(game, config, seat) for seat in range(2)]

    def update(self, samples: Samples) -> Metrics:
        """Update after every turn of the new games, and add a pattern per seat after every game."""
        losses: list[float] = []
        for i, seat in enumerate(samples["seats"]):
            row = {key: array[i : i + 1] for key, array in samples.items() if key != "seats"}
            self.sides[int(seat)].memory.add(row, self.generator)
            for side in self.sides:
                if len(side.memory):
                    losses += [side.update(self.generator) for _ in range(self.config.updates)]
        for _ in range(self.config.new_patterns * self.config.games):
            for side in self.sides:
                if len(side.memory):
                    side.grow(self.generator)
        patterns = max(len(side.patterns) for side in self.sides)
        rows = sum(len(side.memory) for side in self.sides)
        return {"loss": float(np.mean(losses)), "turns": len(samples["seats"]), "patterns": patterns, "rows": rows}

    def keeps(self, iteration: int) -> bool:
        return super().keeps(iteration) or iteration == 1

    def shared(self) -> Features:
        first, second = self.sides
        return Features(
            self.config.features,
            (tuple(first.patterns), tuple(second.patterns)),
            {name: (first.vectors[name].copy(), second.vectors[name].copy()) for name in POLICIES},
        )

    # ------------------------------------------------------------ files

    def export(self, path: Path, made: str) -> None:
        save_features(path, self.game, self.shared(), made)

    def save(self, folder: Path) -> None:
        tensors: Samples = {}
        about = []
        for seat, side in enumerate(self.sides):
            about.append(
                {"seen": side.memory.added, "patterns": [spelled(each, self.window) for each in side.patterns]}
            )
            for name in POLICIES:
                tensors[f"{seat}.{name}"] = side.vectors[name]
                tensors |= {f"{seat}.{name}.{key}": part for key, part in side.optimizers[name].arrays().items()}
            rows = len(side.memory)
            tensors |= {f"{seat}.memory.{key}": array[:rows] for key, array in side.memory.arrays.items() if rows}
        state = self.generator.bit_generator.state
        FORMAT.write(folder / "student.safetensors", tensors, generator=state, sides=about)

    def restore(self, folder: Path) -> None:
        tensors, about = FORMAT.read(folder / "student.safetensors", self._declared)
        self.generator.bit_generator.state = about["generator"]
        for seat, side in enumerate(self.sides):
            side.patterns = [parse(text, self.window) for text in about["sides"][seat]["patterns"]]
            for name in POLICIES:
                side.vectors[name] = tensors[f"{seat}.{name}"]
                parts = {key: tensors[f"{seat}.{name}.{key}"] for key in side.optimizers[name].arrays()}
                side.optimizers[name].set(parts)
            if seen := about["sides"][seat]["seen"]:
                side.memory.refill({key: tensors[f"{seat}.memory.{key}"] for key in side.memory.arrays}, seen)
            side.compile()

    def _declared(self, about: About, shapes: Shapes) -> Declared:
        wanted: dict[str, str | Expected] = {}
        for seat, side in enumerate(about["sides"][:2]):
            count = len(side["patterns"])
            for name in POLICIES:
                wanted[f"{seat}.{name}"] = f"float64 {count}"
                known = shapes[f"{seat}.{name}.speed"][0]
                if known > count:
                    raise ValueError(f"{seat}.{name}.speed is of {known} patterns, and there are {count}")
                wanted |= {
                    f"{seat}.{name}.{part}": f"float64 {known}" for part in self.sides[seat].optimizers[name].arrays()
                }
            if side["seen"]:
                rows = shapes[f"{seat}.memory.roots"][0]  # up to version 0.2 as many as the capacity
                if rows not in (min(side["seen"], self.config.capacity), self.config.capacity):
                    raise ValueError(f"{seat}.memory has {rows} positions, of {side['seen']}")
                wanted |= {
                    f"{seat}.memory.{key}": like(array, rows, finite=key != "values")
                    for key, array in empty_rows(self.game).items()
                }
        return wanted

    @property
    def window(self) -> Any:
        return window(self.game.board(), self.config.features == "rich")
