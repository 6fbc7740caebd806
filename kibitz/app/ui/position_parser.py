"""Parses the moves that led to a position: `? K raise`, where `?` is anything that the seat to move can't see."""

import re
from collections.abc import Iterable
from typing import Any, NamedTuple

from ...core.names import BadInput
from ...games import CHANCE, OVER, Game, legal_actions, positions
from .formatting import nth
from .position_views import UNKNOWN, Unclear, Visible, opening, views_along
from .referee import equal, next_state
from .words import ENGLISH

CARD = r"\?|(?:10|[2-9TJQKAtjqka])[cdhs♣♦♥♠]"
MAX_TRIES = 20_000  # states visited while filling in each `?`
FEW = 2  # times `?` in which all moves are tried; more are followed by what a seat sees


class Line(NamedTuple):
    """A sequence of moves, as one seat sees it."""

    words: list[str]  # the moves as `spelled`, or ?
    actions: list[int]  # -1: unknown
    worlds: list[Any]  # before each move a state that the seat can't rule out, in which the move is legal
    states: list[
        Any
    ]  # one more than moves, of a deal that fits; where much is unknown, only what the seat sees of them
    seat: int
    whole: bool  # whether the states are whole


def parse_position(game: Game, text: str) -> list[Any]:
    """All states along the moves, the last one with a seat to move.

    Each `?` is replaced by some move that makes the whole sequence legal; where there are many, what the seat to move
    can't see is masked instead. A `?` for something that the seat to move does see is refused, since its view would be
    ambiguous.
    """
    words = split(text)
    line = _seen(game, words, None) if words.count(UNKNOWN) > FEW else None
    states = line.states if line else _filled(game, words, range(MAX_TRIES))
    turn = int(game.turn(states[-1]))
    if turn == OVER:
        raise BadInput("the game is over after these moves: there is no seat to move")
    if turn == CHANCE:
        hidden = "; ? stands for what the seat to move can't see" if game.facts.hidden else ""
        options = ENGLISH.examples(_names(game, states[-1]))
        raise BadInput(f"chance is next, not a seat: add {options} to the moves{hidden}")
    if not line:
        _refuse_visible(game, words, states, turn, range(MAX_TRIES))
    return states


def parse_line(game: Game, text: str, seat: int | None = None, tries: Iterable = range(MAX_TRIES)) -> Line:
    """Parse a sequence of moves that may end anywhere, also in a deal or with the game.

    Args:
        seat: Who looks: a `?` for something that it sees is refused. None: the seat to move; where there is none, the
            first that doesn't see what is unknown.
        tries: One item for each state that may be visited while filling in a `?`; an iterator is for all together.
    """
    words = split(text)
    if UNKNOWN in words and (line := _seen(game, words, seat, words.count(UNKNOWN) <= FEW)):
        return line
    states = _filled(game, words, tries)
    turn = int(game.turn(states[-1]))
    seats = [seat] if seat is not None else [turn] if turn >= 0 else list(range(game.facts.seats))
    for each in seats:
        try:
            _refuse_visible(game, words, states, each, tries)
            break
        except BadInput:
            if each == seats[-1]:
                raise
    actions = [
        -1 if word == UNKNOWN else _actions(game, state, word, [])[0]
        for word, state in zip(words, states[:-1], strict=True)
    ]
    return Line(_spelled(game, states[:-1], actions), actions, states[:-1], states, each, True)


def spelled(game: Game, state: Any, action: int) -> str:
    """The name of an action as one word."""
    return re.sub(r"[\s,]+", "_", game.action_to_string(state, action))


def _spelled(game: Game, states: list[Any], actions: list[int]) -> list[str]:
    pairs = zip(states, actions, strict=True)
    return [UNKNOWN if action < 0 else spelled(game, state, action) for state, action in pairs]


def split(text: str) -> list[str]:
    """The moves of a text. Cards that are written together (`AhAs`, `??Ah10s`) are several."""
    if not isinstance(text, str):
        raise BadInput(f"a position should be one text, such as '? K bet', not {text!r}")
    found: list[str] = []
    for word in re.split(r"[\s,]+", text):
        found += re.findall(CARD, word) if re.fullmatch(rf"(?:{CARD}){{2,}}", word) else [word] if word else []
    return found


def _seen(game: Game, words: list[str], seat: int | None, strict: bool = False) -> Line | None:
    """The line as a seat sees it; None where not only deals are unknown or, if strict, where it isn't clear."""
    problem: BadInput | None = None
    for each in range(game.facts.seats) if seat is None else [seat]:
        try:
            found = views_along(game, words, each, _meant, _refuse_illegal, strict)
        except Unclear:
            return None
        except Visible as error:
            problem = problem or error
            continue
        states = [opening(game, each), *(step.view for step in found)]
        turn = int(game.turn(states[-1]))
        if seat is None and turn >= 0 and turn != each:
            return _seen(game, words, turn, strict)
        worlds, actions = [step.world for step in found], [step.action for step in found]
        return Line(_spelled(game, worlds, actions), actions, worlds, states, each, False)
    if problem and not strict:
        raise problem
    return None


def _meant(game: Game, state: Any, word: str) -> int | None:
    return next(iter(_actions(game, state, word, [])), None)


def _filled(game: Game, words: list[str], tries: Iterable) -> list[Any]:
    """States along the words, with some legal move for each `?`."""
    states, complete = _complete(game, words, positions(game), tries)
    if not complete:
        _refuse_illegal(game, words, len(states) - 1, states[-1:])
    return states


def _complete(game: Game, words: list[str], start: Any, tries: Iterable) -> tuple[list[Any], bool]:
    """Extend the states in `start` along the words, by depth-first search.

    Returns:
        The states, and whether all words were legal; if not, the longest sequence found.
    """
    stack = [list(start)]
    longest: list[Any] = []
    for _ in tries:
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
        return [action for action in legal_actions(game, state) if spelled(game, state, action).lower() == word.lower()]


def _refuse_illegal(game: Game, words: list[str], place: int, states: list[Any]) -> None:
    """Refuse the word in a place, which is legal in none of these states."""
    which, turn = f"the {nth(place + 1)} move, {words[place]!r},", int(game.turn(states[0]))
    if turn == OVER:
        raise BadInput(f"{which} comes after the end of the game")
    options = "the chance outcomes are" if turn == CHANCE else f"seat {turn + 1} can choose"
    found = dict.fromkeys(name for state in states for name in _names(game, state))
    raise BadInput(f"{which} is not possible: {options} {ENGLISH.examples(list(found))}")


def _refuse_visible(game: Game, words: list[str], states: list[Any], seat: int, tries: Iterable) -> None:
    """Replace each `?` by every other move, from the last one on: the seat's infoset must stay the same."""
    key = int(game.infoset(states[-1], seat))
    for place in reversed([i for i, word in enumerate(words) if word == UNKNOWN]):
        for action in legal_actions(game, states[place]):
            other = next_state(game, states[place], action)
            if equal(other, states[place + 1]):
                continue
            found, complete = _complete(game, words, [*states[: place + 1], other], tries)
            if complete and int(game.infoset(found[-1], seat)) != key:
                which = f"the {nth(place + 1)} move is visible to seat {seat + 1}"
                raise BadInput(f"{which}: name it, or one that looks the same to seat {seat + 1}")


def _names(game: Game, state: Any) -> list[str]:
    return [game.action_to_string(state, action) for action in legal_actions(game, state)]
