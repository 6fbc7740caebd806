"""Expert iteration with Information Set MCTS as the expert, for comparison with ExIt-OOS; the rest is the same.

IS-MCTS advises its most visited move. The network learns that, or the shares of the visits to a power. Neither is an
equilibrium: the network is more exploitable than that of ExIt-OOS (measured in docs/exit-oos.md).
"""

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from ...games import Game
from ...search.advice import Advice
from ...search.ismcts import IsMcts
from ...search.search import Search
from ..learner import learner
from .config import PRESETS, ExItConfig
from .learner import ExItOos

POWERS = {"visits": 1.0, "visits-cubed": 3.0, "most-visited": np.inf}


@dataclass(frozen=True)
class ExItIsMctsConfig(ExItConfig):
    policy_target: Annotated[
        str,
        "what the network learns: the shares of the visits, of their cubes, or the most visited move",
        tuple(POWERS),
    ] = "most-visited"

    def new_search(self, game: Game, policy: Any = None) -> Search:
        return IsMcts(game, policy=policy)

    def to_learn(self, advice: Advice) -> np.ndarray:
        if not advice.visits.any():  # a single legal move
            return advice.policy
        shares: np.ndarray = (advice.visits / advice.visits.max()) ** POWERS[self.policy_target]
        return shares / shares.sum()


@learner("exit-ismcts")
class ExItIsMcts(ExItOos):
    Config = ExItIsMctsConfig
    about = (
        "Expert iteration with Information Set MCTS: for wins, not for equilibrium; more exploitable than exit-oos. "
        "The search plays against itself, a network learns its visits, and is the policy of the search's playouts."
    )
    examples = ("goofspiel:13 --preset small", "goofspiel:6 --preset small --policy-target visits")
    presets = {"small": PRESETS["small"]}
