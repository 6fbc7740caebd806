"""Values of a policy without search: the expected payoff after each action if then every seat follows the policy.

Worlds are weighed by Bayes' rule, with all seats assumed to have followed it so far. In small games the expectation is
exact; in others it is the mean of playouts, all actions with the same worlds and the same random numbers.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from ..games import Game, legal_actions
from ..games.protocol import SCRATCH
from ..search.advice import Advice
from .batched import move, to_next_seats
from .players.worlds import policy_values, possible_worlds

PLAYOUTS = 1000  # of each action


def with_values(game: Game, player: Any, view: Any, seat: int, advice: Advice, seed: int = 1) -> Advice:
    """Advice on a view with values where it has none: those of the policy of a player with `action_probs`."""
    if not np.isnan(advice.value).all() or not hasattr(player, "action_probs"):
        return advice
    worlds, probs = np.array([view], game.state), np.ones(1)
    if (weighted := getattr(game, "weighted_worlds", None)) is not None:
        worlds, probs = weighted(view, seat, player)
    elif game.facts.hidden:
        found = possible_worlds(game, view, seat, player)
        values = policy_values(game, found, seat, player) if found.exact else None
        if values is not None:
            return replace(advice, value=values)
        worlds, probs = found.states, found.probs
    payoffs = play_out(game, player, worlds, probs, seat, PLAYOUTS, seed)
    error = payoffs.std(axis=1) / PLAYOUTS**0.5
    both = np.atleast_2d(np.cov(payoffs))
    variance = np.diag(both)[:, None] + np.diag(both) - 2 * both
    paired = np.sqrt(np.maximum(variance, 0) / PLAYOUTS)
    visits = np.full(len(payoffs), PLAYOUTS)
    return replace(advice, value=payoffs.mean(axis=1), visits=visits, error=error, paired_error=paired)


def play_out(
    game: Game, player: Any, worlds: np.ndarray, probs: np.ndarray, seat: int, count: int, seed: int
) -> np.ndarray:
    """[legal actions, count] f8: the seat's payoff after each action, in games that the player plays to the end."""
    generator, actions, seats = np.random.default_rng(seed), legal_actions(game, worlds[0]), game.facts.seats
    drawn_worlds = worlds[generator.choice(len(worlds), count, p=probs)]
    states = np.tile(drawn_worlds, len(actions))
    for i, state in enumerate(states):
        game.play(state, actions[i // count])
    total, longest = len(states), game.facts.max_game_length
    chance, draws = (np.tile(generator.random((count, longest)), (len(actions), 1)) for _ in range(2))
    weights = getattr(player, "draw_weights", None)
    strategies = None if weights is None else np.tile(generator.choice(len(weights), count, p=weights), len(actions))
    views, turns, payoffs = np.zeros(total, game.state), np.zeros(total, np.int64), np.zeros((total, seats))
    log, done = np.zeros((total, longest), np.int64), np.zeros(total, np.int64)
    dealt, moved = np.zeros(total, np.int64), np.zeros(total, np.int64)
    scratch = np.zeros(SCRATCH, np.int64), np.zeros(SCRATCH)
    while to_next_seats(game, states, chance, dealt, log, done, views, turns, payoffs, *scratch):
        for turn in range(seats):
            rows = np.flatnonzero(turns == turn)
            if len(rows):
                player.begin(game, turn, seed)
                drawn = () if strategies is None else (strategies[rows],)
                move(game, states, rows, player.action_probs(views[rows], *drawn), draws, moved, log, done, scratch[0])
    player.begin(game, seat, seed)
    return payoffs[:, seat].reshape(len(actions), count)
