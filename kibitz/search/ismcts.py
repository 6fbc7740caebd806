"""Information set MCTS, single observer (Cowling, Powley and Whitehouse 2012): the baseline that people know.

Each simulation guesses a full position that fits the view and walks one tree, whose nodes are
what the *asking* seat knows, by UCB on how often an action was available. It beats weak
players soon, and never stops being exploitable: that is what OOS is for.
"""

import math
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..games import Game, full_name, positions
from ..games.protocol import CHANCE, OVER
from ..jit import below, generators, helper, kernel, mix
from ..names import BadInput
from .advice import Advice
from .budget import chunks, most_memory, refuse_beyond
from .policies import Uniform
from .table import SLOT, clear, find, grow, has_room, new_table, size


class Scratch(NamedTuple):
    states: np.ndarray  # [1]
    actions: np.ndarray  # [most] i8
    odds: np.ndarray  # [most] f8: for playout policies
    untried: np.ndarray  # [most] i8
    at: np.ndarray  # [turns] i8: cells of the nodes on the way
    chosen: np.ndarray  # [turns] i8: actions there
    seat: np.ndarray  # [turns] i8: who moved
    notes: np.ndarray  # [game's notes] f8


class IsMcts:
    """`advise(view, seat, simulations)` starts a fresh tree each time."""

    def __init__(self, game: Game, seed: int = 1, exploration: float = 0.7, policy: Any = None) -> None:
        facts = game.facts
        self.memory = most_memory()
        self.game = game
        self.policy = Uniform() if policy is None else policy
        most, turns = max(facts.most_actions, facts.most_outcomes), facts.longest + 1
        self.scratch = Scratch(
            states=np.zeros(1, game.state),
            actions=np.zeros(most, np.int64),
            odds=np.zeros(most),
            untried=np.zeros(most, np.int64),
            at=np.zeros(turns, np.int64),
            chosen=np.zeros(turns, np.int64),
            seat=np.zeros(turns, np.int64),
            notes=np.zeros(facts.notes),
        )
        low, high = facts.rewards
        self.exploration = float(exploration) * (high - low)  # as if rewards were from 0 to 1
        self.width = 3 * facts.most_actions  # cells a node
        self.table = new_table()
        self.view = positions(game)
        self.begin(seed)

    def begin(self, seed: int) -> None:
        self.rng = generators(seed, 1)[0]

    def advise(
        self,
        view: Any,
        seat: int,
        simulations: int = 0,
        seconds: float = math.inf,
        progress: Callable[[int], None] = lambda done: None,
    ) -> Advice:
        """Search until the simulations (0: no limit) or the seconds are used up; recommend the most visited action."""
        began, done = time.perf_counter(), 0
        game, width = self.game, self.width
        refuse_beyond(self.memory, full_name(game), 0, simulations, bytes_a_node(game))
        clear(self.table)
        self.view[0] = view
        game.prepare(view, seat, self.scratch.notes)
        for chunk in chunks(simulations, seconds, progress):
            refuse_beyond(self.memory, full_name(game), int(self.table.used[0]), chunk, bytes_a_node(game))
            self.run(seat, chunk)
            done += chunk
        actions = np.zeros(game.facts.most_actions, np.int64)
        n = game.actions(view, actions)
        actions = actions[:n]
        root = self.table.cells[:width].reshape(-1, 3)[actions]  # the first node stored
        visits = root[:, VISITS].astype(np.int64)
        policy = np.zeros(n)
        policy[np.argmax(visits)] = 1.0
        with np.errstate(invalid="ignore"):
            value = np.where(visits > 0, root[:, TOTAL] / visits, np.nan)
        return Advice(actions, policy, value, visits, np.full(n, 1 / n), done, time.perf_counter() - began)

    def run(self, seat: int, simulations: int) -> None:
        """More simulations from the view at hand."""
        width = self.width
        while True:
            count = simulate(
                self.game,
                self.view,
                seat,
                self.table,
                self.scratch,
                width,
                self.exploration,
                self.policy,
                simulations,
                self.rng,
            )
            if count < 0:
                raise BadInput("no position fits the view")
            simulations -= count
            if simulations == 0:
                return
            self.table = grow(self.table, 1, width)

    @property
    def bytes(self) -> int:
        return size(self.table)


def bytes_a_node(game: Game) -> int:
    """At most: slots are half full and both arrays may just have been doubled."""
    return 4 * SLOT.itemsize + 2 * 3 * 8 * game.facts.most_actions


# What a node keeps of each action.
VISITS, AVAILABLE, TOTAL = 0, 1, 2


@kernel
def simulate(game, view, seat, table, scratch, width, exploration, policy, count, rng):
    """Do up to `count` simulations; returns how many there was room for, -1 if no position fits the view."""
    for done in range(count):
        if not has_room(table.used[0], len(table.slots), 1) or table.used[1] + width > len(table.cells):
            return done
        if not game.guess(view[0], seat, scratch.notes, rng, scratch.states[0]):
            return -1
        one_simulation(game, scratch.states[0], seat, table, scratch, width, exploration, policy, rng)
    return count


@helper
def one_simulation(game, state, seat, table, scratch, width, exploration, policy, rng):
    cells, actions = table.cells, scratch.actions
    depth = 0
    expanded = False
    turn = game.turn(state)
    while turn != OVER and not expanded:
        if turn == CHANCE:
            game.play(state, game.pick(state, rng))
        else:
            n = game.actions(state, actions)
            before = table.used[0]
            at = find(table, mix(game.infoset(state, seat), turn), width)
            expanded = table.used[0] > before
            action = select(cells, at, actions, n, scratch.untried, exploration, rng)
            scratch.at[depth] = at
            scratch.chosen[depth] = action
            scratch.seat[depth] = turn
            depth += 1
            game.play(state, action)
        turn = game.turn(state)
    while turn != OVER:
        if turn == CHANCE:
            game.play(state, game.pick(state, rng))
        else:
            game.play(state, policy.step(game, state, actions, scratch.odds, rng))
        turn = game.turn(state)
    for level in range(depth):
        edge = scratch.at[level] + 3 * scratch.chosen[level]
        cells[edge + VISITS] += 1
        cells[edge + TOTAL] += game.reward(state, scratch.seat[level])


@helper
def select(cells, at, actions, n, untried, exploration, rng):
    """An action not tried yet, else the highest upper confidence bound. All that are legal count as available."""
    fresh, best, bound = 0, 0, -np.inf
    for i in range(n):
        edge = at + 3 * actions[i]
        cells[edge + AVAILABLE] += 1
        visits = cells[edge + VISITS]
        if visits == 0:
            untried[fresh] = actions[i]
            fresh += 1
        elif fresh == 0:
            upper = cells[edge + TOTAL] / visits + exploration * math.sqrt(math.log(cells[edge + AVAILABLE]) / visits)
            if upper > bound:
                best, bound = actions[i], upper
    return untried[below(rng, fresh)] if fresh > 0 else best
