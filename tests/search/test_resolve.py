"""Re-solved subgames: they converge, and with the gadget no hand of the opponent gains over the blueprint."""

import numpy as np
import pytest

from kibitz.core.names import BadInput
from kibitz.games import load
from kibitz.poker.solve import abstraction_runs, resolve
from kibitz.poker.solve.betting_tree import FOLD
from kibitz.poker.solve.buckets import lossless
from kibitz.poker.solve.cards import cards_of
from kibitz.poker.solve.files import map_buckets
from kibitz.poker.solve.resolve import Resolver, Subgame
from kibitz.poker.solve.solver import PublicChanceCfr
from kibitz.poker.solve.strategy import TableStrategy

GAME = "holdem:streets=3,ranks=4,suits=2"
BOARD = np.array([0, 3, 5, 6])


@pytest.fixture(scope="module")
def blueprint():
    game = load(GAME)
    solver = PublicChanceCfr(game, lossless(cards_of(game)), threads=1)
    solver.run(300)
    return TableStrategy(game, solver.tree, solver.buckets, solver.tables.first, solver.probs())


def street_begins(tree, street):
    before = np.zeros(len(tree.seat), int)
    for node in range(len(tree.seat)):
        before[tree.child[node, : tree.choices[node]]] = tree.street[node]
    return [i for i in range(1, len(tree.seat)) if tree.street[i] == street > before[i] and tree.seat[i] >= 0]


def best_response(subgame, seat, reach):
    """By all pairs of hands: what each hand of a seat wins at best against the subgame's average strategy."""
    tree, cards = subgame.tree, subgame.strategy.buckets.cards
    values = cards.values(subgame.board[None])[0]
    meets = (cards.held[:, None] & cards.held[None] == 0) & (values >= 0)[:, None] & (values >= 0)
    wins = np.sign(values[:, None] - values[None]) * meets

    def visit(node, other):
        if tree.seat[node] < 0:
            payoff = float(tree.payoff[node]) * (-1 if tree.seat[node] == FOLD and seat == 1 else 1)
            return payoff * ((meets if tree.seat[node] == FOLD else wins) @ other)
        children = tree.child[node, : tree.choices[node]]
        if tree.seat[node] == seat:
            return np.max([visit(child, other) for child in children], axis=0)
        probs = subgame.probs(node + subgame.root)
        return np.sum([visit(child, other * probs[:, i]) for i, child in enumerate(children)], axis=0)

    return visit(0, reach[1 - seat])


def reaches(blueprint, root):
    return Resolver(blueprint, 1)._reach(root, BOARD, 0)


def test_a_subgame_without_gadget_is_solved_for_the_reaches(blueprint):
    root = street_begins(blueprint.tree, 2)[3]
    subgame = Subgame(blueprint, root, BOARD, reaches(blueprint, root))
    pairs = subgame.reach.sum(axis=1).prod()

    def nash_conv():
        found = [best_response(subgame, seat, subgame.reach) @ subgame.reach[seat] for seat in (0, 1)]
        return sum(found) / pairs

    subgame.run(5)
    early = nash_conv()
    subgame.run(2000)
    assert 0 <= nash_conv() < early / 20


@pytest.mark.parametrize("seat", [0, 1])
def test_with_the_gadget_no_hand_gains_over_the_blueprint(blueprint, seat):
    root = street_begins(blueprint.tree, 2)[3]
    reach = reaches(blueprint, root)
    safe = Subgame(blueprint, root, BOARD, reach, safe_for=seat)
    safe.run(4000)
    limit = safe.most_against_blueprint(1 - seat)
    free = blueprint.buckets.cards.free(BOARD)
    scale = np.abs(limit).max()
    gained = best_response(safe, 1 - seat, reach) - limit
    assert gained[free].max() < 0.02 * scale
    regrets = np.maximum(safe._gadget, 0)
    worse = free & (gained < -0.1 * scale)  # hands that would lose by entering: the opponent refuses with them
    assert worse.any()
    assert (regrets[0, worse] <= 0.1 * regrets[:, worse].sum(axis=0)).all()
    reach[1 - seat] *= np.arange(len(free)) == np.flatnonzero(free)[0]  # as if the opponent had one hand only
    unsafe = Subgame(blueprint, root, BOARD, reach)
    unsafe.run(4000)
    assert (best_response(unsafe, 1 - seat, reach) - limit)[free].max() > 0.1 * scale


def test_among_safe_strategies_it_takes_one_that_is_good_against_the_range(blueprint, monkeypatch):
    root = street_begins(blueprint.tree, 1)[0]
    board = BOARD[:3]
    reach = Resolver(blueprint, 1)._reach(root, board, 0)

    def lost(share):
        """What the opponent's range wins, in big blinds."""
        monkeypatch.setattr(resolve, "FORCED", share)
        subgame = Subgame(blueprint, root, board, reach, safe_for=0)
        subgame.run(2000)
        return subgame.most_against_average(1) @ reach[1] / reach.sum(axis=1).prod()

    assert lost(resolve.FORCED) < lost(0.0) - 0.05


@pytest.mark.parametrize("seat", [0, 1])
def test_where_cards_are_sampled_it_begins_with_the_blueprint(blueprint, seat):
    root, board = street_begins(blueprint.tree, 1)[0], BOARD[:3]
    subgame = Subgame(blueprint, root, board, Resolver(blueprint, 1)._reach(root, board, 0), safe_for=seat)
    limits = subgame.most_against_blueprint(1 - seat)
    assert subgame.most_against_average(1 - seat) == pytest.approx(limits, rel=1e-5)


def test_a_best_response_before_the_last_card_sees_all_last_cards(blueprint):
    """Against the exact best response on the public tree, where the subgames are those of the whole game."""
    tree, cards = blueprint.tree, blueprint.buckets.cards
    root = street_begins(tree, 1)[0]
    board = BOARD[:3]
    reach = Resolver(blueprint, 1)._reach(root, board, 0)
    subgame = Subgame(blueprint, root, board, reach)
    for seat in (0, 1):
        given = subgame.most_against_blueprint(seat)
        own = [Subgame(blueprint, root, board, reach, safe_for=1 - seat)._refused]
        assert np.array_equal(given, own[0])
        expected = by_all_cards(blueprint, root, board, reach, seat)
        assert given[cards.free(board)] == pytest.approx(expected[cards.free(board)], rel=1e-4, abs=1e-4)


def by_all_cards(blueprint, root, board, reach, seat):
    """A best response by plain recursion over bets, last cards and pairs of hands."""
    tree, cards = blueprint.tree, blueprint.buckets.cards
    plain = Resolver(blueprint, 1)._blueprint

    def visit(node, shown, other):
        if len(shown) < cards.dealt[tree.street[node]]:
            rest = np.setdiff1d(np.arange(cards.deck), shown)
            found = []
            for card in rest:
                longer = np.append(shown, card)
                found.append(visit(node, longer, other * cards.free(longer)) * cards.free(longer))
            return np.sum(found, axis=0) / (len(rest) - 4)
        if tree.seat[node] < 0:
            free = cards.free(shown)
            meets = (cards.held[:, None] & cards.held[None] == 0) & free[:, None] & free
            if tree.seat[node] == FOLD:
                return float(tree.payoff[node]) * (1 if seat == 0 else -1) * (meets @ other)
            values = cards.values(shown[None])[0]
            return float(tree.payoff[node]) * ((np.sign(values[:, None] - values[None]) * meets) @ other)
        children = tree.child[node, : tree.choices[node]]
        if tree.seat[node] == seat:
            return np.max([visit(child, shown, other) for child in children], axis=0)
        probs = plain(node, shown)
        return np.sum([visit(child, shown, other * probs[:, i]) for i, child in enumerate(children)], axis=0)

    return visit(root, board, reach[1 - seat])


def test_the_resolver_keeps_subgames_and_plays_the_blueprint_before(blueprint):
    resolver = Resolver(blueprint, 50, safe=False, streets=1)
    tree = blueprint.tree
    assert np.allclose(resolver.probs(0, BOARD, 0), resolver._blueprint(0, BOARD))
    node = street_begins(tree, 2)[3]
    once = resolver.subgame(node, BOARD, 0)
    later = int(tree.child[node, 0])
    assert resolver.subgame(later, BOARD, 0) is once
    again = Resolver(blueprint, 50, safe=False, streets=1)
    assert np.array_equal(again.probs(node, BOARD, 0), resolver.probs(node, BOARD, 0))


def test_early_streets_are_refused(blueprint):
    with pytest.raises(BadInput, match="street 1 of 3 can't be re-solved"):
        Subgame(blueprint, 0, BOARD[:0], np.ones((2, 28), np.float32))


def test_where_several_cards_follow_the_blueprint_is_played():
    game = load("holdem:flop,ranks=4,suits=2")
    solver = PublicChanceCfr(game, lossless(cards_of(game)), threads=1)
    solver.run(20)
    table = TableStrategy(game, solver.tree, solver.buckets, solver.tables.first, solver.probs())
    resolver, flop = Resolver(table, 5), BOARD[:3]
    assert np.array_equal(resolver.probs(0, flop[:0], 0), resolver._blueprint(0, flop[:0]))
    node = street_begins(table.tree, 1)[0]
    assert not np.array_equal(resolver.probs(node, flop, 0), resolver._blueprint(node, flop))


def test_a_strategy_whose_file_is_mapped_is_re_solved_as_one_in_memory(tmp_path):
    """In a mapped file a hand that shares a card with the board has no negative bucket."""
    game = load("holdem:streets=3,ranks=4,suits=2")
    buckets = abstraction_runs.compute(abstraction_runs.new_run(game, "5-5", 1, tmp_path / "buckets"))
    solver = PublicChanceCfr(game, buckets, threads=1)
    solver.run(50)
    table = TableStrategy(game, solver.tree, buckets, solver.tables.first, solver.probs())
    file = tmp_path / "buckets" / "abstraction.safetensors"
    mapped = TableStrategy(game, solver.tree, map_buckets(file, game), solver.tables.first, solver.probs())
    for node in (street_begins(table.tree, 1)[0], street_begins(table.tree, 2)[-1]):
        one, two = (Resolver(each, 3).probs(node, BOARD, 0) for each in (table, mapped))
        assert np.array_equal(one, two)
