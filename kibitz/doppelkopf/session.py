"""Whole sessions of Doppelkopf: 24 games, in which every player owes a compulsory solo.

The next game of a session depends on those before it, so the first games of all sessions are played together, then the
second ones, and so on.
"""

from collections.abc import Callable, Generator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..core import memory
from ..core.files import check_fits, readable
from ..core.names import BadInput, at_least
from ..core.pool import Places, pool
from ..core.progress import SILENT, Reporter
from ..core.runs import Run
from ..core.steps import Tasks, steps
from ..core.trust import only_named
from ..core.workers import START
from ..games import Game, full_name, load, load_stored
from ..games.records import Record, read_records
from ..play.match import BYTES, FILE, open_run
from ..play.play import as_game, labels, lineup, play_game, shared
from ..play.statistics import Estimate, interval
from .rules.session import SEATS, Standing, after, check, next_game, opening, seated


class Played(NamedTuple):
    before: Standing
    game: Any  # the rules, with the seats that owe a solo
    record: Record
    end: Any  # the last position
    after: Standing

    @property
    def compulsory(self) -> bool:
        return self.after.owed != self.before.owed

    @property
    def scores(self) -> list[int]:
        """The scores by player, not by seat."""
        by_player = sorted(zip(seated(self.before), self.record.payoffs, strict=True))
        return [int(payoff) for _, payoff in by_player]


def follow(standing: Standing, game: Any, record: Record) -> Played:
    """Replay a game of a session; refuse one that can't have been played."""
    end = record.verify()
    return Played(standing, game, record, end, after(standing, game, end))


def session_games(
    rules: str | Game, players: Sequence[Any], seed: int
) -> Callable[[tuple[int, str, tuple[int, ...]]], Record]:
    """Return the function that plays a game by its number, its rules and the player of each seat."""
    _, made, names = lineup(rules, players)

    def play(task: tuple[int, str, tuple[int, ...]]) -> Record:
        number, game_name, order = task
        return play_game(load(game_name), made, names, seed, number, order, number)

    return play


def open_session(
    folder: Path | None,
    rules: str | Game,
    players: Sequence[Any],
    games: int,
    sessions: int,
    solos: bool,
    seed: int,
) -> Run:
    """Open the run folder of sessions: a new one, or one that holds as many of these sessions or fewer.

    Args:
        folder: None: a new one in `runs/`.
        rules: Doppelkopf, or its name.
        players: Four, names or objects.
        games: Number of games per session.
        sessions: Number of sessions.
        solos: Whether each player owes a compulsory solo.
        seed: The same seed gives the same games.
    """
    rules = as_game(rules)
    check(rules, games, solos)
    settings = {"solos": solos, "sessions": sessions}
    return open_run(folder, "session", rules, players, games, seed, session_games, **settings)


def play_sessions(
    run: Run,
    processes: Places | None = None,
    report: Reporter = SILENT,
    players: Sequence[Any] | None = None,
    alone: float = START,
) -> list[list[Played]]:
    """Play the games that are missing in a run folder of sessions.

    `players` are those given to `open_session`, by default the names in the folder.
    """
    with only_named(*(players or ())):
        sessions: list[list[Played]] = steps(Sessions(run, players, processes, alone), report)
    return sessions


class Sessions(Tasks):
    """The games of sessions, in turn the first, second, ... of all sessions. Each is in the folder when it ends."""

    run: Run

    def __init__(self, run: Run, players: Sequence[Any] | None, processes: Places | None, alone: float) -> None:
        self.config = run.config()
        super().__init__(run, self.config["games"] * self.config["sessions"], FILE)
        self.players, self.processes, self.alone = players or self.config["players"], processes, alone

    def restore(self) -> bool:
        self.sessions = read_sessions(self.run)
        self.points = np.sum([totals(session) for session in self.sessions], axis=0)
        self.done = sum(map(len, self.sessions))
        return True

    def results(self) -> Generator[Record]:
        games, seed = self.config["games"], self.config["seed"]
        rules, processes = shared(load_stored(self.config["game"]), self.players, self.processes)
        with pool(session_games, (rules, self.players, seed), processes, self.report, self.alone) as workers:
            for count in range(games):
                self.coming = {
                    games * number + count: _next(self.config, session)
                    for number, session in enumerate(self.sessions)
                    if len(session) == count
                }
                yield from workers.do(
                    (number, full_name(game), tuple(seated(standing)))
                    for number, (standing, game) in self.coming.items()
                )

    def line(self, result: Record) -> str:
        return result.line()

    def take(self, result: Record) -> None:
        played = follow(*self.coming[result.number], result)
        self.sessions[result.number // self.config["games"]].append(played)
        self.points, self.done = self.points + played.scores, self.done + 1

    def note(self) -> str:
        return " ".join(f"{score:+d}" for score in self.points)

    def result(self) -> list[list[Played]]:
        self.run.write_lines(FILE, (played.record.line() for session in self.sessions for played in session))
        return self.sessions


def _next(config: dict[str, Any], session: list[Played]) -> tuple[Standing, Any]:
    standing = session[-1].after if session else opening(config["solos"])
    return standing, next_game(load_stored(config["game"]), standing, config["games"])


def read_sessions(run: Run) -> list[list[Played]]:
    """Read the games in the folder, by session; refuse those of another run."""
    config = run.config()
    with readable(run.path("config.json"), "configuration"):
        check_fits(config, {"game": str, "players": [str], "games": int, "sessions": int, "solos": bool, "seed": int})
        at_least("games", config["games"], 1)
        memory.check(
            BYTES * config["games"] * config["sessions"], f"the sessions of {run.path('config.json')}", "play fewer"
        )
    names, games, seed = labels(config["players"]), config["games"], config["seed"]
    sessions: list[list[Played]] = [[] for _ in range(config["sessions"])]
    records = read_records(run.path(FILE)) if run.path(FILE).exists() else []
    for record in sorted(records, key=lambda record: record.number):
        session, count = divmod(record.number, games)
        if not 0 <= session < len(sessions) or len(sessions[session]) != count:
            raise BadInput(f"{run.path(FILE)}: game {record.number + 1} is there twice, or without those before it")
        standing, game = _next(config, sessions[session])
        expected = (full_name(game), [names[player] for player in seated(standing)], seed)
        given = expected[1] if record.players == expected[1] else labels(record.players)
        if (record.game, given, record.seed) != expected:
            raise BadInput(f"{run.path(FILE)}: game {record.number + 1} is of another session")
        record = replace(record, players=given)
        try:
            sessions[session].append(follow(standing, game, record))
        except BadInput as error:
            raise BadInput(f"{run.path(FILE)}: {error}") from None
    return sessions


def totals(session: list[Played]) -> list[int]:
    """The points of each player."""
    return [sum(played.scores[player] for played in session) for player in range(SEATS)]


def summary(names: Sequence[str], sessions: list[list[Played]]) -> dict[str, Estimate]:
    """Points per session by name, with intervals over sessions; of a name with several seats, their mean."""
    found = np.array([totals(session) for session in sessions], float)  # [session, player]
    estimates = {}
    for name in dict.fromkeys(names):
        own = [player for player, other in enumerate(names) if other == name]
        estimates[name] = interval(found[:, own].sum(axis=1), np.full(len(found), float(len(own))))
    return estimates
