"""What a seat saw happen, told from its own views alone: what it can't know, this file can't either."""

from typing import Any

import numpy as np

from ...games import CHANCE, Game, legal_actions, view_of
from ...jit import generators
from .formatting import sentence
from .referee import Step, after

WORLDS = 20  # positions tried; what everybody sees shows in the first, the others rule out luck
MAX_WORLDS = 500  # until one allows what was done: a certain card is in few of the hands that one may have


def seen_action(game: Game, seat: int, step: Step) -> int | None:
    """The action between two views, where the seat can tell it.

    Guess the position before, try every action there: the seat sees actions if all lead to
    different views, and knows this one if only one ever leads to the view that it has now.
    """
    rng, notes, world = generators(1, 1)[0], np.zeros(game.facts.notes), np.zeros(1, game.state)[0]
    game.prepare(step.before, seat, notes)
    found: set[int] = set()
    for tried in range(MAX_WORLDS if game.facts.hidden else 1):
        if tried >= WORLDS and found:
            break
        if not game.determinize(step.before, seat, notes, rng, world):
            continue
        looks = {
            action: _fields(view_of(game, after(game, world, action), seat)) for action in legal_actions(game, world)
        }
        if len(set(looks.values())) < len(looks):
            return None
        found |= {action for action, look in looks.items() if look == _fields(step.after)}
    return found.pop() if len(found) == 1 else None


def told(game: Any, seat: int, step: Step) -> str:
    """A sentence about what another seat or chance did, in a game's talk; empty where the seat saw nothing of it."""
    action = seen_action(game, seat, step)
    if action is not None and not game.tells(step.before, action):
        return ""
    if step.turn == CHANCE:
        return "" if action is None else f"chance: {game.action_to_string(step.before, action)}"
    who = f"seat {step.turn + 1}"
    if action is None:
        return f"{who} has moved"
    return sentence(who, game.heard(step.before, action, step.after), game.is_announcement(step.before))


def _fields(view: Any) -> tuple[bytes, ...]:
    return tuple(np.asarray(view[field]).tobytes() for field in view.dtype.names)
