"""Networks of Deep CFR as data: shape, weights, forward pass, and the file that players read.

The forward pass uses only what NumPy's arrays and torch's tensors have in common, so that players need no torch, and
play exactly the function that was fitted.

Two architectures. `plain`: layers over the encoding. `cards`, after Brown et al.: the embedding of a card is the sum of
those of its rank, its suit and itself; cards are summed for hole, flop, turn and river; three layers follow on these,
two on the bets, three on both. Both may have skip connections around layers of equal width, and a normalization before
the last layer.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ...core.files import readable
from ...core.names import BadInput
from ...core.tensor_files import Shapes
from ...games import Game, load, name_if
from ...nets.model_files import MADE, ModelFormat
from ...solve import regrets

SD = "sd.safetensors"  # in a run folder: the model of SD-CFR, where network.safetensors is a strategy network
PLAIN, CARDS = "plain", "cards"
TINY = 1e-5  # added to variances
NORMS = ("none", "layer", "batch")  # before the last layer
SHAPE = {
    "kind": (PLAIN, CARDS), "inputs": int, "hidden": [int], "actions": int, "norm": NORMS, "skips": bool,
    "deck?": [int],
}  # fmt: skip
TEXTS = MADE | {"seen": str, "average": ("network", "sd"), "fallback": ("argmax", "uniform")}

Weights = dict[str, np.ndarray]  # or torch's tensors


@dataclass(frozen=True)
class Shape:
    kind: str
    inputs: int
    hidden: tuple[int, ...]
    actions: int
    norm: str  # one of NORMS
    skips: bool
    deck: tuple[int, int, int] = (0, 0, 0)  # of cards: streets, ranks, suits

    def layers(self) -> dict[str, tuple[int, int]]:
        """Name -> inputs, outputs; in the order of the forward pass."""
        if self.kind == PLAIN:
            widths = [self.inputs, *self.hidden]
            found = {f"body.{i}": (widths[i], widths[i + 1]) for i in range(len(self.hidden))}
            return found | {"head": (widths[-1], self.actions)}
        streets, ranks, suits = self.deck
        width, bets = self.hidden[0], self.inputs - streets * ranks * suits
        return {
            "card.0": (streets * width, width), "card.1": (width, width), "card.2": (width, width),
            "bet.0": (bets, width), "bet.1": (width, width),
            "body.0": (2 * width, width), "body.1": (width, width), "body.2": (width, width),
            "head": (width, self.actions),
        }  # fmt: skip

    def count(self) -> int:
        """Number of weights."""
        return sum(int(np.prod(shape)) for shape in self.shapes().values())

    def shapes(self) -> dict[str, tuple[int, ...]]:
        found: dict[str, tuple[int, ...]] = {}
        if self.kind == CARDS:
            _, ranks, suits = self.deck
            found = {
                name: (n, self.hidden[0]) for name, n in (("rank", ranks), ("suit", suits), ("card", ranks * suits))
            }
        for name, (inputs, outputs) in self.layers().items():
            found |= {f"{name}.weights": (inputs, outputs), f"{name}.biases": (outputs,)}
        if self.norm == "batch":
            last = self.layers()["head"][0]
            found |= {f"norm.{name}": (last,) for name in ("scale", "shift", "mean", "variance")}
        return found


def new_weights(shape: Shape, generator: np.random.Generator, init: float = 0.0) -> Weights:
    """Untrained weights: uniform in ±1/√inputs, or in ±`init` where given."""
    found: Weights = {}
    layers = shape.layers()
    for name, size in shape.shapes().items():
        inputs = layers[name.rpartition(".")[0]][0] if name.rpartition(".")[0] in layers else size[-1]
        reach = init or inputs**-0.5
        found[name] = (generator.uniform(-1, 1, size) * reach).astype(np.float32)
    if shape.norm == "batch":
        for name, value in (("scale", 1), ("shift", 0), ("mean", 0), ("variance", 1)):
            found[f"norm.{name}"] = np.full_like(found[f"norm.{name}"], value)
    return found


def forward(shape: Shape, weights: Mapping[str, Any], x: Any, statistics: Any = None) -> Any:
    """[rows, inputs] -> [rows, actions]. `statistics` receives mean and variance of the rows (batch norm, training)."""
    if shape.kind == CARDS:
        x = _joined(on_cards(shape, weights, x), on_bets(shape, weights, x))
    return above(shape, weights, layer(shape, weights, "body.0", x), statistics)


def above(shape: Shape, weights: Mapping[str, Any], x: Any, statistics: Any = None) -> Any:
    """The forward pass from the outputs of the first layer of the body on."""
    for name in shape.layers():
        if name.startswith("body") and name != "body.0":
            x = layer(shape, weights, name, x)
    if shape.norm == "layer":
        x = _layer_norm(x)
    elif shape.norm == "batch":
        if statistics is None:
            x = _normal(x, weights["norm.mean"], weights["norm.variance"])
        else:
            mean = x.mean(0)
            variance = ((x - mean) ** 2).mean(0)
            statistics(mean, variance)
            x = _normal(x, mean, variance)
        x = x * weights["norm.scale"] + weights["norm.shift"]
    return x @ weights["head.weights"] + weights["head.biases"]


def layer(shape: Shape, weights: Mapping[str, Any], name: str, x: Any) -> Any:
    """One layer with its ReLU."""
    matrix, biases = weights[f"{name}.weights"], weights[f"{name}.biases"]
    skips = shape.skips and matrix.shape[0] == matrix.shape[1]
    if isinstance(x, np.ndarray):
        found = x @ matrix + biases
        return (found + x if skips else found).clip(min=0)
    from torch.nn import functional

    found = functional.linear(x, matrix.T, biases)  # in place from here on: memory is what takes the time
    return (found.add_(x) if skips else found).relu_()


def _layer_norm(x: Any) -> Any:
    if isinstance(x, np.ndarray):
        mean = x.mean(-1, keepdims=True)
        return _normal(x, mean, ((x - mean) ** 2).mean(-1, keepdims=True))
    from torch.nn import functional

    return functional.layer_norm(x, x.shape[-1:], eps=TINY)


def _normal(x: Any, mean: Any, variance: Any) -> Any:
    return (x - mean) / (variance + TINY) ** 0.5


def on_cards(shape: Shape, weights: Mapping[str, Any], x: Any) -> Any:
    """[rows, width]: the layers on the cards among the inputs."""
    streets, ranks, suits = shape.deck
    # A card is rank * suits + suit in the encoding.
    width = shape.hidden[0]
    by_rank = weights["rank"].reshape(ranks, 1, width) + weights["suit"].reshape(1, suits, width)
    table = by_rank.reshape(ranks * suits, width) + weights["card"]
    cards = x[:, : streets * ranks * suits].reshape(len(x) * streets, ranks * suits) @ table
    cards = cards.reshape(len(x), streets * width)
    for i in range(3):
        cards = layer(shape, weights, f"card.{i}", cards)
    return cards


def on_bets(shape: Shape, weights: Mapping[str, Any], x: Any) -> Any:
    """[rows, width]: the layers on the inputs after the cards."""
    bets = x[:, math.prod(shape.deck) :]
    for i in range(2):
        bets = layer(shape, weights, f"bet.{i}", bets)
    return bets


def _joined(cards: Any, bets: Any) -> Any:
    if isinstance(cards, np.ndarray):
        return np.concatenate([cards, bets], axis=1)
    import torch

    return torch.cat([cards, bets], dim=1)


def matched(advantages: np.ndarray, legal: np.ndarray, fallback: str = "argmax") -> np.ndarray:
    """Regret matching by rows: probabilities of the legal actions [rows, actions]."""
    if fallback == "argmax":
        otherwise = np.eye(advantages.shape[1])[np.where(legal, advantages, -np.inf).argmax(axis=1)]
    else:
        otherwise = legal / legal.sum(axis=1, keepdims=True)
    return np.asarray(regrets.matched(np.where(legal, advantages, 0).astype(float), otherwise))


def softmax(logits: np.ndarray, legal: np.ndarray) -> np.ndarray:
    masked = np.where(legal, logits.astype(float), -np.inf)
    probs = np.exp(masked - masked.max(axis=1, keepdims=True))
    return probs / probs.sum(axis=1, keepdims=True)


# ---------------------------------------------------------------- files


class Model(NamedTuple):
    """What a player reads: per seat one strategy network, or the advantage networks that SD-CFR draws from."""

    game: str
    seen: str  # the game by whose rules views are encoded
    made: str
    average: str  # network or sd
    fallback: str
    shape: Shape
    seats: tuple[Sequence[Weights], Sequence[Weights]]
    weights: np.ndarray  # [networks of a seat] f8: with which SD-CFR draws them


def save_model(path: Path, model: Model, numbers: Any = np.float32) -> None:
    """Write a model file atomically; with `numbers=np.float16` it has half the size, as the models that ship.

    Networks that both seats share are written once.
    """
    shared = model.seats[0] is model.seats[1]
    tensors = {
        f"{seat}.{name}": np.stack([weights[name] for weights in networks]).astype(numbers)
        for seat, networks in enumerate(model.seats[:1] if shared else model.seats)
        for name in model.shape.shapes()
    }
    about = model._asdict() | {"shape": asdict(model.shape), "weights": model.weights.tolist()}
    del about["seats"]
    about |= {"shared": True} if shared else {}
    FORMAT.write(path, tensors, **about)


def read_model(path: Path, game: Game | None = None) -> Model:
    """Read a model.

    Raises:
        BadInput: It is no such file, is damaged, or is for another game than `game`.
    """
    halves, about = FORMAT.read(path, game=name_if(game))
    shape, weights = _shape(about), np.array(about["weights"], float)
    tensors = {key: array.astype(np.float32) for key, array in halves.items()}
    networks = [
        [{name: tensors[f"{seat}.{name}"][i] for name in shape.shapes()} for i in range(len(weights))]
        for seat in _written(about)
    ]
    texts = {name: about[name] for name in TEXTS}
    model = Model(**texts, shape=shape, seats=(networks[0], networks[-1]), weights=weights)
    if game is not None:
        with readable(path, "network"):
            facts = load(model.seen).facts
            if (shape.inputs, shape.actions) != (facts.encoding, game.facts.num_actions):
                raise ValueError("the sizes of its layers don't fit the game")
    return model


def read_average(path: Path, average: str, iteration: int, game: Game | None = None) -> Model:
    """Read the strategy network or SD-CFR of a run from its network file, or from `sd.safetensors` beside it.

    Args:
        path: The network file, of `iteration`.
        average: network, sd, or auto: whatever the file holds.
        iteration: Of SD-CFR beside a strategy network: only the networks so far; 0: all.
        game: The game that it has to be for.
    """
    model = read_model(path, game)
    if average in ("auto", model.average):
        return model
    beside = (path.parents[1] if iteration else path.parent) / SD
    if average == "network" or not beside.is_file():
        found = "SD-CFR" if model.average == "sd" else "a strategy network"
        raise BadInput(f"{path} holds {found}, so average={average} is not there: train with --average both")
    model = read_model(beside, game)
    if iteration > len(model.weights):
        raise BadInput(f"{beside} ends with iteration {len(model.weights)}, before {iteration}")
    end = iteration or len(model.weights)
    return model._replace(seats=(model.seats[0][:end], model.seats[1][:end]), weights=model.weights[:end])


def _shape(about: dict[str, Any]) -> Shape:
    lists = {key: tuple(value) for key, value in about["shape"].items() if isinstance(value, list)}
    return Shape(**(about["shape"] | lists))


def _declared(about: dict[str, Any], shapes: Shapes) -> dict[str, str]:
    weights, shape = about["weights"], _shape(about)
    sizes = [shape.inputs, *shape.hidden, shape.actions, *(shape.deck if shape.kind == CARDS else ())]
    if not (weights and min(weights) >= 0 and 0 < sum(weights) < math.inf):
        raise ValueError("its weights should be positive numbers")
    if not shape.hidden or min(sizes) < 1:
        raise ValueError(f"no network has the shape {about['shape']}")
    return {
        f"{seat}.{name}": " ".join(map(str, ("float16|float32", len(weights), *size)))
        for seat in _written(about)
        for name, size in shape.shapes().items()
    }


def _written(about: dict[str, Any]) -> range:
    """The seats whose networks are in a file: one, where both seats share them."""
    return range(1 if about.get("shared") else 2)


FORMAT = ModelFormat(
    "kibitz deep cfr 1",
    "network",
    _declared,
    TEXTS | {"shape": SHAPE, "weights": [float], "shared?": bool},
    player="net",
)


@FORMAT.described
def layers_in(path: Path) -> str:
    shape = read_model(path).shape
    return f"{shape.kind} {'-'.join(map(str, shape.hidden))}"
