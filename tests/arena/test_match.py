"""Matches: the same games for any number of processes, fair luck, and nobody who peeks."""

import multiprocessing
import os
import signal

import numpy as np
import pytest

from kibitz import games, players
from kibitz.arena.match import play_match
from kibitz.arena.play import seat_of
from kibitz.arena.statistics import summary
from kibitz.core.names import BadInput
from kibitz.games import CHANCE
from kibitz.games.records import read_line
from kibitz.search.best_response import evaluate
from kibitz.search.cfr import Cfr
from kibitz.search.sequence_form import unfold
from kibitz.search.strategy import uniform_strategy

LEDUC = games.load("leduc")


@pytest.fixture(scope="module")
def solved(tmp_path_factory):
    """A good strategy for Leduc: what it is, and its name as a player."""
    solver = Cfr(LEDUC, "cfr+")
    solver.run(100)
    path = tmp_path_factory.mktemp("solved") / "strategy.safetensors"
    solver.strategy().save(path)
    return solver.strategy(), f"strategy:{path}"


def lines(*arguments, **options):
    return [record.line() for record in sorted(play_match(*arguments, **options), key=lambda record: record.number)]


def test_any_number_of_processes_plays_the_same_games(solved):
    one, two = (lines("leduc", [solved[1], "random"], 120, 4, count, alone=0) for count in (1, 2))
    assert one == two
    assert len(one) == 120
    assert one != lines("leduc", [solved[1], "random"], 120, 5, 1)


def test_a_searching_player_plays_the_same_in_every_process():
    asked = ("kuhn", ["oos:50", "ismcts:50"], 12, 1)
    assert lines(*asked, 1) == lines(*asked, 2, alone=0)


def test_what_is_done_is_not_played_again():
    whole = lines("kuhn", ["random", "random"], 20, 1, 1)
    rest = lines("kuhn", ["random", "random"], 20, 1, 1, done={0, 3, 7})
    assert rest == [line for i, line in enumerate(whole) if i not in {0, 3, 7}]


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="Windows has no SIGKILL")
def test_a_killed_worker_costs_no_game():
    told, killed, found = [], [], []
    for record in play_match("leduc", ["random", "random"], 600, 1, 2, tell=told.append, alone=0):
        found.append(record)
        children = multiprocessing.active_children()
        if children and not killed:
            killed.append(children[0].pid)
            os.kill(children[0].pid, signal.SIGKILL)
    assert "died (exit code -9)" in told[0]
    assert sorted(record.number for record in found) == list(range(600))
    assert lines("leduc", ["random", "random"], 40, 1, 1) == [
        record.line() for record in sorted(found, key=lambda record: record.number)[:40]
    ]


def chance_rng_of(record):
    return [action for state, action in record.replay() if action is not None and LEDUC.turn(state) == CHANCE]


def test_the_games_of_a_pair_share_their_luck_and_swap_seats():
    found = list(play_match("leduc", ["random", "random"], 60, 3, 1))
    deals = []
    for even, odd in zip(found[::2], found[1::2], strict=True):
        one, two = chance_rng_of(even), chance_rng_of(odd)
        shorter = min(len(one), len(two))
        assert one[:shorter] == two[:shorter]
        deals.append(tuple(one[:2]))
    assert len(set(deals)) == 9  # all pairs of ranks come up
    assert any(even.actions != odd.actions for even, odd in zip(found[::2], found[1::2], strict=True))


def test_with_four_seats_a_deal_is_played_from_each_of_them():
    names = ["ensemble-uct:1x2", "random", "random", "random"]
    one, two = (lines("doppelkopf:thesis", names, 12, 2, count, alone=0) for count in (1, 2))
    assert one == two
    found = [read_line(line, "here") for line in one]
    deals = [tuple(record.actions[:48]) for record in found]
    assert deals == [deal for deal in deals[::4] for _ in range(4)]
    assert len(set(deals)) == 3
    assert [record.players.index(names[0]) for record in found] == [seat_of(0, i, 4) for i in range(12)]
    assert {seat_of(0, i, 4) for i in range(4)} == {0, 1, 2, 3}
    assert len({tuple(record.actions) for record in found}) == 12
    for record in found:
        record.verify()


def test_luck_follows_the_odds_of_the_game():
    """Two cards of one rank are dealt with odds 1/5, though there are three ranks."""
    found = list(play_match("leduc", ["random", "random"], 800, 11, 1))
    equal = [actions[0] == actions[1] for actions in (record.actions for record in found[::2])]
    assert abs(np.mean(equal) - 0.2) < 3 * np.sqrt(0.2 * 0.8 / len(equal))


class Spy(players.Random):
    """Keeps what it was given."""

    seen: list = []

    def begin(self, game, seat, seed):
        super().begin(game, seat, seed)
        self.seen.append(("begin", seat, seed))

    def move(self, view):
        self.seen.append(("move", self.seat, view))
        return super().move(view)


def test_players_get_views_from_their_seat_and_a_seed_of_their_own(monkeypatch):
    monkeypatch.setitem(players.PLAYERS, "spy", Spy)
    monkeypatch.setattr(Spy, "seen", [])
    found = list(play_match("leduc", ["spy", "random"], 20, 1, 1))
    begun = [entry for entry in Spy.seen if entry[0] == "begin"][1:]  # the first asks whether it can play at all
    assert [seat for _, seat, _ in begun] == [0, 1] * 10
    assert [record.players.index("spy") for record in found] == [seat_of(0, i, 2) for i in range(20)] == [0, 1] * 10
    assert len({seed for _, _, seed in begun}) == 20
    moves = [entry for entry in Spy.seen if entry[0] == "move"]
    assert len(moves) > 20
    for _, seat, view in moves:
        assert view.cards[1 - seat] == -1
        assert view.cards[seat] >= 0


def test_an_illegal_move_is_refused(monkeypatch):
    class Cheat(players.Random):
        def move(self, view):
            return 17

    monkeypatch.setitem(players.PLAYERS, "cheat", Cheat)
    with pytest.raises(BadInput, match="cheat played 17 in game 0, which is illegal"):
        list(play_match("leduc", ["cheat", "random"], 2, 1, 1))


@pytest.mark.parametrize(
    ("names", "text"),
    [
        (["random"], "leduc is for 2 players, not 1"),
        (["random", "randm"], "did you mean 'random'"),
        (["random", "strategy:none"], "no strategy file 'none'"),
    ],
)
def test_wrong_players_are_refused(names, text):
    with pytest.raises(BadInput, match=text):
        list(play_match("leduc", names, 2, 1, 1))


def errors(estimate, exact):
    """How many standard errors an estimate is off. Four are off by chance once in 16,000 seeds."""
    return abs(estimate.mean - exact) / ((estimate.high - estimate.low) / (2 * 1.96))


def test_a_strategy_against_itself_comes_out_even(solved):
    payoff = summary(play_match("leduc", [solved[1], solved[1]], 800, 2, 1)).payoff
    assert errors(payoff, 0) < 4
    assert payoff.high - payoff.low < 0.6


def test_a_match_finds_the_exact_value_of_a_strategy_against_random_play(solved):
    form, even = unfold(LEDUC), uniform_strategy(LEDUC)
    exact = (evaluate(form, solved[0], even).value - evaluate(form, even, solved[0]).value) / 2
    payoff = summary(play_match("leduc", [solved[1], "random"], 2000, 1, 1)).payoff
    assert errors(payoff, exact) < 4
    assert payoff.low > 0.3  # far from even
    assert payoff.high - payoff.low < 0.5
