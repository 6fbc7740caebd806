"""Best responses with all hands at once: the same values as with every infoset one by one."""

import json

import numpy as np
import pytest

from kibitz import games
from kibitz.core.names import BadInput
from kibitz.core.progress import Reporter
from kibitz.games.public_cards import masks
from kibitz.play.exploitability import exploitability
from kibitz.poker import best_response as holdem_best_response
from kibitz.poker.best_response import evaluate_hands
from kibitz.poker.rules.ranges import all_hands, hand_values, opposing_weight, showdown
from kibitz.train import trainer


def test_weights_of_hands_that_may_meet_and_of_those_beaten_are_what_a_double_loop_finds():
    game = games.load("holdem:ranks=5,suits=3")
    hands, boards = all_hands(game), np.array([[0, 5, 9], [16, 14, 2]])
    cards, generator = masks(hands), np.random.default_rng(1)
    values = np.zeros((2, len(hands)), np.int64)
    hand_values(hands, cards, boards, masks(boards), values)
    weights = generator.random(values.shape) * (values >= 0)
    met, won = np.zeros(values.shape), np.zeros(values.shape)
    opposing_weight(hands, weights, np.zeros(52), met)
    showdown(hands, values, np.argsort(values, axis=1), weights, np.zeros(52), won)
    apart = cards[:, None] & cards == 0  # [own, other]
    for b in range(2):
        free = values[b] >= 0
        assert met[b][free] == pytest.approx((apart @ weights[b])[free])
        ahead = np.sign(values[b][:, None] - values[b])
        assert won[b][free] == pytest.approx(((apart * ahead) @ weights[b])[free])


@pytest.mark.parametrize(
    ("name", "player"),
    [
        ("holdem:ranks=4,suits=2,streets=2,raises=1,preflop_raises=1", "style:loose-aggressive"),
        ("holdem:ranks=7,suits=1,streets=2,raises=1,preflop_raises=2,stack=25", "random"),  # all in before the flop
        ("holdem:ranks=4,suits=2,streets=3,raises=0,preflop_raises=0", "style:tight-passive"),
    ],
)
def test_the_exploitability_is_that_of_the_unfolded_game(name, player):
    game = games.load(name)
    found, expected = evaluate_hands(game, player, 1), exploitability(game, player, 1, 1, 1).mean_strategy
    assert found.nash_conv == pytest.approx(expected.nash_conv, abs=1e-9)
    assert found.best == pytest.approx(expected.best, abs=1e-9)
    assert found.value == pytest.approx(expected.value, abs=1e-9)
    assert found.nash_conv > 0.1


def test_a_player_that_draws_its_strategy_is_the_mixture_of_what_it_draws(tmp_path):
    """SD-CFR: each network counts by its weight and by how likely it plays to the infoset."""
    name = "holdem:ranks=7,suits=1,streets=2,raises=1,preflop_raises=1"
    values = {"iterations": 3, "traversals": 60, "hidden": "8", "steps": 20, "batch_size": 64, "average": "sd"}
    config = trainer.configured("deep-cfr", name, None, values | {"evaluate_every": 3, "keep_every": 3})
    run = trainer.new_run(tmp_path / "run", "deep-cfr", config)
    trainer.train(run, 1)
    game = games.load(name)
    found, expected = (of(game, f"net:{run.folder}", 1) for of in (evaluate_hands, exploitability))
    assert found.nash_conv == pytest.approx(run.read_lines()[-1]["nash_conv"], abs=1e-9)
    assert found.nash_conv == pytest.approx(expected.mean_strategy.nash_conv, abs=1e-9)
    assert found.best == pytest.approx(expected.mean_strategy.best, abs=1e-9)
    assert found.value == pytest.approx(expected.mean_strategy.value, abs=1e-8)


def test_batches_and_processes_make_no_difference(monkeypatch):
    game = games.load("holdem:flop,ranks=4,suits=2")
    whole = evaluate_hands(game, "random", 1)
    monkeypatch.setattr(holdem_best_response, "BATCH", 100)

    class Listener(Reporter):
        def progress(self, *so_far):
            done.append(so_far)

    done = []
    found = evaluate_hands(game, "random", 2, Listener(), alone=0)
    assert found.nash_conv == pytest.approx(whole.nash_conv, abs=1e-12)
    assert len(done) > 5
    assert done[-1][0] == done[-1][1]


def test_always_folding_loses_the_blinds(kibitz, tmp_path):
    """The dealer who folds loses half a big blind, the big blind one when he is raised."""
    code, out, _ = kibitz(
        "exploit", "holdem:flop,ranks=4,suits=2", "always:fold", "--processes", "1", "--json", "r.json"
    )
    assert code == 0
    report = json.loads((tmp_path / "r.json").read_text())
    assert report["best"] == [0.5, 1.0]
    assert report["player"] == "always:fold"
    assert "750" in out


def test_a_game_with_too_many_boards_is_refused():
    with pytest.raises(BadInput, match="too many for an exact result; --with lbr gives a lower bound"):
        evaluate_hands(games.load("holdem"), "random")
