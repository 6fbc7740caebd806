"""Which games the theory of two seats with opposed payoffs covers."""

from ..core.names import BadInput
from . import Game, full_name


class NoSequenceForm(BadInput):
    """A game is none of two seats, zero-sum and with perfect recall."""


def two_seats_zero_sum(game: Game, what: str) -> None:
    """Raise BadInput for a game that the theory of `what` doesn't cover."""
    if game.facts.seats != 2:
        raise NoSequenceForm(f"{what} needs two seats, and {full_name(game)} has {game.facts.seats}")
    if not game.facts.zero_sum:
        raise NoSequenceForm(f"{what} needs a zero-sum game, and the payoffs of {full_name(game)} don't sum to zero")
