"""External-sampling traversals, many at a time, so that networks evaluate the positions of all of them in one batch.

A traversal tries every action of its own seat, and samples chance and the other seat. The subtrees of two actions don't
depend on each other, so all traversals grow level by level: the positions of a level are evaluated at once. The number
of batches is the number of decisions in a game, and a batch is as large as its level.

A node is a decision or the end of a game. Children have larger numbers than their parents, so values are propagated
from the last node to the first.

Every traversal has two random streams of its own, for chance and for the other seat's moves. With `shared_chance` all
branches continue the same stream of chance, so that they get the same cards and differ by their actions alone.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...core.names import BadInput
from ...games import Game, full_name, positions
from ...games.protocol import CHANCE, OVER, NoSeat, TooManyActions
from ...jit import draw, helper, kernel, xor_mix
from ...search.policies import choose
from ..packing import Packed, joined
from .packing import Packing
from .thesis_defects import Payoff

MAX_NODES = 8_000_000  # of all traversals in flight

Evaluate = Callable[[np.ndarray], np.ndarray]  # encodings [rows, inputs] f4 -> advantages [rows, actions] f4


class Nodes(NamedTuple):
    states: np.ndarray  # [nodes] positions
    chance: np.ndarray  # [nodes, 2] u8: random stream of chance
    choice: np.ndarray  # [nodes, 2] u8: random stream of the other seat's moves
    first: np.ndarray  # [nodes] i4: the first child
    n: np.ndarray  # [nodes] i4: actions; 0 where the game is over
    turn: np.ndarray  # [nodes] i1: seat to move
    moved: np.ndarray  # [nodes] i1: seat that moved last; -1 at the root
    moves: np.ndarray  # [nodes] i2: number of moves so far, of both seats
    row: np.ndarray  # [nodes] i4: number among the decisions of its seat
    actions: np.ndarray  # [nodes, most] i4
    probs: np.ndarray  # [nodes, most] f8
    values: np.ndarray  # [nodes] f8


def new_nodes(game: Game, count: int) -> Nodes:
    most = max(game.facts.num_actions, 1)
    kinds: dict[str, Any] = {
        "states": game.state, "chance": (np.uint64, 2), "choice": (np.uint64, 2), "first": np.int32, "n": np.int32,
        "turn": np.int8, "moved": np.int8, "moves": np.int16, "row": np.int32, "actions": (np.int32, most),
        "probs": (np.float64, most), "values": np.float64,
    }  # fmt: skip
    return Nodes(
        **{
            key: np.zeros((count, kind[1]), kind[0]) if isinstance(kind, tuple) else np.zeros(count, kind)
            for key, kind in kinds.items()
        }
    )


class SeatSamples(NamedTuple):
    """Samples of one seat. Values are NaN where an action is illegal."""

    views: Packed
    values: np.ndarray  # [rows, actions] f4: advantages, or action probabilities
    steps: np.ndarray  # [rows] i2: number of the move in the game, from 1


class Traversed(NamedTuple):
    advantages: SeatSamples  # of the traversing seat
    strategies: SeatSamples  # of the other seat
    nodes: int


class Settings(NamedTuple):
    shared_chance: bool
    flipped_signs: bool
    uniform: bool  # the policy where no regret is positive; else the highest regret


class Traverser:
    """Runs traversals, reusing its arrays from call to call."""

    def __init__(self, game: Game, packing: Packing, settings: Settings, value_rule: Any = None) -> None:
        self.game, self.packing, self.settings = game, packing, settings
        self.value_rule = (
            Payoff() if value_rule is None else value_rule
        )  # (a rule without fields is an empty tuple, hence false)
        self.root = positions(game)
        self.nodes = new_nodes(game, 1024)
        self.encodings = np.zeros((2, 1024, game.facts.encoding), np.float32)
        self.waiting = np.zeros((2, 1024), np.int32)

    def run(self, seat: int, chance: np.ndarray, choice: np.ndarray, networks: Sequence[Evaluate | None]) -> Traversed:
        """Run one traversal per pair of random streams [traversals, 2], with a network per seat; None: uniform."""
        count, most = len(chance), self.game.facts.num_actions
        self._room(count)
        plant(self.nodes, self.root, chance, choice)
        start, end = 0, count
        rows = np.zeros(2, np.int64)
        views: tuple[list[Packed], list[Packed]] = [], []
        nothing = np.zeros((0, most), np.float32)
        while start < end:
            self._room_to_wait(end - start)
            asked = np.zeros(2, np.int64)
            arrive(self.game, self.value_rule, self.nodes, start, end, seat, self.encodings, self.waiting, rows, asked)
            answers = [nothing, nothing]
            for who in range(2):
                if asked[who]:
                    encodings = self.encodings[who, : asked[who]]
                    states = self.nodes.states[self.waiting[who, : asked[who]]]
                    views[who].append(self.packing.pack(states, who, encodings))
                    evaluate = networks[who]
                    answers[who] = nothing if evaluate is None else evaluate(encodings)
            self._room(end + int(asked[seat]) * most + int(asked[1 - seat]))
            fresh = branch(self.game, self.nodes, self.waiting, asked, seat, answers[0], answers[1], self.settings, end)
            start, end = end, fresh
        values = tuple(np.full((rows[who], most), np.nan, np.float32) for who in range(2))
        steps = tuple(np.zeros(rows[who], np.int16) for who in range(2))
        collect(self.nodes, end, seat, values[0], values[1], steps[0], steps[1], self.settings.flipped_signs)
        packed = [joined([self.packing.no_views(), *views[who]]) for who in range(2)]
        found = [SeatSamples(packed[who], values[who], steps[who]) for who in range(2)]
        return Traversed(found[seat], found[1 - seat], end)

    def _room(self, count: int) -> None:
        have = len(self.nodes.n)
        if count <= have:
            return
        if count > MAX_NODES:
            raise BadInput(
                f"traversals of {full_name(self.game)} hold more than {MAX_NODES:,} positions at once: "
                f"use a lower in_flight, or a smaller game"
            )
        longer = new_nodes(self.game, max(count, 2 * have))
        for old, new in zip(self.nodes, longer, strict=True):
            new[:have] = old
        self.nodes = longer

    def _room_to_wait(self, count: int) -> None:
        if count > self.waiting.shape[1]:
            width = max(count, 2 * self.waiting.shape[1])
            self.waiting = np.zeros((2, width), np.int32)
            self.encodings = np.zeros((2, width, self.game.facts.encoding), np.float32)


@kernel
def plant(nodes, root, chance, choice):
    for i in range(len(chance)):
        nodes.states[i] = root[0]
        nodes.moved[i] = -1
        nodes.moves[i] = 0
        for k in range(2):
            nodes.chance[i, k] = chance[i, k]
            nodes.choice[i, k] = choice[i, k]


@kernel
def arrive(game, value_rule, nodes, start, end, seat, encodings, waiting, rows, asked):
    """Sample chance up to the next decision, which is queued for evaluation, or up to the end, which is valued."""
    for i in range(start, end):
        state = nodes.states[i]
        turn = game.turn(state)
        while turn == CHANCE:
            game.play(state, game.sample_action(state, nodes.chance[i]))
            turn = game.turn(state)
        nodes.turn[i] = turn
        if turn == OVER:
            nodes.n[i] = 0
            # For the traversing seat; with flipped signs, for the seat that would move if turns alternated.
            nodes.values[i] = value_rule.payout(game, state, seat)
            continue
        if turn > 1:
            raise NoSeat
        nodes.n[i] = game.actions(state, nodes.actions[i])
        for j in range(nodes.n[i]):
            if nodes.actions[i, j] >= nodes.actions.shape[1]:
                raise TooManyActions
        nodes.row[i] = rows[turn]
        rows[turn] += 1
        at = asked[turn]
        asked[turn] += 1
        waiting[turn, at] = i
        game.observe(state, turn, encodings[turn, at])


@helper
def match(answers, at, actions, n, uniform, probs):
    """Regret matching; where no regret is positive, the highest or uniform. Without a network: uniform."""
    if len(answers) == 0:
        for j in range(n):
            probs[j] = 1.0 / n
        return
    total, best = 0.0, 0
    for j in range(n):
        probs[j] = max(np.float64(answers[at, actions[j]]), 0.0)
        total += probs[j]
        if answers[at, actions[j]] > answers[at, actions[best]]:
            best = j
    for j in range(n):
        if total > 0:
            probs[j] /= total
        elif uniform:
            probs[j] = 1.0 / n
        else:
            probs[j] = 1.0 if j == best else 0.0


@helper
def descend(game, nodes, parent, child, action):
    nodes.states[child] = nodes.states[parent]
    for k in range(2):
        nodes.chance[child, k] = nodes.chance[parent, k]
        nodes.choice[child, k] = nodes.choice[parent, k]
    nodes.moved[child] = nodes.turn[parent]
    nodes.moves[child] = nodes.moves[parent] + 1
    game.play(nodes.states[child], action)


@helper
def part(stream, number):
    """Make the random stream of a branch independent of its siblings'."""
    stream[0] = xor_mix(stream[0], number)
    draw(stream)  # the state after mixing is not yet a draw of the new stream


@kernel
def branch(game, nodes, waiting, asked, seat, answers_0, answers_1, settings, end):
    """Append the children of all evaluated nodes from index `end` on; return the new end."""
    for turn in range(2):
        for at in range(asked[turn]):
            i = waiting[turn, at]
            n, probs = nodes.n[i], nodes.probs[i]
            if turn == 0:
                match(answers_0, at, nodes.actions[i], n, settings.uniform, probs)
            else:
                match(answers_1, at, nodes.actions[i], n, settings.uniform, probs)
            nodes.first[i] = end
            if turn == seat:
                for j in range(n):
                    descend(game, nodes, i, end, nodes.actions[i, j])
                    part(nodes.choice[end], j)
                    if not settings.shared_chance:
                        part(nodes.chance[end], j)
                    end += 1
            else:
                j = choose(probs, n, nodes.choice[i])
                descend(game, nodes, i, end, nodes.actions[i, j])
                end += 1
    return end


@kernel
def collect(nodes, end, seat, values_0, values_1, steps_0, steps_1, flipped):
    """Propagate values to the parents, and write the samples of both seats.

    With the defect `flipped-signs` a value is the mover's, and changes its sign from a child to its parent, whoever
    moves there; where turns alternate that is the same.
    """
    for i in range(end - 1, -1, -1):
        n, turn, first = nodes.n[i], nodes.turn[i], nodes.first[i]
        if n == 0:
            if flipped and nodes.moved[i] == seat:
                nodes.values[i] = -nodes.values[i]
            continue
        sign = -1.0 if flipped else 1.0
        row = nodes.row[i]
        if turn == seat:
            value = 0.0
            for j in range(n):
                value += nodes.probs[i, j] * sign * nodes.values[first + j]
        else:
            value = sign * nodes.values[first]
        nodes.values[i] = value
        for j in range(n):
            found = sign * nodes.values[first + j] - value if turn == seat else nodes.probs[i, j]
            if turn == 0:
                values_0[row, nodes.actions[i, j]] = found
            else:
                values_1[row, nodes.actions[i, j]] = found
        if turn == 0:
            steps_0[row] = nodes.moves[i] + 1
        else:
            steps_1[row] = nodes.moves[i] + 1
