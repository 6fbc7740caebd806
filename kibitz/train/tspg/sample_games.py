"""Games that a policy plays against itself, for its explanation, and the positions of them that a page shows."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ...core.names import BadInput
from ...core.progress import SILENT, Reporter
from ...games import CHANCE, OVER, positions
from .contributions import Explainer, move_cells, softmax
from .store import POLICIES

MAX_POSITIONS = 40
MAX_MOVES = 10_000  # in all positions together: a page of some megabytes
MAX_LINE = 20  # positions of the given line, the last ones
BATCH = 64  # positions whose patterns are evaluated together


class Decision(NamedTuple):
    """A position of a game, and the move played there."""

    state: Any
    seat: int
    ply: int
    line: tuple[str, ...]  # moves before it
    before: tuple[int, int]  # cells of the last of these: from, to
    played: str  # empty: the line ends here


@dataclass(frozen=True)
class SampleGames:
    """Games that a policy played against itself, and statistics of their positions."""

    games: tuple[tuple[Decision, ...], ...]
    fires: tuple[np.ndarray, np.ndarray]  # per seat [patterns]: share of its legal moves for which each is active
    entropy: dict[str, np.ndarray]  # policy -> [positions with a choice]: 1 is uniform
    stage: np.ndarray  # [the same positions]: from 0, the opening, to below 1, the end


def sample_games(explainer: Explainer, policy: str, count: int, seed: int, report: Reporter = SILENT) -> SampleGames:
    """Play games in parallel, so that positions are evaluated in batches; each game has its own random stream."""
    game = explainer.game
    weights = {name: explainer.features.weights(name) for name in POLICIES}
    states = positions(game, count)
    generators = [np.random.default_rng([seed, number]) for number in range(count)]
    games: list[list[Decision]] = [[] for _ in range(count)]
    lines: list[tuple[str, ...]] = [()] * count
    last_moves = [(-1, -1)] * count
    fires, num_cases = [np.zeros(len(explainer.patterns(seat))) for seat in range(2)], [0, 0]
    entropies: dict[str, list[float]] = {name: [] for name in POLICIES}
    measured: list[tuple[int, int]] = []  # game and ply of each entropy
    running = list(range(count))
    while running:
        for number in running:
            _play_chance(game, states[number], generators[number])
        turns = [game.turn(states[number]) for number in running]
        for seat in range(2):
            to_move = [number for number, turn in zip(running, turns, strict=True) if turn == seat]
            for start in range(0, len(to_move), BATCH):
                batch = to_move[start : start + BATCH]
                cases = explainer.cases(states[batch], seat)
                active = cases.active.astype(float)
                fires[seat] += active.sum(axis=0)
                num_cases[seat] += len(active)
                logits = {name: active @ weights[name][seat] for name in POLICIES}
                for number, first, length in zip(batch, cases.first, cases.lengths, strict=True):
                    state, ply = states[number].copy(), len(games[number])
                    probs = {name: softmax(each[first : first + length]) for name, each in logits.items()}
                    if length > 1:
                        measured.append((number, ply))
                        for name, each in probs.items():
                            entropies[name].append(entropy(each))
                    action = int(generators[number].choice(cases.actions[first : first + length], p=probs[policy]))
                    name = game.action_to_string(state, action)
                    games[number].append(Decision(state, seat, ply, lines[number], last_moves[number], name))
                    lines[number] = (*lines[number], name)
                    last_moves[number] = move_cells(game, state, action)
                    game.play(states[number], action)
        running = [number for number in running if game.turn(states[number]) != OVER]
        report.progress(count - len(running), count, "playing")
    stage = np.array([ply / len(games[number]) for number, ply in measured])
    shares = [fires[seat] / max(num_cases[seat], 1) for seat in range(2)]
    by_policy = {name: np.array(values) for name, values in entropies.items()}
    return SampleGames(tuple(map(tuple, games)), (shares[0], shares[1]), by_policy, stage)


def entropy(probs: np.ndarray) -> float:
    """Entropy of two or more probabilities, relative to that of the uniform distribution: 1 is uniform, 0 certain."""
    used = probs[probs > 0]
    return float(-(used * np.log(used)).sum() / np.log(len(probs)))


def parse_line(game: Any, text: str) -> tuple[Decision, ...]:
    """The positions of a line of moves; the last one is the position after all of them."""
    state, before = positions(game)[0], (-1, -1)
    found: list[Decision] = []
    line: list[str] = []
    words = text.replace(",", " ").split()
    for number, word in enumerate(words):
        seat = game.turn(state)
        if seat == OVER:
            raise BadInput(f"--moves: the game is over before move {number + 1}, {word!r}")
        try:
            action = game.parse_action(state, word)
        except BadInput as error:
            raise BadInput(f"--moves: move {number + 1}: {error}") from None
        name = game.action_to_string(state, action)
        if seat != CHANCE:
            found.append(Decision(state.copy(), seat, number, tuple(line), before, name))
            before = move_cells(game, state, action)
        line.append(name)
        game.play(state, action)
    if game.turn(state) < 0:
        why = "the game is over" if game.turn(state) == OVER else "it is nobody's turn"
        raise BadInput(f"--moves: {why} after {' '.join(words)}, so there is no move to explain")
    return (*found, Decision(state.copy(), game.turn(state), len(words), tuple(line), before, ""))


def _play_chance(game: Any, state: Any, generator: np.random.Generator) -> None:
    while game.turn(state) == CHANCE:
        game.play(state, game.sample_action(state, generator.integers(2**63, size=2, dtype=np.uint64)))


def select_positions(
    explainer: Explainer, games: Sequence[tuple[Decision, ...]], line: tuple[Decision, ...]
) -> list[tuple[int, int, Decision]]:
    """The positions that a page has room for: the line, most of the first game, single ones of the others.

    Each comes with the number and the length of its game.
    """
    scratch = np.zeros(explainer.game.facts.num_actions, np.int64)
    widest = max(explainer.game.actions(decision.state, scratch) for decision in games[0])
    room = min(MAX_POSITIONS, max(MAX_MOVES // widest, 4))
    found = [(0, len(line) - 1, decision) for decision in line[-min(MAX_LINE, room // 2) :]]
    left = room - len(found)
    first = games[0]
    others = [each for each in games[1:] if each]
    whole = left - min(len(others), left // 4)
    found += [(1, len(first), first[k]) for k in evenly_spaced(len(first), whole)]
    left = room - len(found)
    for rank, number in enumerate(evenly_spaced(len(others), left)):
        each = others[number]
        stage = (rank + 0.5) / min(left, len(others))
        found.append((number + 2, len(each), each[int(stage * len(each))]))
    return found


def evenly_spaced(count: int, most: int) -> list[int]:
    """At most `most` of `count` indices in order, the first and the last among them."""
    if count <= most:
        return list(range(count))
    return sorted({round(k * (count - 1) / max(most - 1, 1)) for k in range(most)})
