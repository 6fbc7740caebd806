"""Monte Carlo CFR (Lanctot et al. 2009), on the rules themselves: the game need not be enumerated.

External sampling tries every action of the updating seat and samples the rest. Outcome sampling samples one game, in
which the updating seat explores with probability epsilon. In both, the average strategy is updated at the infosets of
the other seat. An iteration updates both seats.
"""

from typing import Any, NamedTuple

import numpy as np

from ..games import Game, positions
from ..games.protocol import CHANCE, OVER, SCRATCH, TooLong
from ..games.zero_sum import two_seats_zero_sum
from ..jit import below, generators, helper, kernel, uniform
from ..search.infoset_table import find, grow, has_room, new_table, size
from ..search.policies import choose
from ..search.strategy import Strategy, from_table
from .regrets import match

EXPLORATION = 0.6


class Path(NamedTuple):
    """The path of one game: one row per turn of the updating seat."""

    states: np.ndarray  # [turns + 1] positions; outcome sampling uses row 0 alone
    actions: np.ndarray  # [turns + 1, most] i8
    probs: np.ndarray  # [turns + 1, most] f8: the strategy there
    values: np.ndarray  # [turns + 1, most] f8: external sampling, value of each action
    at: np.ndarray  # [turns + 1] i8: where the infoset's cells begin
    n: np.ndarray  # [turns + 1] i8: number of actions
    chosen: np.ndarray  # [turns + 1] i8: the action that is sampled, or tried at the moment
    chance: np.ndarray  # [turns + 1] f8: outcome sampling, its probability under the strategy
    cursor: np.ndarray  # [2] i8: depth of external sampling (-1: between traversals), seat


def new_path(game: Game) -> Path:
    rows, most = (
        game.facts.max_game_length + 2,
        min(SCRATCH, max(game.facts.num_actions, game.facts.max_chance_outcomes)),
    )
    return Path(
        states=np.zeros(rows, game.state),
        actions=np.zeros((rows, most), np.int64),
        probs=np.zeros((rows, most)),
        values=np.zeros((rows, most)),
        at=np.zeros(rows, np.int64),
        n=np.zeros(rows, np.int64),
        chosen=np.zeros(rows, np.int64),
        chance=np.zeros(rows),
        cursor=np.array([-1, 0]),
    )


class _Sampling:
    """`run(n)` does n iterations; `strategy()` is the average strategy."""

    def __init__(self, game: Game, seed: int = 1) -> None:
        two_seats_zero_sum(game, type(self).__name__)
        self.game = game
        self.iterations = 0
        self.table = new_table()
        self.root = positions(game)
        self.rng = generators(seed, 1)[0]
        self.path = new_path(game)
        self.room = len(self.path.n), 2 * self.path.probs.size  # infosets and cells that one game may add

    def run(self, iterations: int) -> None:
        left = 2 * iterations
        while left > 0:
            left -= self._traverse(left)
            if left > 0:
                self.table = grow(self.table, *self.room)
        self.iterations += iterations

    def _traverse(self, count: int) -> int:
        raise NotImplementedError

    def strategy(self) -> Strategy:
        return from_table(self.game, self.table)

    @property
    def bytes(self) -> int:
        return size(self.table)


class OutcomeSampling(_Sampling):
    def _traverse(self, count: int) -> int:
        return sample_outcomes(self.game, self.root, self.table, self.path, count, EXPLORATION, self.rng)


class ExternalSampling(_Sampling):
    def _traverse(self, count: int) -> int:
        return sample_external(self.game, self.root, self.table, self.path, count, self.rng)


SAMPLERS: dict[str, Any] = {"outcome": OutcomeSampling, "external": ExternalSampling}


@kernel
def sample_outcomes(game, root, table, path, count, exploration, rng):
    """Play up to `count` games, updating the seats by turns; return how many there was room for."""
    # Taken out of the loop: a view of a row costs more than everything that is done with it.
    state, actions, probs = path.states[0], path.actions[0], path.probs[0]
    for done in range(count):
        # Room for all infosets of one game, so that it is never cut off half-way.
        cells = table.used[1] + 2 * path.probs.size
        if not has_room(table.used[0], len(table.slots), len(path.n)) or cells > len(table.cells):
            return done
        path.states[0] = root[0]
        outcome(game, table, path, path.cursor[1], exploration, rng, state, actions, probs)
        path.cursor[1] = 1 - path.cursor[1]
    return count


@helper
def outcome(game, table, path, seat, exploration, rng, state, actions, probs):
    """Play one game from `state`, and update the regrets of `seat`."""
    cells = table.cells
    depth = 0
    reach = 1.0  # sampling probability of the updating seat's moves; all others' probabilities cancel out
    left = len(path.n)
    while True:
        if left == 0:
            raise TooLong
        left -= 1
        turn = game.turn(state)
        if turn == CHANCE:
            game.play(state, game.sample_action(state, rng))
            continue
        if turn == OVER:
            break
        n = game.actions(state, actions)
        at = find(table, game.infoset(state, turn), 2 * n)
        match(cells, at, n, probs)
        if turn == seat:
            i = below(rng, n) if uniform(rng) < exploration else choose(probs, n, rng)
            reach *= exploration / n + (1.0 - exploration) * probs[i]
            path.at[depth] = at
            path.n[depth] = n
            path.chosen[depth] = i
            path.chance[depth] = probs[i]
            depth += 1
        else:
            i = choose(probs, n, rng)
            weight = 1.0 / reach
            for j in range(n):
                cells[at + n + j] += probs[j] * weight
        game.play(state, actions[i])
    # Backwards: the value of each action, weighted by the probabilities of the updating seat's later moves.
    tail = game.payoff(state, seat) / reach
    for level in range(depth - 1, -1, -1):
        at, i = path.at[level], path.chosen[level]
        ahead = tail
        tail *= path.chance[level]
        for j in range(path.n[level]):
            cells[at + j] -= tail
        cells[at + i] += ahead


@kernel
def sample_external(game, root, table, path, count, rng):
    """Do up to `count` traversals, updating the seats by turns; return how many were finished.

    Where the table is full it stops in the middle, and resumes there in the next call.
    """
    cells = table.cells
    for done in range(count):
        if path.cursor[0] < 0:
            path.states[0] = root[0]
            path.cursor[0] = 0
        if not external(game, table, path, rng, cells):
            return done
        path.cursor[1] = 1 - path.cursor[1]
    return count


@helper
def external(game, table, path, rng, cells):
    seat, depth = path.cursor[1], path.cursor[0]
    while depth >= 0:
        state = path.states[depth]
        actions, probs = path.actions[depth], path.probs[depth]
        turn = game.turn(state)
        left = len(path.n)
        while turn != OVER:
            if left == 0 or depth + 1 == len(path.n):
                raise TooLong
            left -= 1
            if turn == CHANCE:
                game.play(state, game.sample_action(state, rng))
            else:
                n = game.actions(state, actions)
                at = find(table, game.infoset(state, turn), 2 * n)
                if at < 0:
                    path.cursor[0] = depth
                    return False
                match(cells, at, n, probs)
                if turn == seat:  # try every action: the next one always in the row below
                    path.at[depth] = at
                    path.n[depth] = n
                    path.chosen[depth] = 0
                    depth += 1
                    path.states[depth] = state
                    state = path.states[depth]
                    game.play(state, actions[0])
                    actions, probs = path.actions[depth], path.probs[depth]
                else:
                    for j in range(n):
                        cells[at + n + j] += probs[j]
                    game.play(state, actions[choose(probs, n, rng)])
            turn = game.turn(state)
        value = game.payoff(state, seat)
        # Hand the value up until some infoset has an action left to try.
        depth -= 1
        while depth >= 0:
            i, n = path.chosen[depth], path.n[depth]
            path.values[depth, i] = value
            if i + 1 < n:
                path.chosen[depth] = i + 1
                path.states[depth + 1] = path.states[depth]
                game.play(path.states[depth + 1], path.actions[depth, i + 1])
                depth += 1
                break
            value = 0.0
            for j in range(n):
                value += path.probs[depth, j] * path.values[depth, j]
            at = path.at[depth]
            for j in range(n):
                cells[at + j] += path.values[depth, j] - value
            depth -= 1
    path.cursor[0] = -1
    return True
