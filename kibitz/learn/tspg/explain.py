"""Explanations of learned patterns: how often each is active, and how much it contributes to each move.

The policy is a softmax of linear logits, so it can be explained exactly: a logit is the sum of the weights of the
patterns that are active for a move. Terms that all moves share change nothing, so the contribution of a pattern to a
move is its weight times how much more active it is there than on average, w (φ - mean φ). A pattern that is active for
other moves only contributes too.
"""

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ...core.files import check_fits, read_tensors, readable
from ...core.names import BadInput
from ...core.progress import SILENT, Reporter
from ...games import CHANCE, OVER, Game, full_name, load, load_stored, positions
from ...games.boards import SQUARE
from .cases import Cases, Finder
from .patterns import ALL, ANCHORS, KINDS, Pattern, Place, images, seen_at, spelled, window
from .sets import compile_set, words_for
from .store import FORMAT, POLICIES, Features, features_for

MAX_CONTRIBUTIONS = 12  # patterns listed per move
MAX_POSITIONS = 40
MAX_MOVES = 10_000  # in all positions together: a page of some megabytes
MAX_LINE = 20  # positions of the given line, the last ones
STAGES = 10
BINS = 41  # odd: weights of 0 are in the middle of one
MAX_WEIGHT = 1e9  # in a file: with larger ones, sums lose their digits
BATCH = 64  # positions whose patterns are evaluated together
NAMES = {"off": "off the board"}
COMPASS = {
    8: ("east", "north-east", "north", "north-west", "west", "south-west", "south", "south-east"),
    6: ("east", "north-east", "north-west", "west", "south-west", "south-east"),
}


def read_explainable(path: Path, game_name: str | None = None) -> tuple[Game, Features, str]:
    """Read a file of features: its game, or the one that the person names, the features, and how it was made."""
    what = "feature set"
    _, about = read_tensors(path, FORMAT, what)
    with readable(path, what):
        check_fits(about, {"game": str, "made": str})
    stored_game, made = about["game"], about["made"]
    game = load(game_name) if game_name is not None else load_stored(stored_game)
    features = features_for(path, game)
    if game.facts.seats != 2 or game.facts.hidden:
        raise BadInput(f"{stored_game} is no two-player game of perfect information")
    vectors = [each for both in features.vectors.values() for each in both if len(each)]
    largest = max((float(np.abs(each).max()) for each in vectors), default=0.0)
    if not largest < MAX_WEIGHT:
        raise BadInput(f"{path} has a weight of {largest:g}, which should be below {MAX_WEIGHT:g}")
    return game, features, made


# ---------------------------------------------------------------- in words


def describe_pattern(pattern: Pattern, board: Any) -> str:
    """`to a cell: friend 1 east, not empty 2 north`; rotations and reflections are the same pattern."""
    parts = []
    for anchor in pattern.anchors:
        words = [
            f"{describe_kinds(allowed)} {describe_place(board, place)}"
            for at, place, allowed in pattern.elements
            if at == anchor
        ]
        words += [f"{mark.name} = {mark.value}" for mark in pattern.marks if mark.anchor == anchor]
        where = f"the cell {describe_place(board, pattern.start)}" if anchor and pattern.start else ""
        end = f"{ANCHORS[anchor]} {where or ('a cell' if words else 'any cell')}"
        parts.append(f"{end}: {', '.join(words)}" if words else end)
    return "; ".join(parts)


def describe_kinds(allowed: int) -> str:
    kinds = [NAMES.get(kind, kind) for bit, kind in enumerate(KINDS) if allowed >> bit & 1]
    if len(kinds) == 3:
        return f"not {describe_kinds(ALL ^ allowed)}"
    return " or ".join(kinds)


def describe_place(board: Any, place: Place) -> str:
    if place == (0, 0):
        return "there"
    steps, compass = board.directions, COMPASS[len(board.directions)]
    for step, name in zip(steps, compass, strict=True):
        n = max(map(abs, place)) // max(map(abs, step))
        if (n * step[0], n * step[1]) == place:
            return f"{n} {name}"
    if steps == SQUARE:  # a leap
        up, right = place
        return f"{abs(up)} {'north' if up > 0 else 'south'} {abs(right)} {'east' if right > 0 else 'west'}"
    between = {
        (one[0] + other[0], one[1] + other[1]): f"between {compass[k]} and {compass[(k + 1) % len(steps)]}"
        for k, (one, other) in enumerate(zip(steps, (*steps[1:], steps[0]), strict=True))
    }
    return between.get(place, f"at row {place[0]:+}, column {place[1]:+}")


# ---------------------------------------------------------------- positions


class Contribution(NamedTuple):
    """Contribution of a pattern to the logit of a move."""

    pattern: int
    adds: float  # its weight, or 0 where it isn't active
    relative: float  # `adds` less its mean over the moves
    image: int  # the first symmetry under which the pattern matches; -1: not active


@dataclass(frozen=True)
class Move:
    name: str
    start: int
    to: int
    logit: float
    prob: float
    contributions: tuple[Contribution, ...]  # the largest first


class Decision(NamedTuple):
    """A position of a game, and the move played there."""

    state: Any
    seat: int
    ply: int
    line: tuple[str, ...]  # moves before it
    before: tuple[int, int]  # cells of the last of these: from, to
    played: str  # empty: the line ends here


@dataclass(frozen=True)
class ExplainedPosition:
    game: int  # number of the sample game; 0: the given line
    plies: int  # of the game
    decision: Decision
    content: tuple[int, ...]  # per cell: 0 empty, 1 and 2 a piece of seat 0 and 1
    moves: tuple[Move, ...]
    active: np.ndarray  # [patterns] i8: number of moves for which each is active


class Explainer:
    """Evaluates the patterns of both seats at positions."""

    def __init__(self, game: Any, features: Features) -> None:
        self.game, self.features, self.board = game, features, game.board()
        self.window = window(self.board, features.kind == "rich")
        self.finder = Finder(game, features.kind)
        self.tables = [
            compile_set(game, features.kind, seat, patterns, words_for(len(patterns)))
            for seat, patterns in enumerate(features.patterns)
        ]
        self.images = functools.cache(lambda seat, f: images(self.patterns(seat)[f], self.window))

    def patterns(self, seat: int) -> tuple[Pattern, ...]:
        return self.features.patterns[seat]

    def cases(self, states: np.ndarray, seat: int) -> Cases:
        """All legal moves of positions in which the seat is to move, with their active patterns."""
        return self.finder.find(states, self.tables[seat], len(self.patterns(seat)))

    def content(self, state: Any) -> tuple[int, ...]:
        """Content of each cell, as in `ExplainedPosition`."""
        found = []
        for place in self.game.places():
            word, bit = divmod(int(place), 64)
            first, second = (int(self.game.pieces(state, seat, word)) >> bit & 1 for seat in range(2))
            found.append(first + 2 * second)
        return tuple(found)

    def image(self, seat: int, f: int, content: Sequence[int], start: int, to: int) -> int:
        """The first symmetry under which a pattern matches at a move; -1: none."""
        kinds, places = (0, 1 + seat, 2 - seat), self.board.places
        came = (places[start][0] - places[to][0], places[start][1] - places[to][1])
        for symmetry, image in enumerate(self.images(seat, f)):
            if image.start and image.start != came:
                continue
            for anchor, place, allowed in image.elements:
                there = seen_at(self.board, to if anchor == 0 else start, place, self.features.kind == "rich")
                if not allowed >> (kinds.index(content[there]) if there >= 0 else 3) & 1:
                    break
            else:
                return symmetry
        return -1

    def text(self, seat: int, f: int) -> str:
        """A pattern as in its file."""
        return spelled(self.patterns(seat)[f], self.window)

    def explain(
        self, state: Any, seat: int, weights: np.ndarray, most: int = MAX_CONTRIBUTIONS
    ) -> tuple[tuple[Move, ...], np.ndarray]:
        """All moves at a position with their largest contributions; and the number of moves per active pattern."""
        states = np.zeros(1, self.game.state)
        states[0] = state
        cases, content = self.cases(states, seat), self.content(state)
        active = cases.active.astype(float)
        relative = weights * (active - active.mean(axis=0))
        logits = active @ weights
        probs = softmax(logits)
        moves = []
        for i, action in enumerate(cases.actions.tolist()):
            start, to = _cells(self.game, state, action)
            order = np.lexsort((-np.abs(weights * active[i]), -np.abs(relative[i])))[:most]
            contributions = tuple(
                Contribution(
                    f,
                    float(weights[f] * active[i, f]),
                    float(relative[i, f]),
                    self.image(seat, f, content, start, to) if active[i, f] else -1,
                )
                for f in order.tolist()
                if relative[i, f] or (len(active) == 1 and weights[f] and active[i, f])
            )
            name = self.game.action_to_string(state, action)
            moves.append(Move(name, start, to, float(logits[i]), float(probs[i]), contributions))
        return tuple(moves), active.sum(axis=0).astype(int)


def softmax(logits: np.ndarray) -> np.ndarray:
    probs = np.exp(logits - logits.max())
    return probs / probs.sum()


# ---------------------------------------------------------------- games


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
                    last_moves[number] = _cells(game, state, action)
                    game.play(states[number], action)
        running = [number for number in running if game.turn(states[number]) != OVER]
        report.progress(count - len(running), count, "playing")
    stage = np.array([ply / len(games[number]) for number, ply in measured])
    shares = [fires[seat] / max(num_cases[seat], 1) for seat in range(2)]
    by_policy = {name: np.array(values) for name, values in entropies.items()}
    return SampleGames(tuple(map(tuple, games)), (shares[0], shares[1]), by_policy, stage)


def entropy(probs: np.ndarray) -> float:
    """Entropy of two or more probabilities, relative to that of the uniform distribution."""
    return float(-(probs * np.log(np.maximum(probs, 1e-300))).sum() / np.log(len(probs)))


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
            before = _cells(game, state, action)
        line.append(name)
        game.play(state, action)
    if game.turn(state) < 0:
        why = "the game is over" if game.turn(state) == OVER else "it is nobody's turn"
        raise BadInput(f"--moves: {why} after {' '.join(words)}, so there is no move to explain")
    return (*found, Decision(state.copy(), game.turn(state), len(words), tuple(line), before, ""))


def _cells(game: Any, state: Any, action: int) -> tuple[int, int]:
    start, to = game.from_to(state, action)
    return int(start), int(to)


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


# ---------------------------------------------------------------- explanations


@dataclass(frozen=True)
class Explanation:
    game: Game
    name: str
    policy: str
    made: str
    seed: int
    explainer: Explainer
    sample: SampleGames
    positions: tuple[ExplainedPosition, ...]
    start: int  # index of the position that a page shows first

    @functools.cached_property
    def weights(self) -> tuple[np.ndarray, np.ndarray]:
        return self.explainer.features.weights(self.policy)

    def strongest(self, seat: int) -> list[int]:
        """Patterns of a seat, by the size of their weights."""
        return np.argsort(-np.abs(self.weights[seat]), kind="stable").tolist()

    def words(self, seat: int, f: int) -> str:
        return describe_pattern(self.explainer.patterns(seat)[f], self.explainer.board)

    def stages(self) -> tuple[list[int], dict[str, list[float | None]]]:
        """Number of positions per stage of the game, and their mean entropy per policy."""
        at = np.minimum((self.sample.stage * STAGES).astype(int), STAGES - 1)
        counts = np.bincount(at, minlength=STAGES)
        means = {
            name: [float(value[at == k].mean()) if counts[k] else None for k in range(STAGES)]
            for name, value in self.sample.entropy.items()
        }
        return counts.tolist(), means

    def histogram(self) -> tuple[float, dict[str, list[int]]]:
        """The largest weight, and numbers of weights of both seats in bins from minus to plus that."""
        vectors = {name: np.concatenate(self.explainer.features.weights(name)) for name in ("ce", "tspg")}
        most = max((float(np.abs(each).max()) for each in vectors.values() if len(each)), default=0.0)
        most = most if most > 1e-9 else 1.0
        return most, {name: np.histogram(each, BINS, (-most, most))[0].tolist() for name, each in vectors.items()}


def explain(
    game: Game, features: Features, name: str, policy: str, made: str, games: int, seed: int, moves: str | None = None,
    report: Reporter = SILENT,
) -> Explanation:  # fmt: skip
    """Explain a policy by sample games of its own, and by the positions of the line `moves` first, where given."""
    line = () if moves is None else parse_line(game, moves)
    explainer = Explainer(game, features)
    report.progress(0, games, "playing")
    played = sample_games(explainer, policy, games, seed, report)
    weights, found = features.weights(policy), []
    shown = select_positions(explainer, played.games, line)
    for done, (number, plies, decision) in enumerate(shown):
        report.progress(done, len(shown), "explaining")
        explained, active = explainer.explain(decision.state, decision.seat, weights[decision.seat])
        content = explainer.content(decision.state)
        found.append(ExplainedPosition(number, plies, decision, content, explained, active))
    start = max(sum(each.game == 0 for each in found) - 1, 0)
    return Explanation(game, name, policy, made, seed, explainer, played, tuple(found), start)


def is_square(board: Any) -> bool:
    return bool(board.directions == SQUARE)


def as_json(found: Explanation) -> dict[str, Any]:
    """All patterns, and the position that the page shows first, as JSON values."""
    counts, entropies = found.stages()
    most, bins = found.histogram()
    patterns = []
    for seat in range(2):
        ce = found.explainer.features.weights("ce")[seat]
        for rank, f in enumerate(found.strongest(seat)):
            texts = {"seat": seat + 1, "rank": rank + 1, "pattern": found.explainer.text(seat, f)}
            weights = {"weight": float(found.weights[seat][f]), "ce": float(ce[f])}
            fires = {"fires": float(found.sample.fires[seat][f])}
            patterns.append(texts | {"words": found.words(seat, f)} | weights | fires)
    first = found.positions[found.start]
    moves = []
    for move in first.moves:
        parts = [
            {"pattern": found.explainer.text(first.decision.seat, f), "adds": adds, "relative": relative}
            for f, adds, relative, _ in move.contributions
        ]
        moves.append({"move": move.name, "probability": move.prob, "logit": move.logit, "patterns": parts})
    return {
        "run": found.name,
        "game": full_name(found.game),
        "policy": found.policy,
        "made": found.made,
        "seed": found.seed,
        "games": len(found.sample.games),
        "patterns": patterns,
        "entropy": {"stages": STAGES, "positions": counts, **entropies},
        "weights": {"from": -most, "to": most, **bins},
        "position": {"line": list(first.decision.line), "seat": first.decision.seat + 1, "moves": moves},
    }
