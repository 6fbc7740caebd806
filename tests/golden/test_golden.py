"""Every learner, solver and exact measure gives the figures that were recorded, at a fixed seed.

Where arithmetic is that of the machine that recorded them, digests of all strategies, networks and games are compared
too. Digests that differ alone mean sums in another order.
"""

import json
import math
from pathlib import Path

import pytest

from kibitz.solve.solvers import METHODS
from kibitz.train.learner import LEARNERS

from .arithmetic import arithmetic
from .figures import run
from .record import RECORDED
from .rows import GROUPS, ROWS

HERE = 1e-9  # relative
EXACT = 1e-12  # absolute: what is left of sums that cancel


@pytest.fixture(scope="module")
def figures(tmp_path_factory):
    """A function that runs a row, after the rows whose folders it reads, each once."""
    folder, done = tmp_path_factory.mktemp("golden"), {}

    def of(name):
        if name not in done:
            for other in ROWS[name].after:
                of(other)
            done[name] = run(name, ROWS[name].commands, Path(folder))
        return done[name]

    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        yield of


def named(command, option=""):
    """What the rows run: the first argument of a command, or the value of an option."""
    words = [each.split() for row in ROWS.values() for each in row.commands if isinstance(each, str)]
    mine = [each for each in words if each[0] == command]
    return {each[each.index(option) + 1] if option else each[1] for each in mine}


@pytest.mark.parametrize("learner", LEARNERS)
def test_every_learner_has_a_row(learner):
    assert learner in named("train")


@pytest.mark.parametrize("method", METHODS)
def test_every_solver_has_a_row(method):
    assert method in named("solve", "--with")


@pytest.fixture(scope="module")
def is_here():
    """Whether arithmetic is as where the figures were recorded."""
    return arithmetic() == json.loads((RECORDED / "arithmetic.json").read_text())


def is_equal(recorded, now, relative):
    if isinstance(recorded, str) or isinstance(now, str):
        return recorded == now
    return math.isclose(recorded, now, rel_tol=relative, abs_tol=EXACT) or (math.isnan(recorded) and math.isnan(now))


@pytest.mark.parametrize(("group", "name"), [(group, name) for group, rows in GROUPS.items() for name in rows])
def test_the_figures_are_those_recorded(group, name, figures, is_here):
    recorded = json.loads((RECORDED / f"{group}.json").read_text()).get(name)
    assert recorded, f"{name} was never recorded: python -m tests.golden.record {name}"
    relative, now = HERE if is_here else ROWS[name].elsewhere, figures(name)
    if relative is None:
        pytest.skip("needs the arithmetic of the machine that recorded it")
    other = [
        f"{name}: {figure} was {recorded.get(figure, 'missing')!r} and is {now.get(figure, 'missing')!r}"
        for figure in recorded | now
        if (is_here or not figure.endswith("sha256"))
        and not is_equal(recorded.get(figure, "missing"), now.get(figure, "missing"), relative)
    ]
    assert not other, "\n" + "\n".join(other)
