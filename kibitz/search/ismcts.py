"""Information set MCTS, single observer (Cowling, Powley and Whitehouse 2012), the common baseline; and Single UCT.

Each simulation samples a world and walks one tree, whose nodes are the infosets of the *advised* seat. Children are
selected by UCB on how often an action was available. It beats weak players soon and stays exploitable, which OOS
doesn't.

Single UCT (Sievers 2012) differs in three ways: UCB1 counts how often the node was visited, the action of the highest
mean is played, and announcements are chosen by the distribution of scores, unless asked for otherwise.
"""

import math
from dataclasses import replace
from typing import Annotated, Any, NamedTuple

import numpy as np

from ..core.memory import limit as memory_limit
from ..core.names import EXPLORATION
from ..games import Game, full_name, legal_actions, positions
from ..games.protocol import CHANCE, OVER, TooLong, TooManyActions
from ..jit import below, helper, kernel, mix
from .advice import Advice, greedy_advice
from .announcements import Announcements, HowAnnounced, Worlds, announcements_for
from .budget import refuse_beyond
from .determinization import nothing_fits
from .infoset_table import SLOT, clear, find, grow, has_room, new_table, size
from .policies import NO_LIMIT, Uniform
from .search import Search, search

THESIS_C = 16000 / 4120  # Sievers' C of 16,000, whose rewards are 500 * score + points, scaled to rewards from -1 to 1


class Scratch(NamedTuple):
    states: np.ndarray  # [1]
    actions: np.ndarray  # [most] i8
    probs: np.ndarray  # [most] f8: for playout policies
    untried: np.ndarray  # [most] i8
    at: np.ndarray  # [turns] i8: cells of the nodes on the path
    chosen: np.ndarray  # [turns] i8: actions there
    seat: np.ndarray  # [turns] i8: the seat that moved
    notes: np.ndarray  # [game's notes] f8


class InfosetTree(Search):
    """One tree of the advised seat's infosets, with a new world in each simulation. Each move starts a new tree."""

    def __init__(
        self,
        game: Game,
        seed: int,
        exploration: float,
        policy: Any = None,
        by_available: bool = True,
        by_mean: bool = False,
        announcements: Announcements | None = None,
    ) -> None:
        """
        Args:
            exploration: Exploration constant, for rewards from 0 to 1.
            policy: Policy of the playouts; uniform if None.
            by_available: Whether UCB counts how often an action was available; else how often its node was visited.
            by_mean: Whether the action of the highest mean is advised; else the most visited one.
            announcements: Chooses announcements; None: they are moves of the tree.
        """
        super().__init__(game, seed, announcements)
        facts = game.facts
        self.memory = memory_limit()
        self.policy = Uniform() if policy is None else policy
        self.by_available, self.by_mean = by_available, by_mean
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
        self.exploration = float(exploration) * (high - low)
        self.width = 3 * facts.num_actions + 1  # cells per node; the last one counts visits
        self.table = new_table()
        self.view, self.seat = positions(game), 0

    def target(self, view: Any, seat: int) -> None:
        clear(self.table)
        self.view[0], self.seat = view, seat
        _prepare(self.played, self.view, seat, self.scratch.notes)

    def run(self, simulations: int) -> int:
        left = simulations
        while True:
            count = simulate(
                self.played, self.view, self.seat, self.table, self.scratch, self.width, self.exploration,
                self.by_available, self.policy, left, self.rng,
            )  # fmt: skip
            if count < 0:
                raise nothing_fits(self.game, self.seat)
            left -= count
            if left == 0:
                return simulations
            table = grow(self.table, 1, self.width, self.stopped)
            if table is self.table:
                return simulations - left
            self.table = table

    def advice(self, view: Any, simulations: int, seconds: float = 0.0) -> Advice:
        actions = np.array(legal_actions(self.played, view))
        root = self.table.cells[: self.width - 1].reshape(-1, 3)[actions]  # the node that was stored first
        visits = root[:, VISITS].astype(np.int64)
        with np.errstate(invalid="ignore"):
            value = np.where(visits > 0, root[:, TOTAL] / visits, np.nan)
        advice = greedy_advice(actions, value if self.by_mean else visits, value, visits, simulations)
        return replace(advice, averaged=True)

    def refuse_beyond_memory(self, simulations: int) -> None:
        stored = int(self.table.used[0])
        refuse_beyond(self.memory, full_name(self.game), stored, simulations, bytes_per_node(self.game))

    @property
    def bytes(self) -> int:
        return size(self.table)


@search("ismcts")
class IsMcts(InfosetTree):
    """Information set MCTS (Cowling, Powley and Whitehouse 2012): strong against weak players, and exploitable."""

    def __init__(
        self,
        game: Game,
        seed: int = 1,
        c: Annotated[float, "exploration constant, for rewards from 0 to 1", EXPLORATION] = 0.7,
        policy: Any = None,
    ) -> None:
        super().__init__(game, seed, c, policy)


@search("single-uct")
class SingleUct(InfosetTree):
    """Single UCT (Sievers 2012): one tree of the seat's infosets by UCB1, with a new world in each simulation."""

    policy_from = "playouts"
    presets = {"thesis": {"simulations": 10_000, "c": THESIS_C, "announcements": "tree"}}

    def __init__(
        self,
        game: Game,
        seed: int = 1,
        c: Annotated[float, "exploration constant, for rewards from -1 to 1", EXPLORATION] = math.sqrt(2),
        decide: Annotated[
            str, "play the action of the highest mean, or of the most visits", ("mean", "visits")
        ] = "mean",
        announcements: HowAnnounced = "distribution",
        worlds: Worlds = 400,
        policy: Any = None,
    ) -> None:
        choice = announcements_for(game, announcements, worlds)
        super().__init__(game, seed, c / 2, policy, by_available=False, by_mean=decide == "mean", announcements=choice)


def bytes_per_node(game: Game) -> int:
    """An upper bound: slots are half full, and both arrays may just have been doubled."""
    return 4 * SLOT.itemsize + 2 * 8 * (3 * game.facts.num_actions + 1)


# Cells of a node, for each action.
VISITS, AVAILABLE, TOTAL = 0, 1, 2


@kernel
def _prepare(game, view, seat, notes):
    game.prepare(view[0], seat, notes)


@kernel
def simulate(game, view, seat, table, scratch, width, exploration, by_available, policy, count, rng):
    """Do up to `count` simulations; return how many there was room for, -1 if no world fits the view."""
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
    depth, left = 0, len(scratch.at)
    expanded = False
    turn = game.turn(state)
    while turn != OVER and not expanded:
        if left == 0:
            raise TooLong
        left -= 1
        if turn == CHANCE:
            game.play(state, game.sample_action(state, rng))
        else:
            n = game.actions(state, actions)
            for i in range(n):
                if 3 * actions[i] >= width - 1:
                    raise TooManyActions
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
    """Select an action that wasn't tried yet, else the one of the highest upper confidence bound.

    With 0 visits of the node it counts how often each action was available, that is, legal.
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
