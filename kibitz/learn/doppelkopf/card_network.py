"""Networks that play Doppelkopf by what a seat sees, as data: a file, and what kernels call. No torch in here.

Three perceptrons that learn from the same games:

    view    what a seat knows -> the next card, whoever plays it; what the game will be worth to the seat;
            and where the unseen cards lie, as weights of `deals.count_weighted`
    quick   what a seat knows -> the card it plays: small, for trees and playouts
    open    all four hands -> what the game will be worth to who has the turn: small, for leaves of a tree

What the third knows nobody at the table does; it judges guesses only. It learned from players who didn't know either,
so that it doesn't take them for more than they are.
"""

import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import safetensors
import safetensors.numpy

from ...core.files import write_atomically
from ...core.names import BadInput
from ...games import full_name, load
from ...games.doppelkopf.cards import KINDS
from ...games.doppelkopf.deals import WEIGHTED, count_weighted, draw_weighted
from ...games.doppelkopf.encoding import OPEN_SIZE, SIZE, encode_open
from ...games.doppelkopf.state import CARDS as CARD_PHASE
from ...games.doppelkopf.state import is_re
from ...jit import copy_record, kernel
from ...search.determinization import nothing_fits
from ...search.policies import policy
from ..mlp import Layers, Mlp, ask, compiled, forward, logits
from ..model_files import Description, model_format
from .recorded_games import check_nines

FORMAT = "kibitz cards 1"
CARDS, VALUE, WHERE = slice(0, KINDS), KINDS, slice(KINDS + 1, 4 * KINDS + 1)  # of what `view` says
ENDS = {"view": (SIZE, 4 * KINDS + 1), "quick": (SIZE, KINDS), "open": (OPEN_SIZE, 1)}  # inputs, outputs
SURE = 4.0  # a weight is at most e**SURE times another


class CardNetwork(NamedTuple):
    view: Layers
    quick: Layers
    open: Layers


class About(NamedTuple):
    """What a file says of its network."""

    game: str
    made: str
    sizes: dict[str, list[int]]


def check_rules(game: Any, about: About | None = None) -> None:
    """Whether such networks are for this game, and the one that a file told `about` has learned all of it."""
    check_nines(game, "cards")
    if about is not None and game.solos and not getattr(load(about.game), "solos", False):
        raise BadInput(f"a network that learned {about.game} knows no solos, and {full_name(game)} has them")


def weights_of(said: np.ndarray) -> np.ndarray:
    """[..., KINDS, 3] f8 by what `view` says of where cards lie."""
    return np.exp(np.clip(said, -SURE, SURE).astype(float)).reshape(*said.shape[:-1], KINDS, 3)


def save_network(path: Path, game: str, network: CardNetwork, made: str, numbers: Any = np.float32) -> None:
    """`numbers=np.float16`: half of it, as models of the package are."""
    tensors = {
        f"{part}.{kind}.{i}": np.ascontiguousarray(array, numbers)
        for part in CardNetwork._fields
        for i, layer in enumerate(getattr(network, part))
        for kind, array in zip(("weights", "biases"), layer, strict=True)
    }
    meta = {"about": json.dumps({"format": FORMAT, "game": game, "made": made})}
    write_atomically(path, safetensors.numpy.save(tensors, meta))


def is_cards(path: Path) -> bool:
    """Whether a file says that it is such a network."""
    try:
        with safetensors.safe_open(path, "numpy") as file:  # type: ignore[no-untyped-call]
            return bool(json.loads((file.metadata() or {}).get("about", "{}")).get("format") == FORMAT)
    except (safetensors.SafetensorError, OSError, ValueError, AttributeError):
        return False


def read_network(path: Path) -> tuple[CardNetwork, About]:
    try:
        with safetensors.safe_open(path, "numpy") as file:  # type: ignore[no-untyped-call]
            about = json.loads((file.metadata() or {}).get("about", "{}"))
            if about.get("format") != FORMAT:
                raise BadInput(f"{path} is no network for cards, such as kibitz train cards makes")
            tensors = {key: _single(file.get_tensor(key)) for key in file.keys()}  # noqa: SIM118
            name, made = str(about["game"]), str(about["made"])
    except FileNotFoundError:
        raise BadInput(f"no network file {str(path)!r}") from None
    except BadInput:
        raise
    except (safetensors.SafetensorError, OSError, KeyError, ValueError, TypeError, AttributeError) as error:
        raise BadInput(f"{path} can't be read as a network, it is damaged or foreign: {error}") from None
    try:
        found = CardNetwork(*(_layers(tensors, part) for part in CardNetwork._fields))
    except KeyError as error:
        raise BadInput(f"{path} is damaged: {error.args[0]} is missing") from None
    sizes = {part: [len(layers[0][0]), *(len(biases) for _, biases in layers)] for part, layers in _named(found)}
    if not all(_sound(layers, *ENDS[part]) for part, layers in _named(found)):
        raise BadInput(f"{path} is damaged: its layers don't fit each other, or aren't finite")
    return found, About(name, made, sizes)


@model_format(FORMAT)
def describe(path: Path) -> Description:
    about = read_network(path)[1]
    what = ", ".join(f"{part} {'-'.join(map(str, sizes))}" for part, sizes in about.sizes.items())
    return Description(about.game, about.made, what, "doko")


def _single(array: np.ndarray) -> np.ndarray:
    return array.astype(np.float32) if array.dtype == np.float16 else array


def _named(network: CardNetwork) -> list[tuple[str, Layers]]:
    return list(zip(CardNetwork._fields, network, strict=True))


def _layers(tensors: dict[str, np.ndarray], part: str) -> Layers:
    count = max(1, sum(key.startswith(f"{part}.weights.") for key in tensors))
    return [(tensors[f"{part}.weights.{i}"], tensors[f"{part}.biases.{i}"]) for i in range(count)]


def _sound(layers: Layers, inputs: int, outputs: int) -> bool:
    given = inputs
    for weights, biases in layers:
        if weights.ndim != 2 or len(weights) != given or biases.shape != weights.shape[1:]:
            return False
        if any(each.dtype != np.float32 or not np.isfinite(each).all() for each in (weights, biases)):
            return False
        given = len(biases)
    return given == outputs


# ---------------------------------------------------------------- in a search


@policy
class CardPolicy(NamedTuple):
    """Cards by `quick`, worth by `open`. It plays the likeliest card, and says what is usual."""

    quick: Mlp
    open: Mlp

    def weigh(self, game, state, actions, n, probs):
        if state.phase == CARD_PHASE:
            self.quick.weigh(game, state, actions, n, probs)
        else:
            for j in range(n):
                probs[j] = 1.0 / n

    def step(self, game, state, actions, probs, rng):
        if state.phase != CARD_PHASE:
            return game.heuristic(state, rng)
        n, best = game.actions(state, actions), 0
        if n > 1:
            ask(self.quick, game, state)
            for j in range(1, n):
                if self.quick.units[actions[j]] > self.quick.units[actions[best]]:
                    best = j
        return actions[best]

    def evaluate(self, game, state, plies, actions, probs, rng, rewards):
        """What one party wins the other loses; who is alone wins or loses it three times."""
        mover = game.turn(state)
        encode_open(game, state, mover, self.open.encoding[: self.open.widths[0]])
        forward(self.open)
        friends = 0
        for seat in range(4):
            friends += is_re(state, seat) == is_re(state, mover)
        for seat in range(4):
            worth = np.float64(self.open.units[0])
            if is_re(state, seat) != is_re(state, mover):
                worth *= -friends / (4.0 - friends)
            rewards[seat] = worth
        return True


def card_policy(network: CardNetwork) -> CardPolicy:
    return CardPolicy(compiled(network.quick), compiled(network.open))


@policy
class PerSeatPolicy(NamedTuple):
    """One seat plays by a network, the others by another: theirs, as far as it is known."""

    own: CardPolicy
    others: CardPolicy
    seat: np.ndarray  # [1] i8

    def weigh(self, game, state, actions, n, probs):
        if game.turn(state) == self.seat[0]:
            self.own.weigh(game, state, actions, n, probs)
        else:
            self.others.weigh(game, state, actions, n, probs)

    def step(self, game, state, actions, probs, rng):
        if game.turn(state) == self.seat[0]:
            return self.own.step(game, state, actions, probs, rng)
        return self.others.step(game, state, actions, probs, rng)

    def evaluate(self, game, state, plies, actions, probs, rng, rewards):
        return self.own.evaluate(game, state, plies, actions, probs, rng, rewards)


class Beliefs:
    """Guesses by a network: deals that fit, each as likely as the weights of its cards make it."""

    def __init__(self, network: CardNetwork) -> None:
        self.layers, self.notes, self.seen = network.view, np.zeros(WEIGHTED + 4), b""

    def __call__(self, game: Any, view: Any, seat: int, count: int, rng: np.ndarray) -> np.ndarray:
        views = np.zeros(1, game.state)
        views[0] = view
        if self.seen != (seen := views.tobytes() + bytes([seat])):
            encoding = np.zeros(SIZE, np.float32)
            game.observe(views[0], seat, encoding)
            self.weights = weights_of(logits(self.layers, encoding)[WHERE])
            self.total = count_weighted(game, views[0], seat, self.weights, self.notes)
            self.seen = seen
        if self.total == 0:
            raise nothing_fits(game, seat)
        worlds = np.zeros(count, game.state)
        _draw(game, views, seat, self.weights, self.notes, rng, worlds)
        return worlds


@kernel
def _draw(game, views, seat, weights, notes, rng, worlds):
    for i in range(len(worlds)):
        copy_record(worlds[i], views[0])
        draw_weighted(game, views[0], seat, weights, notes, rng, worlds[i].hands)
