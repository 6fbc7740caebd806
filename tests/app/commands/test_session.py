"""Sessions of Doppelkopf from the command line."""

import json
import re

import pytest

from kibitz.core import steps
from kibitz.core.progress import Reporter
from kibitz.doppelkopf import session as doppelkopf_session
from kibitz.doppelkopf.session import play_sessions
from kibitz.games.records import read_records

ASKED = ("doppelkopf", "session", "doppelkopf", *["random"] * 4, "--games", "6", "--processes", "1")


def test_a_session_prints_its_score_sheet_with_totals_and_owed_solos(kibitz, tmp_path):
    code, out, _ = kibitz(*ASKED, "--json", "report.json")
    assert code == 0
    folder = tmp_path / "runs" / "doppelkopf-session-001"
    assert {path.name for path in folder.iterdir()} == {
        "config.json",
        "games.jsonl",
        "lock",
        "result.json",
        "sheets.txt",
    }
    report = json.loads((tmp_path / "report.json").read_text())
    assert report == json.loads((folder / "result.json").read_text())
    [points] = report["totals"]
    assert sum(points) == 0
    rows = [line.split() for line in out.splitlines() if line[:1].isdecimal()]
    games = [row for row in rows if row[0] in "123456" and len(row) > 10][:6]
    assert [row[0] for row in games] == ["1", "2", "3", "4", "5", "6"]
    assert games[-1][-1] == "-"  # nobody owes a solo at the end
    assert [int(cell) for cell in games[-1][-8:-1:2]] == points
    assert "points for Re:" in out
    assert [record.number for record in read_records(folder / "games.jsonl")] == list(range(6))
    sheets = (folder / "sheets.txt").read_text()
    assert sheets.startswith("session 1\nplayers: 1 random, 2 random, 3 random, 4 random\n")
    assert "\x1b" not in sheets


def test_score_sheets_and_records_are_written_in_german(kibitz, tmp_path):
    code, out, _ = kibitz(*ASKED, "--out", "run", "--language", "de")
    assert code == 0
    sheets = (tmp_path / "run" / "sheets.txt").read_text()
    assert sheets.startswith("Sitzung 1\nSpieler: 1 random, 2 random, 3 random, 4 random\n")
    for text in (out, sheets):
        assert not re.search(r"\b(game|dealer|played|owe|solo of|with|points|won|marriage|against)\b", text)
    assert "Punkte je Sitzung" in out
    assert kibitz("convert", "run", "german.txt", "--language", "de")[1] == "6 Spiele: german.txt\n"
    assert (tmp_path / "german.txt").read_text().startswith("Spiel 1 von doppelkopf")
    kibitz("convert", "german.txt", "english.txt")
    kibitz("convert", "run", "expected.txt")
    assert (tmp_path / "english.txt").read_text() == (tmp_path / "expected.txt").read_text()
    assert "no language is called 'fr'" in kibitz(*ASKED, "--language", "fr")[2]


def test_a_session_is_listed_among_the_runs(kibitz, tmp_path):
    kibitz(
        "doppelkopf",
        "session",
        "doppelkopf:calls=0",
        *["random"] * 4,
        "--games",
        "4",
        "--processes",
        "1",
        "--out",
        "runs/one",
    )
    file = tmp_path / "runs" / "one" / "games.jsonl"
    assert kibitz("runs", "--json", "runs.json")[0] == 0
    [row] = json.loads((tmp_path / "runs.json").read_text())
    assert (row["command"], row["done"], row["wanted"]) == ("session", 4, 4)
    file.write_text("".join(file.read_text().splitlines(keepends=True)[:3]))
    assert "3 of 4" in kibitz("runs")[1]
    assert "ratings are for two seats" in kibitz("rate", "runs")[2]


def test_several_sessions_are_shown_with_intervals(kibitz, tmp_path):
    asked = (
        "doppelkopf",
        "session",
        "doppelkopf:calls=0",
        *["random"] * 4,
        "--games",
        "4",
        "--processes",
        "1",
        "--out",
        "run",
    )
    assert kibitz(*asked, "--sessions", "2")[0] == 0
    code, out, _ = kibitz(*asked, "--sessions", "3")
    assert code == 0
    assert "3 sessions of 4 games" in out
    assert "95% interval" in out
    assert len(json.loads((tmp_path / "run" / "result.json").read_text())["totals"]) == 3
    assert (tmp_path / "run" / "sheets.txt").read_text().count("session ") == 3


def test_solos_may_be_left_out(kibitz, tmp_path):
    assert kibitz(*ASKED, "--solos", "no", "--out", "run")[0] == 0
    assert {record.game for record in read_records(tmp_path / "run" / "games.jsonl")} == {"doppelkopf"}
    assert kibitz("doppelkopf", "session", "doppelkopf:thesis", *ASKED[3:], "--out", "thesis")[0] == 0
    assert json.loads((tmp_path / "thesis" / "config.json").read_text())["solos"] is False


def test_ctrl_c_prints_the_sheet_so_far_and_how_to_resume(kibitz, tmp_path, monkeypatch):
    class Stop(Reporter):
        def progress(self, done, total=None, note=""):
            if done == 3:
                raise KeyboardInterrupt

    monkeypatch.setattr(steps, "REPORT_SECONDS", -1)
    stopping = lambda run, processes, report: play_sessions(run, processes, Stop())  # noqa: E731
    monkeypatch.setattr(doppelkopf_session, "play_sessions", stopping)
    code, out, error = kibitz(*ASKED, "--out", "run")
    assert code == 130
    assert "stopped after 3 of 6 games; they are saved" in error
    again = "kibitz doppelkopf session doppelkopf random random random random --games 6 --sessions 1 --solos yes "
    again += "--seed 1 --out"
    assert f"{again} {tmp_path / 'run'}" in error
    assert "points for Re:" in out


BAD = {
    ("doppelkopf", "session", "kuhn", *["random"] * 4): "kuhn has no sessions",
    ("doppelkopf", "session", "doppelkopf", *["random"] * 3): "doppelkopf is for 4 players, not 3",
    (
        "doppelkopf",
        "session",
        "doppelkopf",
        *["random"] * 4,
        "--solos",
        "maybe",
    ): "no answer to --solos is called 'maybe'",
    (
        "doppelkopf",
        "session",
        "doppelkopf:thesis",
        *["random"] * 4,
        "--solos",
        "yes",
    ): "solos are owed, so solos should be yes",
    ("doppelkopf", "session", "doppelkopf", *["random"] * 4, "--games", "2"): "games should be at least 4, not 2",
}


@pytest.mark.parametrize("arguments", BAD, ids=" ".join)
def test_bad_input_gives_one_clear_line_and_a_code(kibitz, tmp_path, arguments):
    code, _, error = kibitz(*arguments)
    assert code == 2
    assert BAD[arguments] in error
    assert error.count("\n") == 1
    assert not (tmp_path / "runs").exists()


def test_help_teaches_with_an_example(kibitz):
    assert "Example: kibitz doppelkopf session" in kibitz("doppelkopf", "session", "--help")[1]
