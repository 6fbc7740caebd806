"""Packed rows: whatever is written is read, bit for bit, by every learner that keeps encodings."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some
from hypothesis.extra.numpy import arrays

from kibitz import games
from kibitz.core.names import BadInput
from kibitz.core.runs import Run
from kibitz.games import CHANCE, OVER
from kibitz.train import replay, trainer
from kibitz.train.checkpoints import Journal
from kibitz.train.packing import BIT, BITS, BYTE, COLUMNS, FLOAT, Packed, joined, on_device, pack, stored
from kibitz.train.replay import RULES, ReplayBuffer

from .contract import KillAfter, Killed, outcome

FILE = Path(__file__).parent / "rare.py"
POKER, BOARD = f"{FILE}:RarePoker", f"{FILE}:RareBoard"
SHAPES = some.tuples(some.integers(0, 12), some.integers(1, 20))
# Zeros and ones, small and large whole numbers, and any float32: columns of all kinds, in which few numbers are odd.
NUMBERS = some.one_of(
    some.sampled_from([0.0, 1.0]), some.integers(0, 300).map(float), some.floats(width=32, allow_nan=False)
)
ROWS = SHAPES.flatmap(lambda shape: arrays(np.float32, shape, elements=NUMBERS, fill=some.sampled_from([0.0, 1.0])))


def as_written(numbers):
    return numbers.shape, numbers.tobytes()


@settings(max_examples=300, deadline=None)
@given(ROWS)
def test_every_number_is_read_as_it_was_written(rows):
    packed = pack(rows)
    assert as_written(packed.numbers()) == as_written(rows)
    assert as_written(on_device(packed, "cpu").numpy()) == as_written(rows)
    assert as_written(stored(packed.rows, packed.columns, rows.shape[1]).numbers()) == as_written(rows)
    for column, kind in zip(rows.T, packed.columns, strict=True):
        bits = np.isin(column.view(np.uint32), np.array([0, 1], np.float32).view(np.uint32)).all()
        whole = np.isin(column, range(256)).all() and not np.signbit(column).any()
        assert kind == (BIT if bits else BYTE if whole else FLOAT)


@pytest.mark.parametrize("kind", [np.float32, np.float16, np.uint8, np.int8, bool])
@pytest.mark.parametrize("width", [0, 1, 700])
def test_wide_rows_of_zeros_and_ones_are_bits_in_any_type(kind, width):
    """An odd number in the last of many blocks is seen, too."""
    rows = (np.random.default_rng(width).random((3 * BITS // max(width, 200), width)) < 0.3).astype(kind)
    found = pack(rows)
    assert (found.columns == BIT).all()
    assert found.rows.tobytes() == np.packbits(rows != 0, axis=1).tobytes()
    assert not len(pack(rows[:0]))
    if width and kind is not bool:
        rows[-1, -1] = 5
        found = pack(rows)
        assert found.columns[-1] == BYTE
        assert (found.columns[:-1] == BIT).all()
        assert (found.numbers() == rows).all()


@settings(max_examples=100, deadline=None)
@given(some.integers(1, 9), some.data(), some.sampled_from(RULES))
def test_a_buffer_gives_back_what_blocks_of_any_kind_it_was_given(tmp_path_factory, width, data, rule):
    """Columns are widened when a block needs it; nothing that is there changes."""
    blocks = [data.draw(arrays(np.float32, (count, width), elements=NUMBERS)) for count in (1, 3, 0, 5, 4)]
    numbered = np.arange(sum(map(len, blocks)))
    buffer = ReplayBuffer(7, {"rows": Packed.empty(width), "number": np.zeros(0, np.int64)}, rule)
    path, written = tmp_path_factory.mktemp("buffer") / "buffer.safetensors", np.concatenate(blocks)
    for block in blocks:
        buffer.add({"rows": block, "number": numbered[: len(block)]}, np.random.default_rng(len(block)))
        numbered = numbered[len(block) :]
        buffer.save(path)
        other = ReplayBuffer(7, {"rows": Packed.empty(width), "number": np.zeros(0, np.int64)}, rule)
        other.restore(path)
        for each in (buffer, other):
            kept = each.all()
            assert as_written(kept["rows"].numbers()) == as_written(written[kept["number"]])
    drawn = buffer.sample(20, np.random.default_rng(1))
    assert as_written(drawn["rows"].numbers()) == as_written(written[drawn["number"]])


@settings(max_examples=100, deadline=None)
@given(ROWS, ROWS)
def test_a_journal_gives_back_rows_of_any_kind(tmp_path_factory, one, two):
    journal = Journal(tmp_path_factory.mktemp("journal") / "journal")
    given = {"one": one, "two": two, "mask": one > 0, "packed": pack(two), "line": two[:, 0], "bytes": np.uint8([[3]])}
    journal.write(1, given)
    found = journal.read(1)
    assert found.keys() == given.keys()
    assert as_written(found.pop("packed").numbers()) == as_written(two)
    for name, array in found.items():
        assert (array.dtype, as_written(array)) == (given[name].dtype, as_written(given[name]))


def test_joined_rows_have_the_columns_of_the_widest():
    parts = [np.array([[0, 1, 1]]), np.array([[1, 0, 9], [0, 0.5, 0]])]
    found = joined([pack(part.astype(np.float32)) for part in parts])
    assert found.columns.tolist() == [BIT, FLOAT, BYTE]
    assert np.array_equal(found.numbers(), np.concatenate(parts).astype(np.float32))
    with pytest.raises(TypeError, match="float64 can't be packed"):
        pack(parts[1].astype(float))


@pytest.mark.parametrize("kind", [BIT, BYTE, FLOAT])
def test_rows_from_before_version_0_3_are_read(kind, tmp_path):
    """They were bits, the bytes of a hand of hold'em, or floats, and their file didn't say so."""
    numbers = np.random.default_rng(kind).integers(0, 2, (6, 16)).astype(np.float32) * (1, 200, 0.3)[kind]
    numbers = numbers.astype(np.float32)
    rows = [np.packbits(numbers.astype(bool), axis=1), numbers.astype(np.uint8), numbers.view(np.uint8)][kind]
    for old in [rows, numbers] if kind == FLOAT else [rows]:
        about = {"added": 6, "capacity": 9, "rule": "latest"}
        replay.FORMAT.write(tmp_path / "old.safetensors", {"rows": old}, **about)
        buffer = ReplayBuffer(9, {"rows": Packed.empty(16)}, "latest")
        buffer.restore(tmp_path / "old.safetensors")
        assert np.array_equal(buffer.all()["rows"].numbers(), numbers)


@pytest.mark.parametrize(
    ("rows", "columns"), [(np.zeros((3, 2), np.uint8), [0, 0, 0]), (np.zeros((3, 1), np.uint8), [0, 7, 0])]
)
def test_columns_that_do_not_fit_are_refused(rows, columns, tmp_path):
    path, about = tmp_path / "buffer.safetensors", {"added": 3, "capacity": 9, "rule": "latest"}
    tensors = {"rows": rows, "rows" + COLUMNS: np.array(columns, np.uint8)}
    replay.FORMAT.write(path, tensors, **about)
    with pytest.raises(BadInput, match="don't fit their columns"):
        ReplayBuffer(9, {"rows": Packed.empty(3)}, "latest").restore(path)


# ---------------------------------------------------------------- a rare feature, in every learner

SEARCHED = {"iterations": 2, "games": 150, "simulations": 20, "hidden": "8", "steps": 2, "evaluate_every": 0}
LEARNERS = {
    "exit-oos": (POKER, SEARCHED, {"experience": "encodings"}),
    "exit-ismcts": (POKER, SEARCHED, {"experience": "encodings"}),
    "deep-cfr": (
        POKER,
        {"iterations": 2, "traversals": 300, "in_flight": 100, "hidden": "8", "steps": 3, "strategy_steps": 3,
         "evaluate_every": 0, "average": "both"},
        {f"{kind}-{seat}": "views" for kind in ("advantages", "strategies") for seat in (1, 2)},
    ),
    "alphazero": (
        BOARD,
        {"iterations": 2, "games": 40, "parts": 2, "rounds": 120, "simulations": 3, "fast_simulations": 2,
         "channels": 4, "blocks": 1, "steps": 2, "batch_size": 8, "evaluate_every": 0, "device": "cpu"},
        {"samples": "encodings"},
    ),
}  # fmt: skip


def encodings_of(game):
    """All encodings that the game has, as bytes."""
    todo, met, found, encoding = [games.positions(game)[0]], set(), set(), np.zeros(game.facts.encoding, np.float32)
    while todo:
        state = todo.pop()
        if (turn := game.turn(state)) == OVER or state.tobytes() in met:
            continue
        met.add(state.tobytes())
        if turn != CHANCE:
            game.observe(state, turn, encoding)
            found.add(encoding.tobytes())
        second = turn == CHANCE and state["step"] == 1  # two of seat 1's cards are enough for every card of seat 0
        for action in games.legal_actions(game, state)[: 2 if second and state["cards"][0] else None]:
            todo.append(state.copy())
            game.play(todo[-1], action)
    return found


@pytest.mark.parametrize("name", LEARNERS)
def test_a_rare_feature_is_learned_from_as_it_is(name, tmp_path, monkeypatch):
    """Every row of the last checkpoint is an encoding of the game, and a run that was killed has the same rows."""
    game, values, files = LEARNERS[name]
    config = trainer.configured(name, game, None, values)
    runs = [trainer.new_run(tmp_path / each / "run", name, config) for each in ("whole", "killed")]
    trainer.train(runs[0], processes=1)
    monkeypatch.setattr(trainer.Training, "save_seconds", 1e9)
    with pytest.raises(Killed):
        trainer.train(Run(runs[1].folder), processes=1, report=KillAfter(5))
    trainer.train(Run(runs[1].folder), processes=1)
    assert outcome(runs[0]) == outcome(runs[1])
    known, [folder], odd = encodings_of(games.load(game)), runs[0].path("checkpoints").iterdir(), 0
    for file, key in files.items():
        tensors, _ = replay.FORMAT.read(folder / f"{file}.safetensors")
        columns = tensors[key + COLUMNS]
        rows = stored(tensors[key], columns, len(columns)).numbers()
        assert {row.tobytes() for row in rows} <= known
        odd += int(((rows != 0) & (rows != 1)).any(axis=1).sum())
    assert odd
