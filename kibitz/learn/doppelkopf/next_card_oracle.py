"""The LSTM as a search asks it: for many positions at once, and never twice for the same.

What it says of a position depends on the line so far alone, so lines are its memory: a hash of each leads to what the
network knew behind it, from which one more card is one step, not 62.

Whose line? The thesis doesn't tell; its LSTM foretells the cards of all players from the hand of one, so here it reads
the line of the seat that asks. That is the same in all guesses, so that trees share answers. It is asked in the tree
only, playouts are at random, and of what is said (reservations, calls) it has no opinion.
"""

from typing import Any, NamedTuple

import numpy as np

from ...games.doppelkopf.cards import KINDS
from ...games.doppelkopf.rules import playable
from ...games.doppelkopf.state import CARDS
from ...jit import helper, lowest, mix
from ...search.batched_ensemble import oracle
from ...search.infoset_table import SLOT, slot_of
from ...search.policies import softmax
from .next_card import CHARACTERS, LINE, NEWLINE, Network


@oracle
class LineOracle(NamedTuple):
    slots: np.ndarray  # [a power of two] SLOT: hash of a line -> its number
    keys: np.ndarray  # [LINE] u8: hashes of a line's beginnings
    logits: np.ndarray  # [lines, CHARACTERS] f4
    before: np.ndarray  # [rows] i4: number of the line from which a question reads on; 0 is the empty line
    unread: np.ndarray  # [rows, LINE] u1: and what it reads
    length: np.ndarray  # [rows] i4: of that
    counts: np.ndarray  # [2] i8: lines known or asked for; those of them that are known
    seat: np.ndarray  # [1] i8: whose line it is

    def ask(self, game, state):
        if not has_choice(state):
            return False
        count, hand = hash_line(self, state)
        i = slot_of(self.slots, self.keys[count])
        if self.slots[i].key != 0:
            return self.slots[i].at >= self.counts[1]  # asked for by another tree
        number = self.counts[0]
        row = number - self.counts[1]
        if number == len(self.logits) or row == len(self.length):
            return False
        self.slots[i].key = self.keys[count]
        self.slots[i].at = number
        self.counts[0] = number + 1
        known = count - 1  # the longest beginning that is
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
    """Between cards; of what is said a line knows nothing."""
    kinds = playable(state, int(state.to_move)) if state.phase == CARDS else 0
    return kinds & kinds - 1 != 0


@helper
def hash_line(oracle, state):
    """Hashes of the line with none, one, ... all of the cards played: how many those are, and the hand before them."""
    seat, count = oracle.seat[0], int(state.count)
    hand = int(state.hands[seat])
    for i in range(count):
        if int(state.leaders[i >> 2]) + i & 3 == seat:
            hand += 1 << 2 * int(state.played[i])
    key = mix(mix(np.uint64(1), hand), seat)
    oracle.keys[0] = key
    for i in range(count):
        key = mix(key, int(state.played[i]))
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


class LineReader:
    """The network behind the oracle: reads all lines that were asked for at once.

    By NumPy, which takes a third of torch's time for ten lines, as a search asks for.
    """

    def __init__(self, network: Network) -> None:
        self.layers, self.last = [_halved(layer) for layer in network.layers], (network.weights, network.biases)
        self.nodes = len(network.weights)
        self._room(1, 1)

    def _room(self, lines: int, rows: int) -> None:
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
            self._room(1 + simulations, trees)
        self.oracle.slots["key"] = 0
        self.oracle.seat[0] = seat
        self.oracle.counts[:] = 1, 0  # line 0, behind which everything begins, is nothing but a newline
        self.memory[:, 0] = 0
        self.oracle.before[0], self.oracle.unread[0, 0], self.oracle.length[0] = 0, NEWLINE, 1
        self.answer()

    def answer(self) -> int:
        all_asked, known = self.oracle.counts
        rows = int(all_asked - known)
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
        self.memory[:, known:all_asked] = state
        weights, biases = self.last
        np.matmul(state[-2], weights, out=self.oracle.logits[known:all_asked])
        self.oracle.logits[known:all_asked] += biases
        self.oracle.counts[1] = all_asked
        return rows

    def read(self, state: np.ndarray, characters: np.ndarray) -> None:
        """One more character of each line; state [hidden and cell of each layer, rows, nodes]."""
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


def _halved(layer: Any) -> tuple[np.ndarray, ...]:
    """So that one tanh does for all gates: sigmoid(x) = (1 + tanh(x / 2)) / 2."""
    factors = np.repeat(np.array([0.5, 0.5, 1.0, 0.5], np.float32), len(layer.recurrent))
    return tuple(np.ascontiguousarray(each * factors) for each in layer)
