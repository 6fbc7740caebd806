"""A position by the moves that led to it: `? K raise`, where `?` stands for what the seat to move can't see."""

import re
from typing import Any

from ...core.names import BadInput
from ...games import CHANCE, OVER, Game, legal_actions, positions
from .formatting import either, nth
from .referee import after, same

UNKNOWN = "?"
TRIES = 20_000  # positions looked at to fill in the ?s


def read_line(game: Game, text: str) -> list[Any]:
    """All positions on the way, the last one with a seat to move; refuses a line that leaves open what that seat sees.

    Hidden moves are filled in with any that make the line legal.
    """
    words = split(text)
    states, whole = _complete(game, words, positions(game))
    if not whole:
        _refuse(game, words, states)
    turn = game.turn(states[-1])
    if turn == OVER:
        raise BadInput("the game is over after these moves: nobody is to move")
    if turn == CHANCE:
        raise BadInput(f"chance is next, not a seat: add {either(_spelled(game, states[-1]))} to the moves")
    _refuse_what_is_seen(game, words, states, turn)
    return states


def split(text: str) -> list[str]:
    return [word for word in re.split(r"[\s,]+", text) if word]


def _complete(game: Game, words: list[str], start: Any) -> tuple[list[Any], bool]:
    """Positions along the words after `start`, and whether all words were legal; else the longest way found."""
    stack = [list(start)]
    max_game_length: list[Any] = []
    for _ in range(TRIES):
        if not stack:
            return max_game_length, False
        states = stack.pop()
        if len(states) > len(words):
            return states, True
        if len(states) > len(max_game_length):
            max_game_length = states
        actions = _actions(game, states[-1], words[len(states) - 1], words[len(states) :])
        stack += [[*states, after(game, states[-1], action)] for action in reversed(actions)]
    raise BadInput(f"too many ways to fill in {words.count(UNKNOWN)} times '?': name some of them")


def _actions(game: Game, state: Any, word: str, later: list[str]) -> list[int]:
    """What a word can mean here. For a ? first what isn't named later, as it may be needed there."""
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


def _refuse(game: Game, words: list[str], states: list[Any]) -> None:
    place, state = len(states), states[-1]
    which = f"the {nth(place)} move, {words[place - 1]!r},"
    if game.turn(state) == OVER:
        raise BadInput(f"{which} comes after the end of the game")
    who = "chance" if game.turn(state) == CHANCE else f"seat {game.turn(state) + 1}"
    raise BadInput(f"{which} can't be: {who} has {either(_spelled(game, state))} there")


def _refuse_what_is_seen(game: Game, words: list[str], states: list[Any], seat: int) -> None:
    """Put another move for each ?, from the last on: what the seat sees must stay the same."""
    key = int(game.infoset(states[-1], seat))
    for place in reversed([i for i, word in enumerate(words) if word == UNKNOWN]):
        for action in legal_actions(game, states[place]):
            other = after(game, states[place], action)
            if same(other, states[place + 1]):
                continue
            line, whole = _complete(game, words, [*states[: place + 1], other])
            if whole and int(game.infoset(line[-1], seat)) != key:
                shown = f"the {nth(place + 1)} move is seen by seat {seat + 1}"
                raise BadInput(f"{shown}: name it, or any that looks the same to seat {seat + 1}")


def _spelled(game: Game, state: Any) -> list[str]:
    return [game.action_to_string(state, action) for action in legal_actions(game, state)]
