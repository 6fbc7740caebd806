"""Networks that foretell the next card of Doppelkopf, character by character, as in the thesis. No torch in here.

A game gives four lines of 62 characters, one from each seat: 12 cards of its hand in order, its position (seat 0 leads
the first trick), the 48 cards in the order of play, a newline. 29 characters, one-hot, go into an LSTM of two layers
that says which character comes next; a line begins behind a newline, knowing nothing. What it foretells is the
likeliest of the cards that can be (`games.doppelkopf.next_card`).
"""

import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import safetensors
import safetensors.numpy

from ...core.files import write_atomically
from ...core.names import BadInput
from ...games.doppelkopf.cards import KINDS
from ..model_files import Description, model_format
from .recorded_games import Games, check_nines

FORMAT = "kibitz next-card 1"
NEWLINE = KINDS + 4  # behind the cards and the positions
CHARACTERS = NEWLINE + 1
HAND = 12
CARDS = slice(HAND + 1, HAND + 1 + 48)  # of a line
LINE = HAND + 1 + 48 + 1


class Layer(NamedTuple):
    """Gates side by side, as torch has them: input, forget, cell, output."""

    inputs: np.ndarray  # [inputs, 4 * nodes] f4
    recurrent: np.ndarray  # [nodes, 4 * nodes] f4
    biases: np.ndarray  # [4 * nodes] f4


class Network(NamedTuple):
    layers: list[Layer]
    weights: np.ndarray  # [nodes, CHARACTERS] f4
    biases: np.ndarray  # [CHARACTERS] f4


class About(NamedTuple):
    """What a file says of its network."""

    game: str
    made: str
    sizes: list[int]


def lines_of(games: Games) -> np.ndarray:
    """[4 * games, LINE] u1: line 4g + s is game g from seat s."""
    lines = np.full((len(games), 4, LINE), NEWLINE, np.uint8)
    lines[:, :, :HAND] = games.actions[:, : 4 * HAND].reshape(-1, 4, HAND)  # dealt in order
    lines[:, :, HAND] = KINDS + np.arange(4)
    lines[:, :, CARDS] = games.played[:, None]
    return lines.reshape(-1, LINE)


def line_so_far(view: Any, seat: int) -> list[int]:
    """What a seat could write down by now."""
    count, hand = int(view.count), int(view.hands[seat])
    for i in range(count):
        if int(view.leaders[i >> 2]) + i & 3 == seat:
            hand += 1 << 2 * int(view.played[i])
    held = [kind for kind in range(KINDS) for _ in range(hand >> 2 * kind & 3)]
    return [*held, KINDS + seat, *map(int, view.played[:count])]


class Reading:
    """A network that reads a line from its beginning, as far as it is known."""

    def __init__(self, network: Network) -> None:
        self.network = network
        self._begin()

    def _begin(self) -> None:
        self.line = list[int]()
        self.state = [(np.zeros(len(layer.recurrent), np.float32),) * 2 for layer in self.network.layers]
        self._read(NEWLINE)

    def next(self, line: list[int]) -> np.ndarray:
        """[CHARACTERS] f4: logits of what comes behind a line. What was read before isn't read again."""
        if line[: len(self.line)] != self.line:
            self._begin()  # another game
        for character in line[len(self.line) :]:
            self._read(character)
        self.line = list(line)
        return self.logits

    def _read(self, character: int) -> None:
        given = None
        for i, layer in enumerate(self.network.layers):
            hidden, cell = self.state[i]
            gates = layer.inputs[character] if given is None else given @ layer.inputs
            gates = gates + hidden @ layer.recurrent + layer.biases
            keep, forget, fresh, show = gates.reshape(4, -1)
            cell = sigmoid(forget) * cell + sigmoid(keep) * np.tanh(fresh)
            given = sigmoid(show) * np.tanh(cell)
            self.state[i] = given, cell
        self.logits = given @ self.network.weights + self.network.biases


def sigmoid(x: np.ndarray) -> np.ndarray:
    return 0.5 + 0.5 * np.tanh(0.5 * x)


def check_rules(game: Any) -> None:
    check_nines(game, "next-card")


# ---------------------------------------------------------------- files


def save_network(path: Path, game: str, network: Network, made: str) -> None:
    tensors = {"weights": network.weights, "biases": network.biases}
    for i, layer in enumerate(network.layers):
        tensors |= {f"{name}.{i}": getattr(layer, name) for name in Layer._fields}
    meta = {"about": json.dumps({"format": FORMAT, "game": game, "made": made})}
    write_atomically(
        path, safetensors.numpy.save({key: np.ascontiguousarray(each) for key, each in tensors.items()}, meta)
    )


def is_next_card(path: Path) -> bool:
    """Whether a file says that it is such a network."""
    try:
        with safetensors.safe_open(path, "numpy") as file:  # type: ignore[no-untyped-call]
            return bool(json.loads((file.metadata() or {}).get("about", "{}")).get("format") == FORMAT)
    except (safetensors.SafetensorError, OSError, ValueError, AttributeError):
        return False


def read_network(path: Path) -> tuple[Network, About]:
    try:
        with safetensors.safe_open(path, "numpy") as file:  # type: ignore[no-untyped-call]
            about = json.loads((file.metadata() or {}).get("about", "{}"))
            if about.get("format") != FORMAT:
                raise BadInput(f"{path} is no network that foretells cards, such as kibitz train next-card makes")
            tensors = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118
            count = sum(key.startswith("recurrent.") for key in tensors)
            layers = [Layer(*(tensors[f"{name}.{i}"] for name in Layer._fields)) for i in range(count)]
            found = Network(layers, tensors["weights"], tensors["biases"])
    except FileNotFoundError:
        raise BadInput(f"no network file {str(path)!r}") from None
    except BadInput:
        raise
    except (safetensors.SafetensorError, OSError, KeyError, ValueError, AttributeError) as error:
        raise BadInput(f"{path} can't be read as a network, it is damaged or foreign: {error}") from None
    sizes = [CHARACTERS, *(len(layer.recurrent) for layer in found.layers), CHARACTERS]
    if not _fits(found, sizes):
        raise BadInput(f"{path} can't be read as a network: its layers don't fit each other, or aren't finite")
    return found, About(str(about.get("game")), str(about.get("made")), sizes)


@model_format(FORMAT)
def describe(path: Path) -> Description:
    about = read_network(path)[1]
    return Description(about.game, about.made, "-".join(map(str, about.sizes)), "lstm")


def _fits(network: Network, sizes: list[int]) -> bool:
    nodes = sizes[1:-1]
    shapes = [(layer.inputs.shape, layer.recurrent.shape, layer.biases.shape) for layer in network.layers]
    wanted = [((given, 4 * n), (n, 4 * n), (4 * n,)) for given, n in zip(sizes, nodes, strict=False)]
    ends = (
        len(set(nodes)) == 1
        and network.weights.shape == (nodes[-1], CHARACTERS)
        and network.biases.shape == (CHARACTERS,)
    )
    arrays = [network.weights, network.biases, *(array for layer in network.layers for array in layer)]
    return ends and shapes == wanted and all(each.dtype == np.float32 and np.isfinite(each).all() for each in arrays)
