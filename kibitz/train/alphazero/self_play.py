"""Self-play of AlphaZero: many games at the same time, whose searches share the batches of the network.

A kernel continues all games until each waits for the network: it searches, moves, and keeps the samples of a game. A
game that ends makes room for a new one, so that batches are always full. At the end of an iteration games stay where
they are (`Table`), and go on with the next network; only searches that aren't finished begin again.
"""

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from ...games import Game, load, positions
from ...nets.boards.geometry import geometry_of
from ...nets.boards.networks import Weights
from ...nets.boards.processor_network import evaluator
from ...search.batched_puct import Batch, new_leaves, settings_for
from ...search.gumbel import halving
from ...search.tree import new_network_trees
from ..learner import Samples, joined
from ..packing import Packed, pack
from .config import AlphaZeroConfig
from .moves import SEAT, Rows, Rule, advance_games, begin_games, encode

Arrays = dict[str, np.ndarray]
CONSIDERED = 16  # actions that sequential halving begins with
COUNTS = ("games", "moves", "resigned", "played_on", "false_resignations")
POSITIONS = "positions"  # the name of `Rows.states` in a file


class Table:
    """Games in progress and their random numbers: what an iteration leaves to the next."""

    def __init__(self, game: Game, config: AlphaZeroConfig, numbers: range) -> None:
        facts, count = game.facts, len(numbers)
        self.game, self.states, self.seats = game, positions(game, count), np.zeros(count, SEAT)
        streams = np.random.SeedSequence([config.seed, 2]).generate_state(2 * (numbers.stop), np.uint64)
        self.rngs = streams.reshape(-1, 2)[numbers.start :].copy()
        turns, actions = facts.max_game_length, facts.num_actions
        self.rows = Rows(
            np.zeros((count, turns), game.state),
            np.zeros((count, turns, actions), np.uint16),
            np.zeros((count, turns, actions), np.uint8),
            np.zeros((count, turns), np.int8),
            np.zeros((count, turns), np.float32),
        )

    def packed(self) -> Arrays:
        """Everything, as arrays for a file or another process."""
        used = np.arange(self.rows.seats.shape[1]) < self.seats["rows"][:, None]
        found = {name: array[used] for name, array in zip(Rows._fields, self.rows, strict=True)}
        found[POSITIONS] = found.pop("states")
        records = {"states": self.states, "records": self.seats, POSITIONS: found[POSITIONS]}
        return found | {name: _as_bytes(array) for name, array in records.items()} | {"rngs": self.rngs.copy()}

    def unpack(self, packed: Arrays) -> None:
        self.states = _as_records(packed["states"], self.game.state)
        self.seats = _as_records(packed["records"], SEAT)
        self.rngs = packed["rngs"].copy()
        if POSITIONS not in packed:  # version 0.2 kept encodings: the learner says that these are left out
            self.seats["rows"] = 0
            return
        used = np.arange(self.rows.seats.shape[1]) < self.seats["rows"][:, None]
        rows = packed | {"states": _as_records(packed[POSITIONS], self.game.state)}
        for name, array in zip(Rows._fields, self.rows, strict=True):
            array[used] = rows[name]


def _as_bytes(records: np.ndarray) -> np.ndarray:
    """Records as rows of bytes; those between fields are 0."""
    clean = np.zeros(len(records), records.dtype)
    for name in records.dtype.names or ():
        clean[name] = records[name]
    return np.frombuffer(clean.tobytes(), np.uint8).reshape(len(records), -1).copy()


def _as_records(packed: np.ndarray, dtype: np.dtype) -> np.ndarray:
    return np.frombuffer(np.ascontiguousarray(packed).tobytes(), dtype).copy()


class SelfPlay:
    """The games of one process, their trees, and the network."""

    def __init__(self, game: Game, config: AlphaZeroConfig, numbers: range) -> None:
        self.game, self.config, self.table = game, config, Table(game, config, numbers)
        count, wide = len(numbers), game.facts.num_actions
        most = max(config.simulations, config.fast_simulations)
        self.trees = new_network_trees(count, 1 + (most + 1) * wide)
        self.leaves = new_leaves(game, count)
        self.noise = np.zeros((count, wide))
        self.settings = settings_for(game, config.selection == "gumbel")
        self.rule = Rule(
            config.fast_simulations, config.simulations, config.full_share,
            config.resign if config.resign < 1 else 2.0, config.play_on, config.temperature_moves, config.opening,
        )  # fmt: skip
        considered = min(CONSIDERED, wide)
        self.sequences = np.zeros((2, considered + 1, most), np.int32)
        for full, simulations in enumerate((config.fast_simulations, config.simulations)):
            self.sequences[full, :, :simulations] = halving(considered, simulations)
        self.frames = geometry_of(game).frames
        self.finished: list[Samples] = []
        self.counts = np.zeros(len(COUNTS), np.int64)

    def restart_searches(self) -> None:
        """Begin the searches again that aren't finished, with as many simulations: the network has changed."""
        seats = self.table.seats
        seats["searching"][seats["searching"] == 1] = -1
        seats["waiting"] = 0

    def advance(self, batch: Batch, first: int = 0) -> None:
        """Continue the games of a batch until each waits for the network's answer to its row, or is over.

        Args:
            batch: Answers, and room for the next encodings.
            first: The game of its first row.
        """
        table = self.table
        advance_games(
            self.game, table.states, table.seats, table.rows, self.trees, self.leaves, batch, first, self.settings,
            self.rule, self.frames, self.sequences, self.noise, table.rngs,
        )  # fmt: skip
        over = np.flatnonzero(table.seats["over"])
        for g in over.tolist():
            self._keep(g)
        if len(over):
            begin_games(self.game, table.states, table.seats, self.counts, np.zeros(1, SEAT))

    def _keep(self, g: int) -> None:
        """Keep the samples of a finished game."""
        rows, n, outcome = self.table.rows, self.table.seats["rows"][g], self.table.seats["outcome"][g]
        encodings = np.zeros((n, self.game.facts.encoding), np.float32)
        encode(self.game, rows.states[g, :n], rows.seats[g, :n], encodings)
        self.finished.append(
            {
                "encodings": pack(encodings),
                "policies": rows.policies[g, :n].copy(),
                "legal": pack(rows.legal[g, :n]),
                "searched": rows.values[g, :n].copy(),
                "outcomes": np.where(rows.seats[g, :n] == 0, outcome, -outcome),
            }
        )


class Part:
    """A task: the number of a part of the games, and those of them that are in progress."""

    def __init__(self, number: int, games: Arrays | None) -> None:
        self.number, self.games = number, games


def self_play(config: AlphaZeroConfig) -> Callable[[Part, Weights], tuple[int, Samples, Arrays]]:
    """Return the function of a worker: a part and the network -> the part's number, samples and games in progress."""
    game = load(config.game)
    players: dict[int, SelfPlay] = {}
    networks: list[tuple[Weights, Any]] = []

    def play(task: Part, weights: Weights) -> tuple[int, Samples, Arrays]:
        part = task.number
        if not networks or networks[0][0] is not weights:
            device = config.torch_device()
            networks[:] = [(weights, evaluator(geometry_of(game), config.shape, weights, device))]
        if part not in players:
            players[part] = SelfPlay(game, config, config.part(part))
        player, evaluate = players[part], networks[0][1]
        player.finished, player.counts = [], np.zeros(len(COUNTS), np.int64)
        if task.games is not None:
            player.table.unpack(task.games)
        player.restart_searches()
        exchanges = exchanges_for(player, evaluate)
        for _ in range(config.rounds):
            play_round(player, exchanges)
        for first, exchange in exchanges:
            exchange.wait()
            player.advance(exchange.batch, first)
        return part, _joined(player), player.table.packed()

    return play


def exchanges_for(player: SelfPlay, evaluate: Any) -> list[tuple[int, Any]]:
    """The first game of each batch, and its exchange with the network: two halves on a GPU, else one batch."""
    games = len(player.table.seats)
    bounds = [0, games // 2, games] if evaluate.on_gpu and games > 1 else [0, games]
    return [(first, evaluate.exchange(last - first, i)) for i, (first, last) in enumerate(itertools.pairwise(bounds))]


def play_round(player: SelfPlay, exchanges: list[tuple[int, Any]]) -> None:
    """One evaluation for every game. A GPU answers one batch while the games of the other are searched."""
    for first, exchange in exchanges:
        exchange.wait()
        player.advance(exchange.batch, first)
        exchange.ask()


def _joined(player: SelfPlay) -> Samples:
    facts = player.game.facts
    empty: Samples = {
        "encodings": Packed.empty(facts.encoding),
        "policies": np.zeros((0, facts.num_actions), np.uint16),
        "legal": Packed.empty(facts.num_actions),
        "searched": np.zeros(0, np.float32),
        "outcomes": np.zeros(0, np.float32),
    }
    return joined([empty, *player.finished]) | {"counts": player.counts[None]}
