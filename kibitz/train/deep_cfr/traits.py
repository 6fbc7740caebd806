"""What Deep CFR may know of a game beside its rules. A game has its own by the hook `deep_cfr`."""

from typing import Any

from ...core.names import BadInput
from ...games import full_name
from ...games.leduc import Leduc
from .packing import Packing


class Traits:
    """What is known of most games: nothing."""

    deck: tuple[int, int, int] = (0, 0, 0)  # streets, ranks, suits of encodings that have cards street by street
    permutes_suits = False  # whether the suits of packed views can be permuted
    streets = False  # whether views have a street
    defects: tuple[str, ...] = ()  # of the thesis, that only this game can have (see `thesis_defects`)

    def __init__(self, game: Any) -> None:
        self.game = game

    def packing(self) -> Packing:
        """What packs the game's views."""
        return Packing(self.game)

    def preset(self, name: str) -> dict[str, Any] | None:
        """The values of a preset for this game; None: those for any game."""
        return None

    def always(self) -> dict[str, Any]:
        """Values that all presets have for this game."""
        return {}

    def with_hand_categories(self) -> Any:
        """The game whose encoding has hand categories, too."""
        raise BadInput(f"hand_categories is for games with hands of cards, not for {full_name(self.game)}")

    def with_defect(self, name: str) -> Any:
        """The game with one of its `defects` that change its rules or its encoding, else the game itself."""
        return self.game

    def check_defect(self, name: str) -> None:
        """Refuse one of its `defects` that the game's parameters don't allow."""


class LeducTraits(Traits):
    streets = True

    def packing(self) -> Packing:
        return LeducPacking(self.game)


class LeducPacking(Packing):
    def streets(self, columns: Any, views: Any) -> Any:
        game: Any = self.game
        kinds = game.ranks * game.suits if game.distinct_suits else game.ranks
        public = self.unpacker(columns, views.device)(views)[:, kinds : 2 * kinds]
        return public.count_nonzero(dim=1)


def traits_of(game: Any) -> Traits:
    """What is known of a game."""
    found: Traits | None = getattr(game, "deep_cfr", None)
    return found or (LeducTraits(game) if isinstance(game, Leduc) else Traits(game))


def packing_of(game: Any) -> Packing:
    """What packs the views of a game."""
    return traits_of(game).packing()
