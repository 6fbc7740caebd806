"""Games side by side are the games of the rules."""

import doctest
import importlib

import numpy as np
import pytest

import kibitz
from kibitz import BadInput
from kibitz.bridges.envs import vector
from kibitz.bridges.envs.observations import numbers, observation
from kibitz.games import CHANCE, OVER, legal_actions, positions, view_of
from kibitz.jit import generators

from ..games.facts import HEIRS, PILE, SHIPPED

COMPILED = ["kuhn", "tic_tac_toe", f"{HEIRS}:Heirs"]  # hidden cards; a board; three seats and no encoding
GAMES = [*SHIPPED, f"{PILE}:Pile:5", f"{HEIRS}:Heirs"]


def short(name):
    return name.rpartition("/")[2]


class Twin:
    """One game by its rules in plain Python, from the stream of chance of game `number`."""

    def __init__(self, game, seed, number):
        self.game, self.rng = game, generators(vector.seeds(seed)[0], number + 1)[number]
        self.begin()

    def begin(self):
        self.state = positions(self.game)[0]
        self.deal()

    def deal(self):
        while self.game.turn(self.state) == CHANCE:
            self.game.play(self.state, self.game.sample_action(self.state, self.rng))

    def step(self, action):
        """Play; return the payoffs and whether the game has ended."""
        self.game.play(self.state, action)
        self.deal()
        if self.game.turn(self.state) != OVER:
            return [0.0] * self.game.facts.seats, False
        payoffs = [float(self.game.payoff(self.state, seat)) for seat in range(self.game.facts.seats)]
        self.begin()
        return payoffs, True


def check(name, games, steps, seed=5):
    game = kibitz.load(name)
    env = kibitz.vector.make(game, games, seed=seed)
    twins, now, ended = [Twin(game, seed, number) for number in range(games)], env.reset(), 0
    assert not now.dones.any()
    assert not now.rewards.any()
    for _ in range(steps):
        for i, twin in enumerate(twins):
            turn = game.turn(twin.state)
            assert now.seats[i] == turn
            assert np.flatnonzero(now.action_masks[i]).tolist() == legal_actions(game, twin.state)
            assert np.array_equal(now.observations[i], observation(game, twin.state, turn))
        actions = env.sample()
        now = env.step(actions)
        for i, twin in enumerate(twins):
            payoffs, done = twin.step(int(actions[i]))
            assert now.rewards[i].tolist() == np.float32(payoffs).tolist()
            assert now.dones[i] == done
            ended += done
    return ended


@pytest.mark.parametrize("name", COMPILED, ids=short)
def test_compiled_games_are_those_of_the_rules(name):
    assert check(name, games=6, steps=60) > 20


@pytest.mark.parametrize("name", GAMES, ids=short)
def test_every_game_is_that_of_its_rules_in_plain_python(name, monkeypatch):
    for kernel in ("advance", "sample", "first_illegal"):
        written = getattr(vector, kernel)
        monkeypatch.setattr(vector, kernel, getattr(written, "py_func", written))
    check(name, games=2, steps=12)


@pytest.mark.parametrize("name", GAMES, ids=short)
def test_every_compiled_game_is_that_of_its_rules(name):
    assert check(name, games=3, steps=400) > 2


def streams(name, games, threads, seed=3, steps=40):
    env = kibitz.vector.make(name, games, seed=seed, threads=threads)
    found = [env.reset()]
    for _ in range(steps):
        found.append(env.step(env.sample()))
    env.close()
    return found


def test_games_depend_on_the_seed_alone():
    """Not on the number of games, nor on the number of threads."""
    many = streams("kuhn", 50, 1)
    for other in (streams("kuhn", 20, 1), streams("kuhn", 50, 3), streams("kuhn", 2, 8)):
        for one, two in zip(many, other, strict=True):
            assert all(np.array_equal(a[: len(b)], b) for a, b in zip(one, two, strict=True))
    another = streams("kuhn", 50, 1, seed=4)
    assert any(not np.array_equal(a.observations, b.observations) for a, b in zip(many, another, strict=True))


def test_reset_begins_anew():
    env = kibitz.vector.make("kuhn", 50, seed=3)
    first = env.reset()
    env.step(env.sample())
    second = env.reset()
    assert not second.dones.any()
    assert not np.array_equal(first.observations, second.observations)  # other cards
    assert np.array_equal(first.observations, env.reset(seed=3).observations)


def test_results_are_the_callers_own():
    env = kibitz.vector.make("kuhn", 4)
    now = env.reset()
    kept = [array.copy() for array in now]
    now.action_masks[:] = False
    assert env.sample().max() <= 1
    env.step(np.ones(4, int))
    assert np.array_equal(now.observations, kept[0])
    assert np.array_equal(now.seats, kept[2])


def test_sampled_actions_are_uniform():
    env = kibitz.vector.make("tic_tac_toe", 9000, seed=2)
    env.reset()
    counts = np.bincount(env.sample(), minlength=9)
    assert abs(counts - 1000).max() < 150  # five standard deviations


@pytest.mark.parametrize(
    ("actions", "wrong"),
    [
        ([1, 1, 7], "action 7 is illegal in game 2: legal are 0, 1"),
        ([1, -1, 0], "action -1 is illegal in game 1"),
        ([1, 1], r"actions should be 3 whole numbers, not int64 of the shape \(2,\)"),
        ([1.0, 0.0, 1.0], "actions should be 3 whole numbers, not float64"),
    ],
)
def test_illegal_actions_are_refused_and_nothing_moves(actions, wrong):
    env = kibitz.vector.make("kuhn", 3)
    env.reset()
    before = env.states.copy()
    with pytest.raises(BadInput, match=wrong):
        env.step(np.array(actions))
    assert np.array_equal(env.states, before)


def test_the_board_decides_what_is_legal():
    env = kibitz.vector.make("tic_tac_toe", 2)
    env.reset()
    env.step(np.array([4, 5]))
    with pytest.raises(BadInput, match="action 5 is illegal in game 1: legal are 0, 1, 2, 3, 4, 6, 7, 8"):
        env.step(np.array([5, 5]))


def test_reset_comes_first():
    env = kibitz.vector.make("kuhn", 3)
    for call in (env.sample, lambda: env.step(np.zeros(3, int))):
        with pytest.raises(BadInput, match=r"call reset\(\) before"):
            call()
    for wrong in ({"games": 0}, {"threads": 0}, {"seed": -1}):
        with pytest.raises(BadInput, match="should be at least"):
            kibitz.vector.make("kuhn", **wrong)


def test_hidden_cards_change_no_observation():
    """Two positions with the same view and other hidden cards."""
    env = kibitz.vector.make("kuhn", 6)
    env.reset()
    record = env.states[0].copy()
    for i, (own, other) in enumerate(((0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (2, 1))):
        env.states[i] = record
        env.states["cards"][i] = own, other
    now = env._advance(np.full(6, vector.NO_ACTION))
    for first in (0, 2, 4):
        assert np.array_equal(now.observations[first], now.observations[first + 1])
    assert len(np.unique(now.observations, axis=0)) == 3


def test_a_view_as_numbers_loses_nothing():
    record = kibitz.record(("cards", "i1", (2,)), ("stones", "u8"), ("chips", "f4"), ("step", "i2"))
    views = np.zeros(2, record)
    views["cards"], views["stones"], views["chips"], views["step"] = [[-1, 3], [5, 7]], [2**63 + 1, 6], 0.5, [300, -2]
    found = numbers(views)
    assert found.shape == (2, 2 + 64 + 1 + 1)
    assert found[0, :2].tolist() == [-1, 3]
    assert np.flatnonzero(found[0, 2:66]).tolist() == [0, 63]
    assert np.flatnonzero(found[1, 2:66]).tolist() == [1, 2]
    assert found[:, 66].tolist() == [0.5, 0.5]
    assert found[:, 67].tolist() == [300, -2]


def test_observations_are_made_of_the_view(monkeypatch):
    """Rules whose `observe` reads a hidden field see the mask in it."""
    game = kibitz.load("kuhn")
    state = game.initial(seed=1).deal().record

    def peek(self, state, seat, out):
        out[:] = state.cards[1 - seat]

    monkeypatch.setattr(type(game), "observe", peek)
    assert set(observation(game, state, 0)) == {-1.0}
    assert view_of(game, state, 0).cards[1] == -1


@pytest.mark.parametrize("name", ["vector", "gym", "pettingzoo"])
def test_the_examples_run(name):
    pytest.importorskip("pettingzoo")
    found = doctest.testmod(importlib.import_module(f"kibitz.bridges.envs.{name}"))
    assert found.attempted > 1
    assert found.failed == 0
