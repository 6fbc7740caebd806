"""Selection with Gumbel noise (Danihelka et al. 2022): it improves the policy with as few as two simulations.

At the root, sequential halving over the actions with the highest sum of Gumbel noise and logit; below it, the action
whose share of visits lags most behind the improved policy.
"""

import math

import numpy as np

from ..jit import helper, long_helper, uniform
from .selection import UNKNOWN, mean_below, mean_of, tried

PROVEN_WEIGHT = 10.0  # of proven values in the logits of the improved policy, in addition to σ


def halving(considered: int, simulations: int) -> np.ndarray:
    """[considered + 1, simulations] i4: how often the root action of a simulation was visited before it.

    Row m is sequential halving of m actions: each phase gives all that are left the same number of visits, and halves
    them. Among actions of that number of visits the best is simulated, so that the order decides who is left.
    """
    table = np.zeros((considered + 1, max(simulations, 1)), np.int32)
    for m in range(considered + 1):
        if m <= 1:
            table[m] = np.arange(table.shape[1])
            continue
        found: list[int] = []
        visits, left, phases = [0] * m, m, math.ceil(math.log2(m))
        while len(found) < table.shape[1]:
            for _ in range(max(1, simulations // (phases * left))):
                found += visits[:left]
                for i in range(left):
                    visits[i] += 1
            left = max(2, left // 2)
        table[m] = found[: table.shape[1]]
    return table


@helper
def value_weight(settings, most):
    """The factor of a value in σ, where the most visited child has `most` visits; values are from -1 to 1."""
    return (settings.c_visit + most) * settings.c_scale * 0.5


@helper
def mixed_value(value, visits, weight, total):
    """The value of children without visits, by equation 33 of Danihelka et al. (2022).

    The mean of the network's value and the visited children's, weighted by their priors: `total` is the sum of prior
    times value, `weight` that of priors.
    """
    return (value + visits * total / max(weight, 1e-30)) / (1.0 + visits) if visits > 0 else value


@helper
def proof(tree, child):
    """What a proof adds to the logit of a child."""
    proven = tree.proven[child]
    return PROVEN_WEIGHT * np.float64(proven) if proven != UNKNOWN else 0.0


@long_helper
def improve(tree, node, settings, scores):
    """Write the logits of the improved policy, logit + σ(completed Q).

    A child without visits has the mixed value. A proven value has more weight than an estimate: a win is always taken,
    a loss never.
    """
    first, count = np.int64(tree.first[node]), np.int64(tree.children[node])
    visits, most, weight, total = 0.0, 0.0, 0.0, 0.0
    for child in range(first, first + count):
        n = np.float64(tried(tree, child))
        if n > 0:
            visits += n
            most = max(most, n)
            weight += np.float64(tree.prior[child])
            total += np.float64(tree.prior[child]) * mean_of(tree, child)
    mixed = mixed_value(np.float64(tree.own[node]), visits, weight, total)
    scale = value_weight(settings, most)
    for i in range(count):
        child = first + i
        known = tree.proven[child] != UNKNOWN or tried(tree, child) > 0
        scores[i] = tree.logit[child] + scale * (mean_of(tree, child) if known else mixed)
        scores[i] += proof(tree, child)


@helper
def to_probs(scores, n):
    """The softmax of n scores, in place."""
    highest = scores[0]
    for i in range(1, n):
        highest = max(highest, scores[i])
    total = 0.0
    for i in range(n):
        scores[i] = math.exp(scores[i] - highest)
        total += scores[i]
    for i in range(n):
        scores[i] /= total


@long_helper
def select_improved(tree, node, settings, scores):
    """The child whose share of the visits lags most behind the improved policy.

    Children without visits all have the same value, the mixed one of `improve`: only that of the highest prior may be
    selected, and together they have the sum of their priors in the softmax. It takes the place of the first of them, so
    that the visited children of a node come first.
    """
    first, count = np.int64(tree.first[node]), np.int64(tree.children[node])
    visits, most, weight, total, known = 0.0, 0.0, 0.0, 0.0, 0
    while known < count:
        child = first + known
        n = np.float64(tried(tree, child))
        if n == 0:
            break
        scores[known] = mean_of(tree, child)
        visits += n
        most = max(most, n)
        weight += np.float64(tree.prior[child])
        total += np.float64(tree.prior[child]) * scores[known]
        known += 1
    scale = value_weight(settings, most)
    mixed = scale * mixed_value(np.float64(tree.own[node]), visits, weight, total)
    unvisited, largest, rest, highest = first + known, np.float32(-1.0), 0.0, -1e30
    for child in range(first + known, first + count):
        prior = tree.prior[child]
        rest += np.float64(prior)
        if prior > largest:
            unvisited, largest = child, prior
    if known < count:
        highest = np.float64(tree.logit[unvisited]) + mixed
    for i in range(known):
        scores[i] = np.float64(tree.logit[first + i]) + scale * scores[i] + proof(tree, first + i)
        highest = max(highest, scores[i])
    total = rest * math.exp(mixed - highest) if known < count else 0.0
    for i in range(known):
        scores[i] = math.exp(scores[i] - highest)
        total += scores[i]
    best, lag = first, -1e30
    for i in range(known):
        score = scores[i] / total - np.float64(tried(tree, first + i)) / (1.0 + visits)
        if score > lag:
            best, lag = first + i, score
    if known < count and math.exp(np.float64(tree.logit[unvisited]) + mixed - highest) / total > lag:
        best = first + known
        swap_unvisited(tree, best, unvisited)
    return best


@helper
def swap_unvisited(tree, one, two):
    """Exchange two nodes without visits."""
    action, prior, logit = tree.action[one], tree.prior[one], tree.logit[one]
    tree.action[one], tree.prior[one] = tree.action[two], tree.prior[two]
    tree.logit[one] = tree.logit[two]
    tree.action[two], tree.prior[two], tree.logit[two] = action, prior, logit


@long_helper
def select_at_root(tree, root, settings, noise, wanted):
    """The child of the highest Gumbel noise + improved logit among those that were visited `wanted` times."""
    first, count = np.int64(tree.first[root]), np.int64(tree.children[root])
    most = np.int64(0)
    for child in range(first, first + count):
        most = max(most, tried(tree, child))
    scale = value_weight(settings, np.float64(most))
    best, highest = first, -1e30
    for i in range(count):
        child = first + i
        if tried(tree, child) == wanted:
            score = np.float64(tree.logit[child]) + noise[i]
            if wanted > 0:  # else all have the same value
                score += scale * mean_of(tree, child) + proof(tree, child)
            if score > highest:
                best, highest = child, score
    return best


@helper
def gumbel_noise(noise, n, rng):
    for i in range(n):
        noise[i] = -math.log(-math.log(max(uniform(rng), 1e-300)))


@long_helper
def root_value(tree, root, settings, scores):
    """The value of the root for the seat to move: exact where it is proven.

    With sequential halving it is that of the improved policy among the children with visits. The mean of all
    simulations would be too low: most of them try actions that are dropped later.
    """
    if tree.proven[root] != UNKNOWN:
        return -np.float64(tree.proven[root])  # the root's is that of the other seat
    first, count = np.int64(tree.first[root]), np.int64(tree.children[root])
    if not settings.gumbel:
        return mean_below(tree, root, first, count)[1]
    improve(tree, root, settings, scores)
    to_probs(scores, count)
    weight, total = 0.0, 0.0
    for i in range(count):
        if tried(tree, first + i) > 0:
            weight += scores[i]
            total += scores[i] * mean_of(tree, first + i)
    return total / weight if weight > 0.0 else np.float64(tree.own[root])
