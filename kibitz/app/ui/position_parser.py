"""Parses the moves that led to a position: `? K raise`, where `?` is anything that the seat to move can't see."""

import re
from typing import Any

from ...core.names import BadInput
from ...games import CHANCE, OVER, Game, legal_actions, positions
from .formatting import nth
from .referee import equal, next_state
from .words import ENGLISH

UNKNOWN = "?"
CARD = r"\?|(?:10|[2-9TJQKAtjqka])[cdhs♣♦♥♠]"
MAX_TRIES = 20_000  # states visited while filling in each `?`


def parse_position(game: Game, text: str) -> list[Any]:
    """All states along the moves, the last one with a seat to move.

    Each `?` is replaced by some move that makes the whole sequence legal. A `?` for something that the seat to move
    does see is refused, since its view would be ambiguous.
    """
    words = split(text)
    states, complete = _complete(game, words, positions(game))
    if not complete:
        _refuse_illegal(game, words, states)
    turn = game.turn(states[-1])
    if turn == OVER:
        raise BadInput("the game is over after these moves: there is no seat to move")
    if turn == CHANCE:
        hidden = "; ? stands for what the seat to move can't see" if game.facts.hidden else ""
        options = ENGLISH.examples(_names(game, states[-1]))
        raise BadInput(f"chance is next, not a seat: add {options} to the moves{hidden}")
    _refuse_visible(game, words, states, turn)
    return states


def split(text: str) -> list[str]:
    """The moves of a text. Cards that are written together (`AhAs`, `??Ah10s`) are several."""
    found: list[str] = []
    for word in re.split(r"[\s,]+", text):
        found += re.findall(CARD, word) if re.fullmatch(rf"(?:{CARD}){{2,}}", word) else [word] if word else []
    return found


def _complete(game: Game, words: list[str], start: Any) -> tuple[list[Any], bool]:
    """Extend the states in `start` along the words, by depth-first search.

    Returns:
        The states, and whether all words were legal; if not, the longest sequence found.
    """
    stack = [list(start)]
    longest: list[Any] = []
    for _ in range(MAX_TRIES):
        if not stack:
            return longest, False
        states = stack.pop()
        if len(states) > len(words):
            return states, True
        if len(states) > len(longest):
            longest = states
        actions = _actions(game, states[-1], words[len(states) - 1], words[len(states) :])
        stack += [[*states, next_state(game, states[-1], action)] for action in reversed(actions)]
    raise BadInput(f"too many ways to fill in {words.count(UNKNOWN)} times '?': name some of them")


def _actions(game: Game, state: Any, word: str, later: list[str]) -> list[int]:
    """Actions that a word can mean here. For a `?`, those that are named later come last: they may be needed there."""
    if game.turn(state) == OVER:
        return []
    if word == UNKNOWN:
        named = {other.lower() for other in later}
        return sorted(
            legal_actions(game, state), key=lambda action: game.action_to_string(state, action).lower() in named
        )
    try:
        return [game.parse_action(state, word)]
    except BadInput:
        return []


def _refuse_illegal(game: Game, words: list[str], states: list[Any]) -> None:
    place, state = len(states), states[-1]
    which = f"the {nth(place)} move, {words[place - 1]!r},"
    if game.turn(state) == OVER:
        raise BadInput(f"{which} comes after the end of the game")
    chance = game.turn(state) == CHANCE
    options = "the chance outcomes are" if chance else f"seat {game.turn(state) + 1} can choose"
    raise BadInput(f"{which} is not possible: {options} {ENGLISH.examples(_names(game, state))}")


def _refuse_visible(game: Game, words: list[str], states: list[Any], seat: int) -> None:
    """Replace each `?` by every other move, from the last one on: the seat's infoset must stay the same."""
    key = int(game.infoset(states[-1], seat))
    for place in reversed([i for i, word in enumerate(words) if word == UNKNOWN]):
        for action in legal_actions(game, states[place]):
            other = next_state(game, states[place], action)
            if equal(other, states[place + 1]):
                continue
            found, complete = _complete(game, words, [*states[: place + 1], other])
            if complete and int(game.infoset(found[-1], seat)) != key:
                which = f"the {nth(place + 1)} move is visible to seat {seat + 1}"
                raise BadInput(f"{which}: name it, or one that looks the same to seat {seat + 1}")


def _names(game: Game, state: Any) -> list[str]:
    return [game.action_to_string(state, action) for action in legal_actions(game, state)]
