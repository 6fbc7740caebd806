"""CFR with public chance sampling: cards up to suit isomorphism, betting trees, convergence to known equilibria."""

import math
from itertools import combinations

import numpy as np
import pytest

import kibitz
from kibitz.games import load
from kibitz.poker.best_response import evaluate_hands
from kibitz.poker.gpu.public_chance import TorchPublicChanceCfr
from kibitz.poker.solve.betting_tree import FOLD, SHOWDOWN, betting_tree
from kibitz.poker.solve.buckets import lossless
from kibitz.poker.solve.cards import cards_of
from kibitz.poker.solve.clusters import BINS, Spec, Work, abstraction
from kibitz.poker.solve.files import read_buckets, read_table_strategy, save_buckets, save_strategy
from kibitz.poker.solve.solver import PublicChanceCfr
from kibitz.poker.solve.strategy import TableStrategy
from kibitz.solve.best_response import evaluate
from kibitz.solve.cfr import Cfr
from kibitz.solve.sequence_form import unfold

from .exact import regrets_by_sequence

SMALL = "holdem:flop,ranks=4,suits=2"


@pytest.fixture(scope="module")
def holdem():
    return cards_of(load("holdem"))


def strategy_of(solver):
    return TableStrategy(solver.game, solver.tree, solver.buckets, solver.tables.first, solver.probs())


def test_boards_and_hands_up_to_suits_as_published(holdem):
    """Known counts: 1,755 flops, 16,432 boards of four cards, 169 and 1,286,792 hands (Gilpin and Sandholm 2007)."""
    assert [len(holdem.classes(count)[0]) for count in (3, 4)] == [1755, 16432]
    assert holdem.classes(4)[1].sum() == 270725
    assert [int(holdem.lossless(street).max()) + 1 for street in (0, 1)] == [169, 1286792]


def test_a_permutation_of_suits_leaves_the_bucket(holdem):
    buckets = lossless(cards_of(load("holdem:flop")))
    random = np.random.default_rng(1)
    for _ in range(20):
        cards = random.permutation(52)[:5]
        order = holdem.suit_orders[random.integers(24)]
        found = []
        for each in (cards, holdem.permuted(cards, order)):
            hand = holdem.hand_index[each[0], each[1]]
            found.append(int(buckets.on(each[2:], 1)[hand]))
        assert found[0] == found[1] >= 0


def test_the_betting_tree_of_holdem_has_the_known_size(holdem):
    tree = betting_tree(load("holdem"), holdem)
    assert np.bincount(tree.street[tree.seat >= 0]).tolist() == [8, 70, 630, 5670]
    assert tree.payoff[tree.seat == SHOWDOWN].max() == 24
    folded = tree.payoff[tree.seat == FOLD]
    assert (folded.min(), folded.max()) == (-22, 22)


@pytest.mark.parametrize("name", ["leduc", "holdem:flop,ranks=4,suits=2,raises=1,preflop_raises=1"])
def test_the_expected_update_over_all_boards_is_the_exact_counterfactual_regret(name):
    game = load(name)
    cards = cards_of(game)
    solver = PublicChanceCfr(game, lossless(cards), threads=1)
    tables, form = solver.tables, unfold(game)
    before = np.random.default_rng(1).normal(size=len(tables.regrets)).astype(np.float32)
    boards = np.array(list(combinations(range(cards.deck), cards.dealt[-1])))
    added, sums = np.zeros(len(before)), np.zeros(len(before))
    for board in boards:
        tables.regrets[:], tables.sums[:] = before, 0.0
        solver.step(board, 1.0)
        added += tables.regrets - before
        sums += tables.sums
    left = cards.deck - cards.dealt[-1]
    added /= len(boards) * math.comb(left, cards.hole) * math.comb(left - cards.hole, cards.hole)
    matched = TableStrategy(game, solver.tree, solver.buckets, tables.first, np.maximum(before, 0.0))
    strategy, exact = matched.on(form), np.zeros(len(before))
    own = [strategy.behaviour(side) for side in form.sides]
    for seat, side in enumerate(form.sides):
        regrets = regrets_by_sequence(form, seat, own[seat], own[1 - seat])
        _, at = matched.places(form.views[seat])
        for infoset, start in enumerate(at):
            here = slice(side.first[infoset], side.first[infoset + 1])
            there = slice(start, start + here.stop - here.start)
            exact[there] += regrets[here]  # infosets that a permutation of suits makes equal are added up
            if sums[there].any():  # the seat comes there: the average of one iteration is its strategy
                assert sums[there] / sums[there].sum() == pytest.approx(own[seat][here], abs=1e-5)
    assert np.abs(exact).max() > 0.01
    assert added == pytest.approx(exact, abs=1e-6)


def test_leduc_converges_to_its_value():
    game = load("leduc")
    solver = PublicChanceCfr(game, lossless(cards_of(game)), threads=1)
    solver.run(3000)
    exact = Cfr(game, "cfr+")
    exact.run(500)
    value = evaluate(exact.form, exact.strategy()).value
    assert kibitz.exploit(game, strategy_of(solver)).nash_conv < 0.2
    tables, weight = PublicChanceCfr(game, solver.buckets, threads=1), 0.0
    tables.tables.regrets[:] = solver.probs()  # matched to the average strategy
    mean = np.mean([tables.step(np.array([board]), weight)[0].sum() for board in range(6)]) / (5 * 4)
    assert mean == pytest.approx(value, abs=0.03)


def test_hold_em_with_a_small_deck_converges_and_threads_change_nothing():
    game = load(SMALL)
    buckets = lossless(cards_of(game))
    one, two = (PublicChanceCfr(game, buckets, threads=threads) for threads in (1, 3))
    one.run(1500)
    two.run(100)
    assert evaluate_hands(game, strategy_of(one), 1).nash_conv / 2 < 0.15
    one = PublicChanceCfr(game, buckets, threads=1)
    one.run(100)
    assert np.array_equal(one.tables.regrets, two.tables.regrets)
    assert np.array_equal(one.tables.sums, two.tables.sums)


@pytest.mark.parametrize(
    "name", ["leduc", SMALL, "holdem:streets=3,ranks=4,suits=2,stack=40", "holdem:streets=1,ranks=3,suits=2"]
)
def test_torch_adds_the_same_to_the_tables(name):
    game = load(name)
    buckets = lossless(cards_of(game))
    one, two = PublicChanceCfr(game, buckets, threads=1), TorchPublicChanceCfr(game, buckets, boards=1)
    for iteration in range(1, 4):
        one.iterations = two.iterations = iteration
        board = one.sample(iteration)
        one.step(board, iteration)
        two.step(two.batch(*two.possible(board[None])), iteration)
    for node in np.flatnonzero(one.tree.choices):
        size = int(one.tree.choices[node]) * buckets.counts[one.tree.street[node]]
        here, there = one.tables.first[node], two.first[node]
        for mine, theirs in ((one.tables.regrets, two.regrets), (one.tables.sums, two.sums)):
            assert theirs.numpy()[there:][:size] == pytest.approx(mine[here:][:size], rel=1e-4, abs=1e-3)


def test_equities_against_ranges_are_those_of_all_pairs_of_hands():
    cards = cards_of(load("holdem:ranks=5,suits=3,streets=3"))
    work = Work(cards, Spec((4, 4)), 1, None, kibitz.core.progress.SILENT)
    keys = cards.classes(4)[0][:2]
    ranges = np.random.default_rng(1).random((2, len(cards.hands))).astype(np.float32)
    found, values = work._equities(keys, ranges), cards.values(work._boards(keys))
    for b, row in enumerate(values):
        for h in np.flatnonzero(row >= 0):
            weights = ranges * ((row >= 0) & (cards.held & cards.held[h] == 0))
            exact = (weights * ((row < row[h]) + 0.5 * (row == row[h]))).sum(axis=1) / weights.sum(axis=1)
            assert found[b, h] == pytest.approx(exact, abs=1e-5)


def test_histograms_are_those_of_all_boards_to_come():
    cards = cards_of(load("holdem:ranks=4,suits=2,streets=3"))
    work = Work(cards, Spec((4, 4)), 1, None, kibitz.core.progress.SILENT)
    key = cards.classes(3)[0][3:4]
    board = work._boards(key)[0]
    hands = np.flatnonzero(work._free(key)[0])
    everyone = np.ones((1, len(cards.hands)), np.float32)
    for row, hand in zip(work.histograms(key), hands, strict=True):
        counts = np.zeros(BINS)
        for card in range(cards.deck):
            if card not in board and not cards.held[hand] >> card & 1:
                full = np.array([np.bitwise_or.reduce(1 << np.array([*board, card]))])
                counts[min(int(work._equities(full, everyone)[0, hand, 0] * BINS), BINS - 1)] += 1
        assert row == pytest.approx(np.cumsum(counts / counts.sum())[:-1], abs=1e-6)


def test_clusters_are_as_many_as_asked_for_and_the_same_again():
    cards = cards_of(load("holdem:ranks=5,suits=2,streets=3"))
    one, two = (abstraction(cards, Spec((6, 5)), threads=threads) for threads in (1, 2))
    assert one.counts[1:] == (6, 5)
    for street in range(3):
        assert np.array_equal(one.tables[street], two.tables[street])
        assert ((one.tables[street] < 0) == (cards.held & one.keys[street][:, None] != 0)).all()


def test_files_give_back_buckets_and_strategies_and_refuse_what_does_not_fit(tmp_path):
    game = load(SMALL)
    solver = PublicChanceCfr(game, lossless(cards_of(game)), threads=1)
    solver.run(20)
    strategy = strategy_of(solver)
    save_buckets(tmp_path / "b", game, solver.buckets)
    save_strategy(tmp_path / "s", strategy, "")
    buckets = read_buckets(tmp_path / "b", load(f"{SMALL},raises=2"))
    assert all(np.array_equal(*pair) for pair in zip(buckets.tables, solver.buckets.tables, strict=True))
    back = read_table_strategy(tmp_path / "s", game, buckets)
    views = np.array([kibitz.games.view_of(game, state, 1) for state in decisions(game)], game.state)
    assert back.action_probs(views) == pytest.approx(strategy.action_probs(views), abs=0.005)
    with pytest.raises(kibitz.BadInput, match="other cards than those of leduc"):
        read_buckets(tmp_path / "b", load("leduc"))
    with pytest.raises(kibitz.BadInput, match="not for holdem:"):
        read_table_strategy(tmp_path / "s", load(f"{SMALL},raises=2"), buckets)
    data = bytearray((tmp_path / "b").read_bytes())
    data[-5] ^= 1
    (tmp_path / "b").write_bytes(data)
    with pytest.raises(kibitz.BadInput, match="checksum is wrong"):
        read_buckets(tmp_path / "b", game)
    (tmp_path / "b").write_bytes(data[: len(data) // 2])
    with pytest.raises(kibitz.BadInput):
        read_buckets(tmp_path / "b", game)


def decisions(game):
    """Positions in which the dealer has to move first, with random cards."""
    for seed in range(20):
        cards = np.random.default_rng(seed).permutation(8)[:4]
        state = kibitz.games.positions(game)[0]
        for card in cards:
            game.play(state, int(card) // 2 * 4 + int(card) % 2)
        yield state
