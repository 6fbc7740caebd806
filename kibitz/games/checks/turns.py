"""Facts, turns, actions, chance and payoffs, checked along a random game."""

import itertools
import math
from typing import Any, NamedTuple

import numpy as np

from ...core.names import BadInput
from ..protocol import CHANCE, OVER, SCRATCH, Facts, Game
from .faults import call, described, fault, whole
from .strict import strict

PATIENCE = 2000  # turns past `max_game_length`, to tell a long game from one that never ends
NEAR = 1e-9
UNWRITTEN = -(2**62)


class Position(NamedTuple):
    """A turn of a random game."""

    state: Any
    turn: int
    actions: list[int]
    action: int  # the action that was played; -1 at the end


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
        if not whole(value) or value < low:
            raise fault(game, name, f"{value!r} should be a whole number, at least {low}")
    for name in ("payoffs", "rewards"):
        value = getattr(facts, name)
        numbers = isinstance(value, tuple | list) and len(value) == 2 and all(map(_number, value))
        if not numbers or not value[0] < value[1]:
            raise fault(game, name, f"{value!r} should be the lowest and the highest payoff, such as (-1.0, 1.0)")
    return facts


def _number(value: Any) -> bool:
    return isinstance(value, int | float | np.number) and math.isfinite(value)


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
    if not whole(turn) or turn not in (*range(seats), CHANCE, OVER):
        wanted = f"a seat from 0 to {seats - 1}, CHANCE or OVER"
        raise fault(game, "turn", f"it returned {described(turn)}: it should be {wanted}")
    return int(turn)


def actions_of(game: Game, state: Any, turn: int) -> list[int]:
    """Legal actions are distinct, ascending, and within the facts."""
    out = np.full(SCRATCH, UNWRITTEN)
    n = call(game, "actions", state, out)
    if n is None:
        raise fault(game, "actions", "it returned nothing: it should end with `return n`, the number of actions")
    if not whole(n) or not 0 <= n <= SCRATCH:
        raise fault(game, "actions", f"it returned {described(n)}: it should be the number of actions in `out`")
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
    if not whole(action) or int(action) not in actions:
        raise fault(game, rule, f"it returned {described(action)}, which is not in the legal actions {actions}")
    return int(action)


def walk(game: Game, rng: np.ndarray, start: Any = None) -> list[Position]:
    """A random game to its end, from the opening or from a position: it ends within `max_game_length` turns."""
    states = np.zeros(1, game.state)
    state, written = states[0], strict(game, states)
    if start is None:
        call(game, "start", written)
    else:
        states[0] = start
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
        call(game, "play", written, action)
        turns += 1
    if turns > most:
        raise too_long(game, str(turns))
    return [*played, Position(state, OVER, [], -1)]


def too_long(game: Game, turns: str = "more") -> BadInput:
    most = game.facts.max_game_length
    return fault(game, "max_game_length", f"{most} is too small: a game took {turns} turns, chance included")


def check_end(game: Game, state: Any) -> None:
    """Payoffs at the end are numbers within the facts, and sum to 0 where the game is zero-sum."""
    facts = game.facts
    for rule, bounds in (("payoff", facts.payoffs), ("reward", facts.rewards)):
        found = [call(game, rule, state, seat) for seat in range(facts.seats)]
        for seat, value in enumerate(found):
            if not isinstance(value, int | float | np.number) or isinstance(value, bool | np.bool_):
                raise fault(game, rule, f"it returned {described(value)} for seat {seat}: it should be a float")
            inside = bounds[0] - NEAR <= value <= bounds[1] + NEAR
            if not inside and (rule == "payoff" or facts.seats == 2):
                raise fault(game, rule, f"seat {seat} gets {value:g}, outside {rule}s=({bounds[0]:g}, {bounds[1]:g})")
        if rule == "payoff" and facts.zero_sum and abs(sum(found)) > NEAR * max(1.0, *map(abs, bounds)):
            paid = ", ".join(f"{value:g}" for value in found)
            raise fault(game, rule, f"the payoffs {paid} sum to {sum(found):g}, not 0: is it zero_sum=False?")
