"""Files of patterns and weights, which players read. Patterns are stored as text."""

import functools
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ...core.files import readable
from ...core.names import BadInput, choose, located
from ...core.tensor_files import About, Shapes
from ...games import Game, full_name, load_stored, name_if
from ...jit.bitsets import WORDS
from ...nets.model_files import MADE, ModelFormat
from ...search.policies import Uniform, policy
from .linear import linear
from .patterns import Pattern, parse, spelled, window
from .sets import BITS, KIND_SETS, marks_of

IN_PLAYOUTS = BITS * WORDS[0]  # number of patterns: one vector of bits is faster than two
POLICIES = {
    "ce": "learned from visits",
    "double": "ce plus an offset learned from visits",
    "tspg": "ce plus an offset learned from values",
}


def _declared(about: About, shapes: Shapes) -> dict[str, str]:
    if len(about["patterns"]) != 2:
        raise ValueError(f"it has patterns of {len(about['patterns'])} seats, not of 2")
    seats = enumerate(about["patterns"])
    return {f"{name}.{seat}": f"float64 {len(patterns)}" for seat, patterns in seats for name in POLICIES}


FORMAT = ModelFormat(
    "kibitz features 1",
    "feature set",
    _declared,
    MADE | {"kind": str, "patterns": [[str]]},
    player="features",
    search="puct:seconds=1,policy={}",
)

Patterns = tuple[tuple[Pattern, ...], tuple[Pattern, ...]]  # of seat 0 and seat 1
Vectors = dict[str, tuple[np.ndarray, np.ndarray]]


class Features(NamedTuple):
    """Patterns and weight vectors of both seats: `ce`, and offsets from it by name."""

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
        """Compile a policy, or `uniform`; with `most`, only that many patterns per seat, the largest weights."""
        if name == "uniform":
            return Uniform()
        weights = self.weights(name)
        kept = [np.sort(np.argsort(-np.abs(weights[seat]), kind="stable")[:most]) for seat in range(2)]
        patterns = [[self.patterns[seat][i] for i in kept[seat]] for seat in range(2)]
        return linear(game, self.kind, patterns, [weights[seat][kept[seat]] for seat in range(2)])


@policy
class Biased(NamedTuple):
    """One policy as the prior of a tree search, another for its playouts."""

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
    """Write a feature file atomically; `made` describes its origin."""
    eye = window(game.board(), features.kind == "rich")  # type: ignore[attr-defined]
    tensors = {
        f"{name}.{seat}": np.asarray(weights, np.float64)
        for name, vectors in features.vectors.items()
        for seat, weights in enumerate(vectors)
    }
    patterns = [[spelled(pattern, eye) for pattern in seat] for seat in features.patterns]
    FORMAT.write(path, tensors, game=full_name(game), made=made, kind=features.kind, patterns=patterns)


def read_features(path: Path, game: Game | None = None) -> tuple[Features, str]:
    """Read patterns and weights, and how they were made.

    Raises:
        BadInput: It is no such file, is damaged, or is for another game than `game`.
    """
    tensors, about = FORMAT.read(path, game=name_if(game))
    with readable(path, FORMAT.what), located(path):
        game = load_stored(about["game"]) if game is None else game
        kind = choose("kind of features", about["kind"], KIND_SETS)
        patterns = _parsed(game, kind, about["patterns"])
    vectors = {name: (tensors[f"{name}.0"], tensors[f"{name}.1"]) for name in POLICIES}
    return Features(kind, patterns, vectors), about["made"]


@FORMAT.described
def patterns_in(path: Path) -> str:
    return " + ".join(str(len(patterns)) for patterns in read_features(path)[0].patterns) + " patterns"


def _parsed(game: Any, kind: str, texts: Any) -> Patterns:
    eye = window(game.board(), kind == "rich")
    read = functools.cache(lambda text: parse(text, eye))
    found = []
    for seat, lines in enumerate(texts):
        patterns = tuple(read(text) for text in lines)
        known = marks_of(game, seat)
        for text, pattern in zip(lines, patterns, strict=True):
            if any((mark.name, mark.value) not in known for mark in pattern.marks):
                raise BadInput(f"the pattern {text!r} has a mark that no cell of the board has")
        if len(set(patterns)) < len(patterns):
            raise BadInput("it has a pattern twice")
        found.append(patterns)
    return found[0], found[1]


def features_for(path: Path, game: Game) -> Features:
    """Read the features of a game; refused where it has no board."""
    if not hasattr(game, "board"):
        raise BadInput(f"{full_name(game)} has no board, so it has no patterns")
    return read_features(path, game)[0]
