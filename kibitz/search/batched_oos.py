"""OOS as many simulations under way at once, so that a network can answer for all that wait in one batch.

Each simulation is a machine: it descends, then plays out; where the playout policy is asked it writes an encoding into
the batch and waits. `advance` moves all machines of a search on, from the network's answers until each waits again.
Descents and updates are those of `oos`; what differs is that a machine's descent doesn't see yet what the others under
way will update. So few are under way in one search, and the batch gets large by searching for many games side by side.
"""

from typing import Any, NamedTuple

import numpy as np

from ..games import Game
from ..games.game import CHANCE, OVER
from ..jit import kernel, record
from .infoset_table import grow
from .oos import Oos, descend, room_for_one, update
from .policies import choose, softmax

IN_FLIGHT = 20  # as in ExIt-OOS
MACHINE = record(
    ("tail", "f8"),  # weight of the sample
    ("depth", "i4"),  # turns that the updating seat had in the tree
    ("row", "i4"),  # of the batch, where it waits
    ("seat", "i1"),  # whose regrets it updates
    ("busy", "i1"),
)


class Batch(NamedTuple):
    """What waits for the network, and what it said."""

    encodings: np.ndarray  # [rows, encoding] f4
    logits: np.ndarray  # [rows, actions] f4


def new_batch(game: Game, rows: int) -> Batch:
    facts = game.facts
    return Batch(np.zeros((rows, facts.encoding), np.float32), np.zeros((rows, facts.num_actions), np.float32))


class BatchedOos(Oos):
    """`search(...)` sets a budget, `advance(...)` is called until nothing waits, `advice(...)` is as ever."""

    def __init__(self, game: Game, seed: int = 1, in_flight: int = IN_FLIGHT, **settings: Any) -> None:
        self.machines = np.zeros(in_flight, MACHINE)
        self.left = np.zeros(1, np.int64)  # simulations of the budget that haven't begun
        super().__init__(game, seed, in_flight=in_flight, **settings)

    def begin(self, seed: int) -> None:
        super().begin(seed)
        self.machines["busy"] = 0
        self.left[0] = 0

    def search(self, view: Any, seat: int, simulations: int) -> None:
        """Aim at a view, with so many simulations to do."""
        self.refuse_beyond_memory(simulations)
        self.target(view, seat)
        self.left[0] = simulations
        self.simulations += simulations

    def advance(self, batch: Batch, first: int) -> int:
        """Go on from the answers until all machines wait again: how many do, in the batch from row `first` on."""
        settings = self.settings if self.aimed else self.settings._replace(targeting=0.0)
        waiting, number = 0, 0
        while True:
            more, number = advance(
                self.game, self.root, self.view, self.table, self.scratch, self.machines, self.left, self.focus,
                settings, batch, first + waiting, number, self.rng,
            )  # fmt: skip
            waiting += more
            if number == len(self.machines):
                return waiting
            self.table = grow(self.table, 1, 2 * len(self.scratch.probs))


@kernel
def advance(game, root, view, table, scratch, machines, left, focus, settings, batch, first, start, rng):
    """Those that wait go on and those that are idle begin, from number `start` on: how many wait anew, and which of
    them found the table full. It goes on from there when that has grown, so its size makes no difference."""
    waiting = 0
    for number in range(start, len(machines)):
        machine, state = machines[number], scratch.states[number]
        if machine.busy:
            n = game.actions(state, scratch.actions)
            softmax(batch.logits[machine.row], scratch.actions, n, scratch.probs)
            game.play(state, scratch.actions[choose(scratch.probs, n, rng)])
        while True:
            if machine.busy:
                turn = game.turn(state)
                while turn == CHANCE:
                    game.play(state, game.sample_action(state, rng))
                    turn = game.turn(state)
                if turn != OVER:
                    machine.row = first + waiting
                    game.observe(state, turn, batch.encodings[first + waiting])
                    waiting += 1
                    break
                update(
                    table.cells, focus, scratch, number, machine.depth, machine.tail, game.payoff(state, machine.seat)
                )
                machine.busy = 0
            if left[0] == 0:
                break
            if not room_for_one(table, scratch):
                return waiting, number
            left[0] -= 1
            scratch.states[number] = root[0]
            machine.seat = scratch.updating[0]
            scratch.updating[0] = 1 - scratch.updating[0]
            machine.depth, machine.tail = descend(
                game, state, view[0], table, scratch, focus, settings, machine.seat, number, rng
            )
            machine.busy = 1
    return waiting, len(machines)
