"""Results of kernels as lines of text: `python -m tests.jit.results` prints them, for another process to compare.

Rules of all games are compared in games/test_compiled.py.
"""

import hashlib
from collections.abc import Iterator
from typing import Any

import numpy as np

from kibitz import games
from kibitz.games import OVER
from kibitz.jit import generators, kernel, mix
from kibitz.solve.best_response import evaluate
from kibitz.solve.solvers import METHODS, new_solver


@kernel
def walk(game, state, view, guess, notes, encoding, rng):
    """Play to the end at random and call all rules at every turn; a key of all results."""
    key = np.uint64(1)
    while game.turn(state) != OVER:
        for seat in range(2):
            key = mix(key, game.infoset(state, seat))
            game.look(state, seat, view)
            game.prepare(view, seat, notes)
            key = mix(key, game.determinize(view, seat, notes, rng, guess))
            game.observe(guess, seat, encoding)
            for x in encoding:
                key = mix(key, int(x))
        game.play(state, game.sample_action(state, rng))
    return mix(key, int(100 + game.payoff(state, 0)))


def walks() -> Iterator[tuple[str, Any]]:
    for name in ("kuhn", "goofspiel:3", "connect_four"):
        game = games.load(name)
        scratch = games.positions(game, 2)
        notes, encoding = np.zeros(game.facts.notes), np.zeros(game.facts.encoding, np.float32)
        for rng in generators(1, 20):
            state = games.positions(game)[0]
            yield name, np.uint64(walk(game, state, scratch[0], scratch[1], notes, encoding, rng))
            yield name, state
            yield name, rng


def solutions() -> Iterator[tuple[str, Any]]:
    for name in ("kuhn", "goofspiel:3", "liars_dice:faces=2"):
        for method in sorted(METHODS):
            solver, form = new_solver(games.load(name), method, seed=7)
            solver.run(4)
            strategy = solver.strategy()
            yield f"{name} {method}", strategy.keys
            yield f"{name} {method}", strategy.probs
            yield f"{name} {method}", np.float64(evaluate(form, strategy).nash_conv)


def lines() -> Iterator[str]:
    for compare in (walks, solutions):
        for name, value in compare():
            yield f"{name} {hashlib.sha256(value.tobytes()).hexdigest()[:16]}"


if __name__ == "__main__":
    for line in lines():
        print(line)
