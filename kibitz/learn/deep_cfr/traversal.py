"""External-sampling traversals, many at a time, so that networks answer for all of them in one batch.

A traversal tries every action of its own seat, and samples chance and the other seat. What is below one action doesn't
depend on what is below another, so all traversals grow level by level: all positions of a level are asked about at
once. A game is as many batches deep as it has decisions, and batches are as large as the levels are wide.

A node is a decision or the end of a game. Children stand behind their parents, so values are handed up from the last
node to the first.

Every traversal has two random streams of its own, for chance and for the other seat's moves. Branches continue the
stream of chance alike (`shared_chance`), so that they meet the same cards and differ by their actions alone; or apart.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...core.names import BadInput
from ...games import Game, full_name, positions
from ...games.game import CHANCE, OVER
from ...jit import draw, helper, kernel, mix, rules
from ...search.policies import choose
from .memory import Packing

MAX_NODES = 8_000_000  # of traversals that are under way together
RULES = {"worth": "self, game, state, seat"}

Ask = Callable[[np.ndarray], np.ndarray]  # encodings [rows, inputs] f4 -> advantages [rows, actions] f4


@rules(RULES)
class Fair(NamedTuple):
    """What the rules pay."""

    def worth(self, game, state, seat):
        return game.payoff(state, seat)


@rules(RULES)
class WholePot(NamedTuple):
    """Defect 2 of the thesis: plus or minus all that lies in the pot."""

    def worth(self, game, state, seat):
        won = game.payoff(state, seat)
        pot = (int(state.paid[0]) + int(state.paid[1])) / game.big_blind
        return pot * ((won > 0) - (won < 0))


class Nodes(NamedTuple):
    states: np.ndarray  # [nodes] positions
    luck: np.ndarray  # [nodes, 2] u8: generator of chance
    choice: np.ndarray  # [nodes, 2] u8: and of the other seat's moves
    first: np.ndarray  # [nodes] i4: the first child
    n: np.ndarray  # [nodes] i4: actions; 0 where the game is over
    turn: np.ndarray  # [nodes] i1: whose move it is
    moved: np.ndarray  # [nodes] i1: who moved before; -1 at the opening
    moves: np.ndarray  # [nodes] i2: made before, by both seats
    row: np.ndarray  # [nodes] i4: among the decisions of its seat
    actions: np.ndarray  # [nodes, most] i4
    probs: np.ndarray  # [nodes, most] f8
    values: np.ndarray  # [nodes] f8


def new_nodes(game: Game, count: int) -> Nodes:
    most = max(game.facts.num_actions, 1)
    kinds: dict[str, Any] = {
        "states": game.state, "luck": (np.uint64, 2), "choice": (np.uint64, 2), "first": np.int32, "n": np.int32,
        "turn": np.int8, "moved": np.int8, "moves": np.int16, "row": np.int32, "actions": (np.int32, most),
        "probs": (np.float64, most), "values": np.float64,
    }  # fmt: skip
    return Nodes(
        **{
            key: np.zeros((count, kind[1]), kind[0]) if isinstance(kind, tuple) else np.zeros(count, kind)
            for key, kind in kinds.items()
        }
    )


class Samples(NamedTuple):
    """Of one seat. Values are NaN where an action is illegal."""

    views: np.ndarray  # [rows, bytes] u1, packed
    values: np.ndarray  # [rows, actions] f4: advantages, or odds
    steps: np.ndarray  # [rows] i2: moves made before, and 1


class Traversed(NamedTuple):
    advantages: Samples  # of the seat that tries everything
    strategies: Samples  # of the other
    nodes: int


class Settings(NamedTuple):
    shared_chance: bool
    flipped_signs: bool
    uniform: bool  # where no regret is positive; else the highest


class Traverser:
    """Keeps its room from call to call."""

    def __init__(self, game: Game, packing: Packing, settings: Settings, worth: Any = None) -> None:
        self.game, self.packing, self.settings = game, packing, settings
        self.worth = Fair() if worth is None else worth  # a rule without fields is an empty tuple, and so false
        self.root = positions(game)
        self.nodes = new_nodes(game, 1024)
        self.encodings = np.zeros((2, 1024, game.facts.encoding), np.float32)
        self.waiting = np.zeros((2, 1024), np.int32)

    def run(self, seat: int, luck: np.ndarray, choice: np.ndarray, asks: Sequence[Ask | None]) -> Traversed:
        """One traversal for each pair of generators [traversals, 2]. `asks` has a network a seat; None: uniform."""
        count, most = len(luck), self.game.facts.num_actions
        self._room(count)
        plant(self.nodes, self.root, luck, choice)
        start, end = 0, count
        rows = np.zeros(2, np.int64)
        views: tuple[list[np.ndarray], list[np.ndarray]] = [], []
        nothing = np.zeros((0, most), np.float32)
        while start < end:
            self._room_to_wait(end - start)
            asked = np.zeros(2, np.int64)
            arrive(self.game, self.worth, self.nodes, start, end, seat, self.encodings, self.waiting, rows, asked)
            answers = [nothing, nothing]
            for who in range(2):
                if asked[who]:
                    encodings = self.encodings[who, : asked[who]]
                    states = self.nodes.states[self.waiting[who, : asked[who]]]
                    views[who].append(self.packing.pack(states, who, encodings))
                    ask = asks[who]
                    answers[who] = nothing if ask is None else ask(encodings)
            self._room(end + int(asked[seat]) * most + int(asked[1 - seat]))
            fresh = branch(self.game, self.nodes, self.waiting, asked, seat, answers[0], answers[1], self.settings, end)
            start, end = end, fresh
        values = tuple(np.full((rows[who], most), np.nan, np.float32) for who in range(2))
        steps = tuple(np.zeros(rows[who], np.int16) for who in range(2))
        collect(self.nodes, end, seat, values[0], values[1], steps[0], steps[1], self.settings.flipped_signs)
        empty = np.zeros((0, self.packing.bytes), np.uint8)
        found = [Samples(np.concatenate(views[who] or [empty]), values[who], steps[who]) for who in range(2)]
        return Traversed(found[seat], found[1 - seat], end)

    def _room(self, count: int) -> None:
        have = len(self.nodes.n)
        if count <= have:
            return
        if count > MAX_NODES:
            raise BadInput(
                f"traversals of {full_name(self.game)} try all actions of a seat, and that makes more than "
                f"{MAX_NODES:,} positions at once: give fewer with in_flight, or a smaller game"
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
def plant(nodes, root, luck, choice):
    for i in range(len(luck)):
        nodes.states[i] = root[0]
        nodes.moved[i] = -1
        nodes.moves[i] = 0
        for k in range(2):
            nodes.luck[i, k] = luck[i, k]
            nodes.choice[i, k] = choice[i, k]


@kernel
def arrive(game, worth, nodes, start, end, seat, encodings, waiting, rows, asked):
    """From chance to the next decision, which waits for an answer; or to the end, which is paid."""
    for i in range(start, end):
        state = nodes.states[i]
        turn = game.turn(state)
        while turn == CHANCE:
            game.play(state, game.sample_action(state, nodes.luck[i]))
            turn = game.turn(state)
        nodes.turn[i] = turn
        if turn == OVER:
            nodes.n[i] = 0
            # For the seat that traverses; where signs flip, for the one that would move if turns alternated.
            nodes.values[i] = worth.worth(game, state, seat)
            continue
        nodes.n[i] = game.actions(state, nodes.actions[i])
        nodes.row[i] = rows[turn]
        rows[turn] += 1
        at = asked[turn]
        asked[turn] += 1
        waiting[turn, at] = i
        game.observe(state, turn, encodings[turn, at])


@helper
def match(answers, at, actions, n, uniform, probs):
    """Regret matching; where nothing is positive the highest, or all alike. No answers at all: all alike."""
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
        nodes.luck[child, k] = nodes.luck[parent, k]
        nodes.choice[child, k] = nodes.choice[parent, k]
    nodes.moved[child] = nodes.turn[parent]
    nodes.moves[child] = nodes.moves[parent] + 1
    game.play(nodes.states[child], action)


@helper
def part(stream, number):
    """A stream of its own, for one branch of several."""
    stream[0] = mix(stream[0], number)
    draw(stream)  # what lay ready was of the old one


@kernel
def branch(game, nodes, waiting, asked, seat, answers_0, answers_1, settings, end):
    """Children of all that waited, from place `end` on: returns where they end."""
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
                        part(nodes.luck[end], j)
                    end += 1
            else:
                j = choose(probs, n, nodes.choice[i])
                descend(game, nodes, i, end, nodes.actions[i, j])
                end += 1
    return end


@kernel
def collect(nodes, end, seat, values_0, values_1, steps_0, steps_1, flipped):
    """Hand values up, and write the samples of both seats.

    Defect 3 of the thesis: a value is the mover's, and changes its sign from a child to its parent, whoever moves
    there. Where turns alternate that comes to the same.
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
