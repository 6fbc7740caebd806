"""Whole sessions of Doppelkopf: 24 games at one table, in which every player owes a compulsory solo.

Players sit in the order in which they are named, and the last one deals first: seat 0 of a game is left of its dealer.
The dealer moves on after every game but a compulsory solo. What is played next depends on the games before it, so the
first games of all sessions are played together, then the second ones, and so on.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..core.names import BadInput, at_least
from ..core.runs import Run
from ..core.workers import ALONE, Workers, cores
from ..games import full_name, load
from ..games.doppelkopf import Doppelkopf
from ..games.doppelkopf.state import SOLO
from ..games.records import Record, read_records
from ..players import make_for
from .match import FILE, play_seated
from .statistics import Estimate, interval

SEATS = 4


class Standing(NamedTuple):
    """A session between two games. Players are counted as they are named."""

    played: int
    dealer: int
    owed: int  # bit p: player p still owes a compulsory solo


class Played(NamedTuple):
    before: Standing
    game: Any  # its rules, with who owes a solo
    record: Record
    end: Any  # the last position
    after: Standing

    @property
    def compulsory(self) -> bool:
        return self.after.owed != self.before.owed

    @property
    def scores(self) -> list[int]:
        """By player, not by seat."""
        by_player = sorted(zip(seated(self.before), self.record.payoffs, strict=True))
        return [int(payoff) for _, payoff in by_player]


def opening(solos: bool) -> Standing:
    return Standing(0, SEATS - 1, (1 << SEATS) - 1 if solos else 0)


def seated(standing: Standing) -> list[int]:
    """The player on each seat."""
    return [(standing.dealer + 1 + seat) % SEATS for seat in range(SEATS)]


def next_game(rules: Any, standing: Standing, games: int) -> Any:
    """When as many solos are owed as games are left, the next player who owes one has to play it."""
    owing = [seat for seat, player in enumerate(seated(standing)) if standing.owed >> player & 1]
    forced = owing[0] if owing and len(owing) >= games - standing.played else -1
    return rules._replace(owed=sum(1 << seat for seat in owing), forced=forced)


def after(standing: Standing, game: Any, end: Any) -> Standing:
    """A solo is compulsory if its player owed one; a marriage that found no partner never is."""
    soloist = int(end.soloist)
    if end.mode == SOLO and end.bride < 0 and game.owed >> soloist & 1:
        return Standing(standing.played + 1, standing.dealer, standing.owed ^ 1 << seated(standing)[soloist])
    return Standing(standing.played + 1, (standing.dealer + 1) % SEATS, standing.owed)


def follow(standing: Standing, game: Any, record: Record) -> Played:
    """A game of a session, replayed. Refuses what can't have been played."""
    end = record.verify()
    return Played(standing, game, record, end, after(standing, game, end))


def seats_for(names: Sequence[str], rules_name: str, seed: int) -> Callable[[tuple[int, str, tuple[int, ...]]], Record]:
    """What a process needs: the function that plays one game by its number, its rules and its seats."""
    rules = load(rules_name)
    players = [make_for(name, rules) for name in names]

    def play(task: tuple[int, str, tuple[int, ...]]) -> Record:
        number, game_name, order = task
        return play_seated(load(game_name), players, names, order, seed, number, number)

    return play


def open_session(
    folder: Path | None, rules_name: str, names: Sequence[str], games: int, sessions: int, solos: bool, seed: int
) -> Run:
    """A new run folder, or one that holds these sessions, as many or fewer. Refuses before it writes anything."""
    rules = load(rules_name)
    if not isinstance(rules, Doppelkopf):
        raise BadInput(f"{full_name(rules)} has no sessions: only doppelkopf has")
    if rules.owed or rules.forced >= 0:
        raise BadInput(f"{full_name(rules)}: who owes a solo is found in the session, so leave out owed and forced")
    if len(names) != SEATS:
        raise BadInput(f"{full_name(rules)} is for {SEATS} players, not {len(names)}")
    at_least("games", games, SEATS if solos else 1)
    at_least("sessions", sessions, 1)
    at_least("seed", seed, 0)
    next_game(rules, opening(solos), games).facts  # noqa: B018  (refuses solos that may not be named)
    seats_for(names, rules_name, seed)
    config = {"command": "session", "game": full_name(rules), "players": list(names), "games": games}
    config |= {"solos": solos, "sessions": sessions, "seed": seed}
    return Run.create_or_resume(folder, f"{rules.name}-session", config, may_grow=("sessions",))


def play_sessions(
    run: Run,
    processes: int | None = None,
    on_game: Callable[[int, Played], None] = lambda session, played: None,
    tell: Callable[[str], None] = lambda text: None,
    alone: float = ALONE,
) -> list[list[Played]]:
    """Play what is missing of the sessions in a run folder. Each game is written as it ends, so a kill costs little."""
    config = run.config()
    rules, names, games, seed = (config[key] for key in ("game", "players", "games", "seed"))
    with run.appending(FILE) as append:
        sessions = read_sessions(run)
        for number, session in enumerate(sessions):
            for played in session:
                on_game(number, played)
        with Workers(seats_for, (names, rules, seed), processes or cores(), tell, alone) as workers:
            for count in range(games):
                coming = {
                    games * number + count: _next(config, session)
                    for number, session in enumerate(sessions)
                    if len(session) == count
                }
                tasks = [
                    (number, full_name(game), tuple(seated(standing))) for number, (standing, game) in coming.items()
                ]
                for record in workers.do(tasks):
                    append(record.line())
                    sessions[record.number // games].append(follow(*coming[record.number], record))
                    on_game(record.number // games, sessions[record.number // games][-1])
    run.write(FILE, "".join(played.record.line() for session in sessions for played in session))
    return sessions


def _next(config: dict[str, Any], session: list[Played]) -> tuple[Standing, Any]:
    standing = session[-1].after if session else opening(config["solos"])
    return standing, next_game(load(config["game"]), standing, config["games"])


def read_sessions(run: Run) -> list[list[Played]]:
    """What is in the folder already, by session; refused if it is of others."""
    config = run.config()
    names, games, seed = (config[key] for key in ("players", "games", "seed"))
    sessions: list[list[Played]] = [[] for _ in range(config["sessions"])]
    for record in sorted(read_records(run.path(FILE)), key=lambda record: record.number):
        session, count = divmod(record.number, games)
        if not 0 <= session < len(sessions) or len(sessions[session]) != count:
            raise BadInput(f"{run.path(FILE)}: game {record.number} is there twice, or without those before it")
        standing, game = _next(config, sessions[session])
        expected = (full_name(game), [names[player] for player in seated(standing)], seed)
        if (record.game, record.players, record.seed) != expected:
            raise BadInput(f"{run.path(FILE)}: game {record.number} is of another session")
        sessions[session].append(follow(standing, game, record))
    return sessions


def totals(session: list[Played]) -> list[int]:
    """By player."""
    return [sum(played.scores[player] for played in session) for player in range(SEATS)]


def summary(names: Sequence[str], sessions: list[list[Played]], seed: int = 0) -> dict[str, Estimate]:
    """Points a session by name, bootstrapped over sessions; who is named for several seats has their mean."""
    found = np.array([totals(session) for session in sessions], float)  # [session, player]
    estimates = {}
    for name in dict.fromkeys(names):
        own = [player for player, other in enumerate(names) if other == name]
        estimates[name] = interval(found[:, own].sum(axis=1), np.full(len(found), float(len(own))), seed)
    return estimates
