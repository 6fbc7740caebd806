"""The doors for plugins, one after the other: what a package outside registers is offered beside what ships.

A game with beliefs, a record format, a player and a command come from `examples/plugin` (test_plugin_example.py).
"""

import sys

import numpy as np
import pytest

import kibitz as api
from kibitz.app.cli import main
from kibitz.core import plugins
from kibitz.core.tensor_files import Format
from kibitz.games import load
from kibitz.nets import model_files
from kibitz.play import measures, variance
from kibitz.play.players import make, measured
from kibitz.reproduce import study
from kibitz.search import search, strategy
from kibitz.solve import solvers
from kibitz.train import learner

TOYS = """
from dataclasses import dataclass
from functools import partial

import numpy as np

from kibitz.play.measures import Measure, measure
from kibitz.play.play import labels, play_game
from kibitz.play.statistics import Estimate, Reduced
from kibitz.play.variance import VarianceReduction, variance_reduction
from kibitz.train.learner import Learner, learner
from kibitz.nets.model_files import network_kind
from kibitz.play.players import make_for
from kibitz.play.players.measured import Fact, measured_facts
from kibitz.search.advice import fixed_advice
from kibitz.search.search import Search, search
from kibitz.solve.solvers import Solver, new_solver, solver
from kibitz.search.strategy import strategy_file
from kibitz.reproduce.study import Study, study


@measure("toy-measure")
class ByRandom(Measure):
    about, title = "a random player: a very low bound", "the toy"

    @staticmethod
    def games(game, players, seed):
        return partial(play_game, game, [make_for("random", game), make_for(players[1], game)], labels(players), seed)


@solver("toy-solver")
class OtherName(Solver):
    about = "CFR+ by another name"

    def make(self, game, seed, abstraction):
        return new_solver(game, "cfr+", seed)


@variance_reduction("toy")
class NoLuck(VarianceReduction):
    games = "kuhn"

    def plays(self, game):
        return game.name == "kuhn"

    def known_policies(self, game, players):
        return ["nobody"]

    def reduced(self, game, players, records, processes, report):
        return Reduced(Estimate(0.5, 0.0, 1.0), 0.0, ["nobody"])


class AlwaysFirst:
    def __init__(self, game):
        self.game = game

    def action_probs(self, views):
        found = np.zeros((len(views), self.game.facts.num_actions))
        found[:, 0] = 1
        return found


@strategy_file("toy strategy 1")
def open_toy(path, game):
    return AlwaysFirst(game)


@network_kind("toy network 1")
class Network:
    def __init__(self, path):
        self.game, self.layers = "kuhn", []


@measured_facts("toy")
def facts():
    return (Fact("always-first:1", "kuhn", "loses everything", "poker.md", "quote"),)


@learner("toy-learner")
class Nothing(Learner):
    about = "Learns nothing."


@study("toy-study")
@dataclass(kw_only=True)
class OnePart(Study):
    parts, scales = {"one": "the only part"}, {"quick": None}


@search("toy-search")
class First(Search):
    def target(self, view, seat):
        pass

    def run(self, simulations):
        return simulations

    def advice(self, view, simulations, seconds=0.0):
        return fixed_advice(self.game, view, [1.0, 0.0])
"""


@pytest.fixture
def toys(tmp_path, monkeypatch):
    """An installed plugin of toys; all registries forget it at the end."""
    kinds = (measures.MEASURES, solvers.SOLVERS, variance.ESTIMATORS, strategy.STRATEGY_FILES, model_files.NETWORKS)
    kinds += (measured.SOURCES, learner.LEARNERS, study.STUDIES, search.SEARCHES)
    package = tmp_path / "toy_doors"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "toys.py").write_text(TOYS)
    table = {registry.kind: ["toy_doors.toys"] for registry in kinds}
    (package / "plugin.py").write_text(f"MODULES = {table!r}\n")
    info = tmp_path / "toy_doors-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: toy_doors\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[kibitz.plugins]\ntoys = toy_doors.plugin\n")
    monkeypatch.syspath_prepend(tmp_path)
    plugins.plugins.cache_clear()
    before = [(dict(registry), registry) for registry in kinds]
    for registry in kinds:
        registry._complete = False
    yield
    plugins.plugins.cache_clear()
    for known, registry in before:
        registry._classes = known
    for name in [name for name in sys.modules if name.startswith("toy_doors")]:
        del sys.modules[name]


def test_a_measure_plays_for_kibitz_exploit(toys, tmp_path, monkeypatch, capsys):
    found = api.exploit("kuhn", "random", method="toy-measure", games=200)
    assert found.games == 200
    assert found.nash_conv.low < 0 < found.nash_conv.high
    monkeypatch.chdir(tmp_path)
    for words in (["kuhn", "random", "--with", "toy-measure", "--games", "20", "--out", "run"], ["--measures"]):
        monkeypatch.setattr(sys, "argv", ["kibitz", "exploit", *words])
        with pytest.raises(SystemExit) as ended:
            main()
        assert not ended.value.code
    out = capsys.readouterr().out
    assert "loses to the toy" in out
    assert "a very low bound" in out


def test_a_solver_solves(toys):
    assert api.solve("kuhn", "toy-solver", iterations=500).nash_conv < 0.01


def test_variance_is_reduced(toys):
    found = api.match("kuhn", ["random", "random"], games=10, reduce_variance=True).result.reduced
    assert (found.payoff.mean, found.known) == (0.5, ["nobody"])
    with pytest.raises(api.BadInput, match="variance is reduced in leduc and holdem; kuhn, not in goofspiel"):
        api.match("goofspiel", ["random", "random"], games=10, reduce_variance=True)


def test_a_strategy_file_is_played_and_measured(toys, tmp_path):
    file = tmp_path / "toy.safetensors"
    Format("toy strategy 1", "strategy").write(file, {"nothing": np.zeros(1)})
    player, game = make(f"strategy:{file}"), load("kuhn")
    player.begin(game, 0, 1)
    assert player.move(game.initial().play("J").play("K").view(0).record) == 0
    assert api.exploit("kuhn", file).nash_conv == 2.0  # who always passes loses the ante from both seats


def test_names_are_known(toys):
    assert learner.LEARNERS["toy-learner"].about == "Learns nothing."
    assert study.STUDIES["toy-study"].parts == {"one": "the only part"}
    assert model_files.NETWORKS["toy network 1"](None).game == "kuhn"
    assert "loses everything" in {fact.weakness for fact in measured.facts()}
    view = load("kuhn").initial().play("J").play("K").view(0).record
    assert api.search("kuhn", "toy-search").advise(view, 0, simulations=10).best == 0
