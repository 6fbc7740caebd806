"""Matches and recordings: players, given by name or as objects, play a game many times, each from every seat.

With two seats, games 2p and 2p + 1 of a match are a pair: the same chance outcomes, seats swapped. With n seats the
players rotate through n games of the same chance outcomes. In a recording, which networks learn from, each game has
chance outcomes of its own. Every game has seeds of its own, made of the seed and its number, so that any process may
play it.
"""

import json
from collections import Counter
from collections.abc import Callable, Collection, Generator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from ..core import memory
from ..core.names import MAX_GAMES, BadInput, at_least, counted
from ..core.pool import Places, spread
from ..core.progress import SILENT, Reporter
from ..core.runs import Run
from ..core.steps import Tasks, steps
from ..core.trust import only_named
from ..core.workers import START, check_main_guard
from ..games import Game, full_name
from ..games.records import FILE, Record, read_records
from . import variance
from .batched import MANY, all_batched, blocks, match_blocks
from .play import as_game, as_kept, labels, match_games, player_at, recorded_games, shared
from .players import make_for
from .statistics import Estimate, Result, Running, html_table, summary, text_table

RESULT = "result.json"  # in a run folder
BYTES = 400  # of memory per game

Make = Callable[..., Callable[..., Any]]
KINDS: dict[str, Make] = {"match": match_games, "record": recorded_games}  # command -> what plays its games


@dataclass(frozen=True)
class MatchResult:
    """The games of a match and their result."""

    game: str
    players: list[str]
    records: list[Record]  # all games, in order
    result: Result  # payoffs, scores and their 95% intervals
    milli_unit: str = ""  # what a thousandth of a payoff is called in this game, such as "mbb/g"
    folder: Path | None = None  # of the run, where it was written

    @property
    def payoff(self) -> Estimate:
        """Mean payoff of the first player."""
        return self.result.payoff

    def _table(self) -> tuple[list[str], list[list[str]]]:
        rows = self.result.rows(self.milli_unit)
        for name, payoff in self.result.by_name.items() if len(self.players) > 2 else ():
            rows.append([f"mean payoff of {name}", f"{payoff.mean:+.4f}", payoff.span()])
        return [self.players[0], f"against {against(self.players)}", "95% interval"], rows

    def __str__(self) -> str:
        return f"{counted(self.result.games, 'game')} of {self.game}\n{text_table(*self._table())}"

    def _repr_html_(self) -> str:
        return f"{counted(self.result.games, 'game')} of {self.game}{html_table(*self._table())}"


def against(players: Sequence[str]) -> str:
    """The opponents of the first player: `random`, `3 x random`."""
    others = Counter(players[1:])
    return ", ".join(f"{count} x {name}" if count > 1 else name for name, count in others.items())


def match(
    game: str | Game,
    players: Sequence[Any],
    games: int = 1000,
    seed: int = 1,
    processes: Places | None = None,
    out: Path | str | None = None,
    report: Reporter = SILENT,
    reduce_variance: bool = False,
    openings: int = 0,
) -> MatchResult:
    """Play a match.

    Args:
        game: A name or a game.
        players: One per seat, names or objects. Games with an object are played in this process.
        games: Number of games. Games 0 and 1 are a pair: the same chance outcomes, seats swapped.
        seed: The same seed gives the same games.
        processes: Worker processes, by default one per core; or the address of a Ray cluster.
        out: A run folder to write, or to resume; None: nothing is written.
        report: Receives the progress.
        reduce_variance: Whether to estimate the mean payoff with less variance, too (see `variance`).
        openings: Number of random plies with which games begin, in games without chance: the same for a pair.
    """
    rules = as_game(game)
    if reduce_variance:
        variance.known_policies(rules, players)
    records, run = play_all(rules, players, games, seed, processes, out, report, openings)
    result = summary(records)
    if reduce_variance:
        result = replace(result, reduced=variance.reduced(rules, players, records, processes, report))
    if run is not None:
        run.write(RESULT, json.dumps(run.config() | result.as_json(), indent=2) + "\n")
    folder = None if run is None else run.folder
    return MatchResult(full_name(rules), labels(players), records, result, rules.facts.milli_unit, folder)


def play_all(
    game: Game,
    players: Sequence[Any],
    games: int,
    seed: int,
    processes: Places | None,
    out: Path | str | None,
    report: Reporter,
    openings: int = 0,
) -> tuple[list[Record], Run | None]:
    """Play all games of a match, in a run folder or without one."""
    check_main_guard()
    settings = opened(openings)
    if out is not None:
        run = open_run(Path(out), "match", game, players, games, seed, **settings)
        return play_into(run, processes, report, players, game), run
    at_least("games", games, 1, MAX_GAMES)
    at_least("seed", seed, 0)
    memory.check(BYTES * games, f"a match of {games:,} games", "play fewer")
    play = partial(play_match, game, players, games, seed, processes, make=player_of("match", openings))
    return steps(Playing(None, games, play), report), None


class Playing(Tasks):
    """The games of a match or a recording. Each is in the folder when it ends, so a kill costs little."""

    def __init__(self, run: Run | None, games: int, play: Callable[..., Generator[Record]]) -> None:
        """`play(done, report)` plays the games whose numbers aren't in `done`."""
        super().__init__(run, games, FILE)
        self.play, self.running = play, Running()
        self.records: dict[int, Record] = {}

    def restore(self) -> bool:
        for record in [] if self.run is None else _own_records(self.run):
            self._add(record)
        return True

    def _add(self, record: Record) -> None:
        self.records[record.number] = record
        self.running.add(record)
        self.done += 1

    def results(self) -> Generator[Record]:
        return self.play(done=self.records.keys(), report=self.report)

    def line(self, result: Record) -> str:
        return result.line()

    def take(self, result: Record) -> None:
        self._add(result)
        if result.forfeit:
            name = result.players[result.forfeit.seat]
            self.report.message(f"game {result.number + 1}: {name} forfeits: {result.forfeit.reason}")

    def note(self) -> str:
        return str(self.running)

    def result(self) -> list[Record]:
        """All games, in order."""
        ordered = [self.records[number] for number in sorted(self.records)]
        if self.run is not None:
            self.run.write_lines(FILE, (record.line() for record in ordered))
        return ordered


def play_match(
    game: str | Game,
    players: Sequence[Any],
    games: int,
    seed: int,
    processes: Places | None = None,
    done: Collection[int] = (),
    report: Reporter = SILENT,
    alone: float = START,
    make: Make = match_games,
) -> Generator[Record]:
    """Play the games of a match that aren't `done` yet; each is given as it ends.

    Any number of processes plays the same games, in another order. Many games of players that give probabilities for
    many views at once are played side by side: these too are the same games.
    """
    todo = [number for number in range(games) if number not in done]
    rules = as_game(game)
    given, processes = shared(rules, players, processes)
    arguments, workers = (given, list(players), seed), (processes, report, alone)
    if make is match_games and len(todo) >= MANY and all_batched([make_for(each, rules) for each in players]):
        with closing(spread(match_blocks, arguments, blocks(todo), *workers)) as played:
            for records in played:
                yield from records
    else:
        yield from spread(make, arguments, todo, *workers)


# ---------------------------------------------------------------- run folders


def open_run(
    folder: Path | None,
    command: str,
    game: str | Game,
    players: Sequence[Any],
    games: int,
    seed: int,
    make: Make | None = None,
    **settings: Any,
) -> Run:
    """Open the run folder of a match, a recording, or another command that plays games.

    Args:
        folder: A new folder, or one that holds the same run, of as many games or fewer; None: a new one in `runs/`.
        command: "match" or "record"; another one with its `make`.
        game: A name or a game.
        players: Names or objects. For a recording, one may be named for all seats.
        games: Number of games.
        seed: The same seed gives the same games.
        make: `make(game, players, seed)` returns what plays; it refuses what can't be played.
        settings: More for the configuration. Where there are `sessions`, their number may grow instead of `games`.

    Raises:
        BadInput: The run can't be played, or the folder holds something else. Nothing is written then.
    """
    at_least("games", games, 1, MAX_GAMES)
    if "sessions" in settings:
        at_least("sessions", settings["sessions"], 1, 10**5)
    at_least("seed", seed, 0)
    total = games * settings.get("sessions", 1)
    memory.check(BYTES * total, f"a run of {total:,} games", "play fewer")
    rules = as_game(game)
    if command == "record":
        players = on_all_seats(rules, players)
    (make or player_of(command, settings.get("openings", 0)))(rules, players, seed)
    config = {"command": command, "game": full_name(rules), "players": labels(players), "games": games}
    config |= settings | {"seed": seed}
    grows = "sessions" if "sessions" in settings else "games"
    return Run.create_or_resume(folder, f"{rules.name}-{command}", as_kept(folder, config), may_grow=(grows,))


def opened(openings: int) -> dict[str, Any]:
    """What the configuration of a match says about random openings: nothing where there are none."""
    at_least("openings", openings, 0, 1000)
    return {"openings": openings} if openings else {}


def player_of(command: str, openings: int) -> Make:
    """What plays the games of a command."""
    return partial(match_games, openings=openings) if openings else KINDS[command]


def on_all_seats(game: Game, players: Sequence[Any]) -> list[Any]:
    """The players of a recording: one named for all seats, or one per seat."""
    seats = game.facts.seats
    if "human" in players:
        raise BadInput("a human can't play a recording, which uses all cores; kibitz match takes one")
    if len(players) not in (1, seats):
        raise BadInput(
            f"{full_name(game)} is for {seats} players: name one for all seats, or {seats}, not {len(players)}"
        )
    return list(players) * (seats if len(players) == 1 else 1)


def play_into(
    run: Run,
    processes: Places | None = None,
    report: Reporter = SILENT,
    players: Sequence[Any] | None = None,
    game: str | Game | None = None,
    make: Make | None = None,
    alone: float = START,
) -> list[Record]:
    """Play the games that are missing in a run folder.

    Args:
        run: From `open_run`.
        processes: Worker processes, by default one per core; or the address of a Ray cluster.
        report: Receives the progress.
        players: The players as they were given to `open_run`; by default the names in the folder.
        game: Likewise.
        make: As for `open_run`.
        alone: Seconds of work for which no worker processes are started.
    """
    config = run.config()
    games, seed, given = config["games"], config["seed"], [game, *(players or ())]
    game, players = game or config["game"], players or config["players"]
    make = make or player_of(config["command"], config.get("openings", 0))
    play = partial(play_match, game, players, games, seed, processes, alone=alone, make=make)
    with only_named(*given):
        records: list[Record] = steps(Playing(run, games, play), report)
    return records


def _own_records(run: Run) -> list[Record]:
    """The games that are in the folder already; refused if they are of another match."""
    config, path = run.config(), run.path(FILE)
    players, seats = labels(config["players"]), len(config["players"])
    found: dict[int, Record] = {}
    for record in read_records(path) if path.exists() else []:
        names = [players[player_at(seat, record.number, seats)] for seat in range(seats)]
        given = names if record.players == names else labels(record.players)
        expected = (config["game"], names, config["seed"])
        if (record.game, given, record.seed) != expected or not 0 <= record.number < config["games"]:
            raise BadInput(f"{run.path(FILE)}: game {record.number + 1} is of another match")
        if record.number in found:
            raise BadInput(f"{run.path(FILE)}: game {record.number + 1} is there twice")
        found[record.number] = replace(record, players=names)
    return list(found.values())
