"""Facts about a game that only playing it shows."""

from ..games import CHANCE, OVER, Game, positions
from ..jit import generators


def survey(game: Game, count: int = 50) -> int:
    """Play random games; return the mean number of decisions per game, rounded up."""
    rng, decisions = generators(1, 1)[0], 0
    for _ in range(count):
        state = positions(game)[0]
        while (turn := game.turn(state)) != OVER:
            decisions += int(turn != CHANCE)
            game.play(state, game.sample_action(state, rng))
    return -(-decisions // count)
