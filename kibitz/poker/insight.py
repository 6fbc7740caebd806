"""What lies behind advice in hold'em: both ranges at a view, and the own hand's equity against the other seat's."""

from dataclasses import dataclass
from typing import Any

from ..core.names import BadInput
from ..play.players.beliefs import adviser_beliefs
from ..play.players.worlds import policy_player
from .beliefs import RangeBeliefs, hand_class, range_beliefs
from .rules.equity import Equity, equity


@dataclass(frozen=True)
class HandInsight:
    """The ranges of both seats at a view, made from the view alone."""

    believed: RangeBeliefs
    equity: Equity  # of the own hand against the other seat's range
    hand_class: str  # of the own hand, such as `AKs`

    def as_json(self, language: str = "en") -> dict[str, Any]:
        """Everything, as values for JSON, in words of a language (`en`, `de`)."""
        return self.believed.as_json(language) | {"equity": self.equity._asdict()}

    def shown(self, width: int, words: Any, legend: bool = True) -> Any:
        """For a terminal of a width: a renderable of rich."""
        from .app.range_grid import insight_text

        return insight_text(self, width, words, legend)

    def plot(self, title: str, form: str, words: Any) -> bytes:
        """The content of a picture in a form, `png` or `svg`."""
        from .app.range_plot import plot_insight

        return plot_insight(self, title, form, words)


def hand_insight(
    game: Any, view: Any, seat: int, player: str, assumed: str | None = None, uniform: bool = False, asked: bool = False
) -> HandInsight | None:
    """What lies behind an adviser's advice on a view of hold'em: the hook `insight`.

    Args:
        game, view, seat: The view; the seat's hand is dealt.
        player: The adviser, by name. Its strategy is shown where it is known for every hand.
        assumed: The player that the other seat is assumed to be; None: the adviser, or the game's default player where
            the adviser's probabilities aren't known.
        uniform: Assume nothing: all hands that fit are equally likely.
        asked: Whether to answer for any adviser.

    Returns:
        None for an adviser whose strategy isn't known where nobody asked.
    """
    known = True
    try:
        policy_player(player, game)
    except BadInput:
        known = False
    if not (known or asked):
        return None
    if uniform or assumed is not None:
        believed = range_beliefs(game, view, seat, assumed, player if known else None)
    else:
        found = adviser_beliefs(game, view, seat, player)
        assert isinstance(found, RangeBeliefs)
        believed = found
    against = equity(game, view, seat, believed.other.probs)
    return HandInsight(believed, against, hand_class(view.hole[seat]))
