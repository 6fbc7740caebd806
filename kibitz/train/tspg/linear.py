"""The policy on patterns: a softmax of the weights of an action's active patterns.

A move changes few cells: the codes of the rays through them are updated, and only actions whose anchors have such a ray
are evaluated again. Searches jump between positions that differ little, so they gain too.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ...games.boards import hexagon, square
from ...jit import helper, lowest, uniform
from ...jit.bitsets import any_of_three, matcher, sum_of_bits
from ...search.policies import policy
from .patterns import window
from .sets import BITS, Sight, Tables, compile_set, sight, words_for

STEEP = 50.0  # logits are clipped here: beyond it an action is practically certain
FINE = 64.0
HIGH, LOW = np.exp(20.0), np.exp(-20.0)
EXPONENTIALS = np.exp(np.arange(int(2 * STEEP * FINE) + 2) / FINE - STEEP)

# How symmetries map rays: in the same way for diagonals of one place and of four.
ON_SQUARES, ON_HEXAGONS = window(square(3, 3)).images, window(hexagon(3)).images
(fit_on_squares, match_on_squares), (fit_on_hexagons, match_on_hexagons) = matcher(ON_SQUARES), matcher(ON_HEXAGONS)
RAYS_ON_SQUARES = ON_SQUARES.shape[1]


class Eyes(NamedTuple):
    """The position as of the last `look`."""

    codes: np.ndarray  # [cells + 1, rays] u1: last: of no cell
    content: np.ndarray  # [cells + 1] u1: 0 empty, 1 and 2 of seat 0 and 1, 3 no cell
    stones: np.ndarray  # [2, words] u8
    changed: np.ndarray  # [cells + 1] i8: time stamp of the last change on a ray of a cell
    clock: np.ndarray  # [1] i8


def new_eyes(seen: Sight) -> Eyes:
    cells, rays = seen.empty_codes.shape
    codes, content = np.zeros((cells + 1, rays), np.uint8), np.zeros(cells + 1, np.uint8)
    codes[:cells], content[cells] = seen.empty_codes, 3
    stones = np.zeros((2, len(seen.cell_at) // BITS), np.uint64)
    return Eyes(codes, content, stones, np.ones(cells + 1, np.int64), np.ones(1, np.int64))


class Halves(NamedTuple):
    """Patterns that match around one cell, with a time stamp: where pieces move, many actions share a cell."""

    fits: np.ndarray  # [seats, anchors, cells, symmetries, words] u8
    found: np.ndarray  # [seats, anchors, cells] i8: clock


def new_halves(seats: int, cells: int, symmetries: int, words: int) -> Halves:
    fits = np.zeros((seats, 2, cells, symmetries, words), np.uint64)
    return Halves(fits, np.zeros((seats, 2, cells), np.int64))


class Scores(NamedTuple):
    """Logits of the actions of a seat, with time stamps."""

    logit: np.ndarray  # [2, actions] f8
    level: np.ndarray  # [2] f8: approximate level of a seat's logits
    weight: np.ndarray  # [2, actions] f8: exp of the logit over the level
    found: np.ndarray  # [2, actions] i8: clock
    ends: np.ndarray  # [2, actions] i8


class Pending(NamedTuple):
    """Buffers: the actions of a position that are evaluated."""

    action: np.ndarray  # [actions] i8
    start: np.ndarray  # [actions] i8
    to: np.ndarray  # [actions] i8
    active: np.ndarray  # [actions, words] u8: the active patterns
    logit: np.ndarray  # [actions] f8


@helper
def look(game, state, seen, eyes):
    """Update the codes of rays by what has changed since the last call."""
    changes = False
    for word in range(eyes.stones.shape[1]):
        first, second = game.pieces(state, 0, word), game.pieces(state, 1, word)
        different = (first ^ eyes.stones[0, word]) | (second ^ eyes.stones[1, word])
        if different == 0:
            continue
        if not changes:
            eyes.clock[0] += 1
            changes = True
        eyes.stones[0, word] = first
        eyes.stones[1, word] = second
        while different:
            bit = lowest(different)
            different &= different - np.uint64(1)
            cell = np.int64(seen.cell_at[BITS * word + bit])
            if cell >= 0:
                shift, one = np.uint64(bit), np.uint64(1)
                notice(seen, eyes, cell, np.int64(first >> shift & one) + 2 * np.int64(second >> shift & one))


@helper
def notice(seen, eyes, cell, content):
    now = eyes.clock[0]
    flipped = np.int64(eyes.content[cell]) ^ content
    eyes.content[cell] = content
    eyes.changed[cell] = now
    for k in range(seen.first[cell], seen.first[cell + 1]):
        anchor, ray = np.uint64(seen.anchor[k]), np.uint64(seen.ray[k])
        eyes.codes[anchor, ray] = np.int64(eyes.codes[anchor, ray]) ^ flipped << np.int64(seen.shift[k])
        eyes.changed[anchor] = now


@helper
def fit(eyes, tables, cell, anchor, out):
    """Find the patterns that match around a cell, under each symmetry."""
    if eyes.codes.shape[1] == RAYS_ON_SQUARES:
        fit_on_squares(tables.rows, eyes.codes, cell, anchor, out)
    else:
        fit_on_hexagons(tables.rows, eyes.codes, cell, anchor, out)


@helper
def match(eyes, tables, cell, one, other, out):
    """Find those of the patterns in `one` and `other` that match around a cell that an action goes to."""
    if eyes.codes.shape[1] == RAYS_ON_SQUARES:
        match_on_squares(tables.rows, eyes.codes, cell, 0, one, other, out)
    else:
        match_on_hexagons(tables.rows, eyes.codes, cell, 0, one, other, out)


@helper
def activity(eyes, tables, halves, seat, start, to, active):
    """Find the active patterns of an action, as bits in words; index -1 is the last entry, no cell."""
    at_to, at_start = tables.here[0, to, eyes.content[to]], tables.here[1, start, eyes.content[start]]
    if start < 0 or not tables.moving[0]:
        nowhere = len(eyes.content) - 1  # `match` goes by address: -1 would lie before the first
        match(eyes, tables, to if to >= 0 else nowhere, at_to, at_start, active)
        return
    for anchor in range(2):
        cell = to if anchor == 0 else start
        if halves.found[seat, anchor, cell] < eyes.changed[cell]:
            fit(eyes, tables, cell, anchor, halves.fits[seat, anchor, cell])
            halves.found[seat, anchor, cell] = eyes.clock[0]
    directed = tables.directed[tables.course[start, to]]
    any_of_three(halves.fits[seat, 0, to], halves.fits[seat, 1, start], directed, at_to, at_start, active)


@helper
def exponential(x):
    """exp, clipped at e^±50, to nine digits: a table and a short series are faster than exp."""
    x = min(max(x, -STEEP), STEEP)
    place = np.int64((x + STEEP) * FINE + 0.5)
    rest = x - (place / FINE - STEEP)
    return EXPONENTIALS[place] * (1.0 + rest * (1.0 + rest * (0.5 + rest * (1.0 / 6.0))))


@helper
def weigh_all(game, state, actions, n, probs, linear):
    """Compute the weights of the legal actions, and return their sum.

    A weight is exp of the action's logit minus the seat's level, and is kept where nothing around the action has
    changed. Each step is done for all actions before the next one: the steps of an action wait for each other, those of
    several actions don't.
    """
    seat, total = game.turn(state), 0.0
    eyes, scores, pending = linear.eyes, linear.scores, linear.pending
    tables = linear.first if seat == 0 else linear.second
    weights = linear.first_weights if seat == 0 else linear.second_weights
    count = 0
    for j in range(n):
        action = actions[j]
        start, to = game.from_to(state, action)
        ends = np.int64(start) << np.int64(16) | np.int64(to)
        changed = max(eyes.changed[to], eyes.changed[start])  # -1 is the last: no cell, never changed
        pending.action[count] = action
        pending.start[count] = start
        pending.to[count] = to
        count += (scores.found[seat, action] < changed) | (scores.ends[seat, action] != ends)
        scores.ends[seat, action] = ends
    for k in range(count):
        activity(eyes, tables, linear.halves, seat, pending.start[k], pending.to[k], pending.active[k])
    for k in range(count):
        pending.logit[k] = sum_of_bits(weights, pending.active[k])
    for k in range(count):
        action, logit = pending.action[k], pending.logit[k]
        scores.logit[seat, action] = logit
        scores.weight[seat, action] = exponential(logit - scores.level[seat])
        scores.found[seat, action] = eyes.clock[0]
    for j in range(n):
        probs[j] = scores.weight[seat, actions[j]]
        total += probs[j]
    if total > HIGH or total < LOW:  # subtract what all actions share before exp is clipped
        scores = linear.scores
        level = scores.logit[seat, actions[0]]
        for j in range(1, n):
            level = max(level, scores.logit[seat, actions[j]])
        scores.level[seat] = level
        scores.found[seat, :] = 0
        total = 0.0
        for j in range(n):
            probs[j] = exponential(scores.logit[seat, actions[j]] - level)
            total += probs[j]
    return total


@policy
class Linear(NamedTuple):
    """Patterns and weights of both seats, and buffers: one instance serves one search at a time."""

    seen: Sight
    first: Tables
    second: Tables
    first_weights: np.ndarray  # [64 * words] f4
    second_weights: np.ndarray
    eyes: Eyes
    scores: Scores
    halves: Halves
    pending: Pending

    def step(self, game, state, actions, probs, rng):
        look(game, state, self.seen, self.eyes)
        n = game.actions(state, actions)
        left = uniform(rng) * weigh_all(game, state, actions, n, probs, self)
        for j in range(n - 1):
            left -= probs[j]
            if left < 0:
                return actions[j]
        return actions[n - 1]

    def weigh(self, game, state, actions, n, probs):
        look(game, state, self.seen, self.eyes)
        total = weigh_all(game, state, actions, n, probs, self)
        for j in range(n):
            probs[j] /= total


def padded(weights: np.ndarray, words: int) -> np.ndarray:
    whole = np.zeros(words * BITS, np.float32)
    whole[: len(weights)] = weights
    return whole


def linear(game: Any, kind: str, patterns: Sequence[Any], weights: Sequence[np.ndarray]) -> Linear:
    """Compile the policy of both seats."""
    seen = sight(game, kind == "rich")
    words = words_for(max(map(len, patterns)))
    first, second = (compile_set(game, kind, seat, patterns[seat], words) for seat in range(2))
    weighs = [padded(each, words) for each in weights]
    actions, cells = game.facts.num_actions, len(game.board().places)
    moving = first.moving[0] or second.moving[0]
    halves = new_halves(2, cells if moving else 1, len(window(game.board()).turns), words)
    found, ends = np.zeros((2, actions), np.int64), np.zeros((2, actions), np.int64)
    scores = Scores(np.zeros((2, actions)), np.zeros(2), np.zeros((2, actions)), found, ends)
    action, start, to = np.zeros((3, actions), np.int64)
    pending = Pending(action, start, to, np.zeros((actions, words), np.uint64), np.zeros(actions))
    return Linear(seen, first, second, weighs[0], weighs[1], new_eyes(seen), scores, halves, pending)
