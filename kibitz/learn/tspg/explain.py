"""What learned patterns are, how often they fire, and what each says of a move.

The policy is a softmax of sums of weights, so that it can be told exactly: a logit is the sum of the weights of the
patterns that are active for a move. What all moves share changes nothing: a pattern speaks for a move by its weight,
times how much more active it is there than on average, w (φ - mean φ). Where only others have it, that counts too.
"""

import functools
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import safetensors

from ...core.names import BadInput
from ...games import CHANCE, OVER, Game, full_name, load, positions
from ...games.boards import SQUARE
from .cases import Cases, Finder
from .patterns import ALL, ANCHORS, KINDS, Pattern, Place, images, spelled, window
from .sets import compile_set, words_for
from .store import FORMAT, POLICIES, Features, features_for

MAX_SAID = 12  # patterns that are told of a move
MAX_POSITIONS = 40
MAX_MOVES = 10_000  # of all positions together: a page of some megabytes
LINE = 20  # positions of a line that is given, the last ones
STAGES = 10
BINS = 41  # odd: weights of 0 are in the middle of one
HEAVIEST = 1e9  # what a file may hold: sums stay exact to some digits
AT_ONCE = 64  # positions whose patterns are looked for together
NAMES = {"off": "off the board"}
COMPASS = {
    8: ("east", "north-east", "north", "north-west", "west", "south-west", "south", "south-east"),
    6: ("east", "north-east", "north-west", "west", "south-west", "south-east"),
}


def read(path: Path, game_name: str | None = None, trusted: bool = False) -> tuple[Game, Features, str]:
    """A file of features, its game, and how it was made.

    A game of one's own is a file that is run as it is loaded: a foreign file of features can't ask for that by itself.
    """
    try:
        with safetensors.safe_open(path, "numpy") as file:  # type: ignore[no-untyped-call]
            about = json.loads((file.metadata() or {}).get("about", "{}"))
            is_ours = about.get("format") == FORMAT
            named, made = (str(about["game"]), str(about["made"])) if is_ours else ("", "")
    except FileNotFoundError:
        raise BadInput(f"no run and no file of features {str(path)!r}") from None
    except (safetensors.SafetensorError, OSError, ValueError, AttributeError, KeyError) as error:
        raise BadInput(f"{path} can't be read as features, it is damaged or foreign: {error}") from None
    if not is_ours:
        raise BadInput(f"{path} holds no patterns: explained is what kibitz train tspg has learned")
    if game_name is None and ".py" in named and not trusted:
        raise BadInput(f"{path} is for {named}, which is code: if you trust it, say so by --game {named}")
    game = load(game_name or named)
    features = features_for(path, game)
    if game.facts.seats != 2 or game.facts.hidden:
        raise BadInput(f"{named} is no game of two in which nothing is hidden")
    vectors = [each for both in features.vectors.values() for each in both if len(each)]
    largest = max((float(np.abs(each).max()) for each in vectors), default=0.0)
    if not largest < HEAVIEST:
        raise BadInput(f"{path} has a weight of {largest:g}, beyond all measure")
    return game, features, made


# ---------------------------------------------------------------- in words


def said(pattern: Pattern, board: Any) -> str:
    """`to a cell: friend 1 east, not empty 2 north`; any turned or mirrored image will do."""
    parts = []
    for anchor in pattern.anchors:
        words = [
            f"{said_kinds(allowed)} {said_place(board, place)}"
            for at, place, allowed in pattern.elements
            if at == anchor
        ]
        words += [f"{mark.name} = {mark.value}" for mark in pattern.marks if mark.anchor == anchor]
        parts.append(f"{ANCHORS[anchor]} a cell: {', '.join(words)}" if words else f"{ANCHORS[anchor]} any cell")
    return "; ".join(parts)


def said_kinds(allowed: int) -> str:
    kinds = [NAMES.get(kind, kind) for bit, kind in enumerate(KINDS) if allowed >> bit & 1]
    if len(kinds) == 3:
        return f"not {said_kinds(ALL ^ allowed)}"
    return " or ".join(kinds)


def said_place(board: Any, place: Place) -> str:
    if place == (0, 0):
        return "there"
    steps, compass = board.directions, COMPASS[len(board.directions)]
    for step, name in zip(steps, compass, strict=True):
        n = max(map(abs, place)) // max(map(abs, step))
        if (n * step[0], n * step[1]) == place:
            return f"{n} {name}"
    between = {
        (one[0] + other[0], one[1] + other[1]): f"between {compass[k]} and {compass[(k + 1) % len(steps)]}"
        for k, (one, other) in enumerate(zip(steps, (*steps[1:], steps[0]), strict=True))
    }
    return between[place]


# ---------------------------------------------------------------- positions


class Said(NamedTuple):
    """What a pattern says of a move."""

    pattern: int
    adds: float  # to the logit: its weight, or 0 where it isn't active
    relative: float  # the same, less what it adds to the moves on average
    image: int  # the symmetry under which it fits, the first; -1: not active


@dataclass(frozen=True)
class Move:
    name: str
    start: int
    to: int
    logit: float
    probs: float
    said: tuple[Said, ...]  # what speaks loudest comes first


class Moment(NamedTuple):
    """A position of a game, and what was played."""

    state: Any
    seat: int
    ply: int
    line: tuple[str, ...]  # moves up to here
    before: tuple[int, int]  # the move that led here: from, to
    played: str  # empty: the line ends here


@dataclass(frozen=True)
class Explained:
    game: int  # which one of the samples; 0: the line that was given
    plies: int  # of the game
    at: Moment
    content: tuple[int, ...]  # of each cell: 0 empty, 1 and 2 of seat 0 and 1
    moves: tuple[Move, ...]
    active: np.ndarray  # [patterns] i8: for how many of the moves


class Lens:
    """Looks at positions through the patterns of both seats."""

    def __init__(self, game: Any, features: Features) -> None:
        self.game, self.features, self.board = game, features, game.board()
        self.eye = window(self.board, features.kind == "rich")
        self.finder = Finder(game, features.kind)
        self.tables = [
            compile_set(game, features.kind, seat, patterns, words_for(len(patterns)))
            for seat, patterns in enumerate(features.patterns)
        ]
        self.images = functools.cache(lambda seat, f: [each.elements for each in images(self.of(seat)[f], self.eye)])

    def of(self, seat: int) -> tuple[Pattern, ...]:
        return self.features.patterns[seat]

    def cases(self, states: np.ndarray, seat: int) -> Cases:
        """Of positions in which the seat is to move."""
        return self.finder.find(states, self.tables[seat], len(self.of(seat)))

    def content(self, state: Any) -> tuple[int, ...]:
        found = []
        for place in self.game.places():
            word, bit = divmod(int(place), 64)
            first, second = (int(self.game.pieces(state, seat, word)) >> bit & 1 for seat in range(2))
            found.append(first + 2 * second)
        return tuple(found)

    def image(self, seat: int, f: int, content: Sequence[int], start: int, to: int) -> int:
        """The first symmetry under which a pattern, if active, fits; -1: none."""
        kinds, places, cell = (0, 1 + seat, 2 - seat), self.board.places, self.board.cell
        for symmetry, elements in enumerate(self.images(seat, f)):
            for anchor, place, allowed in elements:
                row, column = places[to if anchor == 0 else start]
                there = cell.get((row + place[0], column + place[1]), -1)
                if not allowed >> (kinds.index(content[there]) if there >= 0 else 3) & 1:
                    break
            else:
                return symmetry
        return -1

    @functools.cached_property
    def text(self) -> Callable[[int, int], str]:
        """A pattern of a seat, as in its file."""
        return functools.cache(lambda seat, f: spelled(self.of(seat)[f], self.eye))

    def explain(
        self, state: Any, seat: int, weights: np.ndarray, most: int = MAX_SAID
    ) -> tuple[tuple[Move, ...], np.ndarray]:
        """All moves at a position, each with what says most of it; and how many of them each pattern is active for."""
        states = np.zeros(1, self.game.state)
        states[0] = state
        cases, content = self.cases(states, seat), self.content(state)
        active = cases.active.astype(float)
        relative = weights * (active - active.mean(axis=0))
        logits = active @ weights
        probs = softmax(logits)
        moves = []
        for i, action in enumerate(cases.actions.tolist()):
            start, to = (int(end) for end in self.game.from_to(state, action))
            order = np.lexsort((-np.abs(weights * active[i]), -np.abs(relative[i])))[:most]
            told = tuple(
                Said(
                    f,
                    float(weights[f] * active[i, f]),
                    float(relative[i, f]),
                    self.image(seat, f, content, start, to) if active[i, f] else -1,
                )
                for f in order.tolist()
                if relative[i, f] or (len(active) == 1 and weights[f] and active[i, f])
            )
            moves.append(
                Move(self.game.action_to_string(state, action), start, to, float(logits[i]), float(probs[i]), told)
            )
        return tuple(moves), active.sum(axis=0).astype(int)


def softmax(logits: np.ndarray) -> np.ndarray:
    probs = np.exp(logits - logits.max())
    return probs / probs.sum()


# ---------------------------------------------------------------- games


@dataclass(frozen=True)
class Sample:
    """Games that a policy played with itself, and what was counted on the way."""

    games: tuple[tuple[Moment, ...], ...]
    fires: tuple[np.ndarray, np.ndarray]  # of each seat [patterns]: the share of its legal moves
    entropy: dict[str, np.ndarray]  # policy -> [positions]: 1 is uniform; only where there is a choice
    stage: np.ndarray  # [positions]: from 0, the opening, to below 1, the end


def sample(lens: Lens, policy: str, count: int, seed: int, watch: Callable[[int], None] = lambda done: None) -> Sample:
    """All games go on together, so that positions are looked at in bulk; each has its own luck."""
    game = lens.game
    weights = {name: lens.features.weights(name) for name in POLICIES}
    states = positions(game, count)
    luck = [np.random.default_rng([seed, number]) for number in range(count)]
    games: list[list[Moment]] = [[] for _ in range(count)]
    lines: list[tuple[str, ...]] = [()] * count
    ends = [(-1, -1)] * count
    fires, cases_seen = [np.zeros(len(lens.of(seat))) for seat in range(2)], [0, 0]
    uneven: dict[str, list[float]] = {name: [] for name in POLICIES}
    when: list[tuple[int, int]] = []
    left = list(range(count))
    while left:
        for number in left:
            _chance(game, states[number], luck[number])
        turns = [game.turn(states[number]) for number in left]
        for seat in range(2):
            turn = [number for number, whose in zip(left, turns, strict=True) if whose == seat]
            for at in range(0, len(turn), AT_ONCE):
                these = turn[at : at + AT_ONCE]
                cases = lens.cases(states[these], seat)
                active = cases.active.astype(float)
                fires[seat] += active.sum(axis=0)
                cases_seen[seat] += len(active)
                logits = {name: active @ weights[name][seat] for name in POLICIES}
                for number, first, length in zip(these, cases.first, cases.lengths, strict=True):
                    state, ply = states[number].copy(), len(games[number])
                    probs = {name: softmax(each[first : first + length]) for name, each in logits.items()}
                    if length > 1:
                        when.append((number, ply))
                        for name, each in probs.items():
                            uneven[name].append(entropy(each))
                    action = int(luck[number].choice(cases.actions[first : first + length], p=probs[policy]))
                    name = game.action_to_string(state, action)
                    games[number].append(Moment(state, seat, ply, lines[number], ends[number], name))
                    start, to = game.from_to(state, action)
                    lines[number], ends[number] = (*lines[number], name), (int(start), int(to))
                    game.play(states[number], action)
        left = [number for number in left if game.turn(states[number]) != OVER]
        watch(count - len(left))
    stage = np.array([at / len(games[number]) for number, at in when])
    shares = [fires[seat] / max(cases_seen[seat], 1) for seat in range(2)]
    measured = {name: np.array(values) for name, values in uneven.items()}
    return Sample(tuple(map(tuple, games)), (shares[0], shares[1]), measured, stage)


def entropy(probs: np.ndarray) -> float:
    """Of two or more, 1 if they are all the same."""
    return float(-(probs * np.log(np.maximum(probs, 1e-300))).sum() / np.log(len(probs)))


def given_line(game: Any, text: str) -> tuple[Moment, ...]:
    """The positions of a line of moves, the one that it leads to last."""
    state, before = positions(game)[0], (-1, -1)
    found: list[Moment] = []
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
            found.append(Moment(state.copy(), seat, number, tuple(line), before, name))
            start, to = game.from_to(state, action)
            before = int(start), int(to)
        line.append(name)
        game.play(state, action)
    if game.turn(state) < 0:
        why = "the game is over" if game.turn(state) == OVER else "it is nobody's turn"
        raise BadInput(f"--moves: {why} after {' '.join(words)}, so there is no move to explain")
    return (*found, Moment(state.copy(), game.turn(state), len(words), tuple(line), before, ""))


def _chance(game: Any, state: Any, luck: np.random.Generator) -> None:
    while game.turn(state) == CHANCE:
        game.play(state, game.sample_action(state, luck.integers(2**63, size=2, dtype=np.uint64)))


def chosen(lens: Lens, games: Sequence[tuple[Moment, ...]], line: tuple[Moment, ...]) -> list[tuple[int, int, Moment]]:
    """What a page has room for: the line, most of a game, moments of others. Each with its game: number and length."""
    room = min(MAX_POSITIONS, max(MAX_MOVES // max_moves(lens, games), 4))
    found = [(0, len(line) - 1, moment) for moment in line[-min(LINE, room // 2) :]]
    left = room - len(found)
    first = games[0]
    others = [each for each in games[1:] if each]
    whole = left - min(len(others), left // 4)
    found += [(1, len(first), first[k]) for k in spread(len(first), whole)]
    left = room - len(found)
    for rank, number in enumerate(spread(len(others), left)):
        each = others[number]
        stage = (rank + 0.5) / min(left, len(others))
        found.append((number + 2, len(each), each[int(stage * len(each))]))
    return found


def max_moves(lens: Lens, games: Sequence[tuple[Moment, ...]]) -> int:
    scratch = np.zeros(lens.game.facts.num_actions, np.int64)
    return max(lens.game.actions(moment.state, scratch) for moment in games[0])


def spread(count: int, most: int) -> list[int]:
    """So many of `count` in order, the first and the last among them."""
    if count <= most:
        return list(range(count))
    return sorted({round(k * (count - 1) / max(most - 1, 1)) for k in range(most)})


# ---------------------------------------------------------------- all together


@dataclass(frozen=True)
class Explanation:
    game: Game
    name: str
    policy: str
    made: str
    seed: int
    lens: Lens
    sample: Sample
    positions: tuple[Explained, ...]
    start: int  # the position to begin with

    @functools.cached_property
    def weights(self) -> tuple[np.ndarray, np.ndarray]:
        return self.lens.features.weights(self.policy)

    def strongest(self, seat: int) -> list[int]:
        return np.argsort(-np.abs(self.weights[seat]), kind="stable").tolist()

    def words(self, seat: int, f: int) -> str:
        return said(self.lens.of(seat)[f], self.lens.board)

    def stages(self) -> tuple[list[int], dict[str, list[float | None]]]:
        """How many positions of each stage there are, and their mean entropy by policy."""
        at = np.minimum((self.sample.stage * STAGES).astype(int), STAGES - 1)
        counts = np.bincount(at, minlength=STAGES)
        means = {
            name: [float(value[at == k].mean()) if counts[k] else None for k in range(STAGES)]
            for name, value in self.sample.entropy.items()
        }
        return counts.tolist(), means

    def histogram(self) -> tuple[float, dict[str, list[int]]]:
        """Weights of both seats, in bins from -most to most."""
        vectors = {name: np.concatenate(self.lens.features.weights(name)) for name in ("ce", "tspg")}
        most = max((float(np.abs(each).max()) for each in vectors.values() if len(each)), default=0.0)
        most = most if most > 1e-9 else 1.0
        return most, {name: np.histogram(each, BINS, (-most, most))[0].tolist() for name, each in vectors.items()}


def explain(
    game: Game, features: Features, name: str, policy: str, made: str, games: int, seed: int, moves: str | None = None,
    watch: Callable[[str, int], None] = lambda what, done: None,
) -> Explanation:  # fmt: skip
    line = () if moves is None else given_line(game, moves)
    lens = Lens(game, features)
    watch("playing", 0)
    played = sample(lens, policy, games, seed, functools.partial(watch, "playing"))
    weights, found = features.weights(policy), []
    shown = chosen(lens, played.games, line)
    for done, (number, plies, moment) in enumerate(shown):
        watch("explaining", done)
        told, active = lens.explain(moment.state, moment.seat, weights[moment.seat])
        content = lens.content(moment.state)
        found.append(Explained(number, plies, moment, content, told, active))
    start = max(sum(each.game == 0 for each in found) - 1, 0)
    return Explanation(game, name, policy, made, seed, lens, played, tuple(found), start)


def is_square(board: Any) -> bool:
    return bool(board.directions == SQUARE)


def report(found: Explanation) -> dict[str, Any]:
    """For programs: every pattern, and the position that the page begins with."""
    counts, entropies = found.stages()
    most, bins = found.histogram()
    patterns = []
    for seat in range(2):
        ce = found.lens.features.weights("ce")[seat]
        for rank, f in enumerate(found.strongest(seat)):
            texts = {"seat": seat + 1, "rank": rank + 1, "pattern": found.lens.text(seat, f)}
            weights = {"weight": float(found.weights[seat][f]), "ce": float(ce[f])}
            fires = {"fires": float(found.sample.fires[seat][f])}
            patterns.append(texts | {"words": found.words(seat, f)} | weights | fires)
    first = found.positions[found.start]
    moves = []
    for move in first.moves:
        told = [
            {"pattern": found.lens.text(first.at.seat, f), "adds": adds, "relative": relative}
            for f, adds, relative, _ in move.said
        ]
        moves.append({"move": move.name, "probability": move.probs, "logit": move.logit, "patterns": told})
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
        "position": {"line": list(first.at.line), "seat": first.at.seat + 1, "moves": moves},
    }
