"""Evaluations of positions that kernels call: NamedTuples with the compiled rule `leaf_value`.

`leaf_value(game, state)` is the expected result of seat 0, from -1, a loss, to 1, a win.
"""

from typing import Any, NamedTuple

from ..jit import rules


def evaluation(cls: Any) -> Any:
    """Class decorator: kernels may call the evaluation."""
    return rules({"leaf_value": "self, game, state"})(cls)


@evaluation
class Even(NamedTuple):
    """Every position is a draw."""

    def leaf_value(self, game, state):
        return 0.0
