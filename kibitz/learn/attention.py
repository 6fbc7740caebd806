"""Attention networks as data: a file, and a policy that kernels call. No torch in here, as in `mlp`.

The tokens are the inputs that aren't 0: in an encoding each of them is an event of the game's history that the seat has
seen (its card, a bid in a round), and has an embedding of its own. A first token stands for the answer; the policy is
read from it. A block is

    x <- x + attention(norm(x)),    x <- x + relu(norm(x) up + up_bias) down + down_bias

with attention among all tokens, in the last block of the first one only. `norm` divides by the root of the mean square.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ..core.files import Expected, Shapes, check_fits, read_tensors, readable, write_tensors
from ..core.names import BadInput, absolute
from ..core.process_settings import one_blas_thread
from ..games import Game, full_name
from ..jit import long_helper
from ..jit.simd import VECTOR, pick_active
from ..search.policies import policy, softmax
from .model_files import Description, model_format

FORMAT = "kibitz attention 1"
HEAD = 16  # numbers of a token that a head of attention compares
TINY = 1e-6

Weights = dict[str, np.ndarray]


class AttentionWeights(NamedTuple):
    """A network: its tensors by name, f4."""

    tensors: Weights

    @property
    def blocks(self) -> int:
        return sum(name.endswith(".up") for name in self.tensors)

    @property
    def sizes(self) -> tuple[int, ...]:
        """Inputs, width of a token, size of each block, actions."""
        inputs, width = self.tensors["embedding"].shape
        inner = (self.tensors[f"{block}.up"].shape[1] for block in range(self.blocks))
        return inputs, width, *inner, len(self.tensors["last_bias"])


def shapes_of(inputs: int, width: int, inner: Sequence[int], outputs: int) -> dict[str, tuple[int, ...]]:
    """Names and shapes of all tensors; `inner`: size of each block."""
    found: dict[str, tuple[int, ...]] = {"embedding": (inputs, width), "answer": (width,)}
    for block, size in enumerate(inner):
        found |= {f"{block}.{name}": (width, width) for name in ("query", "key", "value", "out")}
        found |= {f"{block}.up": (width, size), f"{block}.up_bias": (size,)}
        found |= {f"{block}.down": (size, width), f"{block}.down_bias": (width,)}
    return found | {"last": (width, outputs), "last_bias": (outputs,)}


def check_sizes(sizes: Sequence[int]) -> None:
    """Raise BadInput unless sizes are a width that heads divide, and at least one block."""
    if sizes[0] % HEAD or len(sizes) < 2:
        given = "-".join(map(str, sizes))
        raise BadInput(f"hidden={given}: attention needs a width that is a multiple of {HEAD}, and blocks: 32-64-64")


def new_attention(
    inputs: int, width: int, inner: Sequence[int], outputs: int, generator: np.random.Generator
) -> AttentionWeights:
    """An untrained network: matrices are uniform in ±√(3 / rows), embeddings in ±√3, biases 0."""
    tensors = {}
    for name, shape in shapes_of(inputs, width, inner, outputs).items():
        rows = 1 if name in ("embedding", "answer") else shape[0]
        bias = name.endswith("_bias")
        scale = 0.0 if bias else (3 / rows) ** 0.5
        tensors[name] = (generator.uniform(-1, 1, shape) * scale).astype(np.float32)
    return AttentionWeights(tensors)


def save_attention(path: Path, game: Game, network: AttentionWeights, made: str = "") -> None:
    """Write a network file atomically; `made` describes its origin."""
    write_tensors(path, FORMAT, network.tensors, game=full_name(game), made=made)


def read_attention(path: Path, game: Game | None = None) -> tuple[AttentionWeights, Description]:
    """Read a network file.

    Raises:
        BadInput: It is no such file, is damaged, or is for another game than `game`.
    """

    def schema(shapes: Shapes, _: object) -> dict[str, Expected]:
        inputs, width = shapes["embedding"]
        count = max(1, sum(name.endswith(".up") for name in shapes))
        inner = [shapes[f"{block}.up"][1] for block in range(count)]
        wanted = shapes_of(inputs, width, inner, shapes["last_bias"][0])
        if not width or width % HEAD or not min(inputs, *inner, *shapes["last_bias"]):
            raise ValueError(f"a width of {width}")
        return {name: Expected("float32", shape) for name, shape in wanted.items()}

    tensors, about = read_tensors(path, FORMAT, "network", schema)
    with readable(path, "network"):
        check_fits(about, {"game": str, "made": str})
    network, name = AttentionWeights(tensors), about["game"]
    if game is not None and absolute(name) != full_name(game):
        raise BadInput(f"{path} is a network for {name}, not for {full_name(game)}")
    sizes = network.sizes
    if game is not None and (sizes[0], sizes[-1]) != (game.facts.encoding, game.facts.num_actions):
        raise BadInput(f"{path} is damaged: the sizes of its layers don't fit the game")
    return network, Description(name, about["made"], "attention " + "-".join(map(str, sizes)), "net")


@model_format(FORMAT)
def describe(path: Path) -> Description:
    return read_attention(path)[1]


# ---------------------------------------------------------------- NumPy


@one_blas_thread()
def attention_logits(network: AttentionWeights, encodings: np.ndarray) -> np.ndarray:
    """Logits [rows, actions] of encodings [rows, inputs] by NumPy; the compiled policy and torch give the same."""
    return np.stack([_logits(network, row) for row in encodings])


def _logits(network: AttentionWeights, encoding: np.ndarray) -> np.ndarray:
    given, blocks = network.tensors, network.blocks
    active = np.flatnonzero(encoding)
    x = np.vstack([given["answer"], encoding[active, None] * given["embedding"][active]])
    for block in range(blocks):
        tensors = {name: given[f"{block}.{name}"] for name in ("query", "key", "value", "out", "up", "down")}
        seen = _norm(x)
        if block == blocks - 1:
            x = x[:1]
        query, key, value = (_heads(seen @ tensors[name]) for name in ("query", "key", "value"))
        scores = query[:, : len(x)] @ key.transpose(0, 2, 1) / HEAD**0.5  # [heads, tokens, tokens]
        weights = np.exp(scores - scores.max(axis=2, keepdims=True))
        mixed = weights / weights.sum(axis=2, keepdims=True) @ value
        x = x + mixed.transpose(1, 0, 2).reshape(x.shape) @ tensors["out"]
        inner = np.maximum(_norm(x) @ tensors["up"] + given[f"{block}.up_bias"], 0)
        x = x + inner @ tensors["down"] + given[f"{block}.down_bias"]
    return _norm(x)[0] @ given["last"] + given["last_bias"]


def _norm(x: np.ndarray) -> np.ndarray:
    return x / np.sqrt((x**2).mean(axis=1, keepdims=True) + TINY)


def _heads(x: np.ndarray) -> np.ndarray:
    """[tokens, width] -> [heads, tokens, HEAD]."""
    return x.reshape(len(x), -1, HEAD).transpose(1, 0, 2)


# ---------------------------------------------------------------- compiled


@policy
class Attention(NamedTuple):
    """The compiled form: all tensors in one array, and buffers with a row per token."""

    embedding: np.ndarray  # [inputs, width] f4
    answer: np.ndarray  # [width] f4
    squares: np.ndarray  # [blocks, 4, width, width] f4: query, key, value, out
    inner: np.ndarray  # [blocks] i8: sizes
    up: np.ndarray  # [blocks, width + 1, largest size] f4: the biases last
    down: np.ndarray  # [blocks, largest size + 1, width] f4: the biases last
    last: np.ndarray  # [width + 1, actions] f4: the biases last
    encoding: np.ndarray  # [inputs, padded] f4
    active: np.ndarray  # [inputs, padded] i4
    values: np.ndarray  # [inputs, padded] f4
    tokens: np.ndarray  # [inputs + 1, width] f4
    buffers: np.ndarray  # [4, inputs + 1, width] f4: the normalized tokens, queries, keys, values
    scores: np.ndarray  # [inputs + 1] f8
    units: np.ndarray  # [largest size] f4
    logits: np.ndarray  # [actions] f4
    asked: np.ndarray  # [1] i8: number of evaluations so far

    def weigh(self, game, state, actions, n, probs):
        self.asked[0] += 1
        game.observe(state, game.turn(state), self.encoding[: len(self.embedding)])
        attend(self)
        softmax(self.logits, actions, n, probs)


@long_helper
def attend(net):
    """Compute the logits of `encoding` into `logits`."""
    width = len(net.answer)
    count = 1 + pick_active(net.encoding, len(net.encoding), True, net.active, net.values)
    x, seen = net.tokens, net.buffers[0]
    for k in range(width):
        x[0, k] = net.answer[k]
    for t in range(1, count):
        for k in range(width):
            x[t, k] = net.values[t - 1] * net.embedding[net.active[t - 1], k]
    for block in range(len(net.inner)):
        changed = 1 if block == len(net.inner) - 1 else count
        for t in range(count):
            normalize(x[t], seen[t])
            for which in range(3):
                if which or t < changed:
                    multiply(seen[t], net.squares[block, which], width, net.buffers[1 + which, t], width)
        for t in range(changed):
            mix_values(net.buffers, net.scores, t, count, seen[t])
        for t in range(changed):
            multiply(seen[t], net.squares[block, 3], width, net.buffers[1, t], width)
            for k in range(width):
                x[t, k] += net.buffers[1, t, k]
            normalize(x[t], seen[t])
            size, up, down = net.inner[block], net.up[block], net.down[block]
            multiply(seen[t], up, width, net.units, size)
            for k in range(size):
                net.units[k] = max(net.units[k] + up[width, k], np.float32(0))
            multiply(net.units, down, size, net.buffers[1, t], width)
            for k in range(width):
                x[t, k] += net.buffers[1, t, k] + down[len(down) - 1, k]
    normalize(x[0], seen[0])
    multiply(seen[0], net.last, width, net.logits, len(net.logits))
    for k in range(len(net.logits)):
        net.logits[k] += net.last[width, k]


@long_helper
def normalize(x, out):
    """Write x, divided by the root of its mean square."""
    total = 0.0
    for k in range(len(x)):
        total += np.float64(x[k]) ** 2
    scale = np.float32(1 / np.sqrt(total / len(x) + TINY))
    for k in range(len(x)):
        out[k] = x[k] * scale


@long_helper
def multiply(x, matrix, rows, out, columns):
    """Write the product of the first `rows` of x and a matrix."""
    for k in range(columns):
        out[k] = 0
    for i in range(rows):
        if x[i] != 0:
            for k in range(columns):
                out[k] += x[i] * matrix[i, k]


@long_helper
def mix_values(buffers, scores, t, count, out):
    """Write the mean of the tokens' values by the attention of token t, head by head."""
    for start in range(0, len(out), HEAD):
        highest, total = -np.inf, 0.0
        for other in range(count):
            score = 0.0
            for k in range(start, start + HEAD):
                score += buffers[1, t, k] * buffers[2, other, k]
            scores[other] = score / np.sqrt(HEAD)
            highest = max(highest, scores[other])
        for other in range(count):
            scores[other] = np.exp(scores[other] - highest)
            total += scores[other]
        for k in range(start, start + HEAD):
            out[k] = 0
        for other in range(count):
            share = np.float32(scores[other] / total)
            for k in range(start, start + HEAD):
                out[k] += share * buffers[3, other, k]


def compiled_attention(network: AttentionWeights) -> Attention:
    """Compile a network into a policy. It has buffers of its own, so it serves one search at a time."""
    given, (inputs, width, *inner, outputs) = network.tensors, network.sizes
    padded, largest = -(-inputs // VECTOR) * VECTOR, max(inner)
    up = np.zeros((len(inner), width + 1, largest), np.float32)
    down = np.zeros((len(inner), largest + 1, width), np.float32)
    for block, size in enumerate(inner):
        up[block, :width, :size], up[block, width, :size] = given[f"{block}.up"], given[f"{block}.up_bias"]
        down[block, :size], down[block, largest] = given[f"{block}.down"], given[f"{block}.down_bias"]
    squares = [[given[f"{block}.{name}"] for name in ("query", "key", "value", "out")] for block in range(len(inner))]
    return Attention(
        embedding=np.ascontiguousarray(given["embedding"]),
        answer=np.ascontiguousarray(given["answer"]),
        squares=np.array(squares, np.float32),
        inner=np.array(inner, np.int64),
        up=up,
        down=down,
        last=np.vstack([given["last"], given["last_bias"]]),
        encoding=np.zeros(padded, np.float32),
        active=np.zeros(padded, np.int32),
        values=np.zeros(padded, np.float32),
        tokens=np.zeros((padded + 1, width), np.float32),
        buffers=np.zeros((4, padded + 1, width), np.float32),
        scores=np.zeros(padded + 1),
        units=np.zeros(largest, np.float32),
        logits=np.zeros(outputs, np.float32),
        asked=np.zeros(1, np.int64),
    )
