"""Growth of a set of patterns: by the pair whose joint activity best explains the errors of the policy.

Every legal action of a batch is a case; its error is the policy's probability minus the search's. All pairs of active
images of patterns are counted, each once per case. The score of a pair is high where its activity correlates with the
error, and low where it correlates with the activity of its parts.

Images of patterns f and g under the symmetries s and t are together an image of f with g turned by s⁻¹t: (f, g, s⁻¹t)
identifies a pair. Where f or g are symmetric, a pair has several such names, and the first is used.
"""

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...jit import helper, kernel
from .linear import fit, look
from .patterns import Pattern, Window, canonical, combined, images, turned, window
from .sets import BITS, Tables

MAX_IMAGES = 75  # per case: those with the largest weights


@dataclass(frozen=True)
class Grown:
    pattern: Pattern
    parts: tuple[int, int]
    score: float
    correlation: float  # with the error


@functools.cache
def composition(eye: Window) -> np.ndarray:
    """[a, b]: the symmetry b followed by a."""
    at = {turns: number for number, turns in enumerate(eye.turns)}
    count = range(len(eye.turns))
    return np.array(
        [[at[tuple(eye.turned(eye.turned(step, b), a) for step in ((1, 0), (0, 1)))] for b in count] for a in count]  # type: ignore[index]
    )


def best_pair(
    finder: Any,
    kind: str,
    states: np.ndarray,
    tables: Tables,
    patterns: Sequence[Pattern],
    weights: np.ndarray,
    errors: np.ndarray,
    fewest: int = 1,
    confident: bool = False,
) -> Grown | None:
    """Return the new pattern of the highest score; None where no pair is new.

    A pair has to be active in `fewest` cases. If `confident`, the lower bound of the correlation's 95% interval counts
    (by Fisher's z): in a few cases many pairs look good by chance.
    """
    eye = window(finder.game.board(), kind == "rich")
    after = composition(eye)
    inverse = np.argmin(after, axis=1)  # a with after[a, b] = 0, the symmetry that changes nothing
    turns = [images(pattern, eye) for pattern in patterns]
    same = np.array([[image == each[0] for image in each] for each in turns])  # [patterns, symmetries]
    new = np.array([[each.index(image) == s for s, image in enumerate(each)] for each in turns])
    count, symmetries = same.shape
    names = np.zeros((count, count, symmetries), np.int8)
    name_pairs(after, inverse, same, names)
    tally, alone = np.zeros((names.size, 3)), np.zeros(count, np.int64)
    order = np.argsort(-np.abs(weights), kind="stable")
    fits, room = np.zeros((2, symmetries, tables.rows.shape[1]), np.uint64)
    count_pairs(
        finder.game, states, finder.seen, finder.eyes, tables, finder.actions, errors, order, new, names, after,
        inverse, fits, room, np.zeros((MAX_IMAGES, 2), np.int64), tally, alone,
    )  # fmt: skip
    pairs, summed = tally[:, 0], tally[:, 1]
    known, n = set(patterns), len(errors)
    at = np.flatnonzero((pairs >= fewest) & (pairs < n))
    if not len(at) or not np.any(errors):
        return None
    first, second = at // symmetries // count, at // symmetries % count
    correlation = (n * summed[at] - pairs[at] * errors.sum()) / (
        np.sqrt(pairs[at] * (n - pairs[at])) * np.sqrt(max(n * (errors**2).sum() - errors.sum() ** 2, 1e-300))
    )
    sure = np.minimum(np.abs(correlation), 1 - 1e-9)
    if confident:
        sure = np.tanh(np.maximum(np.arctanh(sure) - 1.96 / np.sqrt(max(n - 3, 1)), 0.0))
    score = sure * (1 - np.maximum(_with_part(pairs[at], alone[first], n), _with_part(pairs[at], alone[second], n)))
    for i in np.argsort(-score, kind="stable"):
        f, g, k = int(first[i]), int(second[i]), int(at[i]) % symmetries
        found = combined(patterns[f], turned(patterns[g], eye, k), eye)
        if found is not None and (found := canonical(found, eye)) not in known:
            return Grown(found, (f, g), float(score[i]), float(correlation[i]))
    return None


def _with_part(together: np.ndarray, alone: np.ndarray, n: int) -> np.ndarray:
    """Correlation of a pair with one of its parts, which is active wherever the pair is."""
    spread = np.sqrt(together * (n - together)) * np.sqrt(alone * (n - alone))
    return np.where(spread > 0, (n * together - together * alone) / np.maximum(spread, 1e-300), 0.0)


@kernel
def name_pairs(after, inverse, same, names):
    """For each pair and relative symmetry the first of its names."""
    count, symmetries = same.shape
    for f in range(count):
        for g in range(f, count):
            for k in range(symmetries):
                first = k
                for a in range(symmetries):
                    if same[f, a]:
                        for b in range(symmetries):
                            if same[g, b]:
                                name = after[a, after[k, b]]
                                first = min(first, name)
                                if f == g:
                                    first = min(first, inverse[name])
                names[f, g, k] = first


# The numbers of a pair are adjacent: pairs are looked up in any order, and one memory access is enough.
@kernel
def count_pairs(
    game, states, seen, eyes, tables, actions, errors, order, new, names, after, inverse, fits, room, found,
    tally, alone,
):  # fmt: skip
    case, count, symmetries = 0, len(alone), len(fits)
    for i in range(len(states)):
        look(game, states[i], seen, eyes)
        for j in range(game.actions(states[i], actions)):
            start, to = game.from_to(states[i], actions[j])
            fit_action(eyes, tables, start, to, room, fits)
            n = 0
            for place in range(count):
                f = order[place]
                word, bit = f // BITS, np.uint64(f % BITS)
                active = False
                for s in range(symmetries):
                    if fits[s, word] >> bit & np.uint64(1):
                        active = True
                        if new[f, s] and n < len(found):
                            found[n, 0] = f
                            found[n, 1] = s
                            n += 1
                alone[f] += active
            for a in range(n):
                for b in range(a + 1, n):
                    f, s, g, t = found[a, 0], found[a, 1], found[b, 0], found[b, 1]
                    if f > g:
                        f, s, g, t = g, t, f, s
                    pair = (f * count + g) * symmetries + names[f, g, after[inverse[s], t]]
                    if tally[pair, 2] != case + 1:
                        tally[pair, 0] += 1
                        tally[pair, 1] += errors[case]
                        tally[pair, 2] = case + 1
            case += 1


@helper
def fit_action(eyes, tables, start, to, room, fits):
    """Find the patterns that match an action under each symmetry: `activity` before the symmetries are combined."""
    fit(eyes, tables, to if to >= 0 else len(eyes.content) - 1, 0, fits)
    around_start = start >= 0 and tables.moving[0]
    course = 0
    if around_start:
        fit(eyes, tables, start, 1, room)
        course = np.int64(tables.course[start, to])
    at_to, at_start = np.int64(eyes.content[to]), np.int64(eyes.content[start])
    for s in range(len(fits)):
        for w in range(fits.shape[1]):
            fits[s, w] &= tables.here[0, to, at_to, w] & tables.here[1, start, at_start, w]
            if around_start:
                fits[s, w] &= room[s, w] & tables.directed[course, s, w]
