"""The contract of games. Each test is one sentence of it, checked for every row of the facts."""

import numpy as np
from scipy.stats import chisquare

from kibitz import games, jit
from kibitz.games import CHANCE, OVER

from .facts import ROWS, SHIPPED
from .replays import playouts_end_as_random_moves
from .walks import (
    LONG,
    SMALL,
    all_steps,
    encoding_of,
    every_game,
    every_game_with_its_own_playout,
    every_small_encoded_game,
    every_small_game,
    packed,
    same,
    tree,
    view_of,
    walk,
)

RARE = 1e-4  # p-value below which a distribution is rejected; the seeds are fixed


def test_every_known_game_has_a_row_of_facts():
    assert {games.load(row.name).name for row in ROWS} >= set(SHIPPED)


@every_game
def test_the_game_keeps_the_contract_of_authors(game):
    """Everything that `kibitz check` checks in plain Python; `test_compiled.py` compares compiled rules."""
    long = game.facts.seats > 2 and game.facts.max_game_length > LONG
    assert games.check(game, games=3, compiled=False, most=8 if long else 40) > 7


# ---------------------------------------------------------------- turns, actions, chance, payoffs


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


@every_small_encoded_game
def test_one_key_is_one_encoding_of_the_seat_to_move(game):
    """Else a network couldn't distinguish two infosets. Two seats may have equal encodings."""
    found = tree(game)
    for seat in range(game.facts.seats):
        nodes = np.flatnonzero(found.turns == seat)
        encodings = [encoding_of(game, found.states[node], seat).tobytes() for node in nodes]
        pairs = set(zip(found.keys[nodes].tolist(), encodings, strict=True))
        assert len(pairs) == len(set(found.keys[nodes].tolist())) == len(set(encodings))
