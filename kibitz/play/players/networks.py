"""Players from files, without search: strategies, networks and learned patterns."""

from typing import Annotated, Any

import numpy as np

from ...core.names import ITERATION, PATH, BadInput, Interval, as_path
from ...core.tensor_files import tensor_file_format
from ...games import Game, legal_actions, load_stored
from ...nets.boards.networks import FORMAT as BOARD_NETWORK
from ...nets.mlp import Layers, action_probs, compiled, logits, read_layers
from ...nets.model_files import network_file
from ...search.advice import Advice, fixed_advice
from ...search.strategy import STRATEGY_FILES, AnyStrategy, Strategy, read_strategy
from ...solve.public_tree.table import FORMAT as PUBLIC
from ...solve.public_tree.table import read_public_strategy
from ...solve.sequence_form import SequenceForm
from ...train.alphazero.playing import BoardPolicy
from ...train.deep_cfr import average
from ...train.deep_cfr.networks import FORMAT as DEEP_CFR
from ...train.deep_cfr.networks import Model, read_average
from ...train.tspg.store import POLICIES, features_for
from .player import AdvisedPlayer, PolicyPlayer, player, same

AVERAGES = ("auto", "network", "sd")


@player("strategy")
class StrategyPlayer(AdvisedPlayer):
    """Plays a saved strategy; uniformly at infosets that it doesn't hold."""

    reads = "strategy.safetensors"  # of a run folder
    plays = "the game that it was solved for"
    example = "runs/leduc-cfr+-001"

    def __init__(self, file: Annotated[str, "a strategy file, or the run folder that holds it", PATH]) -> None:
        self.path = as_path(file)
        if self.path.is_dir():
            self.path = self.path / "strategy.safetensors"
        self.strategy: AnyStrategy | None = None

    def begin(self, game: Game, seat: int, seed: int) -> None:
        super().begin(game, seat, seed)
        if self.strategy is None or not same(self.strategy.game, game):
            own = read_public_strategy if PUBLIC.fits(self.path) else read_strategy
            self.strategy = STRATEGY_FILES.get(tensor_file_format(self.path), own)(self.path, game)

    def advise(self, view: Any) -> Advice:
        assert self.strategy is not None
        n = len(legal_actions(self.game, view))
        if isinstance(self.strategy, Strategy):
            return fixed_advice(self.game, view, self.strategy.at(int(self.game.infoset(view, self.seat)), n))
        views = np.zeros(1, self.game.state)
        views[0] = view
        return fixed_advice(self.game, view, self.strategy.action_probs(views)[0, :n])

    def action_probs(self, views: np.ndarray) -> np.ndarray:
        assert self.strategy is not None
        return self.strategy.action_probs(views)

    def whole_strategy(self, form: SequenceForm) -> list[np.ndarray] | None:
        """Return the probabilities of all sequences of a small game; None: query every view."""
        on = getattr(self.strategy, "on", None)
        if on is None:
            return None
        strategy = on(form)
        return [strategy.behaviour(side) for side in form.sides]


@player("net")
class NetworkPlayer(AdvisedPlayer):
    """Plays the policy of a trained network, without search."""

    reads = "network.safetensors"  # of a run folder
    plays = "the game that it was trained for"
    example = "models/leduc"

    def __init__(
        self,
        network: Annotated[str, "a run folder, a network file, or models/NAME", PATH],
        iteration: Annotated[int, "iteration of the run; 0: the last", ITERATION] = 0,
        threshold: Annotated[
            float, "actions below this share of the highest probability are never played", Interval(0, 1)
        ] = 0.0,
        average: Annotated[
            str, "of Deep CFR with both: the strategy network or SD-CFR; auto: what the file holds", AVERAGES
        ] = "auto",
    ) -> None:
        self.path, self.threshold = network_file(network, iteration), threshold
        self.average, self.iteration = average, iteration
        self.known: tuple[Game, Any] | None = None  # what `read` returns

    def begin(self, game: Game, seat: int, seed: int) -> None:
        super().begin(game, seat, seed)
        if self.known is None or not same(self.known[0], game):
            self.known = game, self.read(game)
            self.encoding = np.zeros(game.facts.encoding, np.float32)
            self.seen = load_stored(self.known[1].seen) if isinstance(self.known[1], Model) else game
        if isinstance(self.known[1], Model) and len(weights := self.known[1].weights) > 1:
            # SD-CFR draws one of its networks and plays it to the end of the game.
            self.draw_weights = weights / weights.sum()
            self.drawn = int(self.generator.choice(len(weights), p=self.draw_weights))

    def read(self, game: Game) -> Layers | Model | BoardPolicy:
        if DEEP_CFR.fits(self.path):
            return read_average(self.path, self.average, self.iteration, game)
        if self.average != "auto":
            raise BadInput(f"{self.path} is no network of Deep CFR, so it has no average={self.average}")
        if BOARD_NETWORK.fits(self.path):
            return BoardPolicy(self.path, game)
        return read_layers(self.path, game)[0]

    def advise(self, view: Any) -> Advice:
        assert self.known is not None
        legal = legal_actions(self.game, view)
        if isinstance(self.known[1], Model | BoardPolicy):
            views = np.zeros(1, self.game.state)
            views[0] = view
            return fixed_advice(self.game, view, self.action_probs(views)[0, : len(legal)])
        self.game.observe(view, self.seat, self.encoding)
        scores = logits(self.known[1], self.encoding[None])[0, legal].astype(float)
        probs = np.exp(scores - scores.max())
        probs[probs < self.threshold] = 0
        return fixed_advice(self.game, view, probs / probs.sum())

    def action_probs(self, views: np.ndarray, drawn: np.ndarray | None = None) -> np.ndarray:
        assert self.known is not None
        network = self.known[1]
        if isinstance(network, Model):
            which = np.full(len(views), getattr(self, "drawn", 0)) if drawn is None else drawn
            probs, seat = np.zeros((len(views), self.game.facts.num_actions)), int(self.game.turn(views[0]))
            for number in np.unique(which):
                rows = which == number
                probs[rows] = average.action_probs(network, seat, int(number), self.seen, views[rows])
        elif isinstance(network, BoardPolicy):
            probs = network.action_probs(views)
        else:
            probs = action_probs(self.game, network, views)
        probs[probs < self.threshold * probs.max(axis=1, keepdims=True)] = 0
        return probs / probs.sum(axis=1, keepdims=True)

    @property
    def is_mixed(self) -> bool:
        """Whether it draws one of several networks for a game, so that its policy isn't of the view alone."""
        assert self.known is not None
        return isinstance(self.known[1], Model) and len(self.known[1].weights) > 1

    def compiled_policy(self) -> Any:
        """The network for kernels, with buffers of its own; None for Deep CFR and with a threshold."""
        assert self.known is not None
        return None if isinstance(self.known[1], Model | BoardPolicy) or self.threshold else compiled(self.known[1])

    def whole_strategy(self, form: SequenceForm) -> list[np.ndarray] | None:
        """Return the probabilities of all sequences of a small game, where that is exact; None: query every view."""
        assert self.known is not None
        network = self.known[1]
        if isinstance(network, Model) and not self.threshold:
            return average.whole_strategy(network, form, self.seen)
        if self.is_mixed:
            return None
        found = []
        for views, side in zip(form.views, form.sides, strict=True):
            probs, counts = self.action_probs(views), np.diff(side.first)
            legal = np.arange(probs.shape[1]) < counts[:, None]
            found.append(np.concatenate([np.ones(1), probs[legal]]))  # the first is the empty sequence
        return found


@player("features")
class FeaturesPlayer(PolicyPlayer):
    """Plays a policy of learned patterns, without search."""

    reads = "network.safetensors"  # of a run folder
    plays = "the game that it was trained for"
    example = "models/connect_four"

    def __init__(
        self,
        features: Annotated[str, "a run folder, or a features file", PATH],
        policy: Annotated[str, "which of its weights to use", tuple(POLICIES)] = "tspg",
        iteration: Annotated[int, "iteration of the run; 0: the last", ITERATION] = 0,
        greedy: Annotated[bool, "whether to always play the most likely action"] = False,
    ) -> None:
        self.path, self.policy, self.greedy = network_file(features, iteration), policy, greedy

    def policy_for(self, game: Game) -> Any:
        return features_for(self.path, game).policy(game, self.policy)

    def advise(self, view: Any) -> Advice:
        found = super().advise(view)
        if not self.greedy:
            return found
        return fixed_advice(self.game, view, (np.arange(len(found.policy)) == np.argmax(found.policy)).astype(float))

    def action_probs(self, views: np.ndarray) -> np.ndarray:
        probs = super().action_probs(views)
        return np.eye(probs.shape[1])[np.argmax(probs, axis=1)] if self.greedy else probs
