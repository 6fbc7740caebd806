"""What a seat knows: views, infosets, encodings and determinizations."""

from typing import Any, NamedTuple

import numpy as np
from numpy.lib.recfunctions import repack_fields

from ...core.names import BadInput
from ..protocol import Game
from .faults import call, changed, described, fault, same, written
from .turns import Position, actions_of, check_end, turn_of, walk

ONLY_RNG = "take all randomness from rng, by below(rng, n) and uniform(rng)"
DEEP = 8  # from one sampled position in 8, on average, the game is played to its end


class Seen(NamedTuple):
    """What earlier positions showed, to compare later ones with."""

    views: dict[int, tuple[int, bytes]]  # infoset -> seat and view
    keys: dict[tuple[int, bytes], int]  # the same the other way round
    seats: dict[int, int]  # infoset -> the seat whose it is
    splits: dict[int, tuple[int, int, int]]  # infoset -> seat, public state and private state
    joined: dict[tuple[int, int, int], int]  # the same the other way round
    ends: dict[tuple[int, ...], float]  # class and private states -> payoff


def view_of(game: Game, state: Any, seat: int) -> Any:
    """A seat's view, in a record whose bytes held something else before."""
    view = np.frombuffer(bytearray(b"\xa5" * game.state.itemsize), game.state)[0]
    call(game, "look", state, seat, view)
    return view


def infoset_of(game: Game, state: Any, seat: int) -> int:
    key = call(game, "infoset", state, seat)
    if not isinstance(key, np.uint64):
        raise fault(game, "infoset", f"it returned {described(key)}: it should be np.uint64(...), or mix(...)")
    if key == 0:
        raise fault(game, "infoset", "it returned 0, which is no key: add 1")
    return int(key)


def check_look(game: Game, position: Position, rng: np.ndarray, seen: Seen) -> None:
    """Rules give the same for a view as for the position, and a view of a view is the same."""
    state, turn, actions, _ = position
    for seat in range(game.facts.seats):
        view = view_of(game, state, seat)
        if turn_of(game, view) != turn:
            raise fault(
                game, "look", f"turn is {turn} in the position, and {turn_of(game, view)} in seat {seat}'s view"
            )
        if not same(view_of(game, view, seat), view):
            raise fault(game, "look", f"the view of seat {seat}'s view differs from the view")
        if infoset_of(game, view, seat) != infoset_of(game, state, seat):
            raise fault(
                game, "infoset", f"seat {seat}'s key depends on something that `look` hides from it, at turn {turn}"
            )
        if turn == seat and actions_of(game, view, turn) != actions:
            raise fault(game, "look", f"seat {seat}'s legal actions differ between the position and its view")
        if not np.array_equal(observed(game, view, seat), observed(game, state, seat)):
            raise fault(game, "observe", f"seat {seat}'s encoding depends on something that `look` hides from it")


def check_infoset(game: Game, position: Position, rng: np.ndarray, seen: Seen) -> None:
    """One key is one view of the seat to move, and one view has one key; keys of two seats differ."""
    for seat in range(game.facts.seats):
        key = infoset_of(game, position.state, seat)
        if seen.seats.setdefault(key, seat) != seat:
            raise fault(game, "infoset", f"seats {seen.seats[key]} and {seat} have a key in common: mix in the seat")
    if position.turn < 0:
        return
    seat = position.turn
    key = infoset_of(game, position.state, seat)
    view = seat, packed(view_of(game, position.state, seat).reshape(1)).tobytes()
    if seen.views.setdefault(key, view) != view:
        fields = game.state.names or ()
        one, two = (np.frombuffer(each[1], repack_fields(game.state.base)) for each in (seen.views[key], view))
        differ = [field for field in fields if not np.array_equal(one[field], two[field])]
        raise fault(
            game, "infoset", f"seat {seat} has one key for two views that differ in {', '.join(differ)}: "
            "mix it in, or let `look` hide it"
        )  # fmt: skip
    if seen.keys.setdefault(view, key) != key:
        raise fault(game, "infoset", f"one view of seat {seat} has two keys")


def observed(game: Game, state: Any, seat: int) -> np.ndarray:
    """The encoding is finite and fills its size."""
    out = np.full(game.facts.encoding, np.nan, np.float32)
    call(game, "observe", state, seat, out)
    if not np.isfinite(out).all():
        gap = int(np.flatnonzero(~np.isfinite(out))[0])
        raise fault(game, "observe", f"it doesn't write a finite number at {gap} of encoding={len(out)}")
    return out


def packed(states: np.ndarray) -> np.ndarray:
    """Records as plain bytes, one item each, without the gaps between their fields."""
    dense = repack_fields(states.view(np.dtype((np.void, states.dtype))))
    return np.ascontiguousarray(dense).view(f"V{dense.dtype.itemsize}")


def check_determinize(game: Game, position: Position, rng: np.ndarray, seen: Seen) -> None:
    """A determinization fits its view, and the game can be played on from it."""
    state, turn, actions, _ = position
    for seat in range(game.facts.seats):
        view = view_of(game, state, seat)
        before = rng.copy()
        world = determinized(game, view, seat, rng)
        if not same(determinized(game, view, seat, before), world):
            raise fault(game, "determinize", f"it gives two positions for one view and one rng: {ONLY_RNG}")
        if turn_of(game, world) != turn:
            raise fault(game, "determinize", f"turn is {turn} in the view, {turn_of(game, world)} in the position")
        if not same(view_of(game, world, seat), view):
            again = view_of(game, world, seat)
            field = next(field for field in view.dtype.names if not np.array_equal(view[field], again[field]))
            raise fault(
                game, "determinize", f"the field {field} of seat {seat}'s view is {view[field]}, and {again[field]} "
                "in the view of a position that was sampled for it"
            )  # fmt: skip
        if infoset_of(game, world, seat) != infoset_of(game, view, seat):
            raise fault(game, "determinize", f"seat {seat}'s infoset differs between its view and a sampled position")
        if turn == seat and actions_of(game, world, turn) != actions:
            raise fault(game, "determinize", f"seat {seat}'s legal actions differ between its view and a position")
        if game.facts.hidden and int(rng[0]) % DEEP == 0:
            _play_on(game, view, seat, world, rng)


def _play_on(game: Game, view: Any, seat: int, world: Any, rng: np.ndarray) -> None:
    try:
        check_end(game, walk(game, rng, world)[-1].state)
    except BadInput as error:
        raise fault(
            game, "determinize", f"for seat {seat}'s view {written(view)} it gives {changed(world, view)}, and the "
            f"game played on from there goes wrong: {error}"
        ) from error  # fmt: skip


def determinized(game: Game, view: Any, seat: int, rng: np.ndarray) -> Any:
    notes, world = np.zeros(game.facts.notes), np.zeros(1, game.state)[0]
    call(game, "prepare", view, seat, notes)
    made = call(game, "determinize", view, seat, notes, rng, world)
    if not isinstance(made, bool | np.bool_):
        raise fault(game, "determinize", f"it returned {described(made)}: it should be True, or False if nothing fits")
    if not made:
        raise no_position(game, view, seat)
    return world


def no_position(game: Game, view: Any, seat: int) -> BadInput:
    return fault(
        game, "determinize", f"it finds no position that fits seat {seat}'s view {written(view)}, and there is one"
    )


def check_views(game: Game, positions: list[Position]) -> None:
    """A game with `look` hides something."""
    seats = range(game.facts.seats)
    if game.facts.hidden and all(
        same(view_of(game, each.state, seat), each.state) for each in positions for seat in seats
    ):
        raise fault(game, "look", "it hides nothing from any seat: mask what a seat can't know, or leave it out")
