"""Networks in playouts of OOS: compiled into the kernel or in batches, against the alternatives."""

from functools import partial
from typing import Any

import numpy as np

from kibitz import games
from kibitz.jit import generators
from kibitz.nets.mlp import Layers, compiled, new_layers, passes, sizes_of
from kibitz.search.batched_oos import IN_FLIGHT, BatchedOos, new_batch
from kibitz.search.infoset_table import clear
from kibitz.search.oos import Oos
from kibitz.train.exit_oos.config import ExItOosConfig

from .measuring import Row, Work

# Positions evaluated per second in the first simulations of searches (later ones hardly leave the tree in a small
# game). The networks are the paper's, and a large one.
NETWORKS = [
    ("leduc", "128"),
    ("goofspiel:6", "128-64"),
    ("goofspiel:13", "128-128-64"),
    ("liars_dice", "128-64"),
    ("liars_dice:2", "128-64"),
    ("goofspiel:13", "512-512-512"),
]
FRESH = 200  # simulations per search
SIDE_BY_SIDE = 32  # games that share batches


def _layers(name: str, hidden: str) -> Layers:
    sizes = [int(size) for size in hidden.split("-")]
    return new_layers(sizes_of(games.load(name), sizes), np.random.default_rng(1))


def _compiled_search(name: str, hidden: str) -> Work:
    """Positions that the compiled network evaluates inside the search's kernel."""
    policy = compiled(_layers(name, hidden))
    search = Oos(games.load(name), policy=policy)

    def work(count: int) -> None:
        until = policy.asked[0] + count
        while policy.asked[0] < until:
            clear(search.table)
            search.run(FRESH)

    return work


def _batched_search(name: str, hidden: str, side_by_side: int, in_flight: int) -> Work:
    """Positions that torch evaluates for several searches at once."""
    from kibitz.nets.torch_mlp import batch_evaluator

    game, evaluate = games.load(name), batch_evaluator(_layers(name, hidden), "cpu")
    searches = [BatchedOos(game, 1, in_flight) for _ in range(side_by_side)]
    batch = new_batch(game, side_by_side * in_flight)

    def work(count: int) -> None:
        while count > 0:
            waiting = 0
            for search in searches:
                if not search.left[0]:  # a new search, while the last machines of the old one still run
                    clear(search.table)
                    search.machines["busy"] = 0
                    search.left[0] = FRESH
                waiting += search.advance(batch, waiting)
            batch.logits[:waiting] = evaluate(batch.encodings[:waiting])
            count -= waiting

    return work


def _encodings(name: str) -> np.ndarray:
    """Encodings of decisions in random games."""
    game, rng = games.load(name), generators(1, 1)[0]
    found: list[np.ndarray] = []
    while len(found) < 2000:
        state = games.positions(game)[0]
        while (turn := game.turn(state)) != games.OVER:
            if turn != games.CHANCE:
                found.append(np.zeros(game.facts.encoding, np.float32))
                game.observe(state, turn, found[-1])
            game.play(state, game.sample_action(state, rng))
    return np.array(found)


def _compiled_alone(name: str, hidden: str) -> Work:
    policy, encodings = compiled(_layers(name, hidden)), _encodings(name)
    return lambda count: passes(policy, encodings, count)


def _batched_alone(name: str, hidden: str, rows: int) -> Work:
    from kibitz.nets.torch_mlp import batch_evaluator

    evaluate, encodings = batch_evaluator(_layers(name, hidden), "cpu"), _encodings(name)[:rows]

    def work(count: int) -> None:
        for _ in range(-(-count // rows)):
            evaluate(encodings)

    return work


ROWS: list[Row] = []
for name, hidden in NETWORKS:
    label, rows = f"{name}-{hidden}", SIDE_BY_SIDE * IN_FLIGHT
    inside = partial(_compiled_search, name, hidden)
    batched = partial(_batched_search, name, hidden, SIDE_BY_SIDE, IN_FLIGHT)
    alone: Any = partial(_compiled_alone, name, hidden)
    if ExItOosConfig(name, hidden=hidden).in_batches(games.load(name)):
        inside, batched, alone = batched, inside, partial(_batched_alone, name, hidden, rows)
    ROWS += [
        # the method in use against evaluating one position at a time,
        Row(
            f"net-{label}",
            "positions/s",
            10 if "512" in hidden else 20,
            inside,
            partial(_batched_search, name, hidden, 1, 1),
        ),
        # against its forward pass alone, on one position or the same batch at a time,
        Row(f"net-forward-pass-{label}", "positions/s", 0.5, inside, alone),
        # and against the alternative: compiled into the kernel, or in batches
        Row(f"net-alternative-{label}", "positions/s", 1, inside, batched),
    ]
