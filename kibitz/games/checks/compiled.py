"""Compile the rules of a game one by one, and say in one line why one doesn't compile or differs from plain Python."""

import ast
import difflib
import inspect
import linecache
import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from ...core.names import BadInput
from ...core.progress import SILENT, Reporter
from ...jit import generators, kernel
from ..protocol import CHANCE, OVER, SCRATCH, Game
from .faults import fault, same
from .turns import Position
from .views import ONLY_RNG

# ---------------------------------------------------------------- one small kernel per rule


@kernel
def _start(game, states):
    game.start(states[0])


@kernel
def _turn(game, states):
    return game.turn(states[0])


@kernel
def _actions(game, states, out):
    return game.actions(states[0], out)


@kernel
def _chance_probs(game, states, actions, n, out):
    game.chance_probs(states[0], actions, n, out)


@kernel
def _sample_action(game, states, rng):
    return game.sample_action(states[0], rng)


@kernel
def _play(game, states, action):
    game.play(states[0], action)


@kernel
def _random_playout(game, states, rng):
    game.random_playout(states[0], rng)


@kernel
def _heuristic(game, states, rng):
    return game.heuristic(states[0], rng)


@kernel
def _is_announcement(game, states):
    return game.is_announcement(states[0])


@kernel
def _payoff(game, states, seat):
    return game.payoff(states[0], seat)


@kernel
def _reward(game, states, seat):
    return game.reward(states[0], seat)


@kernel
def _infoset(game, states, seat):
    return game.infoset(states[0], seat)


@kernel
def _observe(game, states, seat, out):
    game.observe(states[0], seat, out)


@kernel
def _look(game, states, seat, out):
    game.look(states[0], seat, out[0])


@kernel
def _prepare(game, states, seat, notes):
    game.prepare(states[0], seat, notes)


@kernel
def _determinize(game, states, seat, notes, rng, out):
    return game.determinize(states[0], seat, notes, rng, out[0])


@kernel
def _target(game, states, views, seat, mode, actions, n, keep):
    return game.target(states[0], views[0], seat, mode, actions, n, keep)


@kernel
def _private_state(game, states, seat):
    return game.private_state(states[0], seat)


@kernel
def _public_state(game, states):
    return game.public_state(states[0])


@kernel
def _payoff_class(game, states):
    return game.payoff_class(states[0])


@kernel
def _from_to(game, states, action):
    return game.from_to(states[0], action)


@kernel
def _pieces(game, states, seat, word):
    return game.pieces(states[0], seat, word)


KERNELS: dict[str, Any] = {
    "start": _start, "turn": _turn, "actions": _actions, "play": _play, "payoff": _payoff,
    "chance_probs": _chance_probs, "sample_action": _sample_action, "infoset": _infoset, "look": _look,
    "prepare": _prepare, "determinize": _determinize, "observe": _observe, "reward": _reward,
    "heuristic": _heuristic, "is_announcement": _is_announcement, "target": _target, "from_to": _from_to,
    "pieces": _pieces, "random_playout": _random_playout, "private_state": _private_state,
    "public_state": _public_state, "payoff_class": _payoff_class,
}  # fmt: skip
BY_SEAT = ("payoff", "reward", "infoset", "observe", "look", "prepare", "determinize", "target", "pieces",
           "private_state")  # fmt: skip


def check_compiled(game: Game, positions: list[Position], report: Reporter = SILENT) -> None:
    """Compile each rule that the class writes itself, in this order, and compare it with plain Python.

    Raises:
        BadInput: A rule doesn't compile, or gives something else when compiled.
    """
    for number, (rule, compiled) in enumerate(KERNELS.items()):
        if vars(type(game))[rule].__module__ == "kibitz.games.game":
            continue  # a default
        report.progress(number, len(KERNELS), f"rules, compiled: {rule}")
        for position in [each for each in positions if _concerns(rule, each)] or positions[:1]:
            for seat in range(game.facts.seats) if rule in BY_SEAT else (0,):
                arguments, outputs = _arguments(game, rule, position, seat)
                plain_arguments, plain_outputs = _arguments(game, rule, position, seat)
                found = _run(game, rule, compiled, arguments)
                expected = getattr(game, rule)(*_as_plain(plain_arguments))
                if not _agree(found, expected) or not all(map(_agree, outputs, plain_outputs)):
                    again, again_outputs = _arguments(game, rule, position, seat)
                    repeated = getattr(game, rule)(*_as_plain(again))
                    if not _agree(repeated, expected) or not all(map(_agree, again_outputs, plain_outputs)):
                        raise fault(game, rule, f"it gives two results for one position and one rng: {ONLY_RNG}")
                    if _agree(found, expected):  # what it writes differs
                        found = expected = None
                    raise fault(
                        game, rule, f"it gives {_short(found, outputs)} when compiled and "
                        f"{_short(expected, plain_outputs)} in plain Python: see the pitfalls in docs/write-a-game.md"
                    )  # fmt: skip


def _concerns(rule: str, position: Position) -> bool:
    """Whether a rule is ever called at such a position."""
    if rule in ("payoff", "reward", "payoff_class"):
        return position.turn == OVER
    if rule == "chance_probs":
        return position.turn == CHANCE
    if rule in ("heuristic", "private_state", "public_state", "target", "from_to", "is_announcement"):
        return position.turn >= 0
    return position.turn != OVER or rule not in ("actions", "sample_action", "play", "random_playout")


def _arguments(game: Game, rule: str, position: Position, seat: int) -> tuple[list[Any], list[Any]]:
    """The arguments of a rule's kernel at a position, and those of them that it writes."""
    states, out = np.array([position.state], game.state), np.zeros(1, game.state)
    facts, legal = game.facts, np.zeros(SCRATCH, np.int64)
    n, rng = len(position.actions), generators(1, 1)[0]
    legal[:n] = position.actions
    notes, probs, encoding = np.zeros(facts.notes), np.zeros(SCRATCH), np.zeros(facts.encoding, np.float32)
    keep, empty = np.zeros(SCRATCH, np.bool_), np.zeros(SCRATCH, np.int64)
    if rule == "determinize":
        game.look(position.state, seat, states[0])
        game.prepare(states[0], seat, notes)
    rest: dict[str, tuple[list[Any], list[Any]]] = {
        "start": ([], [states]), "turn": ([], []), "actions": ([empty], [empty]),
        "chance_probs": ([legal, n, probs], [probs]), "sample_action": ([rng], [rng]),
        "play": ([position.action], [states]), "random_playout": ([rng], [states]), "heuristic": ([rng], []),
        "is_announcement": ([], []), "payoff": ([seat], []), "reward": ([seat], []), "infoset": ([seat], []),
        "observe": ([seat, encoding], [encoding]), "look": ([seat, out], [out]), "prepare": ([seat, notes], [notes]),
        "determinize": ([seat, notes, rng, out], [out]),
        "target": ([states.copy(), seat, 0, legal, n, keep], [keep]), "from_to": ([position.action], []),
        "pieces": ([seat, 0], []), "private_state": ([seat], []), "public_state": ([], []), "payoff_class": ([], []),
    }  # fmt: skip
    arguments, outputs = rest[rule]
    return [states, *arguments], outputs


def _as_plain(arguments: list[Any]) -> list[Any]:
    """Arguments of a kernel as those of the rule: positions are records instead of arrays of one."""
    return [each[0] if isinstance(each, np.ndarray) and each.dtype.names else each for each in arguments]


def _agree(one: Any, two: Any) -> bool:
    if isinstance(one, np.ndarray) and one.dtype.names:
        return same(one[0], two[0])
    if one is None or two is None:
        return one is two
    return bool(np.allclose(np.asarray(one, float), np.asarray(two, float), rtol=1e-6, atol=1e-6, equal_nan=True))


def _short(returned: Any, outputs: list[Any]) -> str:
    found = returned if returned is not None else outputs[0] if outputs else None
    text = " ".join(str(found[:8] if isinstance(found, np.ndarray) and not found.dtype.names else found).split())
    return text if len(text) < 60 else f"{text[:57]}..."


# ---------------------------------------------------------------- why a rule doesn't compile


def _run(game: Game, rule: str, compiled: Any, arguments: list[Any]) -> Any:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Numba's, before its error: of that the reason is given below
            return compiled(game, *arguments)
    except BadInput:
        raise
    except Exception as error:
        line, reason = explained(game, rule, error)
        raise fault(game, rule, reason, line) from error


CAN = "compiled rules know numbers, tuples of numbers, NumPy arrays, loops, other rules and @helper functions"
# What stands in the line -> what to write instead.
INSTEAD: list[tuple[tuple[type, ...], str]] = [
    ((ast.Import, ast.ImportFrom), "an import can't be compiled: move it to the top of the file"),
    ((ast.Try,), "try and except can't be compiled: test with if before"),
    ((ast.With,), "a with statement can't be compiled"),
    ((ast.Yield, ast.YieldFrom), "yield can't be compiled: write into `out` and return the number"),
    ((ast.Lambda, ast.FunctionDef), "a function inside a rule can't be compiled: make it a top-level @helper"),
    ((ast.ClassDef,), "a class inside a rule can't be compiled: use numbers and arrays"),
    ((ast.JoinedStr,), "an f-string can't be compiled: strings belong into show and action_to_string"),
    ((ast.Dict, ast.DictComp), "a dictionary can't be compiled here: use a NumPy array, or a tuple, at the top level"),
    ((ast.Set, ast.SetComp), "a set can't be compiled here: use bits of a number, or an array"),
    ((ast.ListComp, ast.GeneratorExp), "this comprehension can't be compiled: write a loop"),
    ((ast.Starred,), "a starred expression can't be compiled: write the arguments one by one"),
]


def explained(game: Game, rule: str, error: Exception) -> tuple[int, str]:
    """The line and the reason why a rule doesn't compile, in the author's words, from Numba's error."""
    text = re.sub(r"\x1b\[[0-9;]*m", "", str(error))
    function = vars(type(game))[rule]
    name = re.escape(Path(function.__code__.co_filename).name)
    places = re.findall(rf'{name}", line (\d+)|{name} \((\d+)\)', text)
    line = int(places[0][0] or places[0][1]) if places else 0
    for kinds, advice in INSTEAD:
        found = _lines(function, kinds, line)
        if found:
            return min(found), advice
    return line, _reason(game, function, text)


def _reason(game: Game, function: Any, text: str) -> str:
    unknown = re.search(r"Untyped global name '(\w+)'", text)
    if unknown:
        value = function.__globals__.get(unknown[1])
        if inspect.isfunction(value):
            return f"it uses {unknown[1]}, which lacks the decorator @helper (from kibitz import helper)"
        if inspect.isclass(value):
            return f"it uses {unknown[1]}, which is a class: {CAN}"
        kind = type(value).__name__
        return f"it uses {unknown[1]}, a {kind}, which compiled code can't read: use a NumPy array, or a tuple"
    for used in function.__code__.co_names:  # a search may have a rule of that name, so that Numba finds other faults
        if used not in (*KERNELS, *function.__globals__) and inspect.isfunction(vars(type(game)).get(used)):
            return f"{used} is a method that is no rule: make it a top-level function with the decorator @helper"
    field = re.search(r"Unknown attribute '(\w+)'", text)
    if field:
        near = difflib.get_close_matches(field[1], [*(game.state.names or ()), *game._asdict(), *KERNELS], 1)
        hint = f": did you mean {near[0]!r}?" if near else ""
        return f"compiled code knows no attribute {field[1]!r} here{hint}; {CAN}"
    if re.search(r"unify.*\bnone\b", text):
        return "it returns a value on one path and nothing on another: end each path with return"
    if "unify" in text:
        return "a variable or the returned value has two types that don't go together: use one type"
    if "unicode_type" in text or "Literal[str]" in text:
        return f"a string can't be compiled here: {CAN}"
    reasons = [each.strip() for each in text.splitlines() if each.strip()]
    failed = [i for i, each in enumerate(reasons[:-1]) if "Failed in nopython" in each]
    return f"it can't be compiled: {reasons[failed[-1] + 1 if failed else 0][:150]}; {CAN}"


def _lines(function: Any, kinds: tuple[type, ...], line: int) -> list[int]:
    """The first lines of such syntax around a line of the rule's file; line 0: anywhere in the rule."""
    file, first = function.__code__.co_filename, function.__code__.co_firstlineno
    try:
        tree: ast.AST = ast.parse("".join(linecache.getlines(file)))
    except SyntaxError:  # it was edited since it was imported
        return []
    rule = next((node for node in ast.walk(tree) if getattr(node, "lineno", 0) == first), tree)
    inside = ast.walk(tree if line else rule)
    found = [node for node in inside if isinstance(node, kinds) and node is not rule]
    around = [node for node in found if not line or node.lineno <= line <= (node.end_lineno or 0)]  # type: ignore[attr-defined]
    methods = (ast.FunctionDef, ast.ClassDef)  # the rule and its class themselves
    return [node.lineno for node in around if not (isinstance(node, methods) and node.lineno <= first)]  # type: ignore[attr-defined]
