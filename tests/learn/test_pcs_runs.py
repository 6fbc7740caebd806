"""Runs of public chance sampling and of card abstraction: resumed exactly, damage and mismatch refused in one line."""

import json
import os
import signal

import numpy as np
import pytest

import kibitz
from kibitz.core import steps
from kibitz.core.interrupts import Interrupted
from kibitz.core.progress import Reporter
from kibitz.core.runs import Run
from kibitz.games import load
from kibitz.poker.gpu import pcs_runs
from kibitz.poker.gpu.pcs_runs import new_run, open_run, solve_run
from kibitz.poker.gpu.pcs_solvers import OnCores, OnGpu
from kibitz.poker.solve import abstraction_runs, clusters
from kibitz.poker.solve.buckets import lossless
from kibitz.poker.solve.cards import cards_of
from kibitz.poker.solve.files import open_table_strategy, read_buckets, read_table_strategy

SMALL = "holdem:flop,ranks=5,suits=2"
FILES = ("state.safetensors", "strategy.safetensors", "metrics.jsonl")


class Killed(Exception):
    pass


def contents(folder):
    return [(folder / name).read_bytes() for name in FILES]


@pytest.fixture(scope="module")
def buckets(tmp_path_factory):
    """The folder of an abstraction of the small hold'em."""
    folder = tmp_path_factory.mktemp("abstraction") / "buckets"
    abstraction_runs.compute(abstraction_runs.new_run(load(SMALL), "12", folder=folder))
    return folder


@pytest.fixture(scope="module")
def solved(tmp_path_factory, buckets):
    """The folder of a run of the small hold'em with that abstraction."""
    folder = tmp_path_factory.mktemp("run") / "run"
    solve_run(new_run(load(SMALL), buckets, 60, folder=folder), threads=2)
    return folder


def test_leduc_approaches_its_equilibrium(tmp_path):
    found = solve_run(new_run(load("leduc"), iterations=2000, folder=tmp_path / "run"))
    assert found.infosets == 288
    assert found.metrics["nash_conv"] < 0.2 < found.metrics["regret_bound"] < 0.4
    assert found.metrics["value"] == pytest.approx(-0.0856, abs=0.03)
    measured = kibitz.exploit("leduc", tmp_path / "run")
    assert len(measured.by_seed) == 1
    assert measured.nash_conv == pytest.approx(found.metrics["nash_conv"], abs=0.01)  # a byte per probability
    assert kibitz.solve("leduc", "pcs", 2000).nash_conv == pytest.approx(found.metrics["nash_conv"], rel=1e-6)


@pytest.mark.parametrize(
    ("name", "options", "long"),
    [
        ("leduc", {}, 100),
        (SMALL, {}, 100),
        ("leduc", {"boards": "all"}, 10),
        ("leduc", {"method": "cfr-br"}, 10),
        ("holdem:streets=3,ranks=4,suits=2", {"method": "cfr-br"}, 10),
    ],
)
def test_a_run_that_grows_or_is_killed_ends_with_the_same_bytes(name, options, long, tmp_path, monkeypatch):
    game = load(name)
    solve_run(new_run(game, iterations=long, folder=tmp_path / "one", **options))
    solve_run(new_run(game, iterations=3 * long // 10, folder=tmp_path / "two", **options), None if options else 2)
    monkeypatch.setattr(pcs_runs.PcsSolving, "save_seconds", 0.0)
    monkeypatch.setattr(pcs_runs.PcsSolving, "save_share", 0.0)
    step = pcs_runs.PcsSolving.step

    def killed(work):
        step(work)
        if work.done == 7 * long // 10:
            raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(pcs_runs.PcsSolving, "step", killed)
        with pytest.raises(Killed):
            solve_run(open_run(tmp_path / "two", long))
    assert solve_run(open_run(tmp_path / "two")).iterations == long
    assert contents(tmp_path / "one") == contents(tmp_path / "two")
    assert solve_run(open_run(tmp_path / "two")).seconds < 1  # there is nothing left to do


def test_all_boards_are_measured_exactly_with_and_without_an_abstraction(buckets, tmp_path):
    for abstraction, infosets, low, high in ((None, 88400, 80, 100), (buckets, 1040, 200, 400)):
        folder = tmp_path / str(infosets)
        found = solve_run(new_run(load(SMALL), abstraction, 30, boards="all", folder=folder))
        assert (found.boards, found.infosets) == (30 * 60, infosets)
        assert low < 500 * found.metrics["nash_conv"] < high
        assert "regret_bound" not in found.metrics
        measured = kibitz.exploit(SMALL, folder)  # by all hands and boards, of the strategy as it is kept
        assert measured.nash_conv == pytest.approx(found.metrics["nash_conv"], abs=2e-4)
        assert open_table_strategy(folder / "strategy.safetensors").probs.dtype == np.uint16


def test_an_interrupt_ends_in_order(tmp_path, monkeypatch):
    class Press(Reporter):
        def progress(self, done, total=None, note=""):
            assert "boards/s" in note
            os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(steps, "REPORT_SECONDS", 0.0)
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(Interrupted) as stopped:
        solve_run(new_run(load("leduc"), iterations=40, folder=tmp_path / "two"), report=Press())
    assert stopped.value.result.iterations == 1
    assert signal.getsignal(signal.SIGINT) is before
    solve_run(open_run(tmp_path / "two"))
    solve_run(new_run(load("leduc"), iterations=40, folder=tmp_path / "one"))
    assert contents(tmp_path / "one") == contents(tmp_path / "two")


def test_a_killed_abstraction_continues_to_the_same_bytes(buckets, tmp_path, monkeypatch):
    monkeypatch.setattr(clusters, "PART", 8)
    monkeypatch.setattr(clusters, "CHUNK", 4)
    saves = []
    save = abstraction_runs.KeepParts.save

    def killed(keep, name, arrays):
        save(keep, name, arrays)
        saves.append(name)
        if len(saves) % 7 == 0:
            raise Killed

    monkeypatch.setattr(abstraction_runs.KeepParts, "save", killed)
    for _ in range(20):
        run = abstraction_runs.new_run(load(SMALL), "12", folder=tmp_path / "again")
        try:
            abstraction_runs.compute(run)
            break
        except Killed:
            pass
    assert len(saves) == len(set(saves)) + sum(name == "2-centers" for name in saves) - 1 > 7
    file = "abstraction.safetensors"
    assert (tmp_path / "again" / file).read_bytes() == (buckets / file).read_bytes()
    assert not (tmp_path / "again" / "parts").exists()


def test_a_run_holds_its_abstraction_and_is_played_without_reading_it(solved, buckets):
    game = load(SMALL)
    file = "abstraction.safetensors"
    assert (solved / file).samefile(buckets / file)
    opened = open_table_strategy(solved / "strategy.safetensors", game)
    assert isinstance(opened.probs, np.memmap)
    assert isinstance(opened.buckets.tables[1], np.memmap)
    whole = read_table_strategy(solved / "strategy.safetensors", game, read_buckets(buckets / file, game))
    assert np.array_equal(opened.probs, whole.probs)
    form = kibitz.solve.sequence_form.unfold(load("holdem:streets=1,ranks=5,suits=2"))
    views = form.views[1]
    assert np.array_equal(opened.action_probs(views), whole.action_probs(views))
    assert len(kibitz.match(SMALL, [f"strategy:{solved}", "random"], games=20).records) == 20


def test_few_buckets_cost_something_and_lossless_ones_nothing(tmp_path):
    abstraction_runs.compute(abstraction_runs.new_run(load(SMALL), "4", folder=tmp_path / "buckets"))
    for folder, abstraction in ((tmp_path / "coarse", tmp_path / "buckets"), (tmp_path / "lossless", None)):
        solve_run(new_run(load(SMALL), abstraction, 2000, folder=folder))
    assert kibitz.exploit(SMALL, tmp_path / "coarse").nash_conv > 0.5
    assert kibitz.exploit(SMALL, tmp_path / "lossless").nash_conv < 0.25


@pytest.mark.parametrize(
    ("file", "change", "words"),
    [
        ("state.safetensors", "flip", "state.safetensors can't be read as checkpoint.*checksum is wrong"),
        ("state.safetensors", "cut", "state.safetensors can't be read as checkpoint"),
        ("abstraction.safetensors", "flip", "abstraction.safetensors can't be read as card abstraction.*checksum"),
        ("abstraction.safetensors", "cut", "abstraction.safetensors can't be read as card abstraction"),
    ],
)
def test_damaged_files_are_named(solved, tmp_path, file, change, words):
    for path in solved.iterdir():
        if path.is_file():
            (tmp_path / path.name).write_bytes(path.read_bytes())
    data = bytearray((tmp_path / file).read_bytes())
    data[-3] ^= 1
    (tmp_path / file).write_bytes(data if change == "flip" else data[: len(data) // 2])
    with pytest.raises(kibitz.BadInput, match=words):
        solve_run(open_run(tmp_path, 70))


def test_a_strategy_with_a_damaged_or_another_abstraction_is_not_played(solved, tmp_path):
    def copied(name):
        (tmp_path / name).write_bytes((solved / name).read_bytes())

    copied("strategy.safetensors")
    player = f"strategy:{tmp_path}"
    with pytest.raises(kibitz.BadInput, match=r"needs its card abstraction, .* which is missing"):
        kibitz.match(SMALL, [player, "random"], games=2)
    other = abstraction_runs.new_run(load(SMALL), "9", folder=tmp_path / "other")
    abstraction_runs.compute(other)
    other.path("abstraction.safetensors").rename(tmp_path / "abstraction.safetensors")
    with pytest.raises(kibitz.BadInput, match="is another card abstraction than the one"):
        kibitz.match(SMALL, [player, "random"], games=2)
    copied("abstraction.safetensors")
    with pytest.raises(kibitz.BadInput, match=r"is a strategy for holdem:.*, not for leduc"):
        kibitz.match("leduc", [player, "random"], games=2)
    whole = (tmp_path / "abstraction.safetensors").read_bytes()
    table = read_buckets(tmp_path / "abstraction.safetensors", load(SMALL)).tables[1]
    start = whole.index(np.where(table < 0, 2**16 - 1, table).astype(np.uint16).tobytes())
    worse = whole[:start] + b"\xff\x3f" * table.size + whole[start + 2 * table.size :]
    (tmp_path / "abstraction.safetensors").write_bytes(worse)
    with pytest.raises(kibitz.BadInput, match=r"the card abstraction of .* is damaged on street 2"):
        kibitz.match(SMALL, [player, "always:call"], games=20)


def test_what_does_not_fit_is_refused(buckets, solved, tmp_path):
    for game, given, words in (
        ("leduc", buckets, "is an abstraction for other cards than those of leduc"),
        ("holdem:flop,ranks=6,suits=2", buckets, "is an abstraction for other cards"),
        ("holdem", None, "compute one with kibitz poker abstract"),
        ("kuhn", None, "isn't poker with a public betting tree"),
        (SMALL, tmp_path, "has no card abstraction in it"),
        (SMALL, tmp_path / "nothing", "no card abstraction"),
    ):
        with pytest.raises(kibitz.BadInput, match=words):
            new_run(load(game), given, folder=tmp_path / "run")
        assert not (tmp_path / "run").exists()
    with pytest.raises(kibitz.BadInput, match="holdem has 4 streets: all boards are visited in games of 2 only"):
        new_run(load("holdem"), boards="all", folder=tmp_path / "run")
    with pytest.raises(kibitz.BadInput, match="no boards is called 'some'"):
        new_run(load("leduc"), boards="some", folder=tmp_path / "run", device="cuda")
    with pytest.raises(kibitz.BadInput, match="whose seed is 1, not 2"):
        new_run(load(SMALL), buckets, 60, seed=2, folder=solved)
    with pytest.raises(kibitz.BadInput, match="which can only grow: 50 is less"):
        open_run(solved, 50)
    with pytest.raises(kibitz.BadInput, match="is for a GPU"):
        new_run(load("leduc"), boards=4, folder=tmp_path / "run")
    Run.create(tmp_path / "other", "", {"command": "train", "method": "tspg"})
    with pytest.raises(kibitz.BadInput, match="it was made by train, not by solve pcs or cfr-br"):
        open_run(tmp_path / "other")


def test_memory_is_checked_before_anything_is_written(tmp_path, monkeypatch):
    monkeypatch.setenv("KIBITZ_MEMORY", "1M")
    with pytest.raises(kibitz.BadInput, match=r"needs .* of memory or more, and the limit is 1\.0 MB"):
        new_run(load(SMALL), iterations=1, folder=tmp_path / "run")
    monkeypatch.setenv("KIBITZ_MEMORY", "6M")
    with pytest.raises(kibitz.BadInput, match=r"needs .* 6\.0 MB: choose a smaller deck or --device cuda"):
        new_run(load(SMALL), iterations=1, boards="all", folder=tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_tables_in_torch_have_the_order_of_those_on_cores():
    game = load(SMALL)
    buckets = lossless(cards_of(game))
    one, two = OnCores(game, buckets, 1, 1), OnGpu(game, buckets, 1, 4, "cpu")
    for _ in range(3):
        one.run()
    two.restore(3, one.tables())
    assert all(np.array_equal(each, two.tables()[key]) for key, each in one.tables().items())
    assert not np.array_equal(two.solver.regrets.numpy(), one.tables()["regrets"])
    board = one.solver.sample(4)
    one.solver.step(board, 4.0)
    two.solver.step(two.solver.batch(*two.solver.possible(board[None])), 4.0)
    for key, mine in one.tables().items():
        assert two.tables()[key] == pytest.approx(mine, rel=1e-4, abs=1e-3)


def test_the_value_in_torch_is_that_on_cores():
    game = load("leduc")
    buckets = lossless(cards_of(game))
    one, two = OnCores(game, buckets, 1, 1), OnGpu(game, buckets, 1, 1, "cpu")
    two.solver.sample = lambda iteration: one.solver.sample(iteration)[None]
    for _ in range(20):
        one.run()
        two.run()
    assert two.measure() == pytest.approx(one.measure(), rel=1e-5)
    assert two.measure().keys() == {"regret_bound", "value"}


def test_a_gpu_that_is_missing_is_named(tmp_path, monkeypatch):
    import torch

    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    run = new_run(load("leduc"), iterations=1, device="cuda", folder=tmp_path / "run")
    assert json.loads((tmp_path / "run" / "config.json").read_text())["boards"] == 16
    with pytest.raises(kibitz.BadInput, match="torch finds no GPU here"):
        solve_run(run)
