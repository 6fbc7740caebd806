"""Information set MCTS for an exploiter: the other seats are known to follow a policy, so they are no choice of a tree.

Worlds are weighted by Bayes' rule: the probability of the chance outcomes on the way to the view, times that of the
other seats' moves by their policy. In a simulation they draw their moves from it too. What is left is a problem of one
agent with hidden states, and this is its UCT (POMCP, Silver and Veness 2010): with enough simulations it finds a best
response at every view.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..core.progress import Reporter
from ..games import IST, Game
from ..games.protocol import CHANCE, OVER, TooLong
from ..jit import below, copy_record, helper, kernel, mix, uniform
from .advice import Advice
from .determinization import sample_worlds
from .infoset_table import Table, clear, find, grow, has_room, new_table, slot_of
from .ismcts import TOTAL, VISITS, InfosetTree, select
from .policies import policy as compiled_policy

C = 1.0  # exploration constant, for payoffs from 0 to 1: high, as values rise once the moves below are known
WORLDS = 1000  # weighted worlds per search
CHUNK = 250  # simulations between two calls for missing probabilities
RESTARTS = 3  # of a search that met many views with unknown probabilities
KNOWN = 0.01  # share of simulations that may meet one
MISSING = 4096  # views that wait for their probabilities, at most

Ask = Callable[[np.ndarray], np.ndarray]  # views -> [views, num_actions] f8, legal actions in order, then zeros


@compiled_policy
class TablePolicy(NamedTuple):
    """Probabilities by infoset, of a player that kernels can't call. Where they are missing it plays uniformly."""

    table: Table  # num_actions cells per infoset; all 0 while they are missing
    missing: np.ndarray  # [room] records: views without probabilities
    waiting: np.ndarray  # [1] i8: how many

    def weigh(self, game, state, actions, n, probs):
        turn = game.turn(state)
        key = mix(game.infoset(state, turn), turn)
        i, cells = slot_of(self.table.slots, key), self.table.cells
        at, known = np.int64(self.table.slots[i].at), 0.0
        if self.table.slots[i].key == key:
            for j in range(n):
                probs[j] = cells[at + j]
                known += probs[j]
        elif self.waiting[0] < len(self.missing) and find(self.table, key, len(actions)) >= 0:
            game.look(state, turn, self.missing[self.waiting[0]])
            self.waiting[0] += 1
        if known == 0.0:
            for j in range(n):
                probs[j] = 1.0 / n


def new_table_policy(game: Game) -> TablePolicy:
    """A policy that knows nothing yet, with room for `MISSING` views."""
    most = max(game.facts.num_actions, game.facts.max_chance_outcomes)
    table = grow(new_table(), MISSING, MISSING * most)
    return TablePolicy(table, np.zeros(MISSING, game.state), np.zeros(1, np.int64))


class ResponseTree(InfosetTree):
    """One tree of the exploiter's own infosets. Each move starts a new one."""

    def __init__(
        self, game: Game, seed: int, model: Any, own: Any, ask: Ask | None = None, c: float = C, worlds: int = WORLDS
    ) -> None:
        """
        Args:
            model: Compiled policy of the other seats.
            own: Compiled policy of the exploiter's moves below the tree.
            ask: Gives the probabilities that a `TablePolicy` as model lacks.
            c: Exploration constant, for payoffs from 0 to 1.
            worlds: Number of weighted worlds per search.
        """
        super().__init__(game, seed, c, own, by_available=False)
        low, high = game.facts.payoffs
        self.exploration = c * (high - low)
        self.model, self.ask = model, ask
        self.worlds, self.weights = np.zeros(worlds, game.state), np.zeros(worlds)
        self.keep = np.zeros(len(self.scratch.actions), np.bool_)

    def target(self, view: Any, seat: int) -> None:
        """Draw the weighted worlds of a view."""
        self.view[0], self.seat = view, seat
        targeted = "ist" in self.game.facts.targets
        for _ in range(1 + self.game.facts.max_game_length):  # each time further probabilities are known
            draw_worlds(
                self.game, self.view, seat, targeted, self.model, self.scratch.actions, self.scratch.probs, self.keep,
                self.worlds, self.weights, self.rng,
            )  # fmt: skip
            if not self.learn_model():
                break
        if not self.weights.sum() > 0:  # the player never plays so, or worlds are too rare to be met
            self.worlds[:] = sample_worlds(self.game, view, seat, len(self.worlds), self.rng)
            self.weights[:] = 1

    def learn_model(self) -> int:
        """Ask for the probabilities that were missing; return of how many views."""
        if self.ask is None:
            return 0
        count = int(self.model.waiting[0])
        if count:
            views = self.model.missing[:count]
            fill(self.game, views, self.ask(views), self.model.table, len(self.scratch.actions))
            self.model.waiting[0] = 0
        table = grow(self.model.table, MISSING, MISSING * len(self.scratch.actions))
        self.model = self.model._replace(table=table)
        return count

    def run(self, simulations: int) -> int:
        left, up_to = simulations, np.cumsum(self.weights)
        while left:
            count = simulate(
                self.game, self.worlds, up_to, self.seat, self.table, self.scratch, self.width, self.exploration,
                self.model, self.policy, left if self.ask is None else min(left, CHUNK), self.rng,
            )  # fmt: skip
            left -= count
            self.met += self.learn_model()
            if not count:
                self.table = grow(self.table, 1, self.width)
        return simulations

    def _advise(self, view: Any, seat: int, simulations: int, seconds: float, report: Reporter) -> Advice:
        self.target(view, seat)
        for _ in range(RESTARTS):
            clear(self.table)
            self.met = 0
            self.run(simulations)
            if self.met <= KNOWN * simulations:
                break
        return self.advice(view, simulations)


@kernel
def draw_worlds(game, view, seat, targeted, model, actions, probs, keep, worlds, weights, rng):
    """Draw worlds of a view, each with a weight, by playing from the start with moves that can lead to the view.

    The weight is the probability that chance and the other seats play such a move, turn by turn, so that weighted
    worlds have the probabilities of Bayes' rule. A world that misses the view has the weight 0.
    """
    key = game.infoset(view[0], seat)
    for k in range(len(worlds)):
        state, weight, turns = worlds[k], 1.0, 0
        game.start(state)
        turn = game.turn(state)
        while weight > 0 and not (turn == seat and game.infoset(state, seat) == key):
            if turn == OVER:
                weight = 0.0
                break
            if turns == ENDLESS:
                raise TooLong
            turns += 1
            n = game.actions(state, actions)
            if turn == CHANCE:
                game.chance_probs(state, actions, n, probs)
            elif turn == seat:
                for j in range(n):
                    probs[j] = 1.0
            else:
                model.weigh(game, state, actions, n, probs)
            for j in range(n):
                keep[j] = True
            if targeted:
                game.target(state, view[0], seat, IST, actions, n, keep)
            total = 0.0
            for j in range(n):
                if not keep[j]:
                    probs[j] = 0.0
                total += probs[j]
            weight *= total
            if total > 0:
                game.play(state, actions[draw_weighted(probs, n, total, rng)])
                turn = game.turn(state)
        weights[k] = weight


ENDLESS = 100_000  # turns of a game


@helper
def draw_weighted(probs, n, total, rng):
    """Draw an index by its probability; probabilities sum to `total`."""
    left, last = uniform(rng) * total, 0
    for j in range(n):
        if probs[j] > 0:
            last = j
            left -= probs[j]
            if left < 0:
                return j
    return last


@kernel
def simulate(game, worlds, up_to, seat, table, scratch, width, exploration, model, own, count, rng):
    """Do up to `count` simulations, each from a world drawn by its weight; return how many there was room for."""
    for done in range(count):
        if not has_room(table.used[0], len(table.slots), 1) or table.used[1] + width > len(table.cells):
            return done
        drawn = np.searchsorted(up_to, uniform(rng) * up_to[-1], side="right")
        state = scratch.states[0]
        copy_record(state, worlds[min(drawn, len(worlds) - 1)])
        one_simulation(game, state, seat, table, scratch, width, exploration, model, own, rng)
    return count


@helper
def one_simulation(game, state, seat, table, scratch, width, exploration, model, own, rng):
    """Select among the exploiter's actions by UCB1 down to a new node; then follow the policies to the end."""
    cells, actions, depth, expanded = table.cells, scratch.actions, 0, False
    turn = game.turn(state)
    while turn != OVER:
        if turn == CHANCE:
            action = game.sample_action(state, rng)
        elif turn != seat:
            action = model.step(game, state, actions, scratch.probs, rng)
        elif expanded:
            action = own.step(game, state, actions, scratch.probs, rng)
        else:
            if depth == len(scratch.at):
                raise TooLong
            n, before = game.actions(state, actions), table.used[0]
            at = find(table, mix(game.infoset(state, seat), turn), width)
            expanded = table.used[0] > before
            visits = cells[at + width - 1]
            cells[at + width - 1] = visits + 1
            if expanded:
                action = actions[below(rng, n)]
            else:
                action = select(cells, at, visits, actions, n, scratch.untried, exploration, rng)
            scratch.at[depth] = at
            scratch.chosen[depth] = action
            depth += 1
        game.play(state, action)
        turn = game.turn(state)
    backward(cells, scratch, depth, width, game.payoff(state, seat))


@helper
def backward(cells, scratch, depth, width, value):
    """Count a payoff at all nodes of the path, from the last to the first.

    Where an action was only tried, the node before gets the value of the most visited one instead: the exploiter would
    play that. Plain means are too low where much is tried below (the maximum backups of Khandelwal et al. 2016).
    """
    for level in range(depth - 1, -1, -1):
        at, chosen = scratch.at[level], scratch.chosen[level]
        cells[at + 3 * chosen + VISITS] += 1
        cells[at + 3 * chosen + TOTAL] += value
        best = chosen
        for action in range((width - 1) // 3):
            if cells[at + 3 * action + VISITS] > cells[at + 3 * best + VISITS]:
                best = action
        if best != chosen:
            value = cells[at + 3 * best + TOTAL] / cells[at + 3 * best + VISITS]


@kernel
def fill(game, views, probs, table, width):
    """Write the probabilities of views into a table."""
    for i in range(len(views)):
        turn = game.turn(views[i])
        at = find(table, mix(game.infoset(views[i], turn), turn), width)
        for j in range(probs.shape[1]):
            table.cells[at + j] = probs[i, j]
