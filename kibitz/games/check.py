"""The contract of games, for authors to run on their own: `check(game)`. Each rule of it is a function.

A random game is played in plain Python, and at each of its positions everything that the rules return is checked
against the facts and against each other. The rules are then compiled one by one, and compared with plain Python. What
is wrong is reported in one line that names the file, the line, and the rule or fact.
"""

import difflib
import itertools
import linecache
import math
import re
import time
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.lib.recfunctions import repack_fields

from ..core.names import BadInput
from ..jit import PLAIN, compiler, generators
from .game import is_split
from .protocol import CHANCE, OVER, SCRATCH, Facts, Game

GAMES, QUICK_SECONDS = 40, 0.3
PATIENCE = 2000  # turns past `max_game_length`, to tell a long game from one that never ends
NEAR = 1e-9
UNWRITTEN = -(2**62)


class Position(NamedTuple):
    """A turn of a random game."""

    state: Any
    turn: int
    actions: list[int]
    action: int  # the action that was played; -1 at the end


class Seen(NamedTuple):
    """What earlier positions showed, to compare later ones with."""

    views: dict[int, tuple[int, bytes]]  # infoset -> seat and view
    keys: dict[tuple[int, bytes], int]  # the same the other way round
    seats: dict[int, int]  # infoset -> the seat whose it is
    splits: dict[int, tuple[int, int, int]]  # infoset -> seat, public state and private state
    joined: dict[tuple[int, int, int], int]  # the same the other way round
    ends: dict[tuple[int, ...], float]  # class and private states -> payoff


def check(
    game: Game,
    games: int = GAMES,
    seconds: float = math.inf,
    seed: int = 1,
    compiled: bool = True,
    most: int | None = None,
) -> int:
    """Check that a game keeps the contract.

    Args:
        game: The game.
        games: Number of random games.
        seconds: Time after which no further position is checked; one game is always played to its end.
        seed: The same seed gives the same games.
        compiled: Whether to compile each rule too, and compare it with plain Python.
        most: Number of positions that are checked, drawn from all games; None: all of them.

    Returns:
        The number of positions that were checked.

    Raises:
        BadInput: A rule or a fact is wrong. The message is one line: file, line, rule or fact, what is wrong.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)  # an overflow of a small type
        return _check(game, games, seconds, generators(seed, 1)[0], compiled and not PLAIN, most)


def _check(game: Game, games: int, seconds: float, rng: np.ndarray, compiled: bool, most: int | None) -> int:
    began = time.perf_counter()
    check_facts(game)
    check_start(game)
    positions: list[Position] = []
    for _ in range(games):
        positions += walk(game, rng)
        check_end(game, positions[-1].state)
        if time.perf_counter() - began > seconds / 2:
            break
    check_views(game, positions[:KEPT])
    seen, checked = Seen({}, {}, {}, {}, {}, {}), 0
    for number in np.random.default_rng(1).permutation(len(positions))[:most]:
        if time.perf_counter() - began > seconds:
            break
        for rule in POSITION_RULES:
            rule(game, positions[number], rng, seen)
        checked += 1
    if compiled and not getattr(game, "in_python", False):
        from .compiled_rules import check_compiled

        check_compiled(game, positions[:KEPT])
    return checked


KEPT = 200  # positions at which compiled rules are compared


_checked: dict[type, dict[Game, None]] = {}  # class -> its games that were checked in this process


def check_once(game: Game) -> None:
    """Check a game quickly, in plain Python, when it is first used in a process.

    Where a kernel can't be compiled for it later, its rules are compiled one by one to find the reason.
    """
    known = _checked.setdefault(type(game), {})
    if game not in known:
        check(game, seconds=QUICK_SECONDS, compiled=False)
        known[game] = None
        compiler.explain = _explain


def _explain(kind: type) -> None:
    """Say why kernels of a game can't be compiled."""
    for game in list(_checked.get(kind, {}))[-1:]:
        compiler.explain = None  # the kernels of single rules fail too
        try:
            check(game, seconds=QUICK_SECONDS)
        finally:
            compiler.explain = _explain


# ---------------------------------------------------------------- messages


def fault(game: Game, name: str, message: str, line: int = 0) -> BadInput:
    """The error of a rule or a fact, with its place in the author's file."""
    kind: Any = type(game)
    function = vars(kind).get(name)
    file, known = _source(kind), getattr(getattr(function, "__code__", None), "co_firstlineno", 0)
    if not line and known and function.__code__.co_filename == file:
        line = known
    return BadInput(f"{shown(file)}:{line or _line_of_fact(kind, name)}: {name}: {' '.join(message.split())}")


def shown(file: str) -> str:
    """A path as short as it can be given here."""
    path = Path(file)
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else file


def _source(kind: Any) -> str:
    return str(kind.start.__code__.co_filename)


def _line_of_fact(kind: Any, name: str) -> int:
    """The line in the decorator that states a fact, else that of the class."""
    file, first = _source(kind), min(rule.__code__.co_firstlineno for rule in _own_rules(kind))
    lines = linecache.getlines(file)[:first]
    for wanted in (rf"\b{name}\s*=", r"\s*class\b"):
        for number in range(len(lines), 0, -1):
            if re.search(wanted, lines[number - 1]):
                return number
    return first


def _own_rules(kind: Any) -> list[Any]:
    own = [value for value in vars(kind).values() if hasattr(value, "__code__")]
    return [value for value in own if value.__code__.co_filename == _source(kind)]


def call(game: Game, rule: str, *arguments: Any) -> Any:
    """Call a rule; what it raises is reported with its line. Rules that only read may not change a position."""
    changes = CHANGES.get(rule, -1)
    before = [value.copy() if isinstance(value, np.void) else None for value in arguments]
    try:
        found = getattr(game, rule)(*arguments)
    except BadInput:
        raise
    except Exception as error:
        file = _source(type(game))
        lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file]
        raise fault(game, rule, _reason(game, error), (lines[-1] or 0) if lines else 0) from error
    for index, (value, old) in enumerate(zip(arguments, before, strict=True)):
        if old is not None and index != changes and not same(value, old):
            changed = next(field for field in value.dtype.names if not np.array_equal(value[field], old[field]))
            raise fault(game, rule, f"it changes the field {changed} of the position that it is given to read")
    return found


# Rule -> which of its arguments it writes a position into.
CHANGES = {"start": 0, "play": 0, "random_playout": 0, "look": 2, "determinize": 4}


def _reason(game: Game, error: Exception) -> str:
    """An exception of a rule in words."""
    text, names = str(error), game.state.names or ()
    missing = re.search(r"'(?:record|numpy\.record)' object has no attribute '(\w+)'", text)
    if missing:
        near = difflib.get_close_matches(missing[1], names, 1)
        hint = f": did you mean {near[0]!r}?" if near else ";"
        return f"the position has no field {missing[1]!r}{hint} its fields are {', '.join(names)}"
    if isinstance(error, RuntimeWarning | OverflowError):
        return f"{text}: write int(state.x) before you calculate with a field of a small type"
    if isinstance(error, IndexError):
        return f"{text} (compiled code would read or write other memory there)"
    return f"{type(error).__name__}: {text}"


def same(one: Any, two: Any) -> bool:
    """Whether two records are equal, field by field."""
    return all(np.array_equal(one[field], two[field]) for field in one.dtype.names)


def packed(state: Any) -> bytes:
    """A record as bytes, without the gaps between its fields."""
    return repack_fields(np.array([state]).view(np.dtype((np.void, state.dtype)))).tobytes()


def _whole(value: Any) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def _described(value: Any) -> str:
    return "nothing" if value is None else f"{value!r}, a {type(value).__name__}"


# ---------------------------------------------------------------- facts


def check_facts(game: Game) -> Facts:
    """Facts have the right types, and can be true."""
    try:
        facts = game.facts
    except BadInput:
        raise
    except Exception as error:
        raise fault(game, "facts", f"a fact can't be computed: {type(error).__name__}: {error}") from error
    for name, low in (("seats", 1), ("num_actions", 1), ("max_game_length", 1), ("max_chance_outcomes", 0),
                      ("encoding", 0), ("notes", 0)):  # fmt: skip
        value = getattr(facts, name)
        if not _whole(value) or value < low:
            raise fault(game, name, f"{value!r} should be a whole number, at least {low}")
    for name in ("payoffs", "rewards"):
        value = getattr(facts, name)
        numbers = isinstance(value, tuple | list) and len(value) == 2 and all(map(_number, value))
        if not numbers or not value[0] < value[1]:
            raise fault(game, name, f"{value!r} should be the lowest and the highest payoff, such as (-1.0, 1.0)")
    return facts


def _number(value: Any) -> bool:
    return isinstance(value, int | float | np.number) and math.isfinite(value)


# ---------------------------------------------------------------- turns, actions, chance


def check_start(game: Game) -> None:
    """`start` writes every field, whatever the record held before."""
    clean, dirty = np.zeros(1, game.state), np.zeros(1, game.state)
    dirty.view(np.uint8)[:] = 0xA5
    call(game, "start", clean[0])
    call(game, "start", dirty[0])
    for field in game.state.names or ():
        if not np.array_equal(clean[0][field], dirty[0][field]):
            raise fault(game, "start", f"it doesn't write the field {field}")


def turn_of(game: Game, state: Any) -> int:
    turn, seats = call(game, "turn", state), game.facts.seats
    if not _whole(turn) or turn not in (*range(seats), CHANCE, OVER):
        wanted = f"a seat from 0 to {seats - 1}, CHANCE or OVER"
        raise fault(game, "turn", f"it returned {_described(turn)}: it should be {wanted}")
    return int(turn)


def actions_of(game: Game, state: Any, turn: int) -> list[int]:
    """Legal actions are distinct, ascending, and within the facts."""
    out = np.full(SCRATCH, UNWRITTEN)
    n = call(game, "actions", state, out)
    if n is None:
        raise fault(game, "actions", "it returned nothing: it should end with `return n`, the number of actions")
    if not _whole(n) or not 0 <= n <= SCRATCH:
        raise fault(game, "actions", f"it returned {_described(n)}: it should be the number of actions in `out`")
    who = "chance" if turn == CHANCE else f"seat {turn}"
    if n == 0:
        raise fault(game, "actions", f"it returned 0 at a turn of {who}: turn should be OVER where nothing is legal")
    found: list[int] = out[:n].tolist()
    if UNWRITTEN in found:
        raise fault(game, "actions", f"it returned {n}, but wrote {found.index(UNWRITTEN)} actions into `out`")
    if min(found) < 0:
        raise fault(game, "actions", f"action {min(found)} is negative: actions are numbered from 0")
    if any(one >= two for one, two in itertools.pairwise(found)):
        raise fault(game, "actions", f"{found} should be ascending, each action once")
    facts = game.facts
    if turn == CHANCE and n > facts.max_chance_outcomes:
        raise fault(
            game, "max_chance_outcomes", f"{facts.max_chance_outcomes} is too small: a chance turn has {n} outcomes"
        )
    if turn != CHANCE and found[-1] >= facts.num_actions:
        raise fault(
            game, "num_actions", f"{facts.num_actions} is too small: action {found[-1]} is legal for seat {turn}"
        )
    return found


def check_chance(game: Game, state: Any, actions: list[int]) -> None:
    """Chance probabilities are positive and sum to 1."""
    probs = np.full(SCRATCH, np.nan)
    call(game, "chance_probs", state, np.array(actions), len(actions), probs)
    probs = probs[: len(actions)]
    if np.isnan(probs).any():
        raise fault(game, "chance_probs", f"it writes {int((~np.isnan(probs)).sum())} of {len(actions)} probabilities")
    if (probs <= 0).any():
        raise fault(game, "chance_probs", f"outcome {actions[int(probs.argmin())]} has probability {probs.min():g}")
    if abs(probs.sum() - 1) > NEAR:
        raise fault(game, "chance_probs", f"the probabilities sum to {probs.sum():g}, not 1")


def sampled(game: Game, state: Any, turn: int, actions: list[int], rng: np.ndarray, rule: str = "sample_action") -> int:
    action = call(game, rule, state, rng)
    if not _whole(action) or int(action) not in actions:
        raise fault(game, rule, f"it returned {_described(action)}, which is not in the legal actions {actions}")
    return int(action)


def walk(game: Game, rng: np.ndarray, start: Any = None) -> list[Position]:
    """A random game to its end, from the opening or from a position: it ends within `max_game_length` turns."""
    state = np.zeros(1, game.state)[0] if start is None else start.copy()
    if start is None:
        call(game, "start", state)
    played: list[Position] = []
    most, turns = game.facts.max_game_length, 0
    while (turn := turn_of(game, state)) != OVER:
        actions = actions_of(game, state, turn)
        if turn == CHANCE:
            check_chance(game, state, actions)
        action = sampled(game, state, turn, actions, rng)
        if turns < most:
            played.append(Position(state.copy(), turn, actions, action))
        elif turns >= most + PATIENCE:
            raise fault(
                game, "max_game_length", f"{most} is too small: a game wasn't over after {turns} turns; does it ever "
                "end, with turn() == OVER?"
            )  # fmt: skip
        call(game, "play", state, action)
        turns += 1
    if turns > most:
        raise fault(game, "max_game_length", f"{most} is too small: a game took {turns} turns, chance included")
    return [*played, Position(state, OVER, [], -1)]


def check_end(game: Game, state: Any) -> None:
    """Payoffs at the end are numbers within the facts, and sum to 0 where the game is zero-sum."""
    facts = game.facts
    for rule, bounds in (("payoff", facts.payoffs), ("reward", facts.rewards)):
        found = [call(game, rule, state, seat) for seat in range(facts.seats)]
        for seat, value in enumerate(found):
            if not isinstance(value, int | float | np.number) or isinstance(value, bool | np.bool_):
                raise fault(game, rule, f"it returned {_described(value)} for seat {seat}: it should be a float")
            inside = bounds[0] - NEAR <= value <= bounds[1] + NEAR
            if not inside and (rule == "payoff" or facts.seats == 2):
                raise fault(game, rule, f"seat {seat} gets {value:g}, outside {rule}s=({bounds[0]:g}, {bounds[1]:g})")
        if rule == "payoff" and facts.zero_sum and abs(sum(found)) > NEAR * max(1.0, *map(abs, bounds)):
            paid = ", ".join(f"{value:g}" for value in found)
            raise fault(game, rule, f"the payoffs {paid} sum to {sum(found):g}, not 0: is it zero_sum=False?")


# ---------------------------------------------------------------- what a seat knows


def view_of(game: Game, state: Any, seat: int) -> Any:
    """A seat's view, in a record whose bytes held something else before."""
    view = np.frombuffer(bytearray(b"\xa5" * game.state.itemsize), game.state)[0]
    call(game, "look", state, seat, view)
    return view


def infoset_of(game: Game, state: Any, seat: int) -> int:
    key = call(game, "infoset", state, seat)
    if not isinstance(key, np.uint64):
        raise fault(game, "infoset", f"it returned {_described(key)}: it should be np.uint64(...), or mix(...)")
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
    view = seat, packed(view_of(game, position.state, seat))
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


def check_determinize(game: Game, position: Position, rng: np.ndarray, seen: Seen) -> None:
    """A determinization fits its view, and the game can be played on from it."""
    state, turn, actions, _ = position
    for seat in range(game.facts.seats):
        view = view_of(game, state, seat)
        world = determinized(game, view, seat, rng)
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
            check_end(game, walk(game, rng, world)[-1].state)


FEW = 5  # strings of a position are read again
DEEP = 8  # from one sampled position in 8, on average, the game is played to its end


def determinized(game: Game, view: Any, seat: int, rng: np.ndarray) -> Any:
    notes, world = np.zeros(game.facts.notes), np.zeros(1, game.state)[0]
    call(game, "prepare", view, seat, notes)
    made = call(game, "determinize", view, seat, notes, rng, world)
    if not isinstance(made, bool | np.bool_):
        raise fault(game, "determinize", f"it returned {_described(made)}: it should be True, or False if nothing fits")
    if not made:
        raise fault(game, "determinize", f"it finds no position that fits seat {seat}'s view, and there is one")
    return world


def check_views(game: Game, positions: list[Position]) -> None:
    """A game with `look` hides something."""
    seats = range(game.facts.seats)
    if game.facts.hidden and all(
        same(view_of(game, each.state, seat), each.state) for each in positions for seat in seats
    ):
        raise fault(game, "look", "it hides nothing from any seat: mask what a seat can't know, or leave it out")


# ---------------------------------------------------------------- strings and further rules


def check_strings(game: Game, position: Position, rng: np.ndarray, seen: Seen) -> None:
    """Legal actions have different strings, from which they can be read again; positions can be shown."""
    state = position.state
    names: dict[str, int] = {}
    for action in position.actions:
        name = call(game, "action_to_string", state, action)
        if not isinstance(name, str):
            raise fault(game, "action_to_string", f"it returned {_described(name)} for action {action}, not a string")
        if names.setdefault(name.lower(), action) != action:
            raise fault(game, "action_to_string", f"actions {names[name.lower()]} and {action} are both {name!r}")
    for name, action in list(names.items())[:: 1 + len(names) // FEW]:
        try:
            again = call(game, "parse_action", state, name)
        except BadInput as error:
            raise fault(game, "parse_action", f"it can't read {name!r}: {error}") from error
        if again != action:
            raise fault(game, "parse_action", f"it reads {name!r} as action {again}, not {action}")
    for seat in range(-1, game.facts.seats):
        text = call(game, "show", state, seat)
        if not isinstance(text, str):
            raise fault(game, "show", f"it returned {_described(text)}, not a string")


def check_moves(game: Game, position: Position, rng: np.ndarray, seen: Seen) -> None:
    """The heuristic is legal and the same from the view; a playout ends the game."""
    if position.turn >= 0:
        before, view = rng.copy(), view_of(game, position.state, position.turn)
        action = sampled(game, position.state, position.turn, position.actions, rng, "heuristic")
        if sampled(game, view, position.turn, position.actions, before, "heuristic") != action:
            raise fault(game, "heuristic", "its action depends on something that `look` hides")
    end = position.state.copy()
    if int(rng[0]) % DEEP == 0:
        call(game, "random_playout", end, rng)
        if turn_of(game, end) != OVER:
            raise fault(game, "random_playout", "the game isn't over after it")
        check_end(game, end)


def check_public(game: Game, position: Position, rng: np.ndarray, seen: Seen) -> None:
    """Where a game declares a public tree, nothing is hidden but private states, and the rules run without them."""
    state, turn, actions, _ = position
    if not is_split(game) or turn == CHANCE:
        return
    hidden, numbers = state, []
    for seat in range(game.facts.seats):
        hidden = view_of(game, hidden, seat)
        number = call(game, "private_state", state, seat)
        if not _whole(number) or number < 0:
            raise fault(game, "private_state", f"it returned {_described(number)}: it should be a number from 0")
        if call(game, "private_state", view_of(game, state, seat), seat) != number:
            raise fault(game, "private_state", f"seat {seat}'s number depends on something that `look` hides from it")
        numbers.append(int(number))
    if turn == OVER:
        check_payoff_class(game, state, hidden, tuple(numbers), seen)
        return
    public = call(game, "public_state", state)
    if not isinstance(public, np.uint64):
        raise fault(game, "public_state", f"it returned {_described(public)}: it should be np.uint64(...), or mix(...)")
    if call(game, "public_state", hidden) != public:
        raise fault(game, "public_state", "it depends on private states: it differs where they are hidden")
    if turn_of(game, hidden) != turn or actions_of(game, hidden, turn) != actions:
        raise fault(game, "public_state", "legal actions aren't public: they differ where private states are hidden")
    key, split = infoset_of(game, state, turn), (turn, int(public), numbers[turn])
    if seen.splits.setdefault(key, split) != split or seen.joined.setdefault(split, key) != key:
        raise fault(
            game, "public_state", f"an infoset of seat {turn} should be one public_state with one private_state: "
            "a history isn't in the key, or something else is hidden"
        )  # fmt: skip


def check_payoff_class(game: Game, state: Any, hidden: Any, private: tuple[int, ...], seen: Seen) -> None:
    """Ended games of one class have the same payoffs for the same private states."""
    number = call(game, "payoff_class", hidden)
    if not _whole(number) or number < -1:
        raise fault(game, "payoff_class", f"it returned {_described(number)}: it should be a number from 0, or -1")
    if seen.ends.setdefault((-1,), float(number < 0)) != float(number < 0):
        raise fault(game, "payoff_class", "it should be -1 at the end of all games, or of none")
    payoff = float(call(game, "payoff", state, 0))
    if number >= 0 and abs(seen.ends.setdefault((int(number), *private), payoff) - payoff) > NEAR:
        raise fault(game, "payoff_class", f"two games of class {number} with equal private states have other payoffs")


POSITION_RULES: tuple[Callable[[Game, Position, np.ndarray, Seen], None], ...] = (
    check_look, check_infoset, check_determinize, check_strings, check_moves, check_public,
)  # fmt: skip
