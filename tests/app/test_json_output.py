"""`--json -` prints JSON and nothing else to standard output, in every command that has the option."""

import json

import pytest
from make_reference import subcommands
from typer.main import get_command

from kibitz.app import cli
from kibitz.app.commands import bench, options
from kibitz.play.statistics import Estimate
from kibitz.poker import acpc_client
from kibitz.poker.acpc_client import Played
from kibitz.poker.acpc_dealer import Dealer, Dealt
from kibitz.reproduce.report import Report
from kibitz.reproduce.tspg import TspgStudy

MATCH = "match kuhn random random --games 4 --out match"
SOLVED = [f"solve kuhn --iterations 3 --with {method} --out {method}" for method in ("cfr", "cfr+")]
TRAINED = "train exit-oos kuhn --iterations 1 --games 2 --simulations 20 --hidden 4 --steps 1 --processes 1"
# Command -> what is run before it, and its arguments.
EXAMPLES = {
    "poker abstract": ([], "poker abstract holdem:flop,ranks=4,suits=2 --buckets 3"),
    "poker client": ([], "poker client localhost:1 --player always:call"),
    "advise": ([], "advise kuhn --with random '? Q bet'"),
    "bench": ([], "bench"),
    "critical": ([], "critical tic_tac_toe random --positions 3 --plies 2-5 --processes 1"),
    "poker dealer": ([], "poker dealer --hands 1"),
    "explain": ([], "explain models/connect_four --games 1"),
    "exploit": ([], "exploit kuhn random --seeds 1 --processes 1"),
    "match": ([], "match kuhn random random --games 4"),
    "models": ([], "models"),
    "players": ([], "players"),
    "poker ranges": ([], "poker ranges holdem style:tight-aggressive"),
    "rate": ([MATCH.replace("random random", "random oos:10")], "rate match"),
    "record": ([], "record kuhn --players random --games 4 --processes 1"),
    "review": ([MATCH], "review match --with random"),
    "runs": ([MATCH], "runs --in match"),
    "runs compare": (SOLVED, "runs compare cfr cfr+"),
    "runs show": ([MATCH], "runs show match"),
    "doppelkopf session": (
        [],
        "doppelkopf session doppelkopf:thesis random random random random --games 2 --processes 1",
    ),
    "solve": ([], "solve kuhn --iterations 3"),
    "study": ([], "study tspg table-1 --game tic_tac_toe --out study"),
    "tournament": ([], "tournament kuhn random oos:10 --games 4 --processes 1"),
    "train": ([], TRAINED),
}


def with_json(group, path=()):
    """The commands that have the option, with their paths."""
    for name, command in subcommands(group):
        for parameter in command.params:
            if "--json" in getattr(parameter, "opts", ()):
                yield " ".join([*path, name]), parameter
        yield from with_json(command, (*path, name))


def test_every_command_with_the_option_has_an_example_here():
    found = dict(with_json(get_command(cli.build())))
    assert len(found) > 20
    made = ("study ", "train ")  # one command for each study and learner, all alike
    assert {path.split()[0] if path.startswith(made) else path for path in found} == set(EXAMPLES)
    assert {parameter.help for parameter in found.values()} == {options.Json.__metadata__[0].help}


class Row:
    name, unit, wanted = "row", "games/s", 1.0

    def measure(self):
        return {"name": "row", "ours": 2.0, "peer": 1.0, "ratio": 2.0, "ratios": [1.9, 2.0, 2.1]}


@pytest.mark.parametrize("command", EXAMPLES)
def test_only_json_is_printed(kibitz, tmp_path, monkeypatch, command):
    fake = {"select": lambda rows: [Row()], "skipped": lambda rows: []}
    monkeypatch.setattr(bench, "_benchmarks", lambda: type("Benchmarks", (), fake))
    monkeypatch.setattr(acpc_client, "play_acpc", lambda *_: Played(0, 0, Estimate(0.0, 0.0, 0.0), ""))
    monkeypatch.setattr(Dealer, "connect", lambda *_: None)
    monkeypatch.setattr(Dealer, "play", lambda *_: Dealt([], [0, 0], ""))
    monkeypatch.setattr(TspgStudy, "run", lambda self, report: Report("Table", ["a"], [["1"]], []))
    (tmp_path / "study").mkdir()
    before, asked = EXAMPLES[command]
    for each in before:
        assert kibitz(*each.split())[0] == 0
    head, _, quoted = asked.partition(" '")
    arguments = [*head.split(), *([quoted.rstrip("'")] if quoted else [])]
    code, out, err = kibitz(*arguments, "--json", "-")
    assert code == 0, err
    assert json.loads(out)
    assert not (tmp_path / "-").exists()
    assert kibitz("cache")[1]  # the next command prints to standard output again
