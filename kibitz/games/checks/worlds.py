"""What `determinize` gives, compared with the truth: the positions that have the same view by `look` and the rules.

Where the game is small, or few histories share a view, all of them are enumerated. A position weighs the sum, over the
histories that lead to it, of the products of their chance probabilities, unless the game states a `likelihood`. The
sampled positions have to be these, with these frequencies. Elsewhere what a view hides has to vary.

Frequencies are tested by Chernoff's bound: over all tests of a check, a rule that is right fails once in 10^9.
"""

import math
import time
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from ...core.names import BadInput
from ...core.progress import Reporter
from ...jit import generators, kernel
from ..protocol import CHANCE, OVER, SCRATCH, Game, positions
from .faults import changed, fault, numbers, same, written
from .views import no_position, packed

FALSE_ALARM = 1e-9
LARGEST = 50_000  # positions that are enumerated; the numbers below are for rules that aren't compiled
LARGEST_PLAIN = 1_000
LEAST, ENOUGH = 40, 1_000  # draws per position: none is missing by accident; a third differs from a half
MOST_DRAWS, MOST_DRAWS_PLAIN = 20_000, 2_000  # of a view
ALL_DRAWS, ALL_DRAWS_PLAIN = 2_000_000, 20_000
VIEWS = 4_000  # of a tree that are compared
FOLLOWED = 8  # games whose views are followed where the whole tree is too large
NEAREST = 1_000  # positions among which the one is sought that is nearest to a wrong one
VARIED = 16  # draws per view that show whether anything varies


# ---------------------------------------------------------------- kernels


@kernel
def _expand(game, states, legal, probs, out, above, chances):
    """Write the positions after each action at `states`; their number, -1 where there isn't room."""
    n = 0
    for i in range(len(states)):
        turn = game.turn(states[i])
        if turn == OVER:
            continue
        count = game.actions(states[i], legal)
        if n + count > len(out):
            return -1
        if turn == CHANCE:
            game.chance_probs(states[i], legal, count, probs)
        for j in range(count):
            out[n] = states[i]
            game.play(out[n], legal[j])
            above[n] = i
            chances[n] = probs[j] if turn == CHANCE else 1.0
            n += 1
    return n


@kernel
def _look_at_all(game, states, seat, views):
    for i in range(len(states)):
        game.look(states[i], seat, views[i])


@kernel
def _draw(game, views, seat, notes, rng, out):
    """Fill `out` with positions that `determinize` gives for a view; the number before it finds none."""
    game.prepare(views[0], seat, notes)
    for i in range(len(out)):
        if not game.determinize(views[0], seat, notes, rng, out[i]):
            return i
    return len(out)


def views_of(game: Game, states: np.ndarray, seat: int) -> np.ndarray:
    views = np.zeros(len(states), game.state)
    _look_at_all(game, states, seat, views)
    return views


def drawn(game: Game, view: np.ndarray, seat: int, rng: np.ndarray, count: int, compiled: bool = True) -> np.ndarray:
    """Positions that `determinize` gives for a view, an array of one."""
    out, notes = np.zeros(count, game.state), np.zeros(game.facts.notes)
    draw = _draw if compiled else getattr(_draw, "py_func", _draw)
    if draw(game, view, seat, notes, rng, out) < count:
        raise no_position(game, view[0], seat)
    return out


# ---------------------------------------------------------------- enumeration


class Reached(NamedTuple):
    """Positions, each once."""

    states: np.ndarray
    weights: np.ndarray  # chance's probability, summed over the histories that lead there
    places: np.ndarray  # where views are followed: the number of the position's view among them
    complete: int  # of smaller places all positions are there


def reached(game: Game, largest: int, seat: int = 0, views: np.ndarray | None = None) -> Reached:
    """All positions of the tree; given the different views of a seat in a game, those with the same views up to there.

    Equal positions are one, so that the number of histories doesn't count.
    """
    states, weights, places = positions(game), np.ones(1), np.zeros(1, np.int64)
    out, above, chances = np.zeros(largest, game.state), np.zeros(largest, np.int64), np.zeros(largest)
    legal, probs = np.zeros(SCRATCH, np.int64), np.zeros(SCRATCH)
    levels, total = [], 0
    while len(states):
        levels.append((states, weights, places))
        total += len(states)
        n = _expand(game, states, legal, probs, out, above, chances)
        if n < 0 or total + n > largest:
            break
        states, weights, places = out[:n].copy(), weights[above[:n]] * chances[:n], places[above[:n]]
        if views is not None:
            seen = packed(views_of(game, states, seat))
            moved = (places + 1 < len(views)) & (seen == views[np.minimum(places + 1, len(views) - 1)])
            kept = moved | (seen == views[places])
            states, weights, places = states[kept], weights[kept], (places + moved)[kept]
        states, weights, places = _merged(states, weights, places)
    complete = int(places.min()) if len(states) else len(levels) + 1 if views is None else len(views)
    return Reached(*_merged(*map(np.concatenate, zip(*levels, strict=True))), complete)


def _merged(states: np.ndarray, weights: np.ndarray, places: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Each position once."""
    if not len(states):
        return states, weights, places
    plain = packed(states).view(np.uint8).reshape(len(states), -1)
    keys = np.concatenate([plain, places[:, None].view(np.uint8)], axis=1)
    _, first, which = np.unique(_as_items(keys), return_index=True, return_inverse=True)
    return states[first], np.bincount(which, weights), places[first]


def _as_items(rows: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(rows).view(f"V{rows.shape[1]}")[:, 0]


class Group(NamedTuple):
    """The positions with one view of a seat."""

    seat: int
    view: np.ndarray  # an array of one
    states: np.ndarray
    weights: np.ndarray


def groups_of_tree(game: Game, tree: Reached) -> list[Group]:
    found = []
    for seat in range(game.facts.seats):
        views = views_of(game, tree.states, seat)
        _, which = np.unique(packed(views), return_inverse=True)
        order = np.argsort(which, kind="stable")
        for members in np.split(order, np.flatnonzero(np.diff(which[order])) + 1):
            found.append(Group(seat, views[members[:1]], tree.states[members], tree.weights[members]))
    return found


def groups_of_game(game: Game, states: np.ndarray, largest: int) -> Iterator[Group]:
    """Along a game: the positions with each view of each seat, while they are few enough."""
    for seat in range(game.facts.seats):
        views = views_of(game, states, seat)
        keys = packed(views)
        different = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]]))
        found = reached(game, largest, seat, keys[different])
        for place in range(found.complete):
            members = np.flatnonzero(found.places == place)
            yield Group(seat, views[different[place]][None], found.states[members], found.weights[members])


# ---------------------------------------------------------------- the comparison


def check_worlds(game: Game, games: list[np.ndarray], compiled: bool, report: Reporter) -> None:
    """Sampled positions are those that fit, none missing and none invented, with their frequencies.

    Args:
        games: The positions of random games.
        compiled: Whether rules run compiled; in plain Python fewer positions are enumerated.

    Raises:
        BadInput: They differ. The message has the view, the position and the difference.
    """
    if not game.facts.hidden:
        return
    largest = LARGEST if compiled else LARGEST_PLAIN
    tree = reached(game, largest)
    if tree.complete:
        groups = groups_of_tree(game, tree)
        groups = [groups[i] for i in np.random.default_rng(1).permutation(len(groups))[:VIEWS]]
    else:
        check_variation(game, games, generators(1, 1)[0], compiled)
        groups = []
        for number, states in enumerate(games[:FOLLOWED]):
            report.progress(number, FOLLOWED, "games whose views are followed")
            groups += groups_of_game(game, states, largest)
    left, most = (ALL_DRAWS, MOST_DRAWS) if compiled else (ALL_DRAWS_PLAIN, MOST_DRAWS_PLAIN)
    share = left / max(len(groups), 1)
    for number, group in enumerate(groups):
        report.progress(number, len(groups), "views")
        law = _law(game, group)
        each = max(law.min(), LEAST / most)
        draws = int(min(max(LEAST / each, min(ENOUGH / each, share)), most))
        if draws > left:
            break
        left -= draws
        _compare(game, group, law, drawn(game, group.view, group.seat, generators(number, 1)[0], draws), len(groups))


def _law(game: Game, group: Group) -> np.ndarray:
    """The probability of each position that fits."""
    weights = group.weights
    if hasattr(game, "likelihood"):
        weights = np.array([float(game.likelihood(state, group.seat)) for state in group.states])
        if not (np.isfinite(weights).all() and weights.min() >= 0 and weights.sum() > 0):
            raise fault(game, "likelihood", "it should be a number, at least 0, and above 0 for a position that fits")
    law: np.ndarray = weights / weights.sum()
    return law


def unlikely(counts: np.ndarray, draws: int, probs: np.ndarray) -> np.ndarray:
    """Minus the logarithm of an upper bound of the probability of counts as far from what is expected (Chernoff)."""
    found = counts / draws
    with np.errstate(divide="ignore", invalid="ignore"):
        more = np.where(found > 0, found * np.log(found / probs), 0.0)
        less = np.where(found < 1, (1 - found) * np.log((1 - found) / (1 - probs)), 0.0)
    bound: np.ndarray = draws * np.nan_to_num(more + less, nan=0.0, posinf=np.inf)
    return bound


def _compare(game: Game, group: Group, law: np.ndarray, worlds: np.ndarray, groups: int) -> None:
    fits, draws = len(group.states), len(worlds)
    _, which = np.unique(np.concatenate([packed(group.states), packed(worlds)]), return_inverse=True)
    place = np.full(which.max() + 1, -1)
    place[which[:fits]] = np.arange(fits)
    known = place[which[fits:]]
    if known.min() < 0:
        world = worlds[known.argmin()]
        nearest = min(group.states[:NEAREST], key=lambda state: sum(a != b for _, a, b in numbers(world, state)))
        name, given, right = next(each for each in numbers(world, nearest) if each[1] != each[2])
        told = f"it gives {changed(world, group.view[0])}, and no game with that view leads there: {name} is {given}"
        raise _refused(game, group, f"{told}, and {right} in the nearest of {_number(fits)}")
    if fits == 1:
        return
    tallies = [
        (name, *np.unique(column, return_inverse=True))
        for name, column in _columns(group.states)
        if (column != column[0]).any()
    ]
    sure = math.log(2 * groups * (fits + sum(len(values) for _, values, _ in tallies)) / FALSE_ALARM)
    counts = np.bincount(known, minlength=fits)
    doubts = unlikely(counts, draws, law)
    worst = int(doubts.argmax())
    if doubts[worst] > sure:
        share = f"in {counts[worst] / draws:.2%} of {draws:,} draws" if counts[worst] else f"never in {draws:,} draws"
        told = f"it gives {changed(group.states[worst], group.view[0])} {share}, expected {law[worst]:.2%}"
        raise _refused(game, group, f"{told}{_stated(game)}")
    for name, values, value_of in tallies:
        probs, found = np.bincount(value_of, law), np.bincount(value_of, counts)
        doubts = unlikely(found, draws, np.minimum(probs, 1.0))
        worst = int(doubts.argmax())
        if doubts[worst] > sure:
            told = f"{name} is {values[worst]} in {found[worst] / draws:.2%} of {draws:,} draws"
            raise _refused(game, group, f"{told}, expected {probs[worst]:.2%}{_stated(game)}")


def _refused(game: Game, group: Group, told: str) -> BadInput:
    return fault(game, "determinize", f"for seat {group.seat}'s view {written(group.view[0])} {told}")


def _stated(game: Game) -> str:
    if hasattr(game, "likelihood"):
        return " by the game's likelihood"
    return ": chance by its probabilities, hidden choices alike; a rule `likelihood` may state other frequencies"


def _number(fits: int) -> str:
    return "the one that fits" if fits == 1 else f"{fits:,} that fit"


# ---------------------------------------------------------------- where there are too many


def check_variation(
    game: Game, games: Iterable[Any], rng: np.ndarray, compiled: bool, seconds: float = math.inf
) -> None:
    """What a view hides varies: a number that is the same in all draws is the true one, nearly always.

    The truth is one more draw: that VARIED draws agree and the truth differs has a small probability, whatever the
    distribution. One position is taken of each game, as those of one game aren't independent.
    """
    games, began = list(games), time.perf_counter()
    by_chance = (VARIED / (VARIED + 1)) ** VARIED / (VARIED + 1)
    for seat in range(game.facts.seats):
        trials, shown = 0, {}
        wrong: dict[str, int] = {}  # number -> games in which it is constant, and not the truth
        for states in games:
            if time.perf_counter() - began > seconds * (seat + 1) / game.facts.seats:
                break
            for number in np.random.default_rng(len(states) + trials).permutation(len(states))[:4]:
                view = np.zeros(1, game.state)
                game.look(states[number], seat, view[0])
                if not same(states[number], view[0]):
                    break
            else:
                continue
            trials += 1
            worlds = drawn(game, view, seat, rng, VARIED, compiled)
            truths = np.array([states[number]], game.state)
            for (name, column), (_, (truth,)) in zip(_columns(worlds), _columns(truths), strict=True):
                if (column == column[0]).all() and column[0] != truth:
                    wrong[name] = wrong.get(name, 0) + 1
                    shown[name] = view[0].copy(), worlds[0], column[0], truth
        for name, count in wrong.items():
            doubt = unlikely(np.array([count]), trials, np.array([by_chance]))[0]
            if count / trials > by_chance and doubt > math.log(game.facts.seats * game.state.itemsize / FALSE_ALARM):
                view, world, constant, truth = shown[name]
                raise fault(
                    game, "determinize", f"for seat {seat}'s view {written(view)} it gives {changed(world, view)} each "
                    f"time: {name} is always {constant}, and {truth} in the game that was played; what a view leaves "
                    "open should vary"
                )  # fmt: skip


# ---------------------------------------------------------------- numbers of a record


def _columns(states: np.ndarray) -> Iterator[tuple[str, np.ndarray]]:
    """Each number of a record with its name, such as `cards[1]`, over many records."""
    for field in states.dtype.names or ():
        values = states[field]
        for index in np.ndindex(values.shape[1:]):
            yield field + (f"[{', '.join(map(str, index))}]" if index else ""), values[(slice(None), *index)]
