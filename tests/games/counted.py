"""Counts of lines of play and distinct positions of board games, and their values by exhaustive search."""

from typing import Any

import numpy as np

from kibitz import games, jit
from kibitz.games import OVER, Game

ROOM = 1 << 22  # cached answers, a power of two


def perft(game: Game, depth: int, start: Any = None) -> int:
    """Number of lines of play of exactly `turns` turns; those that end earlier aren't counted."""
    return lines_of_play(game, depth, start)[0]


def lines_of_play(game: Game, depth: int, start: Any = None) -> tuple[int, int]:
    """Number of lines of play of exactly `turns` turns, and of those that end earlier."""
    states = games.positions(game, depth + 1)
    if start is not None:
        states[0] = start
    actions = np.zeros((depth + 1, game.facts.num_actions), np.int64)
    return _perft(game, depth, states, actions, np.zeros(depth + 1, np.int64))


@jit.kernel
def _perft(game, depth, states, actions, left):
    """`left[d]` actions of the position at depth d are still to be tried."""
    found, ended, at = 0, 0, 0
    left[0] = game.actions(states[0], actions[0])
    while at >= 0:
        if left[at] == 0:
            at -= 1
        elif at == depth - 1:
            found += left[at]
            at -= 1
        else:
            left[at] -= 1
            states[at + 1] = states[at]
            game.play(states[at + 1], actions[at, left[at]])
            if game.turn(states[at + 1]) == OVER:
                ended += 1
            else:
                at += 1
                left[at] = game.actions(states[at], actions[at])
    return found, ended


def layers(game: Game, depth: int = 999) -> list[np.ndarray]:
    """The distinct positions after 0, 1, 2, ... turns, those that are over included."""
    found = [games.positions(game)]
    while len(found) <= depth:
        room = np.zeros(len(found[-1]) * game.facts.num_actions, game.state)
        following = room[: _follow(game, found[-1], room, np.zeros(game.facts.num_actions, np.int64))]
        if not len(following):
            break
        keys = np.zeros(len(following), np.uint64)
        _keys(game, following, keys)
        found.append(following[np.unique(keys, return_index=True)[1]])
    return found


@jit.kernel
def _follow(game, states, out, actions):
    end = 0
    for i in range(len(states)):
        if game.turn(states[i]) != OVER:
            for k in range(game.actions(states[i], actions)):
                out[end] = states[i]
                game.play(out[end], actions[k])
                end += 1
    return end


@jit.kernel
def _keys(game, states, keys):
    for i in range(len(states)):
        keys[i] = game.infoset(states[i], 0)


def value(game: Game, start: Any = None, promise: Any = None) -> int:
    """The value for seat 0 under best play: 1, 0 or -1. Promising actions are tried first."""
    depth = game.facts.max_game_length + 1
    states = games.positions(game, depth)
    if start is not None:
        states[0] = start
    actions, left = np.zeros((depth, game.facts.num_actions), np.int64), np.zeros(depth, np.int64)
    promise = np.zeros(game.facts.num_actions) if promise is None else np.array(promise, float)
    for wanted in (1, 0):
        memory = np.zeros(ROOM, np.uint64), np.zeros(ROOM, np.bool_)
        if _can_get(game, wanted, promise, states, actions, left, *memory):
            return wanted
    return -1


@jit.kernel
def _can_get(game, wanted, promise, states, actions, left, keys, answers):
    """Whether seat 0 gets at least this much: lines of play are tried until it is decided, each position once."""
    room = np.uint64(len(keys) - 1)
    at = 0
    left[0] = _in_order(game, promise, states[0], actions[0])
    while True:
        left[at] -= 1
        states[at + 1] = states[at]
        game.play(states[at + 1], actions[at, left[at]])
        key = game.infoset(states[at + 1], 0)
        if game.turn(states[at + 1]) == OVER:
            answer = game.payoff(states[at + 1], 0) >= wanted
        elif keys[key & room] == key:
            answer = answers[key & room]
        else:
            at += 1
            left[at] = _in_order(game, promise, states[at], actions[at])
            continue
        # Seat 0 needs one yes, seat 1 one no; else all actions have to be tried.
        while left[at] == 0 or answer == (game.turn(states[at]) == 0):
            key = game.infoset(states[at], 0)
            keys[key & room], answers[key & room] = key, answer
            if at == 0:
                return answer
            at -= 1


@jit.helper
def _in_order(game, promise, state, actions):
    """The actions, the most promising last."""
    n = game.actions(state, actions)
    for i in range(n):
        action, to = actions[i], i
        while to > 0 and promise[actions[to - 1]] > promise[action]:
            actions[to] = actions[to - 1]
            to -= 1
        actions[to] = action
    return n
