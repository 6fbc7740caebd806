"""The clock of a search doesn't count the compilation of its kernels."""

import math
import time

import numpy as np
import pytest

from kibitz.games import load, positions
from kibitz.jit.compiler import Kernel
from kibitz.nets.mlp import compiled, new_layers, sizes_of
from kibitz.search import budget
from kibitz.search.budget import Clock, chunks
from kibitz.search.ismcts import IsMcts
from kibitz.search.search import SEARCHES

SLOW = 0.3  # seconds that the first simulation takes, as if it compiled


def test_the_clock_starts_after_the_first_simulation():
    clock, done = Clock(), 0
    for chunk in chunks(0, 0.05, clock=clock):
        if done == 0:
            time.sleep(SLOW)
        else:
            time.sleep(0.001)
        done += chunk
    assert done > 10
    assert 0.05 <= clock.seconds < SLOW


def test_the_first_chunk_is_one_simulation_and_the_sum_is_the_budget():
    assert list(chunks(1, math.inf)) == [1]
    assert list(chunks(50_000, math.inf)) == [1, 20_000, 20_000, 9_999]


class Steady(Clock):
    """A clock that the test sets."""

    seconds = 0.0

    def restart(self) -> None:
        self.seconds = 0.0


@pytest.mark.parametrize("cost", [0.0003, 0.02, 0.4])
def test_the_last_chunk_is_as_large_as_the_time_left(cost):
    clock = Steady()
    for chunk in chunks(0, 1.0, clock=clock):
        clock.seconds += chunk * cost
    assert 1.0 <= clock.seconds < 1.0 + cost + 1e-9


class Compiles(IsMcts):
    """A search whose first call takes long."""

    calls = 0

    def run(self, simulations):
        if self.calls == 0:
            time.sleep(SLOW)
        self.calls += 1
        return super().run(simulations)


def test_advice_tells_the_time_of_the_search_alone():
    game = load("kuhn")
    view = positions(game)[0]
    game.play(view, 0), game.play(view, 1)
    search = Compiles(game, 1)
    search.run(0)
    search.calls = 0
    advice = search.advise(view, 0, seconds=0.1)
    assert 0.1 <= advice.seconds < SLOW
    assert advice.simulations > 500
    search.calls = 0
    assert search.advise(view, 0, 100).seconds < SLOW


SEARCHED = ["alphabeta", "ensemble-uct", "ismcts", "mmds", "oos", "oos guided", "puct", "single-uct", "uct"]


@pytest.mark.parametrize("name", SEARCHED)
def test_every_search_restarts_its_clock(name, monkeypatch):
    """What is done before the last restart isn't counted: that is where all kernels are called first, and compiled."""
    name, _, guided = name.partition(" ")
    restart, call = Clock.restart, Kernel.__call__
    game = load("tic_tac_toe" if name in ("alphabeta", "puct", "uct") else "kuhn")
    view = positions(game)[0]
    while game.turn(view) < 0:
        game.play(view, int(game.sample_action(view, np.ones(2, np.uint64))))
    layers = new_layers(sizes_of(game, [4]), np.random.default_rng(1))
    search = SEARCHES[name](game, **({"policy": compiled(layers)} if guided else {}))
    called: list[set] = []  # kernels, since each restart
    monkeypatch.setattr(Clock, "restart", lambda clock: (called.append(set()), restart(clock)))
    monkeypatch.setattr(Kernel, "__call__", lambda kernel, *given: (called[-1].add(kernel), call(kernel, *given))[1])
    search.advise(view, int(game.turn(view)), 20)
    assert len(called) >= 2  # at the start, and after the first call of a kernel
    assert called[-1] <= set().union(*called[:-1])


class FakeTime:
    """Each look at the clock takes a millisecond."""

    def __init__(self):
        self.now = 0.0

    def perf_counter(self):
        self.now += 0.001
        return self.now


def test_a_search_does_not_count_the_time_of_those_who_look_at_its_advice(monkeypatch):
    fake, game = FakeTime(), load("kuhn")
    monkeypatch.setattr(budget, "time", fake)
    search, (view,) = SEARCHES["ismcts"](game), positions(game)
    game.play(view, 0)
    game.play(view, 1)
    spent = []
    for advice in search.growing(view, 0, seconds=1.0):
        spent.append(advice.seconds)
        fake.now += 100
    assert len(spent) > 3
    assert spent[-1] < 2
