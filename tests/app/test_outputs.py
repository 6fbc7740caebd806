"""What a command writes is tried before it works, and what is given with --resume is used or refused."""

from pathlib import Path

import pytest
from typer.main import get_command

from kibitz.app import cli
from kibitz.app.cli_reference import subcommands
from kibitz.core.runs import Run
from kibitz.learn import trainer

OPTIONS = ("--json", "--out", "--plot", "--svg", "--save", "--log")
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
}  # fmt: skip
USED = {
    "mmd": {"--iterations", "--memory", "--json", "--trust"},
    "exit-oos": {"--iterations", "--memory", "--json", "--trust", "--processes"},
    "solve": {"--iterations", "--memory", "--json", "--trust", "--threads"},
}
SMALL = {
    "mmd": {"games": 4, "hidden": "4"},
    "exit-oos": {"games": 2, "simulations": 20, "hidden": "4", "steps": 1},
}


def options_of(path):
    commands = dict(subcommands(get_command(cli.build())))
    found = [each.opts[0] for each in commands[path].params if each.opts[0] not in ("--resume", "--help")]
    return [each if each.startswith("-") else "GAME" for each in found]


def resumable(kibitz, what, tmp_path):
    if what == "solve":
        assert kibitz("solve", "kuhn", "--threads", "1", "--iterations", "1", "--out", "run")[0] == 0
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
        named = [value] if option == "GAME" else [option] if value is None else [option, value]
        before = Run(Path("run")).read_lines()
        code, _, err = kibitz(command, "--resume", "run", *named)
        if option in USED[what]:
            assert code == 0, (option, err)
        else:
            last = err.splitlines()[-1]
            assert code == 2, (option, err)
            assert (
                option in last
                or "takes no learner" in last
                or "no connection to a Ray cluster" in last
                or "needs Ray" in last
            )
            assert Run(Path("run")).read_lines() == before
    assert Path("found.json").exists()
    assert Run(Path("run")).config()["iterations"] == 2
