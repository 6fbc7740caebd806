"""The policy on patterns: a softmax of the weights of an action's active patterns. And the same, found the slow way.

A move changes few cells: the codes of the rays that see them are updated, and only actions at anchors that look along
such a ray are weighed anew. Searches jump between positions that differ little, so that they gain too.
"""

from typing import Any, NamedTuple

import numpy as np

from ...games.boards import hexagon, square
from ...jit import helper, lowest, uniform
from ...search.policies import policy
from ...vectors import matcher, sum_of_bits
from .patterns import window
from .sets import BITS, Sight, Tables, compile_set, sight, words_for

STEEP = 50.0  # logits are cut here: exp of more is as good as certain
FINE = 64.0
EXPONENTIALS = np.exp(np.arange(int(2 * STEEP * FINE) + 2) / FINE - STEEP)
NOWHERE = np.int64(-1)

# Rays, and a function for those that there are.
ON_SQUARES, RICH, ON_HEXAGONS = (
    window(*each).images for each in ((square(3, 3),), (square(3, 3), True), (hexagon(3),))
)
match_on_squares, match_rich, match_on_hexagons = matcher(ON_SQUARES), matcher(RICH), matcher(ON_HEXAGONS)
RAYS_ON_SQUARES, RAYS_RICH = ON_SQUARES.shape[1], RICH.shape[1]


class Eyes(NamedTuple):
    """The position as it was last looked at."""

    codes: np.ndarray  # [cells + 1, rays] u1: last: of no cell
    content: np.ndarray  # [cells + 1] u1: 0 empty, 1 and 2 of seat 0 and 1, 3 no cell
    stones: np.ndarray  # [2, words] u8
    changed: np.ndarray  # [cells + 1] i8: when something in sight of a cell last changed
    clock: np.ndarray  # [1] i8


def new_eyes(seen: Sight) -> Eyes:
    cells, rays = seen.empty_codes.shape
    codes, content = np.zeros((cells + 1, rays), np.uint8), np.zeros(cells + 1, np.uint8)
    codes[:cells], content[cells] = seen.empty_codes, 3
    stones = np.zeros((2, len(seen.cell_at) // BITS), np.uint64)
    return Eyes(codes, content, stones, np.ones(cells + 1, np.int64), np.ones(1, np.int64))


class Scores(NamedTuple):
    """What was found of the actions of a seat, and when."""

    weight: np.ndarray  # [2, actions] f8: exp of the logit
    found: np.ndarray  # [2, actions] i8: clock
    ends: np.ndarray  # [2, actions] i8


@helper
def look(game, state, seen, eyes):
    """Take in what has changed since the last look."""
    changes = False
    for word in range(eyes.stones.shape[1]):
        first, second = game.stones(state, 0, word), game.stones(state, 1, word)
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
    for place in range(seen.seen_from.shape[1]):
        anchor = np.int64(seen.seen_from[cell, place])
        if anchor >= 0:
            ray = seen.ray[place]
            eyes.codes[anchor, ray] = np.int64(eyes.codes[anchor, ray]) ^ flipped << seen.shift[place]
            eyes.changed[anchor] = now


@helper
def activity(eyes, tables, start, to, held, active):
    """Which patterns are active for an action: bits, in words."""
    cells = len(eyes.content) - 1
    start, to = start if start >= 0 else cells, to if to >= 0 else cells
    at_to, at_start = np.int64(eyes.content[to]), np.int64(eyes.content[start])
    for w in range(len(active)):
        held[w] = tables.here[0, to, at_to, w] & tables.here[1, start, at_start, w]
    start = start if tables.moving[0] and start < cells else NOWHERE
    rays = eyes.codes.shape[1]
    if rays == RAYS_ON_SQUARES:
        match_on_squares(tables.rows, eyes.codes, to, start, held, active)
    elif rays == RAYS_RICH:
        match_rich(tables.rows, eyes.codes, to, start, held, active)
    else:
        match_on_hexagons(tables.rows, eyes.codes, to, start, held, active)


@helper
def exponential(x):
    """exp, cut at e^±50, to nine digits: a table and a short series, four times as fast."""
    x = min(max(x, -STEEP), STEEP)
    place = np.int64((x + STEEP) * FINE + 0.5)
    rest = x - (place / FINE - STEEP)
    return EXPONENTIALS[place] * (1.0 + rest * (1.0 + rest * (0.5 + rest * (1.0 / 6.0))))


@helper
def weigh_action(game, state, action, seat, linear):
    """exp of an action's logit, from before where nothing in sight has changed."""
    eyes, scores = linear.eyes, linear.scores
    start, to = game.ends(state, action)
    changed = max(eyes.changed[to], eyes.changed[start])  # -1 is the last: no cell, never changed
    ends = np.int64(start) << np.int64(16) | np.int64(to)
    if scores.found[seat, action] < changed or scores.ends[seat, action] != ends:
        if seat == 0:
            activity(eyes, linear.first, start, to, linear.held, linear.active)
            logit = sum_of_bits(linear.first_weights, linear.active)
        else:
            activity(eyes, linear.second, start, to, linear.held, linear.active)
            logit = sum_of_bits(linear.second_weights, linear.active)
        scores.weight[seat, action] = exponential(logit)
        scores.found[seat, action] = eyes.clock[0]
        scores.ends[seat, action] = ends
    return scores.weight[seat, action]


@policy
class Linear(NamedTuple):
    """Both seats' patterns and weights, and room to work in: one is for one search at a time."""

    seen: Sight
    first: Tables
    second: Tables
    first_weights: np.ndarray  # [64 * words] f4
    second_weights: np.ndarray
    eyes: Eyes
    scores: Scores
    held: np.ndarray  # [words] u8
    active: np.ndarray  # [words] u8

    def step(self, game, state, actions, odds, rng):
        look(game, state, self.seen, self.eyes)
        seat, n, sum_of_weights = game.turn(state), game.actions(state, actions), 0.0
        for j in range(n):
            odds[j] = weigh_action(game, state, actions[j], seat, self)
            sum_of_weights += odds[j]
        left = uniform(rng) * sum_of_weights
        for j in range(n - 1):
            left -= odds[j]
            if left < 0:
                return actions[j]
        return actions[n - 1]

    def weigh(self, game, state, actions, n, odds):
        look(game, state, self.seen, self.eyes)
        seat, sum_of_weights = game.turn(state), 0.0
        for j in range(n):
            odds[j] = weigh_action(game, state, actions[j], seat, self)
            sum_of_weights += odds[j]
        for j in range(n):
            odds[j] /= sum_of_weights


def padded(weights: np.ndarray, words: int) -> np.ndarray:
    whole = np.zeros(words * BITS, np.float32)
    whole[: len(weights)] = weights
    return whole


def linear(game: Any, kind: str, patterns: tuple[Any, Any], weights: tuple[np.ndarray, np.ndarray]) -> Linear:
    """The compiled policy of both seats."""
    seen = sight(game, kind == "rich")
    words = words_for(max(map(len, patterns)))
    first, second = (compile_set(game, kind, seat, patterns[seat], words) for seat in range(2))
    weighs = [padded(each, words) for each in weights]
    actions, room = game.facts.most_actions, np.zeros((2, words), np.uint64)
    scores = Scores(np.zeros((2, actions)), np.zeros((2, actions), np.int64), np.zeros((2, actions), np.int64))
    return Linear(seen, first, second, weighs[0], weighs[1], new_eyes(seen), scores, room[0], room[1])
