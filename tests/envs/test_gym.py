"""Gymnasium's checker for every game, and what it doesn't look at."""

import sys

import numpy as np
import pytest

import kibitz
from kibitz.games import view_of

from ..games.facts import HEIRS, PILE, SHIPPED

gymnasium = pytest.importorskip("gymnasium")
from gymnasium.utils.env_checker import check_env  # noqa: E402

GAMES = [*SHIPPED, f"{PILE}:Pile:5", f"{HEIRS}:Heirs"]  # the last two have no encoding
every_game = pytest.mark.parametrize("game", GAMES, ids=lambda name: name.rpartition("/")[2])


@every_game
@pytest.mark.parametrize("seat", [0, None])
def test_the_checker_of_gymnasium(game, seat, capsys):
    check_env(kibitz.gym.make(game, seat=seat))
    assert "action_mask" in kibitz.gym.make(game).reset(seed=1)[1]


@every_game
def test_the_reward_is_the_payoff_of_the_seat(game):
    env = kibitz.gym.make(game, seat=None)
    random = np.random.default_rng(1)
    for seed in range(2):
        seen, info = env.reset(seed=seed)
        done, rewards = False, []
        while not done:
            assert np.array_equal(seen["action_mask"], info["action_mask"])
            legal = env.table.state.legal_actions() or [0]  # the game may be over before the first turn
            assert np.flatnonzero(seen["action_mask"]).tolist() == legal
            seen, reward, done, truncated, info = env.step(random.choice(np.flatnonzero(seen["action_mask"])))
            rewards.append(reward)
            assert not truncated
        assert rewards == [0.0] * (len(rewards) - 1) + [env.table.state.payoffs[info["seat"]]]


def test_the_registered_ids():
    ids = kibitz.gym.register()
    assert len(ids) == len(SHIPPED)
    env = gymnasium.make("kibitz/Goofspiel-v0", game="goofspiel:4", against="random", seat=1)
    seen, _ = env.reset(seed=1)
    assert env.unwrapped.game == kibitz.load("goofspiel:4")
    assert seen["action_mask"].tolist() == [1, 1, 1, 1]


class Recorder:
    """Keeps what it was shown, and plays its first action."""

    def __init__(self):
        self.views = []

    def begin(self, game, seat, seed):
        self.game, self.seat = game, seat

    def move(self, view):
        self.views.append((self.seat, view.copy()))
        return kibitz.games.legal_actions(self.game, view)[0]


def test_opponents_get_their_own_views():
    other = Recorder()
    env = kibitz.gym.make("kuhn", against=other, seat=0)
    env.reset(seed=1)
    env.step(1)
    ((seat, view),) = other.views
    assert seat == 1
    assert view.cards[0] == -1
    assert view == view_of(env.game, env.table.state._before[-1], 1)


def test_a_list_names_one_player_per_other_seat():
    players = [Recorder() for _ in range(3)]
    env = kibitz.gym.make("doppelkopf", against=players, seat=2)
    env.reset(seed=1)
    assert {other.seat for other in players} == {0, 1, 3}
    for against, wrong in (
        (["random"] * 2, "doppelkopf has 3 other seats: against should be a name or a list of 3"),
        (Recorder(), "doppelkopf has 3 other seats"),
        ("nobody", "no player is called 'nobody'"),
    ):
        with pytest.raises(kibitz.BadInput, match=wrong):
            kibitz.gym.make("doppelkopf", against=against)


def test_a_game_that_ends_before_the_seat_moves_pays():
    """The small blind folds, and the big blind wins it without a turn."""
    env = kibitz.gym.make("holdem", against=Recorder(), seat=0)
    seen, _ = env.reset(seed=1)
    assert env.table.state.is_over
    assert seen["action_mask"].tolist() == [1, 0, 0]
    _, reward, done, _, _ = env.step(0)
    assert done
    assert reward == env.table.state.payoffs[0] > 0


def test_an_illegal_action_loses():
    env = kibitz.gym.make("tic_tac_toe")
    with pytest.raises(kibitz.BadInput, match=r"call reset\(\) first"):
        env.step(4)
    env.reset(seed=1)
    env.step(4)
    _, reward, done, _, info = env.step(4)
    assert (reward, done, info["illegal_action"]) == (-1.0, True, True)


def test_the_seat_and_its_view_are_rendered(capsys):
    env = kibitz.gym.make("kuhn", seat=1, render_mode="ansi")
    env.reset(seed=1)
    shown = env.render()
    assert shown.count("?") == 1
    assert kibitz.gym.make("kuhn", render_mode="html").spec.kwargs["game"] == "kuhn"
    kibitz.gym.make("kuhn", seat=1, render_mode="human").reset(seed=1)
    assert capsys.readouterr().out == f"{shown}\n"
    with pytest.raises(kibitz.BadInput, match="seat 2 should be 0 to 1, or None"):
        kibitz.gym.make("kuhn", seat=2)


def test_without_gymnasium_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "gymnasium", None)
    for call in (lambda: kibitz.gym.make("kuhn"), kibitz.gym.register):
        with pytest.raises(kibitz.BadInput, match=r"needs Gymnasium: pip install 'kibitz\[envs\]'"):
            call()
