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

from typing import Annotated, Any, NamedTuple

import numpy as np

from ..core.memory import limit as memory_limit
from ..core.names import BadInput, Interval
from ..games import IST, PST, Game, full_name, legal_actions, positions
from ..games.protocol import CHANCE, OVER, TooLong
from ..jit import below, helper, kernel, uniform
from .advice import Advice
from .budget import refuse_beyond
from .infoset_table import SLOT, clear, find, grow, has_room, new_table, size, slot_of
from .policies import Uniform, choose, weighed
from .search import Search, search
from .sequence_form import two_seats_zero_sum
from .strategy import Strategy, from_table

MODES = {"pst": PST, "ist": IST}
DECAY = 0.99  # of the moving average


class Settings(NamedTuple):
    exploration: float  # ε
    targeting: float  # δ
    mistake: float  # γ
    mode: int  # PST or IST
    seat: int  # whose view is the target
    linear: float  # by which the weight grows from one simulation to the next: 0 or 1
    prior: float  # weight of the playout policy in the regrets of a new infoset, in samples with a payoff of 1


class Scratch(NamedTuple):
    """Simulations in flight (one, except in `batched_oos`): their positions and paths."""

    states: np.ndarray  # [in flight] positions
    at: np.ndarray  # [in flight, turns] i8: for each turn of the updating seat, where the infoset's cells begin
    n: np.ndarray  # [in flight, turns] i8
    chosen: np.ndarray  # [in flight, turns] i8
    chance: np.ndarray  # [in flight, turns] f8: the strategy's probability of the chosen action
    weights: np.ndarray  # [in flight, turns] f8: of the sample, up to there
    trail: np.ndarray  # [in flight, turns] positions there; [in flight, 0] where nobody asks for them
    actions: np.ndarray  # [most] i8
    probs: np.ndarray  # [most] f8
    sampling: np.ndarray  # [most] f8
    keep: np.ndarray  # [most] bool
    updating: np.ndarray  # [1] i8: the seat whose regrets the next simulation updates
    average: np.ndarray  # [1] f8: m
    weight: np.ndarray  # [1] f8: of the next simulation


class Focus(NamedTuple):
    """Statistics of the simulations through the infoset of the view, by action."""

    key: np.ndarray  # [1] u8
    at: np.ndarray  # [1] i8: where its cells begin; -1 until it is stored
    plies: np.ndarray  # [1] i8: turns before it; simulations are targeted no further than that
    visits: np.ndarray  # [most] i8
    mass: np.ndarray  # [most] f8: sum of weights
    value: np.ndarray  # [most] f8: weighted sum of payoffs
    squares: np.ndarray  # [most, 3] f8: sums of squared weights, times payoffs to the power of 0, 1 and 2


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


@kernel
def simulate(game, root, view, table, scratch, focus, settings, policy, count, rng):
    """Do up to `count` simulations, updating the seats by turns; return how many there was room for."""
    for done in range(count):
        if not room_for_one(table, scratch):
            return done
        scratch.states[0] = root[0]
        state, seat = scratch.states[0], scratch.updating[0]
        scratch.updating[0] = 1 - seat
        depth, tail = descend(game, state, view[0], table, scratch, focus, settings, policy, seat, 0, rng)
        turn = game.turn(state)
        left = scratch.at.shape[1]
        while turn != OVER:
            if left == 0:
                raise TooLong
            left -= 1
            if turn == CHANCE:
                game.play(state, game.sample_action(state, rng))
            else:
                game.play(state, policy.step(game, state, scratch.actions, scratch.probs, rng))
            turn = game.turn(state)
        update(table.cells, focus, scratch, 0, depth, tail, game.payoff(state, seat))
    return count


@helper
def room_for_one(table, scratch):
    """Whether the table has room for one simulation, which stores one infoset at most."""
    return has_room(table.used[0], len(table.slots), 1) and table.used[1] + 2 * len(scratch.probs) <= len(table.cells)


@helper
def descend(game, state, view, table, scratch, focus, settings, policy, seat, number, rng):
    """Descend through the stored infosets and one further; return the seat's number of turns, the sample's weight."""
    cells, actions, probs = table.cells, scratch.actions, scratch.probs
    aiming, delta = settings.targeting > 0, settings.targeting
    targeted = aiming and uniform(rng) < delta
    start = (1.0 - delta) + delta * scratch.average[0]
    later = scratch.weight[0]
    scratch.weight[0] += settings.linear
    reach, ratio, depth, ply = 1.0, 1.0, 0, 0
    on_way = aiming
    turn = game.turn(state)
    while turn != OVER:
        if ply == scratch.at.shape[1]:
            raise TooLong
        aims = on_way and ply < focus.plies[0]
        ply += 1
        if turn == CHANCE:
            if aims:
                n = game.actions(state, actions)
                game.chance_probs(state, actions, n, probs)
                i, ratio, on_way = aimed(game, state, view, settings, scratch, probs, n, targeted, ratio, rng)
                game.play(state, actions[i])
            else:
                game.play(state, game.sample_action(state, rng))
            turn = game.turn(state)
            continue
        n = game.actions(state, actions)
        key = game.infoset(state, turn)
        before = table.used[0]
        at = find(table, key, 2 * n)
        stored = table.used[0] == before
        if key == focus.key[0]:
            focus.at[0] = at
            focus.plies[0] = ply - 1
        weight = later / (reach * (delta * ratio + 1.0 - delta) * start)
        if not stored and settings.prior > 0:
            policy.weigh(game, state, actions, n, probs)
            for j in range(n):
                cells[at + j] = settings.prior * weight * probs[j]
        if stored or settings.prior > 0:
            match_with_mistakes(cells, at, n, settings.mistake, probs)
        else:
            for j in range(n):
                probs[j] = 1.0 / n
        if turn != seat:
            for j in range(n):
                cells[at + n + j] += weight * probs[j]
        if not stored and settings.prior == 0:
            i = below(rng, n)
        elif not stored or not aims:
            i = explore(probs, n, settings.exploration, rng) if turn == seat else choose(probs, n, rng)
        else:
            sampling = probs
            if turn == seat:
                sampling = scratch.sampling
                for j in range(n):
                    sampling[j] = settings.exploration / n + (1.0 - settings.exploration) * probs[j]
            i, ratio, on_way = aimed(game, state, view, settings, scratch, sampling, n, targeted, ratio, rng)
        if turn == seat:
            reach *= settings.exploration / n + (1.0 - settings.exploration) * probs[i]
            scratch.at[number, depth] = at
            scratch.n[number, depth] = n
            scratch.chosen[number, depth] = i
            scratch.chance[number, depth] = probs[i]
            scratch.weights[number, depth] = weight
            if depth < scratch.trail.shape[1]:
                scratch.trail[number, depth] = state
            depth += 1
        game.play(state, actions[i])
        turn = game.turn(state)
        if not stored:
            break
    if targeted and on_way:
        scratch.average[0] = DECAY * scratch.average[0] + (1.0 - DECAY) / ratio
    return depth, later / (reach * (delta * ratio + 1.0 - delta) * start)


@helper
def update(cells, focus, scratch, number, depth, tail, payoff):
    """Update regrets backwards along the path: `tail` gathers the probabilities of the updating seat's later moves."""
    for level in range(depth - 1, -1, -1):
        at, i = scratch.at[number, level], scratch.chosen[number, level]
        if at == focus.at[0]:
            focus.visits[i] += 1
            gather(focus, i, tail, payoff)
        ahead = tail
        tail *= scratch.chance[number, level]
        for j in range(scratch.n[number, level]):
            cells[at + j] -= tail * payoff
        cells[at + i] += ahead * payoff


@helper
def gather(focus, i, weight, payoff):
    """Count a sample of an action at the view."""
    focus.mass[i] += weight
    focus.value[i] += weight * payoff
    for power in range(3):
        focus.squares[i, power] += weight * weight * payoff**power


@helper
def match_with_mistakes(cells, at, n, mistake, probs):
    """Regret matching, mixed with a share of uniform play."""
    total = 0.0
    for j in range(n):
        probs[j] = max(cells[at + j], 0.0)
        total += probs[j]
    if total > 0:
        scale, least = (1.0 - mistake) / total, mistake / n
        for j in range(n):
            probs[j] = least + scale * probs[j]
    else:
        for j in range(n):
            probs[j] = 1.0 / n


@helper
def explore(probs, n, exploration, rng):
    """Sample an index, uniformly with probability `exploration`, else by its probability."""
    return below(rng, n) if uniform(rng) < exploration else choose(probs, n, rng)


@helper
def aimed(game, state, view, settings, scratch, sampling, n, targeted, ratio, rng):
    """Sample from `sampling` by the scheme at hand; return the index, s1 / s2 after it, and whether it is on target."""
    keep = scratch.keep
    kept = game.target(state, view, settings.seat, settings.mode, scratch.actions, n, keep)
    mass = 0.0
    for j in range(n):
        if keep[j]:
            mass += sampling[j]
    # Where all actions are on target, or none that is on target is ever played, both schemes are the same.
    if kept == n or mass <= 0:
        i = choose(sampling, n, rng)
        return i, ratio, keep[i]
    if not targeted:
        i = choose(sampling, n, rng)
        return i, ratio / mass if keep[i] else 0.0, keep[i]
    return choose_kept(sampling, keep, n, mass, rng), ratio / mass, True


@helper
def choose_kept(sampling, keep, n, mass, rng):
    """Sample an index that is on target, by its share of their total probability `mass`."""
    left = uniform(rng) * mass
    last = 0
    for j in range(n):
        if keep[j] and sampling[j] > 0:
            last = j
            left -= sampling[j]
            if left < 0:
                break
    return last
