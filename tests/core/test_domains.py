"""Every number that a game, player, search, learner or study takes has a domain, which the error outside it names."""

import math
import types
import typing

import numpy as np
import pytest

import kibitz as api
from kibitz.core import names
from kibitz.core.names import BadInput, Interval, at_least
from kibitz.games import GAMES, legal_actions, load
from kibitz.play.players import PLAYERS, make_for
from kibitz.reproduce.study import STUDIES
from kibitz.search.budget import chunks
from kibitz.search.search import SEARCHES
from kibitz.train.learner import LEARNERS

REGISTRIES = (GAMES, SEARCHES, PLAYERS, LEARNERS, STUDIES)
HOSTILE = (math.nan, math.inf, -math.inf, -1e300, 1e300, 10**30, -(10**30), 10**400)


def numeric(kind):
    """Whether a parameter of this type takes numbers: int, float, or one of them or nothing."""
    kinds = typing.get_args(kind) if isinstance(kind, types.UnionType) else (kind,)
    return bool({int, float} & set(kinds))


def numbers():
    for registry in REGISTRIES:
        for name in registry:
            cls = registry[name]
            options = getattr(cls, "Options", getattr(cls, "Config", cls))
            for key, (kind, _, allowed) in names.hints(options).items():
                if numeric(kind):
                    yield pytest.param(options, key, kind, allowed, id=f"{registry.kind} {name} {key}")


@pytest.mark.parametrize(("options", "key", "kind", "allowed"), list(numbers()))
def test_every_number_has_a_domain_which_it_must_be_in(options, key, kind, allowed):
    assert allowed is not None
    assert not any(names.is_allowed(value, allowed) for value in HOSTILE)
    if kind in (int, float):
        for value in HOSTILE:
            with pytest.raises(BadInput, match=f"{key}=.* should be "):
                names.check("it", options, {key: value})


@pytest.mark.parametrize("value", HOSTILE)
def test_the_command_line_of_a_player_refuses_the_same_numbers(value):
    text = str(value) if not isinstance(value, int) or value < 1e300 else "1" * 4000
    for name in ("uct:10,c", "ismcts:10,c", "uct:seconds", "oos:simulations", "oos:10,epsilon", "uct:10,megabytes"):
        with pytest.raises(BadInput, match="should be "):
            make_for(f"{name}={text}", load("tic_tac_toe" if name.startswith("u") else "kuhn"))


def test_a_search_refuses_them_when_python_constructs_it_too():
    for name, options in (("uct", {"c": -1.0}), ("ismcts", {"c": math.nan}), ("oos", {"delta": 1.0})):
        with pytest.raises(BadInput, match="is out of range, it should be"):
            SEARCHES[name](load("kuhn" if name != "uct" else "tic_tac_toe"), **options)
    assert api.search("tic_tac_toe", "uct", c=np.float32(1), plies=np.int64(3))


@pytest.mark.parametrize(("simulations", "seconds"), [(-1, math.inf), (10, -1.0), (10, math.nan), (0, -math.inf)])
def test_a_budget_below_zero_is_refused(simulations, seconds):
    with pytest.raises(BadInput, match="below 0"):
        list(chunks(simulations, seconds))


@pytest.mark.parametrize("name", ["uct", "puct", "ismcts", "oos", "alphabeta"])
def test_the_shortest_time_is_enough_for_advice(name):
    game = load("tic_tac_toe")
    view = game.initial().record
    if name == "oos":
        game = load("kuhn")
        view = game.initial().play("J").play("Q").view(0).record
    search = SEARCHES[name](game)
    search.begin(1)
    advice = search.advise(view, 0, seconds=1e-9)
    assert math.isclose(sum(advice.policy), 1)
    assert len(advice.policy) == len(legal_actions(game, view))


def test_seeds_are_whole_numbers_of_64_bits():
    at_least("seed", 2**63 - 1, 0)
    for seed in (-1, 2**63, 10**30):
        with pytest.raises(BadInput, match="seed should be at"):
            at_least("seed", seed, 0)
        with pytest.raises(BadInput, match="seed should be at"):
            api.match("kuhn", ["random", "random"], games=1, seed=seed)
    with pytest.raises(BadInput, match="should be a whole number, not nan"):
        at_least("games", math.nan, 1)
    with pytest.raises(BadInput, match="at least"):
        at_least("seconds", math.nan, 0.1, 10.0)


def test_an_interval_holds_no_infinity():
    assert math.inf not in Interval(0)
    assert math.nan not in Interval()
    assert 10**400 in Interval(0)
    assert np.float32(0.5) in Interval(0, 1)
    assert "1" not in Interval(0)


def test_a_message_is_one_line_whatever_value_it_names():
    assert str(BadInput("plies=♣\n\u2028x should be a number")) == "plies=♣  x should be a number"
    assert str(BadInput()) == ""
