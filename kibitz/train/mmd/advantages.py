"""Generalized advantage estimation (Schulman et al. 2016) for games: a seat's steps are its own decisions.

There is no discount, and the only reward is the payoff at the end.
"""

import numpy as np

from ...jit import kernel


def advantages(
    games: np.ndarray, seats: np.ndarray, values: np.ndarray, payoffs: np.ndarray, decay: float
) -> np.ndarray:
    """The advantage of each decision's action, [rows] f4. Advantage plus value is the target of the value network.

    Args:
        games: [rows] the game of each decision; the decisions of a game are in their order.
        seats: [rows] who decides.
        values: [rows] f4: the value network's estimate for that seat.
        payoffs: [games, seats] f8.
        decay: Lambda. 1: the payoff minus the value; 0: the seat's next value minus this one.
    """
    found, after = np.zeros(len(games), np.float32), np.zeros((*payoffs.shape, 2))
    after[:, :, 0] = payoffs
    _backward(games, seats, values, decay, after, found)
    return found


@kernel
def _backward(games, seats, values, decay, after, found):
    """`after[game, seat]`: value and advantage of the seat's next decision; at first its payoff, and 0."""
    for row in range(len(games) - 1, -1, -1):
        next = after[games[row], seats[row]]
        found[row] = next[0] - values[row] + decay * next[1]
        next[0] = values[row]
        next[1] = found[row]
