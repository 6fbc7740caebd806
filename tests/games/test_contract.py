"""The contract of games. Each test is one sentence of it, checked for every row of the facts."""

import numpy as np
import pytest
from scipy.stats import chisquare

from kibitz import games, jit
from kibitz.games import CHANCE, OVER

from .facts import ROWS, SHIPPED
from .replays import playouts_end_as_random_moves
from .walks import (
    SMALL,
    all_steps,
    encoding_of,
    every_game,
    every_game_with_its_own_playout,
    every_hidden_game,
    every_small_encoded_game,
    every_small_game,
    packed,
    same,
    tree,
    view_of,
    walk,
    walks,
)

RARE = 1e-4  # p-value below which a distribution is rejected; the seeds are fixed


def test_every_known_game_has_a_row_of_facts():
    assert {games.load(row.name).name for row in ROWS} >= set(SHIPPED)


# ---------------------------------------------------------------- turns, actions, chance, payoffs


@every_game
def test_start_writes_the_same_opening_into_any_record(game):
    clean, dirty = games.positions(game)[0], np.zeros(1, game.state)
    dirty.view(np.uint8)[:] = 0xA5
    game.start(dirty[0])
    assert same(clean, dirty[0])
    for seat in range(game.facts.seats):  # bytes between the fields don't count
        assert game.infoset(clean, seat) == game.infoset(dirty[0], seat)


@every_game
def test_a_turn_is_a_seat_or_chance_until_the_end(game):
    for step in all_steps(game):
        assert step.turn in (*range(game.facts.seats), CHANCE, OVER)


@every_game
def test_actions_are_distinct_and_within_the_facts(game):
    for step in all_steps(game):
        if step.turn == OVER:
            continue
        assert len(set(step.actions)) == len(step.actions) >= 1
        assert min(step.actions) >= 0
        if step.turn == CHANCE:
            assert len(step.actions) <= game.facts.max_chance_outcomes
        else:
            assert max(step.actions) < game.facts.num_actions


@every_game
def test_queries_change_nothing(game):
    rng = jit.generators(1, 1)[0]
    for step in all_steps(game, 3):
        before = step.state.copy()
        for seat in range(game.facts.seats):
            game.infoset(step.state, seat)
            encoding_of(game, step.state, seat)
            view_of(game, step.state, seat)
        if step.turn != OVER:
            game.sample_action(step.state, rng)
        if step.turn == CHANCE:
            games.chance_outcomes(game, step.state)
        assert same(before, step.state)


@every_game
def test_chance_probabilities_are_positive_and_sum_to_one(game):
    for step in all_steps(game):
        if step.turn == CHANCE:
            probs = [probability for _, probability in games.chance_outcomes(game, step.state)]
            assert min(probs) > 0
            assert sum(probs) == pytest.approx(1)


@every_game
def test_sample_action_follows_the_chance_probabilities_and_is_uniform_at_moves(game):
    rng = jit.generators(2, 1)[0]
    for step in walk(game, 3)[:8]:
        if len(step.actions) < 2:
            continue
        draws = 100 * len(step.actions)
        drawn, counts = np.unique([game.sample_action(step.state, rng) for _ in range(draws)], return_counts=True)
        assert set(drawn.tolist()) == set(step.actions)
        probs = np.full(len(drawn), 1 / len(drawn))
        if step.turn == CHANCE:
            probs = np.array([probability for _, probability in sorted(games.chance_outcomes(game, step.state))])
        assert chisquare(counts, probs * draws).pvalue > RARE


@every_game
def test_a_game_ends_with_payoffs_within_the_facts(game):
    low, high = game.facts.payoffs
    for steps in walks(game):
        assert len(steps) - 1 <= game.facts.max_game_length
        payoffs = [game.payoff(steps[-1].state, seat) for seat in range(game.facts.seats)]
        assert all(low <= payoff <= high for payoff in payoffs)
        assert sum(payoffs) == 0 or not game.facts.zero_sum
        # A search backs up the payoff unless the game has rewards.
        rewards = [game.reward(steps[-1].state, seat) for seat in range(game.facts.seats)]
        assert rewards == payoffs or game.facts.rewards != game.facts.payoffs
        within = all(game.facts.rewards[0] <= reward <= game.facts.rewards[1] for reward in rewards)
        assert within or game.facts.seats > 2  # where proofs rely on it


@every_game_with_its_own_playout
def test_random_playout_ends_a_game_as_random_moves_do(game):
    steps = walk(game, 5)
    for place in (0, 1, len(steps) // 2, len(steps) - 3):
        playouts_end_as_random_moves(game, steps[place].state, 10_000)
    before = steps[-1].state.copy()
    game.random_playout(steps[-1].state, jit.generators(1, 1)[0])
    assert same(before, steps[-1].state)


@every_small_game
def test_the_facts_are_met_somewhere_in_the_tree(game):
    """A bound that is never met would cost memory in every search, and hide an error in the rules."""
    found = tree(game)
    ends = found.states[found.turns == OVER]
    payoffs = [game.payoff(state, seat) for state in ends for seat in range(game.facts.seats)]
    moves = found.turns[found.parents] >= 0
    outcomes = np.bincount(found.parents[1:][~moves[1:]], minlength=1)
    assert found.depths.max() == game.facts.max_game_length
    assert (min(payoffs), max(payoffs)) == game.facts.payoffs
    assert found.actions[1:][moves[1:]].max() + 1 == game.facts.num_actions
    assert outcomes.max() == game.facts.max_chance_outcomes


# ---------------------------------------------------------------- what a seat knows


@every_game
def test_infoset_keys_are_uint64_never_zero_and_differ_between_seats(game):
    keys = [set() for _ in range(game.facts.seats)]
    for step in all_steps(game):
        for seat, seen in enumerate(keys):
            key = game.infoset(step.state, seat)
            assert isinstance(key, np.uint64)
            assert key != 0
            seen.add(int(key))
    assert not set.intersection(*keys)


@every_game
def test_rules_give_the_same_for_a_view_as_for_the_position(game):
    """At every turn, for every seat."""
    for step in all_steps(game):
        for seat in range(game.facts.seats):
            view = view_of(game, step.state, seat)
            assert game.turn(view) == step.turn
            assert game.infoset(view, seat) == game.infoset(step.state, seat)
            assert np.array_equal(encoding_of(game, view, seat), encoding_of(game, step.state, seat))
            if step.turn == seat:
                assert games.legal_actions(game, view) == step.actions


@every_game
def test_the_heuristic_is_legal_and_the_same_from_the_view(game):
    for step in all_steps(game):
        if step.turn >= 0:
            one, two = (jit.generators(6, 1)[0] for _ in range(2))
            action = game.heuristic(step.state, one)
            assert action in step.actions
            assert game.heuristic(view_of(game, step.state, step.turn), two) == action


@every_game
def test_a_view_of_a_view_is_the_same(game):
    for step in all_steps(game):
        for seat in range(game.facts.seats):
            view = view_of(game, step.state, seat)
            assert same(view_of(game, view, seat), view)


@every_hidden_game
def test_a_hidden_game_hides_something(game):
    shows = [same(view_of(game, step.state, seat), step.state) for step in all_steps(game) for seat in (0, 1)]
    assert not all(shows)


@every_game
def test_one_key_is_one_view_of_the_seat_to_move(game):
    """And one view has one key. Over whole trees if they are small, else over random games."""
    if games.full_name(game) in SMALL:
        steps = zip(tree(game).states, tree(game).turns.tolist(), strict=True)
    else:
        steps = ((step.state, step.turn) for step in all_steps(game, 40))
    view_by_key, key_by_view = {}, {}
    for state, turn in steps:
        if turn >= 0:
            key, view = int(game.infoset(state, turn)), view_of(game, state, turn).reshape(1)
            seen = turn, packed(view)[0].tobytes()
            assert view_by_key.setdefault(key, seen) == seen
            assert key_by_view.setdefault(seen, key) == key


@every_game
def test_an_encoding_is_finite_and_fills_its_size(game):
    for step in all_steps(game):
        for seat in range(game.facts.seats):
            encoding = encoding_of(game, step.state, seat)  # starts as NaN, so that a gap is seen
            assert np.isfinite(encoding).all()
            assert np.array_equal(encoding, encoding_of(game, step.state, seat))


@every_small_encoded_game
def test_one_key_is_one_encoding_of_the_seat_to_move(game):
    """Else a network couldn't distinguish two infosets. Two seats may have equal encodings."""
    found = tree(game)
    for seat in range(game.facts.seats):
        nodes = np.flatnonzero(found.turns == seat)
        encodings = [encoding_of(game, found.states[node], seat).tobytes() for node in nodes]
        pairs = set(zip(found.keys[nodes].tolist(), encodings, strict=True))
        assert len(pairs) == len(set(found.keys[nodes].tolist())) == len(set(encodings))
