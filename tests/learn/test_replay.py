"""Experience: what is kept, how likely, how small, and the same after it was saved."""

import math

import numpy as np
import pytest

from kibitz import games
from kibitz.core.names import BadInput
from kibitz.learn.replay import RULES, Experience, read_experience


def numbered(start, count, width=20):
    """Rows whose encoding is their own number in binary."""
    numbers = np.arange(start, start + count)
    encodings = (numbers[:, None] >> np.arange(width) & 1).astype(np.float32)
    policies = np.tile(np.array([0.5, 0.25, 0.25, 0.0]), (count, 1))
    return encodings, policies, policies > 0


def numbers_in(experience):
    bits = np.unpackbits(experience.encodings[: len(experience)], axis=1, count=experience.width)
    return (bits.astype(np.int64) << np.arange(experience.width)).sum(axis=1)


def filled(rule, rows, count, seed, step=50):
    experience, generator = Experience(rows, 20, 4, rule), np.random.default_rng(seed)
    for start in range(0, count, step):
        experience.add(*numbered(start, min(step, count - start)), generator)
    return experience


@pytest.mark.parametrize("rule", RULES)
def test_until_it_is_full_everything_is_kept_in_order(rule):
    experience = filled(rule, rows=300, count=300, seed=1)
    assert numbers_in(experience).tolist() == list(range(300))
    assert len(filled(rule, rows=300, count=120, seed=1)) == 120


def test_latest_keeps_the_last_rows():
    assert sorted(numbers_in(filled("latest", 100, 1234, 1))) == list(range(1134, 1234))


def test_uniform_keeps_every_row_with_the_same_chance():
    ages = np.concatenate([numbers_in(filled("uniform", 100, 1000, seed)) for seed in range(200)])
    counts = np.bincount(ages // 100, minlength=10)
    assert np.abs(counts / counts.sum() - 0.1).max() < 0.01


def test_exponential_forgets_as_the_paper_says():
    """The chance of a row still being there falls as exp(-age / 2k): checked in steps of k/2 rows."""
    k, count = 200, 2000
    ages = np.concatenate([count - 1 - numbers_in(filled("exponential", k, count, seed)) for seed in range(300)])
    expected = np.array([math.exp(-age / (2 * k)) for age in range(count - k)])
    per_row = 1 - math.exp(-1 / (2 * k))  # the mean number of copies of the newest row, over the rows kept
    counts = np.bincount(ages, minlength=count)[: count - k]
    for start in range(0, 1000, 100):
        found = counts[start : start + 100].sum() / 300
        assert found == pytest.approx(k * per_row * expected[start : start + 100].sum(), rel=0.06)


def test_how_rows_are_grouped_makes_no_difference_to_the_law():
    """Offered one by one or by hundreds: the same mean age."""
    means = [
        np.mean([numbers_in(filled("exponential", 50, 600, seed, step)).mean() for seed in range(150)])
        for step in (1, 200)
    ]
    assert means[0] == pytest.approx(means[1], rel=0.02)


def test_a_sample_gives_back_what_was_put_in():
    experience = filled("latest", 64, 64, 1)
    encodings, policies, legal = experience.sample(5000, np.random.default_rng(2))
    numbers = (encodings.astype(np.int64) << np.arange(20)).sum(axis=1)
    assert set(numbers) == set(range(64))
    assert np.bincount(numbers).std() < 20
    assert encodings.dtype == policies.dtype == np.float32
    assert legal.dtype == bool
    assert policies[0].tolist() == [0.5, 0.25, 0.25, 0.0]
    assert legal[0].tolist() == [True, True, True, False]


def test_32000_games_of_goofspiel_13_fit_in_200_mb():
    facts = games.load("goofspiel:13").facts
    assert Experience(32_000 * 24, facts.encoding, facts.num_actions).bytes < 200e6


@pytest.mark.parametrize("rule", RULES)
def test_saved_and_read_again_it_goes_on_as_if_nothing_had_happened(rule, tmp_path):
    one = filled(rule, 100, 250, 3)
    one.save(tmp_path / "experience.safetensors")
    two = read_experience(tmp_path / "experience.safetensors")
    for experience in (one, two):
        experience.add(*numbered(250, 80), np.random.default_rng(9))
    assert numbers_in(one).tolist() == numbers_in(two).tolist()
    assert one.seen == two.seen == 330


def test_encodings_that_are_no_bits_are_kept_as_numbers():
    rows = np.array([[0.5, 2.0], [1.0, 0.0]])
    policies = np.array([[1.0, 0.0], [0.25, 0.75]])
    with pytest.raises(BadInput, match="can't be kept as bits"):
        Experience(4, 2, 2).add(rows, policies, policies > 0, np.random.default_rng(1))
    experience = Experience(4, 2, 2, bits=False)
    experience.add(rows, policies, policies > 0, np.random.default_rng(1))
    assert sorted(map(tuple, experience.sample(50, np.random.default_rng(1))[0].tolist()))[-1] == (1.0, 0.0)


def test_foreign_damaged_and_missing_files_are_refused(tmp_path):
    path = tmp_path / "e.safetensors"
    with pytest.raises(BadInput, match="no experience file"):
        read_experience(path)
    filled("uniform", 100, 250, 3).save(path)
    path.write_bytes(path.read_bytes()[:-50])
    with pytest.raises(BadInput, match="damaged or foreign"):
        read_experience(path)
    with pytest.raises(BadInput, match="no rule of experience is called 'best'"):
        Experience(3, 1, 1, "best")
    with pytest.raises(BadInput, match="there is no experience to draw from yet"):
        Experience(3, 1, 1).sample(1, np.random.default_rng(1))
