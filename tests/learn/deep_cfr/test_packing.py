"""Samples of traversals: packed small, unpacked exactly, merged to the same gradient."""

import numpy as np
import pytest
import torch

from kibitz import games
from kibitz.jit import generators
from kibitz.poker.learn.holdem import HandPacking
from kibitz.train.deep_cfr.fitting import ADVANTAGES, ENTROPY, errors
from kibitz.train.deep_cfr.packing import Rows, merged
from kibitz.train.deep_cfr.traits import packing_of
from kibitz.train.deep_cfr.traversal import Settings, Traverser
from kibitz.train.packing import BYTE, Packed, joined, pack
from kibitz.train.replay import ReplayBuffer

REDUCED = "holdem:ranks=4,suits=2,streets=3"


def samples(name, count=60):
    game = games.load(name)
    packing = packing_of(game)
    streams = generators(3, 2 * count)
    found = Traverser(game, packing, Settings(True, False, False)).run(
        0, streams[:count], streams[count:], (None, None)
    )
    return packing, found


@pytest.mark.parametrize(
    ("name", "hands", "size"),
    [
        ("kuhn", False, 2 + 4 * 2 + 4),
        ("leduc", False, 4 + 4 * 3 + 4),
        (REDUCED, True, 16 + 4 * 3 + 4),
        ("holdem", True, 16 + 4 * 3 + 4),
        ("holdem:thesis", True, 16 + 4 * 3 + 4),
        ("holdem:stack=80,inputs=2", True, 16 + 4 * 3 + 4),
        ("holdem:inputs=3", True, 16 + 4 * 3 + 4),
    ],
)
def test_packed_views_are_small_and_unpack_to_the_encodings(name, hands, size):
    packing, found = samples(name, 30 if name == "holdem" else 60)
    assert isinstance(packing, HandPacking) == hands
    buffer = ReplayBuffer(9, packing.empty(packing.game.facts.num_actions))
    assert buffer.bytes_per_sample == size <= 40
    traverser = Traverser(packing.game, packing, Settings(True, False, False))
    seen = []
    streams = generators(3, 60)
    traverser.run(0, streams[:30], streams[30:], (lambda x: seen.append(x.copy()) or np.ones((len(x), 3)), None))
    views = traverser.run(0, streams[:30], streams[30:], (None, None)).advantages.views
    assert np.array_equal(views.columns, packing.no_views().columns)
    for samples_of in (found.advantages, found.strategies):
        plain = packing.unpack(samples_of.views)
        columns, rows = samples_of.views.columns, torch.from_numpy(samples_of.views.rows)
        by_torch = packing.unpacker(columns, torch.device("cpu"))(rows)
        assert np.array_equal(plain, by_torch.numpy())
    assert set(map(bytes, packing.unpack(views[:30]))) <= set(map(bytes, np.concatenate(seen)[:30]))


@pytest.mark.parametrize(
    ("name", "count"),
    [
        ("leduc", 2),
        ("leduc:distinct_suits=yes", 2),
        (REDUCED, 3),
        ("holdem", 4),
        ("holdem:thesis", 4),
        ("holdem:flop", 2),
    ],
)
def test_the_street_of_a_view_is_read_from_its_bytes(name, count):
    game, rng, encodings, states = games.load(name), generators(5, 1)[0], [], []
    for _ in range(40):
        state = games.positions(game)[0]
        while game.turn(state) != games.OVER:
            if game.turn(state) != games.CHANCE:
                states.append(state.copy())
                encodings.append(np.zeros(game.facts.encoding, np.float32))
                game.observe(state, game.turn(state), encodings[-1])
            game.play(state, game.sample_action(state, rng))
    packing, wanted = packing_of(game), [street_of(state) for state in states]
    views = joined(
        [
            packing.pack(np.array([state], game.state), int(game.turn(state)), encoding[None])
            for state, encoding in zip(states, encodings, strict=True)
        ]
    )
    assert packing.streets(views.columns, torch.from_numpy(views.rows)).tolist() == wanted
    assert set(wanted) == set(range(count))


def street_of(state):
    return int(state.street) if "street" in state.dtype.names else int(state.dealt == 3)


def test_permuted_suits_keep_ranks_and_equal_suits():
    packing, found = samples("holdem", 30)
    columns, views = found.advantages.views.columns, torch.from_numpy(found.advantages.views.rows)
    plain = packing.unpacker(columns, torch.device("cpu"))(views)
    shuffled = packing.unpacker(columns, torch.device("cpu"), torch.Generator().manual_seed(1))(views)
    before, after = (each[:, : 4 * 52].reshape(len(views), 4, 13, 4) for each in (plain, shuffled))
    assert torch.equal(before.sum(dim=3), after.sum(dim=3))  # ranks of each street
    for one, two in zip(before, after, strict=True):  # the four suits as columns, in another order
        columns = [sorted(each.reshape(52, 4).T.tolist()) for each in (one, two)]
        assert columns[0] == columns[1]
    assert torch.equal(plain[:, 4 * 52 :], shuffled[:, 4 * 52 :])
    assert not torch.equal(before, after)


@pytest.mark.parametrize("width", [4, 13])
@pytest.mark.parametrize("loss", [ADVANTAGES, ENTROPY])
def test_merged_rows_have_the_same_gradients(width, loss):
    """The gradient of a table with an entry per view is the same."""
    generator = np.random.default_rng(4)
    kinds = generator.integers(0, 256, (6, width)).astype(np.uint8)
    legal = np.array([[True, True, True], [False, True, True]] * 3)
    drawn = generator.integers(0, 6, 50)
    values = generator.random((50, 3)).astype(np.float32)
    values[~legal[drawn]] = np.nan
    values /= np.nansum(values, axis=1, keepdims=True)
    rows = Rows(
        Packed(kinds[drawn], np.full(width, BYTE, np.uint8)), values, generator.integers(1, 9, 50).astype(np.float32)
    )
    table, found = torch.zeros((6, 3), requires_grad=True), []
    with torch.no_grad():
        table += torch.from_numpy(generator.normal(size=(6, 3)).astype(np.float32))
    for each in (rows, merged(rows)):
        index = [int(np.flatnonzero((kinds == view).all(axis=1))[0]) for view in each.views.rows]
        total = (torch.from_numpy(each.weights) * errors(table[index], torch.from_numpy(each.values), loss)).sum()
        found.append(torch.autograd.grad(total, table)[0].numpy())
    assert len(merged(rows).views) == len(np.unique(drawn))
    assert found[0] == pytest.approx(found[1], abs=1e-3)
    assert (found[0][~legal] == 0).all()


def test_the_weight_of_merged_rows_is_the_sum():
    views = pack(np.array([[1], [1], [2]], np.float32))
    rows = Rows(views, np.ones((3, 2), np.float32), np.array([3, 6, 4], np.float32))
    assert merged(rows).weights.tolist() == [9, 4]
