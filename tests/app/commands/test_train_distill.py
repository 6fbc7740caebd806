"""`kibitz train distill` at the command line."""

import json

GAME = "holdem:flop,ranks=4,suits=2,raises=1,preflop_raises=1"
SIZE = (
    "--preset", "small", "--steps", "1", "--hidden", "4", "--samples", "64", "--batch-size", "8",
    "--evaluation-samples", "16",
)  # fmt: skip


def test_a_solved_table_is_distilled_resumed_and_played(kibitz, tmp_path):
    assert kibitz("solve", GAME, "--with", "pcs", "--iterations", "5", "--out", "table")[0] == 0
    code, out, error = kibitz("train", "distill", GAME, "--from", "table", *SIZE, "--iterations", "1", "--out", "run")
    assert code == 0, error
    assert "play it: kibitz play holdem:ranks=4" in " ".join(out.split())
    assert json.loads((tmp_path / "run" / "config.json").read_text())["from_"] == str(tmp_path / "table")
    code, out, error = kibitz("train", "--resume", "run", "--iterations", "2")
    assert code == 0, error
    assert "2 of 2 iterations" in " ".join(out.split())
    assert kibitz("exploit", GAME, "net:run")[0] == 0


def test_a_run_that_is_no_table_is_refused_in_one_line(kibitz):
    code, _, error = kibitz("train", "distill", GAME, "--from", "nowhere", *SIZE)
    assert code == 2
    assert error.strip().splitlines()[-1] == "kibitz: no strategy 'nowhere'"
