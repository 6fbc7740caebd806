"""A network of a board that plays: alone, or with a tree search."""

from pathlib import Path

import numpy as np

from ...games import Game
from ...nets.boards.geometry import geometry_of
from ...nets.boards.networks import read_network
from ...nets.boards.processor_network import Evaluator
from ...nets.mlp import encode, softmax_all
from ...search.network_puct import NetworkPuct


class BoardPolicy:
    """A network from a file, on the processor; a search evaluates `threads` batches of it at the same time."""

    def __init__(self, path: Path, game: Game, threads: int = 1) -> None:
        network = read_network(path, game)
        self.game, self.frames, self.threads = game, geometry_of(game).frames, threads
        self.evaluate = Evaluator(geometry_of(game), network.shape, network.weights)

    def action_probs(self, views: np.ndarray) -> np.ndarray:
        """The policy at many views of the seat to move: [views, num_actions], legal actions first, then zeros."""
        game, facts = self.game, self.game.facts
        encodings = np.zeros((len(views), facts.encoding), np.float32)
        encode(game, views, encodings)
        logits = np.ascontiguousarray(self.evaluate(encodings)[0][:, self.frames[game.turn(views[0])]])
        probs = np.zeros((len(views), facts.num_actions))
        softmax_all(game, views, logits, np.zeros(facts.num_actions, np.int64), probs)
        return probs

    def search(self, prove: bool = True, c: float = 1.5, megabytes: float = 0) -> NetworkPuct:
        """A tree search whose leaves the network values."""
        return NetworkPuct(
            self.game, 0, self.evaluate, self.frames, c=c, prove=prove, megabytes=megabytes, threads=self.threads
        )
