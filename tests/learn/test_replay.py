"""The replay buffer: which samples it keeps, with which probability, and the same after it was saved."""

import copy
import math

import numpy as np
import pytest

from kibitz import games
from kibitz.core.names import BadInput
from kibitz.train.exit_oos.learner import empty_samples
from kibitz.train.replay import RULES, ReplayBuffer

EMPTY = {"number": np.zeros(0, np.int64), "twice": np.zeros((0, 2), np.float32)}


def numbered(start, count):
    """Samples that are their own numbers."""
    numbers = np.arange(start, start + count)
    return {"number": numbers, "twice": np.stack([numbers, numbers], axis=1)}


def numbers_in(buffer):
    found = buffer.arrays["number"][: len(buffer)]
    assert (buffer.arrays["twice"][: len(buffer)] == found[:, None]).all()
    return found


def filled(rule, rows, count, seed, step=50):
    buffer, generator = ReplayBuffer(rows, EMPTY, rule), np.random.default_rng(seed)
    for start in range(0, count, step):
        buffer.add(numbered(start, min(step, count - start)), generator)
    return buffer


@pytest.mark.parametrize("rule", RULES)
def test_until_it_is_full_everything_is_kept_in_order(rule):
    experience = filled(rule, rows=300, count=300, seed=1)
    assert numbers_in(experience).tolist() == list(range(300))
    assert len(filled(rule, rows=300, count=120, seed=1)) == 120


def test_latest_keeps_the_last_samples_in_order_of_age():
    buffer = filled("latest", 100, 1234, 1)
    assert sorted(numbers_in(buffer)) == list(range(1134, 1234))
    assert buffer.all()["number"].tolist() == list(range(1134, 1234))


@pytest.mark.parametrize("count", [0, 40, 100, 1234])
def test_latest_takes_samples_by_their_age_and_is_refilled(count):
    buffer = filled("latest", 100, count, 1)
    again = ReplayBuffer(100, EMPTY, "latest")
    again.refill(copy.deepcopy(buffer.all()), len(buffer))
    for start in (count, count + 30):
        expected = np.arange(max(start - 100, 0), start)
        for each in (buffer, again):
            assert each.take(np.arange(len(each)))["number"].tolist() == expected.tolist()
            assert (
                each.take(np.array([0, -1])[: len(each)])["number"].tolist() == expected[[0, -1][: len(each)]].tolist()
            )
            each.add(numbered(start, 30), np.random.default_rng(1))


def test_uniform_keeps_every_sample_with_the_same_probability():
    ages = np.concatenate([numbers_in(filled("uniform", 100, 1000, seed)) for seed in range(200)])
    counts = np.bincount(ages // 100, minlength=10)
    assert np.abs(counts / counts.sum() - 0.1).max() < 0.01


def test_exponential_forgets_as_the_paper_says():
    """The probability that a sample is still there falls as exp(-age / 2k): checked in steps of k/2 samples."""
    k, count = 200, 2000
    ages = np.concatenate([count - 1 - numbers_in(filled("exponential", k, count, seed)) for seed in range(300)])
    expected = np.array([math.exp(-age / (2 * k)) for age in range(count - k)])
    per_row = 1 - math.exp(-1 / (2 * k))  # the mean number of copies of the newest row, over the rows kept
    counts = np.bincount(ages, minlength=count)[: count - k]
    for start in range(0, 1000, 100):
        found = counts[start : start + 100].sum() / 300
        assert found == pytest.approx(k * per_row * expected[start : start + 100].sum(), rel=0.06)


def test_the_size_of_additions_makes_no_difference_to_the_distribution():
    """Added one by one or by hundreds: the same mean age."""
    means = [
        np.mean([numbers_in(filled("exponential", 50, 600, seed, step)).mean() for seed in range(150)])
        for step in (1, 200)
    ]
    assert means[0] == pytest.approx(means[1], rel=0.02)


def test_samples_are_drawn_uniformly():
    buffer = filled("latest", 64, 64, 1)
    drawn = buffer.sample(5000, np.random.default_rng(2))
    assert set(drawn["number"]) == set(range(64))
    assert np.bincount(drawn["number"]).std() < 20
    assert (drawn["twice"] == drawn["number"][:, None]).all()


@pytest.mark.parametrize("rule", RULES)
def test_a_restored_buffer_continues_as_the_saved_one(rule, tmp_path):
    one, two = filled(rule, 100, 250, 3), ReplayBuffer(100, EMPTY, rule)
    one.save(tmp_path / "buffer.safetensors")
    two.restore(tmp_path / "buffer.safetensors")
    for buffer in (one, two):
        buffer.add(numbered(250, 80), np.random.default_rng(9))
    assert numbers_in(one).tolist() == numbers_in(two).tolist()
    assert one.added == two.added == 330


def test_missing_damaged_and_foreign_files_are_refused(tmp_path):
    path, buffer = tmp_path / "e.safetensors", ReplayBuffer(100, EMPTY, "uniform")
    with pytest.raises(BadInput, match="no replay buffer file"):
        buffer.restore(path)
    filled("uniform", 100, 250, 3).save(path)
    for other in (
        ReplayBuffer(101, EMPTY, "uniform"),
        ReplayBuffer(100, EMPTY, "latest"),
        ReplayBuffer(100, EMPTY | {"twice": np.zeros((0, 3), np.float32)}, "uniform"),
        ReplayBuffer(100, EMPTY | {"twice": np.zeros((0, 2), np.float16)}, "uniform"),
    ):
        with pytest.raises(BadInput, match=r"is the state of another run|twice has the shape|twice is of type"):
            other.restore(path)
    path.write_bytes(path.read_bytes()[:-50])
    with pytest.raises(BadInput, match="damaged or foreign"):
        buffer.restore(path)
    with pytest.raises(BadInput, match="no rule of the replay buffer is called 'best'"):
        ReplayBuffer(3, EMPTY, "best")
    with pytest.raises(BadInput, match="the replay buffer is empty"):
        buffer.sample(1, np.random.default_rng(1))


# ---------------------------------------------------------------- samples of ExIt-OOS


def test_32000_games_of_goofspiel_13_fit_in_200_mb():
    empty = empty_samples(games.load("goofspiel:13"))
    assert 32_000 * 24 * ReplayBuffer(1, empty).bytes_per_sample < 200e6
