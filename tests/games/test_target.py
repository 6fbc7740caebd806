"""`target` keeps exactly the actions from which a view can still be reached."""

import numpy as np
import pytest

from kibitz import games
from kibitz.games import OVER

from .facts import ROWS
from .walks import over, packed, public_part, targeted, tree, view_of, walks

aiming = [row for row in ROWS if not row.heavy and games.load(row.name).facts.targets]


def over_modes(rows):
    made = [(row.id, games.load(row.name)) for row in rows]
    pairs = [pytest.param(game, mode, id=f"{name}-{mode}") for name, game in made for mode in game.facts.targets]
    return pytest.mark.parametrize(("game", "mode"), pairs)


@over(aiming)
def test_the_actions_played_are_kept_on_the_way_to_a_later_view(game):
    for steps in walks(game, 3):
        for seat in range(game.facts.seats):
            views = [view_of(game, step.state, seat) for step in steps]
            for mode in game.facts.targets:
                for now, step in enumerate(steps[:-1]):
                    for view in views[now + 1 :]:
                        keep, kept = targeted(game, step.state, view, seat, mode)
                        assert keep[step.action]
                        assert kept == sum(keep.values())


@over(aiming)
def test_past_the_view_everything_is_kept(game):
    for steps in walks(game, 3):
        for seat in range(game.facts.seats):
            for mode in game.facts.targets:
                for now, step in enumerate(steps[:-1]):
                    for earlier in steps[: now + 1]:
                        if earlier.turn == seat:  # searches only get views of the seat to move
                            keep, kept = targeted(game, step.state, view_of(game, earlier.state, seat), seat, mode)
                            assert all(keep.values())
                            assert kept == len(step.actions)


@over_modes([row for row in aiming if row.tree])
def test_exactly_the_actions_that_can_reach_the_view_are_kept(game, mode):
    check_against_brute_force(game, mode, max_targets=40)


@pytest.mark.heavy
@over_modes([row for row in aiming if row.tree or row.name == "goofspiel:5"])
def test_exactly_the_actions_that_can_reach_any_view_are_kept(game, mode):
    check_against_brute_force(game, mode, max_targets=1500)


def check_against_brute_force(game, mode, max_targets):
    found = tree(game)
    publics = packed(np.array([public_part(game, state) for state in found.states], game.state))
    keys = np.unique(found.keys[found.turns >= 0])
    for key in np.random.default_rng(8).permutation(keys)[:max_targets]:
        first = np.flatnonzero(found.keys == key)[0]
        seat = int(found.turns[first])
        view = view_of(game, found.states[first], seat)
        # IST: everything that the seat knows must match; PST: only what is public.
        targets = found.keys == key if mode == "ist" else publics == publics[first]
        above = found.above(targets)
        for node in np.flatnonzero(above & ~targets & (found.turns != OVER)):
            children = np.flatnonzero(found.parents == node)
            children = children[children > 0]
            keep, kept = targeted(game, found.states[node], view, seat, mode)
            assert keep == dict(zip(found.actions[children].tolist(), above[children].tolist(), strict=True))
            assert kept == above[children].sum()
