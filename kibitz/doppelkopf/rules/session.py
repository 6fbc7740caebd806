"""The rules of a session of Doppelkopf: who deals, who owes a compulsory solo, and when one is forced.

Players sit in the order in which they are named, and the last one deals first: seat 0 of a game is left of its dealer.
The dealer moves on after every game except a compulsory solo.
"""

from typing import Any, NamedTuple

from ...core.names import BadInput, at_least
from ...games import full_name
from .rules import Doppelkopf
from .state import SOLO

SEATS = 4
MAX_GAMES = 10**4


class Standing(NamedTuple):
    """The state of a session between two games. Players are numbered in the order in which they are named."""

    played: int
    dealer: int
    owed: int  # bit p: player p still owes a compulsory solo


def check(rules: Any, games: int, solos: bool) -> None:
    """Refuse a session that can't be played.

    Args:
        rules: The game.
        games: Number of games.
        solos: Whether each player owes a compulsory solo.
    """
    name = full_name(rules)
    if not isinstance(rules, Doppelkopf):
        raise BadInput(f"{name} has no sessions: only doppelkopf has")
    if rules.owed or rules.forced >= 0:
        raise BadInput(f"{name}: the session decides which solos are owed, so leave out owed and forced")
    at_least("games", games, SEATS if solos else 1, MAX_GAMES)
    next_game(rules, opening(solos), games).facts  # noqa: B018  (refuses solos that may not be named)


class Session(NamedTuple):
    """The rules of a session, as the hook `session` gives them to a table."""

    rules: Any
    games: int

    def check(self) -> None:
        check(self.rules, self.games, self.rules.solos)

    def opening(self) -> Standing:
        return opening(self.rules.solos)

    def standing(self, content: dict[str, Any]) -> Standing:
        """The standing in the content of a file, which may have more."""
        return Standing(*(content[key] for key in Standing._fields))

    def seated(self, standing: Standing) -> list[int]:
        return seated(standing)

    def next_game(self, standing: Standing) -> Any:
        return next_game(self.rules, standing, self.games)

    def after(self, standing: Standing, end: Any) -> Standing:
        return after(standing, self.next_game(standing), end)


def opening(solos: bool) -> Standing:
    return Standing(0, SEATS - 1, (1 << SEATS) - 1 if solos else 0)


def seated(standing: Standing) -> list[int]:
    """The player on each seat."""
    return [(standing.dealer + 1 + seat) % SEATS for seat in range(SEATS)]


def next_game(rules: Any, standing: Standing, games: int) -> Any:
    """Return the rules of the next game. When as many solos are owed as games are left, the next one is forced."""
    owing = [seat for seat, player in enumerate(seated(standing)) if standing.owed >> player & 1]
    forced = owing[0] if owing and len(owing) >= games - standing.played else -1
    return rules._replace(owed=sum(1 << seat for seat in owing), forced=forced)


def after(standing: Standing, game: Any, end: Any) -> Standing:
    """Return the standing after a game.

    A solo is compulsory if its player owed one; a marriage that found no partner never is.
    """
    soloist = int(end.soloist)
    if end.mode == SOLO and end.bride < 0 and game.owed >> soloist & 1:
        return Standing(standing.played + 1, standing.dealer, standing.owed ^ 1 << seated(standing)[soloist])
    return Standing(standing.played + 1, (standing.dealer + 1) % SEATS, standing.owed)
