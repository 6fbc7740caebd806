"""Hostile command lines, made from the parser's own commands and options: each ends soon, with a line of error at most.

KIBITZ_FUZZ=1000 tries that many; `make test-all` some hundreds.
"""

import atexit
import os
import shutil
import tempfile
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from typer.main import get_command

from kibitz.app import cli

from . import hostile as hostile_values
from .hostile import NUMBERS, TEXTS, budget, run

GAMES = ("kuhn", "tic_tac_toe")
PLAYERS = ("random", "oos:2", "uct:2", "human")
OLD = Path(__file__).parents[1] / "app" / "runs_of_0_2"
RUNS = Path(tempfile.mkdtemp(prefix="kibitz-fuzz-"))
shutil.copytree(OLD, RUNS, dirs_exist_ok=True)
atexit.register(shutil.rmtree, RUNS, ignore_errors=True)
# What is accepted does little work. Options by name; those that aren't here are given hostile values only.
FINE = {
    "iterations": ("1", "2"),
    "games": ("2", "4"),
    "deals": ("1",),
    "sessions": ("1",),
    "seeds": ("1",),
    "seed": ("1", "7"),
    "simulations": ("1",),
    "steps": ("1",),
    "traversals": ("1",),
    "processes": ("1",),
    "within": ("1",),
    "seat": ("1", "2"),
    "with": (*PLAYERS, "cfr+", "external"),
    "against": PLAYERS,
    "players": PLAYERS,
    "game": GAMES,
    "rules": GAMES,
    "out": ("new", "new/er"),
    "json": ("new.json", "-"),
    "in": (".",),
    "to": ("json", "text"),
    "language": ("en", "de"),
    "over": ("games",),
    "resume": (f"{RUNS}/exit-oos", f"{RUNS}/tspg"),
    "checkpoints": (f"{RUNS}/deep-cfr",),
    "data": (f"{RUNS}/record",),
    "start": (f"{RUNS}/cards",),
    "metric": ("nash_conv", "loss"),
    "fix": ("random=1000",),
}
ARGUMENTS = {
    "GAME": GAMES,
    "PLAYER...": PLAYERS,
    "PLAYERS": PLAYERS,
    "STRATEGY|PLAYER": (*PLAYERS, f"{RUNS}/solve", f"net:{RUNS}/exit-oos"),
    "MOVES": ("", "2 3", "J ?", "?"),
    "FILE": (f"{RUNS}/match", f"{RUNS}/record"),
    "FROM": (f"{RUNS}/match", f"{RUNS}/session"),
    "[TO]": ("new.txt", "new.jsonl"),
    "FOLDER": (f"{RUNS}/tournament",),
    "RUN": (f"{RUNS}/exit-oos", f"{RUNS}/deep-cfr", f"{RUNS}/tspg"),
}
SMALL = {name: FINE[name][0] for name in ("iterations", "games", "simulations", "processes", "steps", "traversals")}
SMALL |= {"preset": "small", "growth-positions": "1", "evaluate-every": "0", "hidden": "2"}
# Commands that would work for minutes, with an argument that makes them end before.
LONG = {"demo": ("--games", "1"), "study": ("--scale", "[nothing]"), "bench": ("[nothing]",), "compile": ("[nothing]",)}
LONG |= {"serve": ("--token", "[nothing]")}
LONG |= {"poker dealer": ("--connect-seconds", "0.01"), "poker client": ("--wait", "0.1")}
TRAIN = {"train": ("--seed", "-1")}  # seconds, which a short test doesn't have
NEVER = {"clear", "help", "version", "cluster"}  # deletes the kernels; ends at once; starts a cluster


def commands(group, path=()):
    """Each command of the parser with the words that name it."""
    for name in group.list_commands(None):
        found = group.get_command(None, name)
        yield (*path, name), found
        if hasattr(found, "list_commands"):
            yield from commands(found, (*path, name))


COMMANDS = list(commands(get_command(cli.build())))
TRIED: Counter = Counter()  # exit codes
if "KIBITZ_FUZZ" in os.environ:
    atexit.register(lambda: print(f"exit codes of {TRIED.total()} command lines: {dict(TRIED)}"))


def hostile(parameter):
    """A hostile value of a parameter, mostly of its own type."""
    kind = repr(getattr(parameter, "type_descriptor", None) or getattr(parameter, "type", None)).lower()
    fine = fine_values(parameter)
    if "int" in kind or "float" in kind:
        own = NUMBERS
    elif "random" in fine:
        own = hostile_values.PLAYERS
    else:
        own = hostile_values.GAMES if fine == GAMES else TEXTS
    return st.one_of(st.sampled_from(own), st.sampled_from(own), st.sampled_from(NUMBERS + TEXTS))


def name_of(parameter):
    return parameter.opts[-1].lstrip("-")


def fine_values(parameter):
    """Values that a parameter may have; empty: it gets hostile ones only."""
    if parameter.param_type_name == "argument":
        return ARGUMENTS.get(parameter.metavar or parameter.name.upper(), ())
    return FINE.get(name_of(parameter), ())


@st.composite
def command_lines(draw, long):
    """A command with some of its options and arguments, of which one or any number have hostile values."""
    first = draw(st.sampled_from(sorted({path[0] for path, _ in COMMANDS})))
    path, command = draw(st.sampled_from([each for each in COMMANDS if each[0][0] == first]))
    parameters = [each for each in command.params if name_of(each) not in NEVER]
    names = [each for each in parameters if each.required or "random" in fine_values(each)]  # of games, players, files
    chosen = draw(st.sampled_from([None, *parameters, *names * 4])) if draw(st.integers(0, 3)) else "any"
    words = list(path)
    for parameter in parameters:
        bad, fine = parameter is chosen or (chosen == "any" and draw(st.booleans())), fine_values(parameter)
        few = draw(st.integers(0, 3)) == 0
        if parameter.param_type_name == "argument":
            count = draw(st.sampled_from((2, 2, 2, 4, 3, 1, 0))) if parameter.nargs != 1 else 1
            if parameter.required or bad or few:
                one = hostile(parameter) if bad or not fine else st.sampled_from(fine)
                words += [draw(one) for _ in range(count)]
        elif parameter is chosen or parameter.required or (few and (bad or fine)):
            words.append(draw(st.sampled_from(parameter.opts)))
            if not getattr(parameter, "is_flag", False):
                words.append(draw(hostile(parameter) if bad or not fine else st.sampled_from(fine)))
        elif name_of(parameter) in SMALL:
            words += [parameter.opts[-1], SMALL[name_of(parameter)]]
    return [*words, *long.get(path[0], ())]


@pytest.fixture
def empty_folder(tmp_path_factory, monkeypatch):
    """A function that moves to a new empty folder."""
    return lambda: monkeypatch.chdir(tmp_path_factory.mktemp("fuzz"))


def attempt(empty_folder, words):
    empty_folder()
    ended = run(*words)
    TRIED[ended.code] += 1
    assert not ended.fault, words


SETTINGS = {
    "deadline": None,
    "database": None,
    "suppress_health_check": [HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large],
}


@settings(max_examples=budget(40), derandomize="KIBITZ_FUZZ" not in os.environ, **SETTINGS)
@given(words=command_lines(LONG | TRAIN))
def test_no_command_line_ends_badly(empty_folder, words):
    attempt(empty_folder, words)


@pytest.mark.heavy
@settings(max_examples=budget(300), **SETTINGS)
@given(words=command_lines(LONG))
def test_no_command_line_of_many_ends_badly(empty_folder, words):
    attempt(empty_folder, words)


# Command lines that once ended in a traceback, ran for ever or were accepted.
KNOWN = [
    "advise kuhn J? --with uct:seconds=-1",
    "advise tic_tac_toe --with uct:seconds=-1",
    "advise kuhn J? --with ismcts:10,c=nan",
    "advise kuhn J? --with ismcts:10,c=-1",
    "advise tic_tac_toe --with uct:10,c=inf",
    "advise tic_tac_toe --with uct:99999999999999999999",
    "advise tic_tac_toe --with uct:seconds=1e300",
    "match leduc net:models/leduc,iteration=-5 random --games 2",
    "match kuhn random random --games 99999999999999999999",
    "match kuhn random random --games 1000000000000",
    "match kuhn random random --games 2 --seed 99999999999999999999",
    "match kuhn random random --games 2 --within nan",
    "match kuhn random random --games 2 --processes 100000",
    "match kuhn random random --games 2 --out ~no-such-user/x",
    "solve kuhn --iterations 2 --out \x00",
    "solve kuhn --iterations 2 --json nowhere/x.json",
    "solve kuhn --iterations 2 --json .",
    "solve ~no-such-user/x.py:Game",
    "solve \udcff",
    "replay \x1b[2J",
    "play kuhn --against=",
    "play kuhn --with=",
    "solve kuhn --out=",
    "solve kuhn --json=",
    "rate --game= .",
    "runs --in=",
    "convert . --from= --to json",
    "train exit-oos kuhn --learning-rate nan",
    "train exit-oos kuhn --hidden 999999999999999999999",
    "exploit kuhn random --seeds 99999999999999999999",
    "explain ~no-such-user/x",
    "poker client localhost:99999",
    "poker client localhost:1 --wait nan",
    "poker dealer --connect-seconds nan",
    "poker dealer --move-seconds inf",
    "poker dealer --hands 99999999999999999999",
    f"solve {'a' * 5000}.py:Game",
    f"explain {'a' * 5000}",
    f"solve kuhn --out {'a' * 300}",
]


@pytest.mark.parametrize("line", KNOWN, ids=lambda line: ascii(line)[:60])
def test_known_command_lines_are_refused_in_one_line(empty_folder, line):
    empty_folder()
    ended = run(*line.split(" "))
    assert not ended.fault
    assert ended.code == 2
