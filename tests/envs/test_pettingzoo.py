"""PettingZoo's own tests for every game, and what they don't look at."""

from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest

import kibitz
from kibitz.games import legal_actions, view_of
from kibitz.jit import generators

from ..games.facts import HEIRS, PILE, SHIPPED

zoo = pytest.importorskip("pettingzoo.test")

GAMES = [*SHIPPED, f"{PILE}:Pile:5", f"{HEIRS}:Heirs"]  # the last two have no encoding
every_game = pytest.mark.parametrize("game", GAMES, ids=lambda name: name.rpartition("/")[2])

# Observations with masks are dictionaries, an empty board is zeros, and a seat that waits has no legal action.
pytestmark = [
    pytest.mark.filterwarnings("ignore:Observation is not a NumPy array"),
    pytest.mark.filterwarnings("ignore:Observation numpy array is all zeros"),
    pytest.mark.filterwarnings("ignore:Observation space for each agent probably should be"),
    pytest.mark.filterwarnings("ignore:Action mask numpy array is all zeros"),
]


@every_game
def test_the_tests_of_pettingzoo(game, capsys):
    make = partial(kibitz.pettingzoo.env, game)
    zoo.api_test(make(), num_cycles=12)
    zoo.api_test(make(max_cycles=6), num_cycles=12)
    zoo.seed_test(make, num_cycles=6)
    zoo.max_cycles_test(SimpleNamespace(env=make, parallel_env=partial(kibitz.pettingzoo.parallel_env, game)))
    zoo.render_test(make, {"html": lambda text: text.startswith("<")})
    zoo.parallel_api_test(kibitz.pettingzoo.parallel_env(game), num_cycles=12)
    assert capsys.readouterr().out


def play(env, seed):
    """A random game; the actions, and the sum of the rewards that each agent was told of."""
    rng, played, told = np.random.default_rng(seed), [], dict.fromkeys(env.possible_agents, 0.0)
    env.reset(seed=seed)
    for agent in env.agent_iter():
        seen, reward, done, _, _ = env.last()
        told[agent] += reward
        env.step(None if done else int(rng.choice(np.flatnonzero(seen["action_mask"]))))
        if not done:
            played.append(agent)
    return played, told


@every_game
def test_agents_get_the_payoffs_of_the_game(game):
    env = kibitz.pettingzoo.env(game)
    played, told = play(env, 3)
    assert env.table.state.is_over
    assert list(told.values()) == env.table.state.payoffs
    assert played


@every_game
def test_an_observation_holds_nothing_but_the_view(game):
    env = kibitz.pettingzoo.env(game)
    env.reset(seed=1)
    rules, rng = env.game, generators(1, 1)[0]
    notes, world, different = np.zeros(rules.facts.notes), np.zeros(1, rules.state)[0], 0
    random = np.random.default_rng(1)
    for _ in range(12):
        state, turn = env.table.state, env.table.turn
        if turn < 0:
            env.reset()
            continue
        for agent, seat in env.seat_of.items():
            view, seen = view_of(rules, state.record, seat), env.observe(agent)
            rules.prepare(view, seat, notes)
            if not rules.facts.hidden or not rules.determinize(view, seat, notes, rng, world):
                continue
            different += any(not np.array_equal(world[key], state.record[key]) for key in rules.state.names)
            state.record, kept = world.copy(), state.record
            other = env.observe(agent)
            state.record = kept
            assert np.array_equal(seen["observation"], other["observation"])
            if seat == turn:
                assert np.array_equal(seen["action_mask"], other["action_mask"])
        mask = env.observe(env.agent_selection)["action_mask"]
        assert np.flatnonzero(mask).tolist() == legal_actions(rules, state.record)
        env.step(random.choice(np.flatnonzero(mask)))
    assert (different > 0) == rules.facts.hidden


def test_an_illegal_action_loses():
    env = kibitz.pettingzoo.env("tic_tac_toe")
    env.reset()
    env.step(4)
    env.step(4)
    assert env.terminations == {"player_0": True, "player_1": True}
    assert env.rewards == {"player_0": 0.0, "player_1": -1.0}
    assert env.infos == {"player_0": {}, "player_1": {"illegal_action": True}}
    assert not env.observe("player_0")["action_mask"].any()


def test_with_max_cycles_game_follows_game():
    env = kibitz.pettingzoo.parallel_env("tic_tac_toe", max_cycles=9)
    seen, _ = env.reset(seed=1)
    wins = []
    for cycle in range(9):
        mover = next(agent for agent in env.agents if seen[agent]["action_mask"].sum() > 1)
        seen, rewards, ended, truncated, _ = env.step(dict.fromkeys(env.agents, (0, 3, 1, 4, 2)[cycle % 5]))
        wins.append(rewards[mover])
        assert not any(ended.values())
        assert set(truncated.values()) == {cycle == 8}
    assert wins == [0, 0, 0, 0, 1, 0, 0, 0, 0]
    assert env.agents == []


def test_it_prints_and_returns_pictures(capsys):
    env = kibitz.pettingzoo.env("kuhn", render_mode="human")
    env.reset(seed=1)
    assert "seat 1: " in capsys.readouterr().out.lower()
    with pytest.raises(kibitz.BadInput, match="render_mode 'rgb_array' should be human, ansi, html or None"):
        kibitz.pettingzoo.env("kuhn", render_mode="rgb_array")


def test_without_pettingzoo_it_says_what_to_install(monkeypatch):
    for module in ("pettingzoo", "pettingzoo.utils.conversions"):
        monkeypatch.setitem(__import__("sys").modules, module, None)
    for make in (kibitz.pettingzoo.env, kibitz.pettingzoo.parallel_env):
        with pytest.raises(kibitz.BadInput, match=r"needs PettingZoo: pip install 'kibitz\[envs\]'"):
            make("kuhn")
