"""Online Outcome Sampling (Lisý, Lanctot and Bowling 2015): outcome sampling that grows a tree and aims at a view.

A simulation is *targeted* with probability δ: it then samples only what keeps it on the way to
the view. Every sample is weighted by the probability of the mixture of both schemes, so that
each regret and each average weight is right in expectation, on target and off it.

With s2 the probability of the moves so far under the untargeted scheme and s1 under the
targeted one, all but three factors of the weights cancel out:

    reach   the updating seat's own sampling probabilities
    ratio   s1 / s2: 0 once a simulation has left the target
    start   (1 - δ) + δ·m, where m is a moving average of s2 / s1: later in a match samples weigh more

    weight of a sample = 1 / (reach · (δ·ratio + 1 - δ) · start)

In the average strategy all simulations count alike; or (linear) the t-th counts t, so that the strategies of the
beginning, which are nearly uniform, are soon forgotten.

One infoset is stored a simulation; from there on a playout policy moves for all, never aimed.
"""

import math
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..core.names import BadInput
from ..games import IST, PST, Game, full_name, positions
from ..games.game import CHANCE, OVER
from ..jit import below, generators, helper, kernel, uniform
from .advice import Advice
from .budget import chunks, max_memory, refuse_beyond
from .infoset_table import SLOT, clear, find, grow, has_room, new_table, size, slot_of
from .policies import Uniform, choose, weighed
from .sequence_form import two_seats_zero_sum
from .strategy import Strategy, from_table

MODES = {"pst": PST, "ist": IST}
DECAY = 0.99  # of the moving average


class Settings(NamedTuple):
    exploration: float  # ε
    targeting: float  # δ
    mistake: float  # γ
    mode: int  # PST or IST
    seat: int  # whose view is aimed at
    linear: float  # how much more each simulation counts in the average strategy than the one before: 0 or 1


class Scratch(NamedTuple):
    """Simulations under way (one, but for `concurrent_oos`): what they stand on, and where they have been."""

    states: np.ndarray  # [under way] positions
    at: np.ndarray  # [under way, turns] i8: of each turn of the updating seat, where the infoset's cells begin
    n: np.ndarray  # [under way, turns] i8
    chosen: np.ndarray  # [under way, turns] i8
    chance: np.ndarray  # [under way, turns] f8: the strategy's odds of the move chosen
    actions: np.ndarray  # [most] i8
    probs: np.ndarray  # [most] f8
    sampling: np.ndarray  # [most] f8
    keep: np.ndarray  # [most] bool
    updating: np.ndarray  # [1] i8: the seat whose regrets the next simulation updates
    average: np.ndarray  # [1] f8: m
    weight: np.ndarray  # [1] f8: of the next simulation in the average strategy


class Focus(NamedTuple):
    """What the simulations through the infoset of the view have seen, by action."""

    key: np.ndarray  # [1] u8
    at: np.ndarray  # [1] i8: where its cells begin; -1 until it is stored
    plies: np.ndarray  # [1] i8: turns before it; simulations aim no further than that
    visits: np.ndarray  # [most] i8
    mass: np.ndarray  # [most] f8: sum of weights
    value: np.ndarray  # [most] f8: weighted sum of payoffs


class Oos:
    """A search that lives through a match: `advise(view, seat, simulations)` aims the same tree anew each time."""

    def __init__(
        self,
        game: Game,
        seed: int = 1,
        exploration: float = 0.4,
        targeting: float = 0.9,
        mistake: float = 0.01,
        target: str | None = None,
        policy: Any = None,
        memory: float | None = None,
        in_flight: int = 1,
        linear: bool = False,
    ) -> None:
        two_seats_zero_sum(game, "oos")
        facts = game.facts
        if target is not None and target not in facts.targets:
            known = " or ".join(facts.targets) or "nothing"
            raise BadInput(f"target={target}: {full_name(game)} can be aimed at {known}")
        self.game = game
        self.policy = Uniform() if policy is None else policy
        self.memory = memory if memory is not None else max_memory()
        mode = MODES[target or (facts.targets or ("pst",))[0]]
        self.settings = Settings(
            float(exploration), float(targeting if facts.targets else 0.0), float(mistake), mode, 0, float(linear)
        )
        most, turns = max(facts.num_actions, facts.max_chance_outcomes), facts.max_game_length + 1
        self.scratch = Scratch(
            states=np.zeros(in_flight, game.state),
            at=np.zeros((in_flight, turns), np.int64),
            n=np.zeros((in_flight, turns), np.int64),
            chosen=np.zeros((in_flight, turns), np.int64),
            chance=np.zeros((in_flight, turns)),
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
        )
        self.root = positions(game)
        self.view = positions(game)
        self.table = new_table()
        self.begin(seed)

    def begin(self, seed: int) -> None:
        """A new match: forget everything."""
        self.rng = generators(seed, 1)[0]
        self.simulations = 0
        self.aimed = False
        self.scratch.updating[0] = 0
        self.scratch.average[0] = 1.0
        self.scratch.weight[0] = 1.0
        clear(self.table)

    def target(self, view: Any, seat: int) -> None:
        """From now on targeted simulations go to this view. The moving average is carried over."""
        self.aimed = True
        self.view[0] = view
        self.settings = self.settings._replace(seat=seat)
        self.focus.key[0] = self.game.infoset(view, seat)
        slot = self.table.slots[int(_place(self.table.slots, self.focus.key))]
        self.focus.at[0] = int(slot["at"]) if slot["key"] == self.focus.key[0] else -1
        self.focus.plies[0] = self.game.facts.max_game_length
        for array in (self.focus.visits, self.focus.mass, self.focus.value):
            array[:] = 0

    def run(self, simulations: int) -> None:
        settings = self.settings if self.aimed else self.settings._replace(targeting=0.0)
        left = simulations
        while left > 0:
            left -= simulate(
                self.game,
                self.root,
                self.view,
                self.table,
                self.scratch,
                self.focus,
                settings,
                self.policy,
                left,
                self.rng,
            )
            if left > 0:
                self.table = grow(self.table, 1, 2 * len(self.scratch.probs))
        self.simulations += simulations

    def advise(
        self,
        view: Any,
        seat: int,
        simulations: int = 0,
        seconds: float = math.inf,
        progress: Callable[[int], None] = lambda done: None,
    ) -> Advice:
        """Search until the simulations (0: no limit) or the seconds are used up, and say what is best at the view."""
        self.refuse_beyond_memory(simulations)
        began, done = time.perf_counter(), 0
        self.target(view, seat)
        for chunk in chunks(simulations, seconds, progress):
            self.refuse_beyond_memory(chunk)
            self.run(chunk)
            done += chunk
        return self.advice(view, done, time.perf_counter() - began)

    def advice(self, view: Any, simulations: int, seconds: float) -> Advice:
        """What the tree says about the view that it is aimed at."""
        actions = np.zeros(self.game.facts.num_actions, np.int64)
        n = self.game.actions(view, actions)
        weights = self.weights(n)
        total = weights.sum()
        focus = self.focus
        with np.errstate(invalid="ignore"):
            value = np.where(focus.mass[:n] > 0, focus.value[:n] / focus.mass[:n], np.nan)
        return Advice(
            actions=actions[:n],
            policy=weights / total if total > 0 else np.full(n, 1 / n),
            value=value,
            visits=focus.visits[:n].copy(),
            prior=weighed(self.game, self.policy, view, n),
            simulations=simulations,
            seconds=seconds,
        )

    def weights(self, n: int) -> np.ndarray:
        """Of the average strategy at the view; zero where it was never visited."""
        at = int(self.focus.at[0])
        return self.table.cells[at + n : at + 2 * n].copy() if at >= 0 else np.zeros(n)

    def strategy(self) -> Strategy:
        """The average strategy at all that is stored."""
        return from_table(self.game, self.table)

    @property
    def bytes(self) -> int:
        return size(self.table)

    def refuse_beyond_memory(self, simulations: int) -> None:
        """A budget that can't fit; each simulation stores one infoset at most."""
        stored = int(self.table.used[0])
        refuse_beyond(self.memory, full_name(self.game), stored, simulations, bytes_an_infoset(self.game))


def bytes_an_infoset(game: Game) -> int:
    """At most: slots are half full and both arrays may just have been doubled."""
    return 4 * SLOT.itemsize + 2 * 2 * 8 * game.facts.num_actions


@kernel
def _place(slots, key):
    return np.int64(slot_of(slots, key[0]))


@kernel
def simulate(game, root, view, table, scratch, focus, settings, policy, count, rng):
    """Do up to `count` simulations, updating the seats by turns; returns how many there was room for."""
    for done in range(count):
        if not room_for_one(table, scratch):
            return done
        scratch.states[0] = root[0]
        state, seat = scratch.states[0], scratch.updating[0]
        scratch.updating[0] = 1 - seat
        depth, tail = descend(game, state, view[0], table, scratch, focus, settings, seat, 0, rng)
        turn = game.turn(state)
        while turn != OVER:
            if turn == CHANCE:
                game.play(state, game.sample_action(state, rng))
            else:
                game.play(state, policy.step(game, state, scratch.actions, scratch.probs, rng))
            turn = game.turn(state)
        update(table.cells, focus, scratch, 0, depth, tail, game.payoff(state, seat))
    return count


@helper
def room_for_one(table, scratch):
    """A simulation stores one infoset at most."""
    return has_room(table.used[0], len(table.slots), 1) and table.used[1] + 2 * len(scratch.probs) <= len(table.cells)


@helper
def descend(game, state, view, table, scratch, focus, settings, seat, number, rng):
    """Move through what is stored, and one infoset further: how many turns the seat had, and the sample's weight."""
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
        if stored:
            match_with_mistakes(cells, at, n, settings.mistake, probs)
        else:
            for j in range(n):
                probs[j] = 1.0 / n
        if turn != seat:
            weight = later / (reach * (delta * ratio + 1.0 - delta) * start)
            for j in range(n):
                cells[at + n + j] += weight * probs[j]
        if not stored:
            i = below(rng, n)
        elif not aims:
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
            depth += 1
        game.play(state, actions[i])
        turn = game.turn(state)
        if not stored:
            break
    if targeted and on_way:
        scratch.average[0] = DECAY * scratch.average[0] + (1.0 - DECAY) / ratio
    return depth, 1.0 / (reach * (delta * ratio + 1.0 - delta) * start)


@helper
def update(cells, focus, scratch, number, depth, tail, payoff):
    """Backwards: what each action was worth, by the odds of the updating seat's later moves."""
    for level in range(depth - 1, -1, -1):
        at, i = scratch.at[number, level], scratch.chosen[number, level]
        if at == focus.at[0]:
            focus.visits[i] += 1
            focus.mass[i] += tail
            focus.value[i] += tail * payoff
        ahead = tail
        tail *= scratch.chance[number, level]
        for j in range(scratch.n[number, level]):
            cells[at + j] -= tail * payoff
        cells[at + i] += ahead * payoff


@helper
def match_with_mistakes(cells, at, n, mistake, probs):
    """Regret matching, and a share of mistakes."""
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
    """An index drawn evenly with probability `exploration`, else by its odds."""
    return below(rng, n) if uniform(rng) < exploration else choose(probs, n, rng)


@helper
def aimed(game, state, view, settings, scratch, sampling, n, targeted, ratio, rng):
    """Draw from `sampling` by the scheme at hand: the index, s1 / s2 after it, and whether it stays on the way."""
    keep = scratch.keep
    kept = game.target(state, view, settings.seat, settings.mode, scratch.actions, n, keep)
    mass = 0.0
    for j in range(n):
        if keep[j]:
            mass += sampling[j]
    # Where nothing is aimed at, or nothing aimed at is ever played, both schemes are the same.
    if kept == n or mass <= 0:
        i = choose(sampling, n, rng)
        return i, ratio, keep[i]
    if not targeted:
        i = choose(sampling, n, rng)
        return i, ratio / mass if keep[i] else 0.0, keep[i]
    return choose_kept(sampling, keep, n, mass, rng), ratio / mass, True


@helper
def choose_kept(sampling, keep, n, mass, rng):
    """An index drawn by its share of the mass that is kept."""
    left = uniform(rng) * mass
    last = 0
    for j in range(n):
        if keep[j] and sampling[j] > 0:
            last = j
            left -= sampling[j]
            if left < 0:
                break
    return last
