"""A determinization is a position that fits the view of a seat, drawn from a stated distribution."""

import numpy as np
import pytest
from scipy.stats import chisquare

from kibitz import games, jit

from .walks import (
    SMALL,
    all_steps,
    every_hidden_game,
    every_small_hidden_game,
    keys_of,
    packed,
    same,
    tree,
    view_of,
    walk,
    world_of,
)

RARE = 1e-4
DRAWS = 20_000


@every_hidden_game
def test_a_determinization_fits_its_view(game):
    """For every seat at every turn, at chance turns and at the end too: a view holds no hidden information."""
    rng = jit.generators(4, 1)[0]
    for step in all_steps(game, 5):
        for seat in range(game.facts.seats):
            view = view_of(game, step.state, seat)
            world = world_of(game, view, seat, rng)
            assert game.turn(world) == step.turn
            assert same(view_of(game, world, seat), view)
            if step.turn == seat:
                assert games.legal_actions(game, world) == step.actions


@every_hidden_game
def test_the_game_can_be_played_on_from_a_determinization(game):
    """The sampled parts are consistent: other seats can act on them, and the game ends."""
    rng = jit.generators(5, 1)[0]
    low, high = game.facts.payoffs
    steps = list(all_steps(game, 2))[:: 1 + game.facts.max_game_length // 50]  # a game from each, in plain Python
    for number, step in enumerate(steps):
        for seat in range(game.facts.seats):
            world = world_of(game, view_of(game, step.state, seat), seat, rng)
            for other in range(game.facts.seats):  # the views of other seats can be determinized too
                assert same(
                    view_of(game, world_of(game, view_of(game, world, other), other, rng), other),
                    view_of(game, world, other),
                )
            rest = walk(game, number, world)
            assert all(after.action in after.actions for after in rest[:-1])
            assert all(low <= game.payoff(rest[-1].state, who) <= high for who in range(game.facts.seats))


@every_small_hidden_game
def test_every_determinization_is_reachable(game):
    rng = jit.generators(6, 1)[0]
    reachable = set(keys_of(tree(game).states))
    for step in all_steps(game, 20):
        for seat in range(game.facts.seats):
            world = world_of(game, view_of(game, step.state, seat), seat, rng)
            assert keys_of(world.reshape(1))[0] in reachable


LAWFUL = [(name, 99) for name in sorted(SMALL) if games.load(name).facts.hidden] + [("liars_dice:dice=2,faces=3", 6)]


@pytest.mark.parametrize(("name", "deepest"), LAWFUL, ids=[name for name, _ in LAWFUL])
def test_determinizations_follow_their_distribution(name, deepest):
    """Positions are weighted by chance; hidden choices of other seats that fit are equally likely.

    Both are the product of the chance probabilities on the way, which choices don't change.
    """
    game = games.load(name)
    found = tree(game, deepest)
    chosen = np.random.default_rng(7).permutation(len(found.states))[:12]
    positions = keys_of(found.states)
    for seat in range(game.facts.seats):
        views = np.zeros_like(found.states)
        for state, view in zip(found.states, views, strict=True):
            game.look(state, seat, view)
        seen = packed(views)
        for node in chosen:
            fit = np.flatnonzero(seen == seen[node])
            expected = {}
            for other in fit:
                expected[positions[other]] = expected.get(positions[other], 0.0) + found.chances[other]
            worlds = np.zeros(DRAWS, game.state)
            notes, rng = np.zeros(game.facts.notes), jit.generators(int(node), 1)[0]
            assert sample_worlds(game, views[node], seat, notes, rng, worlds) == DRAWS
            drawn, counts = np.unique(packed(worlds), return_counts=True)
            tally = {position.tobytes(): count for position, count in zip(drawn, counts, strict=True)}
            assert set(tally) <= set(expected)
            if len(expected) > 1:
                law = np.array(list(expected.values())) / sum(expected.values())
                observed = np.array([tally.get(position, 0) for position in expected])
                assert chisquare(observed, law * DRAWS).pvalue > RARE


@jit.kernel
def sample_worlds(game, view, seat, notes, rng, out):
    """Many determinizations from notes prepared once, as a search draws them; returns their number."""
    game.prepare(view, seat, notes)
    made = 0
    for i in range(len(out)):
        made += game.determinize(view, seat, notes, rng, out[i])
    return made
