"""`kibitz poker abstract` and `kibitz solve --with pcs`: from cards to a player, in commands."""

import json
import re
from pathlib import Path

import pytest

SMALL = "holdem:flop,ranks=4,suits=2"


def test_from_cards_to_a_player(kibitz, tmp_path):
    code, out, _ = kibitz("poker", "abstract", SMALL, "--buckets", "6", "--out", "buckets", "--json", "a.json")
    assert code == 0
    assert "kibitz solve holdem:ranks=4,suits=2,streets=2 --with pcs --abstraction buckets" in out
    found = json.loads((tmp_path / "a.json").read_text())
    assert found["buckets"] == [16, 6]
    assert len(found["checksum"]) == 64
    assert kibitz("poker", "abstract", SMALL, "--buckets", "6", "--out", "buckets")[0] == 0  # it is done already
    code, _, error = kibitz("poker", "abstract", SMALL, "--buckets", "7", "--out", "buckets")
    assert (code, "whose clusters is [6], not [7]" in error) == (2, True)

    options = ["--abstraction", "buckets", "--out", "run", "--json", "-"]
    code, out, error = kibitz("solve", SMALL, "--with", "pcs", "--iterations", "200", "--threads", "1", *options)
    assert code == 0
    solved = json.loads(out)
    assert (solved["done"], solved["device"], solved["abstraction"]) == (200, "cpu", found["checksum"])
    assert solved["regret_bound"] > 0
    assert -0.5 < solved["value"] < 0.5
    assert "strategy: run/strategy.safetensors" in error
    code, out, _ = kibitz("solve", "--resume", "run", "--iterations", "300")
    assert code == 0
    assert "300 iterations, 300 boards" in out
    assert "kibitz exploit holdem:ranks=4,suits=2,streets=2 run --with lbr" in out

    code, out, _ = kibitz("exploit", SMALL, "run")
    assert code == 0
    assert "exploitability in mbb/g" in out
    code, out, _ = kibitz("exploit", SMALL, "run", "--with", "lbr", "--games", "4", "--out", "lbr")
    assert code == 0
    assert "result: lbr/result.json" in out
    code, out, _ = kibitz("match", SMALL, "strategy:run", "always:call", "--games", "4", "--out", "match")
    assert code == 0
    code, out, _ = kibitz("advise", SMALL, "? ? 5c 5d", "--with", "strategy:run", "--beliefs", "strategy:run")
    assert code == 0
    assert "raise" in out
    assert "range of seat 1" in out
    code, out, _ = kibitz("poker", "ranges", SMALL, "strategy:run", "style:tight-aggressive", "--plot", "preflop.png")
    assert code == 0
    assert "the largest differences between strategy:run and style:tight-aggressive:" in out
    assert (tmp_path / "preflop.png").read_bytes().startswith(b"\x89PNG")
    code, out, _ = kibitz("runs")
    assert code == 0


def test_one_command_computes_the_abstraction_too(kibitz, tmp_path):
    options = ["--with", "pcs", "--iterations", "50", "--threads", "1", "--json", "-"]
    code, out, _ = kibitz("solve", SMALL, "--buckets", "6", "--out", "new/run", *options)
    assert code == 0
    assert json.loads((tmp_path / "new" / "run-buckets" / "config.json").read_text())["clusters"] == [6]
    one = json.loads(out)
    code, out, _ = kibitz("solve", SMALL, "--abstraction", "new/run-buckets", "--out", "two", *options)
    assert code == 0
    assert {key: one[key] for key in ("abstraction", "value")} == {
        key: json.loads(out)[key] for key in ("abstraction", "value")
    }
    for more in (["--abstraction", "new/run-buckets"], ["--from", "two"]):
        code, _, error = kibitz("solve", SMALL, "--with", "cfr-br", "--buckets", "6", *more)
        assert (code, f"and {' '.join(more)} has one: leave one out" in " ".join(error.split())) == (2, True)


def test_all_boards_in_mbb_per_game(kibitz, tmp_path):
    options = ["--with", "pcs", "--boards", "all", "--iterations", "20", "--out", "run"]
    code, out, _ = kibitz("solve", SMALL, *options)
    assert code == 0
    assert re.search(r"NashConv 0\.\d+ \(exploitability, half of it: 0\.\d+, [\d.]+ mbb/g\)", out)
    assert "(mean over the iterations)" in out
    code, out, _ = kibitz("solve", "--resume", "run", "--iterations", "21", "--json", "-")
    found = json.loads(out)
    assert code == 0
    assert found["mbb_per_game"] == 500 * found["nash_conv"]
    assert (found["boards"], found["sampled"]) == ("all", 21 * 28)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("poker abstract leduc", "leduc needs no card abstraction: kibitz solve leduc --with pcs"),
        ("poker abstract kuhn", "kuhn isn't poker with a public betting tree"),
        (
            "poker abstract holdem:flop --buckets large-ish",
            "should be small, medium, large or a number per street such as 500",
        ),
        (
            "poker abstract holdem:flop --buckets 5-5",
            "names 2 streets, and holdem:streets=2 has 1 after the first: 500",
        ),
        ("poker abstract holdem:flop --buckets 1", "1 should be 0 (no abstraction) or 2 to 1,000,000"),
        ("poker abstract holdem:flop --buckets 0", "abstracts nothing"),
        ("poker abstract holdem:streets=1", "needs no card abstraction"),
        ("solve", "name a game, such as leduc, or --resume RUN"),
        ("solve leduc --abstraction x", "--abstraction x is for --with pcs or cfr-br, not for cfr+"),
        ("solve leduc --with pcs --device tpu", "no device is called 'tpu'"),
        ("solve leduc --with pcs --boards many", "--boards 'many' should be a number of boards per iteration, or all"),
        ("solve holdem --with pcs --boards all", "holdem has 4 streets: all boards are visited in games of 2 only"),
        ("solve leduc --boards all", "--boards all is for --with pcs or cfr-br, not for cfr+"),
        ("solve leduc --with pcs --abstraction x", "no card abstraction 'x'"),
        ("solve leduc --with pcs --iterations 0", "--iterations should be at least 1"),
        ("solve leduc --with pcs --from x", "--from x is for --with cfr-br, not for pcs"),
        ("solve leduc --with cfr-br --from x", "x holds no run of pcs to start from"),
        ("solve leduc --with cfr-br --start-weight 3", "--start-weight 3 is for --from"),
        ("solve leduc --with cfr-br --from x --start-weight nan", "--start-weight should be at least 0, not nan"),
        ("solve leduc --with cfr-br --abstraction x", "no card abstraction 'x'"),
        ("solve --resume nothing", "nothing holds no run"),
        ("solve leduc --resume nothing", "--resume takes no GAME (leduc)"),
        ("solve --resume nothing --device cpu", "--resume takes no --device (cpu)"),
    ],
)
def test_mistakes_are_one_line(kibitz, tmp_path, line, words):
    code, out, error = kibitz(*line.split())
    assert code == 2
    assert out == ""
    assert words in error
    assert not (tmp_path / "runs").exists()


def test_an_unfinished_run_says_how_to_resume(kibitz, tmp_path):
    assert kibitz("solve", "leduc", "--with", "pcs", "--iterations", "5", "--out", "runs/run")[0] == 0
    config = json.loads((tmp_path / "runs/run/config.json").read_text())
    (tmp_path / "runs/run/config.json").write_text(json.dumps(config | {"iterations": 9}))
    code, out, _ = kibitz("runs")
    assert code == 0
    assert f"kibitz solve --resume {Path.cwd() / 'runs' / 'run'}" in out


def test_the_python_of_the_page_runs(capsys):
    page = (Path(__file__).parents[3] / "docs" / "holdem-blueprint.md").read_text()
    blocks = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    assert len(blocks) == 2
    scope = {}
    for block in blocks:
        exec(re.sub(r"iterations=\d+", "iterations=100", block), scope)
    assert scope["solution"].iterations == 100
    assert float(capsys.readouterr().out.split()[-1]) > 0


def test_nearest_centers_on_a_gpu_that_is_missing(kibitz, monkeypatch, tmp_path):
    import torch

    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    code, _, error = kibitz("poker", "abstract", SMALL, "--buckets", "6", "--device", "cuda", "--out", "buckets")
    assert (code, "torch finds no GPU here" in error, (tmp_path / "buckets").exists()) == (2, True, False)
