"""Base class of studies. A study reproduces the tables and figures of one paper, our numbers beside the published ones.

A study is one file: a dataclass with `@study("name")`. Its fields are the options of `kibitz study NAME PART`, its
methods report the parts (`report_table_1` the part `table-1`). All training runs and matches are kept in one folder, so
that parts share them; whatever is there already is not done again, and the same command resumes an interrupted study.
"""

import json
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any, ClassVar, NamedTuple, TypeVar

import numpy as np

from ..core.files import check_fits, make_folder, read_json, readable, write_atomically
from ..core.names import LARGEST, MAX_PROCESSES, BadInput, Interval, choose, hints, is_allowed, located
from ..core.pool import Places, check_cluster
from ..core.progress import SILENT, Reporter
from ..core.registry import Registry
from ..core.runs import Run
from ..games import load
from ..games.records import Record
from ..play.match import open_run, play_into, play_match
from ..play.play import seat_of
from ..play.statistics import Estimate, interval, summary
from ..train.removed_options import without_removed
from ..train.trainer import configured, has_workers, method_of, new_run, train
from .report import Report, points

STUDIES = Registry("study", "kibitz.reproduce")
UNNAMED = ("part", "out", "processes", "cluster", "device")  # fields that make no difference to the result
S = TypeVar("S", bound="type[Study]")


def study(name: str) -> Callable[[S], S]:
    """Class decorator that registers a study: `kibitz study NAME`."""

    def register(cls: S) -> S:
        cls.name = name
        return STUDIES(name)(cls)

    return register


class DealResults(NamedTuple):
    """One player against copies of another, every deal from every seat."""

    points: Estimate  # per game
    games: int
    by_deal: np.ndarray  # [deals] f8: sum over the games of a deal

    def row(self) -> list[str]:
        return [points(self.points), f"{self.games:,}"]

    def difference(self, other: "DealResults") -> Estimate:
        """Points per game more than another player got on the same deals."""
        seats = self.games / len(self.by_deal)
        return interval(self.by_deal - other.by_deal, np.full(len(self.by_deal), seats))


@dataclass(kw_only=True)
class Study:
    part: str
    scale: str = "quick"
    out: Annotated[Path | None, "Folder to work in; default runs/study-NAME-SCALE."] = None
    seed: Annotated[int, "The same seed gives the same result.", Interval(0, LARGEST)] = 1
    processes: Annotated[
        int | None, "Number of worker processes; default one per core.", Interval(1, MAX_PROCESSES)
    ] = None
    cluster: Annotated[str | None, "Run the workers on a Ray cluster: auto, or its HOST:PORT."] = None

    name: ClassVar[str]
    parts: ClassVar[Mapping[str, str]]  # name -> description
    scales: ClassVar[Mapping[str, Any]]  # name -> sizes, with a description in `what`

    def __post_init__(self) -> None:
        choose(f"part of {self.name}", self.part, self.parts)
        self.sizes: Any = self.scales[choose("scale", self.scale, self.scales)]
        for name, (_, _, allowed) in hints(type(self)).items():
            value = getattr(self, name)
            if value is not None and not is_allowed(value, allowed):
                raise BadInput(f"--{name} should be {allowed}, not {value}")
        if self.cluster is not None:
            check_cluster(self.cluster)
        self.folder = self.out or Path("runs") / f"study-{self.name}-{self.scale}"
        self.report = SILENT

    def run(self, report: Reporter = SILENT) -> Report:
        """Train and play what is missing, then report."""
        self.report = report
        make_folder(self.folder, parents=True)
        return getattr(self, f"report_{self.part.replace('-', '_')}")()

    # ------------------------------------------------------------ what it says about itself

    def file_name(self) -> str:
        """Name of the report's files, without suffix."""
        return self.part

    def scale_text(self) -> str:
        return f"{self.scale}, {self.sizes.what}"

    def command(self) -> str:
        """The command line that reproduces the report."""
        words = ["kibitz", "study", self.name, self.part]
        for field in fields(self):
            value = getattr(self, field.name)
            for each in value if isinstance(value, list) else [value]:
                if field.name not in UNNAMED and each not in (None, ""):
                    words += [f"--{field.name}", str(each)]
        return shlex.join(words)

    # ------------------------------------------------------------ training

    @property
    def places(self) -> Places | None:
        """Where workers are."""
        return self.cluster or self.processes

    def place(self, name: str) -> Path:
        """Its subfolder of a name; one that version 0.2 made has the former name of the preset in it."""
        former = self.folder / name.replace("-best", "-kibitz")
        return former if former.exists() else self.folder / name

    def training(
        self, name: str, method: str, game: str, preset: str | None, given: dict[str, Any], extend: bool = False
    ) -> Run:
        """The training run in a subfolder, begun unless it is there.

        With `extend` a run of fewer iterations gets more, and one of more iterations keeps them.
        """
        config = configured(method, game, preset, given)
        folder = self.place(name)
        if not (folder / "config.json").exists():
            return new_run(folder, method, config)
        run = Run(folder)
        wanted, there = {"command": "train", "method": method, **vars(config)}, run.config()
        with located(run.path("config.json")):
            there = without_removed(method, there)
        with readable(run.path("config.json"), "configuration"):
            check_fits(there, {"iterations?": int})
        if extend:
            begun_for = there.get("iterations", 0)
            there["iterations"] = wanted["iterations"] = max(wanted["iterations"], begun_for)
        if there != wanted:
            raise BadInput(f"{folder} holds another training run: give another folder with --out")
        if extend and begun_for < wanted["iterations"]:
            run.grow(run.config() | {"iterations": wanted["iterations"]}, ("iterations",))
        return run

    def is_trained(self, run: Run) -> bool:
        lines = run.read_lines()
        done = lines[-1]["iteration"] if lines else 0
        return done >= run.config()["iterations"] and run.path("network.safetensors").exists()

    def train(self, run: Run, processes: int | None = None) -> Run:
        """Train until all iterations are done, unless they are."""
        if not self.is_trained(run):
            places = self.places if has_workers(method_of(run)) else self.processes
            train(run, processes or places, self.report)
        return run

    # ------------------------------------------------------------ playing

    @property
    def match_seed(self) -> int:
        """Seed of the matches that are kept."""
        return self.seed

    def match(self, name: str, game: str, players: Sequence[str], games: int) -> list[Record]:
        """The games of a match that is kept in a subfolder."""
        run = open_run(self.place(name), "match", game, players, games, self.match_seed)
        return play_into(run, self.places, self.report)

    def games_of(self, game: str, players: Sequence[str], games: int, note: str) -> Iterator[Record]:
        """The games of a match that is not kept, in any order."""
        played = play_match(game, players, games, self.seed, self.places, report=self.report)
        for done, record in enumerate(played, 1):
            self.report.progress(done, games, f"{note}, games")
            yield record

    def one_against_others(self, name: str, game: str, player: str, opponent: str, deals: int) -> DealResults:
        """A match of one player against copies of another, every deal from every seat."""
        seats = load(game).facts.seats
        records = self.match(name, game, [player, *[opponent] * (seats - 1)], seats * deals)
        won = np.array([record.payoffs[seat_of(0, record.number, seats)] for record in records])
        return DealResults(summary(records).payoff, len(records), won.reshape(-1, seats).sum(axis=1))

    def once(self, path: Path, compute: Callable[[], Any]) -> Any:
        """The JSON value in a file; computed and written unless it is there."""
        if not path.exists():
            make_folder(path.parent, parents=True)
            write_atomically(path, json.dumps(compute()).encode())
        return read_json(path, "result of a study")

    def __getstate__(self) -> dict[str, Any]:
        """A copy for a worker process, which has nobody to report to."""
        return self.__dict__ | {"report": SILENT}
