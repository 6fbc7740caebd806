"""Runs of exact best responses: equal to other exact ones, resumed to the same numbers, damaged files are one line."""

import json
import signal

import numpy as np
import pytest

import kibitz as package
from kibitz.arena import exact_runs
from kibitz.arena.exact_runs import Interrupted, exploit_run, identity, new_run, read_run, response_to
from kibitz.core.names import BadInput
from kibitz.core.progress import Reporter
from kibitz.games import load
from kibitz.learn.pcs_runs import new_run as new_solution
from kibitz.learn.pcs_runs import solve_run

SMALL = "holdem:flop,ranks=4,suits=2,raises=1,preflop_raises=1"


def solved(folder, game, iterations=30):
    run = new_solution(load(game), iterations=iterations, folder=folder)
    solve_run(run, 1)
    return folder / "strategy.safetensors"


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    return solved(tmp_path_factory.mktemp("small") / "run", SMALL)


def measured(folder, path, game=SMALL, flops=None, seed=1, report=None):
    rules = load(game)
    run = new_run(rules, identity(path), flops, seed, folder)
    return exploit_run(run, response_to(path, rules), *([report] if report else []))


class Stop(Reporter):
    """Presses Ctrl-C after some flops."""

    def __init__(self, after):
        self.after = after

    def progress(self, done, total=None, note=""):
        if done == self.after:
            signal.raise_signal(signal.SIGINT)


@pytest.mark.parametrize(
    "game",
    [
        "leduc",
        SMALL,
        "holdem:streets=3,ranks=4,suits=2,stack=40,raises=1",  # all in before the flop
        "holdem:streets=1,ranks=3,suits=2",  # no flop
    ],
)
def test_equals_the_other_exact_best_responses(tmp_path, game):
    path = solved(tmp_path / "run", game)
    found = measured(tmp_path / "exact", path, game)
    wanted = package.exploit(game, path, processes=1).mean_strategy
    assert found.exact
    assert found.nash_conv.mean == pytest.approx(wanted.nash_conv, rel=1e-5)
    assert found.best == pytest.approx(wanted.best, rel=1e-5)


def test_stopped_and_resumed_gives_the_same_numbers(tmp_path, small, monkeypatch):
    monkeypatch.setattr(exact_runs, "REPORT_SECONDS", 0.0)
    whole = measured(tmp_path / "whole", small)
    with pytest.raises(Interrupted) as stopped:
        measured(tmp_path / "parts", small, report=Stop(7))
    part = stopped.value.measured
    assert (part.exact, part.done, part.classes) == (False, 7, whole.classes)
    assert part.drawn >= 2
    assert read_run(tmp_path / "parts").nash_conv == part.nash_conv
    assert json.loads((tmp_path / "parts/result.json").read_text())["exact"] is False
    again = measured(tmp_path / "parts", small)
    assert (again.exact, again.nash_conv, again.best) == (True, whole.nash_conv, whole.best)
    state = [(tmp_path / name / "state.safetensors").stat().st_size for name in ("whole", "parts")]
    assert abs(state[0] - state[1]) < 100  # but for the digits of the time


def test_after_a_kill_the_last_state_is_resumed(tmp_path, small, monkeypatch):
    whole = measured(tmp_path / "whole", small)
    monkeypatch.setattr(exact_runs, "SAVE_SECONDS", 0.0)
    monkeypatch.setattr(exact_runs, "CHECKPOINT_SHARE", 0.0)
    response = response_to(small, load(SMALL))
    visit, visited = response.visit, []

    def killed(number):
        visited.append(number)
        if len(visited) == 6:
            raise MemoryError  # nothing is written after it
        return visit(number)

    monkeypatch.setattr(response, "visit", killed)
    with pytest.raises(MemoryError):
        exploit_run(new_run(load(SMALL), identity(small), folder=tmp_path / "run"), response)
    assert read_run(tmp_path / "run").done == 5
    assert measured(tmp_path / "run", small).nash_conv == whole.nash_conv


def test_a_sample_gives_a_bound_and_grows_to_the_exact_result(tmp_path, small):
    part = measured(tmp_path / "run", small, flops=10)
    assert (part.exact, part.drawn) == (False, 5)
    assert part.nash_conv.low < part.nash_conv.mean < part.nash_conv.high
    assert part.nash_conv.mean == pytest.approx(sum(part.best))
    assert measured(tmp_path / "same", small, flops=10) != measured(tmp_path / "other", small, flops=10, seed=2)
    with pytest.raises(BadInput, match="flops = 10, which can only grow: 8 is less"):
        measured(tmp_path / "run", small, flops=8)
    assert measured(tmp_path / "run", small).exact
    assert measured(tmp_path / "run", small).nash_conv == measured(tmp_path / "whole", small).nash_conv


def test_sums_are_in_double_precision(tmp_path, small):
    response = response_to(small, load(SMALL))
    response.run()
    assert response.sums.dtype == np.float64
    assert measured(tmp_path / "run", small).best == pytest.approx(response.values(), rel=1e-12)


def test_mistakes_are_one_line(tmp_path, small):
    folder = tmp_path / "run"
    measured(folder, small, flops=10)
    other = solved(tmp_path / "other", SMALL, 5)
    with pytest.raises(BadInput, match="holds another run, whose strategy is"):
        measured(folder, other, flops=10)
    with pytest.raises(BadInput, match="flops should be at least 4"):
        measured(tmp_path / "few", small, flops=3)
    state = folder / "state.safetensors"
    whole = state.read_bytes()
    for damaged in (whole[:-100], whole[:-8] + b"\x01" * 8, b"nothing"):
        state.write_bytes(damaged)
        for read in (lambda: read_run(folder), lambda: measured(folder, small, flops=10)):
            with pytest.raises(
                BadInput, match=r"state\.safetensors can't be read as state of a best response"
            ) as error:
                read()
            assert "\n" not in str(error.value)
    state.write_bytes(whole.replace(b'"seed": 1', b'"seed": 7').replace(b'\\"seed\\": 1', b'\\"seed\\": 7'))
    with pytest.raises(BadInput, match="is the state of another run"):
        read_run(folder)
    state.unlink()
    with pytest.raises(BadInput, match="has visited no flops yet"):
        read_run(folder)
    with pytest.raises(BadInput, match="holds no run of kibitz exploit"):
        read_run(small.parent)
