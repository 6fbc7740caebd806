"""Networks: one forward pass in NumPy and torch, files that are refused when damaged, learning by weight and mask."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
import safetensors.numpy

from kibitz import games
from kibitz.core.names import BadInput
from kibitz.train.deep_cfr.config import DeepCfrConfig
from kibitz.train.deep_cfr.fitting import (
    ADVANTAGES,
    ENTROPY,
    SQUARES,
    FitSettings,
    Fitter,
    evaluator,
    fit,
    remaining_rate,
)
from kibitz.train.deep_cfr.networks import (
    CARDS,
    FORMAT,
    PLAIN,
    Model,
    Shape,
    forward,
    new_weights,
    read_model,
    save_model,
    softmax,
)
from kibitz.train.deep_cfr.packing import Rows
from kibitz.train.deep_cfr.traits import packing_of
from kibitz.train.packing import pack

SETTINGS = FitSettings(400, 64, 0.01, "none", 0.0, 1.0, 0.0, False, False, False, ADVANTAGES)


def shaped(kind=PLAIN, norm="layer", skips=True):
    deck = (2, 4, 2) if kind == CARDS else (0, 0, 0)
    return Shape(kind, 2 * 8 + 7, (8, 8), 3, norm, skips, deck)


@pytest.mark.parametrize(
    ("kind", "norm", "skips"), list(product((PLAIN, CARDS), ("none", "layer", "batch"), (True, False)))
)
def test_numpy_and_torch_say_the_same(kind, norm, skips):
    shape = shaped(kind, norm, skips)
    weights = new_weights(shape, np.random.default_rng(1))
    assert sum(array.size for array in weights.values()) == shape.count()
    encodings = np.random.default_rng(2).normal(size=(9, shape.inputs)).astype(np.float32)
    said = forward(shape, weights, encodings)
    assert said.shape == (9, 3)
    assert evaluator(shape, weights, "cpu")(encodings) == pytest.approx(said, abs=1e-5)


def test_a_card_is_the_sum_of_its_rank_its_suit_and_itself():
    shape = shaped(CARDS)
    weights = new_weights(shape, np.random.default_rng(1))
    encodings = np.zeros((1, shape.inputs), np.float32)
    encodings[0, [3, 8 + 6]] = 1  # rank 1, suit 1 in the hand; rank 3, suit 0 on the flop
    before = forward(shape, weights, encodings)
    for name, place in (("rank", 1), ("suit", 1), ("card", 3), ("rank", 3), ("suit", 0), ("card", 6)):
        changed = {key: array.copy() for key, array in weights.items()}
        changed[name][place] += 1
        assert not np.allclose(forward(shape, changed, encodings), before)
    for name, place in (("rank", 0), ("card", 0)):
        changed = {key: array.copy() for key, array in weights.items()}
        changed[name][place] += 1
        assert np.array_equal(forward(shape, changed, encodings), before)


def test_hold_em_is_seen_card_by_card_and_as_in_the_thesis_all_at_once():
    game = games.load("holdem")
    shape = DeepCfrConfig("holdem", hidden="64").shape(game)
    assert (shape.kind, shape.deck, shape.count()) == (CARDS, (4, 13, 4), 53_123)
    assert DeepCfrConfig("holdem:thesis", hidden="512-512-256").shape(games.load("holdem:thesis")).kind == PLAIN


# ---------------------------------------------------------------- learning


def planted(values, weights=None, n=200, seed=1):
    """Rows of Leduc's encoding at random, with values by their first bit."""
    packing = packing_of(games.load("leduc"))
    bits = np.random.default_rng(seed).random((n, packing.game.facts.encoding)) < 0.5
    found = np.array(values, np.float32)[bits[:, 0].astype(int)]
    weight = np.ones(n, np.float32) if weights is None else weights(bits)
    return packing, Rows(pack(bits), found, weight.astype(np.float32)), bits


def learned(packing, rows, settings=SETTINGS, seed=1, **changes):
    shape = Shape(PLAIN, packing.game.facts.encoding, (16,), 3, "none", False)
    start = new_weights(shape, np.random.default_rng(seed))
    result = fit(shape, start, rows, packing, replace(settings, **changes), seed, "cpu")
    return result, lambda bits: forward(shape, result.weights, bits.astype(np.float32))


def test_what_is_planted_is_learned_and_illegal_actions_have_no_share():
    packing, rows, bits = planted([[1.0, -2.0, np.nan], [3.0, 0.5, np.nan]])
    result, say = learned(packing, rows)
    said = say(bits)
    assert said[:, :2] == pytest.approx(rows.values[:, :2], abs=0.2)
    assert result.loss < 0.01
    assert np.isfinite(said).all()


@pytest.mark.parametrize("loss", [ENTROPY, SQUARES])
def test_a_strategy_is_learned_over_the_legal_actions(loss):
    packing, rows, bits = planted([[0.9, 0.1, np.nan], [0.25, 0.75, np.nan]])
    _, say = learned(packing, rows, loss=loss)
    legal = np.tile([True, True, False], (len(bits), 1))
    assert softmax(say(bits), legal) == pytest.approx(np.nan_to_num(rows.values), abs=0.05)


def test_samples_count_by_their_weight():
    """Half of all rows say 0, half 1, whatever is seen; those that say 1 are of an iteration three times as late."""
    packing, _, bits = planted([[0.0, 0.0, 0.0]] * 2, n=400)
    values = np.zeros((400, 3), np.float32)
    values[::2] = 1
    weights = np.where(values[:, 0] == 1, 3.0, 1.0).astype(np.float32)
    blind = Rows(pack(np.zeros_like(bits)), values, weights)
    _, say = learned(packing, blind, steps=300)
    assert say(np.zeros((1, packing.game.facts.encoding)))[0] == pytest.approx([0.75] * 3, abs=0.05)


def test_weights_are_rescaled_to_a_mean_of_one():
    packing, rows, _ = planted([[0.0, 0.0, 0.0]] * 2, lambda bits: np.repeat(np.arange(1, 5), 50))
    shape = Shape(PLAIN, packing.game.facts.encoding, (4,), 3, "none", False)
    fitter = Fitter(shape, new_weights(shape, np.random.default_rng(1)), rows, packing, SETTINGS, 1, "cpu")
    wanted = np.repeat(np.arange(1, 5), 50) * 2 / 5  # for as many samples an iteration: times 2 / (T + 1)
    assert fitter.weight.numpy() == pytest.approx(wanted)


def on_two_streets(batch_size, n=300, **changes):
    """A fitter to rows of Leduc poker, nine tenths of them on the second street, with weights and values at random."""
    packing, rows, bits = planted([[0.0, 0.0, 0.0]] * 2, lambda bits: np.arange(1.0, len(bits) + 1), n)
    bits[:, 3:6] = False  # the public card
    later = np.arange(n) % 10 > 0
    bits[later, 4] = True
    values = np.random.default_rng(2).normal(later[:, None], 1, (n, 3)).astype(np.float32)
    rows = Rows(pack(bits), values, rows.weights)
    shape = Shape(PLAIN, packing.game.facts.encoding, (4,), 3, "none", False)
    settings = replace(SETTINGS, batch_size=batch_size, balance_streets=True, **changes)
    fitter = Fitter(shape, new_weights(shape, np.random.default_rng(1)), rows, packing, settings, 1, "cpu")
    errors = ((forward(shape, fitter.result(), bits.astype(np.float32)) - values) ** 2).sum(axis=1)
    balanced = np.mean([np.average(errors[street], weights=rows.weights[street]) for street in (later, ~later)])
    return fitter, later, balanced


def test_balanced_minibatches_have_as_many_rows_of_each_street_and_within_one_any_row():
    fitter, later, _ = on_two_streets(20)
    drawn = np.concatenate([fitter._draw().numpy() for _ in range(1500)]).reshape(1500, 20)
    assert (later[drawn].sum(axis=1) == 10).all()
    for street in (later, ~later):
        counts = np.bincount(drawn[street[drawn]], minlength=300)[street]
        expected = 1500 * 10 / street.sum()
        assert np.sum((counts - expected) ** 2 / expected) < street.sum() + 4 * np.sqrt(2 * street.sum())  # chi squared
    assert [int(later[on_two_streets(7)[0]._draw().numpy()].sum()) for _ in range(3)] == [3] * 3


@pytest.mark.parametrize("kept", [True, False])
def test_the_balanced_loss_is_the_mean_over_streets_whether_rows_are_drawn_or_all_are_used(kept):
    """The weights of iterations count within a street."""
    fitter, _, balanced = on_two_streets(1000 if kept else 50, learning_rate=0.0)
    assert (fitter.kept is not None) == kept
    losses = [float(fitter.step(i)) for i in range(1 if kept else 2000)]
    error = 1e-5 if kept else 4 * float(np.std(losses)) / len(losses) ** 0.5
    assert np.mean(losses) == pytest.approx(float(balanced), abs=error)


def test_held_out_rows_are_balanced_too():
    fitter, later, _ = on_two_streets(20, validation=0.5)
    held_out, train = (np.isin(np.arange(300), part.numpy()) for part in (fitter.held_out, fitter.train))
    weight = fitter.weight.numpy()
    assert [weight[train & street].sum() for street in (later, ~later)] == pytest.approx([75, 75], rel=1e-4)
    assert [weight[held_out & street].sum() for street in (later, ~later)] == pytest.approx([75, 75], rel=0.4)


def test_the_validation_set_is_random_or_the_newest_and_stops_early():
    packing, rows, _ = planted([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    shape = Shape(PLAIN, packing.game.facts.encoding, (4,), 3, "none", False)
    start = new_weights(shape, np.random.default_rng(1))
    splits = {}
    for newest in (True, False):
        settings = replace(SETTINGS, validation=0.2, newest_held_out=newest)
        fitter = Fitter(shape, start, rows, packing, settings, 1, "cpu")
        splits[newest] = sorted(fitter.held_out.tolist())
        assert sorted([*fitter.train.tolist(), *splits[newest]]) == list(range(200))
    assert splits[True] == list(range(160, 200))
    assert len(splits[False]) == 40
    assert splits[False] != splits[True]
    noise = Rows(rows.views, np.random.default_rng(3).normal(size=(200, 3)).astype(np.float32), rows.weights)
    result, _ = learned(packing, noise, validation=0.2, steps=2000)
    assert result.steps < 1000


def fitter_of(**changes):
    packing, rows, _ = planted([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    shape = Shape(PLAIN, packing.game.facts.encoding, (4,), 3, "none", False)
    start = new_weights(shape, np.random.default_rng(1))
    return Fitter(shape, start, rows, packing, replace(SETTINGS, **changes), 1, "cpu")


def test_averaged_weights_are_the_moving_average_of_those_after_each_step():
    """It covers few steps at first; from step 82 on the decay of 0.9 counts. The steps themselves are the same."""
    fitter, plain = fitter_of(weight_averaging=0.9), fitter_of()
    wanted = plain.result()["body.0.weights"].astype(float)
    for step in range(100):
        fitter.step(step)
        plain.step(step)
        decay = min(0.9, (1 + step) / (10 + step))
        wanted = decay * wanted + (1 - decay) * plain.result()["body.0.weights"]
    assert fitter.result()["body.0.weights"] == pytest.approx(wanted, abs=1e-6)
    assert np.array_equal(fitter.parameters["body.0.weights"].detach().numpy(), plain.result()["body.0.weights"])
    assert not np.allclose(wanted, plain.result()["body.0.weights"], atol=1e-4)


def test_weight_averaging_and_a_decaying_rate_reduce_the_noise_of_a_fit():
    """Two fits to the same noise, which differ by their minibatches only."""
    packing, rows, bits = planted([[0.0, 0.0, 0.0]] * 2)
    noise = Rows(rows.views, np.random.default_rng(3).normal(size=(200, 3)).astype(np.float32), rows.weights)

    def difference(**changes):
        shape = Shape(PLAIN, packing.game.facts.encoding, (16,), 3, "none", False)
        start, settings = new_weights(shape, np.random.default_rng(1)), replace(SETTINGS, batch_size=8, **changes)
        one, two = (fit(shape, start, noise, packing, settings, seed, "cpu").weights for seed in (1, 2))
        return np.abs(
            forward(shape, one, bits.astype(np.float32)) - forward(shape, two, bits.astype(np.float32))
        ).mean()

    last = difference()
    assert difference(weight_averaging=0.99) < 0.8 * last
    assert difference(learning_rate_decay="cosine") < 0.8 * last


def test_the_learning_rate_decays_linearly_or_by_a_cosine():
    for decay, wanted in (("linear", [1, 0.75, 0.5, 0.25]), ("cosine", [1, 0.853553, 0.5, 0.146447])):
        assert [remaining_rate(decay, k / 4) for k in range(4)] == pytest.approx(wanted, abs=1e-6)
        fitter = fitter_of(learning_rate_decay=decay, steps=4)
        rates = []
        for step in range(4):
            fitter.step(step)
            rates.append(fitter.optimizer.param_groups[0]["lr"])
        assert rates == pytest.approx([0.01 * each for each in wanted], abs=1e-8)


def test_early_stopping_looks_at_the_averaged_weights():
    averaged, plain = fitter_of(weight_averaging=0.9, validation=0.2), fitter_of(validation=0.2)
    for step in range(5):
        averaged.step(step)
        plain.step(step)
    wanted = plain.validation_loss()
    assert averaged.validation_loss() != pytest.approx(wanted, rel=1e-3)
    for name, each in averaged.parameters.items():
        averaged.played[name] = each.detach()
    assert averaged.validation_loss() == pytest.approx(wanted)


def test_batch_norm_learns_its_statistics():
    packing, rows, bits = planted([[1.0, -1.0, 0.0], [-1.0, 1.0, 0.0]])
    shape = Shape(PLAIN, packing.game.facts.encoding, (16,), 3, "batch", False)
    start = new_weights(shape, np.random.default_rng(1), 0.005)
    assert max(np.abs(start["body.0.weights"]).max(), np.abs(start["head.biases"]).max()) <= 0.005
    found = fit(shape, start, rows, packing, SETTINGS, 1, "cpu").weights
    assert not np.array_equal(found["norm.mean"], start["norm.mean"])
    assert forward(shape, found, bits.astype(np.float32)) == pytest.approx(rows.values, abs=0.3)


# ---------------------------------------------------------------- files


def written(path):
    game = games.load("leduc")
    shape = DeepCfrConfig("leduc", hidden="4").shape(game)
    networks = [new_weights(shape, np.random.default_rng(seed)) for seed in range(4)]
    name = games.full_name(game)
    model = Model(name, name, "made here", "sd", "argmax", shape, (networks[:2], networks[2:]), np.array([1.0, 2.0]))
    save_model(path, model)
    return model


def test_a_model_comes_back_from_its_file(tmp_path):
    path = tmp_path / "network.safetensors"
    model = written(path)
    found = read_model(path, games.load("leduc"))
    assert FORMAT.fits(path)
    assert found._replace(seats=(), weights=0) == model._replace(seats=(), weights=0)
    assert found.weights.tolist() == [1, 2]
    for mine, theirs in zip(found.seats, model.seats, strict=True):
        for one, two in zip(mine, theirs, strict=True):
            assert all(np.array_equal(one[key], two[key]) for key in two)


def test_a_model_of_half_the_bytes_says_nearly_the_same(tmp_path):
    model = written(tmp_path / "whole")
    save_model(tmp_path / "half", model, np.float16)
    whole, half = (
        sum(each.nbytes for each in safetensors.numpy.load_file(tmp_path / name).values()) for name in ("whole", "half")
    )
    assert half == whole / 2
    weights, encodings = read_model(tmp_path / "half").seats[1][0], np.eye(model.shape.inputs, dtype=np.float32)
    said = forward(model.shape, weights, encodings)
    assert said.dtype == np.float32
    assert said == pytest.approx(forward(model.shape, model.seats[1][0], encodings), abs=0.01)


def test_files_that_are_no_model_are_refused_in_one_line(tmp_path):
    path = tmp_path / "network.safetensors"
    for spoil, told in (
        (lambda: path.unlink(), "no network file"),
        (lambda: path.write_bytes(path.read_bytes()[:-7]), "damaged or foreign"),
        (lambda: path.write_bytes(safetensors.numpy.save({"x": np.zeros(3)})), "is no network of Kibitz"),
    ):
        written(path)
        spoil()
        assert not FORMAT.fits(path) or path.stat().st_size
        with pytest.raises(BadInput, match=told) as caught:
            read_model(path)
        assert "\n" not in str(caught.value)
    written(path)
    with pytest.raises(BadInput, match="a network for leduc, not for kuhn"):
        read_model(path, games.load("kuhn"))
    model = written(path)
    model.seats[0][1]["head.biases"][0] = np.nan
    save_model(path, model)
    with pytest.raises(BadInput, match="aren't finite"):
        read_model(path)
