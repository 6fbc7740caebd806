"""Who sits where in a match, and with which luck: all by the number of the game, so that any process may play it."""

from typing import Any

import numpy as np


def player_at(seat: int, number: int, seats: int) -> int:
    """Which of the players, as named for the match, sits there in a game."""
    return (seat + number) % seats


def seat_of(player: Any, number: Any, seats: int) -> Any:
    """Also for arrays of players and numbers."""
    return (player - number) % seats


def round_of(number: Any, seats: int) -> Any:
    """Games of one round (a pair, with two seats) share their luck."""
    return number // seats


def chance_rng_of(seed: int, deal: int) -> np.random.Generator:
    """What chance draws from. Games of the same `deal` share it."""
    return np.random.default_rng([seed, deal])


def seed_of(seed: int, number: int, player: int) -> int:
    """A player's own in a game."""
    own = np.random.SeedSequence([seed, number, 1 + player])  # from 1: [a, b, 0] is the same seed as [a, b]
    return int(own.generate_state(1, np.uint64)[0])
