"""The sequence form of a small game (Koller, Megiddo and von Stengel 1994): two decision trees and a payoff matrix.

A *sequence* of a seat is a list of its own moves: sequence 0 is the empty one, and each infoset has one sequence per
action, which extends the sequence that leads to it. A leaf of the game belongs to one sequence of each seat; its
payoff, weighted by chance, is an entry of a sparse matrix. So solvers and best responses are loops over flat arrays.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..core import memory
from ..core.names import BadInput, TooLarge
from ..games import full_name
from ..games.protocol import CHANCE, OVER, SCRATCH, Game, NoSeat, TooLong, positions
from ..games.tree import estimated_leaves
from ..games.zero_sum import NoSequenceForm, two_seats_zero_sum
from ..jit import helper, kernel
from ..search.infoset_table import TWO_WIDTHS, Table, grow, has_room, new_table, slot_of
from ..search.infoset_table import size as table_size
from ..search.strategy import Strategy, normalised

MAX_LEAVES = 30_000_000  # about 2 GB
MAX_LEAVES_IN_PYTHON = 400_000  # of a game whose rules aren't compiled: a minute
# How many times too many leaves an estimate has to find before it is believed. By Markov's inequality it is 1,000 times
# too high less than once in 1,000; trying out what it may be wrong about takes long in Python.
UNSURE, UNSURE_IN_PYTHON = 1000, 10

DONE, FULL, FORGETFUL, TOO_LARGE = 0, 1, 2, 3  # how unfolding ends


class Side(NamedTuple):
    """One seat's decisions, parents before children, and its payoffs as rows of a sparse matrix."""

    keys: np.ndarray  # [infosets] u8
    first: np.ndarray  # [infosets + 1] i8: the sequences of infoset i are first[i] .. first[i + 1] - 1
    parent: np.ndarray  # [infosets] i8: the sequence that leads there
    rows: np.ndarray  # [sequences + 1] i8: the entries of sequence s are rows[s] .. rows[s + 1] - 1
    others: np.ndarray  # [entries] i4: the other seat's sequence
    payoffs: np.ndarray  # [entries] f8: this seat's payoff times the probability of chance

    @property
    def sequences(self) -> int:
        return len(self.rows) - 1


@dataclass(frozen=True)
class SequenceForm:
    game: Game
    sides: tuple[Side, Side]
    nodes: tuple[int, int, int]  # chance, decision, terminal
    views: tuple[np.ndarray, np.ndarray]  # [infosets] records of each seat: a view at each of its infosets

    @property
    def infosets(self) -> int:
        return sum(len(side.keys) for side in self.sides)


def unfold(game: Game, max_leaves: int = MAX_LEAVES) -> SequenceForm:
    """Enumerate the whole game.

    Raises:
        TooLarge: It has too many leaves.
        NoSequenceForm: It is no zero-sum game of two, or its infosets forget the seat's own moves (imperfect recall).
    """
    two_seats_zero_sum(game, "the sequence form")
    unsure = UNSURE
    if getattr(game, "in_python", False):
        max_leaves, unsure = min(max_leaves, MAX_LEAVES_IN_PYTHON), UNSURE_IN_PYTHON
    if estimated_leaves(game) > unsure * max_leaves:
        raise _too_large(game, max_leaves)
    depth = game.facts.max_game_length + 1
    stack = _Stack(
        states=np.zeros(depth, game.state),
        actions=np.zeros((depth, SCRATCH), np.int64),
        probs=np.zeros((depth, SCRATCH)),
        n=np.zeros(depth, np.int64),
        next=np.zeros(depth, np.int64),
        first=np.zeros(depth, np.int64),
        sequence=np.zeros((depth, 2), np.int64),
        reach=np.ones(depth),
    )
    stack.states[0] = positions(game)[0]
    found = _Found(
        table=new_table(1024, 1),
        keys=np.zeros(1024, np.uint64),
        seats=np.zeros(1024, np.int8),
        first=np.zeros(1024, np.int64),
        parent=np.zeros(1024, np.int64),
        views=np.zeros(1024, game.state),
        leaves=np.zeros((4096, 2), np.int32),
        payoffs=np.zeros(4096),
        counts=np.zeros(8, np.int64),
    )
    found.counts[SEQUENCES : SEQUENCES + 2] = 1
    memory.check(2 * _size(found), f"the game tree of {full_name(game)}", "choose a smaller game")
    while True:
        ended = _unfold(game, stack, found, max_leaves)
        if ended != FULL:
            break
        # Twice as large, beside the old one; and the matrix that is made of the leaves needs as much again.
        memory.check(4 * _size(found), f"the game tree of {full_name(game)}", "choose a smaller game")
        found = _grow(found)
    if ended == TOO_LARGE:
        raise _too_large(game, max_leaves)
    if ended == FORGETFUL:
        name = full_name(game)
        why = f"{name} has no sequence form: an infoset is reached by different moves of its own seat"
        advice = "" if game.facts.hidden else f". Nothing is hidden: kibitz advise {name} searches for the best move"
        raise NoSequenceForm(why + advice)
    return _sides(game, found)


def measurable_form(game: Game, max_leaves: int = MAX_LEAVES) -> SequenceForm | None:
    """The sequence form, by which NashConv is measured; None: the game has none, or is too large."""
    try:
        return unfold(game, max_leaves)
    except (TooLarge, NoSequenceForm):
        return None


def _too_large(game: Game, max_leaves: int) -> TooLarge:
    return TooLarge(f"{full_name(game)} is too large to enumerate: it has more than {max_leaves:,} leaves")


# Places in `counts`.
INFOSETS, LEAVES, DEPTH, SEQUENCES, NODES = 0, 1, 2, 3, 5  # SEQUENCES has two, NODES (chance, decision) two


class _Stack(NamedTuple):
    """The path from the opening to the current node, one row per level."""

    states: np.ndarray  # [depth] positions
    actions: np.ndarray  # [depth, most]
    probs: np.ndarray  # [depth, most]: probabilities of chance
    n: np.ndarray  # [depth]: number of actions; 0: not entered yet
    next: np.ndarray  # [depth]: the action to try next
    first: np.ndarray  # [depth]: sequence of the first action
    sequence: np.ndarray  # [depth, 2]: sequence of each seat so far
    reach: np.ndarray  # [depth]: probability of chance so far


class _Found(NamedTuple):
    table: Table  # infoset -> its number
    keys: np.ndarray
    seats: np.ndarray
    first: np.ndarray
    parent: np.ndarray
    views: np.ndarray
    leaves: np.ndarray  # [leaves, 2]: the sequence of each seat
    payoffs: np.ndarray
    counts: np.ndarray


def _size(found: _Found) -> int:
    """Bytes that are in use."""
    return table_size(found.table) + sum(array.nbytes for array in found[1:])


def _grow(found: _Found) -> _Found:
    """Double the arrays that are full."""

    def longer(array: np.ndarray, used: int) -> np.ndarray:
        if used + 1 < len(array):
            return array
        return np.concatenate([array, np.zeros_like(array)])

    infosets, leaves = int(found.counts[INFOSETS]), int(found.counts[LEAVES])
    changed = {key: longer(getattr(found, key), infosets) for key in ("keys", "seats", "first", "parent", "views")}
    changed |= {key: longer(getattr(found, key), leaves) for key in ("leaves", "payoffs")}
    return found._replace(table=grow(found.table, 1, 0), **changed)


@kernel
def _unfold(game, stack, found, max_leaves):
    """Walk the whole game depth first, from where the last call stopped."""
    counts, slots = found.counts, found.table.slots
    while counts[DEPTH] >= 0:
        depth = counts[DEPTH]
        state = stack.states[depth]
        if counts[LEAVES] >= max_leaves:
            return TOO_LARGE
        if (
            counts[LEAVES] + 1 >= len(found.payoffs)
            or counts[INFOSETS] + 1 >= len(found.keys)
            or not has_room(counts[INFOSETS], len(slots), 1)
        ):
            return FULL
        turn = game.turn(state)
        if turn > 1:
            raise NoSeat
        if turn == OVER:
            leaf = counts[LEAVES]
            found.leaves[leaf, 0] = stack.sequence[depth, 0]
            found.leaves[leaf, 1] = stack.sequence[depth, 1]
            found.payoffs[leaf] = stack.reach[depth] * game.payoff(state, 0)
            counts[LEAVES] += 1
            counts[DEPTH] -= 1
            continue
        if stack.n[depth] == 0:  # here for the first time
            n = game.actions(state, stack.actions[depth])
            stack.n[depth] = n
            stack.next[depth] = 0
            if turn == CHANCE:
                game.chance_probs(state, stack.actions[depth], n, stack.probs[depth])
                counts[NODES] += 1
            else:
                counts[NODES + 1] += 1
                key = game.infoset(state, turn)
                slot = slot_of(slots, key)
                if slots[slot].key == 0:
                    number = counts[INFOSETS]
                    slots[slot].key = key
                    slots[slot].at = number
                    slots[slot].width = n
                    found.keys[number] = key
                    found.seats[number] = turn
                    found.first[number] = counts[SEQUENCES + turn]
                    found.parent[number] = stack.sequence[depth, turn]
                    game.look(state, turn, found.views[number])
                    counts[SEQUENCES + turn] += n
                    counts[INFOSETS] += 1
                    found.table.used[0] = counts[INFOSETS]
                if slots[slot].width != n:
                    raise BadInput(TWO_WIDTHS)
                number = np.int64(slots[slot].at)
                if found.parent[number] != stack.sequence[depth, turn] or found.seats[number] != turn:
                    return FORGETFUL
                stack.first[depth] = found.first[number]
        i = stack.next[depth]
        if i == stack.n[depth]:
            stack.n[depth] = 0
            counts[DEPTH] -= 1
            continue
        stack.next[depth] = i + 1
        below = depth + 1
        if below == len(stack.n):
            raise TooLong
        stack.states[below] = state
        stack.sequence[below, 0] = stack.sequence[depth, 0]
        stack.sequence[below, 1] = stack.sequence[depth, 1]
        stack.reach[below] = stack.reach[depth]
        stack.n[below] = 0
        if turn == CHANCE:
            stack.reach[below] *= stack.probs[depth, i]
        else:
            stack.sequence[below, turn] = stack.first[depth] + i
        game.play(stack.states[below], stack.actions[depth, i])
        counts[DEPTH] = below
    return DONE


def _sides(game: Game, found: _Found) -> SequenceForm:
    infosets, leaves = int(found.counts[INFOSETS]), int(found.counts[LEAVES])
    shape = tuple(int(count) for count in found.counts[SEQUENCES : SEQUENCES + 2])
    entries = (found.payoffs[:leaves], (found.leaves[:leaves, 0], found.leaves[:leaves, 1]))
    import scipy.sparse  # imported here, as that takes longer than many a command

    matrix = scipy.sparse.coo_array(entries, shape=shape).tocsr()  # sums the leaves of one pair of sequences
    sides, views = [], []
    for seat, part in enumerate((matrix, -matrix.T.tocsr())):
        mine = np.flatnonzero(found.seats[:infosets] == seat)
        views.append(found.views[mine])
        sides.append(
            Side(
                keys=found.keys[mine],
                first=np.append(found.first[mine], shape[seat]),
                parent=found.parent[mine],
                rows=part.indptr.astype(np.int64),
                others=part.indices.astype(np.int32),
                payoffs=part.data.astype(np.float64),
            )
        )
    chance, decision = (int(count) for count in found.counts[NODES : NODES + 2])
    return SequenceForm(game, (sides[0], sides[1]), (chance, decision, leaves), (views[0], views[1]))


@helper
def against(side, s, plan):
    """The payoff of a sequence against the other seat's realization plan, at the leaves that belong to it."""
    value = 0.0
    for entry in range(side.rows[s], side.rows[s + 1]):
        value += side.payoffs[entry] * plan[side.others[entry]]
    return value


def of_sequences(form: SequenceForm, weights: Sequence[np.ndarray]) -> Strategy:
    """The strategy in proportion to weights of the last action of each sequence, [sequences] f8 per seat."""
    keys = np.concatenate([side.keys for side in form.sides])
    counts = np.concatenate([np.diff(side.first) for side in form.sides])
    return normalised(form.game, keys, counts, np.concatenate([each[1:] for each in weights]))
