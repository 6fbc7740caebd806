"""A search, a player and a learner from one file outside the package: contracts, matches, training, exploitability."""

import json

import pytest

import kibitz
from kibitz.core.registry import class_from_file
from kibitz.play.players import make
from kibitz.play.players.contract import check_player
from kibitz.search.contract import check_search

TOYS = '''
"""Toys: a search without a tree, a player of one idea, and a learner that counts."""

import json
from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np

from kibitz.games import legal_actions
from kibitz.games.random_games import playouts
from kibitz.train.learner import Learner
from kibitz.search.advice import fixed_advice
from kibitz.search.search import Search


class Lottery(Search):
    """Tickets for every action, drawn at random: more simulations, more tickets."""

    def __init__(self, game, seed=1, bonus: Annotated[int, "tickets for the first action"] = 0):
        super().__init__(game, seed)
        self.bonus = bonus

    def target(self, view, seat):
        self.tickets = np.zeros(len(legal_actions(self.game, view)))
        self.tickets[0] += self.bonus

    def run(self, simulations):
        drawn = np.random.default_rng(self.rng).integers(len(self.tickets), size=simulations)
        np.add.at(self.tickets, drawn, 1)
        self.rng[0] += np.uint64(simulations)
        return simulations

    def advice(self, view, simulations, seconds=0.0):
        return replace(fixed_advice(self.game, view, self.tickets / self.tickets.sum()), simulations=simulations)


class Last:
    """Always plays the last legal action, or another one counted from the end."""

    def __init__(self, back: Annotated[int, "how many before the last", range(3)] = 0):
        self.back = back

    def begin(self, game, seat, seed):
        self.game = game

    def move(self, view):
        return legal_actions(self.game, view)[-1 - self.back]


class Counter(Learner):
    """Counts random games, in worker processes, and keeps the mean payoff of the first seat."""

    about = "Counts random games."
    player = "random"

    @dataclass(frozen=True)
    class Config:
        game: str
        iterations: Annotated[int, "number of iterations"] = 3
        games: Annotated[int, "games per iteration"] = 4
        seed: Annotated[int, "random seed"] = 1

    tasks = 2
    total = 0.0

    @staticmethod
    def worker(config):
        from kibitz.games import load

        game = load(config.game)
        return lambda task, shared: (task, playouts(game, config.games // 2, config.seed + sum(task))[1])

    def collect(self, workers, iteration, report):
        workers.share(None)
        found = dict(workers.do([(iteration, part) for part in range(2)]))
        return {"payoffs": np.array([found[key] for key in sorted(found)])}

    def learn(self, iteration, samples, report):
        self.total += float(samples["payoffs"].mean())
        report.progress(iteration, self.config.iterations)
        return {"mean": self.total / iteration}

    def save(self, folder):
        (folder / "total.json").write_text(json.dumps(self.total))

    def restore(self, folder):
        self.total = json.loads((folder / "total.json").read_text())

    def export(self, path, made):
        path.write_text(made)
'''


@pytest.fixture
def toys(tmp_path, monkeypatch):
    (tmp_path / "toys.py").write_text(TOYS)
    monkeypatch.chdir(tmp_path)
    return "toys.py"


def test_a_search_from_a_file_plays_and_keeps_the_contract(toys, tmp_path):
    search = class_from_file("search", f"{toys}:Lottery")
    check_search(search, kibitz.load("kuhn"))
    found = kibitz.match("leduc", [f"{toys}:Lottery:20,bonus=3", "random"], games=20)
    assert len(found.records) == 20
    assert found.players[0] == f"{tmp_path / toys}:Lottery:20,bonus=3"
    assert kibitz.search("kuhn", f"{toys}:Lottery", bonus=2).bonus == 2
    assert kibitz.advise("kuhn", "? K bet", f"{toys}:Lottery:50").simulations == 50
    with pytest.raises(kibitz.BadInput, match="no parameter is called 'bonsu'"):
        make(f"{toys}:Lottery:20,bonsu=3")


def test_a_player_from_a_file_plays_and_keeps_the_contract(toys, tmp_path):
    check_player(f"{toys}:Last", "leduc")
    standings = kibitz.tournament("kuhn", [f"{toys}:Last", f"{toys}:Last:back=1", "random"], games=4)
    assert standings.names == [f"{tmp_path / toys}:Last", f"{tmp_path / toys}:Last:back=1", "random"]
    # Betting always: its opponent folds jacks and queens... a best response wins something.
    assert kibitz.exploit("kuhn", f"{toys}:Last").nash_conv > 0.1
    with pytest.raises(kibitz.BadInput, match="back=9 is out of range, it should be 0 to 2"):
        make(f"{toys}:Last:9")


def test_a_learner_from_a_file_trains_and_resumes(toys, tmp_path):
    whole = kibitz.train(f"{toys}:Counter", "kuhn", out=tmp_path / "whole", iterations=3)
    part = kibitz.train(f"{toys}:Counter", "kuhn", out=tmp_path / "part", iterations=1)
    assert len(part.metrics) == 2
    part = kibitz.resume(part.folder, iterations=3, processes=2)
    assert part.metrics == whole.metrics
    assert json.loads((tmp_path / "part" / "config.json").read_text())["method"] == f"{tmp_path / toys}:Counter"
    assert (tmp_path / "whole" / "network.safetensors").read_text() == "whole, iteration 3"


@pytest.mark.parametrize("name", ["Lottery:20", "Last", "Nobody"])
def test_the_command_line_takes_them(toys, name, capsys):
    import sys

    from kibitz.app import cli

    sys.argv = ["kibitz", "match", "kuhn", f"{toys}:{name}", "random", "--games", "4", "--processes", "1"]
    with pytest.raises(SystemExit) as ended:
        cli.main()
    error = capsys.readouterr().err
    assert ended.value.code == (2 if name == "Nobody" else 0), error
    if name == "Nobody":
        assert "toys.py has no player 'Nobody'" in error
