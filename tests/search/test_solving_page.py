"""The figures of docs/solving.md come out again."""

import contextlib
import io
import re
from pathlib import Path

import pytest

from kibitz import games
from kibitz.search.strategy import uniform_strategy
from kibitz.solve.best_response import evaluate
from kibitz.solve.cfr import Cfr
from kibitz.solve.regrets import VARIANTS
from kibitz.solve.sequence_form import unfold

PAGE = (Path(__file__).parents[2] / "docs" / "solving.md").read_text()
SMALL = ("kuhn", "leduc", "goofspiel:4", "goofspiel:5", "liars_dice:faces=3", "liars_dice:faces=4")


def cells(first):
    """The other cells of the row that begins with this name and has the most of them."""
    found = re.findall(rf"^\| `{re.escape(first)}` \|(.*)\|$", PAGE, re.MULTILINE)
    return [cell.strip() for cell in max((row.split("|") for row in found), key=len)]


@pytest.mark.parametrize("name", SMALL)
def test_sizes_of_games_and_their_nash_conv(name):
    game = games.load(name)
    form = unfold(game)
    infosets, leaves, uniform, value, reached = cells(name)
    assert (f"{form.infosets:,}", f"{form.nodes[2]:,}") == (infosets, leaves)
    assert f"{evaluate(form, uniform_strategy(game)).nash_conv:.4f}" == uniform
    solver = Cfr(game, "pcfr+", form)
    solver.run(1000)
    found = evaluate(form, solver.strategy())
    assert found.nash_conv == pytest.approx(float(reached), rel=0.2)  # rounding errors grow
    top, _, bottom = value.replace("−", "-").partition("/")
    assert -found.best[1] - 1e-6 <= float(top) / float(bottom or 1) <= found.best[0] + 1e-6


@pytest.mark.parametrize("variant", VARIANTS)
def test_convergence_of_each_variant(variant):
    written = [float(cell) for cell in cells(variant)]
    for name, row in (("kuhn", written[:3]), ("leduc", written[3:])):
        game = games.load(name)
        form = unfold(game)
        solver = Cfr(game, variant, form)
        for iterations, nash_conv in zip((10, 100, 1000), row, strict=True):
            solver.run(iterations - solver.iterations)
            tolerance = 0.01 if iterations <= 100 else 0.6 if variant == "dcfr" else 0.2  # as in test_solutions.py
            assert evaluate(form, solver.strategy()).nash_conv == pytest.approx(nash_conv, rel=tolerance)


def test_the_code_of_the_page_prints_what_it_says():
    [code] = re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        exec(compile(code, "docs/solving.md", "exec"), {"__name__": "page"})
    assert said.getvalue().splitlines() == re.findall(r"  # (.*)$", code, re.MULTILINE)
