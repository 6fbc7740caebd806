"""Files of card abstractions and of strategies that use them, with checksums."""

import hashlib
from pathlib import Path
from typing import Any

import numpy as np

from ...core.files import Expected, Shapes, check_fits, read_tensors, readable, write_tensors
from ...core.names import BadInput
from ...games import full_name
from .betting_tree import betting_tree
from .buckets import Buckets
from .cards import cards_of
from .solver import first_entries
from .strategy import TableStrategy

ABSTRACTION = "kibitz abstraction 1"
STRATEGY = "kibitz table strategy 1"
PARTS = 255  # probabilities are kept as shares of this


def checksum(*arrays: np.ndarray) -> str:
    """SHA-256 of the contents of arrays."""
    found = hashlib.sha256()
    for array in arrays:
        found.update(np.ascontiguousarray(array).data)
    return found.hexdigest()


def _deck(game: Any) -> list[Any]:
    """What buckets depend on: the game's cards, not its bets."""
    cards = cards_of(game)
    return [game.name, cards.ranks, cards.suits, list(cards.dealt)]


def save_buckets(path: Path, game: Any, buckets: Buckets, **about: Any) -> None:
    """Write an abstraction, for `read_buckets`. Hands that share a card with the board have the largest number."""
    tables = {}
    for street, (table, count) in enumerate(zip(buckets.tables, buckets.counts, strict=True)):
        kind = np.uint16 if count < 2**16 - 1 else np.uint32
        tables[f"street_{street + 1}"] = np.where(table < 0, np.iinfo(kind).max, table).astype(kind)
    write_tensors(
        path,
        ABSTRACTION,
        tables,
        deck=_deck(game),
        counts=list(buckets.counts),
        checksum=checksum(*tables.values()),
        **about,
    )


def read_buckets(path: Path, game: Any) -> Buckets:
    """Read an abstraction.

    Raises:
        BadInput: The file is missing, damaged, or for other cards than the game's.
    """
    cards = cards_of(game)
    keys = tuple(cards.classes(count)[0] for count in cards.dealt)

    def schema(shapes: Shapes, about: dict[str, Any]) -> dict[str, Expected]:
        if about.get("deck") != _deck(game):
            raise BadInput(f"{path} is an abstraction for other cards than those of {full_name(game)}")
        kinds = ("uint16", "uint32")
        return {f"street_{i + 1}": Expected(kinds, (len(each), len(cards.hands))) for i, each in enumerate(keys)}

    tensors, about = read_tensors(path, ABSTRACTION, "card abstraction", schema)
    with readable(path, "card abstraction"):
        check_fits(about, {"counts": [int], "checksum": str})
        tables = [tensors[f"street_{i + 1}"] for i in range(cards.streets)]
        if checksum(*tables) != about["checksum"]:
            raise ValueError("its checksum is wrong")
        counts = tuple(about["counts"])
        signed = []
        for street, (table, each, count) in enumerate(zip(tables, keys, counts, strict=True)):
            missing = table == np.iinfo(table.dtype).max
            possible = cards.held & each[:, None] == 0
            if (missing == possible).any() or table[possible].max() >= count:
                raise ValueError(f"its buckets of street {street + 1} don't fit the cards")
            small = np.int16 if count < 2**15 else np.int32
            table = table.astype(small)
            table[missing] = -1
            signed.append(table)
        return Buckets(cards, keys, tuple(signed), counts)


def save_strategy(path: Path, strategy: TableStrategy, abstraction: str) -> None:
    """Write a strategy, for `read_table_strategy`; `abstraction` is the checksum of its buckets."""
    tree, counts = strategy.tree, strategy.buckets.counts
    parts = np.zeros(int(first_entries(tree, counts)[1]), np.uint8)
    first = first_entries(tree, counts)[0]
    for node in np.flatnonzero(tree.choices):
        n, size = int(tree.choices[node]), int(tree.choices[node]) * counts[tree.street[node]]
        weights = strategy.probs[strategy.first[node] :][:size].reshape(-1, n).astype(np.float64)
        total = weights.sum(axis=1, keepdims=True)
        probs = np.where(total > 0, weights / np.maximum(total, 1e-300), 1 / n)
        parts[first[node] :][:size] = np.rint(probs * PARTS).astype(np.uint8).reshape(-1)
    write_tensors(
        path,
        STRATEGY,
        {"parts": parts},
        game=full_name(strategy.game),
        abstraction=abstraction,
        checksum=checksum(parts),
    )


def read_table_strategy(path: Path, game: Any, buckets: Buckets) -> TableStrategy:
    """Read a strategy that was made with these buckets.

    Raises:
        BadInput: The file is missing, damaged, or for another game or abstraction.
    """
    tree = betting_tree(game, buckets.cards)
    first, size = first_entries(tree, buckets.counts)

    def schema(shapes: Shapes, about: dict[str, Any]) -> dict[str, Expected]:
        if about.get("game") != full_name(game):
            raise BadInput(f"{path} is a strategy for {about.get('game')}, not for {full_name(game)}")
        return {"parts": Expected("uint8", (int(size),))}

    tensors, about = read_tensors(path, STRATEGY, "table strategy", schema)
    with readable(path, "table strategy"):
        if checksum(tensors["parts"]) != about.get("checksum"):
            raise ValueError("its checksum is wrong")
    return TableStrategy(game, tree, buckets, first, tensors["parts"])
