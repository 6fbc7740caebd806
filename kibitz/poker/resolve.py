"""A table strategy of poker whose last two streets are re-solved while it plays."""

from functools import partial
from typing import Annotated, Any

import numpy as np

from ..core.names import PATH, BadInput, Interval, as_path, choose
from ..games import Game, legal_actions
from ..nets.devices import DEVICES, check_device
from ..play.players.player import AdvisedPlayer, player, same
from ..search.advice import Advice, fixed_advice
from .solve.files import STRATEGY, open_table_strategy
from .solve.resolve import Resolver, Subgame


@player("resolve")
class ResolvingPlayer(AdvisedPlayer):
    """Plays a table strategy of poker, and re-solves the last two streets while it plays."""

    plays = "the poker that its strategy was solved for by `kibitz solve --with pcs`"
    example = "runs/holdem-pcs-001"

    def __init__(
        self,
        file: Annotated[str, "a strategy by public chance sampling, or the run folder that holds it", PATH],
        iterations: Annotated[int, "iterations of CFR per street that is solved", Interval(1, 1_000_000)] = 400,
        gadget: Annotated[bool, "no: solve for the ranges as they are, stronger against these and unsafe"] = True,
        streets: Annotated[
            int,
            "number of last streets that are re-solved, the one before the last only if a single card follows",
            Interval(1, 2),
        ] = 2,
        device: Annotated[str, "cuda: solve on a GPU, where each iteration visits all last cards"] = "cpu",
    ) -> None:
        self.path = as_path(file)
        if self.path.is_dir():
            self.path = self.path / "strategy.safetensors"
        self.iterations, self.gadget, self.streets = iterations, gadget, streets
        self.device = choose("device", device, DEVICES)
        if device != "cpu":
            check_device(device)
        self.resolver: Resolver | None = None

    def begin(self, game: Game, seat: int, seed: int) -> None:
        super().begin(game, seat, seed)
        if self.resolver is None or not same(self.resolver.strategy.game, game):
            if not self.path.exists():
                raise BadInput(f"no strategy file '{self.path}'")
            if not STRATEGY.fits(self.path):
                raise BadInput(f"{self.path} isn't a strategy by public chance sampling: solve poker with pcs")
            strategy = open_table_strategy(self.path, game)
            self.resolver = Resolver(strategy, self.iterations, self.gadget, self.streets, self._make())

    def _make(self) -> Any:
        """What solves a subgame."""
        if self.device == "cpu":
            return Subgame
        from .gpu.torch_subgame import TorchSubgame  # imported here, as torch takes a second

        return partial(TorchSubgame, device=self.device)

    def advise(self, view: Any) -> Advice:
        assert self.resolver is not None
        strategy = self.resolver.strategy
        views = np.zeros(1, self.game.state)
        views[0] = view
        node = int(strategy.places(views)[0][0])
        hand, board = strategy.buckets.cards.read(views, np.array([self.seat]))
        shown = board[0, : strategy.buckets.cards.dealt[int(strategy.tree.street[node])]]
        probs = self.resolver.probs(node, shown, self.seat)[int(hand[0]), : len(legal_actions(self.game, view))]
        return fixed_advice(self.game, view, probs)
