"""docs/which-algorithm.md: its table says what the code accepts, and its limits are those of the code."""

import re
from pathlib import Path

import pytest

import kibitz
from kibitz.play import exploitability
from kibitz.play.players import make_for
from kibitz.search.search import SEARCHES
from kibitz.solve import sequence_form, solvers
from kibitz.train import trainer
from kibitz.train.deep_cfr import traversal
from kibitz.train.learner import LEARNERS

PAGE = (Path(__file__).parents[1] / "docs" / "which-algorithm.md").read_text()
HEAD, *ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in re.search(r"^\| \| board .*?\n\n", PAGE, re.MULTILINE | re.DOTALL)[0].splitlines()
    if not line.startswith("|---")
]
TABLE = {
    (name, re.search("`(.*)`", kind)[1]): said
    for row in ROWS
    for name in re.findall("`(.*?)`", row[0])
    for kind, said in zip(HEAD[1:], row[1:], strict=True)
}
NAMES = {name for name, _ in TABLE}
BUDGET = {"alphabeta": "2", "ensemble-uct": "2x2"}


def accepts(name, game):
    """Whether a search, solver or learner begins with a game."""
    try:
        if name in SEARCHES:
            make_for(f"{name}:{BUDGET.get(name, 10)}", kibitz.load(game))
        elif name in solvers.methods():
            solvers.new_solver(kibitz.load(game), name)
        else:
            trainer.configured(name, game, None, {})
    except kibitz.BadInput as error:
        return "is missing" in str(error)  # --data: the game is the right one
    return True


def test_the_table_has_every_search_solver_and_learner():
    assert set(SEARCHES) | set(solvers.methods()) | set(LEARNERS) == NAMES


@pytest.mark.parametrize("game", ["connect_four", "leduc", "goofspiel:13"])
def test_the_table_says_what_runs(game):
    slow = {"external", "outcome"} if game != "leduc" else set()  # they count leaves, to measure: a minute
    if game == "goofspiel:13":
        slow |= set(solvers.methods())
    for name in sorted(NAMES - slow):
        assert TABLE[name, game] == ("yes" if accepts(name, game) else "no"), name


def test_the_table_says_what_runs_with_four_seats():
    for name in sorted(NAMES - {"exit-ismcts"}):  # which plays games to see how long they are
        assert TABLE[name, "doppelkopf"] == ("yes" if accepts(name, "doppelkopf") else "no"), name


def test_a_game_of_the_wrong_kind_is_refused_before_one_is_played(monkeypatch):
    monkeypatch.setattr("kibitz.train.exit_oos.config.survey", None)
    with pytest.raises(kibitz.BadInput, match="oos needs two seats"):
        trainer.configured("exit-oos", "doppelkopf", "small", {})


def test_the_table_says_what_runs_with_dice():
    pytest.importorskip("pyspiel")
    for name in sorted(NAMES & set(SEARCHES)):
        runs = accepts(name, "openspiel:pig(players=2,horizon=5,winscore=6)")
        assert TABLE[name, "openspiel:pig"] == ("yes" if runs else "no"), name


@pytest.mark.parametrize(
    ("limit", "told"),
    [
        (sequence_form.MAX_LEAVES, "{:,} leaves for `solve`"),
        (exploitability.MAX_LEAVES, "{:,} leaves and"),
        (exploitability.MAX_INFOSETS, "{:,} infosets for `exploit`"),
        (sequence_form.MAX_LEAVES_IN_PYTHON, "{:,} leaves for a game in plain Python"),
        (solvers.MEASURABLE, "only up to {:,} leaves"),
        (traversal.MAX_NODES, "at most {:,} positions"),
    ],
)
def test_the_limits_are_those_of_the_code(limit, told):
    assert told.format(limit) in PAGE


def test_the_solvers_converge_as_told():
    told = re.findall(r"^\| `(\S+)` \| ([\d.]+) \| ", PAGE, re.MULTILINE)
    assert [name for name, _ in told] == ["cfr", "linear", "cfr+", "dcfr", "pcfr+"]
    for name, nash_conv in told:
        tolerance = 0.6 if name == "dcfr" else 1e-3  # dcfr is chaotic
        assert kibitz.solve("leduc", name, iterations=300).nash_conv == pytest.approx(float(nash_conv), rel=tolerance)
