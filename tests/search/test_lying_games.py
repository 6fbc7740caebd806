"""Kernels never crash the process, whatever the facts of a game say: they raise an error that names the fact.

The games are made without `load`, which would refuse them. Kernels that wrote outside an array would end the process.
"""

import contextlib
from typing import NamedTuple

import numpy as np
import pytest

from kibitz.core.names import BadInput, FactTooSmall
from kibitz.games import CHANCE, OVER, efg, game, positions
from kibitz.games.random_games import finished, playouts
from kibitz.jit import mix, record
from kibitz.play.batched import play_block
from kibitz.play.play import play_recorded
from kibitz.play.players import make_for
from kibitz.search.batched_oos import BatchedOos, new_batch
from kibitz.search.ensemble_uct import EnsembleUct
from kibitz.search.ismcts import IsMcts
from kibitz.search.maxn import MaxN
from kibitz.search.mcts import Uct
from kibitz.search.oos import Oos
from kibitz.solve.mccfr import ExternalSampling, OutcomeSampling
from kibitz.solve.sequence_form import measurable_form, unfold
from kibitz.train.deep_cfr.traits import packing_of
from kibitz.train.deep_cfr.traversal import Settings, Traverser

STATE = record(("history", "u8"), ("turns", "i4"), ("last", "i1"))


@game(
    "liar",
    state=STATE,
    num_actions=lambda game: game.claimed_actions,
    max_chance_outcomes=2,
    max_game_length=lambda game: game.claimed_length,
    payoffs=(-1.0, 1.0),
    encoding=1,
)
class Liar(NamedTuple):
    """Chance, then the seats by turns; the last action decides."""

    length: int = 6
    claimed_length: int = 6
    actions_of_seats: int = 2
    claimed_actions: int = 2
    seats_in_play: int = 2
    wider: int = 0  # further actions at odd turns, of which the infoset knows nothing

    def start(self, state):
        state.history = 1
        state.turns = 0
        state.last = 0

    def turn(self, state):
        if state.turns >= self.length:
            return OVER
        return CHANCE if state.turns == 0 else int(state.turns) % self.seats_in_play

    def actions(self, state, out):
        n = 2 if state.turns == 0 else self.actions_of_seats - self.wider * int(state.turns > 3)
        for i in range(n):
            out[i] = i
        return n

    def play(self, state, action):
        state.history = mix(state.history, action)
        state.turns += 1
        state.last = action % 2

    def payoff(self, state, seat):
        return 1.0 if (state.last == 1) == (seat == 0) else -1.0

    def infoset(self, state, seat):
        return mix(np.uint64(seat + 1), 0) if self.wider else mix(state.history, seat)

    def observe(self, state, seat, out):
        out[0] = float(state.last)


HONEST = Liar()
TOO_LONG = Liar(length=400, claimed_length=3)
ENDLESS = Liar(length=2**31 - 1, claimed_length=3)
TOO_WIDE = Liar(actions_of_seats=900, claimed_actions=2)
MANY_SEATS = Liar(seats_in_play=40)


def dealt(game):
    states = positions(game)
    game.play(states[0], 0)
    return states[0]


def batched(game):
    search = BatchedOos(game, in_flight=2)
    search.search(dealt(game), 1, 50)
    batch = new_batch(game, 2)
    while search.advance(batch, 0):
        pass


def traversal(game):
    streams = np.arange(1, 9, dtype=np.uint64).reshape(4, 2)
    Traverser(game, packing_of(game), Settings(False, False, True)).run(0, streams, streams + 9, (None, None))


def recorded(game):
    play_recorded(game, [make_for("random", game), make_for("random", game)], ["random", "random"], 1, 0)


def side_by_side(game):
    players = [make_for("random", game), make_for("random", game)]
    return play_block(game, players, ["random", "random"], 1, range(4))


KERNELS = {
    "oos": lambda game: Oos(game).advise(dealt(game), 1, 200),
    "batched oos": batched,
    "uct": lambda game: Uct(game).advise(dealt(game), 1, 2000),
    "ensemble": lambda game: EnsembleUct(game, determinizations=2).advise(dealt(game), 1, 400),
    "ismcts": lambda game: IsMcts(game).advise(dealt(game), 1, 2000),
    "outcome sampling": lambda game: OutcomeSampling(game).run(200),
    "external sampling": lambda game: ExternalSampling(game).run(3),
    "sequence form": unfold,
    "max^n": lambda game: MaxN(game, 5000).solve(dealt(game)),
    "match": side_by_side,
    "record": recorded,
}
ROOMY = ("match", "record", "sequence form")  # they have room for as many actions as any game may have


@pytest.fixture(autouse=True)
def unchecked(monkeypatch):
    monkeypatch.setattr("kibitz.games.check_once", lambda game: None)


@pytest.mark.parametrize("kind", KERNELS)
def test_a_game_longer_than_it_says_is_refused(kind):
    KERNELS[kind](HONEST)
    with pytest.raises(BadInput, match=r"max_game_length (= 3 )?is too small: a game took more turns"):
        KERNELS[kind](TOO_LONG)


def test_what_is_wrong_with_a_game_is_not_taken_for_its_size(tmp_path):
    assert measurable_form(HONEST) is not None
    assert measurable_form(HONEST, 1) is None
    for ask in (measurable_form, lambda game: efg.write(game, tmp_path / "game.efg")):
        with pytest.raises(FactTooSmall, match="max_game_length") as refused:
            ask(TOO_LONG)
        assert refused.value.fact == "max_game_length"


@pytest.mark.parametrize("kind", [kind for kind in KERNELS if kind not in ROOMY])
def test_more_actions_than_there_are_is_refused(kind):
    with pytest.raises(BadInput, match="num_actions"):
        KERNELS[kind](TOO_WIDE)


@pytest.mark.parametrize("kind", KERNELS)
def test_a_seat_too_many_does_no_harm(kind):
    with contextlib.suppress(BadInput):  # some don't notice
        KERNELS[kind](MANY_SEATS)


@pytest.mark.parametrize("play", [playouts, finished])
def test_a_playout_without_end_is_given_up(play):
    assert play(HONEST, 10)
    with pytest.raises(BadInput, match="max_game_length = 3 is too small: a random game was not over"):
        play(ENDLESS, 1)


def test_traversals_of_a_game_that_lies_are_refused():
    traversal(HONEST)
    with pytest.raises(BadInput, match="num_actions"):
        traversal(TOO_WIDE)
    with pytest.raises(BadInput, match="seats = 2 is too small"):
        traversal(MANY_SEATS)


def test_one_infoset_with_two_numbers_of_actions_is_refused():
    """Else the cells of the next infoset would be overwritten."""
    with pytest.raises(BadInput, match="one key to two positions with different numbers of legal actions"):
        OutcomeSampling(Liar(wider=1)).run(200)
