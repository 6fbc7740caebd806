"""Gambit's files: what is written is read back without a difference, and damaged files are refused in one line."""

import gc
import os
import subprocess
import sys
from contextlib import suppress

import numpy as np
import pytest

import kibitz
from kibitz import BadInput
from kibitz.games import efg, full_name, legal_actions, load, positions, view_of
from kibitz.games.protocol import REMEMBERED
from kibitz.games.tree import Tree, actions_to, nodes_of
from kibitz.jit import generators
from kibitz.solve.sequence_form import unfold

SMALL = ["kuhn", "goofspiel:3", "liars_dice:faces=2", "leduc:raises=1", "leduc"]

STRIPPED = """EFG 2 R "one hidden coin" { "Ann" "Bob" }
"a comment"
c "root" 1 "" { "heads" 1/3 "tails" 2/3 } 1 "entry" { -1, 1 }
p "" 1 1 "Ann doesn't know" { "left" "right" } 0
t "" 2 "" { 3 -3 }
p "" 2 1 "" { "a b" "a c" } 0
t "" 3 "" { 1.5 -1.5 }
t "" 0
p "" 1 1 0
t "" 2
t "" 3
"""


def written(tmp_path, name):
    path = tmp_path / "game.efg"
    nodes = efg.write(load(name), path)
    return path, nodes


@pytest.mark.parametrize("name", SMALL)
def test_what_is_written_is_read_back(name, tmp_path):
    path, count = written(tmp_path, name)
    ours, read = nodes_of(load(name)), load(f"efg:{path}")
    assert len(ours) == count == len(read.nodes)
    for one, two in zip(ours, read.nodes, strict=True):
        assert (one.turn, one.infoset, one.probs, one.payoffs) == (two.turn, two.infoset, two.probs, two.payoffs)
        assert one.names == two.names
    efg.write(read, tmp_path / "again.efg")
    assert (tmp_path / "again.efg").read_text() == path.read_text()
    assert full_name(read) == f"efg:{path}"
    assert load(full_name(read)) == read
    facts, own = load(name).facts, read.facts
    assert (own.seats, own.zero_sum, own.hidden) == (facts.seats, facts.zero_sum, facts.hidden)


def test_a_file_is_a_game_with_the_same_solution(tmp_path):
    path, _ = written(tmp_path, "kuhn")
    ours, read = kibitz.solve("kuhn", iterations=100), kibitz.solve(f"efg:{path}", iterations=100)
    assert read.nash_conv == pytest.approx(ours.nash_conv, abs=1e-12)
    assert read.value == pytest.approx(ours.value, abs=1e-12)
    assert kibitz.check(f"efg:{path}", games=5) > 10
    assert len(kibitz.match(f"efg:{path}", ["oos:20", "ismcts:20"], games=4).records) == 4


def test_worlds_of_a_view_are_drawn_by_the_probability_of_chance(tmp_path):
    path = tmp_path / "coin.efg"
    path.write_text(STRIPPED)
    game = load(f"efg:{path}")
    state = game.initial().play("heads")
    view, out = view_of(game, state.record, 0), positions(game)
    assert int(view.node) == int(view_of(game, game.initial().play("tails").record, 0).node)
    rng, drawn = generators(1, 1)[0], []
    for _ in range(2000):
        game.determinize(view, 0, np.zeros(1), rng, out[0])
        drawn.append(actions_to(game, int(out[0].node))[0])
    assert np.mean(drawn) == pytest.approx(2 / 3, abs=0.04)


def test_optional_parts_and_payoffs_on_the_way(tmp_path):
    path = tmp_path / "coin.efg"
    path.write_text(STRIPPED)
    game = load(f"efg:{path}")
    assert (game.title, game.players) == ("one hidden coin", ["Ann", "Bob"])
    assert [node.payoffs for node in game.nodes if node.payoffs] == [
        [2, -2],
        [0.5, -0.5],
        [-1, 1],
        [2, -2],
        [0.5, -0.5],
    ]
    assert game.initial().play("heads").play("right").play("A_B").payoffs == [0.5, -0.5]
    assert len(unfold(game).sides[0].keys) == 1


def live_trees():
    gc.collect()
    return sum(issubclass(type(each), Tree) for each in gc.get_objects())


def distinct_trees(tmp_path, count):
    """Names of games that differ by a payoff."""
    for number in range(count):
        (tmp_path / f"{number}.efg").write_text(STRIPPED.replace("{ 3 -3 }", f"{{ {number + 3} {-number - 3} }}"))
        yield f"efg:{tmp_path / str(number)}.efg"


def test_trees_that_nobody_uses_are_forgotten(tmp_path):
    before = live_trees()
    for name in distinct_trees(tmp_path, 3 * REMEMBERED):
        assert load(name).facts.seats == 2
    assert live_trees() - before <= REMEMBERED


def test_a_process_of_the_server_forgets_games_that_are_no_longer_played(tmp_path):
    pytest.importorskip("fastapi")
    from kibitz.app.web.desk import GAMES, Desk, Request

    desk, before = Desk(), live_trees()
    for name in distinct_trees(tmp_path, 3 * REMEMBERED):
        with pytest.raises(BadInput):  # a review of no record: the game is all that it loads
            list(desk.answers(Request("review", "t/1", name, "random", 0, 1, [])))
    assert live_trees() - before <= REMEMBERED + GAMES


def test_numbers_are_exact():
    assert list(map(str, efg.fractions([1 / 3] * 3))) == ["1/3"] * 3
    odd = efg.fractions([0.1, 0.2, 0.7000000000000001])
    assert sum(odd) == 1
    assert efg._decimal(-1e-7) == "-0.0000001"
    assert efg._decimal(0.1 + 0.2) == "0.30000000000000004"


@pytest.mark.parametrize(
    ("old", "new", "line", "said"),
    [
        ("EFG 2 R", "NFG 1 R", 1, "should begin with EFG 2 R"),
        ("2/3", "1/3", 3, "sum to 0.666667, not 1"),
        ("2/3", "2/0", 3, "divided by zero"),
        ("2/3", "nan", 3, "should be a number"),
        ("{ 1.5 -1.5 }", "{ 1.5 }", 7, "2 payoffs are expected, not 1"),
        ('p "" 2 1', 'p "" 3 1', 6, "from 1 to 2"),
        ('t "" 2\n', 't "" 9\n', 10, "outcome 9 has no payoffs"),
        ('p "" 1 1 0', 'p "" 1 2 0', 9, "infoset 2 has no actions"),
        ('p "" 1 1 0', 'p "" 1 1 "" { "left" "middle" } 0', 9, "other actions here than before"),
        ('t "" 2\nt "" 3\n', 't "" 2\n', 11, "the file ends within the tree"),
        ('t "" 0', "x", 8, "should begin with c, p or t"),
        ('"a comment"', '"a comment', 3, "should begin with c, p or t, not 'root'"),
        ('t "" 3\n', 't "" 3\nt "" 3\n', 12, "comes after the tree"),
    ],
)
def test_a_damaged_file_is_one_line_with_its_place(old, new, line, said, tmp_path):
    path = tmp_path / "bad.efg"
    path.write_text(STRIPPED.replace(old, new) if old != 't "" 3\n' else STRIPPED + 't "" 3\n')
    with pytest.raises(BadInput) as error:
        load(f"efg:{path}")
    assert said in str(error.value)
    assert f"bad.efg:{line}:" in str(error.value)


def test_what_is_no_file_of_gambit_is_refused(tmp_path, monkeypatch):
    for name in ("efg:", f"efg:{tmp_path}", f"efg:{tmp_path / 'none.efg'}"):
        with pytest.raises(BadInput):
            load(name)
    (tmp_path / "binary.efg").write_bytes(bytes(range(256)))
    with pytest.raises(BadInput, match="isn't text"):
        load(f"efg:{tmp_path / 'binary.efg'}")
    (tmp_path / "coin.efg").write_text(STRIPPED)
    monkeypatch.setattr(efg, "MAX_NODES", 5)
    with pytest.raises(BadInput, match="more than 5 nodes"):
        load(f"efg:{tmp_path / 'coin.efg'}")
    with pytest.raises(BadInput, match=r"hex:size=3 is too large for an \.efg file"):
        efg.write(load("hex:3"), tmp_path / "x.efg", max_nodes=100)


def test_random_damage_never_escapes(tmp_path):
    path, _ = written(tmp_path, "kuhn")
    text, rng = path.read_text(), np.random.default_rng(1)
    for _ in range(300):
        place, length = rng.integers(len(text)), rng.integers(1, 8)
        path.write_text(text[:place] + "".join(rng.choice(list('{}"cpt019/-., \n'), 2)) + text[place + length :])
        with suppress(BadInput):
            game = load(f"efg:{path}")
            assert legal_actions(game, positions(game)[0])


GAMBIT = """
import sys, pygambit
game = pygambit.read_efg(sys.argv[1])
found = pygambit.nash.lp_solve(game, rational=False).equilibria[0]
print(float(found.payoff(list(game.players)[0])))
"""


@pytest.mark.parametrize(("name", "iterations"), [("kuhn", 2000), ("goofspiel:3", 2000), ("liars_dice:faces=2", 2000)])
def test_gambit_agrees_in_value(name, iterations, tmp_path):
    """GAMBIT_PYTHON names an interpreter that has pygambit, where this one hasn't."""
    python = os.environ.get("GAMBIT_PYTHON", sys.executable)
    if subprocess.run([python, "-c", "import pygambit"], capture_output=True, check=False).returncode:
        pytest.skip("pygambit is not installed")
    path, _ = written(tmp_path, name)
    found = subprocess.run([python, "-c", GAMBIT, str(path)], capture_output=True, text=True, check=True)
    solution = kibitz.solve(name, "pcfr+", iterations)
    assert float(found.stdout) == pytest.approx(solution.value, abs=1e-4)
    assert -solution.exploitability.best[1] - 1e-9 <= float(found.stdout) <= solution.exploitability.best[0] + 1e-9
