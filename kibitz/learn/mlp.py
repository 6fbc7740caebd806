"""Multilayer perceptrons as data: a file, and a policy that kernels call. No torch in here, so players start at once.

Sizes are those of the game's facts with hidden ones between: encoding, hidden..., actions. ReLU between
layers; the last gives a logit for each action, and the policy is their softmax over the legal ones.

The compiled forward pass adds up rows of weights: those of inputs that aren't 0 (an encoding is mostly zeros), and of
hidden units that aren't off (about half).
"""

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ..core.files import read_tensors, readable, write_tensors
from ..core.names import BadInput
from ..games import Game, full_name
from ..jit import helper, kernel
from ..jit.simd import VECTOR, add_rows, pick_active
from ..search.policies import policy, softmax
from .model_files import Description, model_format

FORMAT = "kibitz perceptron 1"

Layers = list[tuple[np.ndarray, np.ndarray]]  # weights [inputs, outputs] and biases [outputs], f4


def sizes_of(game: Game, hidden: Sequence[int]) -> list[int]:
    """Of the layers: the facts of the game, and what is between."""
    return [game.facts.encoding, *hidden, game.facts.num_actions]


def parse_sizes(name: str, text: str) -> tuple[int, ...]:
    """Parse the sizes of hidden layers, such as 128-64; `name` is the field, for the error message."""
    try:
        sizes = tuple(int(size) for size in text.split("-"))
    except ValueError:
        sizes = (0,)
    if min(sizes) < 1:
        raise BadInput(f"{name}={text} should be sizes of layers, such as 128 or 128-64")
    return sizes


def new_layers(sizes: Sequence[int], generator: np.random.Generator) -> Layers:
    """Untrained: weights and biases even between ±1/√inputs."""

    def even(inputs: int, *shape: int) -> np.ndarray:
        return (generator.uniform(-1, 1, shape) / inputs**0.5).astype(np.float32)

    return [(even(inputs, inputs, outputs), even(inputs, outputs)) for inputs, outputs in pairwise(sizes)]


def save_layers(path: Path, game: Game, layers: Layers, made: str = "") -> None:
    """Write a network file atomically; `made` describes its origin."""
    tensors = {
        f"{kind}.{i}": array
        for i, layer in enumerate(layers)
        for kind, array in zip(("weights", "biases"), layer, strict=True)
    }
    write_tensors(path, FORMAT, tensors, game=full_name(game), made=made)


class About(NamedTuple):
    """What a network file says about its network."""

    game: str
    made: str
    sizes: tuple[int, ...]


def read_layers(path: Path, game: Game | None = None) -> tuple[Layers, About]:
    """Read a network file.

    Raises:
        BadInput: It is no such file, is damaged, or is for another game than `game`.
    """
    tensors, about = read_tensors(path, FORMAT, "network")
    with readable(path, "network"):
        count = (len(tensors) + 1) // 2
        layers = [(tensors[f"weights.{i}"], tensors[f"biases.{i}"]) for i in range(count)]
        name, made = str(about["game"]), str(about["made"])
    if game is not None and name != full_name(game):
        raise BadInput(f"{path} is a network for {name}, not for {full_name(game)}")
    sound = (
        bool(layers)
        and all(array.dtype == np.float32 and np.isfinite(array).all() for layer in layers for array in layer)
        and all(weights.ndim == 2 and biases.shape == weights.shape[1:] for weights, biases in layers)
        and all(len(biases) == len(weights) for (_, biases), (weights, _) in pairwise(layers))
    )
    sizes = (len(layers[0][0]), *(len(biases) for _, biases in layers)) if sound else ()
    if not sound or (game is not None and (sizes[0], sizes[-1]) != (game.facts.encoding, game.facts.num_actions)):
        raise BadInput(f"{path} is damaged: the sizes of its layers fit neither each other nor the game")
    return layers, About(name, made, sizes)


@model_format(FORMAT)
def describe(path: Path) -> Description:
    about = read_layers(path)[1]
    return Description(about.game, about.made, "-".join(map(str, about.sizes)), "net")


def logits(layers: Layers, encodings: np.ndarray) -> np.ndarray:
    """[rows, actions] by plain NumPy: what the compiled policy and torch do too."""
    for weights, biases in layers[:-1]:
        encodings = np.maximum(encodings @ weights + biases, 0)
    weights, biases = layers[-1]
    return encodings @ weights + biases


def action_probs(game: Game, layers: Layers, views: np.ndarray) -> np.ndarray:
    """The policy at many views of the seat to move, in a batch: [views, most actions], behind the legal ones zeros."""
    encodings = np.zeros((len(views), game.facts.encoding), np.float32)
    encode(game, views, encodings)
    probs, actions = np.zeros((len(views), game.facts.num_actions)), np.zeros(game.facts.num_actions, np.int64)
    softmax_all(game, views, logits(layers, encodings), actions, probs)
    return probs


@kernel
def encode(game, views, encodings):
    """What the seat to move knows at each view."""
    for i in range(len(views)):
        game.observe(views[i], game.turn(views[i]), encodings[i])


@kernel
def softmax_all(game, views, logits, actions, probs):
    for i in range(len(views)):
        n = game.actions(views[i], actions)
        softmax(logits[i], actions, n, probs[i])


@policy
class Mlp(NamedTuple):
    """The compiled form: layers one after the other in one array, and room to work in."""

    weights: np.ndarray  # f4: of each layer its biases, then a row an input; all padded to whole vectors
    widths: np.ndarray  # [layers + 1] i8: encoding, hidden..., actions; all but the first padded
    encoding: np.ndarray  # [encoding, padded] f4
    units: np.ndarray  # [widest] f4: of the layer at hand, the logits at the end
    active: np.ndarray  # [widest] i4: which inputs of a layer aren't 0
    values: np.ndarray  # [widest] f4: and what they are
    asked: np.ndarray  # [1] i8: how often, so far

    def weigh(self, game, state, actions, n, probs):
        ask(self, game, state)
        softmax(self.units, actions, n, probs)


@helper
def ask(net, game, state):
    """Logits of who has the turn, into `units`."""
    net.asked[0] += 1
    game.observe(state, game.turn(state), net.encoding[: net.widths[0]])
    forward(net)


@helper
def forward(net):
    """From the encoding to the logits, which end up in `units`."""
    at, inputs = 0, net.encoding
    for layer in range(len(net.widths) - 1):
        given, width = net.widths[layer], net.widths[layer + 1]
        # What is below 0 counts in an encoding only: ReLU leaves it out elsewhere.
        count = pick_active(inputs, (given + VECTOR - 1) // VECTOR * VECTOR, layer == 0, net.active, net.values)
        for k in range(width):
            net.units[k] = net.weights[at + k]
        add_rows(net.units, net.weights, at + width, width, net.active, net.values, count)
        at += (1 + given) * width
        inputs = net.units


def compiled(layers: Layers) -> Mlp:
    """The policy of a network; each has its own room to work in, so one is for one search at a time."""
    encoding, *padded = (-(-size // VECTOR) * VECTOR for size in (len(layers[0][0]), *(len(b) for _, b in layers)))
    widths = [len(layers[0][0]), *padded]
    parts = []
    for (weights, biases), inputs, outputs in zip(layers, widths, padded, strict=False):
        whole = np.zeros((1 + inputs, outputs), np.float32)
        whole[0, : len(biases)] = biases
        whole[1 : 1 + len(weights), : weights.shape[1]] = weights
        parts.append(whole.ravel())
    widest = max(encoding, *padded)
    return Mlp(
        weights=np.concatenate(parts),
        widths=np.array(widths),
        encoding=np.zeros(encoding, np.float32),
        units=np.zeros(widest, np.float32),
        active=np.zeros(widest, np.int32),
        values=np.zeros(widest, np.float32),
        asked=np.zeros(1, np.int64),
    )


@kernel
def passes(net, encodings, count):
    """So many forward passes, over and over the encodings: what a benchmark compares with."""
    for i in range(count):
        row = encodings[i % len(encodings)]
        for k in range(len(row)):
            net.encoding[k] = row[k]
        forward(net)
