"""CFR-BR: the opponents' answers are best responses, and a strategy in an abstraction is less exploitable by it."""

import json
from itertools import combinations

import numpy as np
import pytest
import torch

import kibitz
from kibitz.games import load
from kibitz.poker.gpu.cfr_br import CfrBr, Walk
from kibitz.poker.gpu.pcs_runs import PcsSolving, new_run, open_run, solve_run
from kibitz.poker.gpu.public_best_response import PublicBestResponse
from kibitz.poker.gpu.public_levels import levels
from kibitz.poker.gpu.public_tree_cfr import PublicTreeCfr
from kibitz.poker.solve.buckets import buckets_of, lossless
from kibitz.poker.solve.cards import cards_of
from kibitz.poker.solve.strategy import TableStrategy
from kibitz.solve.sequence_form import unfold

from ..search.exact import regrets_by_sequence

LONG = "holdem:streets=3,ranks=4,suits=2"


def solver_of(name, **options):
    game = load(name)
    return CfrBr(game, lossless(cards_of(game)), **options)


def best_response(solver):
    response = PublicBestResponse(
        TableStrategy(solver.game, solver.tree, solver.buckets, solver.first, solver.sums.numpy())
    )
    response.run()
    return response


def test_the_first_opponents_are_best_responses_to_players_who_choose_at_random():
    solver = solver_of("leduc")
    solver.run(1)
    assert solver.opponents_win() == pytest.approx(best_response(solver).nash_conv(), rel=1e-6)
    assert solver.opponents_win() == pytest.approx(2 * 2.373611, rel=1e-5)  # published


@pytest.mark.parametrize("name", ["leduc", LONG, f"{LONG},stack=40"])
def test_learners_lose_what_opponents_win(name):
    solver = solver_of(name)
    for iteration in (1, 2, 3):
        solver.iterations = iteration
        found = solver.sampled(iteration)
        walk = Walk(solver, found, float(iteration))
        won = [float(each.double().sum()) for each in walk.answer(solver.root, found.start())]
        values = [float(each.double().sum()) for each in walk.update(solver.root, found.start())]
        assert values == pytest.approx([-won[1], -won[0]], rel=1e-4, abs=1e-3 * max(map(abs, won)))
        assert not walk.strategies
        assert not walk.answers


def test_answers_below_a_flop_are_those_of_a_best_response():
    solver = solver_of(LONG)
    response = best_response(solver)  # of both to players who choose at random: values before the flop
    totals = []
    for flop in response.flops:
        found = levels(solver.buckets, flop.board[None], "cpu")
        found.apart = solver.trunk_buckets(found)
        walk, values = Walk(solver, found, 0.0), []
        answer = walk.answer

        def seen(street, reach, values=values, answer=answer):
            below = answer(street, reach)
            if street.number == 1:
                values.append([each.double().sum(2)[0].numpy() for each in below])
            return below

        walk.answer = seen
        walk.answer(solver.root, found.start())
        totals.append(len(flop.images) * np.array(values)[0])
    share = found.pairs / float((response._moved(response._possible([flop], 1)).batch.meets).sum())
    wanted = response.sums.sum(2)
    assert sum(totals) == pytest.approx(wanted * share, rel=1e-4)


def test_the_expected_update_of_the_trunk_over_all_flops_is_the_exact_counterfactual_regret():
    """An opponent plays by its regrets in the trunk, and below it a best response to the learner."""
    game = load(f"{LONG},raises=1,preflop_raises=1")
    cards, random, form = cards_of(game), np.random.default_rng(1), unfold(game)
    solver = CfrBr(game, lossless(cards))
    solver.regrets[:] = torch.from_numpy(random.normal(size=len(solver.regrets)))
    before = torch.from_numpy(random.normal(size=len(solver.trunk)).astype(np.float32))
    added, flops = np.zeros(len(before)), np.array(list(combinations(range(cards.deck), 3)))
    for flop in flops:
        solver.trunk[:] = before
        found = levels(solver.buckets, flop[None], "cpu")
        found.apart = solver.trunk_buckets(found)
        Walk(solver, found, 1.0).answer(solver.root, found.start())
        added += (solver.trunk - before).numpy() / (len(flops) * found.pairs)
    matched = TableStrategy(game, solver.tree, solver.buckets, solver.first, solver.regrets.clamp_min(0).numpy())
    opponent = TableStrategy(game, solver.tree, solver._lossless, solver._trunk_first, before.clamp_min(0).numpy())
    learner, exact = matched.on(form), np.zeros(len(before))
    for seat, side in enumerate(form.sides):
        trunk = form.views[seat]["street"] == 0
        probs, (_, at) = opponent.action_probs(form.views[seat][trunk]), opponent.places(form.views[seat][trunk])
        own, places = np.zeros(side.sequences), np.flatnonzero(trunk)
        for infoset, row in zip(places, probs, strict=True):
            here = slice(side.first[infoset], side.first[infoset + 1])
            own[here] = row[: here.stop - here.start]
        regrets = regrets_by_sequence(form, seat, own, learner.behaviour(form.sides[1 - seat]), ~trunk)
        for infoset, start in zip(places, at, strict=True):
            mine = regrets[side.first[infoset] : side.first[infoset + 1]]
            exact[start : start + len(mine)] += mine  # hands that a permutation of suits makes equal are added up
    assert np.abs(exact).max() > 0.01
    assert added == pytest.approx(exact, abs=1e-6)


def test_an_abstraction_costs_less_than_with_cfr():
    game = load("leduc")
    cards = cards_of(game)
    fine = cards.lossless(1)
    paired = np.where(fine < 0, -1, fine // cards.ranks == fine % cards.ranks)  # only whether there is a pair
    buckets = buckets_of(cards, {1: paired})
    found = {}
    for solver, iterations in ((PublicTreeCfr(game, buckets), 60), (CfrBr(game, buckets), 120)):
        solver.run(iterations)
        found[type(solver)] = best_response(solver).nash_conv()
    assert found[CfrBr] < 0.8 * found[PublicTreeCfr]


def test_a_run_starts_from_the_average_strategy_of_another(tmp_path):
    game = load("leduc")
    before = solve_run(new_run(game, iterations=2000, folder=tmp_path / "pcs")).metrics
    solve_run(new_run(game, iterations=1, folder=tmp_path / "run", method="cfr-br", start=tmp_path / "pcs"))
    found = solve_run(open_run(tmp_path / "run", 2)).metrics  # resumed
    lines = (tmp_path / "run" / "metrics.jsonl").read_text().splitlines()
    assert json.loads(lines[0])["opponents_win"] == pytest.approx(before["nash_conv"], rel=1e-4)
    assert found["nash_conv"] < 2 * before["nash_conv"] < 1
    with pytest.raises(kibitz.BadInput, match="holds another run, whose from is"):
        new_run(game, iterations=3, folder=tmp_path / "run", method="cfr-br")
    data = bytearray((tmp_path / "pcs" / "state.safetensors").read_bytes())
    data[-3] ^= 1
    (tmp_path / "pcs" / "state.safetensors").unlink()
    (tmp_path / "pcs" / "state.safetensors").write_bytes(data)
    with pytest.raises(kibitz.BadInput, match=r"start.safetensors can't be read as checkpoint.*checksum is wrong"):
        solve_run(new_run(game, iterations=1, folder=tmp_path / "bad", method="cfr-br", start=tmp_path / "pcs"))


def test_opponents_start_in_the_trunk_with_the_strategy_of_the_run(tmp_path):
    game = load(LONG)
    solve_run(new_run(game, iterations=200, folder=tmp_path / "pcs"))
    run = new_run(game, iterations=1, folder=tmp_path / "run", method="cfr-br", start=tmp_path / "pcs")
    work = PcsSolving(run, run.config(), game, 1)
    work.restore()
    solver = work.solver.solver
    for node in np.flatnonzero((solver.tree.street == 0) & (solver.tree.choices > 0)):
        size = int(solver.tree.choices[node]) * solver.buckets.counts[0]
        learner, opponent = (
            each[first[node] :][:size]
            for each, first in ((solver.regrets, solver.first), (solver.trunk, solver._trunk_first))
        )
        assert torch.equal(learner, opponent)
        assert float(opponent.max()) > 0
    other = new_run(
        game, iterations=1, folder=tmp_path / "other", method="cfr-br", start=tmp_path / "pcs", start_weight=30
    )
    more = PcsSolving(other, other.config(), game, 1)
    more.restore()
    assert torch.allclose(3 * solver.regrets, more.solver.solver.regrets)


def test_hands_of_one_bucket_start_alike_in_the_trunk():
    game = load(LONG)
    cards = cards_of(game)
    fine = cards.lossless(0)
    solver = CfrBr(game, buckets_of(cards, {0: fine // 3}))
    regrets = np.arange(len(solver.regrets), dtype=np.float32)
    found = solver.start_trunk(regrets, solver.first)
    for node in np.flatnonzero((solver.tree.street == 0) & (solver.tree.choices > 0)):
        n, first, start = int(solver.tree.choices[node]), solver.first[node], solver._trunk_first[node]
        for hand in range(int(fine.max()) + 1):
            wanted = regrets[first + hand // 3 * n :][:n]
            assert found[start + hand * n :][:n].tolist() == wanted.tolist()


def test_what_does_not_fit_is_refused(tmp_path):
    game, folder = load("leduc"), tmp_path / "run"
    solve_run(new_run(game, iterations=1, folder=tmp_path / "pcs"))
    for name, options, words in (
        ("holdem:streets=1,ranks=3,suits=2", {}, "has no board: cfr-br is for games of two streets or more"),
        ("leduc", {"boards": 3}, "boards = 3 is for cfr-br in longer games: in leduc it visits all"),
        (LONG, {"boards": "all"}, "3 streets: all boards are visited in games of 2 only"),
        ("leduc", {"start": tmp_path}, "holds no run of pcs to start from"),
        ("leduc:ranks=4", {"start": tmp_path / "pcs"}, "is a run of leduc, not of leduc:ranks=4"),
    ):
        with pytest.raises(kibitz.BadInput, match=words):
            new_run(load(name), folder=folder, method="cfr-br", **options)
        assert not folder.exists()
