"""What a command writes is tried before it works, and what is given with --resume is used or refused."""

import json
from pathlib import Path

import pytest
import torch
from make_reference import subcommands
from typer.main import get_command

import kibitz as kibitz_api
from kibitz.app import cli
from kibitz.core.names import BadInput
from kibitz.core.runs import Run
from kibitz.games.records import FILE
from kibitz.train import trainer

OPTIONS = ("--json", "--out", "--plot", "--save", "--log")
ARGUMENTS = (("export", "file"), ("convert", "target"))


def leaves(group, path=()):
    """All commands with their paths."""
    for name, command in subcommands(group):
        inner = list(leaves(command, (*path, name)))
        yield from inner
        yield " ".join((*path, name)), command


def outputs():
    for path, command in leaves(get_command(cli.build())):
        for parameter in command.params:
            option = [each for each in getattr(parameter, "opts", ()) if each in OPTIONS]
            if option or (path, parameter.name) in ARGUMENTS:
                yield pytest.param(command, parameter, id=f"{path} {(option or [parameter.name])[0]}")


def test_outputs_are_known_by_their_options():
    """A parameter whose help says that it is written is one of those below."""
    known = {(each.values[0].name, each.values[1].name) for each in outputs()}
    assert len(known) > 50
    for path, command in leaves(get_command(cli.build())):
        for parameter in command.params:
            said = (getattr(parameter, "help", None) or "").lower()
            if " to write" in said or "write the results" in said or "write the game" in said:
                assert (command.name, parameter.name) in known, path


@pytest.mark.parametrize(("command", "parameter"), list(outputs()))
def test_an_output_that_cannot_be_written_is_refused_when_it_is_given(command, parameter, tmp_path):
    """The command itself never runs. /proc accepts no files, whoever asks; a file is no folder."""
    context = command.context_class(command)
    (tmp_path / "a file").write_text("")
    for place in ("/proc", tmp_path / "a file"):
        for name in ("x.png", "x.svg", "x.json"):
            with pytest.raises(Exception, match=r"can't write|should end in"):
                parameter.process_value(context, f"{place}/{name}")


def test_no_match_is_played_for_a_file_that_cannot_be_written(kibitz, tmp_path):
    code, _, err = kibitz("match", "kuhn", "random", "random", "--json", "/proc/xyz")
    assert (code, err.count("\n")) == (2, 1)
    assert "can't write /proc/xyz" in err
    assert not list(tmp_path.iterdir())


def test_a_demo_of_too_many_games_trains_nothing(kibitz, tmp_path):
    code, _, err = kibitz("demo", "--games", str(10**26))
    assert (code, "--games" in err) == (2, True)
    assert not list(tmp_path.iterdir())


# ---------------------------------------------------------------- --resume

# Values of the options of `train --resume` and `solve --resume`; those used leave no message.
GIVEN = {
    "--processes": "3", "--cluster": "127.0.0.1:1", "--iterations": "2", "--memory": "4G", "--json": "found.json",
    "--seed": "0", "--with": "cfr+", "--abstraction": "a", "--buckets": "small", "--device": "cpu", "--boards": "1",
    "--from": "a", "--start-weight": "0", "--threads": "1", "--out": "b", "--trust": None, "GAME": "kuhn",
    "LEARNER": "mmd kuhn --iterations 1 --games 4 --hidden 4",
}  # fmt: skip
KEPT = {"--iterations", "--memory", "--json", "--trust"}  # options that each run takes
USED = {
    "mmd": KEPT,
    "exit-oos": KEPT | {"--processes"},
    "public tree": KEPT | {"--threads"},
    "public tree, cuda": KEPT,
    "pcs": KEPT | {"--threads"},
    "pcs, all boards": KEPT,
    "pcs, cuda": KEPT,
    "cfr-br": KEPT,
}
SMALL = {
    "mmd": {"games": 4, "hidden": "4"},
    "exit-oos": {"games": 2, "simulations": 20, "hidden": "4", "steps": 1},
}


SOLVED = {
    "public tree": ("kuhn", "--threads", "1"),
    "pcs": ("leduc", "--with", "pcs", "--threads", "1"),
    "pcs, all boards": ("leduc", "--with", "pcs", "--boards", "all"),
    "cfr-br": ("leduc", "--with", "cfr-br"),
}


def options_of(path):
    commands = dict(leaves(get_command(cli.build())))
    found = [each.opts[0] for each in commands[path].params if each.opts[0] not in ("--resume", "--help")]
    return [each if each.startswith("-") else "GAME" for each in found] + ["LEARNER"] * (path == "train")


def contents():
    """All that the run holds, but for the file of its lock."""
    return {path: path.read_bytes() for path in Path("run").rglob("*") if path.is_file() and path.name != "lock"}


def resumable(kibitz, what, tmp_path):
    kind = what.removesuffix(", cuda")
    if kind in SOLVED:
        code, _, err = kibitz("solve", *SOLVED[kind], "--iterations", "1", "--out", "run")
        assert code == 0, err
        if what != kind:  # as if it had been begun on a GPU
            run = Run(Path("run"))
            run.write("config.json", json.dumps(run.config() | {"device": "cuda"}))
        return "solve"
    config = trainer.configured(what, "kuhn", None, {"iterations": 1, "evaluate_every": 0} | SMALL[what])
    trainer.train(trainer.new_run(tmp_path / "run", what, config), processes=1)
    return "train"


@pytest.mark.parametrize("what", USED)
def test_what_is_given_with_resume_is_used_or_refused(kibitz, tmp_path, what):
    """And the run is as before where it is refused."""
    command = resumable(kibitz, what, tmp_path)
    for option in options_of(command):
        value = GIVEN[option]
        named = value.split() if option in ("GAME", "LEARNER") else [option] if value is None else [option, value]
        before = contents()
        code, _, err = kibitz(command, "--resume", "run", *named)
        if option in USED[what] and "cuda" in what:
            assert (code == 0) == torch.cuda.is_available(), (option, err)
        elif option in USED[what]:
            assert code == 0, (option, err)
        else:
            last = err.splitlines()[-1]
            assert code == 2, (option, err)
            names = {"LEARNER": ["takes no learner"], "--cluster": ["no connection to a Ray cluster", "needs Ray"]}
            assert any(name in last for name in [option, *names.get(option, [])]), (option, err)
            assert contents() == before
    if "cuda" in what:
        return
    assert Path("found.json").exists()
    assert Run(Path("run")).config()["iterations"] == 2


# The command that resumes a run, and values of its options that the run doesn't have; the options that it uses.
AGAIN = {
    "match": (
        ("match", "tic_tac_toe", "random", "random", "--games", "4", "--out", "run"),
        {"--games": "6", "--deals": "4", "--within": "1", "--reduce-variance": None, "--openings": "1"},
        {"--games", "--deals", "--within"},
    ),
    "tournament": (
        ("tournament", "tic_tac_toe", "random", "uct:2", "--games", "4", "--out", "run"),
        {"--games": "6", "--checkpoints": "net", "--openings": "1"},
        {"--games"},
    ),
    "record": (
        ("record", "kuhn", "--players", "random", "--games", "4", "--out", "run"),
        {"--players": "oos:5", "--games": "6"},
        {"--games"},
    ),
    "exploit, exact": (
        ("exploit", "leduc", "table", "--flops", "4", "--out", "run"),
        {"--flops": "5", "--device": "cpu"},
        {"--flops", "--device"},
    ),
    "exploit, ismcts": (
        ("exploit", "kuhn", "random", "--with", "ismcts", "--simulations", "20", "--games", "400", "--out", "run"),
        {"--games": "500", "--with": "rl", "--preset": "small"},
        {"--games"},
    ),
}
ALWAYS = {"--processes": "1", "--memory": "4G", "--json": "found.json", "--trust": None}
OTHERS = {
    "--seed": "2", "--seeds": "2", "--with": "lbr", "--preset": "long", "--iterations": "3", "--simulations": "30",
    "--save": "saved", "--within": "1", "--flops": "5", "--device": "cpu", "--games": "7",
    "--cluster": "127.0.0.1:1",
}  # fmt: skip
GROWS = {"--games": ("games", 1), "--deals": ("games", 2), "--flops": ("flops", 1)}  # option -> field, its units


def is_seen(option, value):
    """Whether the run, or what the command writes, shows the option where there is anything to see of it."""
    run = Run(Path("run"))
    if option == "--json":
        return Path(value).is_file()
    if option == "--within":
        return json.loads(run.path("result.json").read_text())["within"] == float(value)
    if option not in GROWS:
        return True
    field, units = GROWS[option]
    total, files = units * int(value), run.folder.rglob(FILE)
    return run.config()[field] == total and all(path.read_bytes().count(b"\n") == total for path in files)


@pytest.mark.parametrize("what", AGAIN)
def test_what_is_given_to_resume_games_and_exploiters_is_used_or_refused(kibitz, tmp_path, what):
    """The games of a run that is refused are as before, and one line says why."""
    begun, values, used = AGAIN[what]
    if "table" in begun:
        assert (
            kibitz("solve", "leduc", "--with", "pcs", "--threads", "1", "--iterations", "2", "--out", "table")[0] == 0
        )
        used = used | {"--memory", "--json", "--trust"}  # no processes
    else:
        used = used | ALWAYS.keys()
    alone = ("--processes", "1") if "--processes" in used else ()
    code, _, err = kibitz(*begun, *alone)
    assert code == 0, err
    options = [each for each in options_of(begun[0]) if each.startswith("--") and each not in ("--out", "--measures")]
    for option in sorted(options, key=GROWS.__contains__):
        value = (ALWAYS | OTHERS | values)[option]
        before = contents()
        asked = list(begun)
        if option == "--deals":
            asked = [each for each in asked if each not in ("--games", "4")]
        if option in asked and option != "--players":
            asked[asked.index(option) + 1] = value
        else:
            asked += [option] if value is None else [option, value]
        code, _, err = kibitz(*asked, *(alone if option != "--processes" else ()))
        if option in used:
            assert code == 0, (option, err)
            assert is_seen(option, value), option
        else:
            assert (code, err.count("\n")) == (2, 1), (option, err)
            names = {
                "holds another run",
                option.strip("-"),
                option.strip("-").rstrip("s"),
                "has kept no networks",
                "variance is reduced",
                "is for 2 players",
            }
            assert any(name in err for name in names), (option, err)
            assert before == contents()


def test_a_cluster_that_does_not_answer_is_refused_before_training(kibitz, monkeypatch, tmp_path):
    """And before a folder is made. Learners without workers take none, in Python neither."""
    pytest.importorskip("ray")

    def never(*_):
        raise AssertionError("it trains")

    resumable(kibitz, "exit-oos", tmp_path)
    monkeypatch.setattr(trainer, "train_loop", never)
    asked = ["train exit-oos kuhn --out other", "train --resume run", "match kuhn random random --out other"]
    asked += ["study exit-oos table-1 --out other", "exploit kuhn random --with rl --out other"]
    for command in asked:
        code, _, err = kibitz(*command.split(), "--cluster", "127.0.0.1:1")
        assert (code, err.count("\n")) == (2, 1)
        assert "no connection to a Ray cluster at 127.0.0.1:1" in err
    assert not Path("other").exists()
    config = trainer.configured("mmd", "kuhn", None, {"iterations": 1} | SMALL["mmd"])
    with pytest.raises(BadInput, match="--cluster auto is for learners with worker processes: mmd has none"):
        trainer.train(trainer.new_run(Path("mmd"), "mmd", config), "auto")
    with pytest.raises(BadInput, match="--processes 2 is for learners with worker processes: mmd has none"):
        kibitz_api.resume("mmd", processes=2)
    with pytest.raises(BadInput, match="--processes 2 is for learners with worker processes: mmd has none"):
        kibitz_api.train("mmd", "kuhn", processes=2, out="new")
    assert not Path("new").exists()


@pytest.mark.parametrize(
    "asked",
    ["kuhn --device cuda", "leduc --with pcs --device cuda", "leduc --with pcs --boards all", "leduc --with cfr-br"],
)
def test_threads_that_would_not_be_used_are_refused(kibitz, tmp_path, asked):
    code, _, err = kibitz("solve", *asked.split(), "--threads", "2")
    assert (code, err.count("\n"), "--threads 2 is for" in err) == (2, 1, True)
    assert not list(tmp_path.iterdir())
