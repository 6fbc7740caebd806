"""UCT and PUCT: right in small games, proofs, reuse, bounded memory, chance, and any number of seats."""

from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from kibitz import games
from kibitz.core.names import BadInput
from kibitz.games import OVER, legal_actions, positions
from kibitz.search import mcts
from kibitz.search.alphabeta import AlphaBeta
from kibitz.search.mcts import UNKNOWN, Puct, Uct
from kibitz.search.policies import policy
from kibitz.search.tree import BYTES, Tree

PILE = f"{Path(__file__).parents[1] / 'games' / 'pile.py'}:Pile"
SEARCHES = [Uct, Puct]
SETTINGS = [{}, {"fpu": "parent"}, {"fpu": "infinite"}, {"prove": False}]


def after(game, *moves):
    state = positions(game)[0]
    for move in moves:
        game.play(state, game.parse_action(state, move))
    return state


def random_positions(game, count, seed, most=8):
    generator = np.random.default_rng(seed)
    found = []
    while len(found) < count:
        state = positions(game)[0]
        for _ in range(generator.integers(0, most)):
            if game.turn(state) == OVER:
                break
            game.play(state, int(generator.choice(legal_actions(game, state))))
        if game.turn(state) != OVER:
            found.append(state)
    return found


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("settings", SETTINGS)
def test_in_tic_tac_toe_it_plays_what_alpha_beta_calls_best(search, settings):
    game = games.load("tic_tac_toe")
    exact, found = AlphaBeta(game, 1, 9), search(game, 1, **settings)
    for state in random_positions(game, 25, seed=4, most=6):
        seat = game.turn(state)
        truth = exact.advise(state, seat)
        found.begin(3)
        advice = found.advise(state, seat, 4000)
        assert truth.value[list(truth.actions).index(advice.best)] == truth.value.max()
        assert advice.actions.tolist() == legal_actions(game, state)


@pytest.mark.parametrize("search", SEARCHES)
def test_proven_values_are_true(search):
    game = games.load("tic_tac_toe")
    exact, found = AlphaBeta(game, 1, 9), search(game, 1)
    proven = 0
    for state in random_positions(game, 40, seed=5):
        seat = game.turn(state)
        found.begin(1)
        advice = found.advise(state, seat, 3000)
        truth = exact.advise(state, seat)
        if found.proven is not None:
            proven += 1
            assert found.proven == truth.value.max()
        first, count = int(found.tree.first[0]), int(found.tree.children[0])
        for child in range(first, first + count):
            if found.tree.proven[child] != UNKNOWN:
                at = truth.actions.tolist().index(int(found.tree.action[child]))
                assert found.tree.proven[child] == truth.value[at]
        assert advice.simulations <= 3000
    assert proven > 20


def test_a_forced_win_of_five_plies_is_proven_and_ends_the_search():
    game = games.load("connect_four")
    # Two open pieces at the bottom: three in a row with both ends free can't be stopped.
    state = after(game, "4", "4", "5", "5")
    for search in SEARCHES:
        found = search(game, 1)
        advice = found.advise(state, 0, 1_000_000)
        assert found.proven == 1
        assert advice.simulations < 200_000
        assert game.action_to_string(state, advice.best) in ("3", "6")
        assert advice.root_value == 1
        unproven = search(game, 1, prove=False)
        assert unproven.advise(state, 0, 20_000).best == advice.best or unproven.proven is None


@pytest.mark.parametrize("search", SEARCHES)
def test_the_same_seed_gives_the_same_tree_and_another_seed_another(search):
    game = games.load("connect_four")
    visits = []
    for seed in (1, 1, 2):
        found = search(game, seed, prove=False)
        visits.append(found.advise(positions(game)[0], 0, 3000).visits.tolist())
    assert visits[0] == visits[1] != visits[2]
    assert sum(visits[0]) == 3000


@pytest.mark.parametrize("search", SEARCHES)
def test_visits_and_means_of_every_node_add_up(search):
    game = games.load("connect_four")
    found = search(game, 1, prove=False)
    found.advise(positions(game)[0], 0, 5000)
    tree = found.tree
    for node in range(int(tree.used[0])):
        first, count = int(tree.first[node]), int(tree.children[node])
        if count:
            below = tree.visits[first : first + count].sum()
            assert below == tree.visits[node] - (node > 0)  # the first visit played out from the node itself
        if tree.visits[node] and node:
            assert abs(tree.total[node]) <= tree.visits[node]
            assert tree.mean[node] == pytest.approx(tree.total[node] / tree.visits[node], abs=1e-5)


def test_a_node_takes_at_most_48_bytes():
    assert BYTES <= 48


@pytest.mark.parametrize("search", SEARCHES)
def test_memory_is_bounded_and_a_full_tree_is_searched_further(search):
    game = games.load("connect_four")
    found = search(game, 1, megabytes=500 * BYTES / 1e6, prove=False)
    advice = found.advise(positions(game)[0], 0, 20_000)
    assert advice.simulations == advice.visits.sum() == 20_000
    assert found.tree.used[0] <= 500
    assert found.bytes <= 500 * BYTES + 8
    assert advice.best == 3  # the middle


@pytest.mark.parametrize("search", SEARCHES)
def test_the_tree_is_kept_from_move_to_move(search):
    game = games.load("connect_four")
    found = search(game, 1, prove=False)
    state = positions(game)[0]
    found.advise(state, 0, 5000)
    tree = found.tree
    game.play(state, 3)
    first = int(tree.first[0])
    reply = next(child for child in range(first, first + 7) if tree.action[child] == 3)
    here = int(tree.first[reply])
    known = {int(tree.action[child]): int(tree.visits[child]) for child in range(here, here + 7)}
    game.play(state, 2)
    before = known[2]
    assert before > 0
    found.target(state)
    assert found.tree.visits[0] == before
    tree = found.tree
    for node in range(int(tree.used[0])):  # a whole tree still
        first, count = int(tree.first[node]), int(tree.children[node])
        assert not count or (first > node and first + count <= tree.used[0])
    advice = found.advise(state, 0, 100)
    assert found.tree.visits[0] == before + 100
    assert advice.simulations == 100
    fresh = search(game, 1, reuse=False)
    fresh.advise(positions(game)[0], 0, 500)
    fresh.advise(state, 0, 100)
    assert fresh.tree.visits[0] == 100


def test_a_reply_is_found_among_thousands():
    game = games.load("hex:11")
    found = Uct(game, 1, prove=False)
    found.advise(positions(game)[0], 0, 20_000)
    tree = found.tree
    above = int(tree.first[0]) + int(tree.children[0]) - 1
    node = int(tree.first[above]) + int(tree.tried[above]) - 1  # the last of all that were tried
    state, visits = positions(game)[0], tree.visits[node]
    for action in (tree.action[above], tree.action[node]):
        game.play(state, int(action))
    found.target(state)
    assert found.tree.visits[0] == visits


@pytest.mark.parametrize("moves", [5, 6])
def test_the_tree_is_kept_after_any_number_of_moves(moves):
    game = games.load("tic_tac_toe")
    found = Uct(game, 1, prove=False)
    found.advise(positions(game)[0], 0, 20_000)
    tree, state, node = found.tree, positions(game)[0], 0
    for _ in range(moves):
        first = int(tree.first[node])
        node = first + int(tree.visits[first : first + int(tree.children[node])].argmax())
        game.play(state, int(tree.action[node]))
    assert tree.visits[node] > 10
    found.target(state)
    assert found.tree.visits[0] >= tree.visits[node]  # the same position may have more visits by another order of moves


def test_a_capture_of_five_moves_keeps_the_tree():
    game = games.load("fanorona")
    found = Uct(game, 1, prove=False)
    state, generator = positions(game)[0], np.random.default_rng(1)
    while True:  # a position from which one seat makes five moves in a row
        line, at = [], state.copy()
        seat = game.turn(at)
        while game.turn(at) == seat and len(line) < 5:
            line.append(max(legal_actions(game, at), key=lambda action: action != 16 * 45))
            game.play(at, line[-1])
            if len(line) < 5 and game.turn(at) == seat and legal_actions(game, at) == [16 * 45]:
                break
        if len(line) == 5:
            break
        game.play(state, int(generator.choice(legal_actions(game, state))))
        if game.turn(state) == OVER:
            state = positions(game)[0]
    found.target(state)
    found.run(30_000)
    tree, node = found.tree, 0
    for action in line:
        children = range(int(tree.first[node]), int(tree.first[node]) + int(tree.children[node]))
        node = next(child for child in children if tree.action[child] == action)
    visits = int(tree.visits[node])
    assert visits
    found.target(at)
    assert found.tree.visits[0] == visits


def test_an_unrelated_position_starts_a_new_tree():
    game = games.load("connect_four")
    found = Uct(game, 1, prove=False)
    found.advise(after(game, "1"), 1, 500)
    found.advise(after(game, "7", "7", "7"), 1, 50)
    assert found.tree.visits[0] == 50


def test_the_line_it_expects_is_legal():
    game = games.load("connect_four")
    advice = Uct(game, 1).advise(positions(game)[0], 0, 5000)
    state = positions(game)[0]
    assert advice.line[0] == advice.best
    assert len(advice.line) > 3
    for action in advice.line:
        assert action in legal_actions(game, state)
        game.play(state, action)


@pytest.mark.parametrize("search", SEARCHES)
def test_chance_outcomes_are_sampled_by_their_probability(search):
    game = games.load(f"{PILE}:12")
    found = search(game, 1)
    found.advise(positions(game)[0], 0, 6000)
    tree = found.tree
    for node in range(int(tree.used[0])):
        if tree.mover[node] == games.CHANCE and tree.children[node] and tree.visits[node] > 1000:
            first, count = int(tree.first[node]), int(tree.children[node])
            visits, probs = tree.visits[first : first + count].astype(float), tree.prior[first : first + count]
            expected = probs * visits.sum()
            assert ((visits - expected) ** 2 / expected).sum() < 20
    assert (tree.mover[: int(tree.used[0])] == games.CHANCE).any()


def test_playouts_may_be_cut_and_then_count_as_draws():
    game = games.load("connect_four")
    found = Uct(game, 1, plies=1, prove=False)
    found.advise(positions(game)[0], 0, 60)
    assert not found.tree.total[: int(found.tree.used[0])].any()
    whole = Uct(game, 1, plies=42, prove=False)
    whole.advise(positions(game)[0], 0, 60)
    assert whole.tree.total[: int(whole.tree.used[0])].any()


@policy
class Leftmost(NamedTuple):
    """Always plays the first legal action."""

    def weigh(self, game, state, actions, n, probs):
        probs[:n] = 0.0
        probs[0] = 1.0


def test_a_policy_is_the_prior_and_plays_out():
    game = games.load("connect_four")
    found = Puct(game, 1, policy=Leftmost(), prove=False)
    advice = found.advise(positions(game)[0], 0, 200)
    assert advice.prior.tolist() == [1, 0, 0, 0, 0, 0, 0]
    assert advice.visits[0] > 150
    assert set(np.unique(advice.value[advice.visits > 0])) <= {-1.0, 1.0} or advice.visits[0] == 200


@policy
class Uneven(NamedTuple):
    """Priors fall by a third from action to action; playouts take the first legal action."""

    def weigh(self, game, state, actions, n, probs):
        total = 0.0
        for i in range(n):
            probs[i] = 1.5 ** -(actions[i] + 0.1 * i)
            total += probs[i]
        for i in range(n):
            probs[i] /= total

    def step(self, game, state, actions, probs, rng):
        game.actions(state, actions)
        return actions[0]


class Oracle:
    """PUCT by the formula of AlphaGo Zero, on a dictionary: (moves so far) -> [visits, sum of seat 0's rewards]."""

    def __init__(self, game, c):
        self.game, self.c = game, c
        self.nodes = {(): [0, 0.0]}

    def visits(self, moves):
        return self.nodes.get(moves, (0, 0.0))[0]

    def select(self, state, moves):
        actions, sign = legal_actions(self.game, state), 1 - 2 * self.game.turn(state)
        priors = np.array([1.5 ** -(action + 0.1 * i) for i, action in enumerate(actions)])
        priors /= priors.sum()
        here, total = self.nodes[moves]
        parent = sign * total / here if here else 0.0
        children = [self.nodes.get((*moves, action), (0, 0.0)) for action in actions]
        tried = sum(visits for visits, _ in children)
        scores = [
            (sign * total / visits if visits else parent) + self.c * prior * max(tried, 1) ** 0.5 / (1 + visits)
            for (visits, total), prior in zip(children, priors, strict=True)
        ]
        return actions[int(np.argmax(scores))]

    def simulate(self):
        state, moves = positions(self.game)[0], ()
        while moves in self.nodes and self.game.turn(state) != OVER and (self.visits(moves) or not moves):
            move = self.select(state, moves)
            self.game.play(state, move)
            moves = (*moves, move)
        while self.game.turn(state) != OVER:
            self.game.play(state, legal_actions(self.game, state)[0])
        reward = self.game.payoff(state, 0)
        for length in range(len(moves) + 1):
            node = self.nodes.setdefault(moves[:length], [0, 0.0])
            node[0] += 1
            node[1] += reward


@pytest.mark.parametrize("c", [0.7, 2.5])
def test_puct_selects_by_the_published_formula(c):
    game = games.load("tic_tac_toe")
    found, oracle = Puct(game, 1, c=c, policy=Uneven(), prove=False), Oracle(game, c)
    for count in (1, 2, 7, 40, 250):
        found.begin(1)
        found.advise(positions(game)[0], 0, count)
        while oracle.visits(()) < count:
            oracle.simulate()
        seen = {(): 0}
        add_below(found.tree, seen, ())
        assert {moves: int(found.tree.visits[node]) for moves, node in seen.items()} == {
            moves: visits for moves, (visits, _) in oracle.nodes.items()
        }


def add_below(tree, seen, moves):
    """Add all visited nodes below one: (moves) -> node."""
    first = int(tree.first[seen[moves]])
    for child in range(first, first + int(tree.children[seen[moves]])):
        if tree.visits[child]:
            here = (*moves, int(tree.action[child]))
            seen[here] = child
            add_below(tree, seen, here)


def test_plain_python_grows_the_same_tree(monkeypatch):
    game = games.load("tic_tac_toe")
    compiled = Uct(game, 1)
    compiled.advise(positions(game)[0], 0, 150)
    plain = Uct(game, 1)
    monkeypatch.setattr(mcts, "simulate", getattr(mcts.simulate, "py_func", mcts.simulate))
    plain.advise(positions(game)[0], 0, 150)
    used = int(plain.tree.used[0])
    assert used == compiled.tree.used[0]
    for field in Tree._fields[:-1]:
        one, two = getattr(compiled.tree, field)[:used], getattr(plain.tree, field)[:used]
        np.testing.assert_allclose(one, two, atol=1e-6)


def test_games_with_hidden_information_are_refused():
    with pytest.raises(BadInput, match="hidden information"):
        Uct(games.load("leduc"))
    with pytest.raises(BadInput, match="no hidden information"):
        AlphaBeta(games.load("kuhn"))


@pytest.mark.heavy
def test_ten_million_simulations_neither_overflow_nor_slow_down():
    game = games.load("connect_four")
    found = Uct(game, 1, prove=False, megabytes=1000)
    advice = found.advise(positions(game)[0], 0, 10_000_000)
    assert advice.visits.sum() == 10_000_000
    assert found.bytes <= 1e9 + 8
    assert np.isfinite(found.tree.total).all()


def test_of_moves_visited_as_often_the_one_of_the_best_mean_is_played():
    game = games.load("connect_four")
    search = Uct(game, 1, prove=False)
    search.advise(games.positions(game)[0], 0, 7)  # each move once
    children = np.arange(int(search.tree.first[0]), int(search.tree.first[0]) + 7)
    assert search.tree.visits[children].tolist() == [1] * 7
    search.tree.mean[children] = [-1, 0, 0.5, 1, -0.5, 0.25, -1]
    assert search.best(children) == children[3]
    advice = search.advice(games.positions(game)[0], 7)
    assert advice.best == int(search.tree.action[children[3]])
    assert advice.line[0] == advice.best
