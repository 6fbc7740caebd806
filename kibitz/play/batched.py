"""Thousands of games of a match side by side, for players that give probabilities for many views at once.

Between two moves chance plays in all games; then each player is asked for its probabilities at all views that wait for
it. Chance outcomes and moves are drawn from the same seeds and in the same way as in games played one by one, so the
games are the same.

Such a player is an `AdvisedPlayer` with `action_probs(views)`; each move is drawn from its `generator`. A player that
draws something at the beginning of a game and keeps to it, such as one of several networks, has its number in `drawn`,
and is asked by `action_probs(views, drawn)` with the number of each view's game. `draw_weights` are the probabilities
with which it draws them, for opponents that know its strategy.
"""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import product
from typing import Any

import numpy as np

from ..core.names import BadInput
from ..games import Game, full_name
from ..games.protocol import CHANCE, SCRATCH, NoSeat, TooLong
from ..games.records import Record
from ..jit import helper, kernel
from .play import chance_rng_of, lineup, player_at, round_of, seat_of, seed_of
from .players import AdvisedPlayer

BLOCK = 2000  # games side by side: enough for a network, and few enough that a kill costs little
MANY = 2000  # games for which it pays to compile the rules


def all_batched(players: Sequence[Any]) -> bool:
    """Whether all players give probabilities for many views at once."""
    return all(isinstance(each, AdvisedPlayer) and hasattr(each, "action_probs") for each in players)


def blocks(numbers: Sequence[int]) -> list[tuple[int, ...]]:
    return [tuple(numbers[start : start + BLOCK]) for start in range(0, len(numbers), BLOCK)]


def match_blocks(game: str | Game, players: Sequence[Any], seed: int) -> Callable[[Sequence[int]], list[Record]]:
    """Return the function that plays a block of games by their numbers: the part of each worker process."""
    return partial(play_block, *lineup(game, players), seed)


def play_block(
    game: Game, players: Sequence[Any], names: Sequence[str], seed: int, numbers: Sequence[int]
) -> list[Record]:
    """Play these games of a match side by side."""
    seats, max_game_length, count = game.facts.seats, game.facts.max_game_length, len(numbers)
    states, views = np.zeros(count, game.state), np.zeros(count, game.state)
    log, done = np.zeros((count, max_game_length), np.int64), np.zeros(count, np.int64)
    turns, payoffs = np.zeros(count, np.int64), np.zeros((count, seats))
    scratch = np.zeros(SCRATCH, np.int64), np.zeros(SCRATCH)
    deals = [round_of(number, seats) for number in numbers]
    dealt = {deal: chance_rng_of(seed, deal).random(max_game_length) for deal in dict.fromkeys(deals)}
    chance, dealt_so_far = np.array([dealt[deal] for deal in deals]), np.zeros(count, np.int64)
    seat = np.array([[seat_of(player, number, seats) for number in numbers] for player in range(seats)])
    # Per player and game: its draw at the beginning, the coming numbers of its generator, and how many were used.
    drawn, draws = np.zeros((seats, count), np.int64), np.zeros((seats, count, max_game_length))
    moved = np.zeros((seats, count), np.int64)
    for player, one in enumerate(players):
        for i, number in enumerate(numbers):
            one.begin(game, int(seat[player, i]), seed_of(seed, number, player))
            drawn[player, i] = getattr(one, "drawn", 0)
            draws[player, i] = one.generator.random(max_game_length)
    start(game, states)
    while to_next_seats(game, states, chance, dealt_so_far, log, done, views, turns, payoffs, *scratch):
        for player, turn in product(range(seats), range(seats)):
            rows = np.flatnonzero((turns == turn) & (seat[player] == turn))
            if not len(rows):
                continue
            begun = (drawn[player, rows],) if hasattr(players[player], "drawn") else ()
            probs = players[player].action_probs(views[rows], *begun)
            if not np.allclose(probs.sum(axis=1), 1):
                raise BadInput(f"{names[player]} gives probabilities that don't sum to 1")
            move(game, states, rows, probs, draws[player], moved[player], log, done, scratch[0])
    order = [[names[player_at(seat, turn, seats)] for seat in range(seats)] for turn in range(seats)]
    title, logs, ends, paid = full_name(game), log.tolist(), done.tolist(), payoffs.tolist()
    return [
        Record(number, title, order[number % seats], seed, logs[i][: ends[i]], paid[i])
        for i, number in enumerate(numbers)
    ]


@helper
def draw(probs, n, at):
    """Draw an index as NumPy's `choice` does: the first at which the running sum is above `at` times the whole sum."""
    whole = 0.0
    for j in range(n):
        whole += probs[j]
    so_far = 0.0
    for j in range(n - 1):
        so_far += probs[j]
        if so_far / whole > at:
            return j
    return n - 1


@kernel
def start(game, states):
    for i in range(len(states)):
        game.start(states[i])


@kernel
def to_next_seats(game, states, chance, dealt, log, done, views, turns, payoffs, actions, probs):
    """Let chance play in each game until a seat has the turn.

    Writes the seat and its view, or the payoffs where the game is over. Returns the number of unfinished games.
    """
    live = 0
    for i in range(len(states)):
        state = states[i]
        while game.turn(state) == CHANCE:
            if done[i] == log.shape[1]:
                raise TooLong
            n = game.actions(state, actions)
            game.chance_probs(state, actions, n, probs)
            log[i, done[i]] = actions[draw(probs, n, chance[i, dealt[i]])]
            game.play(state, log[i, done[i]])
            dealt[i] += 1
            done[i] += 1
        turns[i] = game.turn(state)
        if turns[i] >= payoffs.shape[1]:
            raise NoSeat
        if turns[i] >= 0:
            live += 1
            game.look(state, turns[i], views[i])
        else:
            for seat in range(payoffs.shape[1]):
                payoffs[i, seat] = game.payoff(state, seat)
    return live


@kernel
def move(game, states, rows, probs, draws, moved, log, done, actions):
    """Play one move in each of these games."""
    for k in range(len(rows)):
        i = rows[k]
        if done[i] == log.shape[1]:
            raise TooLong
        n = game.actions(states[i], actions)
        action = actions[draw(probs[k], n, draws[i, moved[i]])]
        log[i, done[i]] = action
        game.play(states[i], action)
        moved[i] += 1
        done[i] += 1
