"""OOS with many simulations in flight, so that a network evaluates all that wait in one batch.

Each simulation is a state machine: it descends, then plays out; where it needs the playout policy it writes an encoding
into the batch and waits. `advance` continues all machines of a search with the network's output until each waits again.
Descents and updates are those of `oos`, except that a descent doesn't see the updates of other simulations in flight.
So each search has few in flight, and the batch gets large by searching many games side by side. With `prior_weight`
the compiled network is asked once per simulation, at its new infoset.
"""

from typing import Any, NamedTuple

import numpy as np

from ..core.names import BadInput
from ..games import Game
from ..games.game import CHANCE, OVER
from ..jit import kernel, record
from .infoset_table import grow
from .oos import Oos
from .oos_simulation import descend, room_for_one, update
from .policies import choose, softmax

IN_FLIGHT = 20  # as in ExIt-OOS
MACHINE = record(
    ("tail", "f8"),  # weight of the sample
    ("depth", "i4"),  # number of turns of the updating seat in the tree
    ("row", "i4"),  # of the batch, where it waits
    ("seat", "i1"),  # whose regrets it updates
    ("busy", "i1"),
)


class Batch(NamedTuple):
    """Input and output of the network, one row per simulation that waits."""

    encodings: np.ndarray  # [rows, encoding] f4
    logits: np.ndarray  # [rows, actions] f4


def new_batch(game: Game, rows: int) -> Batch:
    facts = game.facts
    return Batch(np.zeros((rows, facts.encoding), np.float32), np.zeros((rows, facts.num_actions), np.float32))


class BatchedOos(Oos):
    """`search(...)` sets a budget; call `advance(...)` until nothing waits; `advice(...)` is that of `Oos`."""

    def __init__(self, game: Game, seed: int = 1, in_flight: int = IN_FLIGHT, **settings: Any) -> None:
        if settings.get("prior_weight") and settings.get("policy") is None:
            raise BadInput("prior_weight in batches needs the compiled network too, as `policy`: descents don't wait")
        self.machines = np.zeros(in_flight, MACHINE)
        self.left = np.zeros(1, np.int64)  # simulations of the budget that haven't begun
        super().__init__(game, seed, in_flight=in_flight, **settings)

    def begin(self, seed: int) -> None:
        super().begin(seed)
        self.machines["busy"] = 0
        self.left[0] = 0

    def search(self, view: Any, seat: int, simulations: int) -> None:
        """Target a view, with a budget of simulations."""
        self.refuse_beyond_memory(simulations)
        self.target(view, seat)
        self.left[0] = simulations
        self.simulations += simulations

    def advance(self, batch: Batch, first: int) -> int:
        """Continue with the network's output until all machines wait again; return how many do, from row `first` on."""
        settings = self.settings if self.targeted else self.settings._replace(targeting=0.0)
        waiting, number = 0, 0
        while True:
            more, number = advance(
                self.game, self.root, self.view, self.table, self.scratch, self.machines, self.left, self.focus,
                settings, self.policy, batch, first + waiting, number, self.rng,
            )  # fmt: skip
            waiting += more
            if number == len(self.machines):
                return waiting
            self.table = grow(self.table, 1, 2 * len(self.scratch.probs))


@kernel
def advance(game, root, view, table, scratch, machines, left, focus, settings, policy, batch, first, start, rng):
    """Continue the machines that wait and start the idle ones, from number `start` on.

    Returns how many wait now, and the number of the machine that found the table full (the number of machines if none
    did). Called again with that number when the table has grown, so that its size makes no difference.
    """
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
                game, state, view[0], table, scratch, focus, settings, policy, machine.seat, number, rng
            )
            machine.busy = 1
    return waiting, len(machines)
