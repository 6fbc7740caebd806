"""A session at a table: the rules of its games, who sits where, and who still owes a game of a kind, such as a solo.

The game's hook `session` has its rules. A standing between two games has `played`, `dealer` and `owed`, a bit for each
participant.
"""

from typing import Any

from ...core.names import BadInput
from ...games import full_name, offering
from .messages import SessionView

NOBODY = -1


def has_sessions(game: Any) -> bool:
    return hasattr(game, "session")


class Session:
    """Where a session stands before the game at the table. Participants are numbered as those of the table."""

    def __init__(self, rules: Any, games: int) -> None:
        """
        Args:
            rules: A game with sessions.
            games: Number of games.
        """
        if not has_sessions(rules):
            raise BadInput(f"{full_name(rules)} has no sessions: only {offering('session')} has")
        self.plan = rules.session(games)
        self.plan.check()
        self.rules, self.games = rules, games
        self.standing = self.plan.opening()
        self.solos: list[int] = []  # per finished game the participant who paid what it owed, or NOBODY

    @property
    def game(self) -> Any:
        """The rules of the game at the table."""
        return self.plan.next_game(self.standing)

    def seat_of(self, participant: int) -> int:
        return self.plan.seated(self.standing).index(participant)

    def participant_at(self, seat: int) -> int:
        return int(self.plan.seated(self.standing)[seat])

    def finish(self, end: Any) -> None:
        """Enter the game at the table, which has ended."""
        paid = self.standing.owed ^ self.plan.after(self.standing, end).owed
        self.solos.append(paid.bit_length() - 1)

    def advance(self, end: Any) -> bool:
        """Go on from a game that has been entered; return whether a new session begins, with the next dealer."""
        self.standing = self.plan.after(self.standing, end)
        if self.standing.played < self.games:
            return False
        self.standing, self.solos = self.plan.opening()._replace(dealer=self.standing.dealer), []
        return True

    def view(self, end: Any) -> SessionView:
        """What everybody knows, by the seats of the game at the table; `end` is None until it is over."""
        standing, game = self.standing if end is None else self.plan.after(self.standing, end), self.game
        return SessionView(
            games=self.games,
            played=standing.played,
            owes=[bool(standing.owed >> player & 1) for player in self.plan.seated(self.standing)],
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
        session.standing = session.plan.standing(content)
        session.solos = content["solos"]
        return session

    def fits(self, results: int, over: bool) -> bool:
        """Whether so many games were entered, of which the one at the table is the last if it is over."""
        return self.standing.played < self.games and len(self.solos) == results == self.standing.played + over
