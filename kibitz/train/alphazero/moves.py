"""How a game of self-play goes on: searches, moves, samples, resignations, in kernels over many games."""

import math
from typing import NamedTuple

import numpy as np

from ...games import OVER
from ...jit import helper, kernel, long_helper, record, uniform
from ...search.batched_puct import back_up, descend, expand, replant
from ...search.gumbel import gumbel_noise, improve, root_value, to_probs
from ...search.selection import UNKNOWN, tried

DIRICHLET = 0.5  # concentration of PUCT's noise
OPENING_SHARE = 0.5  # of games that begin with random moves, where some do
RESIGN_MOVES = 3  # of a seat in a row, at which its search sees the game as lost
LARGE = 65535  # probabilities are rounded to multiples of 1/65535 and stored as u2, half of the memory

SEAT = record(
    ("outcome", "f4"),  # for seat 0
    ("budget", "i4"),  # simulations of the search
    ("done", "i4"),
    ("rows", "i4"),  # samples of the game so far
    ("ply", "i4"),
    ("full", "i1"),  # whether the search is one to learn from
    ("searching", "i1"),  # 1: in progress; -1: interrupted, repeated with the next network
    ("waiting", "i1"),  # for the network
    ("over", "i1"),
    ("plays_on", "i1"),  # never resigns, to measure what resignations get wrong
    ("resigned", "i1"),  # the seat that resigned, or would have, counted from 1; 0: none
    ("low", "i1", (2,)),  # moves of each seat in a row at which it saw the game as lost
)


class Rows(NamedTuple):
    """Samples of the games that are being played: one per search to learn from."""

    states: np.ndarray  # [games, turns] of the game's records: where the search began
    policies: np.ndarray  # [games, turns, actions] u2: in the network's numbering
    legal: np.ndarray  # [games, turns, actions] u1
    seats: np.ndarray  # [games, turns] i1
    values: np.ndarray  # [games, turns] f4: of the search, for the seat


class Rule(NamedTuple):
    """How games are played."""

    fast: int  # simulations of a search that isn't learned from
    full: int
    full_share: float  # probability of a full search
    resign: float  # value below minus this is lost; 2: never resign
    play_on: float  # share of games without resignation
    temperature_moves: int  # moves that are drawn by chance: by Gumbel noise, or by the visits of PUCT
    opening: int  # random moves that a game may begin with, at most; 0: none


@kernel
def begin_games(game, states, seats, counts, blank):
    """Count the games that are over, and begin new ones in their places."""
    for g in range(len(states)):
        seat = seats[g]
        if seat.over:
            counts[0] += 1
            counts[1] += seat.ply
            if seat.resigned and not seat.plays_on:
                counts[2] += 1
            elif seat.resigned:
                lost = seat.outcome < 0 if seat.resigned == 1 else seat.outcome > 0
                counts[3] += 1
                counts[4] += not lost
            seats[g] = blank[0]
            game.start(states[g])


@kernel
def encode(game, states, seats, encodings):
    """Encode positions, each for a seat."""
    for i in range(len(states)):
        game.observe(states[i], np.int64(seats[i]), encodings[i])


@kernel
def advance_games(
    game, states, seats, rows, tree, leaves, batch, first, settings, rule, frames, sequences, noise, rngs
):
    """Continue each game of a batch, with the network's answer where it waits, until it waits again or is over."""
    nodes = len(tree.visits) // len(tree.used)  # of a game
    for row in range(len(batch.values)):
        g = first + row
        root = g * nodes
        seat, state, rng, encoding = seats[g], states[g], rngs[g], batch.encodings[row]
        if seat.waiting:
            seat.waiting = 0
            depth = np.int64(leaves.depth[g])
            expand(
                game, leaves.states[g], tree, g, leaves.path[g, depth], batch.logits[row],
                np.float64(batch.values[row]), frames, leaves,
            )  # fmt: skip
            back_up(tree, leaves, g, settings)
            if depth == 0:
                prepare_root(tree, root, seat, settings, rule, noise[g], rng)
            else:
                seat.done += 1
        while not seat.over:
            finished = seat.done >= seat.budget or tree.proven[root] != UNKNOWN
            if seat.searching == 1 and finished and tree.children[root]:
                finish_move(game, state, tree, root, g, seat, rows, leaves, settings, rule, frames, noise[g], rng)
                continue
            if seat.searching != 1:
                begin_search(game, state, tree, root, g, seat, rule, leaves.actions, rng)
            leaves.states[g] = state
            wanted = -1
            if settings.gumbel and tree.children[root]:
                considered = min(np.int64(tree.children[root]), sequences.shape[1] - 1)
                wanted = np.int64(sequences[seat.full, considered, seat.done])
            if descend(game, leaves.states[g], tree, root, leaves, g, settings, noise[g], wanted):
                game.observe(leaves.states[g], game.turn(leaves.states[g]), encoding)
                seat.waiting = 1
                break
            back_up(tree, leaves, g, settings)
            seat.done += 1


@helper
def begin_search(game, state, tree, root, g, seat, rule, actions, rng):
    if seat.searching == 0:
        if seat.ply == 0:
            seat.plays_on = uniform(rng) < rule.play_on
            if rule.opening and uniform(rng) < OPENING_SHARE:
                play_opening(game, state, seat, rule, actions, rng)
        seat.full = uniform(rng) < rule.full_share
    seat.budget = rule.full if seat.full else rule.fast
    seat.done = 0
    seat.searching = 1
    replant(tree, g, root, game.turn(state))


@long_helper
def play_opening(game, state, seat, rule, actions, rng):
    """Play 1 to `rule.opening` random moves; if they end the game, it starts again without them."""
    seat.ply = 1 + np.int64(uniform(rng) * rule.opening)
    for _ in range(seat.ply):
        n = game.actions(state, actions)
        game.play(state, actions[np.int64(uniform(rng) * n)])
        if game.turn(state) == OVER:
            game.start(state)
            seat.ply = 0
            break


@long_helper
def prepare_root(tree, root, seat, settings, rule, noise, rng):
    """Draw the noise of the root; a forced move needs no search."""
    first, n = np.int64(tree.first[root]), np.int64(tree.children[root])
    if n == 1:
        seat.budget = 0
        seat.full = 0
    if settings.gumbel:
        gumbel_noise(noise, n, rng)
    elif seat.full and n > 1:
        total = 0.0
        for i in range(n):
            noise[i] = gamma(DIRICHLET, rng)
            total += noise[i]
        for i in range(n):
            mixed = 0.75 * np.float64(tree.prior[first + i]) + 0.25 * noise[i] / max(total, 1e-300)
            tree.prior[first + i] = mixed


@long_helper
def gamma(shape, rng):
    """A sample of the gamma distribution (Marsaglia and Tsang 2000), of a shape below 1."""
    d = shape + 1.0 - 1.0 / 3.0
    c = 1.0 / math.sqrt(9.0 * d)
    while True:
        angle, radius = uniform(rng), math.sqrt(-2.0 * math.log(max(uniform(rng), 1e-300)))
        x = radius * math.cos(2.0 * math.pi * angle)
        v = (1.0 + c * x) ** 3
        if v > 0.0 and math.log(max(uniform(rng), 1e-300)) < 0.5 * x * x + d - d * v + d * math.log(v):
            return d * v * max(uniform(rng), 1e-300) ** (1.0 / shape)


@long_helper
def finish_move(game, state, tree, root, g, seat, rows, leaves, settings, rule, frames, noise, rng):
    """Keep a sample, choose a move and play it; or resign."""
    mover = np.int64(tree.mover[root])
    first, n = np.int64(tree.first[root]), np.int64(tree.children[root])
    value = root_value(tree, root, settings, leaves.scores)
    best = choose_move(tree, root, seat, settings, rule, leaves.scores, noise, rng)
    if seat.full:
        row = np.int64(seat.rows)
        rows.states[g, row] = state
        for i in range(rows.policies.shape[2]):
            rows.policies[g, row, i] = 0
            rows.legal[g, row, i] = 0
        policy_target(tree, root, settings, leaves.scores)
        for i in range(n):
            at = frames[mover, tree.action[first + i]]
            rows.policies[g, row, at] = np.uint16(leaves.scores[i] * LARGE + 0.5)
            rows.legal[g, row, at] = 1
        rows.seats[g, row] = mover
        rows.values[g, row] = value
        seat.rows += 1
    seat.ply += 1
    seat.searching = 0
    seat.low[mover] = seat.low[mover] + 1 if value < -rule.resign else 0
    if seat.low[mover] >= RESIGN_MOVES and not seat.resigned:
        seat.resigned = mover + 1
        if not seat.plays_on:
            seat.outcome = -1.0 if mover == 0 else 1.0
            seat.over = 1
    if not seat.over:
        game.play(state, np.int64(tree.action[best]))
        if game.turn(state) == OVER:
            seat.outcome = (game.payoff(state, 0) - settings.middle) * settings.scale
            seat.over = 1


@long_helper
def choose_move(tree, root, seat, settings, rule, scores, noise, rng):
    """The node of the move to play."""
    first, n = np.int64(tree.first[root]), np.int64(tree.children[root])
    most = np.int64(0)
    for child in range(first, first + n):
        most = max(most, tried(tree, child))
    if settings.gumbel:
        improve(tree, root, settings, scores)
    early = seat.ply < rule.temperature_moves
    drawing = early and not settings.gumbel
    left = uniform(rng) * np.float64(tree.visits[root] - 1) if drawing else 0.0
    best, highest = first, -1e30
    for i in range(n):
        child = first + i
        visits = np.float64(tried(tree, child))
        if settings.gumbel:  # the best of those that sequential halving has left
            score = scores[i] + (noise[i] if early else 0.0) - (0.0 if visits == most else 1e9)
        elif drawing:  # by the visits
            score = 1e9 + visits if 0.0 <= left < visits else visits
            left -= visits
        else:
            score = visits
        if tree.proven[root] != UNKNOWN:  # the proof decides, then the score
            won = tree.proven[child] != UNKNOWN and tree.proven[child] == -tree.proven[root]
            score += 0.0 if won else -1e12
        elif tree.proven[child] != UNKNOWN and tree.proven[child] <= -1.0:
            score -= 1e10
        if score > highest:
            best, highest = child, score
    return best


@long_helper
def policy_target(tree, root, settings, scores):
    """The improved policy, or the shares of the visits."""
    first, n = np.int64(tree.first[root]), np.int64(tree.children[root])
    if settings.gumbel:
        improve(tree, root, settings, scores)
        to_probs(scores, n)
        return
    total = 0.0
    for i in range(n):
        scores[i] = np.float64(tried(tree, first + i))
        total += scores[i]
    for i in range(n):
        scores[i] = scores[i] / total if total > 0 else 1.0 / n
