"""Runs of exact best responses: equal to other exact ones, resumed to the same numbers, damaged files are one line."""

import json
import signal
from typing import Any

import numpy as np
import pytest
import torch

import kibitz as package
from kibitz.core import steps
from kibitz.core.interrupts import Interrupted
from kibitz.core.names import BadInput
from kibitz.core.progress import Reporter
from kibitz.games import full_name, load
from kibitz.nets.mlp import new_layers, save_layers, sizes_of
from kibitz.poker import exact_runs
from kibitz.poker.best_response import evaluate_hands
from kibitz.poker.exact_runs import exploit_run, identity, new_run, read_run, response_to
from kibitz.poker.gpu.pcs_runs import new_run as new_solution
from kibitz.poker.gpu.pcs_runs import solve_run
from kibitz.poker.gpu.public_best_response import flop_classes
from kibitz.poker.solve.cards import cards_of
from kibitz.train.deep_cfr.networks import Model, Shape, new_weights, read_model, save_model

SMALL = "holdem:flop,ranks=4,suits=2,raises=1,preflop_raises=1"


def solved(folder, game, iterations=30):
    run = new_solution(load(game), iterations=iterations, folder=folder)
    solve_run(run, 1)
    return folder / "strategy.safetensors"


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    return solved(tmp_path_factory.mktemp("small") / "run", SMALL)


def measured(folder, path, game=SMALL, flops=None, seed=1, report=None, device="cpu"):
    rules = load(game)
    run = new_run(rules, identity(path, rules), flops, seed, folder)
    return exploit_run(run, response_to(path, rules, device), *([report] if report else []))


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
        "holdem:streets=3,ranks=4,suits=2,stack=20,raises=1",  # all in before the flop
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
    monkeypatch.setattr(steps, "REPORT_SECONDS", 0.0)
    whole = measured(tmp_path / "whole", small)
    with pytest.raises(Interrupted) as stopped:
        measured(tmp_path / "parts", small, report=Stop(7))
    part = stopped.value.result
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
    monkeypatch.setattr(exact_runs.Visiting, "save_seconds", 0.0)
    monkeypatch.setattr(exact_runs.Visiting, "save_share", 0.0)
    response = response_to(small, load(SMALL))
    visit, visited = response.visit, []

    def killed(number):
        visited.append(number)
        if len(visited) == 6:
            raise MemoryError  # nothing is written after it
        return visit(number)

    monkeypatch.setattr(response, "visit", killed)
    with pytest.raises(MemoryError):
        exploit_run(new_run(load(SMALL), identity(small, None), folder=tmp_path / "run"), response)
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


def network(folder, game, kind):
    """A network with random weights, which plays differently in every suit."""
    rules: Any = load(game)
    generator, path = np.random.default_rng(1), folder / f"{kind}.safetensors"
    if kind == "perceptron":
        layers = [(3 * weights, biases) for weights, biases in new_layers(sizes_of(rules, [8]), generator)]
        save_layers(path, rules, layers)
        return f"net:{path}"
    deck = (rules.streets, rules.ranks, rules.suits)
    hidden = (rules.facts.encoding, 8) if kind == "plain" else (8,)  # a square first layer has a skip connection
    of = "plain" if kind == "plain" else "cards"
    shape = Shape(of, rules.facts.encoding, hidden, rules.facts.num_actions, "layer", True, deck)
    weights = [[new_weights(shape, generator, 0.5)] for _ in range(2)]
    average = "sd" if kind == "advantages" else "network"
    model = Model(full_name(rules), full_name(rules), "", average, "argmax", shape, tuple(weights), np.ones(1))
    save_model(path, model)
    return f"net:{path}"


@pytest.mark.parametrize(
    ("game", "kind"),
    [
        (SMALL, "perceptron"),
        (SMALL, "plain"),
        (SMALL, "strategy"),
        (f"{SMALL},inputs=3", "advantages"),
        ("holdem:streets=3,ranks=4,suits=2,raises=1,stack=20", "strategy"),  # all in before the flop and on it
    ],
)
def test_networks_are_measured_exactly(tmp_path, game, kind):
    name, rules = network(tmp_path, game, kind), load(game)
    found = measured(tmp_path / "run", name, game)
    wanted = evaluate_hands(rules, name, 1)
    assert found.exact
    assert found.best == pytest.approx(wanted.best, rel=1e-5)
    assert found.classes == (len(flop_classes(cards_of(rules))) if rules.streets == 2 else 56)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of torch.compile
@pytest.mark.parametrize("kind", ["perceptron", "plain", "strategy"])
def test_on_a_gpu_half_precision_changes_little(tmp_path, kind):
    name = network(tmp_path, SMALL, kind)
    found = measured(tmp_path / "gpu", name, device="cuda")
    assert found.best == pytest.approx(measured(tmp_path / "cpu", name).best, abs=0.01)


def test_actions_below_a_threshold_are_never_played(tmp_path):
    name = network(tmp_path, SMALL, "strategy")
    found = measured(tmp_path / "run", name)
    other = measured(tmp_path / "pruned", f"{name},threshold=0.3")
    assert other.best == pytest.approx(evaluate_hands(load(SMALL), f"{name},threshold=0.3", 1).best, rel=1e-5)
    assert other.best != pytest.approx(found.best, rel=1e-3)
    with pytest.raises(BadInput, match="holds another run, whose strategy is"):
        measured(tmp_path / "run", f"{name},threshold=0.3")


def test_a_run_is_of_a_policy_wherever_its_file_is(tmp_path):
    rules: Any = load(SMALL)
    name = network(tmp_path, SMALL, "strategy")
    model = read_model(tmp_path / "strategy.safetensors", rules)
    copy, other = tmp_path / "copy.safetensors", tmp_path / "other.safetensors"
    save_model(copy, model._replace(made="elsewhere"))
    save_model(other, model._replace(average="sd"))
    assert identity(f"net:{copy}", rules) == identity(name, rules)
    assert len({identity(each, rules) for each in (name, f"net:{other}", f"{name},threshold=0.1")}) == 3


def test_other_players_are_refused(tmp_path):
    with pytest.raises(BadInput, match="is neither a table strategy of kibitz solve --with pcs nor a network"):
        response_to("always:call", load(SMALL))
