"""Networks that play Doppelkopf from one seat's view: their files, and the compiled policy. No torch here.

Three perceptrons are trained on the same games:

    belief   the view of a seat -> logits of the next card, whoever plays it; the seat's expected reward; and
             log weights of who holds which unseen card, for `deals.count_weighted`
    policy   the view of a seat -> logits of the card that it plays; small, for trees and rollouts
    value    all four hands -> expected reward of the seat to move; small, for the leaves of a tree

The value network sees what no seat does, so it evaluates sampled worlds only. Its targets come from games of players
who saw one hand each, so it does not credit them with more information than they have.
"""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ...core.files import readable
from ...core.names import BadInput
from ...games import full_name, load_stored
from ...jit import copy_record, helper, kernel
from ...nets.mlp import Layers, Mlp, ask, compiled, declared_layers, forward, logits, read_layers
from ...nets.model_files import MADE, ModelFormat, network_file, network_kind
from ...search import policies
from ...search.determinization import nothing_fits, sample_worlds
from ..rules import Doppelkopf
from ..rules.announcements import CALL, LEVELS
from ..rules.cards import KINDS
from ..rules.deals import WEIGHTED, count_weighted, draw_weighted
from ..rules.encoding import OPEN_SIZE, SIZE, encode_open
from ..rules.state import CARDS as CARD_PHASE
from ..rules.state import is_re

CARDS, REWARD, HOLDERS = slice(0, KINDS), KINDS, slice(KINDS + 1, 4 * KINDS + 1)  # outputs of the belief network
SIZES = {"belief": (SIZE, 4 * KINDS + 1), "policy": (SIZE, KINDS), "value": (OPEN_SIZE, 1)}  # inputs, outputs
FORMAT = ModelFormat(
    "kibitz cards 1",
    "card network",
    {key: text for name in SIZES for key, text in declared_layers(name, "float16|float32").items()},
    MADE,
    player="doko",
)
MAX_LOG_WEIGHT = 4.0  # in absolute value: no holder of a card is ruled out


class CardNetwork(NamedTuple):
    belief: Layers
    policy: Layers
    value: Layers


class About(NamedTuple):
    """Description of a network in its file."""

    game: str
    made: str
    sizes: dict[str, list[int]]


def check_nines(game: Any, what: str) -> None:
    """Refuse other games than Doppelkopf with nines."""
    if not isinstance(game, Doppelkopf) or not game.nines:
        raise BadInput(f"{what} is for doppelkopf with nines, whose games have 48 cards")


def check_rules(game: Any, about: About | None = None) -> None:
    """Refuse games that card networks can't play, and games with solos for the network `about` if it saw none."""
    check_nines(game, "cards")
    if about is not None and game.solos and not getattr(load_stored(about.game), "solos", False):
        raise BadInput(f"a network trained on {about.game} knows no solos, and {full_name(game)} has them")


def holder_weights(log_weights: np.ndarray) -> np.ndarray:
    """Weights [..., KINDS, 3] f8 of each other seat holding a card, from the belief network's HOLDERS outputs."""
    clipped = np.clip(log_weights, -MAX_LOG_WEIGHT, MAX_LOG_WEIGHT).astype(float)
    return np.exp(clipped).reshape(*log_weights.shape[:-1], KINDS, 3)


# ---------------------------------------------------------------- files


def save_card_network(path: Path, game: str, network: CardNetwork, made: str, dtype: Any = np.float32) -> None:
    """Write the three networks; np.float16 halves the file, as for the models of the package."""
    tensors = {
        f"{name}.{kind}.{i}": np.asarray(array, dtype)
        for name, layers in network._asdict().items()
        for i, layer in enumerate(layers)
        for kind, array in zip(("weights", "biases"), layer, strict=True)
    }
    FORMAT.write(path, tensors, game=game, made=made)


def read_card_network(path: Path) -> tuple[CardNetwork, About]:
    stored, about = FORMAT.read(path)
    tensors = {key: array.astype(np.float32) for key, array in stored.items()}
    network = CardNetwork(*(_layers(tensors, name) for name in CardNetwork._fields))
    sizes = {
        name: [len(layers[0][0]), *(len(biases) for _, biases in layers)] for name, layers in network._asdict().items()
    }
    with readable(path, FORMAT.what):
        for name, (*_, last) in sizes.items():
            if (sizes[name][0], last) != SIZES[name]:
                raise ValueError(f"{name} has layers of {sizes[name]}, whose ends should be {SIZES[name]}")
    return network, About(about["game"], about["made"], sizes)


@network_kind(FORMAT.name)
class PolicyOfCards:
    """The policy of a file, inside its other networks."""

    def __init__(self, path: Path) -> None:
        self.network, about = read_card_network(path)
        self.game, self.layers = about.game, self.network.policy

    def policy(self, layers: Layers) -> Any:
        """It plays the likeliest action, as the file's player does."""
        return card_policy(self.network._replace(policy=layers))


@FORMAT.described
def sizes_in(path: Path) -> str:
    return ", ".join(f"{name} {'-'.join(map(str, sizes))}" for name, sizes in read_card_network(path)[1].sizes.items())


def read_policy(path: Path, beliefs: str) -> tuple[CardNetwork, About]:
    """Card networks from a file of them; or of a policy for the whole game, with the other networks of `beliefs`."""
    if FORMAT.fits(path):
        return read_card_network(path)
    layers, about = read_layers(path)
    if about.sizes[0] != SIZE or about.sizes[-1] != CALL + LEVELS:
        raise BadInput(f"{path} is a network for {about.game}, not for Doppelkopf")
    network, other = read_card_network(network_file(beliefs))
    return network._replace(policy=layers), About(about.game, about.made, other.sizes | {"policy": list(about.sizes)})


def _layers(tensors: dict[str, np.ndarray], name: str) -> Layers:
    count = sum(key.startswith(f"{name}.weights.") for key in tensors)
    return [(tensors[f"{name}.weights.{i}"], tensors[f"{name}.biases.{i}"]) for i in range(count)]


# ---------------------------------------------------------------- in a search


@policies.policy
class CardPolicy(NamedTuple):
    """Plays the most likely card of `policy`, evaluates by `value`, and announces as the heuristic does."""

    policy: Mlp
    value: Mlp

    def weigh(self, game, state, actions, n, probs):
        if state.phase == CARD_PHASE:
            self.policy.weigh(game, state, actions, n, probs)
        else:
            for j in range(n):
                probs[j] = 1.0 / n

    def step(self, game, state, actions, probs, rng):
        if state.phase != CARD_PHASE:
            return game.heuristic(state, rng)
        n = game.actions(state, actions)
        return likeliest(self.policy, game, state, actions, n)

    def evaluate(self, game, state, plies, actions, probs, rng, rewards):
        evaluate_world(self.value, game, state, rewards)
        return True


@policies.policy
class WholePolicy(NamedTuple):
    """Plays the most likely action of `policy`, in cards, announcements and solos, and evaluates by `value`."""

    policy: Mlp
    value: Mlp

    def weigh(self, game, state, actions, n, probs):
        self.policy.weigh(game, state, actions, n, probs)

    def step(self, game, state, actions, probs, rng):
        n = game.actions(state, actions)
        return likeliest(self.policy, game, state, actions, n)

    def evaluate(self, game, state, plies, actions, probs, rng, rewards):
        evaluate_world(self.value, game, state, rewards)
        return True


@helper
def likeliest(policy, game, state, actions, n):
    """The legal action of the highest logit."""
    best = 0
    if n > 1:
        ask(policy, game, state)
        for j in range(1, n):
            if policy.units[actions[j]] > policy.units[actions[best]]:
                best = j
    return actions[best]


@helper
def evaluate_world(value, game, state, rewards):
    """Rewards of all seats: one party wins what the other loses; who plays alone wins or loses it three times."""
    mover = game.turn(state)
    encode_open(game, state, mover, value.encoding[: value.widths[0]])
    forward(value)
    friends = 0
    for seat in range(4):
        friends += is_re(state, seat) == is_re(state, mover)
    for seat in range(4):
        reward = np.float64(value.units[0])
        if is_re(state, seat) != is_re(state, mover):
            reward *= -friends / (4.0 - friends)
        rewards[seat] = reward


def knows_announcements(network: CardNetwork) -> bool:
    """Whether the policy network has logits for all actions, not for cards only."""
    return len(network.policy[-1][1]) > KINDS


def card_policy(network: CardNetwork) -> CardPolicy | WholePolicy:
    kind = WholePolicy if knows_announcements(network) else CardPolicy
    return kind(compiled(network.policy), compiled(network.value))


@policies.policy
class PerSeatPolicy(NamedTuple):
    """One seat plays by its own network, the three others by a network that models them."""

    own: CardPolicy | WholePolicy
    others: CardPolicy | WholePolicy
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
    """Determinizer: samples worlds that fit a view, each with the probability that the belief network gives it."""

    def __init__(self, network: CardNetwork) -> None:
        self.layers, self.notes, self.last_view = network.belief, np.zeros(WEIGHTED + 4), b""

    def __call__(self, game: Any, view: Any, seat: int, count: int, rng: np.ndarray) -> np.ndarray:
        """`count` worlds as records of the game."""
        if int(view.phase) < CARD_PHASE:  # no cards are played yet, and it has learned from cards
            return sample_worlds(game, view, seat, count, rng)
        views = np.zeros(1, game.state)
        views[0] = view
        if self.last_view != (key := views.tobytes() + bytes([seat])):
            encoding = np.zeros(SIZE, np.float32)
            game.observe(views[0], seat, encoding)
            self.weights = holder_weights(logits(self.layers, encoding)[HOLDERS])
            self.total = count_weighted(game, views[0], seat, self.weights, self.notes)
            self.last_view = key
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
