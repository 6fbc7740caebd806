"""Recorded games of Doppelkopf as arrays for training: each verified by replaying it, duplicates removed.

The arrays are cached beside the file of games, and made again when that file changes.
"""

import hashlib
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ...core.files import read_bytes, read_json
from ...core.names import BadInput, as_path
from ...core.tensor_files import Format
from ...games import full_name, load
from ...games.game import OVER, SCRATCH, positions
from ...games.records import FILE, read_line
from ...jit import kernel
from ..rules import notation, thesis_lines

FORMAT = Format(
    "kibitz doppelkopf games 2",
    "cache of games",
    {
        "actions": "uint8 games ?",
        "hands": "int64 games 4",
        "played": "int8 games 48",
        "leaders": "int8 games 12",
        "scores": "int16 games 4",
    },
    sealed=True,
)
NOTHING = 255  # pads the actions of a game
ARRAYS = ("actions", "hands", "played", "leaders", "scores")


@dataclass(frozen=True)
class Games:
    rules: str
    source: str  # hash of the file that they come from
    actions: np.ndarray  # [games, max_game_length] u1: chance included, each hand dealt in order; padded by NOTHING
    hands: np.ndarray  # [games, 4] i8: as dealt, two bits per kind
    played: np.ndarray  # [games, 48] i1: kinds
    leaders: np.ndarray  # [games, 12] i1: of each trick
    scores: np.ndarray  # [games, 4] i2

    def __len__(self) -> int:
        return len(self.actions)

    @property
    def lengths(self) -> np.ndarray:
        return (self.actions != NOTHING).sum(axis=1)

    @property
    def own(self) -> np.ndarray:
        """[games, 4 seats, 48 cards] bool: whether the seat itself plays the card."""
        movers = (self.leaders[:, :, None] + np.arange(4)).reshape(-1, 48) & 3
        return movers[:, None] == np.arange(4)[:, None]

    def take(self, which: np.ndarray) -> "Games":
        """A subset of the games, by indices or mask."""
        return replace(self, **{name: getattr(self, name)[which] for name in ARRAYS})


def check_training(config: Any, read: Callable[[], Games]) -> None:
    """Refuse values of a configuration with which no network can be trained on the games that `read` returns."""
    if not config.data:
        raise BadInput("--data is missing: a file of games, or a run folder of kibitz record")
    games = read()
    count = int(is_validation(games, config.validation).sum())
    if not 0 < count < len(games):
        raise BadInput(
            f"validation={config.validation} keeps {count} of {len(games)} games for validation: "
            "it should be some of them, not all"
        )


def read_games(name: str | Path, rules_name: str, form: thesis_lines.Form = thesis_lines.Form()) -> Games:  # noqa: B008
    """Read games from a file of records or of the thesis' lines (in this `form`), or from the run folder that holds it.

    Raises:
        BadInput: A game is illegal or of other rules; the message names its line and the reason.
    """
    path = as_path(name)
    path = path / FILE if path.is_dir() else path
    rules = notation.check_game(load(rules_name))
    data = read_bytes(path, "file of games")
    source = hashlib.blake2b(f"{FORMAT.name} {full_name(rules)} {form}\n".encode() + data, digest_size=16).hexdigest()
    cache = path.with_name(f"{path.name}.safetensors")
    found = _cached(cache, full_name(rules), source)
    if found is None:
        try:
            found = without_duplicates(_read(data, rules, form, source))
        except BadInput as error:
            raise BadInput(f"{path}, {error}") from None
        with suppress(BadInput):  # training works without the cache, in a folder that can't be written
            FORMAT.write(cache, {name: getattr(found, name) for name in ARRAYS}, source=source)
    if path.parent.joinpath("config.json").is_file():
        _refuse_unfinished(path)
    return found


def _cached(path: Path, rules: str, source: str) -> Games | None:
    """The cached arrays, if they exist, are undamaged, and come from this source."""
    try:
        return Games(rules, source, **FORMAT.read(path, same={"source": source})[0])
    except BadInput:  # then it is made again
        return None


def _refuse_unfinished(path: Path) -> None:
    """Refuse a recording that is still growing: a resumed run would see other games."""
    try:
        config = read_json(path.with_name("config.json"), "configuration", {"command": str, "games": int})
    except BadInput:
        return
    if config["command"] != "record":
        return
    wanted, there = config["games"], path.read_bytes().count(b"\n")
    if there < wanted:
        raise BadInput(f"{path} holds {there:,} of {wanted:,} games: finish it by kibitz record --out {path.parent}")


def _read(data: bytes, rules: Any, form: thesis_lines.Form, source: str) -> Games:
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise BadInput(f"it is not text: {error}") from None
    if not text.strip():
        raise BadInput("it has no games")
    most = rules.facts.max_game_length
    payoffs: list[list[float]] | None = None
    if text.lstrip().startswith("{"):
        rows, payoffs = _from_json(text, rules, most)
    else:
        rows = [_row(actions, most) for actions, _ in thesis_lines.read_games(rules, text, form, compiled=True)]
    found = replayed(rules, np.frombuffer(bytearray().join(rows), np.uint8).reshape(-1, most), source)
    if payoffs is not None:
        wrong = np.flatnonzero((found.scores != np.array(payoffs)).any(axis=1))
        if len(wrong):
            at = int(wrong[0])
            raise BadInput(f"line {at + 1}: the payoffs are {found.scores[at].tolist()}, not {payoffs[at]}")
    return found


def _from_json(text: str, rules: Any, most: int) -> tuple[list[bytes], list[list[float]]]:
    rows, payoffs = [], []
    for number, line in enumerate(text.splitlines()):
        where = f"line {number + 1}"
        record = read_line(line, f"{where},")
        if record.game != full_name(rules):
            raise BadInput(f"{where}: it is a game of {record.game}, not of {full_name(rules)}")
        if len(record.payoffs) != 4:
            raise BadInput(f"{where}: the payoffs are {record.payoffs}, not those of four seats")
        try:
            rows.append(_row(record.actions, most))
        except ValueError:
            _refuse_game(rules, record.actions, where)
        payoffs.append(record.payoffs)
    return rows, payoffs


def _row(actions: list[int], most: int) -> bytes:
    """Actions as padded bytes; ValueError where they can't be those of a game."""
    if len(actions) > most or NOTHING in actions:
        raise ValueError
    return bytes(actions).ljust(most, bytes([NOTHING]))


def _refuse_game(rules: Any, actions: list[int], where: str) -> None:
    """Raise the reason why a game is illegal."""
    try:
        notation.replay(rules, actions)
    except BadInput as error:
        raise BadInput(f"{where}: {error}") from None
    raise BadInput(f"{where}: the game is illegal")


def replayed(rules: Any, actions: np.ndarray, source: str) -> Games:
    """The arrays of all games, by replaying them; the first illegal game is refused."""
    count = len(actions)
    found = Games(
        full_name(rules),
        source,
        actions,
        hands=np.zeros((count, 4), np.int64),
        played=np.zeros((count, 48), np.int8),
        leaders=np.zeros((count, 12), np.int8),
        scores=np.zeros((count, 4), np.int16),
    )
    size = 12 if rules.nines else 10
    for seat in range(4):
        dealt = actions[:, size * seat : size * seat + size]
        dealt.sort(axis=1)
        found.hands[:, seat] = (1 << 2 * (dealt & 31).astype(np.int64)).sum(axis=1)
    lengths, legal = found.lengths, np.empty(SCRATCH, np.int64)
    good = replay(rules, actions, lengths, positions(rules), legal, found.played, found.leaders, found.scores)
    if good < count:
        _refuse_game(rules, actions[good, : lengths[good]].tolist(), f"line {good + 1}")
    return found


@kernel
def replay(game, actions, lengths, states, legal, played, leaders, scores):
    """Fill what follows from the actions; returns the number of games before the first illegal one."""
    state = states[0]
    for i in range(len(actions)):
        game.start(state)
        for ply in range(lengths[i]):
            allowed = False
            if game.turn(state) != OVER:
                for k in range(game.actions(state, legal)):
                    allowed |= legal[k] == actions[i, ply]
            if not allowed:
                return i
            game.play(state, np.int64(actions[i, ply]))
        if game.turn(state) != OVER:
            return i
        for k in range(48):  # element by element: whole rows take seconds to compile
            played[i, k] = state.played[k]
        for k in range(12):
            leaders[i, k] = state.leaders[k]
        for k in range(4):
            scores[i, k] = state.scores[k]
    return len(actions)


def without_duplicates(games: Games) -> Games:
    """Keep one of several games with the same actions."""
    _, first = np.unique(games.actions, axis=0, return_index=True)
    return games.take(np.sort(first))


def is_validation(games: Games, share: float) -> np.ndarray:
    """[games] bool: about this share of the games, chosen by a hash of the deal, so that no deal is on both sides."""
    key = np.zeros(len(games), np.uint64)
    for seat in range(4):
        key = (key ^ games.hands[:, seat].view(np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
        key = (key ^ key >> np.uint64(29)) * np.uint64(0xBF58476D1CE4E5B9)
        key ^= key >> np.uint64(32)
    return key < np.uint64(int(share * 2**63)) * np.uint64(2) if share < 1 else np.ones(len(games), bool)


def split(games: Games, share: float, most: int) -> tuple[Games, Games]:
    """The training set, and the validation set of this share of the deals, cut off at `most` games."""
    held_out = is_validation(games, share)
    return games.take(~held_out), games.take(np.flatnonzero(held_out)[:most])
