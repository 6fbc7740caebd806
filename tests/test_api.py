"""The Python interface: light to import, typed, documented by examples that run."""

import doctest
import inspect
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import kibitz
from kibitz.api import loading, playing, positions, solving, training

ROOT = Path(__file__).parents[1]
MODULES = [loading, solving, positions, playing, training]
FUNCTIONS = [
    "load",
    "solve",
    "advise",
    "search",
    "match",
    "tournament",
    "train",
    "resume",
    "exploit",
    "play",
    "models",
    "beliefs",
    "review",
    "explain",
]


def test_importing_it_imports_nothing_heavy():
    script = "import json, sys, kibitz; dir(kibitz); print(json.dumps(list(sys.modules)))"
    found = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    loaded = {name.partition(".")[0] for name in json.loads(found.stdout)}
    assert "kibitz" in loaded
    assert not loaded & {"numba", "torch", "scipy", "matplotlib", "numpy", "rich", "typer"}


def test_every_public_name_is_there():
    for name in kibitz.__all__:
        assert getattr(kibitz, name) is not None
    assert set(FUNCTIONS) <= set(dir(kibitz))
    with pytest.raises(AttributeError, match="no attribute 'sovle'"):
        _ = kibitz.sovle


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_function_is_typed_and_has_arguments_returns_and_an_example(name):
    function = next(getattr(module, name) for module in MODULES if hasattr(module, name))
    text = inspect.getdoc(function)
    assert ">>> import kibitz" in text
    assert "Returns:" in text or inspect.signature(function).return_annotation == "None"
    parameters = inspect.signature(function).parameters.values()
    assert all(each.annotation is not each.empty for each in parameters)
    assert all(f"    {'**' if each.kind is each.VAR_KEYWORD else ''}{each.name}: " in text for each in parameters)


def test_the_examples_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = [doctest.testmod(module) for module in MODULES]
    assert sum(each.attempted for each in found) > 20
    assert sum(each.failed for each in found) == 0


def test_the_package_search_can_be_imported_from_and_called():
    from kibitz.search.oos import Oos

    assert isinstance(kibitz.search("leduc", "oos"), Oos)


class FirstMove:
    """The least that a player needs."""

    def move(self, view):
        return 0


def test_objects_go_where_names_do():
    game = kibitz.load("kuhn")
    assert kibitz.load(game) is game
    found = kibitz.match(game, [FirstMove(), "random"], games=20)
    by_name = kibitz.match("kuhn", [FirstMove(), "random"], games=20)
    assert [record.actions for record in found.records] == [record.actions for record in by_name.records]
    assert kibitz.tournament(game, [FirstMove(), "random", "oos:10"], games=4).names[1:] == ["random", "oos:10"]
    # Passing always is exploited by betting always: seat 2 loses its ante each game, seat 1 too.
    assert kibitz.exploit(game, FirstMove()).nash_conv == pytest.approx(2.0)


def test_exploit_by_every_method(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    searched = kibitz.exploit("kuhn", "ismcts:5", seeds=2)
    for name, player in {"by-name": "random", "searched": searched.strategy}.items():
        found = kibitz.exploit("kuhn", player, method="ismcts", simulations=300, games=400, out=tmp_path / name)
        assert found.nash_conv.mean == pytest.approx(sum(each.mean for each in found.by_seat))
        assert found.games == 400
        assert "NashConv" in str(found)
        assert "<table" in found._repr_html_()
    found = kibitz.exploit("kuhn", "random", seeds=1, method="rl", preset="small", iterations=2, games=40)
    assert found.chosen == [1, 1]
    assert len(list((tmp_path / "runs").iterdir())) == 1
    with pytest.raises(kibitz.BadInput, match="local best response is for holdem, not for kuhn"):
        kibitz.exploit("kuhn", "random", method="lbr")


def test_exploit_refuses_options_of_other_methods():
    with pytest.raises(kibitz.BadInput, match="simulations=5 is for the methods ismcts, not for rl"):
        kibitz.exploit("kuhn", "random", method="rl", simulations=5)
    with pytest.raises(kibitz.BadInput, match="out=x is for the methods rl and ismcts and lbr, not for exact"):
        kibitz.exploit("kuhn", "random", out="x")
    with pytest.raises(kibitz.BadInput, match="no method of exploit is called 'exakt'"):
        kibitz.exploit("kuhn", "random", method="exakt")


def test_a_solution_is_a_player_and_plots(tmp_path):
    found = kibitz.solve("kuhn", "cfr+", iterations=200)
    assert kibitz.exploit("kuhn", found.strategy).nash_conv == pytest.approx(found.nash_conv)
    assert found.value == pytest.approx(-1 / 18, abs=1e-3)
    found.plot(tmp_path / "plot.png")
    assert (tmp_path / "plot.png").stat().st_size > 5000
    assert "NashConv" in str(found)
    assert found.plot() is not None


def test_advice_on_a_state_is_that_on_the_same_moves():
    game = kibitz.load("leduc")
    state = game.initial().play("K").play("J").play("raise")
    one, other = kibitz.advise(game, state, "oos:500"), kibitz.advise(game, "? J raise", "oos:500")
    assert np.array_equal(one.policy, other.policy)
    assert "fold" in str(one)
    assert "<table" in one._repr_html_()
    with pytest.raises(kibitz.BadInput, match="no seat is to move"):
        kibitz.advise(game, game.initial())


def test_results_show_themselves_in_a_notebook(tmp_path):
    found = kibitz.match("kuhn", ["random", "random"], games=10)
    run = kibitz.train("exit-oos", "kuhn", preset="small", out=tmp_path / "run", iterations=1, simulations=50)
    explanation = kibitz.explain("connect_four", "4 4 3", most=2)
    for each in (found, kibitz.solve("kuhn", iterations=5), run, kibitz.load("hex:3").initial(), explanation):
        assert "<" in each._repr_html_()
        assert len(str(each)) > 20
    assert "<svg" in explanation._repr_html_()
    assert "<svg" not in str(explanation)
    for shown in (str(explanation), explanation._repr_html_()):
        assert "and 2 more moves" in shown
        assert "active for other moves only" in shown
    assert len(explanation) == 7
    assert run.plot("loss", tmp_path / "loss.png") is not None or (tmp_path / "loss.png").exists()
    with pytest.raises(kibitz.BadInput, match="no metric 'losses'"):
        run.plot("losses")


def test_a_move_without_patterns_is_shown_all_the_same():
    explained = type(kibitz.explain("connect_four"))([{"move": "<b>", "prob": 1.0, "patterns": []}])
    assert str(explained).splitlines()[1].split() == ["<b>", "100.0%", "no", "pattern"]
    assert "<td>&lt;b&gt;</td><td>100.0%</td><td></td><td>no pattern</td>" in explained._repr_html_()


class Answers:
    """Always returns the same thing as its move."""

    def __init__(self, answer):
        self.answer = answer

    def move(self, view):
        return self.answer


@pytest.mark.parametrize(
    ("wrong", "what"),
    [
        (lambda: kibitz.load(None), "None is no game"),
        (lambda: kibitz.load("kuhn").initial(seed=-1), "seed should be at least 0, not -1"),
        (lambda: kibitz.solve("kuhn", "cfr+", iterations=1.5), "iterations should be a whole number, not 1.5"),
        (lambda: kibitz.solve("kuhn", "cfr+", iterations="9"), "iterations should be a whole number, not '9'"),
        (lambda: kibitz.match("kuhn", "random"), "should be a list, one player per seat"),
        (lambda: kibitz.match("kuhn", ["random", "random"], games=2.5), "games should be a whole number"),
        (lambda: kibitz.match("kuhn", [Answers(None), "random"], games=2), "Answers returned None as its move"),
        (lambda: kibitz.match("kuhn", [Answers(0.9), "random"], games=2), "Answers returned 0.9 as its move"),
        (lambda: kibitz.train("exit-oos", "kuhn", exploraton=0.1), "did you mean 'exploration'"),
        (lambda: kibitz.search("connect_four", "uct", cc=2.0), "no option of uct is called 'cc'"),
        (lambda: kibitz.advise("kuhn", ["?", "K"], "oos:10"), "a position should be one text"),
    ],
)
def test_wrong_values_are_named_and_what_would_be_right(wrong, what):
    with pytest.raises(kibitz.BadInput, match=what):
        wrong()
