"""Duels: as a match has it, many games at a time."""

import numpy as np
import pytest

from kibitz import games
from kibitz.arena.duel import duel, play_block
from kibitz.learn import training
from kibitz.names import BadInput
from kibitz.players import make_for
from kibitz.search.best_response import judge_odds
from kibitz.search.sequence_form import unfold

TINY = {"iterations": 2, "traversals": 100, "hidden": "8", "steps": 30, "keep_every": 2, "judge_every": 0}


@pytest.fixture(scope="module")
def net(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs") / "run"
    run = training.new_run(folder, "deep-cfr", training.configured("deep-cfr", "kuhn", "small", TINY))
    training.train(run, 1)
    return f"net:{folder}"


def test_a_network_wins_what_its_strategy_is_worth(net):
    """Against uniform play, as the game written out says it."""
    game = games.load("kuhn")
    form = unfold(game)
    mine = make_for(net, game).whole_strategy(form)
    even = [np.full_like(odds, 0.5) for odds in mine]
    for odds in even:
        odds[0] = 1
    wanted = (judge_odds(form, mine[0], even[1]).value - judge_odds(form, even[0], mine[1]).value) / 2
    found = duel(game, net, "random", 20_000, 1)
    assert found.low - 0.02 < wanted < found.high + 0.02
    assert found.high - found.low < 0.08


def test_the_same_luck_from_both_seats_and_the_same_again(net):
    game = games.load("kuhn")
    one = play_block(game, net, net, 300, [1, 0])
    assert np.array_equal(one, play_block(game, net, net, 300, [1, 0]))
    assert not np.array_equal(one, play_block(game, net, net, 300, [2, 0]))
    assert one.shape == (300, 2)


def test_who_can_t_answer_for_many_is_refused():
    with pytest.raises(BadInput, match="oos:10 doesn't answer for many positions at once"):
        duel(games.load("kuhn"), "oos:10", "random", 2)


def test_many_views_at_once_get_the_answers_that_each_would_get():
    game = games.load("leduc")
    player = make_for("net:models/leduc", game)
    views = unfold(game).views[1][:40]
    player.begin(game, 1, 1)
    together = player.policies(views)
    for view, odds in zip(views, together, strict=True):
        player.move(view.copy())
        assert odds[games.legal_actions(game, view)] == pytest.approx(player.advice.policy, abs=1e-6)
        assert odds.sum() == pytest.approx(1)
