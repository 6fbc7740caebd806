"""No code from data: a `.py` file runs only where the person names it, or says --trust.

Every kind of file that Kibitz writes (see `runs_of_0_2`) is changed so that it names a game, learner or player in
`evil.py`, and given to every command that reads such files.
"""

import io
import json
import shutil
from pathlib import Path

import pytest
import safetensors
import safetensors.numpy
from typer.main import get_command

import kibitz as api
from kibitz.app import cli
from kibitz.core.names import BadInput
from kibitz.core.pool import spread
from kibitz.core.runs import Run
from kibitz.core.trust import only_named
from kibitz.games import load
from kibitz.games.records import read_records
from kibitz.nets import model_files
from kibitz.poker.gpu.pcs_runs import new_run, solve_run
from kibitz.search.strategy import read_strategy
from kibitz.train.descriptions import describe

OLD = Path(__file__).parent / "runs_of_0_2"
EVIL = "evil.py:Evil"
CODE = "from pathlib import Path\nPath('ran').touch()\nraise ValueError('it was run')\n"
THESIS = "doppelkopf:thesis"

# Command lines that read files, and whether they run with --trust what the files name as their game; or the field from
# which they do.
READERS = {
    "replay": [("match", True), ("record", True), ("session", True), ("tournament/matches/1-2", True)],
    "convert": [
        ("match --to text", True),
        ("record copy.jsonl", True),
        ("session --to thesis", True),
        ("tournament/matches/1-2 --to acpc", True),
        ("transcript.txt --to json", True),
    ],
    "review": [
        ("match --with heuristic", True),
        ("record --with heuristic --seat 1", True),
        ("session --with heuristic --seat 1", True),
        ("transcript.txt --with heuristic", True),
    ],
    "rate": [("tournament", False)],
    "engine": [("connect_four --player features:tspg", False), ("hex --player puct:10,policy=tspg", False)],
    "poker client": [("127.0.0.1:1 --player net:deep-cfr --wait 0.1", False)],
    "runs": [("", False), ("--in .", False), ("compare exit-oos deep-cfr", False)],
    "train": [
        *((f"--resume {name}", True) for name in ("exit-oos", "tspg", "deep-cfr", "next-card", "cards", "exit-cards")),
        (f"next-card {THESIS} --data record --iterations 1", False),
        (f"exit-cards {THESIS} --start cards --iterations 1", False),
    ],
    "exploit": [
        ("kuhn solve", False),
        ("kuhn solve/strategy.safetensors", False),
        ("kuhn net:exit-oos", False),
        ("kuhn net:deep-cfr", "seen"),
        ("kuhn exit-oos", False),
    ],
    "poker ranges": [("holdem net:deep-cfr", False), ("holdem strategy:solve", False)],
    "advise": [("kuhn J? --with net:deep-cfr", False), ("kuhn --with strategy:solve", False)],
    "play": [("kuhn --against net:deep-cfr", "seen"), ("tic_tac_toe --against features:tspg", False)],
    "match": [
        ("kuhn net:deep-cfr random --games 2", "seen"),
        ("kuhn strategy:solve random --games 2", False),
        ("tic_tac_toe puct:10,policy=tspg random --games 2", False),
        ("doppelkopf doko:cards,simulations=1 random random random --games 1", True),
        (f"{THESIS} random random random random --games 8 --seed 3 --out match", False),
    ],
    "tournament": [
        ("kuhn random --checkpoints deep-cfr --games 2", "seen"),
        ("holdem random always:call --games 2 --out tournament", False),
    ],
    "critical": [("tic_tac_toe features:tspg --positions 2 --plies 2-5", False)],
    "doppelkopf session": [("doppelkopf random random random random --out session", False)],
    "record": [
        (f"{THESIS} --players heuristic --games 9 --seed 5 --out record", False),
        ("kuhn --players net:deep-cfr --games 2", "seen"),
    ],
    "explain": [("tspg --games 1", True), ("tspg/network.safetensors --games 1", True)],
    "solve": [("kuhn --iterations 2 --out solve", False), ("--resume solve", False)],
    "poker abstract": [("holdem:flop,ranks=4,suits=2 --buckets 2 --out solve", False)],
    "study": [("deep-cfr leduc --out .", False)],
    "models": [("", False)],
}
READ_NO_FILES = {"games", "players", "check", "demo", "compile", "cache", "bench", "export"}
SERVES = {"serve"}  # until it is stopped: its tables are tried in web/test_store.py, its players below


def changed(values, fields):
    """The values of a file, with code in place of the name in each of these fields."""
    if not isinstance(values, dict):
        return values
    found = {key: EVIL if key in fields and isinstance(value, str) else value for key, value in values.items()}
    if "players" in fields and isinstance(values.get("players"), list):
        found["players"] = [EVIL] * len(values["players"])
    return found


def poison(folder, fields):
    """Let every file in a folder name `evil.py` in these fields."""
    for path in folder.rglob("*.json"):
        path.write_text(json.dumps(changed(json.loads(path.read_text()), fields)))
    for path in folder.rglob("games.jsonl"):
        lines = [changed(json.loads(line), fields) for line in path.read_text().splitlines()]
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    for path in folder.rglob("*.safetensors"):
        with safetensors.safe_open(path, "numpy") as file:
            about, tensors = file.metadata() or {}, {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118
        if "about" in about:
            about = {"about": json.dumps(changed(json.loads(about["about"]), fields))}
        elif "game" in about:
            about["game"] = json.dumps({"name": EVIL})
        path.write_bytes(safetensors.numpy.save(tensors, about))
    (folder / "transcript.txt").write_text(f"game 1 of {EVIL}, seed 1\n")


@pytest.fixture
def poisoned(request, tmp_path, monkeypatch):
    """A folder with a run of each kind, whose files name code in one field, or in all of them."""
    runs = tmp_path / "runs"
    shutil.copytree(OLD, runs)
    shutil.copytree(runs / "deep-cfr", runs / "leduc-best-1")
    poison(runs, ("game", "method", "players", "seen") if request.param == "all" else (request.param,))
    (runs / "evil.py").write_text(CODE)
    monkeypatch.chdir(runs)
    monkeypatch.setattr(model_files, "SHIPPED", runs / "tspg")
    return request.param


def test_every_command_that_reads_files_is_tried():
    assert set(get_command(cli.build()).commands) == {name.split()[0] for name in READERS} | READ_NO_FILES | SERVES


@pytest.fixture
def here(monkeypatch, capsys):
    """A function that runs a command in the present folder and returns its message, and whether the code was run."""

    def run(*arguments):
        Path("ran").unlink(missing_ok=True)
        monkeypatch.setattr("sys.argv", ["kibitz", *arguments])
        monkeypatch.setattr("sys.stdin", io.StringIO())
        with pytest.raises(SystemExit):
            cli.main()
        return capsys.readouterr().err, Path("ran").exists()

    return run


CASES = [(field, command) for field in ("all", "seen") for command in READERS if (field, command) != ("seen", "train")]
RARE = [(field, command) for field in ("game", "players") for command in READERS if command != "train"]
RARE += [("game", "train"), ("method", "train")]


@pytest.mark.parametrize(
    ("poisoned", "command"),
    [*CASES, *(pytest.param(*case, marks=pytest.mark.heavy) for case in RARE)],
    indirect=["poisoned"],
)
def test_no_file_makes_a_command_run_code(here, poisoned, command):
    for line, runs in READERS[command]:
        words = [*command.split(), *line.split()]
        copy = Path("..") / "copy"
        shutil.copytree(".", copy)
        error, ran = here(*words)
        assert not ran, line
        assert "Traceback" not in error
        wanted = (runs is True and poisoned in ("game", "all")) or runs == poisoned
        if wanted:
            assert str(Path("evil.py").resolve()) in error, (line, error)
            assert "--trust" in error
            shutil.copytree(copy, ".", dirs_exist_ok=True)
            error, ran = here(*words, "--trust")
            assert ran, (line, error)
        shutil.rmtree(copy)


def test_a_learner_in_a_file_needs_trust_to_resume(here, tmp_path, monkeypatch):
    shutil.copytree(OLD / "exit-oos", tmp_path / "run")
    poison(tmp_path / "run", ("method",))
    (tmp_path / "evil.py").write_text(CODE)
    monkeypatch.chdir(tmp_path)
    error, ran = here("train", "--resume", "run")
    assert "/evil.py:Evil was read from a file" in error
    assert not ran
    assert here("train", "--resume", "run", "--trust")[1]


def test_a_game_in_a_file_needs_trust_to_be_solved_further(here, tmp_path, monkeypatch):
    solve_run(new_run(load("leduc"), iterations=2, folder=tmp_path / "run"))
    poison(tmp_path / "run", ("game",))
    (tmp_path / "evil.py").write_text(CODE)
    monkeypatch.chdir(tmp_path)
    error, ran = here("solve", "--resume", "run", "--iterations", "3")
    assert str(Path("evil.py").resolve()) in error
    assert not ran
    for line in ("match leduc strategy:run random --games 2", "exploit leduc run"):
        assert not here(*line.split())[1]
    assert here("solve", "--resume", "run", "--iterations", "3", "--trust")[1]


@pytest.mark.parametrize("poisoned", ["all"], indirect=True)
@pytest.mark.parametrize(
    ("game", "player"),
    [
        ("kuhn", "net:runs/deep-cfr"),
        ("kuhn", "strategy:runs/solve"),
        ("tic_tac_toe", "features:runs/tspg"),
        ("doppelkopf", "doko:runs/cards,simulations=1"),
    ],
)
def test_no_file_makes_a_server_run_code(poisoned, monkeypatch, game, player):
    pytest.importorskip("fastapi")
    from kibitz.app.web.lobby import Lobby

    monkeypatch.chdir("..")
    shutil.copy("runs/evil.py", ".")
    with pytest.raises(BadInput):
        Lobby(None, None, []).player(player, load(game))
    assert not Path("ran").exists()
    assert not Path("runs/ran").exists()


def test_no_browser_starts_a_program(tmp_path, monkeypatch):
    pytest.importorskip("fastapi")
    from kibitz.app.web.lobby import Lobby, Unknown

    monkeypatch.chdir(tmp_path)
    lobby = Lobby(None, None, [])
    assert "engine" not in {player.name for player in lobby.players}
    for name in ("engine:touch ran", " engine:touch ran", "engine:path=touch ran", "engine:models/x"):
        with only_named("engine:touch ran", trust=True), pytest.raises(Unknown):
            lobby.player(name, load("hex"))
    assert not Path("ran").exists()


# ---------------------------------------------------------------- what the person names


def test_a_file_that_the_person_names_runs(here, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("evil.py").write_text(CODE)
    for words in (["solve", EVIL], ["match", "kuhn", EVIL, "random"], ["play", "kuhn", f"--against={EVIL}"]):
        assert here(*words)[1], words


def test_the_same_file_in_a_record_needs_no_trust_where_the_person_names_it(kibitz, tmp_path):
    game = (Path(__file__).parents[1] / "games" / "pile.py").read_text()
    (tmp_path / "mine.py").write_text(game)
    assert kibitz("match", "mine.py:Pile", "random", "random", "--games", "2", "--out", "run")[0] == 0
    assert kibitz("match", "mine.py:Pile", "random", "random", "--games", "4", "--out", "run")[0] == 0
    assert kibitz("replay", "run", "--trust")[0] == 0


def test_the_interface_of_python_asks_too(tmp_path, monkeypatch):
    shutil.copytree(OLD, tmp_path / "runs")
    poison(tmp_path / "runs", ("game", "seen", "method", "players"))
    monkeypatch.chdir(tmp_path / "runs")
    Path("evil.py").write_text(CODE)
    record = read_records(Path("match/games.jsonl"))[0]
    for attempt in (
        lambda: api.resume("exit-oos"),
        lambda: api.TrainingRun(Run(Path("tspg"))).game,
        lambda: read_strategy(Path("solve/strategy.safetensors")),
        lambda: describe(Path("tspg/network.safetensors")),
        record.verify,
    ):
        with pytest.raises(BadInput, match=r"evil\.py: if you trust that code, give --trust \(in Python trust=True\)"):
            attempt()
    assert not Path("ran").exists()
    with pytest.raises(BadInput, match="it was run"):
        api.resume("exit-oos", trust=True)
    Path("ran").unlink()
    with pytest.raises(BadInput, match="it was run"):
        api.TrainingRun(Run(Path("tspg")), trust=True).game  # noqa: B018
    with pytest.raises(BadInput, match="it was run"):
        api.load(EVIL)


def loads(name):
    """A worker that loads the game of each task."""
    return lambda task: str(load(task))


def test_worker_processes_may_run_what_their_parent_may(tmp_path):
    game = (Path(__file__).parents[1] / "games" / "pile.py").read_text()
    named, other = tmp_path / "named.py", tmp_path / "other.py"
    named.write_text(game)
    other.write_text(game)
    with only_named(f"{named}:Pile"):
        assert list(spread(loads, ("",), [f"{named}:Pile"], 2, alone=None)) == ["Pile(sticks=7)"]
        with pytest.raises(BadInput, match=r"other\.py: if you trust that code"):
            list(spread(loads, ("",), [f"{other}:Pile"], 2, alone=None))
