"""Matches, ratings, replays and exploitability from the command line; matches that are stopped."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from kibitz import games
from kibitz.games.records import Record, read_records
from kibitz.play.match import play_match
from kibitz.solve.best_response import evaluate
from kibitz.solve.cfr import Cfr
from kibitz.solve.sequence_form import unfold

ROOT = Path(__file__).parents[3]


def test_a_match_writes_its_games_and_reports_the_result(kibitz, tmp_path):
    code, out, _ = kibitz("match", "kuhn", "random", "random", "--games", "40", "--seed", "3", "--json", "report.json")
    assert code == 0
    folder = tmp_path / "runs" / "kuhn-match-001"
    assert {path.name for path in folder.iterdir()} == {"config.json", "games.jsonl", "lock", "result.json"}
    records = read_records(folder / "games.jsonl")
    assert [record.number for record in records] == list(range(40))
    for record in records:
        record.verify()
    report = json.loads((tmp_path / "report.json").read_text())
    assert report == json.loads((folder / "result.json").read_text())
    first = [record.payoffs[record.number % 2] for record in records]
    assert report["payoff"]["mean"] == pytest.approx(sum(first) / 40)
    assert report["wins"] == sum(payoff > 0 for payoff in first)
    assert (report["game"], report["games"], report["seed"]) == ("kuhn", 40, 3)
    assert f"{report['wins']} / 0 / {report['losses']}" in out
    assert "95% interval" in out
    assert "games.jsonl" in out


def test_more_games_are_added_to_a_match(kibitz, tmp_path):
    kibitz("match", "kuhn", "random", "random", "--games", "10", "--out", "run")
    code, out, _ = kibitz("match", "kuhn", "random", "random", "--games", "30", "--out", "run")
    assert code == 0
    assert "30 games" in out
    assert json.loads((tmp_path / "run" / "result.json").read_text())["games"] == 30
    assert len(read_records(tmp_path / "run" / "games.jsonl")) == 30


def test_the_variance_is_reduced_where_policies_are_known(kibitz, tmp_path):
    asked = ("match", "leduc", "random", "always:call", "--games", "40", "--out", "run", "--processes", "1")
    code, out, _ = kibitz(*asked, "--reduce-variance", "--within", "100")
    assert code == 0
    assert "with reduced variance" in out
    assert "variance reduced by AIVAT, with the known policies of: random, always:call" in out
    stored = json.loads((tmp_path / "run" / "result.json").read_text())
    payoff, reduced = stored["payoff"], stored["reduced"]["payoff"]
    assert reduced["high"] - reduced["low"] < 0.7 * (payoff["high"] - payoff["low"])
    assert f"{1000 * reduced['mean']:+,.1f}" in out
    assert f"needs {stored['further_games']:,} further games" in out
    code, _, err = kibitz("match", "leduc", "oos:10", "ismcts:10", "--out", "other", "--reduce-variance")
    assert code == 2
    assert "oos:10 and ismcts:10 give no probabilities for every hand" in err
    assert not (tmp_path / "other").exists()


def test_one_against_three_on_the_same_deals_from_every_seat(kibitz, tmp_path):
    asked = (
        "match",
        "doppelkopf:thesis",
        "ensemble-uct:1x2",
        "random",
        "random",
        "random",
        "--processes",
        "1",
    )
    code, out, _ = kibitz(*asked, "--deals", "3", "--json", "report.json", "--out", "run")
    assert code == 0
    assert "12 games of" in out
    assert "3 deals from 4 seats" in " ".join(out.split())
    assert "against 3 x random" in out
    records = read_records(tmp_path / "run" / "games.jsonl")
    mine = [record.payoffs[record.players.index("ensemble-uct:1x2")] for record in records]
    report = json.loads((tmp_path / "report.json").read_text())
    assert report["players"] == ["ensemble-uct:1x2", "random", "random", "random"]
    assert report["payoff"]["mean"] == pytest.approx(sum(mine) / 12)
    assert report["by_name"]["random"]["mean"] == pytest.approx(-sum(mine) / 36)
    assert report["wins"] == sum(payoff > 0 for payoff in mine)
    assert report["losses"] == sum(payoff < 0 for payoff in mine)
    whole = (tmp_path / "run" / "games.jsonl").read_text()
    (tmp_path / "run" / "games.jsonl").write_text(whole[:-700])  # as a kill would leave it
    assert kibitz(*asked, "--deals", "3", "--out", "run")[0] == 0
    assert (tmp_path / "run" / "games.jsonl").read_text() == whole


def test_a_game_from_a_file_is_played_in_every_process(tmp_path, monkeypatch):
    """Processes find its file by the name that was given, from where we are."""
    example = next((ROOT / "examples").glob("*.py"))
    name = next(line.split()[1].split("(")[0] for line in example.read_text().splitlines() if line.startswith("class "))
    (tmp_path / "mine.py").write_text(example.read_text())
    monkeypatch.chdir(tmp_path)
    one, two = (
        sorted(record.line() for record in play_match(f"mine.py:{name}", ["random"] * 2, 10, 1, processes, alone=0))
        for processes in (1, 2)
    )
    assert one == two
    assert len(one) == 10


def started(folder, *arguments):
    environment = dict(os.environ, PYTHONPATH=str(ROOT))
    return subprocess.Popen(
        [sys.executable, "-m", "kibitz", "match", "leduc", *arguments],
        cwd=folder,
        env=environment,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def wait_for_games(path, count):
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and not (path.exists() and path.read_bytes().count(b"\n") >= count):
        time.sleep(0.01)


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")
@pytest.mark.parametrize(
    ("player", "count", "processes", "until"),
    [("random", 600, "1", 30), ("oos:2000", 300, "2", 230)],  # slow enough for the second process to take part
)
def test_a_killed_match_is_resumed_to_exactly_the_same_games(kibitz, tmp_path, player, count, processes, until):
    asked = (player, "random", "--games", str(count), "--seed", "5", "--out", "run", "--processes")
    process = started(tmp_path, *asked, processes)
    file = tmp_path / "run" / "games.jsonl"
    wait_for_games(file, until)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate(timeout=30)
    assert 0 < file.read_bytes().count(b"\n") < count
    assert not (tmp_path / "run" / "result.json").exists()
    assert kibitz("match", "leduc", *asked, "1")[0] == 0
    whole = [record.line() for record in play_match("leduc", [player, "random"], count, 5, 1)]
    assert file.read_text() == "".join(whole)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGINT for a child")
@pytest.mark.parametrize(("processes", "count"), [("1", 20), ("2", 1200)])
def test_ctrl_c_stops_a_match_and_prints_how_to_resume_it(kibitz, tmp_path, processes, count):
    process = started(tmp_path, "random", "random", "--games", "1000000", "--processes", processes, "--out", "run")
    file = tmp_path / "run" / "games.jsonl"
    wait_for_games(file, count)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to the workers, too
    try:
        _, error = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 130
    assert "Traceback" not in error
    assert "of 1,000,000 games; they are saved" in error
    assert f"to resume: kibitz match leduc random random --games 1000000 --seed 1 --out {tmp_path / 'run'}" in error
    text = file.read_text()
    assert text.endswith("\n")
    assert f"stopped after {text.count(chr(10)):,} of" in error


def test_a_human_plays_a_match_too(kibitz, monkeypatch, tmp_path):
    monkeypatch.setattr("builtins.input", lambda prompt: "pass")
    assert kibitz("match", "kuhn", "human", "random", "--games", "4", "--out", "run")[0] == 0
    records = read_records(tmp_path / "run" / "games.jsonl")
    assert [record.players.index("human") for record in records] == [0, 1, 0, 1]
    assert all(record.actions[2 + record.players.index("human")] == 0 for record in records)


def test_players_are_rated_from_all_matches_of_a_folder(kibitz, tmp_path):
    for i, pair in enumerate((("random", "ismcts:20"), ("ismcts:20", "ismcts:100"))):
        assert kibitz("match", "kuhn", *pair, "--games", "60", "--out", f"runs/{i}", "--processes", "1")[0] == 0
    code, out, _ = kibitz("rate", "runs", "--fix", "random=1000", "--json", "rating.json")
    assert code == 0
    assert "120 games" in out
    rated = {row["name"]: row for row in json.loads((tmp_path / "rating.json").read_text())["players"]}
    assert rated["random"]["elo"] == 1000
    assert rated["ismcts:20"]["elo"] > 1000
    assert rated["ismcts:20"]["games"] == 120
    for name in rated:
        assert name in out


def test_a_rating_with_added_half_wins_says_so(kibitz, tmp_path):
    lines = [
        json.dumps({"number": i, "game": "kuhn", "players": ["a", "b"], "seed": 1, "actions": [], "payoffs": [1, -1]})
        for i in range(3)
    ]
    (tmp_path / "games.jsonl").write_text("\n".join(lines) + "\n")
    out = " ".join(kibitz("rate", ".")[1].split())
    assert "won all" in out
    assert "half a win was added for either side between a and b" in out


@pytest.fixture
def recorded(kibitz, tmp_path):
    assert kibitz("match", "leduc", "random", "random", "--games", "12", "--out", "run")[0] == 0
    return read_records(tmp_path / "run" / "games.jsonl")


def test_a_game_is_shown_move_by_move(kibitz, recorded):
    game = games.load("leduc")
    record = next(record for record in recorded if len(record.actions) > 6)
    code, out, _ = kibitz("replay", "run", "--game", str(record.number + 1), "--positions", "1")
    assert code == 0
    assert out.startswith(f"game {record.number + 1} of leduc")
    moves = [game.action_to_string(state, action) for state, action in record.replay() if action is not None]
    said = [line.strip().split(": ")[1] for line in out.splitlines() if line.startswith("  ")]
    assert said == moves
    assert out.count("in the pot") == 2 * len(moves)
    assert out.count("chance: ") == 3
    for seat, payoff in enumerate(record.payoffs):
        assert f"seat {seat + 1} (random) gets {payoff:+g}" in out


def test_a_seat_is_not_shown_what_it_could_not_see(kibitz, recorded):
    game = games.load("leduc")
    for record in recorded:
        out = kibitz("replay", "run/games.jsonl", "--game", str(record.number + 1), "--seat", "2", "--positions", "1")[
            1
        ]
        states = [state for state, _ in record.replay()]
        said = [line.strip() for line in out.splitlines() if line.startswith("  ")]
        assert said[0] == "chance: hidden"
        assert said[1] == f"chance: {game.action_to_string(states[1], record.actions[1])}"
        assert "hidden" not in " ".join(said[1:])
        shown = [line for line in out.splitlines() if "│ seat 1:" in line]
        assert len(shown) == len(states) - 1
        assert not re.search("seat 1: [JQK]", "".join(shown))


def test_a_long_deal_is_shown_as_one_line(kibitz, tmp_path):
    [record] = play_match("doppelkopf:thesis", ["random"] * 4, 1, 1, 1)
    (tmp_path / "games.jsonl").write_text(record.line())
    code, out, _ = kibitz("replay", "games.jsonl", "--seat", "1", "--positions", "1")
    assert code == 0
    said = [line.strip() for line in out.splitlines() if line.startswith("  ")]
    assert said[0] == "chance moves 48 times"
    assert len(said) == 1 + len(record.actions) - 48
    assert "dealing" not in out
    assert "hidden" not in out
    brief = kibitz("replay", "games.jsonl", "--seat", "1")[1]
    assert len(brief.splitlines()) < 40
    assert [line.count(":") for line in brief.splitlines() if line.startswith("  seat")][-11:] == [4] * 11  # tricks


def test_a_game_is_shown_by_rounds_with_its_last_position(kibitz, recorded):
    record = next(record for record in recorded if len(record.actions) == 7)
    lines = kibitz("replay", "run", "--game", str(record.number + 1))[1].splitlines()
    said = [line for line in lines if line.startswith("  ")]
    assert [line.count(":") for line in said] == [2, 2, 1, 2]  # two cards, two moves, the public card, two moves
    assert "\n".join(lines).count("in the pot") == 2


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (lambda game: game["actions"].__setitem__(2, 0), "action 0 at ply 3 is illegal"),
        (lambda game: game["actions"].append(1), "is illegal"),
        (lambda game: game["actions"].pop(), "breaks off after"),
        (lambda game: game.update(payoffs=[90.0, -90.0]), "not [90.0, -90.0]"),
        (lambda game: game.update(game="ledoc"), "no game is called 'ledoc'"),
        (lambda game: game.update(game="goofspiel:4", actions=[99]), "action 99 at ply 1 is illegal"),
    ],
)
def test_a_game_that_cannot_have_been_played_is_refused(kibitz, recorded, tmp_path, change, text):
    changed = json.loads(recorded[0].line())
    change(changed)
    (tmp_path / "wrong.jsonl").write_text(json.dumps(changed) + "\n")
    code, _, error = kibitz("replay", "wrong.jsonl")
    assert code == 2
    assert text in error
    assert error.count("\n") == 1


def test_exploitability_of_a_player_is_printed_and_written(kibitz, tmp_path):
    game = games.load("kuhn")
    solver = Cfr(game, "cfr")
    solver.run(20)
    solver.strategy().save(tmp_path / "s.safetensors")
    exact = evaluate(unfold(game), solver.strategy()).nash_conv
    asked = ("exploit", "kuhn", "strategy:s.safetensors", "--seeds", "2", "--processes", "1", "--json", "report.json")
    code, out, _ = kibitz(*asked)
    assert code == 0
    assert f"{exact:.6g}" in out
    assert "±" not in out  # a strategy is the same for every seed
    assert out.count(f"{exact / 2:.6g}") == 1
    report = json.loads((tmp_path / "report.json").read_text())
    assert report["nash_conv"] == pytest.approx(exact)
    assert report["nash_conv_of_mean_strategy"] == pytest.approx(exact)
    assert len(report["nash_conv_by_seed"]) == 2


def test_help_teaches_with_an_example(kibitz):
    for command in ("match", "rate", "replay", "exploit", "tournament"):
        assert f"Example: kibitz {command}" in kibitz(command, "--help")[1]


BAD = {
    ("match", "ledoc", "random", "random"): "no game is called 'ledoc': did you mean 'leduc'?",
    ("match", "leduc", "random"): "leduc is for 2 players, not 1",
    ("match", "leduc", "random", "randm"): "no player is called 'randm': did you mean 'random'?",
    ("match", "leduc", "random", "strategy:nowhere"): "no strategy file 'nowhere'",
    ("exploit", "leduc", "human"): "a human gives no advice",
    ("match", "kuhn", "random", "random", "--games", "0"): "games should be at least 1, not 0",
    ("match", "kuhn", "random", "random", "--deals", "0"): "deals should be at least 1, not 0",
    ("match", "kuhn", "random", "random", "--deals", "2", "--games", "4"): "--games 4 and --deals 2: give one of them",
    ("match", "kuhn", "random", "random", "--seed", "-3"): "seed should be at least 0, not -3",
    ("match", "kuhn", "random", "random", "--processes", "0"): "--processes",
    ("match", "kuhn", "random", "random", "--out", "foreign"): "foreign holds other things",
    ("match", "kuhn", "random", "random", "--games", "2", "--out", "file.txt/x"): "can't write to file.txt/x",
    ("rate", "nowhere"): "no folder 'nowhere'",
    ("rate", "foreign"): "no games below foreign",
    ("rate", "foreign", "--fix", "random"): "no games below foreign",
    ("rate", "one", "--fix", "random"): "--fix random should read NAME=ELO",
    ("rate", "one", "--fix", "a=many"): "--fix a=many should read NAME=ELO",
    ("rate", "one", "--fix", "c=1500"): "no player is called 'c'",
    ("rate", "one", "--game", "leduc"): "no game here is called 'leduc'",
    ("replay", "nowhere.jsonl"): "nowhere.jsonl can't be read",
    ("replay", "file.txt"): "file.txt, line 1, is no record of a game",
    ("replay", "one", "--game", "7"): "has no game 7: its games are 1 to 1",
    ("replay", "one", "--seat", "3"): "--seat 3 should be 1 to 2",
}


@pytest.mark.parametrize("arguments", BAD, ids=" ".join)
def test_bad_input_gives_one_clear_line_and_a_code(kibitz, tmp_path, arguments):
    (tmp_path / "foreign").mkdir()
    (tmp_path / "foreign" / "diary.txt").write_text("mine")
    (tmp_path / "file.txt").write_text("mine\n")
    (tmp_path / "one").mkdir()
    (tmp_path / "one" / "games.jsonl").write_text(Record(0, "kuhn", ["a", "b"], 1, [0, 1, 1, 0], [1.0, -1.0]).line())
    code, _, error = kibitz(*arguments)
    assert code == 2
    assert BAD[arguments] in error
    assert error.startswith("kibitz: ")
    assert error.count("\n") == 1
    assert not (tmp_path / "runs").exists()
    assert [path.name for path in (tmp_path / "foreign").iterdir()] == ["diary.txt"]
