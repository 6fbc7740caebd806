"""What a seat may believe about the other's card."""

from typing import Any

from kibitz import BadInput


class CardBeliefs:
    """The other seat's card, each one that the seat hasn't seen with the same probability."""

    basis = "uniform over the cards that the seat hasn't seen"

    def __init__(self, game: Any, view: Any, seat: int) -> None:
        if view.held[seat] < 0:
            raise BadInput(f"seat {seat + 1} has no card yet")
        self.own = int(view.held[seat])
        seen = {self.own, int(view.dealt[seat])}
        self.unseen = [card for card in range(game.cards) if card not in seen]

    @property
    def wins(self) -> float:
        """The probability that the own card is the higher one."""
        return sum(card < self.own for card in self.unseen) / len(self.unseen)

    def as_json(self, language: str = "en") -> dict[str, Any]:
        cards = [card + 1 for card in self.unseen]
        return {"kind": "cuckoo", "basis": self.basis, "unseen": cards, "wins": self.wins}

    def text(self, language: str = "en") -> str:
        return f"{self.basis}\nyour {self.own + 1} is the higher card: {self.wins:.1%}"

    def __str__(self) -> str:
        return self.text()
