"""Files written by version 0.2.0 are read: runs are resumed, networks and strategies play, records are shown.

`files_of_0_2_0` holds the smallest run of each learner and solver, killed before its end (training in its third
iteration of four, with that iteration's samples in the journal), a match, a tournament, a session and exploiters of
which a part is played, an abstraction of which a part is computed, and games in each format. They name each other
relative to that folder. `expected` has what version 0.2.0 itself made of them: the metrics after it resumed the runs,
the games of the whole match and session, the exploitability of each strategy and network, and games that they played.
Of alphazero the last iteration is as of the version that no longer reads samples of unfinished games.
"""

import json
import shutil
from pathlib import Path

import pytest
from safetensors.numpy import load_file

import kibitz as api

from ..golden.arithmetic import arithmetic
from ..golden.record import RECORDED

OLD = Path(__file__).parent / "files_of_0_2_0"
EXPECTED = OLD / "expected"
FLOP = "holdem:flop,ranks=4,suits=2,raises=1,preflop_raises=1"
LEARNERS = (
    "alphazero", "cards", "deep-cfr", "deep-cfr-holdem", "distill", "exit-cards", "exit-ismcts", "exit-oos", "mmd",
    "mmd-residual", "next-card", "ntuple", "tspg",
)  # fmt: skip
WITHOUT_WORKERS = ("cards", "distill", "mmd", "mmd-residual", "next-card")
SOLVERS = ("cfr-br", "pcs", "pcs-boards", "public-tree")
MEASURED = json.loads((EXPECTED / "measured.json").read_text())
PLAYED = json.loads((EXPECTED / "played.json").read_text())


@pytest.fixture
def files(kibitz, tmp_path, monkeypatch):
    """A copy, in the folder that its configurations are relative to."""
    shutil.copytree(OLD, tmp_path / "files")
    monkeypatch.chdir(tmp_path / "files")
    return tmp_path / "files"


@pytest.fixture
def done(kibitz, files):
    """A function that runs a command, which succeeds, and returns its output."""

    def run(*arguments):
        code, out, error = kibitz(*arguments)
        assert code == 0, error
        return out + error

    return run


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def games(path):
    return [line["actions"] for line in lines(path)]


def is_here():
    """Whether arithmetic is as where the files were written."""
    return arithmetic() == json.loads((RECORDED / "arithmetic.json").read_text())


def close(value):
    """Equal to the last digits, or, where arithmetic is another, as after a few steps of learning."""
    return pytest.approx(value, rel=1e-9) if is_here() else pytest.approx(value, rel=0.03, abs=1e-3)


@pytest.mark.parametrize("name", LEARNERS)
def test_a_training_run_resumes_as_its_own_version_did(done, name):
    done("train", "--resume", name, *(("--processes", "1") if name not in WITHOUT_WORKERS else ()))
    now, expected = lines(Path(name, "metrics.jsonl")), lines(EXPECTED / f"{name}.jsonl")
    assert [line["iteration"] for line in now] == [line["iteration"] for line in expected] == [0, 1, 2, 3, 4]
    same = len(now) if is_here() or name != "tspg" else 4  # a difference in the last digit leads to another game
    for ours, theirs in zip(now[:same], expected[:same], strict=True):
        assert {key: ours.get(key) for key in theirs} == close(theirs)


def test_a_training_run_is_resumed_for_longer_from_python(files):
    found = api.resume("exit-oos", iterations=5).metrics
    assert found[:3] == lines(EXPECTED / "exit-oos.jsonl")[:3]
    assert found[-1]["iteration"] == 5


def test_alphazero_says_which_samples_it_leaves_out(done):
    said = done("train", "--resume", "alphazero", "--processes", "1")
    assert (
        "6 samples of unfinished games are left out: version 0.2 kept them in a form that isn't read any more" in said
    )


@pytest.mark.parametrize("name", SOLVERS)
def test_a_solver_resumes_as_its_own_version_did(done, name):
    before = lines(Path(name, "metrics.jsonl"))
    done("solve", "--resume", name)
    now, expected = lines(Path(name, "metrics.jsonl")), lines(EXPECTED / f"{name}.jsonl")
    assert now[: len(before)] == before
    assert len(now) == len(expected) > len(before)
    for ours, theirs in zip(now, expected, strict=True):
        assert {key: ours.get(key) for key in theirs} == close(theirs)


@pytest.mark.parametrize("row", MEASURED)
def test_what_was_learned_is_as_exploitable(done, row):
    game, player = row.split()
    done("exploit", game, player, "--processes", "1", "--json", "found.json")
    found = json.loads(Path("found.json").read_text())
    assert {key: found[key] for key in MEASURED[row]} == pytest.approx(MEASURED[row], rel=1e-5, abs=1e-6)


@pytest.mark.parametrize("row", PLAYED)
def test_what_was_learned_plays_the_same_games(done, row):
    done("match", *row.split(), "--games", "4", "--processes", "1", "--out", "played")
    assert games(Path("played", "games.jsonl")) == PLAYED[row]


def test_a_match_continues_with_the_same_games(done):
    assert len(games(Path("match", "games.jsonl"))) == 13
    done("match", "kuhn", "oos:50", "strategy:cfr+", "--games", "40", "--processes", "1", "--out", "match")
    assert games(Path("match", "games.jsonl")) == games(EXPECTED / "match.jsonl")


def test_a_tournament_continues_to_the_same_result(done):
    done("tournament", "kuhn", "oos:50", "ismcts:50", "random", "--games", "20", "--processes", "1",
         "--out", "tournament")  # fmt: skip
    now, expected = Path("tournament", "result.json"), EXPECTED / "tournament.json"
    assert json.loads(now.read_text()) == json.loads(expected.read_text())


def test_a_session_continues_with_the_same_games(done):
    done("session", "doppelkopf", *["random"] * 4, "--games", "4", "--processes", "1", "--out", "session")
    assert games(Path("session", "games.jsonl")) == games(EXPECTED / "session.jsonl")


EXPLOITERS = {
    "exploit-rl": ("kuhn", "strategy:cfr+", {"method": "rl", "iterations": 3, "games": 400, "seeds": 2}),
    "exploit-ismcts": ("kuhn", "random", {"method": "ismcts", "simulations": 50, "games": 400}),
    "exploit-lbr": (FLOP, "style:tight-aggressive", {"method": "lbr", "games": 40}),
}


@pytest.mark.parametrize("name", EXPLOITERS)
def test_an_exploiter_continues_to_the_same_bound(files, name):
    game, player, options = EXPLOITERS[name]
    found = api.exploit(game, player, out=name, **options).nash_conv.mean
    assert found == close(json.loads((EXPECTED / "exploit.json").read_text())[name])


def test_an_abstraction_continues_to_the_same_buckets(done):
    done("abstract", "holdem:streets=3,ranks=5,suits=2", "--buckets", "6-6", "--out", "abstraction-begun")
    now, expected = (
        sorted(array.tobytes() for array in load_file(path).values())
        for path in (Path("abstraction-begun", "abstraction.safetensors"), EXPECTED / "abstraction-begun.safetensors")
    )
    assert now == expected


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        ("runs --in .", "mmd-residual"),
        *((f"runs show {name}", f"kibitz train --resume TMP/{name}") for name in LEARNERS),
        *((f"runs show {name}", f"kibitz solve --resume TMP/{name}") for name in SOLVERS),
        ("runs show match", "to resume: kibitz match kuhn oos:50 strategy:cfr+ --games 40 --seed 1 --out TMP/match"),
        ("runs show tournament", "kibitz tournament kuhn oos:50 ismcts:50 random"),
        ("runs show session", "kibitz session doppelkopf"),
        ("runs show exploit-rl", "strategy:cfr+"),
        ("runs show abstraction-begun", "abstract holdem"),
        ("runs compare exit-oos deep-cfr", "0.8678"),
        ("rate tournament", "oos:50"),
        ("replay match --game 1", "chance: Q, chance: K"),
        ("replay session --game 1", "seat 1"),
        ("replay doppelkopf-match --game 1", "seat 1 (heuristic) gets -2"),
        ("review match --game 1 --with strategy:cfr+", "strategy:cfr+"),
        ("convert doppelkopf.lines --from thesis --to text --game 1", "♣"),
        ("convert doppelkopf.txt --to thesis", "a"),
        ("convert hands.acpc --to json", '"actions"'),
        ("convert holdem.jsonl --to acpc", "STATE:0:"),
        ("solve efg:kuhn.efg --iterations 10", "NashConv"),
        ("exploit kuhn saved.safetensors", "0.333333"),
        (f"exploit {FLOP} exploit-flops", "mbb/g"),
        ("explain tspg --games 2", "html"),
        (f"solve {FLOP} --with pcs --abstraction abstraction --iterations 5", "5 iterations"),
        (f"solve {FLOP} --with cfr-br --from pcs --iterations 2", "2 iterations"),
        ("train exit-cards doppelkopf:thesis --start cards --iterations 1 --games 4 --device cpu", "network:"),
        ("train next-card doppelkopf:thesis --data records --iterations 1 --nodes 8 --device cpu", "network:"),
        ("train mmd kuhn --start mmd --iterations 1 --games 8 --hidden 8 --device cpu", "network:"),
    ],
)
def test_commands_read_them(done, files, command, shown):
    assert shown in "".join(done(*command.split()).split("\n")).replace(str(files), "TMP")
