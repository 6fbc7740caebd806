"""Learning for Doppelkopf: from recorded games, and by expert iteration."""

from .cards import CardLearner
from .exit_rollouts import ExitRollouts
from .next_card import NextCardLearner

__all__ = ["CardLearner", "ExitRollouts", "NextCardLearner"]
