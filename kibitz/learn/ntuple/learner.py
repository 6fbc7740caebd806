"""Learning of n-tuple evaluations from self-play of alpha-beta search."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from ...games import OVER, Game, legal_actions, load, positions
from ...search.alphabeta import AlphaBeta
from ..expert_iteration import ExpertIteration
from ..learner import Metrics, Samples, learner
from . import config as settings
from .config import NTupleConfig
from .store import default_weights, save_ntuples
from .tuples import fit, ntuples, sharing

TABLE = 2.0  # megabytes of the transposition table in self-play


def self_play(config: NTupleConfig) -> Callable[[tuple[int, ...], np.ndarray], list[tuple[int, Samples]]]:
    """Return the function of a worker: numbers of games, and weights -> the samples of these games."""
    game = load(config.game)

    def play(numbers: tuple[int, ...], weights: np.ndarray) -> list[tuple[int, Samples]]:
        search = AlphaBeta(game, megabytes=TABLE, evaluation=ntuples(game, config.tuples, weights))
        return [(number, play_one(game, search, config, number)) for number in numbers]

    return play


def play_one(game: Game, search: AlphaBeta, config: NTupleConfig, number: int) -> Samples:
    """Play one game; its samples are positions after the opening, and how much of a win they are for seat 0, 0 to 1.

    For a position of the game that is a mixture of the game's result and the search's value. A search also meets
    positions that no game between good players has, so there is a random successor of each position, too; its own
    search values it.
    """
    generator = np.random.default_rng([config.seed, 2, number])
    search.begin(1)
    state, turns = positions(game), 0
    states: list[np.ndarray] = []
    values: list[float] = []
    played: list[bool] = []  # whether it is a position of the game, not a random successor
    opening, high = int(generator.integers(config.opening + 1)), max(game.facts.payoffs)

    def searched(position: np.ndarray, seat: int) -> int:
        """Search a position and remember its value; return the best action."""
        advice = search.advise(position[0].copy(), seat, config.nodes)
        value = advice.root_value if seat == 0 else -advice.root_value
        if not np.isnan(value):
            states.append(np.frombuffer(position.tobytes(), np.uint8))
            values.append(0.5 + 0.5 * np.clip(value / high, -1, 1))
        return advice.best

    while (seat := int(game.turn(state[0]))) != OVER:
        legal = legal_actions(game, state[0])
        action, aside = (int(each) for each in generator.choice(legal, 2))
        if turns >= opening:
            following = state.copy()
            game.play(following[0], aside)
            if game.turn(following[0]) != OVER:
                searched(following, int(game.turn(following[0])))
                played += [False] * (len(values) - len(played))
            best = searched(state, seat)
            played += [True] * (len(values) - len(played))
            if generator.random() >= config.epsilon:
                action = best
        game.play(state[0], action)
        turns += 1
    result = 0.5 + 0.5 * float(np.clip(game.payoff(state[0], 0) / high, -1, 1))
    share = config.mix * np.array(played, float)
    return {
        "states": np.array(states, np.uint8).reshape(-1, game.state.itemsize),
        "wins": share * result + (1 - share) * np.array(values, float),
    }


@learner("ntuple")
class NTupleLearner(ExpertIteration):
    Config = NTupleConfig
    about = (
        "Evaluations on n-tuples, for alpha-beta search in board games. Alpha-beta search plays against itself, and "
        "logistic regression learns who wins from the contents of small groups of cells."
    )
    examples = ("connect_four --preset small", "breakthrough --tuples blocks", "othello --games 100")
    presets = settings.PRESETS
    preset = staticmethod(settings.preset)
    refuse = staticmethod(settings.refuse)
    worker = staticmethod(self_play)
    player = "ntuple"
    saved = ("weights", "squares", "states", "wins", "seen")

    def __init__(self, config: NTupleConfig, game: Game) -> None:
        super().__init__(config, game)
        self.weights = default_weights(game, config.tuples)
        self.squares = np.ones_like(self.weights)
        self.tuples = ntuples(game, config.tuples, self.weights)
        self.states, self.wins = np.zeros((0, game.state.itemsize), np.uint8), np.zeros(0)
        self.seen = np.zeros(1, np.int64)

    def shared(self) -> np.ndarray:
        return self.weights.astype(np.float32)

    def update(self, samples: Samples) -> Metrics:
        """Remember the new positions, and learn from random ones."""
        new = len(samples["wins"])
        self.states = np.concatenate([self.states, samples["states"]])[-self.config.capacity :]
        self.wins = np.concatenate([self.wins, samples["wins"]])[-self.config.capacity :]
        self.seen = self.seen + new
        generator = np.random.default_rng([self.config.seed, 1, int(self.seen[0])])
        drawn = generator.integers(len(self.wins), size=self.config.samples * new) if new else np.zeros(0, int)
        states: Any = self.states[drawn].reshape(-1).view(self.game.state)
        loss = fit(
            self.game, self.tuples, sharing(self.game, self.config.tuples), self.weights, self.squares, states,
            self.wins[drawn], self.config.learning_rate,
        )  # fmt: skip
        return {"loss": loss, "positions": new, "rows": len(self.wins)}

    def held(self, samples: Samples) -> int:
        return self.config.capacity * (self.game.state.itemsize + 8)

    def disk(self, samples: Samples) -> int:
        kept = self.config.iterations // self.config.keep_every + 2
        return 2 * (self.held(samples) + 2 * self.weights.nbytes) + kept * self.weights.nbytes // 2

    def export(self, path: Path, made: str) -> None:
        save_ntuples(path, self.game, self.config.tuples, self.weights, made)
