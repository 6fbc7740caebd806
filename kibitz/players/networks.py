"""Players from files: strategies, networks and patterns that were learned. None of them searches."""

from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np

from ..core.names import BadInput
from ..games import Game, legal_actions, load
from ..learn.deep_cfr import average
from ..learn.deep_cfr.networks import Model, is_model, read_model
from ..learn.mlp import Layers, action_probs, logits, read_layers
from ..learn.model_files import network_file
from ..learn.tspg.store import POLICIES, features_for
from ..search.advice import Advice, fixed_advice
from ..search.sequence_form import SequenceForm
from ..search.strategy import Strategy, read_strategy
from .player import Advised, Weighing, same


class FromFile(Advised):
    """Plays a saved strategy; evenly where it doesn't know the infoset."""

    class Options(NamedTuple):
        file: Annotated[str, "a strategy file, or the run folder it lies in"]

    def __init__(self, options: Any) -> None:
        self.path = Path(options.file)
        if self.path.is_dir():
            self.path = self.path / "strategy.safetensors"
        self.strategy: Strategy | None = None

    def begin(self, game: Game, seat: int, seed: int) -> None:
        super().begin(game, seat, seed)
        if self.strategy is None or not same(self.strategy.game, game):
            self.strategy = read_strategy(self.path, game)

    def advise(self, view: Any) -> Advice:
        assert self.strategy is not None
        n = len(legal_actions(self.game, view))
        return fixed_advice(self.game, view, self.strategy.at(int(self.game.infoset(view, self.seat)), n))

    def action_probs(self, views: np.ndarray) -> np.ndarray:
        assert self.strategy is not None
        return self.strategy.action_probs(views)


class FromNetwork(Advised):
    """Plays a trained network, without any search: at once."""

    class Options(NamedTuple):
        network: Annotated[str, "a run folder, a network file, or models/NAME"]
        iteration: Annotated[int, "of a run; 0: its last"] = 0
        threshold: Annotated[float, "moves less likely than this share of the likeliest are never played"] = 0.0

    def __init__(self, options: Any) -> None:
        self.path = network_file(options.network, options.iteration)
        self.threshold = options.threshold
        if not 0 <= options.threshold <= 1:
            raise BadInput(f"net: threshold={options.threshold} should be from 0 to 1")
        self.known: tuple[Game, Layers | Model] | None = None

    def begin(self, game: Game, seat: int, seed: int) -> None:
        super().begin(game, seat, seed)
        if self.known is None or not same(self.known[0], game):
            self.known = game, read_model(self.path, game) if is_model(self.path) else read_layers(self.path, game)[0]
            self.encoding = np.zeros(game.facts.encoding, np.float32)
            self.seen = load(self.known[1].seen) if isinstance(self.known[1], Model) else game
        if isinstance(self.known[1], Model) and len(weights := self.known[1].weights) > 1:
            # SD-CFR draws one of its networks, and plays it to the end.
            self.drawn = int(self.generator.choice(len(weights), p=weights / weights.sum()))

    def advise(self, view: Any) -> Advice:
        assert self.known is not None
        legal = legal_actions(self.game, view)
        if isinstance(self.known[1], Model):
            views = np.zeros(1, self.game.state)
            views[0] = view
            return fixed_advice(self.game, view, self.action_probs(views)[0, : len(legal)])
        self.game.observe(view, self.seat, self.encoding)
        said = logits(self.known[1], self.encoding)[legal].astype(float)
        probs = np.exp(said - said.max())
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
        else:
            probs = action_probs(self.game, network, views)
        probs[probs < self.threshold * probs.max(axis=1, keepdims=True)] = 0
        return probs / probs.sum(axis=1, keepdims=True)

    def whole_strategy(self, form: SequenceForm) -> list[np.ndarray] | None:
        """The odds of all sequences of a small game, where they are known better than by asking."""
        assert self.known is not None
        network = self.known[1]
        if isinstance(network, Model) and not self.threshold:
            return average.whole_strategy(network, form, self.seen)
        return None


class FromFeatures(Weighing):
    """Plays learned patterns, without any search: at once."""

    class Options(NamedTuple):
        features: Annotated[str, "a run folder, or a file of features"]
        policy: Annotated[str, "which weights", tuple(POLICIES)] = "tspg"
        iteration: Annotated[int, "of a run; 0: its last"] = 0
        greedy: Annotated[bool, "whether it always plays the likeliest move"] = False

    def __init__(self, options: Any) -> None:
        self.options, self.path = options, network_file(options.features, options.iteration)

    def policy_for(self, game: Game) -> Any:
        return features_for(self.path, game).policy(game, self.options.policy)

    def advise(self, view: Any) -> Advice:
        found = super().advise(view)
        if not self.options.greedy:
            return found
        return fixed_advice(self.game, view, (np.arange(len(found.policy)) == np.argmax(found.policy)).astype(float))

    def action_probs(self, views: np.ndarray) -> np.ndarray:
        probs = super().action_probs(views)
        return np.eye(probs.shape[1])[np.argmax(probs, axis=1)] if self.options.greedy else probs
