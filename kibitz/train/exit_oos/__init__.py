"""ExIt-OOS (Kitchen and Benedetti 2018): expert iteration with Online Outcome Sampling as the expert; or IS-MCTS."""

from .ismcts import ExItIsMcts
from .learner import ExItOos

__all__ = ["ExItIsMcts", "ExItOos"]
