"""Online Outcome Sampling (Lisý, Lanctot and Bowling 2015): outcome sampling that grows a tree and targets a view.

A simulation is *targeted* with probability δ: it then samples only actions that keep it on the way to the view. Every
sample is weighted by the probability of the mixture of both schemes, so that each regret and each average weight is
right in expectation, on target and off it.

With s2 the probability of the moves so far under the untargeted scheme and s1 under the targeted one, all but three
factors of the weights cancel out:

    reach   the updating seat's own sampling probabilities
    ratio   s1 / s2: 0 once a simulation has left the target
    start   (1 - δ) + δ·m, where m is a moving average of s2 / s1: later in a match samples weigh more

    weight of a sample = 1 / (reach · (δ·ratio + 1 - δ) · start)

All simulations have the same weight; or (linear) regrets and average strategy weigh the t-th by t, as linear CFR does
(Brown and Sandholm 2019), so that the nearly uniform strategies of the beginning are soon forgotten.

Each simulation stores one infoset; from there on a playout policy moves for all seats, never targeted. The strategy at
a new infoset is uniform; or (prior) its regrets start at the playout policy's probabilities, times a number of samples
with the weight of the present one.
"""

from typing import Annotated, Any

import numpy as np

from ..core.memory import limit as memory_limit
from ..core.names import BadInput, Interval
from ..games import IST, PST, Game, full_name, legal_actions, positions
from ..games.zero_sum import two_seats_zero_sum
from ..jit import kernel
from .advice import Advice
from .budget import refuse_beyond
from .infoset_table import SLOT, clear, grow, new_table, size, slot_of
from .oos_simulation import Focus, Scratch, Settings, simulate
from .policies import Uniform, weighed
from .search import Search, search
from .strategy import Strategy, from_table

MODES = {"pst": PST, "ist": IST}


@search("oos")
class Oos(Search):
    """Online Outcome Sampling: converges to equilibrium in two-seat zero-sum games with hidden information.

    The tree lives through a game; each `advise` targets it at another view.
    """

    policy_from = "network"
    keeps_tree = True
    plays = "two-seat zero-sum games"

    def __init__(
        self,
        game: Game,
        seed: int = 1,
        target: Annotated[
            str, "what simulations are targeted at; auto: what suits the game", ("auto", *MODES)
        ] = "auto",
        # All actions need a positive probability (ε), and so does everything that is off target (δ).
        epsilon: Annotated[float, "exploration of the updating seat", Interval(0, 1, above=True)] = 0.4,
        delta: Annotated[float, "share of targeted simulations", Interval(0, 1, below=True)] = 0.9,
        gamma: Annotated[float, "share of uniform play mixed into the strategies", Interval(0, 1, below=True)] = 0.01,
        linear: Annotated[bool, "whether the t-th simulation has weight t"] = False,
        prior_weight: Annotated[
            float, "weight of the network's policy in the regrets of a new infoset, in samples", Interval(0, 1e6)
        ] = 0.0,
        policy: Any = None,
        memory: float | None = None,
        in_flight: int = 1,
    ) -> None:
        """
        Args:
            policy: Policy of the playouts; uniform if None.
            memory: Bytes; the limit of `core.memory` if None.
            in_flight: Number of simulations at once (`batched_oos`).
        """
        two_seats_zero_sum(game, "oos")
        super().__init__(game, seed)
        facts = game.facts
        if target != "auto" and target not in facts.targets:
            known = " or ".join(facts.targets) or "auto only"
            raise BadInput(f"target={target} is not possible in {full_name(game)}, it should be {known}")
        self.policy = Uniform() if policy is None else policy
        self.memory = memory if memory is not None else memory_limit()
        mode = MODES[(facts.targets or ("pst",))[0] if target == "auto" else target]
        delta = delta if facts.targets else 0.0
        self.settings = Settings(
            float(epsilon), float(delta), float(gamma), mode, 0, float(linear), float(prior_weight)
        )
        most, turns = max(facts.num_actions, facts.max_chance_outcomes), facts.max_game_length + 1
        self.scratch = Scratch(
            states=np.zeros(in_flight, game.state),
            at=np.zeros((in_flight, turns), np.int64),
            n=np.zeros((in_flight, turns), np.int64),
            chosen=np.zeros((in_flight, turns), np.int64),
            chance=np.zeros((in_flight, turns)),
            weights=np.zeros((in_flight, turns)),
            trail=np.zeros((in_flight, 0), game.state),
            actions=np.zeros(most, np.int64),
            probs=np.zeros(most),
            sampling=np.zeros(most),
            keep=np.zeros(most, np.bool_),
            updating=np.zeros(1, np.int64),
            average=np.ones(1),
            weight=np.ones(1),
        )
        self.focus = Focus(
            key=np.zeros(1, np.uint64),
            at=np.full(1, -1),
            plies=np.full(1, facts.max_game_length),
            visits=np.zeros(most, np.int64),
            mass=np.zeros(most),
            value=np.zeros(most),
            squares=np.zeros((most, 3)),
        )
        self.root = positions(game)
        self.view = positions(game)
        self.table = new_table()
        self.begin(seed)

    def begin(self, seed: int) -> None:
        super().begin(seed)
        self.simulations = 0
        self.targeted = False
        self.scratch.updating[0] = 0
        self.scratch.average[0] = 1.0
        self.scratch.weight[0] = 1.0
        clear(self.table)

    def target(self, view: Any, seat: int) -> None:
        """Target simulations at this view from now on. The moving average is carried over."""
        self.targeted = True
        self.view[0] = view
        self.settings = self.settings._replace(seat=seat)
        self.focus.key[0] = self.game.infoset(view, seat)
        slot = self.table.slots[int(_place(self.table.slots, self.focus.key))]
        self.focus.at[0] = int(slot["at"]) if slot["key"] == self.focus.key[0] else -1
        self.focus.plies[0] = self.game.facts.max_game_length
        for array in (self.focus.visits, self.focus.mass, self.focus.value, self.focus.squares):
            array[:] = 0
        self.actions = np.array(legal_actions(self.game, view))
        self.prior = weighed(self.game, self.policy, view, len(self.actions))  # here: the clock isn't running yet

    def run(self, simulations: int) -> int:
        settings = self.settings if self.targeted else self.settings._replace(targeting=0.0)
        left = simulations
        while left > 0:
            left -= simulate(
                self.game, self.root, self.view, self.table, self.scratch, self.focus, settings, self.policy, left,
                self.rng,
            )  # fmt: skip
            if left > 0:
                table = grow(self.table, 1, 2 * len(self.scratch.probs), self.stopped)
                if table is self.table:
                    break
                self.table = table
        self.simulations += simulations - left
        return simulations - left

    def advice(self, view: Any, simulations: int, seconds: float = 0.0) -> Advice:
        """The average strategy at the view that is targeted; where it was never visited, uniform or the prior."""
        n, focus = len(self.actions), self.focus
        weights = self.weights(n)
        total = weights.sum()
        unvisited = self.prior if self.settings.prior > 0 else np.full(n, 1 / n)
        with np.errstate(invalid="ignore"):
            value = np.where(focus.mass[:n] > 0, focus.value[:n] / focus.mass[:n], np.nan)
            error = weighted_error(value, focus, n)
        return Advice(
            actions=self.actions,
            policy=weights / total if total > 0 else unvisited,
            value=value,
            visits=focus.visits[:n].copy(),
            error=error,
            prior=self.prior,
            simulations=simulations,
            seconds=seconds,
        )

    def weights(self, n: int) -> np.ndarray:
        """Weights of the n actions in the average strategy at the view; zero where it was never visited."""
        at = int(self.focus.at[0])
        return self.table.cells[at + n : at + 2 * n].copy() if at >= 0 else np.zeros(n)

    def strategy(self) -> Strategy:
        """The average strategy at all stored infosets."""
        return from_table(self.game, self.table)

    @property
    def bytes(self) -> int:
        return size(self.table)

    def refuse_beyond_memory(self, simulations: int) -> None:
        stored = int(self.table.used[0])
        refuse_beyond(self.memory, full_name(self.game), stored, simulations, bytes_per_infoset(self.game))


def weighted_error(value: np.ndarray, focus: Focus, n: int) -> np.ndarray:
    """Standard errors of weighted means: the root of Σ w²(x - mean)² over Σ w; NaN: fewer than two samples."""
    squares = focus.squares[:n].T
    variance = squares[2] - 2 * value * squares[1] + value**2 * squares[0]
    return np.where(focus.visits[:n] > 1, np.sqrt(np.maximum(variance, 0)) / focus.mass[:n], np.nan)


def bytes_per_infoset(game: Game) -> int:
    """An upper bound: slots are half full, and both arrays may just have been doubled."""
    return 4 * SLOT.itemsize + 2 * 2 * 8 * game.facts.num_actions


@kernel
def _place(slots, key):
    return np.int64(slot_of(slots, key[0]))
