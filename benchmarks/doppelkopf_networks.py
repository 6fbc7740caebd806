"""Networks that predict the next card: evaluated one by one, in batches, and by a search."""

from functools import partial
from typing import Any

import numpy as np

from kibitz.doppelkopf.learn.lstm import CHARACTERS, BatchedLstm, LstmLayer, LstmNetwork, LstmReader, line_so_far
from kibitz.games import load
from kibitz.search.batched_ensemble import BatchedEnsemble
from kibitz.search.ensemble_uct import EnsembleUct

from .doppelkopf import decisions, some_views
from .measuring import Row, Work

NODES = {
    64: 20,
    128: 20,
    256: 10,
}  # nodes per layer -> required speed-up of a search over evaluating one position at a time
BATCH = 250  # games
DEALS, ROLLOUTS = 10, 1000


def _network(nodes: int) -> LstmNetwork:
    """An untrained network."""
    generator = np.random.default_rng(1)

    def even(*shape: int) -> np.ndarray:
        return (generator.uniform(-1, 1, shape) / nodes**0.5).astype(np.float32)

    layers = [
        LstmLayer(even(inputs, 4 * nodes), even(nodes, 4 * nodes), even(4 * nodes)) for inputs in (CHARACTERS, nodes)
    ]
    return LstmNetwork(layers, even(nodes, CHARACTERS), even(CHARACTERS))


def _guided(nodes: int, game: Any, seed: int = 1, **settings: Any) -> BatchedEnsemble:
    return BatchedEnsemble(game, BatchedLstm(_network(nodes)), seed, DEALS, **settings)


def _steps(nodes: int, batch: int) -> Work:
    """One more card in each of a batch of games."""
    reader = BatchedLstm(_network(nodes))
    state = np.zeros((4, batch, nodes), np.float32)
    cards = np.random.default_rng(1).integers(0, CHARACTERS, batch)

    def work(count: int) -> None:
        while count > 0:
            reader.read(state[:, :count], cards[:count])
            count -= batch

    return work


def _evaluated(nodes: int) -> Work:
    search, (view, seat) = _guided(nodes, load("doppelkopf:thesis")), some_views()[13]

    def work(count: int) -> None:
        search.asked = 0
        while search.asked < count:
            search.advise(view, seat, DEALS * min(count - search.asked, ROLLOUTS))

    return work


def _read(nodes: int) -> Work:
    network, (view, seat) = _network(nodes), some_views()[13]
    line = line_so_far(view, seat)

    def work(count: int) -> None:
        for _ in range(count):
            LstmReader(network).next_logits(line)

    return work


ROWS: list[Row] = []
for nodes, wanted in NODES.items():
    ROWS += [
        # one more card in each of a batch of games against one game by itself,
        Row(f"next-card-{nodes}-batch", "positions/s", 4, partial(_steps, nodes, BATCH), partial(_steps, nodes, 1)),
        # evaluations by a search, its own time included, against one position at a time, read from its first card;
        Row(f"next-card-{nodes}-search", "positions/s", wanted, partial(_evaluated, nodes), partial(_read, nodes)),
        # and all decisions of a seat in a game against the same search without a network
        Row(
            f"uct-lstm-{nodes}-doppelkopf-game",
            "games/s",
            0.03,
            partial(decisions, partial(_guided, nodes)),
            partial(decisions, partial(EnsembleUct, determinizations=DEALS)),
        ),
    ]
