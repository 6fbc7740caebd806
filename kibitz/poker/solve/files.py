"""Files of card abstractions and of strategies that use them, with checksums.

abstraction.safetensors   the bucket of every hand on every canonical board
parts/                    of an abstraction that isn't finished: centers of clusters, buckets of some boards
strategy.safetensors      the average strategy of a run of public chance sampling
"""

import os
import shutil
from pathlib import Path
from typing import Any

import numpy as np

from ...core import memory
from ...core.files import make_folder, readable, writing
from ...core.names import BadInput
from ...core.tensor_files import About, Format, Shapes, checksum, tensor_file_about
from ...games import full_name, load_stored
from ...search.strategy import strategy_file
from ...solve.regrets import matched
from .betting_tree import betting_tree
from .buckets import Buckets, lossless
from .cards import Cards, cards_of
from .clusters import CHUNK, Keep
from .solver import first_entries
from .strategy import TableStrategy

ABSTRACTION = Format("kibitz abstraction 1", "card abstraction", about={"deck": list, "counts": [int], "checksum": str})
PART = Format("kibitz part of an abstraction 1", "part of an abstraction", sealed=True)
STRATEGY = Format(
    "kibitz table strategy 1", "table strategy", {"parts": "uint8|uint16 entries"}, {"game": str}, sealed=True
)
ABSTRACTION_FILE = "abstraction.safetensors"
MAX_LOSSLESS = 60_000_000  # hands on canonical boards of one street, without abstraction; hold'em's turn has 22 million


def _deck(game: Any) -> list[Any]:
    """What buckets depend on: the game's cards, not its bets."""
    cards = cards_of(game)
    return [game.name, cards.ranks, cards.suits, list(cards.dealt)]


# ---------------------------------------------------------------- abstractions


class KeepParts(Keep):
    """Keeps the finished parts of an abstraction in the folder `parts` of a run."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def load(self, name: str) -> dict[str, np.ndarray] | None:
        path = self.folder / f"{name}.safetensors"
        if not path.exists():
            return None
        try:
            return PART.read(path)[0]
        except BadInput as error:
            raise BadInput(f"{error}; delete it, and it is computed again") from None

    def save(self, name: str, arrays: dict[str, np.ndarray]) -> None:
        make_folder(self.folder)
        PART.write(self.folder / f"{name}.safetensors", dict(sorted(arrays.items())))

    def clear(self) -> None:
        """Delete all parts: the whole is written."""
        with writing(self.folder):
            shutil.rmtree(self.folder, ignore_errors=True)


def save_buckets(path: Path, game: Any, buckets: Buckets, **about: Any) -> str:
    """Write an abstraction, for `read_buckets`, and return its checksum.

    Hands that share a card with the board have the largest number.
    """
    tables = {}
    for street, (table, count) in enumerate(zip(buckets.tables, buckets.counts, strict=True)):
        kind = np.uint16 if count < 2**16 - 1 else np.uint32
        tables[f"street_{street + 1}"] = np.where(table < 0, np.int64(np.iinfo(kind).max), table).astype(kind)
    whole = checksum(tables.values())
    boards = {f"boards_{street + 1}": keys for street, keys in enumerate(buckets.keys)}
    about |= {"deck": _deck(game), "counts": list(buckets.counts), "checksum": whole}
    ABSTRACTION.write(path, tables | boards, **about)
    return whole


def read_buckets(path: Path, game: Any) -> Buckets:
    """Read an abstraction and check all of it.

    Raises:
        BadInput: The file is missing, damaged, or for other cards than the game's.
    """
    cards = cards_of(game)
    keys = tuple(cards.classes(count)[0] for count in cards.dealt)
    tensors, counts, whole = _read(path, game, cards, keys)
    with readable(path, ABSTRACTION.what):
        tables = [tensors[f"street_{i + 1}"] for i in range(cards.streets)]
        if checksum(tables) != whole:
            raise ValueError("its checksum is wrong")
        for street, (table, each, count) in enumerate(zip(tables, keys, counts, strict=True)):
            if not np.array_equal(tensors[f"boards_{street + 1}"], each):
                raise ValueError(f"its boards of street {street + 1} aren't the game's")
            for start in range(0, len(table), CHUNK):
                impossible = cards.held & each[start : start + CHUNK, None] != 0
                if not np.array_equal(table[start : start + CHUNK] >= count, impossible):
                    raise ValueError(f"its buckets of street {street + 1} don't fit the cards")
        return Buckets(cards, keys, tuple(map(_signed, tables, counts)), counts)


def _signed(table: np.ndarray, count: int) -> np.ndarray:
    """A table of buckets with -1 in place of the largest number, which has the same bits."""
    if table.dtype == np.uint16 and count >= 2**15:
        return np.where(table == 2**16 - 1, -1, table.astype(np.int32))
    return table.view(np.int16 if table.dtype == np.uint16 else np.int32)


def map_buckets(path: Path, game: Any) -> Buckets:
    """Open an abstraction without reading it: its tables stay in the file, and are looked up there.

    Only the header is checked; a lookup checks what it finds.

    Raises:
        BadInput: The file is missing, truncated, or for other cards than the game's.
    """
    cards = cards_of(game)
    tensors, counts, _ = _read(path, game, cards, None)
    with readable(path, ABSTRACTION.what):
        keys = tuple(np.array(tensors[f"boards_{i + 1}"]) for i in range(cards.streets))
        if any((each[1:] <= each[:-1]).any() for each in keys):
            raise ValueError("its boards aren't in order")
        return Buckets(cards, keys, tuple(tensors[f"street_{i + 1}"] for i in range(cards.streets)), counts)


def _read(
    path: Path, game: Any, cards: Cards, keys: tuple[np.ndarray, ...] | None
) -> tuple[dict[str, np.ndarray], tuple[int, ...], str]:
    """The tensors of an abstraction, mapped if no boards are given; its numbers of buckets, and its checksum."""

    def declared(about: About, shapes: Shapes) -> dict[str, str]:
        if about["deck"] != _deck(game):
            raise BadInput(f"it is an abstraction for other cards than those of {full_name(game)}")
        found = {}
        for i in range(cards.streets):
            rows = f"rows{i}" if keys is None else len(keys[i])
            found[f"street_{i + 1}"] = f"uint16|uint32 {rows} {len(cards.hands)}"
            found[f"boards_{i + 1}"] = f"int64 {rows}"
        return found

    tensors, about = ABSTRACTION.read(path, declared, mapped=keys is None)
    with readable(path, ABSTRACTION.what):
        if len(about["counts"]) != cards.streets:
            raise ValueError(f"it counts the buckets of {len(about['counts'])} streets, not of {cards.streets}")
    return tensors, tuple(about["counts"]), about["checksum"]


def abstraction_file(folder: Path) -> Path:
    """The file of an abstraction, given that file or the folder that holds it.

    Raises:
        BadInput: There is none.
    """
    path = folder / ABSTRACTION_FILE if folder.is_dir() else folder
    if not path.exists():
        unfinished = (folder / "parts").is_dir()
        what = "isn't finished: run kibitz poker abstract again" if unfinished else "has no card abstraction in it"
        raise BadInput(f"{folder} {what}" if folder.is_dir() else f"no card abstraction {str(folder)!r}")
    return path


def checksum_of(path: Path) -> str:
    """The checksum that an abstraction carries."""
    return str(tensor_file_about(path).get("checksum", ""))


def link(source: Path, target: Path) -> None:
    """Give a large file, which is never changed, a second name; copy it where that is impossible."""
    part = target.with_name(f"{target.name}.{os.getpid()}.part")
    with writing(target):
        if target.exists() and target.samefile(source):
            return
        part.unlink(missing_ok=True)
        try:
            os.link(source, part)
        except OSError:
            shutil.copyfile(source, part)
        os.replace(part, target)


def buckets_for(game: Any, abstraction: Path | None) -> Buckets:
    """The buckets of a card abstraction, a file or its folder; without one, a bucket for every hand.

    Raises:
        BadInput: The abstraction is missing, damaged or for other cards; or there are too many hands without one.
    """
    return lossless_if_small(game) if abstraction is None else read_buckets(abstraction_file(abstraction), game)


def lossless_if_small(game: Any) -> Buckets:
    """The buckets of a game without card abstraction.

    Raises:
        BadInput: There are too many hands and boards.
    """
    cards = cards_of(game)
    if cards.deck ** cards.dealt[-1] > 52**4:  # too many even to count the canonical ones
        raise _too_many(game)
    rows = [len(cards.classes(count)[0]) for count in cards.dealt]
    if max(rows) * len(cards.hands) > MAX_LOSSLESS:
        raise _too_many(game)
    memory.check(24 * max(rows) * len(cards.hands), f"{full_name(game)} without abstraction", "name an --abstraction")
    return lossless(cards)


def _too_many(game: Any) -> BadInput:
    return BadInput(
        f"{full_name(game)} has too many hands and boards to solve without a card abstraction: add "
        "--buckets small, or compute one with kibitz poker abstract and name it with --abstraction"
    )


# ---------------------------------------------------------------- strategies


def save_strategy(path: Path, strategy: TableStrategy, abstraction: str, fine: bool = False) -> None:
    """Write a strategy, for `read_table_strategy`: probabilities as shares of the largest number of their type.

    Args:
        path: The file.
        strategy: The strategy.
        abstraction: The checksum of its buckets, empty for none.
        fine: Two bytes per probability, not one: for strategies close to an equilibrium.
    """
    tree, counts = strategy.tree, strategy.buckets.counts
    first, size = first_entries(tree, counts)
    kind = np.uint16 if fine else np.uint8
    parts = np.zeros(size, kind)
    for node in np.flatnonzero(tree.choices):
        n, size = int(tree.choices[node]), int(tree.choices[node]) * counts[tree.street[node]]
        probs = matched(strategy.probs[strategy.first[node] :][:size].reshape(-1, n).astype(np.float64))
        parts[first[node] :][:size] = np.rint(probs * np.iinfo(kind).max).astype(kind).reshape(-1)
    STRATEGY.write(path, {"parts": parts}, game=full_name(strategy.game), abstraction=abstraction)


def read_table_strategy(path: Path, game: Any, buckets: Buckets, mapped: bool = False) -> TableStrategy:
    """Read a strategy that was made with these buckets, and check all of it unless it stays in the file, `mapped`.

    Raises:
        BadInput: The file is missing, damaged, or for another game or abstraction.
    """
    tree = betting_tree(game, buckets.cards)
    first, size = first_entries(tree, buckets.counts)
    tensors, _ = STRATEGY.read(path, game=full_name(game), mapped=mapped, entries=int(size))
    return TableStrategy(game, tree, buckets, first, tensors["parts"])


def read_strategy_of(path: Path, game: Any) -> TableStrategy:
    """Read the strategy of a run with its abstraction, the file beside it, and check all of both.

    Raises:
        BadInput: A file is missing, damaged, or for another game or abstraction.
    """
    beside = _abstraction_beside(path, game)
    return read_table_strategy(path, game, lossless_if_small(game) if beside is None else read_buckets(beside, game))


def _check_game(path: Path, game: Any, about: dict[str, Any]) -> None:
    if about.get("game") != full_name(game):
        raise BadInput(f"{path} is a strategy for {about.get('game')}, not for {full_name(game)}")


@strategy_file(STRATEGY.name)
def open_table_strategy(path: Path, game: Any = None) -> TableStrategy:
    """Open the strategy of a run to play it: tables stay in their files, and are looked up there.

    Its abstraction is the file beside it; without one it has a bucket for every hand.

    Raises:
        BadInput: A file is missing, truncated, or for another game or abstraction.
    """
    game = game if game is not None else load_stored(str(tensor_file_about(path).get("game")))
    beside = _abstraction_beside(path, game)
    buckets = lossless_if_small(game) if beside is None else map_buckets(beside, game)
    return read_table_strategy(path, game, buckets, mapped=True)


def _abstraction_beside(path: Path, game: Any) -> Path | None:
    """The abstraction that a strategy of a game was made with; None: each hand has its own bucket."""
    about = tensor_file_about(path)
    _check_game(path, game, about)
    wanted, beside = about.get("abstraction"), path.with_name(ABSTRACTION_FILE)
    if not wanted:
        return None
    if not beside.exists():
        raise BadInput(f"{path} needs its card abstraction, {beside}, which is missing")
    if checksum_of(beside) != wanted:
        raise BadInput(f"{beside} is another card abstraction than the one that {path} was made with")
    return beside
