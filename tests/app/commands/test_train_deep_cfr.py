"""`kibitz train deep-cfr` and what is done with its runs, at the command line."""

import json

import pytest

SIZE = (
    "--iterations", "2", "--traversals", "40", "--hidden", "8", "--steps", "5", "--keep-every", "1",
    "--evaluate-every", "1", "--processes", "1",
)  # fmt: skip


def test_a_run_is_trained_resumed_evaluated_and_played(kibitz, tmp_path):
    code, out, error = kibitz("train", "deep-cfr", "kuhn", "--preset", "small", *SIZE, "--out", "run", "--json", "j")
    told = " ".join(out.split())
    assert code == 0
    assert "kuhn into run" in error
    assert "kuhn: 2 of 2 iterations" in told
    assert "loss of seat 1 " in told
    assert "NashConv" in told
    assert "play it: kibitz play kuhn --against net:run" in told
    report = json.loads((tmp_path / "j").read_text())
    assert report["method"] == "deep-cfr"
    assert report["nash_conv"] == report["measured"]["nash_conv"]
    code, out, _ = kibitz("train", "--resume", "run", "--iterations", "3", "--processes", "1")
    assert code == 0
    assert "3 of 3 iterations" in " ".join(out.split())
    for name in ("net:run", "net:run,iteration=1"):
        code, out, _ = kibitz("exploit", "kuhn", name)
        assert code == 0
        assert "exploitability (half of it)" in out
    assert kibitz("match", "kuhn", "net:run", "net:run,iteration=2", "--games", "4", "--processes", "1")[0] == 0
    assert kibitz("runs")[0] == 0


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("kuhn", "--preset", "thesys"), "no preset is called 'thesys': did you mean 'thesis'?"),
        (("kuhn", "--defects", "whole-pot"), "the defect whole-pot is one of holdem, not of kuhn"),
        (("doppelkopf",), "deep-cfr is for two-player zero-sum games"),
        (("goofspiel:13", "--preset", "best"), "more than the limit of 8,000,000: choose a smaller game"),
        (
            ("kuhn", "--learning-rate", "-1"),
            "learning_rate=-1.0 is out of range",
        ),
        (("kuhn", "--traversals", "0"), "traversals=0 is out of range"),
    ],
)
def test_bad_input_is_refused_in_one_line(kibitz, tmp_path, arguments, told):
    code, _, error = kibitz("train", "deep-cfr", *arguments, "--out", "run")
    assert code == 2
    assert told in " ".join(error.split())
    assert "Traceback" not in error
    assert not (tmp_path / "run").exists()


def test_help_lists_presets_defects_and_advanced_options(kibitz):
    code, out, _ = kibitz("train", "deep-cfr", "--help")
    told = " ".join(out.replace("│", " ").split())
    assert code == 0
    for text in (
        "thesis-faithful",
        "one-deal, whole-pot",
        "weight-by-step",
        "Advanced options",
        "Example: kibitz train deep-cfr leduc",
    ):
        assert text in told
