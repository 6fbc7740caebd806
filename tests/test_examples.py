"""The examples are games, and the page that explains them is true."""

import ast
import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import linprog

from kibitz.games import OVER, legal_actions, load, positions
from kibitz.jit import generators, kernel, mix
from kibitz.nets.mlp import new_layers, save_layers, sizes_of

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "write-a-game.md").read_text()


def blocks(kind):
    return re.findall(rf"^```{re.escape(kind)}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def games_in(file):
    """The classes with the decorator `game`."""
    for node in ast.parse(file.read_text()).body:
        if isinstance(node, ast.ClassDef) and any("game(" in ast.unparse(each) for each in node.decorator_list):
            yield f"{file}:{node.name}"


POKER = f"{ROOT / 'examples' / 'von_neumann_poker.py'}:VonNeumannPoker"
EXAMPLES = [name for file in sorted((ROOT / "examples").glob("*.py")) for name in games_in(file)]


@kernel
def walk(game, state, view, world, again, notes, rng):
    """Play to the end at random; a key of the game, 0 if a view or a determinization contradicts the position."""
    key = np.uint64(1)
    while game.turn(state) != OVER:
        for seat in range(2):
            game.look(state, seat, view)
            if not game.determinize(view, seat, notes, rng, world):
                return np.uint64(0)
            game.look(world, seat, again)
            seen = game.infoset(state, seat)
            key = mix(key, seen)
            for other in (view, world, again):
                if game.infoset(other, seat) != seen or game.turn(other) != game.turn(state):
                    return np.uint64(0)
        action = game.sample_action(state, rng)
        game.play(state, action)
        key = mix(key, action)
    if game.payoff(state, 0) + game.payoff(state, 1) != 0:
        return np.uint64(0)
    return mix(key, int(1000 + game.payoff(state, 0)))


def keys(function, game):
    notes, found = np.zeros(game.facts.notes), []
    for rng in generators(3, 100):
        found.append(int(function(game, *positions(game, 4), notes, rng)))
    return found


def check(name):
    game = load(name)
    compiled = keys(walk, game)
    assert 0 not in compiled
    assert len(set(compiled)) > 20
    assert compiled == keys(getattr(walk, "py_func", walk), game)  # plain Python gives the same
    assert game.show(positions(game)[0], 0)


@pytest.mark.parametrize("name", EXAMPLES, ids=lambda name: name.rpartition(":")[2])
def test_an_example_is_a_game_compiled_and_in_plain_python(name):
    check(name)


def test_there_are_examples():
    assert EXAMPLES


def test_the_page_shows_the_whole_example():
    def lines(text):
        return [line.strip() for line in text.splitlines() if line.strip()]  # (the page shows methods unindented)

    example = (ROOT / "examples" / "von_neumann_poker.py").read_text()
    assert lines("".join(blocks("python von_neumann_poker.py"))) == lines(example)


def test_von_neumann_poker_determinizes_to_any_card_except_the_seats_own():
    poker = load(f"{POKER}:cards=4")
    view, world = positions(poker, 2)
    (rng,) = generators(1, 1)

    def determinized(seat, own, step):
        view.step = step
        view.cards[seat] = own
        view.cards[1 - seat] = -1
        found = set()
        for _ in range(100):
            assert poker.determinize(view, seat, np.zeros(1), rng, world)
            found.add(int(world.cards[1 - seat]))
        return found

    assert determinized(0, own=2, step=1) == {-1}  # seat 1 has no card yet
    assert determinized(1, own=-1, step=1) == {0, 1, 2, 3}
    for seat in range(2):
        assert determinized(seat, own=2, step=2) == {0, 1, 3}


def value(game):
    """The value of the game for seat 0, by a linear program.

    Its strategy is a probability to bet for each card; seat 1 then knows its card and the bet, and takes the answer
    that is worse for seat 0.
    """
    n = game.cards
    paid = np.zeros((3, n, n))  # of check, bet and fold, bet and call, for each pair of cards
    for i in range(n):
        for j in range(n):
            if i != j:
                for line, moves in enumerate(([0], [1, 0], [1, 1])):
                    (state,) = positions(game)
                    for action in (i, j, *moves):
                        assert action in legal_actions(game, state)
                        game.play(state, action)
                    assert game.turn(state) == OVER
                    paid[line, i, j] = game.payoff(state, 0) / (n * (n - 1))
    # Maximise check·(1 - p) + Σ_j worst_j over p and worst, where worst_j ≤ Σ_i p_i·paid[answer, i, j].
    cost = np.concatenate([paid[0].sum(axis=1), -np.ones(n)])
    bounds = np.vstack([np.hstack([-paid[answer].T, np.eye(n)]) for answer in (1, 2)])
    solved = linprog(cost, A_ub=bounds, b_ub=np.zeros(2 * n), bounds=[(0, 1)] * n + [(None, None)] * n)
    return paid[0].sum() - solved.fun


def test_von_neumann_poker_has_the_value_of_its_theory():
    """With more and more cards it converges to b / ((1 + b)(4 + b)): 1/9 for a bet of the pot, less for any other."""
    poker = type(load(POKER))
    small, pot, large = (value(poker(cards=20, bet=bet)) for bet in (1, 2, 4))
    for bet, found in ((1, small), (2, pot), (4, large)):
        assert found == pytest.approx(bet / ((1 + bet) * (4 + bet)), abs=0.01)
    assert pot > small
    assert pot > large
    assert value(poker()) == pytest.approx(1 / 9)  # as the page says


def test_a_game_and_a_player_of_ones_own_in_one_short_script():
    script = ROOT / "examples" / "own_game_and_player.py"
    assert len(script.read_text().splitlines()) < 60
    found = subprocess.run([sys.executable, script], cwd=ROOT, capture_output=True, text=True, check=True, timeout=300)
    assert re.search(r"^take 1 +100.0% +\+?1.000", found.stdout, re.MULTILINE)
    assert "20 games of nim" in found.stdout
    assert "random" in found.stdout


# ---------------------------------------------------------------- scripts, at a small scale


def script(name):
    """The module of an example."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "examples" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_script_is_run_here_and_named_in_the_index():
    scripts = {file.stem for file in (ROOT / "examples").glob("*.py") if "__main__" in file.read_text()}
    tested = set(re.findall(r'script\("(\w+)"\)', Path(__file__).read_text())) | {"own_game_and_player"}
    index = (ROOT / "docs" / "README.md").read_text()
    assert scripts == tested
    assert [name for name in scripts if f"(../examples/{name}.py)" not in index] == []


def test_solve_and_plot(tmp_path, capsys):
    found = script("solve_and_plot").main("kuhn", 100, tmp_path)
    assert all(solution.nash_conv < 0.2 for solution in found.values())
    assert found["cfr+"].value == pytest.approx(-1 / 18, abs=0.01)
    assert (tmp_path / "convergence.png").read_bytes()[:4] == b"\x89PNG"
    assert len(re.findall(r"^  \w+: [\d.]+%$", capsys.readouterr().out, re.MULTILINE)) == 2


def test_mirror_descent(tmp_path, capsys):
    found = script("mirror_descent").main(["kuhn"], 1000, tmp_path)
    assert found["kuhn"] < 0.01
    assert "CFR, last iterate" in capsys.readouterr().out
    assert (tmp_path / "mmd-exact.png").stat().st_size > 10_000


def test_mirror_descent_search(tmp_path, capsys):
    game, generator = load("kuhn"), np.random.default_rng(1)
    save_layers(tmp_path / "network.safetensors", game, new_layers(sizes_of(game, [8]), generator))
    found = script("mirror_descent_search").main("kuhn", str(tmp_path), etas=(1,), alphas=(0,))
    assert found[1, 0] < found[0, 0] / 2  # from an untrained network, a step towards equilibrium
    assert f"network alone: {found[0, 0]:.4f}" in capsys.readouterr().out


def test_train_and_watch(tmp_path, capsys):
    run = script("train_and_watch").main("kuhn", tmp_path, iterations=3, simulations=100, evaluate_every=1)
    assert (tmp_path / "training.png").exists()
    out = capsys.readouterr().out
    assert re.findall(r"^iteration (\d)", out, re.MULTILINE)[-1] == "3"
    assert out.count("games: NashConv ") == len([line for line in run.metrics if "nash_conv" in line]) >= 2
    assert f"kibitz play kuhn --against net:{tmp_path / 'run'}" in out


def test_match_with_intervals(capsys):
    found, naive = script("match_with_intervals").main("leduc", ("always:call", "random"), (20, 60))
    assert found.result.games == 60
    out = capsys.readouterr().out
    assert f"± {found.payoff.margin:.3f} over 30 pairs, ± {naive.margin:.3f} over 60 deals played once" in out


def test_explain_a_policy(capsys):
    best, advice = script("explain_a_policy").main()
    assert best[0]["move"] == "e7"  # blocks four in a row
    assert best[0]["prob"] == pytest.approx(advice.policy.max())
    assert "features:models/yavalath plays e7" in capsys.readouterr().out
