"""Random games replayed: in OpenSpiel, on a symmetric board, by `random_playout`."""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from scipy.stats import chi2_contingency, chisquare

from kibitz import games, jit
from kibitz.games import OVER, Game

from .walks import keys_of, walk

RARE = 1e-4  # p-value below which a distribution is rejected; the seeds are fixed


def openspiel(name: str) -> Any:
    """A game of OpenSpiel."""
    import pyspiel  # not on Windows (systems.py)

    return pyspiel.load_game(name)


def agrees_with_openspiel(game: Game, name: str, theirs: Callable[[int], int], seeds: Iterable[int]) -> None:
    """Legal actions, mover and payoffs are the same all the way; `theirs` numbers an action as it does."""
    oracle = openspiel(name)
    for seed in seeds:
        state = oracle.new_initial_state()
        for step in walk(game, seed):
            assert state.is_terminal() == (step.turn == OVER)
            if step.turn == OVER:
                assert state.returns() == [game.payoff(step.state, seat) for seat in range(2)]
            else:
                assert state.current_player() == step.turn
                assert state.legal_actions() == sorted(theirs(action) for action in step.actions)
                state.apply_action(theirs(step.action))


def agrees_with_its_image(game: Game, image: Callable[[int], int], seeds: Iterable[int] = range(4)) -> None:
    """A game stays legal with every action replaced by its image, and ends the same. `image` maps actions, or cells."""
    for seed in seeds:
        state = games.positions(game)[0]
        for step in walk(game, seed):
            assert game.turn(state) == step.turn
            if step.turn == OVER:
                assert [game.payoff(state, seat) for seat in range(2)] == [
                    game.payoff(step.state, seat) for seat in range(2)
                ]
            else:
                assert games.legal_actions(game, state) == sorted(image(action) for action in step.actions)
                game.play(state, image(step.action))


def finishes_by_its_law(game: Game, count: int, start: Any = None) -> None:
    """`random_playout` reaches final positions with their exact probabilities, plain and compiled."""
    first = games.positions(game) if start is None else start.reshape(1)
    expected = chances_of_ends(game, first)
    ends = np.zeros(count, game.state)
    finish_often(game, first, ends, jit.generators(7, 1)[0])
    plainly = getattr(finish_often, "py_func", finish_often)
    plain = np.zeros(50, game.state)
    plainly(game, first, plain, jit.generators(7, 1)[0])
    assert keys_of(plain) == keys_of(ends[:50])
    found = dict.fromkeys(expected, 0)
    for key in keys_of(ends):
        found[key] += 1
    common = [key for key, chance in expected.items() if chance * count >= 5]
    rare = [key for key, chance in expected.items() if chance * count < 5]
    counts = [found[key] for key in common] + [sum(found[key] for key in rare)]
    chances = [expected[key] for key in common] + [sum(expected[key] for key in rare)]
    kept = np.array(chances) > 0
    assert chisquare(np.array(counts)[kept], np.array(chances)[kept] * count).pvalue > RARE


def playouts_end_as_random_moves(game: Game, start: Any, count: int) -> None:
    """`random_playout` gives each payoff as often as uniform moves do, plain and compiled.

    The final position may be another: Hex fills the board.
    """
    first, ends, plain = start.reshape(1), np.zeros((2, count), game.state), np.zeros(20, game.state)
    finish_often(game, first, ends[0], jit.generators(7, 1)[0])
    play_often(game, first, ends[1], jit.generators(8, 1)[0])
    getattr(finish_often, "py_func", finish_often)(game, first, plain, jit.generators(7, 1)[0])
    assert keys_of(plain) == keys_of(ends[0, :20])
    assert all(game.turn(end) == OVER for end in ends[0])
    payoffs = [[game.payoff(end, 0) for end in each] for each in ends]
    counts = [[each.count(payoff) for payoff in sorted({*payoffs[0], *payoffs[1]})] for each in payoffs]
    assert chi2_contingency(counts).pvalue > RARE


def chances_of_ends(game: Game, first: np.ndarray) -> dict[bytes, float]:
    """Final position -> its probability. Positions are expanded layer by layer, each once."""
    layer, ends = {keys_of(first)[0]: (first[0].copy(), 1.0)}, {}
    while layer:
        following: dict[bytes, tuple[Any, float]] = {}
        for key, (state, chance) in layer.items():
            if game.turn(state) == OVER:
                ends[key] = chance
                continue
            legal = games.legal_actions(game, state)
            for action in legal:
                after = state.copy()
                game.play(after, action)
                name = keys_of(after.reshape(1))[0]
                following[name] = after, following.get(name, (None, 0.0))[1] + chance / len(legal)
        layer = following
    return ends


@jit.kernel
def finish_often(game, first, ends, rng):
    for i in range(len(ends)):
        ends[i] = first[0]
        game.random_playout(ends[i], rng)


@jit.kernel
def play_often(game, first, ends, rng):
    for i in range(len(ends)):
        ends[i] = first[0]
        while game.turn(ends[i]) != OVER:
            game.play(ends[i], game.sample_action(ends[i], rng))
