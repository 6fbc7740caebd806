"""`kibitz solve` on the public tree: a run folder that is resumed, played and measured."""

import json

import pytest


def test_a_run_is_solved_resumed_measured_and_played(kibitz):
    code, out, err = kibitz("solve", "kuhn", "--threads", "1", "--iterations", "20", "--out", "run", "--json", "x.json")
    assert code == 0, err
    assert "kuhn, cfr+ on the public tree: 20 iterations, 12 infosets" in out
    assert "play it:  kibitz play kuhn --against strategy:run" in out
    with open("x.json") as file:
        measured = json.load(file)
    assert (measured["done"], measured["infosets"], measured["tree"]) == (20, 12, "public")
    code, out, err = kibitz("solve", "--resume", "run", "--iterations", "300")
    assert code == 0, err
    assert "300 iterations" in out
    code, out, err = kibitz("exploit", "kuhn", "run", "--json", "x.json")
    assert code == 0, err
    with open("x.json") as file:
        assert 0 < json.load(file)["nash_conv"] < 0.002
    code, out, err = kibitz("advise", "kuhn", "K ?", "--with", "strategy:run")
    assert code == 0, err
    assert "bet" in out


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            "solve goofspiel:3 --threads 2",
            "--threads 2 is for --with pcs and for games with a public tree, not for cfr+",
        ),
        ("solve kuhn --with external --device cpu", "--device cpu is for --with pcs and for games with a public tree"),
        ("solve kuhn --with pcfr+ --threads 2", "--threads 2 is for --with pcs"),
        ("solve kuhn --device tpu", "tpu"),
        ("solve kuhn --device cuda", "kuhn can't be solved on a GPU"),
    ],
)
def test_options_that_do_nothing_are_refused(kibitz, line, message):
    code, _, err = kibitz(*line.split())
    assert code == 2
    assert message in " ".join(err.split())
