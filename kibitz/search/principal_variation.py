"""Principal variation search (Marsland and Campbell 1982) to a depth: the kernel of `alphabeta`.

Late moves are searched less deeply, and captures to their end. Moves are ordered by the transposition table, captures,
killer moves, refutations of the move before and the history heuristic (Schaeffer 1989). Positions at the horizon are
valued by an evaluation, or as draws. With an evaluation, moves that are unlikely to matter are left out near the
horizon, and where the game's tactics (see `tactics`) can pass, so is a position that is good enough even after a pass
(Goetsch and Campbell 1990).

The kernel keeps its path on an explicit stack, so that it can stop after any number of nodes and go on later.
"""

import functools
import math
from typing import Any, NamedTuple

import numpy as np

from ..games import positions
from ..games.game import OVER
from ..jit import generators, hash_record, helper, kernel, long_helper, record

TIE = 1e-9  # width of a null window

# Where to go on.
AT, NODES = 0, 1
# Windows with which a child is searched.
FULL, NULL, REDUCED, SKIP = 0, 1, 2, 3
# Bounds in the table, as bits; complete: independent of the depth, since no position at the horizon was valued.
UPPER, LOWER, COMPLETE = 1, 2, 4
# Order of moves.
FROM_TABLE, CAPTURE, KILLER, REFUTATION = 1 << 60, 1 << 50, 1 << 40, 1 << 39
# Forward pruning, in values from -1 to 1.
GOOD_ENOUGH = 5, 0.1  # the most plies left, and by how much per ply a position must be better than beta
HOPELESS = 3, 0.1  # the same for quiet moves where a position is worse than alpha
FEW_MOVES = 4  # quiet moves beyond 4 + depth * depth are left out up to this depth
SKIP_DEPTH = 3  # the least depth at which passing is tried

ENTRY = record(("key", "u8"), ("value", "f8"), ("move", "i4"), ("depth", "i2"), ("bound", "u1"), ("age", "u1"))


class Frames(NamedTuple):
    """One row per ply of the present path. Values and windows are those of the seat to move there."""

    states: np.ndarray  # [plies] positions
    actions: np.ndarray  # [plies, most] i8
    order: np.ndarray  # [plies, most] i8: the highest is tried first
    n: np.ndarray  # [plies] i8; -1: not entered yet
    next: np.ndarray  # [plies] i8: number of actions tried
    turn: np.ndarray  # [plies] i8
    depth: np.ndarray  # [plies] i8: plies left; 0 and below: captures only
    low: np.ndarray  # [plies] f8: alpha
    high: np.ndarray  # [plies] f8: beta
    first_low: np.ndarray  # [plies] f8: alpha at the beginning
    best: np.ndarray  # [plies] f8
    chosen: np.ndarray  # [plies] i8: the action of the best value; -1: none yet
    complete: np.ndarray  # [plies] b1: whether the value so far is independent of the depth
    key: np.ndarray  # [plies] u8
    window: np.ndarray  # [plies] i8: of the child that is searched
    static: np.ndarray  # [plies] f8: the evaluation; NaN: not evaluated


class Memory(NamedTuple):
    table: np.ndarray  # [entries] ENTRY; entries 2i and 2i + 1 share an index: the deepest, and the latest
    age: np.ndarray  # [1] i8: number of searches
    history: np.ndarray  # [2, actions] i8: by seat
    killers: np.ndarray  # [plies, 2] i8: the latest two moves that refuted a move into this ply
    refutations: np.ndarray  # [actions] i8: the latest move that refuted each
    root_value: np.ndarray  # [actions] f8: NaN: only a bound is known
    root_nodes: np.ndarray  # [actions] i8
    now: np.ndarray  # [2] i8: AT, NODES


class Settings(NamedTuple):
    strict: bool  # the plain value of the depth: nothing reduced or deepened, every move of the root by a full window
    captures: bool  # whether pieces capture by moving onto another
    places: np.ndarray  # [cells] i8: the bit of each cell
    win: float  # highest payoff
    prune: bool  # whether there is an evaluation to prune by
    reductions: np.ndarray  # [depth, moves before] i8


def reductions() -> np.ndarray:
    """[depth, moves before] i8: how many plies less a quiet move is searched."""
    depth, before = np.arange(64)[:, None], np.arange(256)[None]
    table = 0.3 + np.log(np.maximum(depth, 1)) * np.log(np.maximum(before, 1)) / 2.0
    return np.where((depth < 3) | (before < 3), 0, table).astype(np.int64)


@functools.lru_cache(64, typed=True)
def captures_of(game: Any) -> tuple[bool, np.ndarray]:
    """Whether pieces capture by moving onto others, seen in a few random games; and the bit of each cell."""
    if not hasattr(game, "board"):
        return False, np.zeros(1, np.int64)
    cells = len(game.board().places)
    places = np.array(game.places() if hasattr(game, "places") else range(cells), np.int64)
    rng = generators(1, 1)[0]
    for _ in range(3):
        state, moved = positions(game)[0], False
        while game.turn(state) != OVER:
            action = game.sample_action(state, rng)
            if captures_on(game, state, action, game.turn(state), places):
                return True, places
            moved = moved or game.from_to(state, action)[0] >= 0
            game.play(state, action)
        if not moved:  # stones are only placed
            break
    return False, places


@helper
def captures_on(game, state, action, turn, places):
    """Whether an action moves a piece onto one of the other seat's."""
    start, to = game.from_to(state, action)
    if start < 0 or to < 0:
        return False
    place = places[to]
    return (game.pieces(state, 1 - turn, place >> 6) >> np.uint64(place & 63)) & np.uint64(1) != 0


@helper
def start(frames, memory, depth, low, high):
    """Prepare the search of states[0] to a depth."""
    frames.n[0], frames.depth[0], frames.chosen[0] = -1, depth, -1
    frames.low[0], frames.high[0] = low, high
    memory.root_value[:] = math.nan
    memory.root_nodes[:] = 0
    memory.now[AT] = 0


@kernel
def search_on(game, evaluation, tactics, frames, memory, settings, limit):
    """Go on with the search of states[0] until it is finished, then return True, or until `limit` nodes."""
    at = memory.now[AT]
    while True:
        value, complete, closed = 0.0, False, False  # of seat 0
        if frames.n[at] < 0:
            if memory.now[NODES] >= limit:
                memory.now[AT] = at
                return False
            memory.now[NODES] += 1
            value, complete, closed = enter(game, evaluation, tactics, frames, memory, settings, at)
        if not closed and frames.next[at] < frames.n[at] and descend(game, tactics, frames, memory, settings, at):
            at += 1
            continue
        if not closed:
            value, complete = close(frames, memory, at)
        if at == 0:
            frames.best[0] = value if frames.turn[0] == 0 else -value
            memory.now[AT] = 0
            return True
        at -= 1
        if again(frames, settings, at, value):
            at += 1
        else:
            receive(frames, memory, settings, at, value, complete)


@helper
def evaluate(game, evaluation, settings, state, turn):
    """The value of a position for the seat to move; less than a win."""
    value = min(max(evaluation.leaf_value(game, state), -1.0), 1.0) * settings.win * (1.0 - 1e-6)
    return value if turn == 0 else -value


@long_helper
def enter(game, evaluation, tactics, frames, memory, settings, at):
    """List and order the moves of a new node: value of seat 0, whether complete, whether that is all."""
    state = frames.states[at]
    turn = game.turn(state)
    if turn == OVER:
        return game.payoff(state, 0), True, True
    depth, sign = frames.depth[at], 1.0 if turn == 0 else -1.0
    frames.turn[at], frames.next[at], frames.chosen[at] = turn, 0, -1
    frames.best[at], frames.complete[at] = -math.inf, True
    frames.key[at], frames.static[at] = 0, math.nan
    actions, order = frames.actions[at], frames.order[at]
    hint, urgent, threatened = -1, np.uint64(0), False
    if at > 0 and not settings.strict:
        if tactics.tactics_win(game, state):
            return sign * settings.win, True, True
        urgent = tactics.tactics_urgent(game, state)
        threatened = urgent != 0 or tactics.tactics_threatened(game, state)
        if at <= 2 * frames.depth[0] and ((urgent != 0 and depth > 0) or (threatened and depth <= 0)):
            depth = depth + 1 if depth > 0 else 1
            frames.depth[at] = depth
    if depth <= 0:
        if at == len(frames.n) - 1:
            return sign * evaluate(game, evaluation, settings, state, turn), False, True
        if urgent == 0:
            value = evaluate(game, evaluation, settings, state, turn)
            if not settings.captures or value >= frames.high[at]:
                return sign * value, False, True
            frames.best[at], frames.complete[at] = value, False
            frames.low[at] = max(frames.low[at], value)
    else:
        key = hash_record(state)
        frames.key[at] = key
        place = 2 * np.int64(key % np.uint64(len(memory.table) // 2))
        for i in range(place, place + 2):
            entry = memory.table[i]
            if entry.key != key:
                continue
            hint = np.int64(entry.move)
            bound, whole = np.int64(entry.bound), np.int64(entry.bound) & COMPLETE != 0
            if settings.strict:
                fits = entry.depth == depth or (whole and entry.depth <= depth)
            else:
                fits = entry.depth >= depth or whole
            if at > 0 and fits:
                mine = entry.value
                exact = bound & UPPER != 0 and bound & LOWER != 0
                if (
                    exact
                    or (bound & LOWER != 0 and mine >= frames.high[at])
                    or (bound & UPPER != 0 and mine <= frames.low[at])
                ):
                    return sign * mine, whole, True
            break
        if settings.prune and at > 0 and not threatened and frames.high[at] - frames.low[at] <= 2 * TIE:
            static = evaluate(game, evaluation, settings, state, turn)
            frames.static[at] = static
            if depth <= GOOD_ENOUGH[0] and static - GOOD_ENOUGH[1] * depth >= frames.high[at]:
                return sign * static, False, True
            if tactics.may_skip and depth >= SKIP_DEPTH and static >= frames.high[at] and frames.window[at - 1] != SKIP:
                frames.next[at] = -1
    frames.first_low[at] = frames.low[at]
    n, kept = game.actions(state, actions), 0
    before = frames.actions[at - 1, frames.next[at - 1] - 1] if at > 0 and frames.window[at - 1] != SKIP else -1
    refutation = memory.refutations[before] if before >= 0 else -1
    for i in range(n):
        action = actions[i]
        takes = settings.captures and captures_on(game, state, action, turn, settings.places)
        if urgent != 0:
            _, to = game.from_to(state, action)
            if urgent != np.uint64(1) << np.uint64(settings.places[to]):
                continue
        elif depth <= 0 and not takes:
            continue
        actions[kept] = action
        if action == hint:
            order[kept] = FROM_TABLE
        elif takes:
            order[kept] = CAPTURE + memory.history[turn, action]
        elif action == memory.killers[at, 0] or action == memory.killers[at, 1]:
            order[kept] = KILLER
        elif action == refutation:
            order[kept] = REFUTATION
        else:
            order[kept] = memory.history[turn, action]
        kept += 1
    if urgent != 0 and kept == 0:
        return -sign * settings.win, True, True
    frames.n[at] = kept
    return 0.0, False, False


@helper
def descend(game, tactics, frames, memory, settings, at):
    """Choose the next move of a node and prepare the node below; False: the moves that are left are not searched."""
    i, n, depth = frames.next[at], frames.n[at], frames.depth[at]
    low, high, reduced = frames.low[at], frames.high[at], 0
    if i < 0:
        frames.next[at], frames.window[at] = 0, SKIP
        frames.states[at + 1] = frames.states[at]
        tactics.tactics_skip(game, frames.states[at + 1])
        prepare(frames, at, game.turn(frames.states[at + 1]), high - TIE, high, depth - 3 - depth // 4)
        return True
    actions, order = frames.actions[at], frames.order[at]
    top = i
    for j in range(i + 1, n):
        if order[j] > order[top]:
            top = j
    action, rank = actions[top], order[top]
    static = frames.static[at]
    if rank < REFUTATION and not math.isnan(static) and frames.best[at] > -settings.win and i > 0:
        few = depth <= FEW_MOVES and i >= 4 + depth * depth
        if few or (depth <= HOPELESS[0] and static + HOPELESS[1] * (1 + depth) <= low):
            frames.n[at], frames.complete[at] = i, False
            return False
    while top > i:  # those before it keep their order
        actions[top], order[top] = actions[top - 1], order[top - 1]
        top -= 1
    actions[i], order[i] = action, rank
    frames.next[at] = i + 1
    frames.states[at + 1] = frames.states[at]
    game.play(frames.states[at + 1], action)
    if at == 0:
        memory.root_nodes[action] = -memory.now[NODES]
    if (settings.strict and at == 0) or i == 0 or depth <= 0 or low == -math.inf:
        frames.window[at] = FULL
    else:
        frames.window[at] = NULL
        high = min(high, low + TIE)
        if not settings.strict and rank < KILLER:
            reduced = settings.reductions[min(depth, 63), min(i, 255)]
            if reduced > 0:
                frames.window[at] = REDUCED
                reduced = min(reduced, depth - 2)
    prepare(frames, at, game.turn(frames.states[at + 1]), low, high, depth - 1 - reduced)
    return True


@helper
def prepare(frames, at, turn, low, high, depth):
    """Give the node below its window and depth."""
    same = turn == frames.turn[at]
    frames.low[at + 1] = low if same else -high
    frames.high[at + 1] = high if same else -low
    frames.depth[at + 1] = depth
    frames.n[at + 1] = -1


@helper
def again(frames, settings, at, value):
    """Whether the last child has to be searched with the full window and depth; if so, prepare that."""
    window, low, high = frames.window[at], frames.low[at], frames.high[at]
    if window == SKIP:
        return False
    mine = value if frames.turn[at] == 0 else -value
    if window == FULL or mine <= low or (window == NULL and mine >= high) or mine >= settings.win:
        return False
    frames.window[at] = FULL
    prepare(frames, at, frames.turn[at + 1], low, high, frames.depth[at] - 1)
    return True


@helper
def receive(frames, memory, settings, at, value, complete):
    """Take the value of the last child into account."""
    turn = frames.turn[at]
    mine = value if turn == 0 else -value
    if frames.window[at] == SKIP:
        if mine >= frames.high[at]:  # good enough even after a pass
            frames.best[at], frames.complete[at] = frames.high[at], False
            frames.n[at] = 0
        return
    action = frames.actions[at, frames.next[at] - 1]
    if at == 0:
        memory.root_nodes[action] += memory.now[NODES]
        memory.root_value[action] = mine if settings.strict or mine > frames.low[0] else math.nan
    frames.complete[at] &= complete
    if mine > frames.best[at]:
        frames.best[at] = mine
        frames.chosen[at] = action
        if mine >= frames.high[at] or mine >= settings.win:  # one such move is enough
            frames.complete[at] = complete
    if settings.strict and at == 0 and mine < frames.high[at]:
        return
    frames.low[at] = max(frames.low[at], mine)
    if frames.low[at] >= frames.high[at] or (mine >= settings.win and not (settings.strict and at == 0)):
        frames.next[at] = frames.n[at]
        depth = max(frames.depth[at], 0)
        memory.history[turn, action] += depth * depth
        if memory.killers[at, 0] != action:
            memory.killers[at, 1] = memory.killers[at, 0]
            memory.killers[at, 0] = action
        if at > 0 and frames.window[at - 1] != SKIP:
            memory.refutations[frames.actions[at - 1, frames.next[at - 1] - 1]] = action


@helper
def close(frames, memory, at):
    """The value of a node for seat 0, and whether it is complete; it is written into the table."""
    best, complete, key = frames.best[at], frames.complete[at], frames.key[at]
    if key != 0:
        bound = UPPER if best <= frames.first_low[at] else (LOWER if best >= frames.high[at] else UPPER | LOWER)
        place = 2 * np.int64(key % np.uint64(len(memory.table) // 2))
        entry, age = memory.table[place], memory.age[0]
        if entry.key != key and entry.age == age and entry.depth > frames.depth[at]:
            entry = memory.table[place + 1]
        entry.key = key
        entry.value = best
        entry.move = frames.chosen[at]
        entry.depth = frames.depth[at]
        entry.bound = bound | (COMPLETE if complete else 0)
        entry.age = age
    return best if frames.turn[at] == 0 else -best, complete


@kernel
def follow(game, table, states, actions, line):
    """Write the best moves of the table after line[0]; return the length of the line."""
    state, n = states[0], 1
    game.play(state, line[0])
    while n < len(line) and game.turn(state) != OVER:
        key, move = hash_record(state), -1
        place = 2 * np.int64(key % np.uint64(len(table) // 2))
        for i in range(place, place + 2):
            if table[i].key == key and move < 0:
                move = np.int64(table[i].move)
        legal = False
        for i in range(game.actions(state, actions)):
            legal |= actions[i] == move
        if not legal:
            break
        line[n] = move
        game.play(state, move)
        n += 1
    return n
