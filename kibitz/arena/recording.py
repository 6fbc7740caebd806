"""Recordings: many games of the same players, each of its own luck, for networks to learn from.

Spread and written as a match is: all cores, each game as it ends, the same games whoever plays them. The rules run
compiled, as players that think for a moment only would else wait for them.
"""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ..core.names import BadInput, at_least
from ..core.runs import Run
from ..games import Game, full_name, load, positions
from ..games.game import CHANCE, SCRATCH
from ..games.records import Record
from ..jit import generators, kernel
from ..players import Player, make_for
from .match import begin, play_into
from .play import player_at


def open_recording(folder: Path | None, game_name: str, names: Sequence[str], games: int, seed: int) -> Run:
    """A new run folder, or one that holds this recording, of as many games or fewer. One name is for all seats."""
    at_least("games", games, 1)
    at_least("seed", seed, 0)
    game = load(game_name)
    seats = game.facts.seats
    if "human" in names:
        raise BadInput("a human can't play on all cores at once; kibitz match takes one")
    if len(names) not in (1, seats):
        raise BadInput(
            f"{full_name(game)} is for {seats} players: name one for all seats, or {seats}, not {len(names)}"
        )
    players = list(names) * (seats if len(names) == 1 else 1)
    recorder(game_name, players, seed)
    config = {"command": "record", "game": full_name(game), "players": players, "games": games, "seed": seed}
    return Run.create_or_resume(folder, f"{game.name}-record", config, may_grow=("games",))


def record_into(run: Run, processes: int | None = None, **settings: Any) -> list[Record]:
    """Play what is missing, as `play_into` does."""
    return play_into(run, processes, make=recorder, **settings)


def recorder(game_name: str, names: Sequence[str], seed: int) -> Callable[[int], Record]:
    """What a process needs: the function from number to record. Players move on a seat every game."""
    game = load(game_name)
    return partial(play_fresh, game, [make_for(name, game) for name in names], names, seed)


def play_fresh(game: Game, players: Sequence[Player], names: Sequence[str], seed: int, number: int) -> Record:
    seats = game.facts.seats
    order = [player_at(seat, number, seats) for seat in range(seats)]
    begin(game, players, order, seed, number)
    luck = generators(int(np.random.SeedSequence([seed, number]).generate_state(1, np.uint64)[0] >> 1), 1)[0]
    states, log, legal = positions(game), np.zeros(game.facts.max_game_length, np.int64), np.empty(SCRATCH, np.int64)
    done = 0
    while True:
        view = np.zeros(1, game.state)
        done, turn, n = to_next_seat(game, states, luck, log, done, view, legal)
        if n == 0:
            break
        action = int(players[order[turn]].move(view[0]))
        if action not in legal[:n]:
            raise BadInput(f"{names[order[turn]]} played {action} in game {number}, which is illegal there")
        play(game, states, action)
        log[done] = action
        done += 1
    payoffs = [float(game.payoff(states[0], seat)) for seat in range(seats)]
    return Record(number, full_name(game), [names[player] for player in order], seed, log[:done].tolist(), payoffs)


@kernel
def to_next_seat(game, states, luck, log, done, view, legal):
    """Let chance play until a seat has the turn: actions logged, the seat, and its legal actions; none: it is over."""
    state = states[0]
    while game.turn(state) == CHANCE:
        log[done] = game.sample_action(state, luck)
        game.play(state, log[done])
        done += 1
    turn, n = game.turn(state), 0
    if turn >= 0:
        game.look(state, turn, view[0])
        n = game.actions(state, legal)
    return done, turn, n


@kernel
def play(game, states, action):
    game.play(states[0], action)
