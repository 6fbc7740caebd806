"""LSTM that predicts the next card of Doppelkopf character by character, as in Obenaus' thesis. No torch here.

A game gives four lines of 62 characters, one per seat: the 12 cards of its hand in order, its position (seat 0 leads
the first trick), the 48 cards in the order of play, a newline. 29 characters, one-hot, go into an LSTM of two layers,
which gives logits of the next character; a line starts after a newline, from a state of zeros. The predicted card is
the most likely one of those that are possible (`doppelkopf.rules.next_card`).

A search evaluates many positions in a batch (`BatchedLstm`) and none of them twice: the prediction depends on the line
so far alone, so a hash table maps each line to the LSTM's state after it, from which one more card is one step, not 62.

The thesis does not say whose line a search reads. Its LSTM predicts the cards of all players from the hand of one, so
here it reads the line of the seat that searches. That line is the same in all worlds, so trees share evaluations. The
LSTM gives priors in the tree only, playouts are random; announcements are not part of a line and have uniform priors.
"""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ...core.process_settings import one_blas_thread
from ...jit import helper, lowest, xor_mix
from ...nets.model_files import MADE, ModelFormat
from ...search.infoset_table import SLOT, slot_of
from ...search.policies import policy, softmax
from ..rules.cards import KINDS
from ..rules.rules import playable
from ..rules.state import CARDS as CARD_PHASE
from .card_network import check_nines
from .recorded_games import Games

NEWLINE = KINDS + 4  # follows the cards and the positions
CHARACTERS = NEWLINE + 1
HAND = 12
CARDS = slice(HAND + 1, HAND + 1 + 48)  # of a line
LINE = HAND + 1 + 48 + 1
FORMAT = ModelFormat(
    "kibitz next-card 1",
    "next-card network",
    {
        "weights": f"float32 nodes {CHARACTERS}",
        "biases": f"float32 {CHARACTERS}",
        "inputs.0": f"float32 {CHARACTERS} 4*nodes",
        "inputs.{i}": "float32 nodes 4*nodes",
        "recurrent.{i}": "float32 nodes 4*nodes",
        "biases.{i}": "float32 4*nodes",
    },
    MADE,
    player="lstm",
)


class LstmLayer(NamedTuple):
    """Gates side by side, in torch's order: input, forget, cell, output."""

    inputs: np.ndarray  # [inputs, 4 * nodes] f4
    recurrent: np.ndarray  # [nodes, 4 * nodes] f4
    biases: np.ndarray  # [4 * nodes] f4


class LstmNetwork(NamedTuple):
    layers: list[LstmLayer]
    weights: np.ndarray  # [nodes, CHARACTERS] f4
    biases: np.ndarray  # [CHARACTERS] f4


class About(NamedTuple):
    """Description of a network in its file."""

    game: str
    made: str
    sizes: list[int]


def check_rules(game: Any) -> None:
    check_nines(game, "next-card")


def lines_of(games: Games) -> np.ndarray:
    """[4 * games, LINE] u1: line 4g + s is game g from seat s."""
    lines = np.full((len(games), 4, LINE), NEWLINE, np.uint8)
    lines[:, :, :HAND] = games.actions[:, : 4 * HAND].reshape(-1, 4, HAND)  # dealt in order
    lines[:, :, HAND] = KINDS + np.arange(4)
    lines[:, :, CARDS] = games.played[:, None]
    return lines.reshape(-1, LINE)


def line_so_far(view: Any, seat: int) -> list[int]:
    """The characters of a seat's line up to its view."""
    count, hand = int(view.count), int(view.hands[seat])
    for i in range(count):
        if int(view.leaders[i >> 2]) + i & 3 == seat:
            hand += 1 << 2 * int(view.played[i])
    held = [kind for kind in range(KINDS) for _ in range(hand >> 2 * kind & 3)]
    return [*held, KINDS + seat, *map(int, view.played[:count])]


class LstmReader:
    """Reads one line, resuming where it extends the line read before."""

    def __init__(self, network: LstmNetwork) -> None:
        self.network = network
        self._restart()

    def _restart(self) -> None:
        self.line = list[int]()
        self.state = [(np.zeros(len(layer.recurrent), np.float32),) * 2 for layer in self.network.layers]
        self._read(NEWLINE)

    @one_blas_thread()
    def next_logits(self, line: list[int]) -> np.ndarray:
        """[CHARACTERS] f4: logits of the character that follows a line."""
        if line[: len(self.line)] != self.line:
            self._restart()  # another game
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


# ---------------------------------------------------------------- files


def save_lstm(path: Path, game: str, network: LstmNetwork, made: str) -> None:
    tensors = {"weights": network.weights, "biases": network.biases}
    for i, layer in enumerate(network.layers):
        tensors |= {f"{name}.{i}": array for name, array in layer._asdict().items()}
    FORMAT.write(path, tensors, game=game, made=made)


def read_lstm(path: Path) -> tuple[LstmNetwork, About]:
    tensors, about = FORMAT.read(path)
    count = len(tensors) // len(LstmLayer._fields)
    layers = [LstmLayer(*(tensors[f"{name}.{i}"] for name in LstmLayer._fields)) for i in range(count)]
    network = LstmNetwork(layers, tensors["weights"], tensors["biases"])
    sizes = [CHARACTERS, *(len(layer.recurrent) for layer in layers), CHARACTERS]
    return network, About(about["game"], about["made"], sizes)


@FORMAT.described
def sizes_in(path: Path) -> str:
    return "-".join(map(str, read_lstm(path)[1].sizes))


# ---------------------------------------------------------------- in a search


@policy
class LineOracle(NamedTuple):
    slots: np.ndarray  # [a power of two] SLOT: hash of a line -> its number
    keys: np.ndarray  # [LINE] u8: hashes of the prefixes of a line
    logits: np.ndarray  # [lines, CHARACTERS] f4
    before: np.ndarray  # [rows] i4: number of the line that a request extends; 0 is the empty line
    unread: np.ndarray  # [rows, LINE] u1: characters that a request adds to it
    length: np.ndarray  # [rows] i4: number of these
    counts: np.ndarray  # [2] i8: lines known or requested; lines known
    seat: np.ndarray  # [1] i8: the seat whose line it is

    def ask(self, game, state):
        if not has_choice(state):
            return False
        count, hand = hash_line(self, state)
        i = slot_of(self.slots, self.keys[count])
        if self.slots[i].key != 0:
            return self.slots[i].at >= self.counts[1]  # requested by another tree
        number = self.counts[0]
        row = number - self.counts[1]
        if number == len(self.logits) or row == len(self.length):
            return False
        self.slots[i].key = self.keys[count]
        self.slots[i].at = number
        self.counts[0] = number + 1
        known = count - 1  # length of the longest known prefix
        while known >= 0:
            i = slot_of(self.slots, self.keys[known])
            if self.slots[i].key != 0 and self.slots[i].at < self.counts[1]:
                break
            known -= 1
        self.before[row] = self.slots[i].at if known >= 0 else 0
        length = 0
        if known < 0:
            length = write_hand(self.unread[row], hand, self.seat[0])
        for played in range(max(known, 0), count):
            self.unread[row, length] = state.played[played]
            length += 1
        self.length[row] = length
        return True

    def weigh(self, game, state, actions, n, probs):
        for j in range(n):
            probs[j] = 1.0 / n
        if has_choice(state):
            count, _ = hash_line(self, state)
            i = slot_of(self.slots, self.keys[count])
            if self.slots[i].key != 0 and self.slots[i].at < self.counts[1]:
                softmax(self.logits[self.slots[i].at], actions, n, probs)


@helper
def has_choice(state):
    """Whether the seat to move has several legal kinds of cards. (Announcements are not part of a line.)"""
    kinds = playable(state, int(state.to_move)) if state.phase == CARD_PHASE else 0
    return kinds & kinds - 1 != 0


@helper
def hash_line(oracle, state):
    """Fill `keys` with hashes of the line after 0, 1, ... cards; return the number of cards and the hand as dealt."""
    seat, count = oracle.seat[0], int(state.count)
    hand = int(state.hands[seat])
    for i in range(count):
        if int(state.leaders[i >> 2]) + i & 3 == seat:
            hand += 1 << 2 * int(state.played[i])
    key = xor_mix(xor_mix(np.uint64(1), hand), seat)
    oracle.keys[0] = key
    for i in range(count):
        key = xor_mix(key, int(state.played[i]))
        oracle.keys[i + 1] = key
    return count, hand


@helper
def write_hand(line, hand, seat):
    length = 0
    while hand:
        kind = lowest(hand) >> 1
        for _ in range(hand >> 2 * kind & 3):
            line[length] = kind
            length += 1
        hand &= ~(3 << 2 * kind)
    line[length] = KINDS + seat
    return length + 1


class BatchedLstm:
    """The network behind the oracle: reads all requested lines in one batch.

    NumPy takes a third of torch's time for batches of ten lines, which are common in a search.
    """

    def __init__(self, network: LstmNetwork) -> None:
        self.layers, self.last = [_halved(layer) for layer in network.layers], (network.weights, network.biases)
        self.nodes = len(network.weights)
        self._allocate(1, 1)

    def _allocate(self, lines: int, rows: int) -> None:
        capacity = 1 << (2 * lines).bit_length()
        self.memory = np.zeros((2 * len(self.layers), lines, self.nodes), np.float32)
        self.oracle = LineOracle(
            slots=np.zeros(capacity, SLOT),
            keys=np.zeros(LINE, np.uint64),
            logits=np.zeros((lines, CHARACTERS), np.float32),
            before=np.zeros(rows, np.int32),
            unread=np.zeros((rows, LINE), np.uint8),
            length=np.zeros(rows, np.int32),
            counts=np.zeros(2, np.int64),
            seat=np.zeros(1, np.int64),
        )

    def prepare(self, view: Any, seat: int, simulations: int, trees: int) -> None:
        if 1 + simulations > len(self.oracle.logits) or trees > len(self.oracle.length):
            self._allocate(1 + simulations, trees)
        self.oracle.slots["key"] = 0
        self.oracle.seat[0] = seat
        self.oracle.counts[:] = 1, 0  # line 0, the prefix of all, is a newline
        self.memory[:, 0] = 0
        self.oracle.before[0], self.oracle.unread[0, 0], self.oracle.length[0] = 0, NEWLINE, 1
        self.answer()

    @one_blas_thread()
    def answer(self) -> int:
        requested, known = self.oracle.counts
        rows = int(requested - known)
        before, length = self.oracle.before[:rows], self.oracle.length[:rows]
        state = self.memory[:, before]
        for at in range(int(length.max(initial=0))):
            if at < length.min():
                self.read(state, self.oracle.unread[:rows, at])
            else:
                some = np.flatnonzero(at < length)
                part = state[:, some]
                self.read(part, self.oracle.unread[some, at])
                state[:, some] = part
        self.memory[:, known:requested] = state
        weights, biases = self.last
        np.matmul(state[-2], weights, out=self.oracle.logits[known:requested])
        self.oracle.logits[known:requested] += biases
        self.oracle.counts[1] = requested
        return rows

    def read(self, state: np.ndarray, characters: np.ndarray) -> None:
        """Read one more character of each line; state [hidden and cell of each layer, rows, nodes] is updated."""
        given = None
        for i, (inputs, recurrent, biases) in enumerate(self.layers):
            gates = inputs[characters] if given is None else given @ inputs
            gates += state[2 * i] @ recurrent
            gates += biases
            np.tanh(gates, out=gates)
            keep, forget, fresh, show = (gates[:, k : k + self.nodes] for k in range(0, 4 * self.nodes, self.nodes))
            cell = state[2 * i + 1]
            cell *= 0.5 + 0.5 * forget
            cell += (0.5 + 0.5 * keep) * fresh
            given = (0.5 + 0.5 * show) * np.tanh(cell)
            state[2 * i] = given


def _halved(layer: LstmLayer) -> tuple[np.ndarray, ...]:
    """Weights with which one tanh serves all gates: sigmoid(x) = (1 + tanh(x / 2)) / 2."""
    factors = np.repeat(np.array([0.5, 0.5, 1.0, 0.5], np.float32), len(layer.recurrent))
    return tuple(np.ascontiguousarray(each * factors) for each in layer)
