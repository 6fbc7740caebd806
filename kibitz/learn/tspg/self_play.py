"""Policies on growing spatial features (Soemers et al. 2019): PUCT plays itself, guided by what was learned so far.

Three vectors of weights a seat are learned from its advice: `ce` from visits; `double` and `tspg` are offsets from it,
the first learned from visits again, the second from values. After each game every seat gets one more pattern.

`play` is what a worker does, whole games; `Student` is the learner of `expert_iteration`. Weights change between games,
where the paper changed them between turns too: as many updates, and a game can be played elsewhere.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import safetensors.numpy

from ...core.files import write_atomically
from ...core.names import BadInput
from ...games import OVER, Game, load, positions
from ...search.mcts import Puct
from .cases import Finder
from .growth import best_pair
from .objectives import OBJECTIVES, UNVISITED, Batch, gradient
from .patterns import Pattern, parse, spelled, window
from .rmsprop import RmsProp
from .sets import KIND_SETS, Tables, atoms_of, compile_set, words_for
from .store import POLICIES, Features, biased, save_features

Rows = dict[str, np.ndarray]


@dataclass(frozen=True)
class Tspg:
    """Every number of the method; `kibitz train tspg --help` is made of this."""

    game: Annotated[str, "the game, with its parameters"]
    iterations: Annotated[int, "rounds of playing and learning", range(1, 10**7)] = 200
    games: Annotated[int, "games of self-play an iteration", range(1, 10**4)] = 1
    simulations: Annotated[int, "simulations a move", range(1, 10**9)] = 1600
    features: Annotated[str, "what patterns grow from: as in the paper, or with diagonals and goals", KIND_SETS] = (
        "faithful"
    )
    grow: Annotated[int, "new patterns a game and seat", range(100)] = 1
    grow_from: Annotated[int, "positions by which patterns are chosen", range(1, 10**6)] = 30
    fewest: Annotated[int, "cases in which a new pattern has to be active", range(1, 10**6)] = 1
    confident: Annotated[bool, "whether a correlation counts by the lower end of its interval"] = False
    playouts: Annotated[str, "which policy plays out simulations", (*POLICIES, "uniform")] = "double"
    target: Annotated[str, "what ce and double learn from", tuple(OBJECTIVES)] = "visits"
    unvisited: Annotated[str, "what an action counts that was never tried, for tspg", UNVISITED] = "parent"
    batch: Annotated[int, "positions an update", range(1, 10**5)] = 30
    capacity: Annotated[int, "positions that are remembered, of each seat", range(1, 10**6)] = 400
    updates: Annotated[int, "updates of each vector a turn", range(1, 1000)] = 1
    rate: Annotated[float, "learning rate of RMSProp"] = 0.005
    momentum: Annotated[float, "of RMSProp"] = 0.9
    decay: Annotated[float, "of RMSProp's means"] = 0.9
    epsilon: Annotated[float, "what RMSProp adds to the denominator"] = 1e-8
    inside: Annotated[bool, "whether it is added inside the root"] = False
    shared: Annotated[bool, "whether the learning rate is divided by the number of patterns"] = False
    exploration: Annotated[float, "of PUCT"] = 2.5
    prove: Annotated[bool, "whether the search proves wins and losses"] = False
    plies: Annotated[int, "of a playout, then it is a draw; 0: no limit", range(10**6)] = 200
    turns: Annotated[int, "of a game of self-play, then it is stopped", range(1, 10**6)] = 150
    keep_every: Annotated[int, "iterations between features that are kept", range(1, 10**7)] = 25
    keep_first: Annotated[bool, "whether those of the first iteration are kept too"] = True
    seed: Annotated[int, "the same seed gives the same run", range(2**63)] = 1


def self_play(config: Tspg) -> Callable[[tuple[int, ...], Features], list[tuple[int, Rows]]]:
    """What a worker needs: the function from numbers of games and features to the games' experience."""
    game = load(config.game)

    def play(numbers: tuple[int, ...], features: Features) -> list[tuple[int, Rows]]:
        policy = biased(game, features, "ce", config.playouts)
        search = Puct(game, c=config.exploration, policy=policy, plies=config.plies, prove=config.prove)
        return [(number, play_one(game, search, config, number)) for number in numbers]

    return play


def play_one(game: Game, search: Puct, config: Tspg, number: int) -> Rows:
    """One game: at each turn the position, and what the search said of its actions."""
    generator = np.random.default_rng([config.seed, 2, number])
    search.begin(int(generator.integers(2**63)))
    state, most = positions(game), game.facts.num_actions
    low, high = game.facts.rewards
    states, seats, visits, values, priors, roots = [], [], [], [], [], []
    turns, seat = 0, int(game.turn(state[0]))
    while seat != OVER and turns < config.turns:
        advice = search.advise(state[0].copy(), seat, config.simulations)
        scaled = (2 * advice.value - high - low) / (high - low)
        tried = advice.visits > 0
        row_visits, row_values = np.zeros(most, np.int32), np.full(most, np.nan, np.float32)
        row_priors = np.zeros(most, np.float32)
        row_visits[advice.actions], row_values[advice.actions] = advice.visits, scaled
        row_priors[advice.actions] = advice.prior
        states.append(np.frombuffer(state.tobytes(), np.uint8))
        seats.append(seat)
        visits.append(row_visits)
        values.append(row_values)
        priors.append(row_priors)
        roots.append(float(advice.visits[tried] @ scaled[tried]) / max(int(advice.visits.sum()), 1))
        share = advice.visits / advice.visits.sum() if tried.any() else advice.policy
        game.play(state[0], int(generator.choice(advice.actions, p=share)))
        after = int(game.turn(state[0]))
        turns += after != seat  # a capture that goes on is the same turn
        seat = after
    return {
        "states": np.array(states),
        "seats": np.array(seats, np.int8),
        "visits": np.array(visits),
        "values": np.array(values),
        "priors": np.array(priors),
        "roots": np.array(roots, np.float32),
    }


class Side:
    """What one seat has learned, and what it remembers."""

    def __init__(self, game: Any, config: Tspg, seat: int) -> None:
        self.game, self.config, self.seat = game, config, seat
        self.finder = Finder(game, config.features)
        self.patterns: list[Pattern] = list(atoms_of(game, config.features, seat))
        self.vectors = {name: np.zeros(len(self.patterns)) for name in POLICIES}
        settings = (config.momentum, config.decay, config.epsilon, config.inside)
        self.optimizers = {name: RmsProp(config.rate, *settings) for name in POLICIES}
        self.memory: Rows = {}
        self.seen = 0
        self.compile()

    def compile(self) -> None:
        count = len(self.patterns)
        self.tables: Tables = compile_set(self.game, self.config.features, self.seat, self.patterns, words_for(count))

    def remember(self, row: Rows) -> None:
        """One position; the oldest goes."""
        capacity = self.config.capacity
        if not self.memory:
            self.memory = {key: np.zeros((capacity, *array.shape), array.dtype) for key, array in row.items()}
        for key, array in row.items():
            self.memory[key][self.seen % capacity] = array
        self.seen += 1

    def sample(self, generator: np.random.Generator, count: int) -> tuple[np.ndarray, Batch]:
        there = min(self.seen, self.config.capacity)
        drawn = generator.choice(there, min(count, there), replace=False)
        states = self.memory["states"][drawn].reshape(-1).view(self.game.state)
        cases = self.finder.find(states, self.tables, len(self.patterns))
        at = np.repeat(drawn, cases.lengths), cases.actions
        batch = Batch(
            cases, self.memory["visits"][at].astype(float), self.memory["values"][at].astype(float),
            self.memory["priors"][at].astype(float), self.memory["roots"][drawn].astype(float),
        )  # fmt: skip
        return states, batch

    def update(self, generator: np.random.Generator) -> float:
        """One step of each vector, first those that learn from visits; the cross-entropy before it."""
        _, batch = self.sample(generator, self.config.batch)
        loss = 0.0
        for name in POLICIES:
            weights = self.vectors["ce"] + (self.vectors[name] if name != "ce" else 0.0)
            objective = "tspg" if name == "tspg" else self.config.target
            slope, probs = gradient(batch, weights, objective, self.config.unvisited)
            if name == "ce":
                loss = float(-(batch.shares * np.log(np.maximum(probs, 1e-12))).sum()) / len(batch.root)
            step = self.optimizers[name].step(slope.astype(float))
            self.vectors[name] = self.vectors[name] + step / (len(step) if self.config.shared else 1)
        return loss

    def grow(self, generator: np.random.Generator) -> None:
        """One pattern more, of weight 0, if there is a new one."""
        states, batch = self.sample(generator, self.config.grow_from)
        _, probs = gradient(batch, self.vectors["ce"], "visits", self.config.unvisited)
        found = best_pair(
            self.finder, self.config.features, states, self.tables, self.patterns, self.vectors["ce"],
            probs - batch.shares, self.config.fewest, self.config.confident,
        )  # fmt: skip
        if found is not None:
            self.patterns.append(found.pattern)
            self.vectors = {name: np.append(vector, 0.0) for name, vector in self.vectors.items()}
            self.compile()


class Student:
    """The learner: two sides that learn from the same games."""

    def __init__(self, game: Game, config: Tspg) -> None:
        self.game, self.config = game, config
        self.generator = np.random.default_rng([config.seed, 1])
        self.sides = [Side(game, config, seat) for seat in range(2)]
        self.games: list[Rows] = []

    def take(self, rows: Rows) -> None:
        self.games.append(rows)

    def learn(self) -> dict[str, float]:
        """An update after every turn of the new games, and a new pattern for each seat after every game."""
        losses: list[float] = []
        turns = 0
        for rows in self.games:
            for i in range(len(rows["seats"])):
                row = {key: array[i] for key, array in rows.items() if key != "seats"}
                self.sides[int(rows["seats"][i])].remember(row)
                turns += 1
                for side in self.sides:
                    if side.seen:
                        losses += [side.update(self.generator) for _ in range(self.config.updates)]
            for _ in range(self.config.grow * self.config.games):
                for side in self.sides:
                    if side.seen:
                        side.grow(self.generator)
        self.games = []
        patterns = max(len(side.patterns) for side in self.sides)
        rows_there = sum(min(side.seen, self.config.capacity) for side in self.sides)
        return {"loss": float(np.mean(losses)), "turns": turns, "patterns": patterns, "rows": rows_there}

    def knowledge(self) -> Features:
        first, second = self.sides
        return Features(
            self.config.features,
            (tuple(first.patterns), tuple(second.patterns)),
            {name: (first.vectors[name].copy(), second.vectors[name].copy()) for name in POLICIES},
        )

    def publish(self, path: Path, made: str) -> None:
        path.parent.mkdir(exist_ok=True)
        save_features(path, self.game, self.knowledge(), made)

    def save(self, folder: Path) -> None:
        """All that learning goes on from."""
        tensors: Rows = {}
        eye = window(self.game.board(), self.config.features == "rich")  # type: ignore[attr-defined]
        about: dict[str, Any] = {"generator": self.generator.bit_generator.state, "sides": []}
        for seat, side in enumerate(self.sides):
            about["sides"].append({"seen": side.seen, "patterns": [spelled(each, eye) for each in side.patterns]})
            for name in POLICIES:
                tensors[f"{seat}.{name}"] = side.vectors[name]
                tensors |= {f"{seat}.{name}.{key}": part for key, part in side.optimizers[name].arrays().items()}
            tensors |= {f"{seat}.memory.{key}": array for key, array in side.memory.items()}
        whole = {key: np.ascontiguousarray(array) for key, array in tensors.items()}
        write_atomically(folder / "student.safetensors", safetensors.numpy.save(whole, {"about": json.dumps(about)}))

    def restore(self, folder: Path) -> None:
        with safetensors.safe_open(folder / "student.safetensors", "numpy") as file:  # type: ignore[no-untyped-call]
            tensors = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118
            about = json.loads(file.metadata()["about"])
        self.generator.bit_generator.state = about["generator"]
        eye = window(self.game.board(), self.config.features == "rich")  # type: ignore[attr-defined]
        for seat, side in enumerate(self.sides):
            side.seen = int(about["sides"][seat]["seen"])
            side.patterns = [parse(text, eye) for text in about["sides"][seat]["patterns"]]
            for name in POLICIES:
                side.vectors[name] = tensors[f"{seat}.{name}"]
                parts = {key: tensors[f"{seat}.{name}.{key}"] for key in side.optimizers[name].arrays()}
                side.optimizers[name].set(parts)
            mark = f"{seat}.memory."
            side.memory = {key.removeprefix(mark): value for key, value in tensors.items() if key.startswith(mark)}
            side.compile()


def refuse(config: Tspg, game: Any) -> None:
    """What can't be trained, before anything is written."""
    if not hasattr(game, "board") or game.facts.seats != 2 or game.facts.hidden:
        raise BadInput(f"{config.game} has no board for patterns: tspg is for board games of two")
    for name, low, high in (("rate", 0, 1), ("momentum", 0, 1), ("decay", 0, 1), ("epsilon", 0, 1)):
        if not low <= getattr(config, name) < high:
            raise BadInput(f"{name}={getattr(config, name)} should be from {low} to below {high}")
    if not config.exploration >= 0:
        raise BadInput(f"exploration={config.exploration} should be at least 0")
