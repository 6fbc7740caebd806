"""Who holds which unseen card in Doppelkopf, and who is Re: exact expectations over all deals that fit.

The evidence is public: seats that couldn't follow suit, announcements, marriages, pigs. A belief network adds what the
cards and announcements so far suggest: a weight for each card in each hand.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core.names import BadInput
from ..games import full_name
from ..nets.mlp import logits
from ..play.players.german import said_in
from ..play.players.make import make_for
from ..play.players.player import label
from ..play.players.worlds import FITS
from .learn.card_network import HOLDERS, Beliefs, holder_weights
from .rules.beliefs import ROOM, expected_counts
from .rules.cards import CLUB_QUEEN, GERMAN, KINDS, NAMES, ORDER
from .rules.deals import unseen_cards
from .rules.encoding import SIZE
from .rules.state import CARDS, DEAL, PLAIN, is_re, known_parties


@dataclass(frozen=True)
class CardBeliefs:
    """Expected numbers of unseen cards by seat, and the probabilities of the parties."""

    basis: str  # what the probabilities rest on, in words
    seat: int  # whose view it is
    kinds: tuple[int, ...]  # unseen kinds of cards, as people sort them
    copies: np.ndarray  # [kinds] i8: unseen copies, 1 or 2
    expected: np.ndarray  # [kinds, 4] f8: expected copies by seat; a row sums to the copies; the own seat has none
    re: tuple[float | None, ...]  # by seat: the probability to be Re; None: not decided yet (a marriage)
    exact: bool = True

    def as_json(self, language: str = "en") -> dict[str, Any]:
        """Everything, as values for JSON, in words of a language (`en`, `de`)."""
        names, basis = GERMAN if language == "de" else NAMES, said_in(language, self.basis)
        cards = [
            {"card": names[kind], "kind": kind, "copies": int(self.copies[i]), "seats": self.expected[i].tolist()}
            for i, kind in enumerate(self.kinds)
        ]
        found = {"basis": basis, "exact": self.exact, "seat": self.seat + 1, "cards": cards, "re": list(self.re)}
        return {"kind": "cards", **found}

    def text(self, language: str = "en") -> str:
        """A table of the expected number of each card, in a language (`en`, `de`)."""
        german = language == "de"
        names, unknown = (GERMAN, "offen") if german else (NAMES, "open")
        seats = [seat for seat in range(4) if seat != self.seat]
        rows = [[*(("Karte", "Zahl") if german else ("card", "copies")), *(f"seat {seat + 1}" for seat in seats)]]
        for i, kind in enumerate(self.kinds):
            rows.append([names[kind], str(self.copies[i]), *(f"{self.expected[i, seat]:.2f}" for seat in seats)])
        rows.append(["Re", "", *(unknown if self.re[seat] is None else f"{self.re[seat]:.0%}" for seat in seats)])
        table = [f"{name:<5} {copies:>6}" + "".join(f"{cell:>8}" for cell in cells) for name, copies, *cells in rows]
        return "\n".join(said_in(language, line) for line in [self.basis, *table])

    def __str__(self) -> str:
        return self.text()


def card_beliefs(game: Any, view: Any, seat: int, assumed: Any = None) -> CardBeliefs:
    """What a seat may believe about the cards and parties of the others.

    Args:
        assumed: A player with a belief network (`doko:models/doppelkopf`), whose weights are used while cards are
            played; None: all deals that fit are equally likely.
    """
    if int(view.phase) == DEAL:
        raise BadInput(f"the cards of {full_name(game)} aren't dealt yet")
    network = None if assumed is None else _belief_network(game, assumed, seat)
    basis, weights = FITS, np.ones((KINDS, 3))
    if network is not None:
        if int(view.phase) < CARDS:
            basis = f"{FITS}; {label(assumed)} weighs them once cards are played"
        else:
            encoding = np.zeros(SIZE, np.float32)
            game.observe(view, seat, encoding)
            weights = holder_weights(logits(network, encoding)[HOLDERS])
            basis = f"weighed by the belief network of {label(assumed)}"
    # The last three rows: deals in which one seat holds all unseen ♣Q.
    views, rows = np.zeros(4, game.state), np.tile(weights, (4, 1, 1))
    views[:] = view
    for j in range(3):
        rows[1 + j, CLUB_QUEEN, np.arange(3) != j] = 0.0
    counts, logs = np.zeros((4, KINDS, 3)), np.zeros(4)
    expected_counts(game, views, np.full(4, seat), rows, np.zeros(ROOM), counts, logs)
    if not np.isfinite(logs[0]):
        raise BadInput(f"no deal of {full_name(game)} is consistent with the view of seat {seat + 1}")
    unseen = int(unseen_cards(game, view, seat))
    number = np.array([(unseen >> 2 * kind & 3).bit_count() for kind in range(KINDS)])
    kinds = tuple(int(kind) for kind in ORDER[int(view.type)] if number[kind])
    expected = np.zeros((KINDS, 4))
    for j in range(3):
        expected[:, seat + 1 + j & 3] = counts[0, :, j]
    all_queens = np.exp(logs[1:] - logs[0]) if number[CLUB_QUEEN] == 2 else np.zeros(3)
    holds = np.zeros(4)  # the probability to hold a ♣Q
    for j in range(3):
        holds[seat + 1 + j & 3] = counts[0, CLUB_QUEEN, j] - all_queens[j]
    re = tuple(_is_re(view, seat, other, float(holds[other])) for other in range(4))
    return CardBeliefs(basis, seat, kinds, number[list(kinds)], expected[list(kinds)], re)


def _is_re(view: Any, seat: int, other: int, holds: float) -> float | None:
    """The probability that a seat is Re, from that to hold a ♣Q."""
    re, kontra = known_parties(view)
    if re >> other & 1 or kontra >> other & 1:
        return float(re >> other & 1)
    if int(view.mode) != PLAIN:
        return None
    if other == seat:
        return float(is_re(view, seat))
    return min(max(holds, 0.0), 1.0)


def _belief_network(game: Any, player: Any, seat: int) -> Any:
    """The belief network of a player that samples worlds by one."""
    made = make_for(player, game)
    found = getattr(getattr(made, "search", None), "determinizer", None)
    if not isinstance(found, Beliefs):
        raise BadInput(f"{label(player)} has no belief network: name a player such as doko:models/doppelkopf")
    return found.layers
