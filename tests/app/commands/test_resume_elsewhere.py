"""Runs that were begun with relative names are resumed from another folder, by the command that is printed."""

import json
import shlex
from pathlib import Path

import pytest

from kibitz.core.interrupts import Interrupted
from kibitz.core.names import BadInput
from kibitz.core.runs import Run
from kibitz.games.records import FILE
from kibitz.play import match
from kibitz.play.exploiters import runs
from kibitz.play.players import absolute_label
from kibitz.poker import exact_runs
from kibitz.train import trainer

MINE = """
from kibitz.games import legal_actions

class Mine:
    def move(self, view):
        return legal_actions(self.game, view)[0]
"""
SOLVED = ("solve", "kuhn", "--iterations", "10", "--out", "solved")
SMALL = ("--preset", "small", "--games", "400", "--processes", "1")


@pytest.fixture
def begun(kibitz, tmp_path, monkeypatch):
    """A function that runs a command in the folder `here`, which has a network, a strategy and a player in a file."""
    (tmp_path / "here").mkdir()
    (tmp_path / "there").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    Path("mine.py").write_text(MINE)

    def begin(*command):
        code, out, err = kibitz(*command)
        assert code in (0, 130), err
        return out + err

    assert begin(*SOLVED)
    values = {"iterations": 1, "games": 2, "simulations": 20, "hidden": "4", "steps": 1, "evaluate_every": 0}
    trainer.train(trainer.new_run(Path("net"), "exit-oos", trainer.configured("exit-oos", "kuhn", None, values)), 1)
    return begin


def resumed(kibitz, said):
    """Run the command that was printed; the run goes on in its own folder, and nothing is written here."""
    line = next(line for line in said.splitlines() if line.startswith("to resume: kibitz "))
    code, out, err = kibitz(*shlex.split(line)[3:], "--processes", "1")
    assert code == 0, err
    assert not list(Path().iterdir())
    return out


@pytest.mark.parametrize(
    "command",
    [
        ("match", "kuhn", "net:net", "mine.py:Mine", "--games", "6"),
        ("tournament", "kuhn", "net:net,iteration=1", "mine.py:Mine", "strategy:solved", "--games", "4"),
        ("record", "kuhn", "--players", "strategy:file=solved/strategy.safetensors", "--games", "4"),
    ],
)
def test_games_go_on_from_another_folder(kibitz, begun, tmp_path, monkeypatch, command):
    monkeypatch.setenv("COLUMNS", "1000")
    shown = begun(*command, "--out", "run", "--processes", "1")
    assert command[0] == "record" or "net:net" in shown  # results name players as they were given
    file = sorted((tmp_path / "here" / "run").rglob(FILE))[-1]
    whole = file.read_bytes()
    file.write_bytes(b"".join(whole.splitlines(keepends=True)[:2]))
    Path("run/result.json").unlink(missing_ok=True)
    monkeypatch.chdir(tmp_path / "there")
    resumed(kibitz, kibitz("runs", "--in", "../here/run")[1])
    assert file.read_bytes() == whole

    def stop(*_, **__):
        raise KeyboardInterrupt

    file.write_bytes(b"".join(whole.splitlines(keepends=True)[:2]))
    monkeypatch.chdir(tmp_path / "here")
    with monkeypatch.context() as patched:
        patched.setattr(match, "play_into", stop)
        said = begun(*command, "--out", "run", "--processes", "1")
    monkeypatch.chdir(tmp_path / "there")
    resumed(kibitz, said)
    assert file.read_bytes() == whole


@pytest.mark.parametrize("method", ["rl", "ismcts"])
def test_an_exploiter_goes_on_from_another_folder(kibitz, begun, tmp_path, monkeypatch, method):
    size = {"rl": ("--iterations", "2", "--seeds", "1"), "ismcts": ("--simulations", "50")}[method]
    measure = runs.Measuring.bound

    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(runs.Measuring, "bound", stop)
    said = begun("exploit", "kuhn", "solved", "--with", method, *size, *SMALL, "--out", "run")
    monkeypatch.setattr(runs.Measuring, "bound", measure)
    monkeypatch.chdir(tmp_path / "there")
    resumed(kibitz, said)
    assert (tmp_path / "here" / "run" / "result.json").exists()


def test_an_exact_best_response_goes_on_from_another_folder(kibitz, begun, tmp_path, monkeypatch):
    begun("solve", "leduc", "--with", "pcs", "--iterations", "5", "--threads", "1", "--out", "table")
    visit = exact_runs.exploit_run

    def stop(*arguments):
        raise Interrupted(visit(*arguments))

    monkeypatch.setattr(exact_runs, "exploit_run", stop)
    said = begun("exploit", "leduc", "table", "--flops", "4", "--out", "run")
    monkeypatch.setattr(exact_runs, "exploit_run", visit)
    monkeypatch.chdir(tmp_path / "there")
    line = next(line for line in said.splitlines() if line.startswith("to resume: kibitz "))
    assert kibitz(*shlex.split(line)[3:])[0] == 0
    assert not list(Path().iterdir())


def test_sessions_keep_absolute_names(begun, tmp_path):
    players = ["mine.py:Mine", "random", "random", "random"]
    names = [f"{tmp_path / 'here' / 'mine.py'}:Mine", "random", "random", "random"]
    begun(
        "doppelkopf",
        "session",
        "doppelkopf",
        *players,
        "--games",
        "1",
        "--solos",
        "no",
        "--out",
        "run",
        "--processes",
        "1",
    )
    run = Run(Path("run"))
    assert run.config()["players"] == names
    assert sorted(json.loads(run.path(FILE).read_text())["players"]) == sorted(names)


def test_a_run_that_named_its_players_relatively_goes_on(begun, tmp_path, monkeypatch):
    """As those from before version 0.3, in the folder where they were begun."""
    command = ("match", "kuhn", "net:net", "random", "--out", "run", "--processes", "1", "--games")
    begun(*command, "6")
    for name in ("config.json", FILE):
        file = Path("run") / name
        file.write_text(file.read_text().replace(f"net:{tmp_path / 'here' / 'net'}", "net:net"))
    begun(*command, "10")
    assert len(Path("run", FILE).read_text().splitlines()) == 10
    assert "net:net" not in Path("run", FILE).read_text()
    begun(*command, "10")
    monkeypatch.chdir(tmp_path / "there")
    with pytest.raises(BadInput, match="holds another run"):
        match.open_run(Path("../here/run"), "match", "kuhn", ["net:../here/net", "random"], 12, 1)


def test_names_of_players_are_made_absolute_where_they_name_files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("1000", "a,b", "c=d", "run", "random"):
        Path(name).mkdir()
    here = str(tmp_path)
    for name, full in {
        "random": "random", "oos:1000": "oos:1000", "human": "human", "zz:run": "zz:run", "net:other": "net:other",
        "net:run": f"net:{here}/run", "net:network=run": f"net:network={here}/run",
        "net:run,iteration=3": f"net:{here}/run,iteration=3", "net:c=d": "net:c=d",
        "puct:100,net=run": f"puct:100,net={here}/run", "alphabeta:eval=run": f"alphabeta:eval={here}/run",
        "doko:run,others=1000": f"doko:{here}/run,others={here}/1000", "engine:run,seconds=1": "engine:run,seconds=1",
    }.items():  # fmt: skip
        assert absolute_label(name) == full
        assert absolute_label(full) == full
    monkeypatch.chdir("c=d")
    Path("run").mkdir()
    assert absolute_label("net:run") == f"net:network={here}/c=d/run"
    (tmp_path / "a,b" / "run").mkdir()
    monkeypatch.chdir(tmp_path / "a,b")
    assert absolute_label("net:run") == "net:run"
