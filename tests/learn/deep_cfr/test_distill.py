"""Distillation: samples are what the table plays, and the network comes to play as the table does."""

import numpy as np
import pytest
import torch

import kibitz
from kibitz import games
from kibitz.core.names import BadInput
from kibitz.core.progress import SILENT
from kibitz.games import load
from kibitz.poker.gpu import pcs_runs
from kibitz.poker.learn.distill import Distill, DistillConfig
from kibitz.poker.learn.table_samples import TableSamples
from kibitz.poker.rules.encoding import PACKED, unpack
from kibitz.poker.solve import abstraction_runs
from kibitz.poker.solve.betting_tree import FOLD
from kibitz.poker.solve.files import read_strategy_of
from kibitz.search.strategy import uniform_strategy
from kibitz.train import trainer
from kibitz.train.deep_cfr.average import encoded, in_order
from kibitz.train.deep_cfr.networks import Model, new_weights, read_model, save_model

GAME = "holdem:flop,ranks=4,suits=2,raises=1,preflop_raises=1"
FOUR = "holdem:ranks=4,suits=3,raises=1,preflop_raises=1"  # all four streets


@pytest.fixture(scope="module")
def solved(tmp_path_factory):
    """Runs of public chance sampling: without abstraction, and with one and four streets."""
    folder = tmp_path_factory.mktemp("solved")
    pcs_runs.solve_run(pcs_runs.new_run(load(GAME), None, 3000, folder=folder / "lossless"), threads=1)
    abstraction_runs.compute(abstraction_runs.new_run(load(FOUR), "5-5-5", folder=folder / "buckets"), threads=1)
    pcs_runs.solve_run(pcs_runs.new_run(load(FOUR), folder / "buckets", 30, folder=folder / "abstract"), threads=1)
    return folder


@pytest.fixture(scope="module")
def tables(solved):
    """Strategies by game."""
    return {
        name: read_strategy_of(solved / folder / "strategy.safetensors", load(name))
        for name, folder in ((GAME, "lossless"), (FOUR, "abstract"))
    }


def states_of(game, views):
    """The positions of packed views."""
    packed = np.ascontiguousarray(views.numpy()).view(PACKED).reshape(len(views))
    states = np.zeros(len(packed), game.state)
    for each, state in zip(packed, states, strict=True):
        assert unpack(game, each, state) == game.turn(state)
    return states


@pytest.mark.parametrize("name", [GAME, FOUR])
def test_samples_have_the_probabilities_of_the_table(tables, name):
    game, strategy = load(name), tables[name]
    source = TableSamples(strategy, "cpu", 0.4, 0.0, 1)
    rows = source.rows(200, torch.Generator().manual_seed(1))
    assert source.streets == list(range(1, game.streets))
    for street, each in zip([0, *source.streets], [source.preflop()[0], *rows], strict=True):
        states = states_of(game, each.views)
        assert set(states["street"].tolist()) == {street}
        _, legal = encoded(game, states)
        values = each.values.numpy()
        assert (legal == ~np.isnan(values)).all()
        assert in_order(np.nan_to_num(values), legal) == pytest.approx(strategy.action_probs(states), abs=1e-6)
        assert street == 0 or len(each.views) == 200


def test_seats_that_explore_reach_all_lines_without_a_fold(tables):
    source, tree = TableSamples(tables[FOUR], "cpu", 1.0, 0.0, 1), tables[FOUR].tree
    nodes = source.play(4000, torch.Generator().manual_seed(1)).nodes.numpy()
    assert set(np.unique(nodes[tree.choices[nodes] > 0])) == set(np.flatnonzero(tree.choices))
    assert (tree.seat[nodes] != FOLD).all()


def test_before_the_flop_decisions_count_as_often_as_they_are_reached(tables):
    source = TableSamples(tables[GAME], "cpu", 0.3, 0.0, 1)
    rows, weights = source.preflop()
    game = load(GAME)
    by_line = {}
    for line, weight in zip(states_of(game, rows.views)["line"].tolist(), weights.tolist(), strict=True):
        by_line[line] = by_line.get(line, 0) + weight
    nodes = source.play(20_000, torch.Generator().manual_seed(1)).nodes
    before = nodes[(source.choices[nodes] > 0) & (source.street[nodes] == 0)]
    lines, counts = np.unique(source.line[before].numpy(), return_counts=True)
    assert dict(zip(lines.tolist(), counts / counts.sum(), strict=True)) == pytest.approx(by_line, abs=0.02)
    best = states_of(game, rows.views[:1])[0]
    assert sorted(best["hole"][int(game.turn(best))]) == [12, 13]  # of four ranks, 3 in two suits


def test_boards_that_are_held_out_are_not_learned_from(tables):
    source = TableSamples(tables[FOUR], "cpu", 0.4, 0.1, 1)
    game, found = load(FOUR), []
    for held_out in (False, True):
        rows = source.rows(300, torch.Generator().manual_seed(1), held_out)
        boards = [states_of(game, each.views)["board"].astype(np.int64) for each in rows]
        found.append([set(source.canonical(torch.from_numpy(numbers(source, each)))[0].tolist()) for each in boards])
    for street, learned, apart in zip(source.streets, *found, strict=True):
        assert not learned & apart
        assert len(apart) <= round(0.1 * len(source.keys[street]))


def numbers(source, boards):
    """Cards by their numbers in the deck, as far as boards are dealt."""
    shown = boards[:, boards[0] >= 0]
    return np.searchsorted(source.codes.numpy(), shown)


def test_the_network_plays_as_the_table_does(solved, tmp_path):
    """Exact exploitability: close to the table's, and far from that of an untrained network."""
    sizes = {"iterations": 60, "hidden": 32, "samples": 512, "batch_size": 256, "evaluate_every": 60}
    config = trainer.configured("distill", GAME, "small", sizes | {"from_": str(solved / "lossless")})
    run = trainer.new_run(tmp_path / "run", "distill", config)
    trainer.train(run)
    first, last = (run.read_lines()[i] for i in (0, -1))
    table = kibitz.exploit(GAME, solved / "lossless").nash_conv
    assert kibitz.exploit(GAME, f"net:{run.folder}").nash_conv == pytest.approx(last["nash_conv"], abs=0.01)
    assert table < last["nash_conv"] < table + 0.15 < 0.5 * first["nash_conv"]
    assert last["kl"] < 0.05 < first["kl"]
    assert last["agreement"] > 0.9
    assert last["aces_raise"] == pytest.approx(last["aces_raise_table"], abs=0.05)
    assert last["cross_entropy"] == pytest.approx(np.mean([last["cross_entropy_1"], last["cross_entropy_2"]]))


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_a_gpu_learns_as_a_cpu_does_and_resumes(solved, tmp_path):
    found = []
    for device, iterations in (("cpu", 6), ("cuda", 6), ("cuda", 3)):
        values = {"from_": str(solved / "abstract"), "device": device, "iterations": 6, "held_out": 0.1}
        run = trainer.new_run(tmp_path / f"{device}-{iterations}", "distill",
                              trainer.configured("distill", FOUR, "small", values | {"evaluate_every": 6}))  # fmt: skip
        learner = Distill(trainer.config_of(run), load(FOUR))
        for iteration in range(1, iterations + 1):
            learner.learn(iteration, None, SILENT)
        if iterations == 3:
            run.path("half").mkdir()
            learner.save(run.path("half"))
            learner = Distill(trainer.config_of(run), load(FOUR))
            learner.restore(run.path("half"))
            for iteration in range(4, 7):
                learner.learn(iteration, None, SILENT)
        found.append(learner.evaluate())
    cpu, whole, resumed = found
    assert whole["kl"] == pytest.approx(cpu["kl"], rel=0.3)
    assert resumed["kl"] == pytest.approx(whole["kl"], rel=0.02)


def test_a_network_of_both_seats_is_written_once(tmp_path):
    game = load("holdem")
    config = DistillConfig("holdem")
    shape = config.shape(game)
    network = [new_weights(shape, np.random.default_rng(1))]
    model = Model("holdem", games.full_name(config.seen(game)), "test", "network", "argmax", shape, (network,) * 2,
                  np.ones(1))  # fmt: skip
    save_model(tmp_path / "shared", model, np.float16)
    assert (tmp_path / "shared").stat().st_size < 2_000_000
    found = read_model(tmp_path / "shared", game)
    assert all((found.seats[0][0][name] == found.seats[1][0][name]).all() for name in shape.shapes())
    assert found.seats[0][0]["head.weights"] == pytest.approx(network[0]["head.weights"], abs=1e-4)
    kept = model._replace(seats=(network, list(network)))
    save_model(tmp_path / "twice", kept, np.float16)
    assert (tmp_path / "twice").stat().st_size > 1.9 * (tmp_path / "shared").stat().st_size


def test_what_can_not_be_learned_from_is_refused_in_one_line(solved, tmp_path):
    def refused(game, source, **values):
        with pytest.raises(BadInput) as error:
            trainer.configured("distill", game, None, {"from_": str(source)} | values)
        assert "\n" not in str(error.value)
        return str(error.value)

    (tmp_path / "empty").mkdir()
    uniform_strategy(load("kuhn")).save(tmp_path / "strategy.safetensors")
    (tmp_path / "text").write_text("no tensors")
    assert "name a run of kibitz solve --with pcs by --from" in refused(GAME, "")
    assert refused(GAME, tmp_path / "nowhere") == f"no strategy '{tmp_path}/nowhere'"
    assert refused(GAME, tmp_path / "empty") == f"{tmp_path}/empty has no strategy.safetensors in it"
    for other in (tmp_path, tmp_path / "text"):
        assert "is no table strategy: distill learns from a run of kibitz solve --with pcs" in refused(GAME, other)
    assert "is a strategy for holdem:" in refused("holdem", solved / "lossless")
    assert "distill is for holdem with inputs=0, not for leduc" in refused("leduc", solved / "lossless")
    assert "exploration" in refused(GAME, solved / "lossless", exploration=0.0)


def test_another_strategy_in_the_same_place_is_refused(solved, tmp_path):
    """A run goes on with what it began to learn from, only."""
    table = tmp_path / "table"
    pcs_runs.solve_run(pcs_runs.new_run(load(GAME), None, 5, folder=table), threads=1)
    sizes = {"iterations": 1, "steps": 1, "hidden": 4, "samples": 64, "batch_size": 8, "evaluation_samples": 16}
    run = trainer.new_run(
        tmp_path / "run", "distill", trainer.configured("distill", GAME, None, sizes | {"from_": str(table)})
    )
    trainer.train(run)
    pcs_runs.solve_run(pcs_runs.new_run(load(GAME), None, 9, folder=table), threads=1)
    with pytest.raises(BadInput, match=r"strategy\.safetensors is another strategy now than when the run was begun"):
        trainer.train(trainer.open_run(run.folder, 2))


def test_an_abstraction_that_is_missing_is_named(solved, tmp_path):
    (tmp_path / "strategy.safetensors").write_bytes((solved / "abstract" / "strategy.safetensors").read_bytes())
    config = trainer.configured("distill", FOUR, "small", {"from_": str(tmp_path)})
    with pytest.raises(BadInput, match=r"needs its card abstraction, .*, which is missing"):
        Distill(config, load(FOUR)).evaluate()
