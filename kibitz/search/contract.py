"""The contract of every search, for authors to run on their own: `check_search(MySearch, load("leduc"))`.

Each rule is a function whose docstring is the sentence that a broken search is reported with.
"""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from ..games import CHANCE, OVER, Game, legal_actions, positions
from ..jit import generators
from .advice import Advice
from .search import Search

NewSearch = Callable[[Game, int], Search]  # game, seed -> search; a search class is one
TINY = 1e-9  # seconds


class Position(NamedTuple):
    """A position of a random game at a seat's turn."""

    state: Any
    seat: int
    seed: int


def check_search(new_search: NewSearch, game: Game, simulations: int = 20, count: int = 30, seed: int = 1) -> None:
    """Check that a search keeps the contract at positions of random games.

    Args:
        new_search: The search class, or a function of a game and a seed.
        game: A game that it can play.
        simulations: Budget per advice.
        count: Number of positions.
        seed: The same seed gives the same positions.

    Raises:
        AssertionError: A rule is broken. The message is the rule, and where it was broken.
        BadInput: The search can't play the game.
    """
    for number, position in enumerate(random_positions(game, count, seed)):
        for rule in RULES:
            if not rule(new_search, game, position, simulations):
                raise AssertionError(f"{rule.__doc__} (position {number} of seed {seed}, seat {position.seat + 1})")


def random_positions(game: Game, count: int, seed: int) -> Iterator[Position]:
    """Positions at which a seat is to move, from random games."""
    rng, generator = generators(seed, 1)[0], np.random.default_rng(seed)
    while count > 0:
        state = positions(game)[0]
        while (turn := game.turn(state)) != OVER and count > 0:
            if turn != CHANCE and generator.random() < 0.4:
                yield Position(np.array([state], game.state)[0], turn, count)
                count -= 1
            game.play(state, game.sample_action(state, rng))


def look(game: Game, state: Any, seat: int, garbage: bytes = b"\xa5") -> Any:
    """A seat's view, in a record whose unused bytes hold garbage."""
    view = np.frombuffer(bytearray(garbage * game.state.itemsize), game.state)[0]
    game.look(state, seat, view)
    return view


def same(one: Advice, two: Advice) -> bool:
    return (
        np.array_equal(one.policy, two.policy)
        and np.array_equal(one.value, two.value, equal_nan=True)
        and np.array_equal(one.visits, two.visits)
    )


def lists_legal_actions(new_search: NewSearch, game: Game, position: Position, simulations: int) -> bool:
    """Advice lists all legal actions, in the order of the rules"""
    advice = new_search(game, 1).advise(look(game, position.state, position.seat), position.seat, simulations)
    return advice.actions.tolist() == legal_actions(game, position.state)


def policy_is_a_distribution(new_search: NewSearch, game: Game, position: Position, simulations: int) -> bool:
    """The policy has no negative probability and sums to 1"""
    advice = new_search(game, 1).advise(look(game, position.state, position.seat), position.seat, simulations)
    return bool((advice.policy >= 0).all() and abs(advice.policy.sum() - 1) < 1e-9)


def leaves_the_view_alone(new_search: NewSearch, game: Game, position: Position, simulations: int) -> bool:
    """A search doesn't change the view that it is given"""
    view = look(game, position.state, position.seat)
    before = view.tobytes()
    new_search(game, 1).advise(view, position.seat, simulations)
    return bool(view.tobytes() == before)


def same_seed_same_advice(new_search: NewSearch, game: Game, position: Position, simulations: int) -> bool:
    """The same seed gives the same advice"""
    view, seat = look(game, position.state, position.seat), position.seat
    one, two = (new_search(game, position.seed).advise(view, seat, simulations) for _ in range(2))
    return same(one, two)


def begin_forgets(new_search: NewSearch, game: Game, position: Position, simulations: int) -> bool:
    """After begin(seed) a search gives the advice of a new one with that seed"""
    view, seat = look(game, position.state, position.seat), position.seat
    used, new = new_search(game, 99), new_search(game, position.seed)
    used.advise(view, seat, simulations)
    for search in (used, new):
        search.begin(position.seed)
    return same(used.advise(view, seat, simulations), new.advise(view, seat, simulations))


def sees_views_only(new_search: NewSearch, game: Game, position: Position, simulations: int) -> bool:
    """Two worlds that look the same to the seat get the same advice"""
    state, seat, seed = position
    notes, world, view = np.zeros(game.facts.notes), positions(game)[0], look(game, state, seat)
    game.prepare(view, seat, notes)
    if not game.determinize(view, seat, notes, generators(seed, 1)[0], world):
        return False
    views = look(game, state, seat), look(game, world, seat, b"\x5a")
    one, two = (new_search(game, seed).advise(each, seat, simulations) for each in views)
    return same(one, two)


def keeps_its_budget(new_search: NewSearch, game: Game, position: Position, simulations: int) -> bool:
    """A search does a simulation at least and its budget at most; none for a single legal move if it keeps no tree"""
    view, seat = look(game, position.state, position.seat), position.seat
    search = new_search(game, 1)
    if search.budget == "none" or game.is_announcement(view):
        return True
    forced = len(legal_actions(game, view)) == 1 and not search.keeps_tree
    least = getattr(search, "determinizations", 1)  # each world has one simulation
    for budget in ({"simulations": simulations}, {"simulations": 1}, {"seconds": TINY}):
        search.begin(1)
        advice = search.advise(view, seat, **budget)  # type: ignore[arg-type]
        done, solved = advice.simulations, not advice.visits.any() and not np.isnan(advice.value).any()
        if (done > 0) == (forced or solved) or done > max(budget.get("simulations", done), least):
            return False
    return True


RULES = [
    lists_legal_actions,
    policy_is_a_distribution,
    leaves_the_view_alone,
    same_seed_same_advice,
    begin_forgets,
    sees_views_only,
    keeps_its_budget,
]
