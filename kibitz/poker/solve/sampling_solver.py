"""Public chance sampling and CFR-BR as solvers by name."""

from pathlib import Path
from typing import Any

from ...search.strategy import Strategy
from ...solve.solvers import Solver, solver
from .buckets import Buckets
from .files import buckets_for
from .solver import PublicChanceCfr, poker_form
from .strategy import TableStrategy


class PublicChanceSolver(PublicChanceCfr):
    """Public chance sampling, with the average strategy as the loop below takes it."""

    def __init__(self, game: Any, buckets: Buckets, seed: int) -> None:
        super().__init__(game, buckets, seed)
        self.form = poker_form(game, self.tree, buckets.cards)

    def strategy(self) -> Strategy | TableStrategy:
        """The average strategy: by infoset in a small game, else by bucket."""
        table = TableStrategy(self.game, self.tree, self.buckets, self.tables.first, self.probs())
        return table if self.form is None else table.on(self.form)


class _OfBoards(Solver):
    """A solver whose iterations visit boards, in a run folder."""

    def start(self, game_name: str, method: str, given: dict[str, Any]) -> None:
        from ..app.solve_boards import start

        start(game_name, method, given)

    def resume(self, folder: Path, iterations: int | None, threads: int | None, json_file: Path | None) -> None:
        from ..app.solve_boards import resume

        resume(folder, iterations, threads, json_file)


@solver("pcs")
class PublicChanceSampling(_OfBoards):
    about = "Linear CFR with public chance sampling, for poker (Johanson et al. 2012)"

    def make(self, game: Any, seed: int, abstraction: Path | None) -> tuple[Any, Any]:
        sampling = PublicChanceSolver(game, buckets_for(game, abstraction), seed)
        return sampling, sampling.form


@solver("cfr-br")
class AgainstBestResponses(_OfBoards):
    about = "CFR in a card abstraction against best responses without one (Johanson et al. 2012)"
