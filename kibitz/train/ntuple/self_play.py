"""Games of alpha-beta search against itself, and what positions of them are worth."""

from collections.abc import Callable

import numpy as np

from ...games import OVER, load, positions
from ...jit import below, kernel, uniform
from ...search.alphabeta import AlphaBeta
from ...search.principal_variation import search_on, start
from ..learner import Samples
from .config import NTupleConfig
from .tuples import ntuples

TABLE = 0.1  # megabytes of the transposition table
NO_LIMIT = 2**62


def self_play(config: NTupleConfig) -> Callable[[tuple[int, ...], np.ndarray], list[tuple[int, Samples]]]:
    """Return the function of a worker: numbers of games, and weights -> the samples of these games."""
    game = load(config.game)
    most, high = game.facts.max_game_length, max(game.facts.payoffs)
    states, values, played = np.zeros(most, game.state), np.zeros(most), np.zeros(most, np.int8)
    latest: list[tuple[np.ndarray, AlphaBeta]] = []

    def play(numbers: tuple[int, ...], weights: np.ndarray) -> list[tuple[int, Samples]]:
        if not latest or latest[0][0] is not weights:
            evaluation = ntuples(game, config.tuples, weights)
            latest[:] = [(weights, AlphaBeta(game, depth=config.depth, megabytes=TABLE, evaluation=evaluation))]
        return [(number, play_one(latest[0][1], number)) for number in numbers]

    def play_one(search: AlphaBeta, number: int) -> Samples:
        rng = np.random.SeedSequence([config.seed, 2, number]).generate_state(2, np.uint64)
        search.begin(1)
        n = play_game(
            game, search.evaluation, search.tactics, search.frames, search.memory, search.free, positions(game), rng,
            (config.depth, config.opening, config.epsilon, config.lambda_, high),
            states, values, played,
        )  # fmt: skip
        rows = np.frombuffer(states[:n].tobytes(), np.uint8).reshape(n, game.state.itemsize)
        return {"states": rows, "wins": 0.5 + 0.5 * values[:n].astype(np.float32)}

    return play


PLAYED, RANDOM = 0, 1  # at a position: the search's move, or a random one


@kernel
def play_game(game, evaluation, tactics, frames, memory, settings, root, rng, options, states, values, kinds):
    """Play a game; write positions after its opening, and what they are worth to seat 0, -1 to 1. Return how many.

    The search looks 1 to `depth` plies ahead, as many in all the game. A position's value is the lambda-return of the
    values of searches, which ends in the game's result, or with the search's value where a random move was played.
    Positions that the game's tactics decide are left out, as a search doesn't evaluate them.
    """
    depth, opening, epsilon, lambda_, high = options
    state, n = root[0], 0
    plies, random_plies = 1 + below(rng, depth), below(rng, opening + 1)
    for _ in range(random_plies):
        if game.turn(state) != OVER:
            game.play(state, game.sample_action(state, rng))
    while game.turn(state) != OVER and not tactics.tactics_win(game, state):
        uniform(rng)  # isn't used; without it the games of a seed would be others than before
        states[n] = state
        values[n] = search(game, evaluation, tactics, frames, memory, settings, state, plies) / high
        action, kinds[n] = frames.chosen[0], PLAYED
        if uniform(rng) < epsilon:
            action, kinds[n] = game.sample_action(state, rng), RANDOM
        game.play(state, action)
        n += 1
    seat = game.turn(state)
    worth = game.payoff(state, 0) / high if seat == OVER else 1.0 - 2.0 * seat
    for i in range(n - 1, -1, -1):
        if kinds[i] == PLAYED:
            values[i] += lambda_ * (worth - values[i])
        worth = values[i]
    kept = 0
    for i in range(n):
        if not tactics.tactics_threatened(game, states[i]):
            states[kept], values[kept] = states[i], values[i]
            kept += 1
    return kept


@kernel
def search(game, evaluation, tactics, frames, memory, settings, state, plies):
    """The value of a position for seat 0; frames.chosen[0] is the best move."""
    frames.states[0] = state
    for depth in range(1 if plies > 2 else plies, plies + 1):
        start(frames, memory, depth, -np.inf, np.inf)
        search_on(game, evaluation, tactics, frames, memory, settings, NO_LIMIT)
    value = frames.best[0]
    return value if game.turn(state) == 0 else -value
