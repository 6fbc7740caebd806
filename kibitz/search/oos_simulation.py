"""The simulations of Online Outcome Sampling: down through the stored infosets, on to the end, and back."""

from typing import NamedTuple

import numpy as np

from ..games.protocol import CHANCE, OVER, TooLong
from ..jit import below, helper, kernel, uniform
from .infoset_table import find, has_room
from .policies import choose

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
