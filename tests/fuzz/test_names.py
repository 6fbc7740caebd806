"""Hostile specifications of games and players, made from the registries: each is refused in one line, or works."""

import os

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kibitz import games
from kibitz.core import names
from kibitz.core.names import BadInput
from kibitz.games import CHANCE, GAMES, chance_outcomes, legal_actions, positions, view_of
from kibitz.play import players
from kibitz.play.players import PLAYERS
from kibitz.search.search import SEARCHES

from . import hostile
from .hostile import NUMBERS, TEXTS, budget

SMALL = ("kuhn", "tic_tac_toe")
BUDGETS = {"simulations": "2", "budget": "1x2", "depth": "1"}  # of what is accepted
SETTINGS = {
    "deadline": None,
    "database": None,
    "suppress_health_check": [HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
}


def options_of(registry, name):
    cls = registry[name]
    return names.hints(getattr(cls, "Options", cls))


@st.composite
def specifications(draw, registry):
    """A name with some of its parameters, with hostile values or with those that an option lists."""
    shipped = [name for name in registry if registry[name].__module__.startswith("kibitz.")]  # not by another test
    name = draw(st.sampled_from([*shipped, *shipped, *hostile.PLAYERS, *hostile.GAMES]))
    if name not in shipped:
        return name
    parts = []
    for key, (_, _, allowed) in options_of(registry, name).items():
        if draw(st.integers(0, 2)):
            continue
        listed = [str(each) for each in allowed[:9]] if isinstance(allowed, tuple | range) else []
        value = draw(st.sampled_from([*listed, *listed, *NUMBERS, *TEXTS]))
        parts.append(f"{key}={value}" if draw(st.booleans()) or parts else value)
    given_keys = {part.partition("=")[0] for part in parts}
    if name in SEARCHES:
        known = options_of(registry, name)
        parts += [f"{key}={few}" for key, few in BUDGETS.items() if key in known and key not in given_keys]
    return f"{name}:{','.join(parts)}"


def first_decision(game):
    """The first position in which a seat moves."""
    state = positions(game)[0]
    while game.turn(state) == CHANCE:
        game.play(state, chance_outcomes(game, state)[0][0])
    return state


def refused(function, *arguments):
    """What a function returns, and the line of its refusal."""
    try:
        return function(*arguments), ""
    except BadInput as error:
        return None, str(error)


@settings(max_examples=budget(100), derandomize="KIBITZ_FUZZ" not in os.environ, **SETTINGS)
@given(text=specifications(GAMES))
def test_a_game_of_any_name_loads_or_is_refused(tmp_path, monkeypatch, text):
    monkeypatch.chdir(tmp_path)
    game, error = refused(games.load, text)
    assert "\n" not in error
    if error:
        return
    again = games.load(games.full_name(game))
    assert type(again) is type(game)
    assert again == game
    assert len(legal_actions(game, first_decision(game)))


@settings(max_examples=budget(40), derandomize="KIBITZ_FUZZ" not in os.environ, **SETTINGS)
@given(game=st.sampled_from(SMALL), text=specifications(PLAYERS))
def test_a_player_of_any_name_moves_or_is_refused(tmp_path, monkeypatch, game, text):
    monkeypatch.chdir(tmp_path)
    if text.startswith("human"):
        return
    game = games.load(game)
    view = view_of(game, first_decision(game), 0)
    action, error = refused(lambda: players.make_for(text, game).move(view))
    assert "\n" not in error
    assert error or action in legal_actions(game, view)


@pytest.mark.parametrize("registry", [GAMES, PLAYERS, SEARCHES], ids=lambda registry: registry.kind)
def test_no_registry_has_a_hostile_name(registry, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for text in (*TEXTS, *NUMBERS, *hostile.GAMES, *hostile.PLAYERS):
        if text not in registry:
            with pytest.raises(BadInput) as caught:
                registry[text]
            assert "\n" not in str(caught.value)
