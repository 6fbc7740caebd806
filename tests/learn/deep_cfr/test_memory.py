"""Samples: packed small and unpacked exactly, kept by a rule, merged to the same loss."""

import numpy as np
import pytest
import torch

from kibitz import games
from kibitz.jit import generators
from kibitz.learn.deep_cfr.learning import ADVANTAGES, ENTROPY, errors
from kibitz.learn.deep_cfr.memory import BITS, FLOATS, HANDS, Memory, Packing, Rows, merged
from kibitz.learn.deep_cfr.traversal import Settings, Traverser
from kibitz.learn.deep_cfr.unpacking import unpacker

REDUCED = "holdem:ranks=4,suits=2,streets=3"


def samples(name, count=60):
    game = games.load(name)
    packing = Packing(game)
    streams = generators(3, 2 * count)
    found = Traverser(game, packing, Settings(True, False, False)).run(
        0, streams[:count], streams[count:], (None, None)
    )
    return packing, found


@pytest.mark.parametrize(
    ("name", "kind", "size"),
    [
        ("kuhn", BITS, 2 + 4 * 2 + 4),
        ("leduc", BITS, 4 + 4 * 3 + 4),
        (REDUCED, HANDS, 16 + 4 * 3 + 4),
        ("holdem", HANDS, 16 + 4 * 3 + 4),
        ("holdem:thesis", HANDS, 16 + 4 * 3 + 4),
        ("holdem:stack=80,inputs=2", HANDS, 16 + 4 * 3 + 4),
        ("holdem:inputs=3", HANDS, 16 + 4 * 3 + 4),
    ],
)
def test_packed_views_are_small_and_unpack_to_what_the_network_saw(name, kind, size):
    packing, found = samples(name, 30 if name == "holdem" else 60)
    assert packing.kind == kind
    assert Memory(9, packing.bytes, packing.game.facts.num_actions, "latest").bytes_each == size <= 40
    traverser = Traverser(packing.game, packing, Settings(True, False, False))
    seen = []
    streams = generators(3, 60)
    traverser.run(0, streams[:30], streams[30:], (lambda x: seen.append(x.copy()) or np.ones((len(x), 3)), None))
    views = traverser.run(0, streams[:30], streams[30:], (None, None)).advantages.views
    assert views.shape[1] == packing.bytes
    for samples_of in (found.advantages, found.strategies):
        plain = packing.unpack(samples_of.views)
        by_torch = unpacker(packing, torch.device("cpu"))(torch.from_numpy(samples_of.views))
        assert np.array_equal(plain, by_torch.numpy())
    assert set(map(bytes, packing.unpack(views[:30]))) <= set(map(bytes, np.concatenate(seen)[:30]))


def test_shuffled_suits_keep_ranks_and_who_has_the_same_suit():
    packing, found = samples("holdem", 30)
    views = torch.from_numpy(found.advantages.views)
    plain = unpacker(packing, torch.device("cpu"))(views)
    shuffled = unpacker(packing, torch.device("cpu"), torch.Generator().manual_seed(1))(views)
    before, after = (each[:, : 4 * 52].reshape(len(views), 4, 13, 4) for each in (plain, shuffled))
    assert torch.equal(before.sum(dim=3), after.sum(dim=3))  # ranks of each street
    for one, two in zip(before, after, strict=True):  # the four suits as columns, in another order
        columns = [sorted(each.reshape(52, 4).T.tolist()) for each in (one, two)]
        assert columns[0] == columns[1]
    assert torch.equal(plain[:, 4 * 52 :], shuffled[:, 4 * 52 :])
    assert not torch.equal(before, after)


def test_encodings_that_are_no_bits_are_kept_whole():
    packing = Packing(games.load("leduc"))
    packing.kind, packing.bytes = FLOATS, 4 * packing.width
    encodings = np.random.default_rng(1).normal(size=(5, packing.width)).astype(np.float32)
    views = packing.pack(np.zeros(5, packing.game.state), 0, encodings)
    assert np.array_equal(packing.unpack(views), encodings)
    assert np.array_equal(unpacker(packing, torch.device("cpu"))(torch.from_numpy(views)).numpy(), encodings)


def numbered(memory, first, count, generator):
    views = np.arange(first, first + count, dtype=np.uint32).view(np.uint8).reshape(count, 4)
    values = np.full((count, 2), np.nan, np.float32)
    values[:, 0] = np.arange(first, first + count)
    memory.add(views, values, np.full(count, first + 1.0, np.float32), generator)


def test_the_latest_samples_stay_in_order_of_age():
    memory, generator = Memory(10, 4, 2, "latest"), np.random.default_rng(1)
    for first in range(0, 28, 7):
        numbered(memory, first, 7, generator)
    assert memory.rows().values[:, 0].tolist() == list(range(18, 28))
    assert len(memory) == 10


def test_every_sample_stays_with_the_same_chance():
    counts, generator = np.zeros(60), np.random.default_rng(2)
    for _ in range(2000):
        memory = Memory(20, 4, 2, "reservoir")
        for first in range(0, 60, 15):
            numbered(memory, first, 15, generator)
        rows = memory.rows()
        assert len(np.unique(rows.values[:, 0])) == 20
        assert (rows.views.copy().view(np.uint32)[:, 0] == rows.values[:, 0]).all()
        counts[rows.values[:, 0].astype(int)] += 1
    # Each is binomial, 2000 of 1/3: 21 is one standard deviation.
    assert counts.sum() == 2000 * 20
    assert np.abs(counts - 2000 / 3).max() < 5 * 21


def test_a_memory_comes_back_from_its_file_and_goes_on_alike(tmp_path):
    one, two = Memory(20, 4, 2, "reservoir"), Memory(20, 4, 2, "reservoir")
    numbered(one, 0, 35, np.random.default_rng(1))
    one.save(tmp_path / "memory.safetensors")
    two.restore(tmp_path / "memory.safetensors")
    for memory in (one, two):
        numbered(memory, 35, 30, np.random.default_rng(2))
    for mine, theirs in zip(one.rows(), two.rows(), strict=True):
        assert np.array_equal(mine, theirs, equal_nan=True)
    with pytest.raises(ValueError, match="other samples"):
        Memory(21, 4, 2, "reservoir").restore(tmp_path / "memory.safetensors")


@pytest.mark.parametrize("width", [4, 13])
@pytest.mark.parametrize("loss", [ADVANTAGES, ENTROPY])
def test_merged_rows_have_the_same_gradients(width, loss):
    """Of a function that says something of each view: what it is told to change is the same."""
    generator = np.random.default_rng(4)
    kinds = generator.integers(0, 256, (6, width)).astype(np.uint8)
    legal = np.array([[True, True, True], [False, True, True]] * 3)
    drawn = generator.integers(0, 6, 50)
    values = generator.random((50, 3)).astype(np.float32)
    values[~legal[drawn]] = np.nan
    values /= np.nansum(values, axis=1, keepdims=True)
    rows = Rows(kinds[drawn], values, generator.integers(1, 9, 50).astype(np.float32))
    table, found = torch.zeros((6, 3), requires_grad=True), []
    with torch.no_grad():
        table += torch.from_numpy(generator.normal(size=(6, 3)).astype(np.float32))
    for each in (rows, merged(rows)):
        index = [int(np.flatnonzero((kinds == view).all(axis=1))[0]) for view in each.views]
        total = (torch.from_numpy(each.weights) * errors(table[index], torch.from_numpy(each.values), loss)).sum()
        found.append(torch.autograd.grad(total, table)[0].numpy())
    assert len(merged(rows).views) == len(np.unique(drawn))
    assert found[0] == pytest.approx(found[1], abs=1e-3)
    assert (found[0][~legal] == 0).all()


def test_merged_rows_have_all_their_weight():
    rows = Rows(np.array([[1], [1], [2]], np.uint8), np.ones((3, 2), np.float32), np.array([3, 6, 4], np.float32))
    assert merged(rows).weights.tolist() == [9, 4]
