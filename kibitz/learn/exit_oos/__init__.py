"""ExIt-OOS (Kitchen and Benedetti 2018): expert iteration with Online Outcome Sampling as the expert."""

from .learner import ExItOos

__all__ = ["ExItOos"]
