"""Runs of CFR on the public tree: resumed exactly, damage and mismatch refused; the solver for a GPU is the same."""

import os
import signal

import numpy as np
import pytest

from kibitz import BadInput
from kibitz.core import steps
from kibitz.core.interrupts import Interrupted
from kibitz.core.progress import Reporter
from kibitz.core.runs import Run
from kibitz.games import load
from kibitz.solve import vector_cfr_runs
from kibitz.solve.bidding_cfr import BiddingCfr
from kibitz.solve.public_tree.cfr import METHODS, VectorCfr
from kibitz.solve.vector_cfr_runs import is_vector_run, new_run, open_run, solve_run

FILES = ("state.safetensors", "strategy.safetensors", "metrics.jsonl")


class Killed(Exception):
    pass


def contents(folder):
    return [(folder / name).read_bytes() for name in FILES]


def test_a_run_that_grows_or_is_killed_ends_with_the_same_bytes(tmp_path, monkeypatch):
    game = load("kuhn")
    solved = solve_run(new_run(game, iterations=100, folder=tmp_path / "one"))
    assert solved.infosets == 12
    assert 0 < solved.metrics["nash_conv"] < 0.01
    assert solved.metrics["value"] == pytest.approx(-1 / 18, abs=0.01)
    solve_run(new_run(game, iterations=30, folder=tmp_path / "two"), threads=2)
    monkeypatch.setattr(vector_cfr_runs.VectorSolving, "save_seconds", 0.0)
    monkeypatch.setattr(vector_cfr_runs.VectorSolving, "save_share", 0.0)
    step = vector_cfr_runs.VectorSolving.step

    def killed(work):
        step(work)
        if work.done == 70:
            raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(vector_cfr_runs.VectorSolving, "step", killed)
        with pytest.raises(Killed):
            solve_run(open_run(tmp_path / "two", 100))
    assert solve_run(open_run(tmp_path / "two")).iterations == 100
    assert contents(tmp_path / "one") == contents(tmp_path / "two")
    assert is_vector_run(Run(tmp_path / "two"))


def test_an_interrupt_ends_in_order(tmp_path, monkeypatch):
    notes = []

    class Press(Reporter):
        def progress(self, done, total=None, note=""):
            notes.append(note)
            os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(steps, "REPORT_SECONDS", 0.0)
    with pytest.raises(Interrupted) as stopped:
        solve_run(new_run(load("kuhn"), iterations=40, folder=tmp_path / "two"), report=Press())
    assert stopped.value.result.iterations == 1
    assert "s per iteration  NashConv" in notes[0]
    solve_run(open_run(tmp_path / "two"))
    solve_run(new_run(load("kuhn"), iterations=40, folder=tmp_path / "one"))
    assert contents(tmp_path / "one") == contents(tmp_path / "two")


def test_damage_and_mismatch_are_refused(tmp_path):
    solve_run(new_run(load("kuhn"), iterations=5, folder=tmp_path / "run"))
    with pytest.raises(BadInput, match='whose with is "cfr\\+", not "dcfr"'):
        new_run(load("kuhn"), "dcfr", iterations=5, folder=tmp_path / "run")
    with pytest.raises(BadInput, match="iterations = 5, which can only grow: 4 is less"):
        open_run(tmp_path / "run", 4)
    state = tmp_path / "run" / "state.safetensors"
    whole = state.read_bytes()
    state.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    with pytest.raises(BadInput, match=r"state\.safetensors can't be read as checkpoint.* checksum is wrong"):
        solve_run(open_run(tmp_path / "run", 6))
    solve_run(new_run(load("kuhn"), "dcfr", iterations=5, folder=tmp_path / "other"))
    state.write_bytes((tmp_path / "other" / "state.safetensors").read_bytes())
    with pytest.raises(BadInput, match="is the state of another run"):
        solve_run(open_run(tmp_path / "run", 6))


@pytest.mark.parametrize("method", METHODS)
def test_the_solver_for_a_gpu_equals_that_on_cores(method):
    game = load("liars_dice:faces=4")
    cores = VectorCfr(game, method)
    sweeps = BiddingCfr(game, method, "cpu", cores.tree)
    cores.run(15)
    sweeps.run(15)
    for one, two in zip(cores.tables, sweeps.tables, strict=True):
        np.testing.assert_allclose(one, two, atol=1e-9)
    np.testing.assert_allclose(np.hstack(cores.evaluate()), np.hstack(sweeps.evaluate()), atol=1e-9)
    again = BiddingCfr(game, method, "cpu", cores.tree)
    again.restore(15, *sweeps.tables)
    for solver in (sweeps, again):
        solver.run(2)
    assert all(np.array_equal(*each) for each in zip(sweeps.tables, again.tables, strict=True))


def test_regrets_too_small_for_single_precision_do_no_harm_on_a_gpu(monkeypatch):
    monkeypatch.setattr("kibitz.solve.public_tree.cfr.DOUBLE", 0)
    sweeps = BiddingCfr(load("liars_dice:faces=4"), "cfr+", "cpu")
    regrets, sums = sweeps.tables
    regrets[:] = 1e-42  # its inverse is infinite in single precision
    regrets[::2] = 0
    sweeps.restore(5, regrets, sums)
    sweeps.run(5)
    assert all(np.isfinite(each).all() for each in sweeps.tables)
    assert np.isfinite(sweeps.evaluate().nash_conv)


def test_a_gpu_solves_liars_dice_only(tmp_path):
    with pytest.raises(BadInput, match="kuhn can't be solved on a GPU: only liars_dice can; use --device cpu"):
        new_run(load("kuhn"), device="cuda", folder=tmp_path / "run")
    assert not (tmp_path / "run").exists()
