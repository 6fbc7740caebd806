"""Positions for the tests of the contract: random games, and whole trees of small games."""

import functools
import os
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.lib.recfunctions import repack_fields

from kibitz import games, jit
from kibitz.games import CHANCE, OVER, Game
from kibitz.games.game import random_playout

from .facts import ROWS, Row

PER_ROW = int(os.environ.get("KIBITZ_WALKS", "3"))  # `make test-all` has 8
LONG = 100  # turns
MODES = {"pst": games.PST, "ist": games.IST}


def over(rows: list[Row]) -> Any:
    """Parametrize a test over games."""
    return pytest.mark.parametrize("game", [pytest.param(games.load(row.name), id=row.id) for row in rows])


SMALL = {games.full_name(games.load(row.name)) for row in ROWS if row.tree}
every_game = over([row for row in ROWS if not row.heavy])
every_small_game = over([row for row in ROWS if row.tree])
every_game_with_its_own_playout = over(
    [row for row in ROWS if type(games.load(row.name)).random_playout is not random_playout]
)
every_hidden_game = over([row for row in ROWS if not row.heavy and games.load(row.name).facts.hidden])
every_small_hidden_game = over([row for row in ROWS if row.tree and games.load(row.name).facts.hidden])
every_small_encoded_game = over([row for row in ROWS if row.tree and games.load(row.name).facts.encoding])


class Step(NamedTuple):
    state: Any
    turn: int
    actions: list[int]
    action: int  # the action played; -1 at the end


def walk(game: Game, seed: int, state: Any = None) -> list[Step]:
    """A random game to its end, from the start or from a position. Plain Python: see `test_compiled.py`."""
    if state is None and seed < PER_ROW:  # many tests take these
        return [step._replace(state=step.state.copy()) for step in _walk(game, type(game), seed)]
    return _walked(game, seed, games.positions(game)[0] if state is None else state.copy())


@functools.cache
def _walk(game: Game, kind: type, seed: int) -> list[Step]:  # games of two kinds may be equal: they are tuples
    return _walked(game, seed, games.positions(game)[0])


def _walked(game: Game, seed: int, state: Any) -> list[Step]:
    rng = jit.generators(seed, 1)[0]
    steps = []
    while (turn := game.turn(state)) != OVER:
        assert len(steps) < game.facts.max_game_length
        action = int(game.sample_action(state, rng))
        steps.append(Step(state.copy(), turn, games.legal_actions(game, state), action))
        game.play(state, action)
    return [*steps, Step(state, OVER, [], -1)]


def walks(game: Game, count: int = PER_ROW) -> Iterator[list[Step]]:
    """`count` random games; a third of that for long games with many seats."""
    if game.facts.seats > 2 and game.facts.max_game_length > LONG:
        count = -(-count // 3)
    return (walk(game, seed) for seed in range(count))


def all_steps(game: Game, count: int = PER_ROW) -> Iterator[Step]:
    return (step for steps in walks(game, count) for step in steps)


def packed(states: np.ndarray) -> np.ndarray:
    """Records as plain bytes, one item each: the gaps between fields don't count."""
    dense = repack_fields(states.view(np.dtype((np.void, states.dtype))))
    return np.ascontiguousarray(dense).view(f"V{dense.dtype.itemsize}")


def keys_of(states: np.ndarray) -> list[bytes]:
    """A hashable key for each record."""
    return [item.tobytes() for item in packed(states)]


def same(one: Any, two: Any) -> bool:
    """Whether two records are equal, field by field."""
    return all(np.array_equal(one[field], two[field]) for field in one.dtype.names)


def view_of(game: Game, state: Any, seat: int) -> Any:
    view = np.zeros(1, game.state)[0]
    game.look(state, seat, view)
    return view


def public_part(game: Game, state: Any) -> Any:
    """The public part of a position: masked for every seat."""
    for seat in range(game.facts.seats):
        state = view_of(game, state, seat)
    return state


def encoding_of(game: Game, state: Any, seat: int) -> np.ndarray:
    out = np.full(game.facts.encoding, np.nan, np.float32)
    game.observe(state, seat, out)
    return out


def world_of(game: Game, view: Any, seat: int, rng: np.ndarray) -> Any:
    notes, world = np.zeros(game.facts.notes), np.zeros(1, game.state)[0]
    game.prepare(view, seat, notes)
    assert game.determinize(view, seat, notes, rng, world)
    return world


def targeted(game: Game, state: Any, view: Any, seat: int, mode: str) -> tuple[dict[int, bool], int]:
    """Action -> whether `target` keeps it; and the number that `target` returns."""
    legal = np.array(games.legal_actions(game, state))
    keep = np.zeros(len(legal), np.bool_)
    kept = game.target(state, view, seat, MODES[mode], legal, len(legal), keep)
    return dict(zip(legal.tolist(), keep.tolist(), strict=True)), kept


# ---------------------------------------------------------------- whole trees


class Tree(NamedTuple):
    """Every position of a game, parents before children, the children of one side by side."""

    states: np.ndarray
    turns: np.ndarray
    parents: np.ndarray
    actions: np.ndarray  # that led here
    chances: np.ndarray  # product of the chance probabilities on the way
    keys: np.ndarray  # infoset of the seat to move, 0 elsewhere
    depths: np.ndarray  # turns since the start

    def above(self, targets: np.ndarray) -> np.ndarray:
        """Which nodes have a target at or below them."""
        found = targets.copy()
        for node in range(len(found) - 1, 0, -1):
            found[self.parents[node]] |= found[node]
        return found


def tree(game: Game, deepest: int = 99) -> Tree:
    """The positions down to a depth."""
    return _tree(game, type(game), deepest)


@functools.lru_cache(4)
def _tree(game: Game, kind: type, deepest: int) -> Tree:  # games of two kinds may be equal: they are tuples
    room = 1 << 12
    while True:
        kinds = "i8", "i8", "i8", "f8", "u8", "i8"
        columns = Tree(np.zeros(room, game.state), *(np.zeros(room, kind) for kind in kinds))
        count = grow(game, deepest, np.zeros(64, np.int64), np.zeros(64), *columns)
        if count:
            return Tree(*(column[:count] for column in columns))
        room *= 8


@jit.kernel
def grow(game, deepest, legal, probs, states, turns, parents, actions, chances, keys, depths):
    """Fill the columns of a tree. Returns its size, 0 if there isn't room. (What allocates would be compiled twice.)"""
    game.start(states[0])
    chances[0] = 1.0
    node, end = 0, 1
    while node < end:
        turn = game.turn(states[node])
        turns[node] = turn
        if turn != OVER and depths[node] < deepest:
            n = game.actions(states[node], legal)
            if end + n > len(states):
                return 0
            if turn == CHANCE:
                game.chance_probs(states[node], legal, n, probs)
            else:
                probs[:n] = 1.0
                keys[node] = game.infoset(states[node], turn)
            for i in range(n):
                states[end] = states[node]
                game.play(states[end], legal[i])
                parents[end] = node
                depths[end] = depths[node] + 1
                actions[end] = legal[i]
                chances[end] = chances[node] * probs[i]
                end += 1
        node += 1
    return end
