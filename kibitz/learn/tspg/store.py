"""Files of patterns and weights: what players read. Patterns stand in them as text."""

import functools
import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import safetensors
import safetensors.numpy

from ...core.files import write_atomically
from ...core.names import BadInput, choose
from ...games import Game, full_name
from ...jit.bitsets import WORDS
from ...search.policies import Uniform, policy
from .linear import linear
from .patterns import Pattern, parse, spelled, window
from .sets import BITS, KIND_SETS, marks_of

FORMAT = "kibitz features 1"
IN_PLAYOUTS = BITS * WORDS[0]  # patterns: one vector of bits, which is faster than two
POLICIES = {
    "ce": "learned from visits",
    "double": "the same with an offset, learned from visits too",
    "tspg": "the same with an offset, learned from values",
}
Patterns = tuple[tuple[Pattern, ...], tuple[Pattern, ...]]  # of seat 0 and seat 1
Vectors = dict[str, tuple[np.ndarray, np.ndarray]]


class Features(NamedTuple):
    """Both seats' patterns, and vectors of weights: `ce`, and offsets from it by name."""

    kind: str  # faithful, rich
    patterns: Patterns
    vectors: Vectors

    def weights(self, name: str) -> tuple[np.ndarray, np.ndarray]:
        base = self.vectors["ce"]
        if name == "ce":
            return base
        offset = self.vectors[choose("policy", name, POLICIES)]
        return base[0] + offset[0], base[1] + offset[1]

    def policy(self, game: Game, name: str, most: int | None = None) -> Any:
        """Compiled. `uniform` is one too. Of more than `most` patterns a seat, those with the smallest weights go."""
        if name == "uniform":
            return Uniform()
        weights = self.weights(name)
        kept = [np.sort(np.argsort(-np.abs(weights[seat]), kind="stable")[:most]) for seat in range(2)]
        patterns = [[self.patterns[seat][i] for i in kept[seat]] for seat in range(2)]
        return linear(game, self.kind, patterns, [weights[seat][kept[seat]] for seat in range(2)])


@policy
class Biased(NamedTuple):
    """One policy as the prior of a tree search, another one in its playouts."""

    prior: Any
    playouts: Any

    def weigh(self, game, state, actions, n, probs):
        self.prior.weigh(game, state, actions, n, probs)

    def step(self, game, state, actions, probs, rng):
        return self.playouts.step(game, state, actions, probs, rng)

    def playout(self, game, state, plies, actions, probs, rng):
        return self.playouts.playout(game, state, plies, actions, probs, rng)


def biased(game: Game, features: Features, prior: str, playouts: str) -> Biased:
    return Biased(features.policy(game, prior), features.policy(game, playouts, IN_PLAYOUTS))


def save_features(path: Path, game: Game, features: Features, made: str = "") -> None:
    """Write the file whole or not at all; `made` says how it was, in words."""
    eye = window(game.board(), features.kind == "rich")  # type: ignore[attr-defined]
    about = {
        "format": FORMAT,
        "game": full_name(game),
        "made": made,
        "kind": features.kind,
        "patterns": [[spelled(pattern, eye) for pattern in seat] for seat in features.patterns],
    }
    tensors = {
        f"{name}.{seat}": np.ascontiguousarray(weights, np.float64)
        for name, vectors in features.vectors.items()
        for seat, weights in enumerate(vectors)
    }
    write_atomically(path, safetensors.numpy.save(tensors, {"about": json.dumps(about)}))


def is_features(path: Path) -> bool:
    """Whether a file says of itself that it holds patterns."""
    return _about(path).get("format") == FORMAT


def game_of(path: Path) -> str:
    """The game whose patterns a file holds, by its own word."""
    return str(_about(path).get("game", ""))


def _about(path: Path) -> dict[str, Any]:
    try:
        with safetensors.safe_open(path, "numpy") as file:  # type: ignore[no-untyped-call]
            found = json.loads((file.metadata() or {}).get("about", "{}"))
    except (safetensors.SafetensorError, OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def read_features(path: Path, game: Game) -> tuple[Features, str]:
    """Patterns and weights from their file, and how they were made; refused if damaged, or for another game."""
    try:
        with safetensors.safe_open(path, "numpy") as file:  # type: ignore[no-untyped-call]
            about = json.loads((file.metadata() or {}).get("about", "{}"))
            if about.get("format") != FORMAT:
                raise BadInput(f"{path} holds no features (its format is {about.get('format', 'not given')!r})")
            if about["game"] != full_name(game):
                raise BadInput(f"{path} has features for {about['game']}, not for {full_name(game)}")
            kind, made, texts = str(about["kind"]), str(about["made"]), about["patterns"]
            vectors = {name: (file.get_tensor(f"{name}.0"), file.get_tensor(f"{name}.1")) for name in POLICIES}
        patterns = _parsed(game, choose("kind of features", kind, KIND_SETS), texts)
    except FileNotFoundError:
        raise BadInput(f"no file of features {str(path)!r}") from None
    except BadInput as error:
        raise BadInput(f"{path}: {error}" if str(path) not in str(error) else str(error)) from None
    except (safetensors.SafetensorError, OSError, KeyError, ValueError, TypeError, AttributeError) as error:
        raise BadInput(f"{path} can't be read as features, it is damaged or foreign: {error}") from None
    for name, both in vectors.items():
        for seat, weights in enumerate(both):
            if weights.shape != (len(patterns[seat]),) or weights.dtype != np.float64 or not np.isfinite(weights).all():
                raise BadInput(f"{path} is damaged: {name}.{seat} doesn't fit {len(patterns[seat])} patterns")
    return Features(kind, patterns, vectors), made


def _parsed(game: Any, kind: str, texts: Any) -> Patterns:
    if len(texts) != 2:
        raise BadInput(f"it has patterns of {len(texts)} seats, not of 2")
    eye = window(game.board(), kind == "rich")
    read = functools.cache(lambda text: parse(text, eye))
    found = []
    for seat, lines in enumerate(texts):
        patterns = tuple(read(text) for text in lines)
        known = marks_of(game, seat)
        for text, pattern in zip(lines, patterns, strict=True):
            if any((mark.name, mark.value) not in known for mark in pattern.marks):
                raise BadInput(f"the pattern {text!r} asks for what no cell of the board is known by")
        if len(set(patterns)) < len(patterns):
            raise BadInput("it has a pattern twice")
        found.append(patterns)
    return found[0], found[1]


def features_for(path: Path, game: Game) -> Features:
    """Features from their file, refused where the game has none."""
    if not hasattr(game, "board"):
        raise BadInput(f"{full_name(game)} has no board, so it has no patterns")
    return read_features(path, game)[0]
