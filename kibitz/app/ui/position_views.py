"""Follows a line of moves by what one seat sees of it, where too much is unknown to try all deals: `views_along`."""

import functools
import itertools
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from typing import Any, NamedTuple, cast

import numpy as np

from ...core.names import BadInput
from ...games import CHANCE, OVER, Game, full_name, legal_actions, positions, view_of
from ...jit import generators
from .formatting import nth
from .referee import equal, next_state

UNKNOWN = "?"
WORLDS = 40  # that are sampled to find what other seats and chance can do
CHECKED = 4  # worlds in which a move must look the same to the seat
MAX_WORLDS = 1000  # tried until one allows a named move
KEPT = 64  # lines whose views are remembered


class Unclear(BadInput):
    """What the seat sees depends on what is unknown, or a seat's move is unknown."""


class Visible(BadInput):
    """The seat sees a deal that is unknown."""


class Seen(NamedTuple):
    """A named or unknown move as one seat sees it."""

    world: Any  # a state that fits the seat's view before the move and allows it
    action: int  # -1: unknown
    view: Any  # the seat's view after it


_known: OrderedDict[tuple, list[Seen]] = OrderedDict()  # by game, seat, `strict` and words


def opening(game: Game, seat: int) -> Any:
    """A seat's view of the opening position."""
    return view_of(game, positions(game)[0], seat)


def worlds(game: Game, view: Any, seat: int) -> Iterator[Any]:
    """States that fit a view, drawn as the game does it; always the same ones for the same view."""
    rng, notes, world = generators(1, 1)[0], np.zeros(game.facts.notes), np.zeros(1, game.state)[0]
    game.prepare(view, seat, notes)
    for _ in range(MAX_WORLDS):
        if game.determinize(view, seat, notes, rng, world):
            yield world.copy()


def unseen(game: Game, view: Any, seat: int) -> Any:
    """A state that fits a view, and in which whatever happens next looks the same to the seat; None: it doesn't."""
    return _unseen(full_name(game), cast(Hashable, game), view.tobytes(), seat) if game.facts.hidden else None


@functools.lru_cache(1024)
def _unseen(name: str, game: Any, content: bytes, seat: int) -> Any:  # games of different names may be equal: tuples
    view = np.frombuffer(content, game.state)[0].copy()
    first, *others = itertools.islice(worlds(game, view, seat), CHECKED)
    cases = [(first, action) for action in legal_actions(game, first)]
    cases += [(other, legal_actions(game, other)[0]) for other in others]
    after = (view_of(game, next_state(game, *case), seat) for case in cases)
    before = next(after)
    return first if all(equal(before, other) for other in after) else None


def views_along(
    game: Game,
    words: list[str],
    seat: int,
    find: Callable[..., int | None],
    refuse: Callable[..., None],
    strict: bool,
) -> list[Seen]:
    """What a seat sees of each move of a line in which only deals are unknown.

    Args:
        find: The action that a word means in a state, from game, state and word; None: it isn't legal there.
        refuse: Raises BadInput for a word that is legal in none of some states: game, words, place, states.
        strict: Whether a deal that is named although the seat doesn't see it is refused; else it is forgotten.

    Raises:
        Unclear: What the seat sees depends on what is unknown, or a seat's move is unknown; or see `strict`.
        Visible: The seat sees a deal that is unknown.
        BadInput: A move is not legal.
    """
    name = full_name(game)
    seen: list[Seen] = []
    for length in range(len(words), 0, -1):
        if known := _known.get((name, seat, strict, tuple(words[:length]))):
            seen = known.copy()
            break
    for place in range(len(seen), len(words)):
        view = seen[-1].view if seen else opening(game, seat)
        seen.append(_step(game, view, words, place, seat, find, refuse, strict))
    _known[name, seat, strict, tuple(words)] = seen
    while len(_known) > KEPT:
        _known.popitem(last=False)
    return seen


def _step(game: Game, view: Any, words: list[str], place: int, seat: int, find: Any, refuse: Any, strict: bool) -> Seen:
    word, turn = words[place], int(game.turn(view))
    if word == UNKNOWN and turn != OVER:
        if turn != CHANCE:
            raise Unclear(f"the {nth(place + 1)} move is unknown: name it")
        if (world := unseen(game, view, seat)) is None:
            raise Visible(f"the {nth(place + 1)} move is visible to seat {seat + 1}: name it")
        return Seen(world, -1, view_of(game, next_state(game, world, legal_actions(game, world)[0]), seat))
    if strict and turn == CHANCE and unseen(game, view, seat) is not None:
        raise Unclear(f"seat {seat + 1} doesn't see the {nth(place + 1)} move, which is named")
    tried: list[Any] = []
    found: list[Seen] = []
    for world in worlds(game, view, seat) if turn != OVER else ():
        tried.append(world)
        action = find(game, world, word)
        if action is not None:
            found.append(Seen(world, action, view_of(game, next_state(game, world, action), seat)))
        if len(tried) >= CHECKED and (found or turn == seat):
            break
    if not found:
        refuse(game, words, place, tried[:WORLDS] or [view])
    if not all(equal(found[0].view, other.view) for other in found):
        raise Unclear(f"what seat {seat + 1} sees of the {nth(place + 1)} move depends on what is unknown")
    return found[0]


def possible_actions(game: Game, view: Any, seat: int) -> dict[int, Any]:
    """What may happen next as far as a seat knows: actions, each with a state in which it is legal."""
    found: dict[int, Any] = {}
    for world in itertools.islice(worlds(game, view, seat), WORLDS):
        for action in legal_actions(game, world):
            found.setdefault(action, world)
    return found


def deal(game: Game, view: Any, seat: int, rng: Any = None) -> list[tuple[Any, int]]:
    """Deals from a view on until a seat is to move: (state before it, outcome), -1 for one that the seat doesn't see.

    Args:
        rng: Draws the outcomes that the seat sees; None: stop at the first of them.
    """
    dealt: list[tuple[Any, int]] = []
    while game.turn(view) == CHANCE:
        world, outcome = unseen(game, view, seat), -1
        if world is None:
            if rng is None:
                break
            world = next(worlds(game, view, seat))
            outcome = int(game.sample_action(world, rng))
        dealt.append((world, outcome))
        action = legal_actions(game, world)[0] if outcome < 0 else outcome
        view = view_of(game, next_state(game, world, action), seat)
    return dealt
