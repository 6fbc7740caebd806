"""Information set MCTS, single observer (Cowling, Powley and Whitehouse 2012): the baseline that people know.

Each simulation guesses a full position that fits the view and walks one tree, whose nodes are
what the *asking* seat knows, by UCB on how often an action was available. It beats weak
players soon, and never stops being exploitable: that is what OOS is for.

Single UCT (Sievers 2012) is the same by UCB1, on how often the node was visited. It takes the action of the highest
mean, and weighs up what is said aside instead of searching it, unless asked for.
"""

import math
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..games import Game, full_name, legal_actions, positions
from ..games.game import CHANCE, OVER
from ..jit import below, generators, helper, kernel, mix
from .advice import Advice, fixed_advice
from .announcements import Announcements
from .budget import chunks, max_memory, refuse_beyond
from .determinization import nothing_fits
from .infoset_table import SLOT, clear, find, grow, has_room, new_table, size
from .policies import NO_LIMIT, Uniform


class Scratch(NamedTuple):
    states: np.ndarray  # [1]
    actions: np.ndarray  # [most] i8
    probs: np.ndarray  # [most] f8: for playout policies
    untried: np.ndarray  # [most] i8
    at: np.ndarray  # [turns] i8: cells of the nodes on the way
    chosen: np.ndarray  # [turns] i8: actions there
    seat: np.ndarray  # [turns] i8: who moved
    notes: np.ndarray  # [game's notes] f8


class IsMcts:
    """`advise(view, seat, simulations)` starts a fresh tree each time."""

    by_mean = False  # whether it recommends the action of the highest mean, else the most visited
    by_available = True  # whether UCB counts how often an action was available, else how often the node was visited

    def __init__(self, game: Game, seed: int = 1, exploration: float = 0.7, policy: Any = None) -> None:
        facts = game.facts
        self.memory = max_memory()
        self.game = game
        self.policy = Uniform() if policy is None else policy
        most, turns = max(facts.num_actions, facts.max_chance_outcomes), facts.max_game_length + 1
        self.scratch = Scratch(
            states=np.zeros(1, game.state),
            actions=np.zeros(most, np.int64),
            probs=np.zeros(most),
            untried=np.zeros(most, np.int64),
            at=np.zeros(turns, np.int64),
            chosen=np.zeros(turns, np.int64),
            seat=np.zeros(turns, np.int64),
            notes=np.zeros(facts.notes),
        )
        low, high = facts.rewards
        self.exploration = float(exploration) * (high - low)  # as if rewards were from 0 to 1
        self.width = 3 * facts.num_actions + 1  # cells a node; the last counts visits
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
        """Search until the simulations (0: no limit) or the seconds are used up."""
        began, done = time.perf_counter(), 0
        game = self.game
        actions = np.array(legal_actions(game, view))
        n = len(actions)
        if n == 1:
            return fixed_advice(game, view, np.ones(1))
        refuse_beyond(self.memory, full_name(game), 0, simulations, bytes_a_node(game))
        clear(self.table)
        self.view[0] = view
        _prepare(game, self.view, seat, self.scratch.notes)
        for chunk in chunks(simulations, seconds, progress):
            refuse_beyond(self.memory, full_name(game), int(self.table.used[0]), chunk, bytes_a_node(game))
            self.run(seat, chunk)
            done += chunk
        root = self.table.cells[: self.width - 1].reshape(-1, 3)[actions]  # the first node stored
        visits = root[:, VISITS].astype(np.int64)
        with np.errstate(invalid="ignore"):
            value = np.where(visits > 0, root[:, TOTAL] / visits, np.nan)
        policy = np.zeros(n)
        policy[np.nanargmax(value) if self.by_mean and done else np.argmax(visits)] = 1.0
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
                self.by_available,
                self.policy,
                simulations,
                self.rng,
            )
            if count < 0:
                raise nothing_fits(self.game, seat)
            simulations -= count
            if simulations == 0:
                return
            self.table = grow(self.table, 1, width)

    @property
    def bytes(self) -> int:
        return size(self.table)


class SingleUct(IsMcts):
    """One tree, a new guess each simulation; actions that don't fit it are passed over."""

    by_available = False

    def __init__(
        self,
        game: Game,
        seed: int = 1,
        exploration: float = math.sqrt(2),
        policy: Any = None,
        by_mean: bool = True,
        announcements: Announcements | None = None,
    ) -> None:
        """`exploration` as if rewards were from -1 to 1. With `asides` the tree is of the quiet game."""
        super().__init__(game.without_announcements() if announcements else game, seed, exploration / 2, policy)
        self.by_mean, self.announcements = by_mean, announcements

    def advise(
        self,
        view: Any,
        seat: int,
        simulations: int = 0,
        seconds: float = math.inf,
        progress: Callable[[int], None] = lambda done: None,
    ) -> Advice:
        announcements = self.announcements
        if (
            announcements
            and announcements.game.is_announcement(view)
            and len(legal_actions(announcements.game, view)) > 1
        ):
            return announcements.advise(view, seat, self.rng)
        return super().advise(view, seat, simulations, seconds, progress)


def bytes_a_node(game: Game) -> int:
    """At most: slots are half full and both arrays may just have been doubled."""
    return 4 * SLOT.itemsize + 2 * 8 * (3 * game.facts.num_actions + 1)


# What a node keeps of each action.
VISITS, AVAILABLE, TOTAL = 0, 1, 2


@kernel
def _prepare(game, view, seat, notes):
    game.prepare(view[0], seat, notes)


@kernel
def simulate(game, view, seat, table, scratch, width, exploration, by_available, policy, count, rng):
    """Do up to `count` simulations; returns how many there was room for, -1 if no position fits the view."""
    for done in range(count):
        if not has_room(table.used[0], len(table.slots), 1) or table.used[1] + width > len(table.cells):
            return done
        if not game.determinize(view[0], seat, scratch.notes, rng, scratch.states[0]):
            return -1
        one_simulation(game, scratch.states[0], seat, table, scratch, width, exploration, by_available, policy, rng)
    return count


@helper
def one_simulation(game, state, seat, table, scratch, width, exploration, by_available, policy, rng):
    cells, actions = table.cells, scratch.actions
    depth = 0
    expanded = False
    turn = game.turn(state)
    while turn != OVER and not expanded:
        if turn == CHANCE:
            game.play(state, game.sample_action(state, rng))
        else:
            n = game.actions(state, actions)
            before = table.used[0]
            at = find(table, mix(game.infoset(state, seat), turn), width)
            expanded = table.used[0] > before
            visits = cells[at + width - 1]
            cells[at + width - 1] = visits + 1
            if by_available or visits > 0:
                counted = 0.0 if by_available else visits
                action = select(cells, at, counted, actions, n, scratch.untried, exploration, rng)
            else:  # a new node: its cells needn't be fetched
                action = actions[below(rng, n)]
            scratch.at[depth] = at
            scratch.chosen[depth] = action
            scratch.seat[depth] = turn
            depth += 1
            game.play(state, action)
        turn = game.turn(state)
    policy.playout(game, state, NO_LIMIT, actions, scratch.probs, rng)
    for level in range(depth):
        edge = scratch.at[level] + 3 * scratch.chosen[level]
        cells[edge + VISITS] += 1
        cells[edge + TOTAL] += game.reward(state, scratch.seat[level])


@helper
def select(cells, at, visits, actions, n, untried, exploration, rng):
    """An action not tried yet, else the highest upper confidence bound.

    With 0 visits of the node it counts how often each action was available: whenever it was legal.
    """
    fresh, best, bound = 0, 0, -np.inf
    log = math.log(visits) if visits > 0 else 0.0
    for i in range(n):
        edge = at + 3 * actions[i]
        if visits == 0:
            cells[edge + AVAILABLE] += 1
        tried = cells[edge + VISITS]
        if tried == 0:
            untried[fresh] = actions[i]
            fresh += 1
        elif fresh == 0:
            spread = log if visits > 0 else math.log(cells[edge + AVAILABLE])
            upper = cells[edge + TOTAL] / tried + exploration * math.sqrt(spread / tried)
            if upper > bound:
                best, bound = actions[i], upper
    return untried[below(rng, fresh)] if fresh > 0 else best
