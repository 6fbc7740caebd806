"""TSPG: policies on growing spatial features (Soemers et al. 2019)."""

from .learner import Tspg

__all__ = ["Tspg"]
