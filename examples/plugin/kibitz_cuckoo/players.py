"""A player of Cuckoo."""

from typing import Annotated, Any

from kibitz import BadInput
from kibitz.games import Game, full_name
from kibitz.play.players import AdvisedPlayer, player
from kibitz.search.advice import Advice, fixed_advice

from .rules import Cuckoo


@player("keeps")
class Keeps(AdvisedPlayer):
    """Keeps cards from a rank on, and exchanges lower ones."""

    plays = "cuckoo"
    example = "7"

    def __init__(self, lowest: Annotated[int, "the lowest card that it keeps", range(1, 61)] = 7) -> None:
        self.lowest = lowest

    def begin(self, game: Game, seat: int, seed: int) -> None:
        if not isinstance(game, Cuckoo):
            raise BadInput(f"keeps plays cuckoo, not {full_name(game)}")
        super().begin(game, seat, seed)

    def advise(self, view: Any) -> Advice:
        keeps = float(view.held[self.seat] + 1 >= self.lowest)
        return fixed_advice(self.game, view, [keeps, 1 - keeps])
