"""Explanations of learned patterns: how often each is active, and how much it contributes to each move."""

import functools
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ...core.names import BadInput
from ...core.progress import SILENT, Reporter
from ...games import Game, full_name, load, load_stored
from ...games.boards import SQUARE
from .contributions import Explainer, Move
from .pattern_words import describe_pattern
from .sample_games import Decision, SampleGames, parse_line, sample_games, select_positions
from .store import FORMAT, Features, features_for

STAGES = 10
BINS = 41  # odd: weights of 0 are in the middle of one
MAX_WEIGHT = 1e9  # in a file: with larger ones, sums lose their digits


def read_explainable(path: Path, game_name: str | None = None) -> tuple[Game, Features, str]:
    """Read a file of features: its game, or the one that the person names, the features, and how it was made."""
    _, about = FORMAT.read(path)
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


@dataclass(frozen=True)
class ExplainedPosition:
    game: int  # number of the sample game; 0: the given line
    plies: int  # of the game
    decision: Decision
    content: tuple[int, ...]  # per cell: 0 empty, 1 and 2 a piece of seat 0 and 1
    moves: tuple[Move, ...]
    active: np.ndarray  # [patterns] i8: number of moves for which each is active


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
