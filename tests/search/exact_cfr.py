"""Discounted CFR (Brown and Sandholm 2019) on dictionaries, in exact or long arithmetic: an oracle for our solver.

Numbers are `Fraction`s, or `Decimal`s of as many digits as their context says.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from kibitz.games import CHANCE, OVER, Game, chance_outcomes, legal_actions, positions

Number = Callable[[Any], Any]  # Fraction or Decimal
Averages = dict[int, list]  # key of an infoset -> weighted sums of its strategies, one per action


class Node(NamedTuple):
    turn: int
    key: int  # of the infoset
    payoffs: list  # of both seats, at a leaf
    probs: list  # of chance
    children: list


def tree(game: Game, number: Number) -> Node:
    def grow(state: Any) -> Node:
        turn, key, payoffs, probs = game.turn(state), 0, [], []
        if turn == OVER:
            payoffs = [number(int(game.payoff(state, seat))) for seat in range(2)]
            return Node(turn, key, payoffs, probs, [])
        if turn == CHANCE:
            shares = [Fraction(share).limit_denominator(1000) for _, share in chance_outcomes(game, state)]
            assert sum(shares) == 1
            probs = [number(share.numerator) / number(share.denominator) for share in shares]
        else:
            key = int(game.infoset(state, turn))
        children = []
        for action in legal_actions(game, state):
            copy = np.array([state], game.state)
            game.play(copy[0], action)
            children.append(grow(copy[0]))
        return Node(turn, key, payoffs, probs, children)

    return grow(positions(game)[0])


def proportional(weights: list, number: Number) -> list:
    total = sum(weights)
    return [weight / total if total > 0 else number(1) / len(weights) for weight in weights]


def discounted_cfr(root: Node, number: Number, gain: Callable[[int], Any]) -> Iterator[Averages]:
    """The average strategies after each iteration t = 1, 2, ...: with alpha = 3/2 where gain(t) is t^1.5 / (t^1.5 + 1),
    beta = 0 and gamma = 2. Seat 0 is updated first, then seat 1 against seat 0's new strategy."""
    regrets: dict[int, list] = {}
    averages: Averages = {}

    def strategy(node: Node) -> list:
        known = regrets.setdefault(node.key, [number(0)] * len(node.children))
        return proportional([max(regret, number(0)) for regret in known], number)

    def walk(node: Node, seat: int, own: Any, others: Any, new: dict, plan: dict) -> Any:
        """The value for a seat. `own` and `others`: the probability that it, and all others with chance, lead here."""
        if node.turn == OVER:
            return node.payoffs[seat]
        probs = node.probs if node.turn == CHANCE else strategy(node)
        children = list(zip(probs, node.children, strict=True))
        if node.turn != seat:
            return sum(prob * walk(child, seat, own, others * prob, new, plan) for prob, child in children)
        values = [walk(child, seat, own * prob, others, new, plan) for prob, child in children]
        value = sum(prob * each for prob, each in zip(probs, values, strict=True))
        new[node.key] = [
            so_far + others * (each - value)
            for so_far, each in zip(new.get(node.key, [0] * len(values)), values, strict=True)
        ]
        plan[node.key] = [own * prob for prob in probs]
        return value

    t = 0
    while True:
        t += 1
        for seat in range(2):
            new: dict[int, list] = {}
            plan: dict[int, list] = {}
            walk(root, seat, number(1), number(1), new, plan)
            for key, differences in new.items():
                totals = [regret + each for regret, each in zip(regrets[key], differences, strict=True)]
                regrets[key] = [total * gain(t) if total > 0 else total / 2 for total in totals]
                before = averages.get(key, [number(0)] * len(totals))
                averages[key] = [so_far + t * t * each for so_far, each in zip(before, plan[key], strict=True)]
        yield averages


def nash_conv(root: Node, number: Number, averages: Averages) -> Any:
    """The sum of the values of both seats' best responses to the average strategies."""
    return sum(best_value(root, number, averages, seat) for seat in range(2))


def best_value(root: Node, number: Number, averages: Averages, seat: int) -> Any:
    nodes: dict[int, list] = defaultdict(list)  # of each infoset of the seat, and the others' probability of it
    chosen: dict[int, int] = {}

    def outcomes(node: Node) -> Iterator[tuple]:
        return zip(node.probs or proportional(averages[node.key], number), node.children, strict=True)

    def collect(node: Node, others: Any) -> None:
        if node.turn == seat:
            nodes[node.key].append((node, others))
            for child in node.children:
                collect(child, others)
        elif node.turn != OVER:
            for prob, child in outcomes(node):
                collect(child, others * prob)

    def best(key: int) -> int:
        if key not in chosen:
            actions = range(len(nodes[key][0][0].children))
            sums = [sum(others * value(node.children[action]) for node, others in nodes[key]) for action in actions]
            chosen[key] = sums.index(max(sums))
        return chosen[key]

    def value(node: Node) -> Any:
        if node.turn == OVER:
            return node.payoffs[seat]
        if node.turn == seat:
            return value(node.children[best(node.key)])
        return sum(prob * value(child) for prob, child in outcomes(node))

    collect(root, number(1))
    return value(root)
