"""How a game is talked about at a table with people. Most do it in the words they have; some have more to say."""

from typing import Any

from ..core.names import BadInput
from .game import Game, legal_actions


class Display:
    """A game whose `show`, `spell` and `read` are those of a table, with what else people need there."""

    languages: tuple[str, ...] = ("en",)

    def __init__(self, game: Game, language: str = "en") -> None:
        if language not in self.languages:
            raise BadInput(f"{game.name} speaks {' and '.join(self.languages)}, not {language}")
        self.game, self.language = game, language

    def __getattr__(self, name: str) -> Any:
        return getattr(self.game, name)

    def moves(self, view: Any) -> list[int]:
        """In the order in which they are listed."""
        return legal_actions(self.game, view)

    def keys(self, view: Any) -> dict[str, int]:
        """Moves by a key, where they have no numbers; "" is that of an empty line."""
        return {}

    def ahead(self, view: Any, text: str) -> int:
        """What to do now where the text is meant for the next turn; -1: it isn't."""
        return -1

    def unasked(self, view: Any) -> int:
        """What is done without a question, as there is nothing to decide; -1: ask."""
        return -1

    def heard(self, before: Any, action: int, after: Any) -> str:
        """Another seat's move, as it is told once it was made."""
        return self.action_to_string(before, action)

    def tells(self, view: Any, action: int) -> bool:
        """Whether what somebody does is worth a line."""
        return True


def display(game: Game, language: str = "en") -> Any:
    """Its own talk, or the plain one."""
    return getattr(game, "display", Display)(game, language)
