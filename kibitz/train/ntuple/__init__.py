"""N-tuple networks (Lucas 2008): linear evaluations on the contents of small groups of cells, for alpha-beta search."""

from .learner import NTupleLearner

__all__ = ["NTupleLearner"]
