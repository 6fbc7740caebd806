"""AlphaZero (Silver et al. 2018) with Gumbel root selection (Danihelka et al. 2022), for games on boards."""

from .learner import AlphaZero

__all__ = ["AlphaZero"]
