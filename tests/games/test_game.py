"""`@game`: what it requires of a class, and its defaults."""

from typing import NamedTuple

import numpy as np
import pytest

from kibitz import games
from kibitz.core.names import BadInput
from kibitz.games import game
from kibitz.games.game import NEEDED, RULES, SCRATCH
from kibitz.jit import record

from .facts import PILE

FACTS = dict(state=record(("x", "i1")), num_actions=1, max_game_length=1, payoffs=(0.0, 1.0))


def made(*rules, play=RULES["play"], **facts):
    """A game with just these rules."""

    class Made(NamedTuple):
        pass

    for name in rules:
        scope = {}
        exec(f"def {name}({play if name == 'play' else RULES[name]}): return 0", scope)
        setattr(Made, name, scope[name])
    return game("made", **FACTS | facts)(Made)


def test_the_required_rules_are_enough():
    assert made(*NEEDED)().facts.hidden is False


@pytest.mark.parametrize("missing", NEEDED)
def test_a_missing_rule_is_named(missing):
    with pytest.raises(TypeError, match=f"Made lacks the rules {missing}"):
        made(*(name for name in NEEDED if name != missing))


@pytest.mark.parametrize("missing", ["determinize", "infoset"])
def test_a_game_with_hidden_information_needs_infoset_and_determinize(missing):
    assert made(*NEEDED, "look", "determinize", "infoset")().facts.hidden
    with pytest.raises(TypeError, match=missing):
        made(*NEEDED, *({"look", "determinize", "infoset"} - {missing}))


def test_a_missing_or_unknown_fact_is_named():
    with pytest.raises(TypeError, match=r"^the game made lacks the fact payoffs$"):
        made(*NEEDED, payoffs=None)
    with pytest.raises(TypeError, match=r"^no fact of a game is called colour$"):
        made(*NEEDED, colour="red")


def test_a_rule_with_other_parameters_is_refused():
    with pytest.raises(TypeError, match=r"play takes \(self, state, move\), it should take \(self, state, action\)"):
        made(*NEEDED, play="self, state, move")


def test_more_actions_than_there_is_room_for_are_refused():
    with pytest.raises(BadInput, match=str(SCRATCH)):
        made(*NEEDED, num_actions=SCRATCH + 1)().facts  # noqa: B018


def test_a_fact_may_depend_on_the_parameters():
    assert [games.load(f"goofspiel:{cards}").facts.num_actions for cards in (2, 13)] == [2, 13]


def test_nothing_is_hidden_by_default():
    pile = games.load(f"{PILE}:Pile")
    state, view, world = games.positions(pile, 3)
    pile.play(state, 2)
    pile.look(state, 1, view)
    assert view == state
    assert pile.determinize(view, 1, np.zeros(1), np.zeros(2, np.uint64), world)
    assert world == state
    assert pile.infoset(state, 0) != pile.infoset(games.positions(pile)[0], 0)
