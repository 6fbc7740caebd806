"""The default player of every game: that it fits the game, plays it, and answers within a second."""

import time
from typing import NamedTuple

import pytest

from kibitz import games
from kibitz.games import GAMES, OVER
from kibitz.games.game import game
from kibitz.jit import record
from kibitz.play.players import default_player, make_for
from kibitz.play.players.defaults import SECONDS


@pytest.mark.parametrize("name", [name for name in GAMES if ".py" not in name])
def test_every_game_has_a_default_player_that_can_play_it(name):
    loaded = games.load(name)
    make_for(default_player(loaded), loaded)


@pytest.mark.parametrize(
    ("name", "player"),
    [
        ("hex:7", "puct:seconds=0.5,net=models/hex-7-alphazero"),
        ("hex", "puct:seconds=0.5,net=models/hex-11-alphazero"),
        ("hex:5", "uct:seconds=0.5"),
        ("fanorona", "uct:seconds=0.5"),
        ("gomoku", "puct:seconds=0.5,net=models/gomoku-alphazero"),
        ("teeko", "puct:seconds=0.5,policy=models/teeko"),
        ("connect_four", "puct:seconds=0.5,net=models/connect_four-alphazero"),
        ("breakthrough", "alphabeta:seconds=0.5"),
        ("breakthrough:6", "uct:seconds=0.5"),
        ("tic_tac_toe", "uct:seconds=0.5"),
        ("kuhn", "oos:seconds=0.5"),
        ("leduc", "net:models/leduc"),
        ("leduc:ranks=4", "oos:seconds=0.5"),
        ("goofspiel:6", "net:models/goofspiel-6"),
        ("goofspiel:13", "net:models/goofspiel-13,threshold=1"),
        ("liars_dice:2", "net:models/liars_dice-2"),
        ("liars_dice:3", "ismcts:seconds=0.5"),
        ("holdem", "net:models/holdem"),
        ("holdem:flop", "net:models/holdem-flop"),
        ("holdem:thesis", "style:tight-aggressive"),
        ("doppelkopf", "doko:models/doppelkopf"),
        ("doppelkopf:nines=no", "ensemble-uct:10x1000"),
    ],
)
def test_it_is_what_was_measured_to_be_strongest(name, player):
    assert default_player(games.load(name)) == player
    assert SECONDS < 1


STATE = record(("said", "i1", (3,)), ("ply", "i1"))


def of_three(name, **rules):
    """A game of three seats that each say yes or no; `rules` are further rules."""

    def start(self, state):
        state.said[:] = 0
        state.ply = 0

    def turn(self, state):
        return int(state.ply) if state.ply < 3 else OVER

    def actions(self, state, out):
        out[0], out[1] = 0, 1
        return 2

    def play(self, state, action):
        state.said[int(state.ply)] = action
        state.ply += 1

    def payoff(self, state, seat):
        return float(state.said[seat])

    class Three(NamedTuple):
        pass

    for rule in (start, turn, actions, play, payoff):
        setattr(Three, rule.__name__, rule)
    for rule, function in rules.items():
        setattr(Three, rule, function)
    facts = {"num_actions": 2, "max_game_length": 3, "payoffs": (0, 1), "seats": 3, "zero_sum": False}
    return game(name, state=STATE, **facts)(Three)()


def look(self, state, seat, out):
    out.said[:] = 0
    out.said[seat] = state.said[seat]
    out.ply = state.ply


def determinize(self, view, seat, notes, rng, out):
    out.said[:] = view.said
    out.ply = view.ply
    return True


def infoset(self, state, seat):
    return 1 + 16 * seat + 4 * int(state.ply) + int(state.said[seat])


@pytest.mark.parametrize(
    ("rules", "player"),
    [({}, "uct"), ({"look": look, "determinize": determinize, "infoset": infoset}, "ismcts")],
)
def test_a_game_of_three_seats_has_a_default_player_that_plays_it_well(rules, player):
    three = of_three(f"three_{player}", **rules)
    name = default_player(three)
    assert name == f"{player}:seconds={SECONDS}"
    made = make_for(name, three)
    made.begin(three, 0, 1)
    view = games.positions(three)[0]
    made.move(view)  # compiles
    began = time.perf_counter()
    assert made.move(view) == 1
    assert time.perf_counter() - began < 2
