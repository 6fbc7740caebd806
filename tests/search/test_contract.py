"""Every registered search keeps the contract on every small game that it can play; broken searches are found out."""

from functools import partial
from pathlib import Path

import numpy as np
import pytest

from kibitz import games
from kibitz.core.names import BadInput
from kibitz.search import contract
from kibitz.search.advice import fixed_advice
from kibitz.search.contract import check_search
from kibitz.search.ensemble_uct import EnsembleUct
from kibitz.search.ismcts import IsMcts
from kibitz.search.search import SEARCHES

from .dare import Dare

PILE = f"{Path(__file__).parents[1] / 'games' / 'pile.py'}:Pile:6"
GAMES = {name: games.load(name) for name in ("kuhn", "leduc", "goofspiel:4", "tic_tac_toe", PILE)} | {"dare": Dare()}
VARIANTS = {
    **SEARCHES,
    "ensemble-uct without solving": partial(EnsembleUct, exact=0, determinizations=3),
    "ensemble-uct with announcements in its trees": partial(EnsembleUct, exact=0, announcements="tree"),
    "oos at its infoset": partial(SEARCHES["oos"], target="ist", linear=True),
    "uct without proofs": partial(SEARCHES["uct"], prove=False, fpu="parent", plies=3),
    "puct without a kept tree": partial(SEARCHES["puct"], reuse=False, fpu="infinite"),
    "single-uct by visits": partial(SEARCHES["single-uct"], decide="visits", announcements="tree"),
}


def can_play(search, game):
    try:
        VARIANTS[search](game, 1)
    except BadInput:
        return False
    return True


PAIRS = [(search, name) for search in VARIANTS for name in GAMES if can_play(search, GAMES[name])]


@pytest.mark.parametrize(("search", "name"), PAIRS, ids=lambda name: name.rpartition("/")[2])
def test_a_search_keeps_the_contract(search, name):
    check_search(VARIANTS[search], GAMES[name])


def test_every_search_plays_one_of_the_games():
    assert {search for search, _ in PAIRS} == set(VARIANTS)


class Faulty(IsMcts):
    """A search with one fault."""

    fault, asked = "", 0

    def begin(self, seed):
        if self.fault != "remembers":
            super().begin(seed)

    def advise(self, view, seat, simulations=0, seconds=np.inf):
        if self.fault == "idle" and simulations == 1:
            return fixed_advice(self.game, view, np.eye(len(games.legal_actions(self.game, view)))[0])
        advice = super().advise(view, seat, simulations * (1 + (self.fault == "greedy")), seconds)
        if self.fault == "order":
            advice.actions[:] = advice.actions[::-1]
        if self.fault == "sum":
            advice.policy[:] = 2
        if self.fault == "moves":
            self.game.play(view, int(advice.actions[0]))
        if self.fault == "counts":
            Faulty.asked += 1
            advice.value[0] = Faulty.asked
        if self.fault == "peeks":
            advice.value[0] = view.cards.sum()
        return advice


FAULTS = {
    "order": "Advice lists all legal actions",
    "sum": "sums to 1",
    "moves": "doesn't change the view",
    "counts": "The same seed gives the same advice",
    "remembers": "After begin",
    "greedy": "its budget at most",
    "idle": "a simulation at least",
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_found_and_named(fault):
    with pytest.raises(AssertionError, match=FAULTS[fault]):
        check_search(type("Broken", (Faulty,), {"fault": fault}), GAMES["leduc"])


def test_a_search_that_sees_more_than_its_view_is_found(monkeypatch):
    peeking = type("Peeking", (Faulty,), {"fault": "peeks"})
    check_search(peeking, GAMES["leduc"])  # views hide the other card
    monkeypatch.setattr(contract, "look", lambda game, state, seat, garbage=b"": np.array([state], game.state)[0])
    with pytest.raises(AssertionError, match="Two worlds that look the same to the seat"):
        check_search(peeking, GAMES["leduc"])
