"""Whole sessions of Doppelkopf: 24 games, in which every player owes a compulsory solo.

The next game of a session depends on those before it, so the first games of all sessions are played together, then the
second ones, and so on.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..core import memory
from ..core.files import check_fits, readable
from ..core.names import BadInput, at_least
from ..core.progress import SILENT, Reporter
from ..core.runs import Run
from ..core.trust import only_named
from ..core.workers import START, Workers
from ..games import Game, full_name, load, load_stored
from ..games.doppelkopf.session import SEATS, Standing, after, check, next_game, opening, seated
from ..games.records import Record, read_records
from .match import BYTES, FILE, OFTEN, open_run
from .play import as_game, labels, lineup, play_game, shared
from .statistics import Estimate, interval


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
    processes: int | None = None,
    report: Reporter = SILENT,
    players: Sequence[Any] | None = None,
    alone: float = START,
) -> list[list[Played]]:
    """Play the games that are missing in a run folder of sessions. Each is written as it ends, so a kill costs little.

    `players` are those given to `open_session`, by default the names in the folder.
    """
    config = run.config()
    given, games, seed, players = players or (), config["games"], config["seed"], players or config["players"]
    rules, processes = shared(load_stored(config["game"]), players, processes)
    total, last = games * config["sessions"], 0.0
    with only_named(*given), run.lock():
        sessions = read_sessions(run)
        with run.appending(FILE) as append:
            points = np.sum([totals(session) for session in sessions], axis=0)
            done = sum(map(len, sessions))
            with Workers(session_games, (rules, players, seed), processes, report, alone) as workers:
                for count in range(games):
                    coming = {
                        games * number + count: _next(config, session)
                        for number, session in enumerate(sessions)
                        if len(session) == count
                    }
                    tasks = [
                        (number, full_name(game), tuple(seated(standing)))
                        for number, (standing, game) in coming.items()
                    ]
                    for record in workers.do(tasks):
                        append(record.line())
                        played = follow(*coming[record.number], record)
                        sessions[record.number // games].append(played)
                        points, done = points + played.scores, done + 1
                        if time.monotonic() - last > OFTEN or done == total:
                            last = time.monotonic()
                            report.progress(done, total, " ".join(f"{score:+d}" for score in points))
        run.write_lines(FILE, (played.record.line() for session in sessions for played in session))
    return sessions


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
