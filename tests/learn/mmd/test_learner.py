"""The learner: it learns, the number of threads doesn't matter, and presets are those of their source."""

import numpy as np
import pytest
import torch

from kibitz.core.names import BadInput
from kibitz.core.progress import SILENT
from kibitz.games import load
from kibitz.play.players import make_for
from kibitz.solve.sequence_form import unfold
from kibitz.train.mmd import learner as module
from kibitz.train.mmd.learner import Mmd
from kibitz.train.trainer import configured

FAST = {"device": "cpu", "hidden": "16-16", "evaluate_every": 1}


def trained(values, iterations, processes=1):
    config = configured("mmd", "kuhn", None, FAST | {"iterations": iterations} | values)
    learner = Mmd(config, load("kuhn"))
    learner.processes = processes
    metrics = [learner.learn(iteration, None, SILENT) for iteration in range(1, iterations + 1)]
    return learner, metrics


@pytest.mark.parametrize(
    "values",
    [
        {},
        {"estimate": "played", "critic": "own"},
        {"network": "residual"},
    ],
)
def test_it_approaches_the_equilibrium_of_kuhn(values):
    learner, metrics = trained({"games": 256, "learning_rate": 5e-3, "entropy": 0.1, "final_entropy": 0.5} | values, 60)
    assert learner.evaluate()["nash_conv"] < 0.45  # uniform play: 0.92
    assert metrics[-1]["value_loss"] < metrics[0]["value_loss"]


def test_estimates_of_the_tree_come_close_to_the_equilibrium_of_kuhn():
    settings = {"games": 200, "hidden": "64-64", "estimate": "tree", "explore": 0.5, "entropy": 0.2,
                "final_entropy": 0.1, "kl": 2.5, "learning_rate": 3e-3, "final_learning_rate": 0.1, "epochs": 30,
                "clip": 10.0, "max_gradient_norm": 10.0}  # fmt: skip
    learner, _ = trained(settings, 40)
    assert learner.evaluate()["nash_conv"] < 0.3


def test_exploration_needs_estimates_of_the_tree():
    with pytest.raises(BadInput, match=r"explore=0.5 needs estimate=tree"):
        configured("mmd", "kuhn", None, {"explore": 0.5})


def test_threads_make_no_difference(monkeypatch):
    monkeypatch.setattr(module, "PART", 10)
    (one, first), (four, second) = (trained({"games": 37}, 2, processes) for processes in (1, 4))
    assert first == second
    assert len(one.parts) == 4
    assert all((a[0] == b[0]).all() for a, b in zip(one.network(), four.network(), strict=True))


def by_game(batch):
    """What was played, as arrays in the order of the games."""
    order = np.argsort(batch.games, kind="stable")
    tensors = (each.cpu().numpy() for each in (batch.encodings, batch.legal, batch.actions))
    return [*(each[order] for each in (*tensors, batch.games, batch.seats)), batch.payoffs]


@pytest.mark.parametrize(("game", "packed"), [("kuhn", True), ("leduc", True), ("holdem", False)])
def test_games_are_the_same_in_the_parts_for_a_gpu(monkeypatch, game, packed):
    """Two parts, each in slices, and bits where the encodings allow it."""
    monkeypatch.setattr(module, "SLICE", 5)
    config = configured("mmd", game, None, FAST | {"games": 37, "minibatches": 3})
    plain, other = (Mmd(config, load(game)) for _ in range(2))
    other.on_gpu = other.packed = True
    other.processes = 2
    wanted = by_game(plain.play(1))
    assert all(np.array_equal(a, b) for a, b in zip(wanted, by_game(other.play(1)), strict=True))
    assert other.packed == packed
    assert [len(part) for part in other.parts] == [19, 18]
    assert [len(part.games.slices) for part in other.parts] == [2, 2]
    assert other.learn(1, None, SILENT)["decisions"] == len(wanted[0])


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
@pytest.mark.parametrize("packed", [True, False])
@pytest.mark.parametrize("values", [{}, {"estimate": "tree", "critic": "own"}])
def test_a_gpu_plays_the_same_games(monkeypatch, packed, values):
    monkeypatch.setattr(module, "SLICE", 50)
    learners = []
    for device in ("cpu", "cuda"):
        config = configured("mmd", "leduc", None, FAST | values | {"games": 300, "device": device})
        learners.append(Mmd(config, load("leduc")))
    plain, other = learners
    other.packed, other.processes = packed, 4
    wanted = by_game(plain.play(1))
    assert all(np.array_equal(a, b) for a, b in zip(wanted, by_game(other.play(1)), strict=True))
    assert other.packed == packed
    assert other.learn(1, None, SILENT)["decisions"] == len(wanted[0])


def test_rate_entropy_and_kl_follow_their_schedules():
    values = {"games": 8, "learning_rate": 0.01, "final_learning_rate": 0.5, "iterations": 4}
    learner, _ = trained(values, 4)
    assert learner.optimizer.param_groups[0]["lr"] == pytest.approx(0.01 * (1 - 0.75 * 0.5))


def test_more_minibatches_than_decisions_are_as_many_as_there_are():
    _, metrics = trained({"games": 1, "minibatches": 1000}, 1)
    assert metrics[0]["value_loss"] > 0


def test_the_average_of_weights_is_exported():
    learner, _ = trained({"games": 8, "averaging": 0.9, "learning_rate": 0.01}, 3)
    last, average = learner.policy[0].weight, learner.networks["average"].module[0].weight
    assert (last != average).any()
    assert (learner.network()[0][0] == average.detach().numpy().T).all()


def test_the_published_settings():
    """Those of Rudolph et al. 2026 for Liar's Dice: best_hyperparameters/min_final_expl_hparams/mmd/liars_dice."""
    config = configured("mmd", "kuhn", "paper", {"device": "cpu"})
    published = {"learning_rate": 6.25e-5, "clip": 0.025, "entropy": 0.1, "kl": 0.025, "epochs": 8, "minibatches": 1,
                 "gae_lambda": 0.95, "max_gradient_norm": 0.5, "value_weight": 0.0625, "normalize": "advantages",
                 "final_learning_rate": 0.0, "final_entropy": 1.0}  # fmt: skip
    assert {key: getattr(config, key) for key in published} == published
    assert config.iterations * 2048 == pytest.approx(10_000_000, rel=1e-3)
    assert configured("mmd", "kuhn", "paper-ppo", {"device": "cpu"}).kl == 0


def test_what_cannot_be_trained_is_refused():
    with pytest.raises(BadInput, match=r"hidden=99999-99999 makes 10,0\d\d,\d\d\d,\d\d\d weights, more than the limit"):
        configured("mmd", "kuhn", None, {"hidden": "99999-99999"})
    with pytest.raises(BadInput, match="a batch of 9,999,999 games"):
        configured("mmd", "leduc", None, {"games": 9_999_999, "hidden": "9999"})


def test_it_plays_what_it_learned(tmp_path):
    """`net:FILE` plays the exported network."""
    learner, _ = trained({"games": 8}, 2)
    learner.export(tmp_path / "network.safetensors", "a test")
    player = make_for(f"net:{tmp_path / 'network.safetensors'}", learner.game)
    player.begin(learner.game, 0, 1)
    views = unfold(learner.game).views[0]
    for view, probs in zip(views, player.action_probs(views), strict=True):
        np.testing.assert_allclose(player.advise(view).policy, probs, atol=1e-5)
