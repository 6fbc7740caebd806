"""How regrets become a strategy, and how variants of CFR discount them and weight their averages.

All solvers use these functions: on numbers in compiled kernels, on arrays of NumPy or torch elsewhere. After iteration
t, where T is the discounted sum,

    regret <- (regret + new) * t^e / (t^e + 1)     e: `positive` or `negative`, by its sign
    average += t^weight * strategy * own reach

An exponent of inf gives the factor 1 (no discount), one of -inf the factor 0 (the floor of CFR+). Weighting the new
regrets of iteration t by t, as solvers that sample boards do, is `linear` up to a common factor.
"""

import math
import sys
from typing import Any, NamedTuple

import numpy as np

from ..jit import helper


class Variant(NamedTuple):
    positive: float = math.inf
    negative: float = math.inf
    weight: float = 0.0
    predictive: bool = False  # adds the last regret once more before regret matching


VARIANTS = {
    "cfr": Variant(),  # Zinkevich et al. 2007
    "cfr+": Variant(negative=-math.inf, weight=1.0),  # Tammelin 2014
    "linear": Variant(positive=1.0, negative=1.0, weight=1.0),  # Brown and Sandholm 2019
    "dcfr": Variant(positive=1.5, negative=0.0, weight=2.0),  # Brown and Sandholm 2019
    "pcfr+": Variant(negative=-math.inf, weight=2.0, predictive=True),  # Farina, Kroer and Sandholm 2021
}


@helper
def rates(variant, t):
    """Of iteration t: its weight in the average, and the factors of positive and of negative regrets."""
    return float(t) ** variant.weight, factor(t, variant.positive), factor(t, variant.negative)


@helper
def factor(t, exponent):
    """The factor of a regret after iteration t."""
    if exponent == math.inf:
        return 1.0
    return 0.0 if exponent == -math.inf else t**exponent / (t**exponent + 1.0)


@helper
def discounted(regret, gain, loss):
    """A regret times its factor."""
    return regret * (gain if regret > 0 else loss)


@helper
def scale_and_rest(total, even, zero, one, tiny):
    """Regret matching: the probability of an action is its positive regret times a scale, plus a rest.

    Args:
        total: The sum of the positive regrets.
        even: 1 / number of actions.
        zero, one: 0 and 1, of the type of regrets.
        tiny: The least number whose inverse is finite; where the total is smaller all actions are equally likely.
    """
    return one / total if total >= tiny else zero, zero if total >= tiny else even


@helper
def match(cells, at, n, probs):
    """Regret matching: probabilities in proportion to positive regrets, uniform where none is positive."""
    total = 0.0
    for i in range(n):
        probs[i] = max(cells[at + i], 0.0)
        total += probs[i]
    if total > 0:
        scale = 1.0 / total
        for i in range(n):
            probs[i] *= scale
    else:
        for i in range(n):
            probs[i] = 1.0 / n


def matched(weights: Any, otherwise: Any = None) -> Any:
    """Regret matching over the last axis: probabilities in proportion to positive weights.

    Args:
        weights: [..., actions], of NumPy or torch: regrets, or sums of strategies.
        otherwise: Probabilities where no weight is positive; None: all actions are equally likely.
    """
    library: Any = np if isinstance(weights, np.ndarray) else sys.modules["torch"]
    positive = weights.clip(min=0)
    total = positive.sum(-1, keepdims=True)
    even = 1 / weights.shape[-1] if otherwise is None else otherwise
    return library.where(total > 0, positive / library.where(total > 0, total, 1), even)


def tensor_rates(variant: Variant, t: int, like: Any) -> tuple[float, Any, Any]:
    """`rates`, the factors as tensors of the type of another, on its device."""
    weight, gain, loss = rates(variant, t)
    return weight, like.new_full((), gain), like.new_full((), loss)


def discount(regrets: Any, gain: Any, loss: Any) -> None:
    """Multiply all regrets of a tensor of torch by their factors (see `tensor_rates`)."""
    regrets.mul_(sys.modules["torch"].where(regrets > 0, gain, loss))
