"""Rules that a game may leave out: strings, the heuristic, playouts, and those of a public tree."""

from typing import Any

import numpy as np

from ...core.names import BadInput
from ..game import is_split
from ..protocol import CHANCE, OVER, Game
from .faults import call, described, fault, whole
from .turns import NEAR, Position, actions_of, check_end, sampled, turn_of
from .views import DEEP, ONLY_RNG, Seen, infoset_of, view_of

FEW = 5  # strings of a position are read again


def check_strings(game: Game, position: Position, rng: np.ndarray, seen: Seen) -> None:
    """Legal actions have different strings, from which they can be read again; positions can be shown."""
    state = position.state
    names: dict[str, int] = {}
    for action in position.actions:
        name = call(game, "action_to_string", state, action)
        if not isinstance(name, str):
            raise fault(game, "action_to_string", f"it returned {described(name)} for action {action}, not a string")
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
            raise fault(game, "show", f"it returned {described(text)}, not a string")


def check_moves(game: Game, position: Position, rng: np.ndarray, seen: Seen) -> None:
    """The heuristic is legal and the same from the view; a playout ends the game."""
    if position.turn >= 0:
        before, again, view = rng.copy(), rng.copy(), view_of(game, position.state, position.turn)
        action = sampled(game, position.state, position.turn, position.actions, rng, "heuristic")
        if sampled(game, position.state, position.turn, position.actions, again, "heuristic") != action:
            raise fault(game, "heuristic", f"it gives two actions for one position and one rng: {ONLY_RNG}")
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
        if not whole(number) or number < 0:
            raise fault(game, "private_state", f"it returned {described(number)}: it should be a number from 0")
        if call(game, "private_state", view_of(game, state, seat), seat) != number:
            raise fault(game, "private_state", f"seat {seat}'s number depends on something that `look` hides from it")
        numbers.append(int(number))
    if turn == OVER:
        check_payoff_class(game, state, hidden, tuple(numbers), seen)
        return
    public = call(game, "public_state", state)
    if not isinstance(public, np.uint64):
        raise fault(game, "public_state", f"it returned {described(public)}: it should be np.uint64(...), or mix(...)")
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
    if not whole(number) or number < -1:
        raise fault(game, "payoff_class", f"it returned {described(number)}: it should be a number from 0, or -1")
    if seen.ends.setdefault((-1,), float(number < 0)) != float(number < 0):
        raise fault(game, "payoff_class", "it should be -1 at the end of all games, or of none")
    payoff = float(call(game, "payoff", state, 0))
    if number >= 0 and abs(seen.ends.setdefault((int(number), *private), payoff) - payoff) > NEAR:
        raise fault(game, "payoff_class", f"two games of class {number} with equal private states have other payoffs")
