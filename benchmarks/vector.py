"""Random play in the vectorised environment: steps per second beside pgx on a CPU and beside OpenSpiel.

A step is an action in one game, with the next observation, legal actions, rewards and a new game where one is over.
pgx needs JAX, which Kibitz doesn't: its rows are there if KIBITZ_PGX_PYTHON is an interpreter that has pgx.
"""

import os
import random
import subprocess
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from kibitz.bridges.envs import vector

from .measuring import Row, Work
from .openspiel import PEERS

GAMES = 4096  # side by side
PGX_PYTHON = os.environ.get("KIBITZ_PGX_PYTHON")
SHARED = {  # name -> OpenSpiel's name and the required ratio, pgx's name
    "tic_tac_toe": (PEERS["tic_tac_toe"], 40, "tic_tac_toe"),
    "connect_four": (PEERS["connect_four"], 25, "connect_four"),
    "hex:swap=yes": ("hex(board_size=11,swap=true)", 6, "hex"),
    "othello": (PEERS["othello"], 25, "othello"),
    "kuhn": (PEERS["kuhn"], 100, "kuhn_poker"),
    "leduc": (PEERS["leduc"], 80, "leduc_holdem"),
}
PGX_RATIO = 2


def _ours(name: str) -> Work:
    env = vector.make(name, GAMES)
    env.reset()

    def work(count: int) -> None:
        for _ in range(count):
            env.step(env.sample())

    return work


def _pgx(name: str) -> Work:
    assert PGX_PYTHON is not None
    worker = subprocess.Popen(
        [PGX_PYTHON, str(Path(__file__).with_name("pgx_worker.py")), name, str(GAMES)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert worker.stdin is not None
    assert worker.stdout is not None

    def work(count: int) -> None:
        print(count, file=worker.stdin, flush=True)
        if not worker.stdout.readline():  # type: ignore[union-attr]
            raise RuntimeError(f"pgx ended: see its message above ({PGX_PYTHON})")

    return work


def _openspiel(name: str) -> Work:
    """States of OpenSpiel, one after the other from Python, with the same results per step."""
    import pyspiel
    from open_spiel.python.observation import make_observation

    game = pyspiel.load_game(name)
    rng, mask = random.Random(1), np.zeros(game.num_distinct_actions(), np.int8)
    observer = make_observation(game)  # written to an array by C++, which is faster than a list of numbers

    def to_decision(state: Any) -> Any:
        while state.is_chance_node():
            outcomes, probs = zip(*state.chance_outcomes(), strict=True)
            state.apply_action(rng.choices(outcomes, probs)[0])
        return state

    state = to_decision(game.new_initial_state())
    legal = state.legal_actions()

    def work(count: int) -> None:
        nonlocal state, legal
        for _ in range(count * GAMES):
            state.apply_action(rng.choice(legal))
            to_decision(state)
            if state.is_terminal():
                state.returns()
                state = to_decision(game.new_initial_state())
            observer.set_from(state, state.current_player())
            legal = state.legal_actions()
            mask[:] = 0
            mask[legal] = 1

    return work


ROWS = [
    Row(
        f"vector-{name.partition(':')[0]}", "steps/s", wanted, partial(_ours, name), partial(_openspiel, peer), GAMES,
        "pyspiel",
    )
    for name, (peer, wanted, _) in SHARED.items()
]  # fmt: skip
ROWS += [
    Row(f"vector-{name.partition(':')[0]}-pgx", "steps/s", PGX_RATIO, partial(_ours, name), partial(_pgx, peer), GAMES)
    for name, (_, _, peer) in SHARED.items()
    if PGX_PYTHON
]
