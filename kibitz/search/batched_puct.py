"""Tree search with a network, as in AlphaZero, for many games at the same time.

Each game has a tree of its own. A kernel walks all trees to their next leaf and writes the encodings of the leaves into
one batch; a network evaluates the batch; the next call adds its answers to the trees and walks on. Two ways to select:

- Gumbel (Danihelka et al. 2022): at the root, sequential halving over the actions with the highest sum of Gumbel noise
  and logit; below it, the action whose share of visits lags most behind the improved policy. It improves the policy
  with as few as two simulations.
- PUCT (Silver et al. 2017): mean + c P sqrt(N) / (1 + n), an unvisited action counts as its parent.

Values are those of seat 0, from -1 to 1, so a seat may move twice in a row. Finished games have exact values, and what
follows from them is proven up the tree (MCTS-Solver, Winands et al. 2008).
"""

import math
from typing import NamedTuple

import numpy as np

from ..core.names import BadInput
from ..games import Game, full_name
from ..games.protocol import OVER, TOO_LONG, TOO_MANY_ACTIONS
from ..jit import helper, kernel, long_helper, uniform
from .selection import UNKNOWN


class Trees(NamedTuple):
    """One row per game, one entry per node; the children of a node are adjacent. Node 0 is the root."""

    visits: np.ndarray  # [games, nodes] i4
    pending: np.ndarray  # [games, nodes] i4: simulations through the node that wait for the network
    total: np.ndarray  # [games, nodes] f8: sum of the values of its visits
    value: np.ndarray  # [games, nodes] f4: the network's value
    prior: np.ndarray  # [games, nodes] f4: the network's probability
    logit: np.ndarray  # [games, nodes] f4: the logarithm of it
    proven: np.ndarray  # [games, nodes] f4: exact value, or UNKNOWN
    action: np.ndarray  # [games, nodes] i4: the action that led here
    first: np.ndarray  # [games, nodes] i4: first child
    children: np.ndarray  # [games, nodes] i4: their number; 0 before the network has answered
    mover: np.ndarray  # [games, nodes] i1: the seat to move, or OVER; NEW before the first visit
    used: np.ndarray  # [games] i8: number of nodes


NEW = -3
PROVEN_WEIGHT = 10.0  # of proven values in the logits of the improved policy, in addition to σ
KINDS = ("i4", "i4", "f8", "f4", "f4", "f4", "f4", "i4", "i4", "i4", "i1")
BYTES = sum(np.dtype(kind).itemsize for kind in KINDS)  # per node


class Settings(NamedTuple):
    """Constants of a search."""

    gumbel: bool
    c: float  # exploration constant of PUCT
    c_visit: float  # weight of values against logits in the improved policy: (c_visit + most visits) * c_scale
    c_scale: float
    prove: bool
    scale: float  # payoff -> -1..1
    middle: float


class Leaves(NamedTuple):
    """Simulations that wait for the network, one row each: `Batch` has the same rows."""

    states: np.ndarray  # [rows] positions
    path: np.ndarray  # [rows, turns] i4: nodes from the root
    depth: np.ndarray  # [rows] i4: of the leaf
    actions: np.ndarray  # [wide] i8: scratch
    scores: np.ndarray  # [wide] f8: scratch


class Batch(NamedTuple):
    """Input and output of the network, in its own numbering of actions (see `frames` of `expand`)."""

    encodings: np.ndarray  # [rows, encoding] f4
    logits: np.ndarray  # [rows, actions] f4
    values: np.ndarray  # [rows] f4: for the seat to move


def refuse(game: Game) -> None:
    """Raise BadInput for games that a network's tree search can't play."""
    facts = game.facts
    if facts.hidden or facts.max_chance_outcomes or facts.seats != 2 or not facts.zero_sum:
        raise BadInput(
            f"a network's tree search needs two seats, zero-sum payoffs, no hidden information and no chance: "
            f"it can't play {full_name(game)}"
        )
    if not facts.encoding:
        raise BadInput(f"{full_name(game)} has no encoding for a network: it needs the rule `observe`")


def new_trees(games: int, nodes: int) -> Trees:
    return Trees(*(np.zeros((games, nodes), kind) for kind in KINDS), np.zeros(games, np.int64))  # type: ignore[call-arg]


def new_leaves(game: Game, rows: int) -> Leaves:
    facts = game.facts
    return Leaves(
        states=np.zeros(rows, game.state),
        path=np.zeros((rows, facts.max_game_length + 2), np.int32),
        depth=np.zeros(rows, np.int32),
        actions=np.zeros(facts.num_actions, np.int64),
        scores=np.zeros(facts.num_actions),
    )


def new_batch(game: Game, rows: int) -> Batch:
    facts = game.facts
    return Batch(
        np.zeros((rows, facts.encoding), np.float32),
        np.zeros((rows, facts.num_actions), np.float32),
        np.zeros(rows, np.float32),
    )


def settings_for(
    game: Game, gumbel: bool = False, c: float = 1.5, c_visit: float = 50.0, c_scale: float = 0.3, prove: bool = True
) -> Settings:
    low, high = game.facts.payoffs
    return Settings(gumbel, float(c), float(c_visit), float(c_scale), prove, 2.0 / (high - low), (high + low) / 2.0)


def halving(considered: int, simulations: int) -> np.ndarray:
    """[considered + 1, simulations] i4: how often the root action of a simulation was visited before it.

    Row m is sequential halving of m actions: each phase gives all that are left the same number of visits, and halves
    them. Among actions of that number of visits the best is simulated, so that the order decides who is left.
    """
    table = np.zeros((considered + 1, max(simulations, 1)), np.int32)
    for m in range(considered + 1):
        if m <= 1:
            table[m] = np.arange(table.shape[1])
            continue
        found: list[int] = []
        visits, left, phases = [0] * m, m, math.ceil(math.log2(m))
        while len(found) < table.shape[1]:
            for _ in range(max(1, simulations // (phases * left))):
                found += visits[:left]
                for i in range(left):
                    visits[i] += 1
            left = max(2, left // 2)
        table[m] = found[: table.shape[1]]
    return table


# ---------------------------------------------------------------- one game's tree


@helper
def sign_of(seat):
    return 1.0 if seat == 0 else -1.0


@helper
def plant(trees, g, turn):
    """Reduce a tree to an unexpanded root."""
    trees.used[g] = 1
    add_node(trees, g, 0, -1, 0.0)
    trees.mover[g, 0] = turn


@helper
def add_node(trees, g, node, action, prior):
    trees.visits[g, node] = 0
    trees.pending[g, node] = 0
    trees.total[g, node] = 0.0
    trees.value[g, node] = 0.0
    trees.prior[g, node] = prior
    trees.logit[g, node] = math.log(max(prior, 1e-30))
    trees.proven[g, node] = UNKNOWN
    trees.action[g, node] = action
    trees.first[g, node] = 0
    trees.children[g, node] = 0
    trees.mover[g, node] = NEW


@long_helper
def expand(game, state, trees, g, node, logits, value, frames, leaves):
    """Add all children of a node by the network's answer: logits by its own number of an action, frames[seat, a]."""
    mover = np.int64(trees.mover[g, node])
    n = game.actions(state, leaves.actions)
    highest = -1e30
    for i in range(n):
        if leaves.actions[i] >= len(logits):
            raise BadInput(TOO_MANY_ACTIONS)
        leaves.scores[i] = np.float64(logits[frames[mover, leaves.actions[i]]])
        highest = max(highest, leaves.scores[i])
    total = 0.0
    for i in range(n):
        leaves.scores[i] = math.exp(leaves.scores[i] - highest)
        total += leaves.scores[i]
    first = trees.used[g]
    for i in range(n):
        add_node(trees, g, first + i, leaves.actions[i], leaves.scores[i] / total)
    trees.value[g, node] = value * sign_of(mover)
    trees.first[g, node] = first
    trees.children[g, node] = n
    trees.used[g] = first + n


@helper
def mean_of(trees, g, child, sign):
    """The value of a visited child for the seat that moves to it; simulations that wait count as lost."""
    if trees.proven[g, child] != UNKNOWN:
        return sign * np.float64(trees.proven[g, child])
    pending = np.float64(trees.pending[g, child])
    return (sign * trees.total[g, child] - pending) / (np.float64(trees.visits[g, child]) + pending)


@helper
def tried(trees, g, child):
    return np.int64(trees.visits[g, child]) + np.int64(trees.pending[g, child])


@long_helper
def select_puct(trees, g, node, settings):
    """The child of the highest mean + c P sqrt(N) / (1 + n)."""
    first, count = np.int64(trees.first[g, node]), np.int64(trees.children[g, node])
    sign = sign_of(trees.mover[g, node])
    visits, total = 0.0, sign * np.float64(trees.value[g, node])
    for child in range(first, first + count):
        visits += tried(trees, g, child)
        total += sign * trees.total[g, child] - np.float64(trees.pending[g, child])
    unknown, scale = total / (1.0 + visits), settings.c * math.sqrt(max(visits, 1.0))
    best, highest = first, -1e30
    for child in range(first, first + count):
        n = tried(trees, g, child)
        score = (mean_of(trees, g, child, sign) if n else unknown) + scale * trees.prior[g, child] / (1.0 + n)
        if trees.proven[g, child] != UNKNOWN:
            score = sign * np.float64(trees.proven[g, child])
            if score <= -1.0:
                score = -1e20
        if score > highest:
            best, highest = child, score
    return best


@long_helper
def improve(trees, g, node, settings, scores):
    """Write the logits of the improved policy, logit + σ(completed Q), and return the visits of all children.

    A child without visits has the mixed value of equation 33 (Danihelka et al. 2022): the mean of the network's value
    and the visited children's, weighted by their priors. A proven value has more weight than an estimate: a win is
    always taken, a loss never.
    """
    first, count = np.int64(trees.first[g, node]), np.int64(trees.children[g, node])
    sign = sign_of(trees.mover[g, node])
    visits, most, weight, total = 0.0, 0.0, 0.0, 0.0
    for child in range(first, first + count):
        n = np.float64(tried(trees, g, child))
        if n > 0:
            visits += n
            most = max(most, n)
            weight += np.float64(trees.prior[g, child])
            total += np.float64(trees.prior[g, child]) * mean_of(trees, g, child, sign)
    mixed = sign * np.float64(trees.value[g, node])
    if visits > 0:
        mixed = (mixed + visits * total / max(weight, 1e-30)) / (1.0 + visits)
    scale = (settings.c_visit + most) * settings.c_scale * 0.5  # values from -1 to 1
    for i in range(count):
        child = first + i
        proven = trees.proven[g, child] != UNKNOWN
        known = proven or tried(trees, g, child) > 0
        scores[i] = trees.logit[g, child] + scale * (mean_of(trees, g, child, sign) if known else mixed)
        if proven:
            scores[i] += PROVEN_WEIGHT * sign * np.float64(trees.proven[g, child])
    return visits


@helper
def to_probs(scores, n):
    """The softmax of n scores, in place."""
    highest = scores[0]
    for i in range(1, n):
        highest = max(highest, scores[i])
    total = 0.0
    for i in range(n):
        scores[i] = math.exp(scores[i] - highest)
        total += scores[i]
    for i in range(n):
        scores[i] /= total


@long_helper
def select_improved(trees, g, node, settings, scores):
    """The child whose share of the visits lags most behind the improved policy."""
    first, count = np.int64(trees.first[g, node]), np.int64(trees.children[g, node])
    visits = improve(trees, g, node, settings, scores)
    to_probs(scores, count)
    best, highest = first, -1e30
    for i in range(count):
        score = scores[i] - tried(trees, g, first + i) / (1.0 + visits)
        if score > highest:
            best, highest = first + i, score
    return best


@long_helper
def select_at_root(trees, g, settings, scores, noise, wanted):
    """The child of the highest Gumbel noise + improved logit among those that were visited `wanted` times."""
    first, count = np.int64(trees.first[g, 0]), np.int64(trees.children[g, 0])
    improve(trees, g, 0, settings, scores)
    best, highest = first, -1e30
    for i in range(count):
        score = scores[i] + noise[i] - (0.0 if tried(trees, g, first + i) == wanted else 1e9)
        if score > highest:
            best, highest = first + i, score
    return best


@helper
def descend(game, state, trees, g, leaves, row, settings, noise, wanted):
    """Walk from the root to a leaf, playing its moves; return whether it has to wait for the network.

    The path has pending visits then; else the leaf's value is exact. `wanted` is that of sequential halving, or -1.
    """
    node, depth = np.int64(0), 0
    leaves.path[row, 0] = 0
    while True:
        if trees.mover[g, node] == NEW:
            trees.mover[g, node] = game.turn(state)
            if trees.mover[g, node] == OVER:
                trees.proven[g, node] = (game.payoff(state, 0) - settings.middle) * settings.scale
        trees.pending[g, node] += 1
        leaves.depth[row] = depth
        if trees.proven[g, node] != UNKNOWN and depth:
            return False
        if trees.children[g, node] == 0:
            return True
        if depth + 1 >= leaves.path.shape[1]:
            raise BadInput(TOO_LONG)
        if depth == 0 and wanted >= 0:
            node = select_at_root(trees, g, settings, leaves.scores, noise, wanted)
        elif settings.gumbel:
            node = select_improved(trees, g, node, settings, leaves.scores)
        else:
            node = select_puct(trees, g, node, settings)
        game.play(state, np.int64(trees.action[g, node]))
        depth += 1
        leaves.path[row, depth] = node


@helper
def backward(trees, g, leaves, row, value, settings):
    """Add a value to all nodes of a path, and prove what follows from a proven leaf."""
    depth = np.int64(leaves.depth[row])
    proven = trees.proven[g, leaves.path[row, depth]] != UNKNOWN
    for level in range(depth, -1, -1):
        node = np.int64(leaves.path[row, level])
        trees.pending[g, node] -= 1
        trees.visits[g, node] += 1
        trees.total[g, node] += value
        if proven and settings.prove and level < depth:
            proven = prove(trees, g, node)


@long_helper
def prove(trees, g, node):
    """Prove a node if its children decide it; return whether."""
    first, count = np.int64(trees.first[g, node]), np.int64(trees.children[g, node])
    sign, best, open_ones = sign_of(trees.mover[g, node]), -2.0, False
    for child in range(first, first + count):
        if trees.proven[g, child] == UNKNOWN:
            open_ones = True
        else:
            best = max(best, sign * np.float64(trees.proven[g, child]))
    if open_ones and best < 1.0:
        return False
    trees.proven[g, node] = sign * best
    return True


@helper
def leaf_value(trees, g, leaves, row):
    """The value of a leaf that was just expanded, or is proven."""
    node = np.int64(leaves.path[row, leaves.depth[row]])
    known = trees.proven[g, node] != UNKNOWN
    return np.float64(trees.proven[g, node]) if known else np.float64(trees.value[g, node])


@helper
def gumbel_noise(noise, n, rng):
    for i in range(n):
        noise[i] = -math.log(-math.log(max(uniform(rng), 1e-300)))


@long_helper
def root_value(trees, g, settings, scores):
    """The value of the root for seat 0: exact where it is proven.

    With sequential halving it is that of the improved policy among the children with visits. The mean of all
    simulations would be too low for the seat to move: most of them try actions that are dropped later.
    """
    if trees.proven[g, 0] != UNKNOWN:
        return np.float64(trees.proven[g, 0])
    if not settings.gumbel:
        return trees.total[g, 0] / max(np.float64(trees.visits[g, 0]), 1.0)
    first, count, sign = np.int64(trees.first[g, 0]), np.int64(trees.children[g, 0]), sign_of(trees.mover[g, 0])
    improve(trees, g, 0, settings, scores)
    to_probs(scores, count)
    weight, total = 0.0, 0.0
    for i in range(count):
        if tried(trees, g, first + i) > 0:
            weight += scores[i]
            total += scores[i] * mean_of(trees, g, first + i, sign)
    return sign * total / weight if weight > 0.0 else np.float64(trees.value[g, 0])


# ---------------------------------------------------------------- one position, many simulations in flight


@kernel
def start(game, roots, trees):
    for g in range(len(roots)):
        plant(trees, g, game.turn(roots[g]))


@kernel
def advance(game, roots, trees, leaves, waiting, batch, settings, frames, simulations, others):
    """Add the network's answers for `waiting` rows to the tree of roots[0], and walk to new leaves.

    Args:
        simulations: That may begin, at most.
        others: Simulations that wait for another batch.

    Returns:
        The simulations that were finished by exact leaves or answers, and the rows that wait now.
    """
    done = 0
    for row in range(waiting):
        node = np.int64(leaves.path[row, leaves.depth[row]])
        if trees.children[0, node] == 0:  # else another simulation in flight had the same leaf
            expand(
                game, leaves.states[row], trees, 0, node, batch.logits[row], np.float64(batch.values[row]), frames,
                leaves,
            )  # fmt: skip
        backward(trees, 0, leaves, row, leaf_value(trees, 0, leaves, row), settings)
        done += 1
    rows, begun = 0, 0
    # One row until the root has children: all would wait for the same answer.
    most = len(leaves.depth) if trees.children[0, 0] else 1 - min(others, 1)
    wide = len(leaves.actions)
    while rows < most and begun < simulations and trees.proven[0, 0] == UNKNOWN:
        if trees.used[0] + (rows + 1 + others) * wide > trees.visits.shape[1]:
            break  # the tree has to grow
        leaves.states[rows] = roots[0]
        state = leaves.states[rows]
        begun += 1
        if descend(game, state, trees, 0, leaves, rows, settings, leaves.scores, -1):
            game.observe(state, game.turn(state), batch.encodings[rows])
            rows += 1
        else:
            backward(trees, 0, leaves, rows, leaf_value(trees, 0, leaves, rows), settings)
            done += 1
    return done, rows
