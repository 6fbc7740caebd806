"""Tree search where two seats don't simply alternate: three seats, two moves in a row, a coin that ends the game."""

from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from kibitz import games
from kibitz.games import CHANCE, OVER, game, legal_actions, positions
from kibitz.jit import record
from kibitz.search.mcts import Puct, Uct

HEIRS = f"{Path(__file__).parents[1] / 'games' / 'heirs.py'}:Heirs"
SEARCHES = [Uct, Puct]


def following(game, state, action):
    after = state.copy()
    game.play(after, action)
    return after


def worth(game, state):
    """The value for each seat by backward induction."""
    turn = game.turn(state)
    if turn == OVER:
        return np.array([game.payoff(state, seat) for seat in range(game.facts.seats)])
    return max(
        (worth(game, following(game, state, action)) for action in legal_actions(game, state)), key=lambda w: w[turn]
    )


def every_turn(game, state):
    if game.turn(state) != OVER:
        yield state
        for action in legal_actions(game, state):
            yield from every_turn(game, following(game, state, action))


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("will", [0, 10, 21])
def test_each_of_three_seats_gets_its_own_payoff(search, will):
    game = games.load(f"{HEIRS}:{will}")
    state = positions(game)[0]
    found = search(game, 1)
    advice = found.advise(state, 0, 300_000)
    node, tree, best = 0, found.tree, worth(game, state)
    for action in advice.line:
        seat, first = game.turn(state), int(tree.first[node])
        node = first if tree.action[first] == action else first + 1
        state = following(game, state, action)
        assert worth(game, state)[seat] == best[seat]
        mean = tree.total[node] / tree.visits[node] / found.limits.scale + found.limits.middle
        assert mean == pytest.approx(best[seat], abs=0.5), (seat, action)
    assert game.turn(state) == OVER
    assert len(advice.line) == game.facts.max_game_length


@pytest.mark.parametrize("search", SEARCHES)
def test_every_seat_moves_as_backward_induction_says_wherever_it_is(search):
    game = games.load(f"{HEIRS}:4")
    found = search(game, 1)
    for state in every_turn(game, positions(game)[0]):
        found.begin(1)
        seat = game.turn(state)
        best = found.advise(state, seat, 5000).best
        assert worth(game, following(game, state, best))[seat] == worth(game, state)[seat]


@game(
    "toss",
    state=record(("moves", "i1"), ("score", "i1")),
    num_actions=2,
    max_chance_outcomes=2,
    max_game_length=2,
    payoffs=(-1.0, 1.0),
)
class Toss(NamedTuple):
    """Call a side of a biased coin; the toss ends the game."""

    def start(self, state):
        state.moves = 0
        state.score = 0

    def turn(self, state):
        return 0 if state.moves == 0 else CHANCE if state.moves == 1 else OVER

    def actions(self, state, out):
        out[0] = 0
        out[1] = 1
        return 2

    def chance_probs(self, state, actions, n, out):
        out[0] = 0.75
        out[1] = 0.25

    def play(self, state, action):
        state.moves += 1
        state.score += action

    def payoff(self, state, seat):
        return 1.0 if (state.score == 1) == (seat == 0) else -1.0


def test_chance_may_move_last():
    advice = Uct(Toss(), 1).advise(positions(Toss())[0], 0, 20_000)
    assert advice.value[1] == pytest.approx(0.5, abs=0.05)
    assert advice.value[0] < 0
    assert advice.best == 1


@game("twice", state=record(("moves", "i1"), ("score", "i1")), num_actions=2, max_game_length=2, payoffs=(-1.0, 1.0))
class Twice(NamedTuple):
    """Seat 0 plays 1 twice and wins; seat 1 has no move."""

    def start(self, state):
        state.moves = 0
        state.score = 0

    def turn(self, state):
        return 0 if state.moves < 2 else OVER

    def actions(self, state, out):
        out[0] = 0
        out[1] = 1
        return 2

    def play(self, state, action):
        state.moves += 1
        state.score += action

    def payoff(self, state, seat):
        return 1.0 if (state.score == 2) == (seat == 0) else -1.0


def test_proofs_hold_for_a_seat_that_moves_twice():
    found, state = Uct(Twice(), 1), positions(Twice())[0]
    found.advise(state, 0, 1000)
    assert found.proven == 1
    state = following(Twice(), state, 1)
    found.target(state)
    assert found.proven == 1
    assert found.advise(state, 0, 10).best == 1
