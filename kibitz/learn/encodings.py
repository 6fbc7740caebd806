"""Facts about the encodings of a game that only playing it shows."""

import numpy as np

from ..games import CHANCE, OVER, Game, positions
from ..jit import generators


def survey(game: Game, count: int = 50) -> tuple[int, bool]:
    """Play random games; return the mean decisions per game, rounded up, and whether encodings are all 0 and 1."""
    rng, encoding = generators(1, 1)[0], np.zeros(game.facts.encoding, np.float32)
    decisions, bits = 0, True
    for _ in range(count):
        state = positions(game)[0]
        while (turn := game.turn(state)) != OVER:
            if turn != CHANCE:
                decisions += 1
                game.observe(state, turn, encoding)
                bits = bits and bool(np.isin(encoding, (0, 1)).all())
            game.play(state, game.sample_action(state, rng))
    return -(-decisions // count), bits
