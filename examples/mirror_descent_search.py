"""Magnetic mirror descent search with exact values: how far is a network from equilibrium, alone and after one step?

The player `mmds:N,net=FILE` estimates the value of each action from N sampled worlds. Here it is computed by walking
the whole game, so this is the player with all worlds.

Run it: python examples/mirror_descent_search.py leduc models/leduc
"""

import sys

import numpy as np

import kibitz
from kibitz.games import CHANCE, OVER, chance_outcomes, legal_actions, positions
from kibitz.nets.mlp import action_probs, read_layers
from kibitz.nets.model_files import network_file
from kibitz.search.mmds import mirror_step
from kibitz.solve.best_response import evaluate_probs
from kibitz.solve.sequence_form import unfold


def values(form, probs):
    """The expected payoff after each action if all seats follow the policy: [sequences] per seat."""
    game, place = form.game, [{int(key): i for i, key in enumerate(side.keys)} for side in form.sides]
    totals, reached = [np.zeros(side.sequences) for side in form.sides], [np.zeros(len(keys)) for keys in place]

    def walk(state, chance, one, two):
        """The value of a position for seat 0; `one` and `two` are the probabilities that the seats move there."""
        turn = game.turn(state)
        if turn == OVER:
            return game.payoff(state, 0)
        if turn == CHANCE:
            return sum(
                prob * walk(after(state, i), chance * prob, one, two) for i, prob in chance_outcomes(game, state)
            )
        number, total = place[turn][int(game.infoset(state, turn))], 0.0
        first, others = form.sides[turn].first[number], chance * (two if turn == 0 else one)
        reached[turn][number] += others
        for s, action in enumerate(legal_actions(game, state), first):
            prob = probs[turn][s]
            moved = (one * prob, two) if turn == 0 else (one, two * prob)
            value = walk(after(state, action), chance, *moved)
            totals[turn][s] += others * (value if turn == 0 else -value)
            total += prob * value
        return total

    def after(state, action):
        copy = state.copy()
        game.play(copy, action)
        return copy

    walk(positions(game)[0], 1.0, 1.0, 1.0)
    for side, total, reach in zip(form.sides, totals, reached, strict=True):
        total[1:] /= np.maximum(np.repeat(reach, np.diff(side.first)), 1e-300)
    return totals


def after_step(form, probs, exact, eta, alpha):
    """The policies of both seats after one step at every infoset."""
    low, high = form.game.facts.rewards
    found = [each.copy() for each in probs]
    for side, mine, value in zip(form.sides, found, exact, strict=True):
        for first, end in zip(side.first[:-1], side.first[1:], strict=True):
            mine[first:end] = mirror_step(mine[first:end], 2 * value[first:end] / (high - low), eta, alpha)
    return found


def main(name="leduc", network="models/leduc", etas=(0.3, 1, 3, 10, 30, 100), alphas=(0, 0.05, 0.2)):
    game = kibitz.load(name)
    form, layers = unfold(game), read_layers(network_file(network), game)[0]
    probs = []
    for side, views in zip(form.sides, form.views, strict=True):
        legal = action_probs(game, layers, views)
        probs.append(np.concatenate([[1.0], *(row[:n] for row, n in zip(legal, np.diff(side.first), strict=True))]))
    table = {(0, 0): evaluate_probs(form, *probs).nash_conv}
    print(f"{name}, network alone: {table[0, 0]:.4f}")
    exact = values(form, probs)
    for eta in etas:
        for alpha in alphas:
            table[eta, alpha] = evaluate_probs(form, *after_step(form, probs, exact, eta, alpha)).nash_conv
        print(f"eta={eta}: " + ", ".join(f"alpha={alpha} {table[eta, alpha]:.4f}" for alpha in alphas))
    return table


if __name__ == "__main__":
    main(*sys.argv[1:3])
