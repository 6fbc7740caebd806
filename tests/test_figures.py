"""The tables of figures: each row has a command of today, a seed and an interval, and can be measured again."""

import re
import runpy
import shlex

import pytest

from .documented import ROOT, resolve
from .test_docs_blocks import PLACEHOLDERS, check_as_written

audit = runpy.run_path(str(ROOT / "docs" / "audit.py"))
Figure, Interval, agrees, figures, measured = (
    audit[name] for name in ("Figure", "Interval", "agrees", "figures", "measured")
)
PAGES = [ROOT / "README.md", ROOT / "docs" / "results.md"]
RESULTS = [(figure.where, figure) for page in PAGES for figure in figures(page)]
SPEEDS = re.compile(r"^\| ([\w:+=-]+) \|.*\| ([\d.,]+)x \(([\d.,]+) to ([\d.,]+)\) \|", re.MULTILINE)


def words(command):
    for pattern, replacement in PLACEHOLDERS:
        command = re.sub(pattern, replacement, command)
    return shlex.split(command)[1:]


def number(text):
    return float(text.replace(",", ""))


def test_all_tables_of_figures_are_read():
    """A table with a column of ours has all others too; only the README, which has no room, lacks `again`."""
    for page in PAGES:
        heads = [line for line in page.read_text().splitlines() if re.match(r"\|.*\bours\b.*\|$", line)]
        heads = [{cell.strip() for cell in line.strip("|").split("|")} for line in heads]
        heads = [each for each in heads if "ours" in each]
        assert heads, page
        for each in heads:
            assert each >= audit["COLUMNS"], page
            assert "again" in each or page.name == "README.md", each
    assert len(RESULTS) > 50
    assert len([figure for _, figure in RESULTS if figure.again is not None]) > 25


@pytest.mark.parametrize("figure", [figure for _, figure in RESULTS], ids=[where for where, _ in RESULTS])
def test_every_figure_has_command_seed_and_interval(figure):
    assert figure.command, "no command"
    assert re.fullmatch(r"none|\d+( to \d+)?|\d+(, \d+)+", figure.seed), f"no seed: {figure.seed!r}"
    assert figure.stated is not None, f"no interval: {figure.text!r} over {figure.over!r}"
    assert re.match(
        r"exact|range of [3-9] trainings|\d[\d,]* (games|deals|trainings|positions|flops|runs)", figure.over
    )
    assert (figure.unit == "x") == (figure.over == audit["RUNS"]) == (figure.words[0] == "bench"), "a speed"
    assert figure.seed != "none" or figure.words[0] in ("bench", "exploit", "solve"), "chance has a seed"


@pytest.mark.parametrize("figure", [figure for _, figure in RESULTS], ids=[where for where, _ in RESULTS])
def test_every_command_is_one_of_today(figure):
    if "--data" in figure.words:  # games that are made where the page is run, in test_docs_blocks.py
        command, rest = resolve(words(figure.command))
        command.make_context("kibitz", rest)
    else:
        check_as_written(words(figure.command))
    if figure.again is not None:
        quick = figure.quick(7)
        check_as_written(words(shlex.join(["kibitz", *quick, "--json", "x.json"])))
        assert quick.count("--seed") == (figure.seed != "none")
        command, _ = resolve(quick)
        known = {option for each in command.params for option in each.opts}
        assert {word for word in quick if word.startswith("--")} <= known


def test_speeds_are_the_same_on_all_pages():
    page = (ROOT / "docs" / "performance.md").read_text()
    speeds = {name: (number(ratio), number(low), number(high)) for name, ratio, low, high in SPEEDS.findall(page)}
    assert all(low <= ratio <= high for ratio, low, high in speeds.values())
    shown = [figure for _, figure in RESULTS if figure.unit == "x"]
    assert shown
    for figure in shown:
        assert tuple(figure.stated) == speeds[figure.words[1]], figure.where
    [claim] = re.findall(r"^- \*\*Fast\*\*.*$", (ROOT / "README.md").read_text(), re.MULTILINE)
    named = [number(each) for each in re.findall(r"([\d.]+)x", claim)]
    assert named
    assert {*named} <= {ratio for ratio, _, _ in speeds.values()}
    counted = {name: ratio for name, (ratio, _, _) in speeds.items() if not name.startswith("oos-targeted")}
    plain = [ratio for name, ratio in counted.items() if "hex" not in name and name != "uct-tic_tac_toe"]
    low, high = (number(each) for each in re.search(r"(\d+) to (\d+) times", claim).groups())
    assert low <= min(plain)
    assert high <= max(plain)


# ---------------------------------------------------------------- the audit itself


def figure(text, over="200 games", command="kibitz match kuhn random random --games 200", seed="1", again="--games 10"):
    return Figure("page.md:1", command, seed, text, over, again)


@pytest.mark.parametrize(
    ("text", "over", "found"),
    [
        ("65.2% (63.7 to 66.6)", "4,000 games", (65.2, 63.7, 66.6)),
        ("+1.78 (+1.72 to +1.84)", "1,000 deals", (1.78, 1.72, 1.84)),
        ("-72 mbb/g (-97 to -46)", "9 deals", (-72, -97, -46)),
        ("1,250x (900 to 2,000)", "5 runs", (1250, 900, 2000)),
        ("0.041", "exact", (0.041, 0.041, 0.041)),
        ("0.041", "20 games", None),
        ("0.041 (0.040 to 0.042)", "exact", None),
        ("70% (71 to 72)", "20 games", None),
        ("at least 5", "exact", None),
    ],
)
def test_a_figure_is_read_with_its_interval(text, over, found):
    assert figure(text, over).stated == found


@pytest.mark.parametrize(
    ("text", "over", "again", "agree"),
    [
        ("0.041", "exact", (0.04094, 0.04094, 0.04094), True),
        ("0.041", "exact", (0.04151, 0.04151, 0.04151), False),
        ("20x (18 to 22)", "5 runs", (24, 22, 26), True),
        ("20x (18 to 22)", "5 runs", (24, 22.1, 26), False),
        ("60% (50 to 70)", "9 games", (77, 67, 87), True),  # 3.33 standard errors of one, 2.36 of the difference
        ("60% (50 to 70)", "9 games", (79, 69, 89), False),
        ("60% (50 to 70)", "9 games", (41, 31, 51), False),
        ("100% (96 to 100)", "9 games", (99, 93, 99.9), True),  # by the sides that face each other
        ("100% (99.9 to 100)", "9 games", (90, 85, 91), False),
    ],
)
def test_what_agrees(text, over, again, agree):
    assert agrees(figure(text, over), Interval(*again)) is agree


def test_the_quick_command_has_a_new_seed_and_other_options():
    assert figure("50% (40 to 60)").quick(9) == ["match", "kuhn", "random", "random", "--games", "10", "--seed", "9"]
    exact = figure("0.1", "exact", "kibitz solve kuhn --iterations 100", "none", "")
    assert exact.quick(9) == ["solve", "kuhn", "--iterations", "100"]


def test_a_figure_is_measured_again(capsys, monkeypatch, tmp_path):
    """By the script itself: a match, a solution, one that is wrong and one that fails."""
    page = tmp_path / "page.md"
    rows = (
        "result | command | seed | ours | interval over | again",
        "---|---|---|---|---|---",
        "a | `kibitz match kuhn random random --games 999` | 1 | [50%](x.md) (45 to 55) | 999 games | `--games 100`",
        "b | `kibitz solve kuhn --with cfr+ --iterations 100` | none | **0.00239** | exact | as it is",
        "c | `kibitz solve kuhn --with cfr+ --iterations 100` | none | 0.00238 | exact | as it is",
        "d | `kibitz match kuhn random net:nowhere --games 10` | 1 | 50% (40 to 60) | 10 games | as it is",
        "e | `kibitz train mmd kuhn` | 1 | 50% (40 to 60) | 10 games | -",
    )
    page.write_text("".join(f"| {row} |\n" for row in rows))
    monkeypatch.setitem(audit["main"].__globals__, "PAGES", [page])
    monkeypatch.setattr("sys.argv", ["audit.py", "--figures", "9", "--seed", "3"])
    audit["main"]()
    out = capsys.readouterr().out
    assert "OUTSIDE 0.00238" in out
    assert "2 of 4 inside, 1 outside, 1 failed; drawn among 4 with seed 3" in out
    assert "--seed 3" in out
