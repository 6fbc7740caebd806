"""Recorded games of Doppelkopf as arrays to learn from: each of them checked by playing it again, none there twice.

The arrays are kept beside the file they were made of, and made again when that is another one.
"""

import hashlib
import json
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import safetensors
import safetensors.numpy

from ...core.files import write_atomically
from ...core.names import BadInput
from ...games import full_name, load
from ...games.doppelkopf import Doppelkopf, notation, thesis_lines
from ...games.game import OVER, SCRATCH, positions
from ...games.records import FILE, read_line
from ...jit import kernel

FORMAT = "kibitz doppelkopf games 2"
NOTHING = 255  # behind the last action of a game
ARRAYS = ("actions", "hands", "played", "leaders", "scores")


@dataclass(frozen=True)
class Games:
    rules: str
    source: str  # a hash of what they were made of
    actions: np.ndarray  # [games, most] u1: all of a game, chance included, each hand dealt in order; then NOTHING
    hands: np.ndarray  # [games, 4] i8: as dealt, two bits a kind
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
        """[games, 4 seats, 48] bool: whether a card is the seat's own."""
        movers = (self.leaders[:, :, None] + np.arange(4)).reshape(-1, 48) & 3
        return movers[:, None] == np.arange(4)[:, None]

    def take(self, which: np.ndarray) -> "Games":
        """Some of them, by number or mask."""
        return replace(self, **{name: getattr(self, name)[which] for name in ARRAYS})


def check_nines(game: Any, what: str) -> None:
    if not isinstance(game, Doppelkopf) or not game.nines:
        raise BadInput(f"{what} is for doppelkopf with nines, whose games are 48 cards")


def refuse_lessons(config: Any, games: Games) -> None:
    """What can't be learned from recorded games, whatever the network."""
    if not 0 < config.learning_rate < 1:
        raise BadInput(f"learning_rate={config.learning_rate} should be above 0 and below 1")
    if not 0 < config.validation < 1:
        raise BadInput(f"validation={config.validation} should be above 0 and below 1")
    apart = int(is_validation(games, config.validation).sum())
    if not 0 < apart < len(games):
        raise BadInput(
            f"validation={config.validation} puts {apart} of {len(games)} games apart: some should be, and not all"
        )
    if config.device == "cuda":
        from ..torch_mlp import pick_device

        pick_device(config.device, large=True)


def read_games(name: str | Path, rules_name: str, form: thesis_lines.Form = thesis_lines.Form()) -> Games:  # noqa: B008
    """From a file of records or of lines (`form` says how those are meant), or the run folder it lies in.

    What can't have been played, or is another game, is refused with its line and the reason.
    """
    path = Path(name) / FILE if Path(name).is_dir() else Path(name)
    rules = notation.check_game(load(rules_name))
    try:
        data = path.read_bytes()
    except OSError as error:
        raise BadInput(f"{path} can't be read: {error.strerror or error}") from None
    source = hashlib.blake2b(f"{FORMAT} {full_name(rules)} {form}\n".encode() + data, digest_size=16).hexdigest()
    kept = path.with_name(f"{path.name}.safetensors")
    found = _kept(kept, full_name(rules), source)
    if found is None:
        try:
            found = without_twins(_read(data, rules, form, source))
        except BadInput as error:
            raise BadInput(f"{path}, {error}") from None
        about = {"about": json.dumps({"format": FORMAT, "source": source, "sum": _sum(found)})}
        with suppress(OSError):  # a folder that can't be written is no reason not to learn
            write_atomically(kept, safetensors.numpy.save({each: getattr(found, each) for each in ARRAYS}, about))
    if path.parent.joinpath("config.json").is_file():
        _refuse_unfinished(path)
    return found


def _kept(path: Path, rules: str, source: str) -> Games | None:
    """The arrays, if they are there, sound, and of this source."""
    try:
        with safetensors.safe_open(path, "numpy") as file:  # type: ignore[no-untyped-call]
            found = Games(rules, source, *(file.get_tensor(name) for name in ARRAYS))
            wanted = {"format": FORMAT, "source": source, "sum": _sum(found)}
            return found if json.loads((file.metadata() or {}).get("about", "{}")) == wanted else None
    except (safetensors.SafetensorError, OSError, KeyError, ValueError):
        return None


def _sum(games: Games) -> str:
    """A hash of the arrays: a file may be rotten where its format doesn't show it."""
    digest = hashlib.blake2b(digest_size=16)
    for name in ARRAYS:
        array = np.ascontiguousarray(getattr(games, name))
        digest.update(f"{array.dtype} {array.shape}".encode() + array.tobytes())
    return digest.hexdigest()


def _refuse_unfinished(path: Path) -> None:
    """A recording that isn't done would be another one tomorrow."""
    try:
        config = json.loads(path.with_name("config.json").read_text())
    except (OSError, ValueError):
        return
    if not isinstance(config, dict) or config.get("command") != "record" or not isinstance(config.get("games"), int):
        return
    wanted, there = config["games"], path.read_bytes().count(b"\n")
    if there < wanted:
        raise BadInput(f"{path} holds {there:,} of {wanted:,} games: let kibitz record --out {path.parent} go on")


def _read(data: bytes, rules: Any, form: thesis_lines.Form, source: str) -> Games:
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise BadInput(f"it is no text: {error}") from None
    if not text.strip():
        raise BadInput("it holds no game")
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
            raise BadInput(f"line {at + 1}: it pays {found.scores[at].tolist()}, not {payoffs[at]}")
    return found


def _from_json(text: str, rules: Any, most: int) -> tuple[list[bytes], list[list[float]]]:
    rows, payoffs = [], []
    for number, line in enumerate(text.splitlines()):
        where = f"line {number + 1}"
        record = read_line(line, f"{where},")
        if record.game != full_name(rules):
            raise BadInput(f"{where}: it is a game of {record.game}, not of {full_name(rules)}")
        if len(record.payoffs) != 4:
            raise BadInput(f"{where}: it pays {record.payoffs}, not four seats")
        try:
            rows.append(_row(record.actions, most))
        except ValueError:
            _say_why(rules, record.actions, where)
        payoffs.append(record.payoffs)
    return rows, payoffs


def _row(actions: list[int], most: int) -> bytes:
    """Padded; ValueError where it can't be all of a game."""
    if len(actions) > most or NOTHING in actions:
        raise ValueError
    return bytes(actions).ljust(most, bytes([NOTHING]))


def _say_why(rules: Any, actions: list[int], where: str) -> None:
    try:
        notation.replay(rules, actions)
    except BadInput as error:
        raise BadInput(f"{where}: {error}") from None
    raise BadInput(f"{where}: it can't have been played")


def replayed(rules: Any, actions: np.ndarray, source: str) -> Games:
    """All of them played again; the first that can't be is refused."""
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
        _say_why(rules, actions[good, : lengths[good]].tolist(), f"line {good + 1}")
    return found


@kernel
def replay(game, actions, lengths, states, legal, played, leaders, scores):
    """Fill what follows from the actions: how many games could be played before one that can't."""
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
        for k in range(48):  # one by one: whole rows take seconds to compile
            played[i, k] = state.played[k]
        for k in range(12):
            leaders[i, k] = state.leaders[k]
        for k in range(4):
            scores[i, k] = state.scores[k]
    return len(actions)


def without_twins(games: Games) -> Games:
    """The same deal played the same way counts once."""
    _, first = np.unique(games.actions, axis=0, return_index=True)
    return games.take(np.sort(first))


def is_validation(games: Games, share: float) -> np.ndarray:
    """[games] bool: about so many, chosen by the deal alone, so that no deal is on both sides."""
    key = np.zeros(len(games), np.uint64)
    for seat in range(4):
        key = (key ^ games.hands[:, seat].view(np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
        key = (key ^ key >> np.uint64(29)) * np.uint64(0xBF58476D1CE4E5B9)
        key ^= key >> np.uint64(32)
    return key < np.uint64(int(share * 2**63)) * np.uint64(2) if share < 1 else np.ones(len(games), bool)
