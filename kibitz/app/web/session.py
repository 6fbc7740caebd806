"""A session of Doppelkopf at a table: the rules of its games, who sits where, and who owes a compulsory solo."""

from typing import Any

from ...games.doppelkopf import Doppelkopf
from ...games.doppelkopf.session import Standing, after, check, next_game, opening, seated
from .messages import SessionView

NOBODY = -1


def has_sessions(game: Any) -> bool:
    return isinstance(game, Doppelkopf)


class Session:
    """Where a session stands before the game at the table. Participants are numbered as those of the table."""

    def __init__(self, rules: Any, games: int) -> None:
        """
        Args:
            rules: Doppelkopf; each participant owes a compulsory solo if it has solos.
            games: Number of games.
        """
        check(rules, games, getattr(rules, "solos", False))
        self.rules, self.games = rules, games
        self.standing = opening(rules.solos)
        self.solos: list[int] = []  # per finished game the participant whose compulsory solo it was, or NOBODY

    @property
    def game(self) -> Any:
        """The rules of the game at the table."""
        return next_game(self.rules, self.standing, self.games)

    def seat_of(self, participant: int) -> int:
        return seated(self.standing).index(participant)

    def participant_at(self, seat: int) -> int:
        return seated(self.standing)[seat]

    def finish(self, end: Any) -> None:
        """Enter the game at the table, which has ended."""
        paid = self.standing.owed ^ after(self.standing, self.game, end).owed
        self.solos.append(paid.bit_length() - 1)

    def advance(self, end: Any) -> bool:
        """Go on from a game that has been entered; return whether a new session begins, with the next dealer."""
        self.standing = after(self.standing, self.game, end)
        if self.standing.played < self.games:
            return False
        self.standing, self.solos = opening(self.rules.solos)._replace(dealer=self.standing.dealer), []
        return True

    def view(self, end: Any) -> SessionView:
        """What everybody knows, by the seats of the game at the table; `end` is None until it is over."""
        standing, game = self.standing if end is None else after(self.standing, self.game, end), self.game
        return SessionView(
            games=self.games,
            played=standing.played,
            owes=[bool(standing.owed >> player & 1) for player in seated(self.standing)],
            solos=[0 if solo == NOBODY else self.seat_of(solo) + 1 for solo in self.solos],
            dealer=self.seat_of(self.standing.dealer) + 1,
            forced=game.forced + 1 if end is None else 0,
            over=standing.played == self.games,
        )

    # ---------------------------------------------------------------- on disk

    def content(self) -> dict[str, Any]:
        return {"games": self.games, **self.standing._asdict(), "solos": self.solos}

    @classmethod
    def restored(cls, rules: Any, content: dict[str, Any]) -> "Session":
        session = cls(rules, content["games"])
        session.standing = Standing(*(content[key] for key in Standing._fields))
        session.solos = content["solos"]
        return session

    def fits(self, results: int, over: bool) -> bool:
        """Whether so many games were entered, of which the one at the table is the last if it is over."""
        return self.standing.played < self.games and len(self.solos) == results == self.standing.played + over
