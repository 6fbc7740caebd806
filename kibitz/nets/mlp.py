"""Multilayer perceptrons as data: a file, and a policy that kernels call. No torch in here, so players start at once.

The sizes of the layers are encoding, hidden..., actions. ReLU between layers; the last layer gives one logit per
action, and the policy is their softmax over the legal actions.

The compiled forward pass adds rows of weights: those of inputs that aren't 0 (an encoding is mostly zeros), and of
hidden units that aren't off (about half).
"""

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ..core.names import BadInput
from ..core.process_settings import one_blas_thread
from ..games import Game, full_name, name_if
from ..jit import helper, kernel
from ..jit.simd import VECTOR, add_rows, pick_active
from ..search.policies import policy, softmax
from .model_files import MADE, ModelFormat


def declared_layers(name: str = "", types: str = "float32") -> dict[str, str]:
    """The tensors of a network's layers in the declaration of a file of several networks, or of a single one."""
    mark = f"{name}." if name else ""
    return {
        f"{mark}weights.{{{name}i}}": f"{types} {name}width{{{name}i}} {name}width{{{name}i+1}}",
        f"{mark}biases.{{{name}i}}": f"{types} {name}width{{{name}i+1}}",
    }


FORMAT = ModelFormat("kibitz perceptron 1", "network", declared_layers(), MADE, player="net")

Layers = list[tuple[np.ndarray, np.ndarray]]  # weights [inputs, outputs] and biases [outputs], f4


def sizes_of(game: Game, hidden: Sequence[int]) -> list[int]:
    """Sizes of all layers of a game's network, given the hidden ones."""
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
    """Untrained layers: weights and biases are uniform in ±1/√inputs."""

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
    FORMAT.write(path, tensors, game=full_name(game), made=made)


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
    tensors, about = FORMAT.read(path, game=name_if(game))
    layers = [(tensors[f"weights.{i}"], tensors[f"biases.{i}"]) for i in range(len(tensors) // 2)]
    sizes = (len(layers[0][0]), *(len(biases) for _, biases in layers))
    if game is not None and (sizes[0], sizes[-1]) != (game.facts.encoding, game.facts.num_actions):
        raise BadInput(f"{path} is damaged: the sizes of its layers don't fit the game")
    return layers, About(about["game"], about["made"], sizes)


@FORMAT.described
def sizes_in(path: Path) -> str:
    return "-".join(map(str, read_layers(path)[1].sizes))


@one_blas_thread()
def logits(layers: Layers, encodings: np.ndarray) -> np.ndarray:
    """Logits [rows, actions] by NumPy; the compiled policy and torch give the same."""
    for weights, biases in layers[:-1]:
        encodings = np.maximum(encodings @ weights + biases, 0)
    weights, biases = layers[-1]
    return encodings @ weights + biases


def action_probs(game: Game, layers: Layers, views: np.ndarray) -> np.ndarray:
    """The policy at many views of the seat to move: [views, num_actions], legal actions first, then zeros."""
    encodings = np.zeros((len(views), game.facts.encoding), np.float32)
    encode(game, views, encodings)
    probs, actions = np.zeros((len(views), game.facts.num_actions)), np.zeros(game.facts.num_actions, np.int64)
    softmax_all(game, views, logits(layers, encodings), actions, probs)
    return probs


@kernel
def encode(game, views, encodings):
    """Encode each view for the seat to move."""
    for i in range(len(views)):
        game.observe(views[i], game.turn(views[i]), encodings[i])


@kernel
def softmax_all(game, views, logits, actions, probs):
    for i in range(len(views)):
        n = game.actions(views[i], actions)
        softmax(logits[i], actions, n, probs[i])


@policy
class Mlp(NamedTuple):
    """The compiled form: all layers in one array, and buffers."""

    weights: np.ndarray  # f4: per layer the biases, then one row per input; all padded to whole vectors
    widths: np.ndarray  # [layers + 1] i8: encoding, hidden..., actions; all but the first padded
    encoding: np.ndarray  # [encoding, padded] f4
    units: np.ndarray  # [widest] f4: outputs of the current layer; the logits at the end
    active: np.ndarray  # [widest] i4: inputs of a layer that aren't 0
    values: np.ndarray  # [widest] f4: their values
    asked: np.ndarray  # [1] i8: number of evaluations so far

    def weigh(self, game, state, actions, n, probs):
        ask(self, game, state)
        softmax(self.units, actions, n, probs)


@helper
def ask(net, game, state):
    """Evaluate the network for the seat to move; the logits are in `units`."""
    net.asked[0] += 1
    game.observe(state, game.turn(state), net.encoding[: net.widths[0]])
    forward(net)


@helper
def forward(net):
    """Compute the logits of `encoding` into `units`."""
    at, inputs = 0, net.encoding
    for layer in range(len(net.widths) - 1):
        given, width = net.widths[layer], net.widths[layer + 1]
        # Negative inputs count in an encoding only: ReLU drops them elsewhere.
        count = pick_active(inputs, (given + VECTOR - 1) // VECTOR * VECTOR, layer == 0, net.active, net.values)
        for k in range(width):
            net.units[k] = net.weights[at + k]
        add_rows(net.units, net.weights, at + width, width, net.active, net.values, count)
        at += (1 + given) * width
        inputs = net.units


def compiled(layers: Layers) -> Mlp:
    """Compile a network into a policy. It has buffers of its own, so it serves one search at a time."""
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
    """Do `count` forward passes over the encodings, for benchmarks."""
    for i in range(count):
        row = encodings[i % len(encodings)]
        for k in range(len(row)):
            net.encoding[k] = row[k]
        forward(net)
