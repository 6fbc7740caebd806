"""Public trees: CFR and best responses on them equal those on the sequence form."""

import numpy as np
import pytest

from kibitz import BadInput
from kibitz.core import memory
from kibitz.games import load
from kibitz.games.game import is_split
from kibitz.search.strategy import normalised
from kibitz.solve import solvers
from kibitz.solve.best_response import evaluate
from kibitz.solve.cfr import Cfr
from kibitz.solve.public_tree import tree as public_tree
from kibitz.solve.public_tree.cfr import METHODS, VectorCfr
from kibitz.solve.public_tree.table import FORMAT, read_public_strategy
from kibitz.solve.public_tree.tree import PublicTree, is_large
from kibitz.solve.public_tree.values import evaluate_answers, evaluate_tables

GAMES = ["kuhn", "leduc", "liars_dice:faces=4"]


@pytest.fixture(scope="module", params=GAMES)
def pair(request):
    """A solver on the sequence form, for its form, and the public tree, cut into many subtrees."""
    game = load(request.param)
    return Cfr(game, "cfr+"), PublicTree(game, subtree=5)


def random_strategy(form):
    counts = np.concatenate([np.diff(side.first) for side in form.sides])
    keys = np.concatenate([side.keys for side in form.sides])
    weights = np.random.default_rng(1).random(int(counts.sum())) ** 3
    return normalised(form.game, keys, counts, weights)


def test_the_tree_has_the_infosets_of_the_sequence_form(pair):
    solver, tree = pair
    assert tree.infosets == solver.form.infosets
    assert tree.deals.sum() == pytest.approx(1)
    inside = int(tree.subtrees.size[:, 0].sum())
    assert 0 < inside <= tree.nodes
    assert tree.subtrees.size[:, 0].max() <= 5
    assert len(tree.subtrees.length) > 1 or tree.nodes <= 5
    assert [each for batch in tree.batches(8) for each in batch] == list(range(len(tree.subtrees.length)))


def test_liars_dice_has_the_published_number_of_infosets():
    assert PublicTree(load("liars_dice:dice=2,faces=5")).infosets == 15_728_640


@pytest.mark.parametrize("method", METHODS)
def test_cfr_equals_that_on_the_sequence_form(pair, method):
    slow = Cfr(pair[0].game, method, pair[0].form)
    fast = VectorCfr(pair[0].game, method, threads=1, tree=pair[1])
    slow.run(40)
    fast.run(40)
    expected, found = evaluate(slow.form, slow.strategy()), fast.evaluate()
    assert found.nash_conv == pytest.approx(expected.nash_conv, abs=1e-9)
    assert found.value == pytest.approx(expected.value, abs=1e-9)
    strategy = fast.strategy()
    for views in slow.form.views:
        np.testing.assert_allclose(strategy.action_probs(views), slow.strategy().action_probs(views), atol=1e-4)


def test_best_responses_equal_those_on_the_sequence_form(pair):
    solver, tree = pair
    strategy = random_strategy(solver.form)
    expected = evaluate(solver.form, strategy)
    asked = []

    def answer(views):
        asked.append(len(views))
        return strategy.action_probs(views)

    for answers in ([answer], [answer] * 3):
        found = evaluate_answers(tree, answers)
        np.testing.assert_allclose([found.value, *found.best], [expected.value, *expected.best], atol=1e-12)
    assert sum(asked) == 2 * tree.infosets


def test_threads_make_no_difference():
    game = load("liars_dice:faces=4")
    one, two = (VectorCfr(game, threads=threads, tree=PublicTree(game, subtree=3)) for threads in (1, 3))
    for solver in (one, two):
        solver.run(5)
    assert all(np.array_equal(*tables) for tables in zip(one.tables, two.tables, strict=True))
    assert one.evaluate() == two.evaluate()


def test_single_precision_is_close_to_double(monkeypatch):
    game = load("liars_dice:faces=4")
    double = VectorCfr(game)
    monkeypatch.setattr("kibitz.solve.public_tree.cfr.DOUBLE", 0)
    single = VectorCfr(game)
    assert (double.tables.regrets.dtype, single.tables.regrets.dtype) == (np.float64, np.float32)
    double.run(20)
    single.run(20)
    assert single.evaluate().nash_conv == pytest.approx(double.evaluate().nash_conv, abs=1e-5)


def test_regrets_too_small_for_single_precision_do_no_harm(monkeypatch):
    monkeypatch.setattr("kibitz.solve.public_tree.cfr.DOUBLE", 0)
    solver = VectorCfr(load("liars_dice:faces=4"))
    solver.tables.regrets[:] = 1e-42  # its inverse is infinite in single precision
    solver.tables.regrets[::2] = 0
    solver.run(5)
    assert np.isfinite(solver.tables.regrets).all()
    assert np.isfinite(solver.evaluate().nash_conv)


def test_only_large_games_with_a_public_tree_are_solved_on_it(monkeypatch):
    assert is_large(load("liars_dice:2"))
    assert not is_large(load("liars_dice"))
    assert not is_split(load("goofspiel:13"))
    assert not is_large(load("goofspiel:13"))
    monkeypatch.setattr(public_tree, "MANY_LEAVES", 10)
    solver, form = solvers.new_solver(load("kuhn"), "cfr+")
    assert isinstance(solver, VectorCfr)
    assert form is None
    last = list(solvers.solve(solver, form, 100))[-1]
    assert 0 < last.nash_conv < 0.01


def test_what_has_no_public_tree_or_a_too_large_one_is_refused(monkeypatch):
    with pytest.raises(BadInput, match=r"goofspiel:cards=3 declares no public tree: it has no rule private_state"):
        PublicTree(load("goofspiel:3"))
    with pytest.raises(BadInput, match=r"pcfr\+ is for the sequence form; on the public tree there are cfr, cfr\+"):
        VectorCfr(load("kuhn"), "pcfr+")
    with pytest.raises(BadInput, match="a strategy of kuhn should be \\[8, 3\\] numbers"):
        evaluate_tables(PublicTree(load("kuhn")), np.ones((3, 8)))
    with pytest.raises(BadInput, match=r"a strategy should give .* probabilities that sum to 1"):
        evaluate_answers(PublicTree(load("kuhn")), [lambda views: np.zeros((len(views), 2))])
    with monkeypatch.context() as patch:
        patch.setattr(public_tree, "MAX_NODES", 3)
        with pytest.raises(BadInput, match="kuhn is too large: it has more than 3 public states"):
            PublicTree(load("kuhn"))
    with monkeypatch.context() as patch:
        patch.setattr(public_tree, "MAX_DEALS", 5)
        with pytest.raises(BadInput, match="kuhn is too large: chance has more than 5 ways to begin it"):
            PublicTree(load("kuhn"))
    tree = PublicTree(load("kuhn"))
    monkeypatch.setattr(memory, "limit", lambda: 100)
    with pytest.raises(BadInput, match=r"kuhn with 12 infosets needs .* of memory or more"):
        VectorCfr(load("kuhn"), tree=tree)


def test_a_strategy_file_holds_the_strategy_and_damage_is_refused(tmp_path):
    game, path = load("kuhn"), tmp_path / "strategy.safetensors"
    solver = VectorCfr(game)
    solver.run(30)
    solver.strategy().save(path)
    assert FORMAT.fits(path)
    read = read_public_strategy(path, game, whole=True)
    found = evaluate_tables(solver.tree, read.parts)
    assert found.nash_conv == pytest.approx(solver.evaluate().nash_conv, abs=1e-4)
    for views in solver.tree.views[:1]:
        probs = read.action_probs(views)
        np.testing.assert_allclose(probs.sum(axis=1), 1)
        np.testing.assert_allclose(probs, solver.strategy().action_probs(views))
    with pytest.raises(BadInput, match="is a strategy for kuhn, not for leduc"):
        read_public_strategy(path, load("leduc"))
    whole = path.read_bytes()
    path.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    with pytest.raises(BadInput, match="its checksum is wrong"):
        read_public_strategy(path, game, whole=True)
    path.write_bytes(whole[:-20])
    with pytest.raises(BadInput, match=r"strategy\.safetensors can't be read"):
        read_public_strategy(path, game)
