"""Learning for Doppelkopf from recorded games and by expert iteration."""

from .card_iteration_method import CardIterationLearner
from .card_method import CardLearner
from .next_card_method import NextCardLearner

__all__ = ["CardIterationLearner", "CardLearner", "NextCardLearner"]
