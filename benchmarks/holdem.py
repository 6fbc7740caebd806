"""Hands of hold'em, played and evaluated: against OpenSpiel and phevaluator."""

import random

import numpy as np

from kibitz import games
from kibitz.games.random_games import finished
from kibitz.poker.rules.evaluator import evaluate

from .measuring import Row, Work
from .openspiel import peer_game


def _sevens(count: int) -> np.ndarray:
    """Random hands of seven cards: [7, count] u1."""
    return np.ascontiguousarray(np.random.default_rng(1).random((count, 52)).argsort()[:, :7].T.astype(np.uint8))


def _our_hands() -> Work:
    game = games.load("holdem")
    return lambda count: finished(game, count)


def _peer_hands() -> Work:
    """Whole hands, as a Python program plays them. Its playouts in C++ begin after the deal: `playouts-holdem`."""
    game, chance = peer_game("holdem"), random.Random(1)

    def work(count: int) -> None:
        for _ in range(count):
            state = game.new_initial_state()
            while not state.is_terminal():
                state.apply_action(chance.choice(state.legal_actions()))

    return work


def _our_evaluator() -> Work:
    hands = _sevens(100_000)
    out = np.zeros(hands.shape[1], np.int64)

    def work(count: int) -> None:
        while count > 0:
            evaluate(hands[:, :count], out)
            count -= hands.shape[1]

    return work


def _peer_evaluator() -> Work:
    """phevaluator, in C, one hand per call: it has no batched call."""
    from phevaluator import evaluate_cards

    hands = _sevens(1000).T.tolist()

    def work(count: int) -> None:
        for i in range(count):
            evaluate_cards(*hands[i % len(hands)])

    return work


ROWS = [
    Row("hands-holdem", "games/s", 30, _our_hands, _peer_hands, peer_package="pyspiel"),
    Row("evaluator-holdem", "hands/s", 50, _our_evaluator, _peer_evaluator, peer_package="phevaluator"),
]
