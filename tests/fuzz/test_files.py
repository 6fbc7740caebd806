"""Damaged files: every reader reads them, or refuses them in one line that names the file, and changes nothing."""

import contextlib
import io
import os
import random
import resource
import shutil
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable
from fnmatch import fnmatch
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kibitz.app import cli
from kibitz.core.names import BadInput
from kibitz.core.runs import Run
from kibitz.doppelkopf.learn.recorded_games import read_games
from kibitz.doppelkopf.session import read_sessions
from kibitz.games import load
from kibitz.games.records import read_records
from kibitz.nets.model_files import shipped
from kibitz.reproduce.study import Study
from kibitz.search.strategy import read_strategy
from kibitz.train.checkpoints import Checkpoints, Journal
from kibitz.train.descriptions import describe
from kibitz.train.trainer import class_of, config_of

from .damage import damage

OLD = Path(__file__).parents[1] / "app" / "runs_of_0_2"
SECONDS, BYTES = 20.0, 1 << 30  # of one reading; time is generous, as machines are shared

Reader = Callable[[Path], object]


class Refused(Exception):
    """A command ended with exit code 2; the text is what it printed."""


def command(*words: str) -> Reader:
    """Run a command in this process."""

    def read(path: Path) -> None:
        printed, said = io.StringIO(), io.StringIO()
        before, sys.argv = sys.argv, ["kibitz", *words]
        streams = contextlib.redirect_stdout(printed), contextlib.redirect_stderr(said)
        try:
            with streams[0], streams[1], pytest.raises(SystemExit) as ended:
                cli.main()
        finally:
            sys.argv = before
        if ended.value.code == 2:
            *before_it, last = said.getvalue().strip().splitlines()
            assert last.startswith("kibitz: "), said.getvalue()
            assert not any(line.startswith("kibitz: ") for line in before_it)
            raise Refused(last)
        assert ended.value.code == 0, said.getvalue()

    read.__name__ = " ".join(words)
    return read


def checkpoint(path: Path) -> None:
    """Restore a learner from its checkpoint, and export what it learned."""
    run = Run(next(folder for folder in path.parents if (folder / "config.json").exists()))
    config = config_of(run)
    learner = class_of(run)(config, load(config.game))
    assert Checkpoints(run, learner).restore() is not None
    learner.export(Path("exported.safetensors"), "")


def strategy(path: Path) -> None:
    found = read_strategy(path, load("kuhn"))
    assert found.at(int(found.keys[0]) if len(found.keys) else 0, 2).sum() == pytest.approx(1)


def journal(path: Path) -> None:
    Journal(path.parent).read(int(path.stem))


def recorded(path: Path) -> None:
    read_games("record", "doppelkopf:thesis")


def session(path: Path) -> None:
    read_sessions(Run(path.parent))


def configuration(path: Path) -> None:
    config_of(Run(path.parent))


def once(path: Path) -> None:
    Study.once(None, path, dict)  # type: ignore[arg-type]


MATCH = ("match", "kuhn", "random", "oos:5", "--games", "4", "--seed", "1", "--processes", "1", "--out", "kuhn-match")
TOURNAMENT = ("tournament", "kuhn", "random", "oos:5", "--games", "2", "--processes", "1", "--out", "kuhn-tournament")
LIST, COMPARE = command("runs", "--in", "."), command("runs", "compare", "exit-oos", "deep-cfr", "--over", "seconds")
RESUME = {name: command("train", "--resume", name) for name in ("exit-oos", "deep-cfr", "tspg")}

# Which readers read a file: patterns of its path, the first that fits.
READERS: dict[str, tuple[Reader, ...]] = {
    "solve/strategy.safetensors": (strategy, command("exploit", "kuhn", "solve")),
    "kuhn-match/games.jsonl": (
        read_records,
        command("rate", "kuhn-match"),
        command(*MATCH),
        command("review", "kuhn-match", "--with", "random"),
    ),
    "kuhn-match/config.json": (LIST, command(*MATCH)),
    "kuhn-tournament/matches/*.json*": (
        command(*TOURNAMENT),
        command("rate", "kuhn-tournament"),
    ),
    "kuhn-tournament/config.json": (LIST, command(*TOURNAMENT)),
    "tournament/matches/*.jsonl": (command("rate", "tournament"),),
    "holdem/games.jsonl": (command("replay", "holdem"), command("convert", "holdem", "--to", "acpc")),
    "match/games.jsonl": (
        command("replay", "match"),
        command("convert", "match", "--to", "text"),
        command("review", "match", "--with", "heuristic"),
    ),
    "record/games.jsonl": (recorded, command("convert", "record", "--to", "thesis")),
    "record/*": (recorded, LIST),
    "session/games.jsonl": (session, command("replay", "session"), command("convert", "session", "--to", "json")),
    "session/config.json": (LIST, session),
    "*.acpc": (
        command("convert", "hands.acpc", "--to", "json"),
        command("review", "hands.acpc", "--with", "ismcts:1"),
    ),
    "games.txt": (
        command("convert", "games.txt", "--to", "json"),
        command("review", "games.txt", "--with", "heuristic", "--language", "de"),
    ),
    "*.lines": (
        command("convert", "games.lines", "--from", "thesis", "--to", "json"),
        command("review", "games.lines", "--from", "thesis", "--with", "heuristic"),
    ),
    "once.json": (once,),
    "exit-oos/journal/*": (journal, command("train", "--resume", "exit-oos", "--iterations", "3")),
    "*/checkpoints/*": (checkpoint,),
    "exit-oos/metrics.jsonl": (LIST, COMPARE, RESUME["exit-oos"]),
    "*/times.jsonl": (COMPARE, RESUME["exit-oos"]),
    "deep-cfr/metrics.jsonl": (LIST, COMPARE, RESUME["deep-cfr"]),
    "tspg/metrics.jsonl": (LIST, RESUME["tspg"]),
    "*/metrics.jsonl": (LIST,),
    "*/result.json": (LIST,),
    "deep-cfr/config.json": (LIST, COMPARE, configuration),
    **{
        f"{name}/config.json": (LIST, configuration)
        for name in ("cards", "exit-cards", "exit-oos", "next-card", "tspg")
    },
    "*/config.json": (LIST,),
    "exit-oos/network.safetensors": (describe, command("exploit", "kuhn", "net:exit-oos")),
    "deep-cfr/network.safetensors": (describe, command("exploit", "kuhn", "net:deep-cfr")),
    "tspg/network.safetensors": (describe, command("explain", "tspg", "--games", "1")),
    "*.safetensors": (describe,),
}


def files(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def readers(name: str) -> tuple[Reader, ...]:
    return next((found for pattern, found in READERS.items() if fnmatch(name, pattern)), ())


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with sound files of every kind: runs of version 0.2, shipped networks, and small runs made here."""
    top = tmp_path_factory.mktemp("files")
    shutil.copytree(OLD, top, dirs_exist_ok=True)
    before = Path.cwd()
    os.chdir(top)
    try:
        command(*MATCH)(top)
        command(*TOURNAMENT)(top)
        command("convert", "match", "games.txt")(top)
        command("convert", "record", "games.lines", "--to", "thesis")(top)
        command("match", "holdem", "random", "random", "--games", "4", "--processes", "1", "--out", "holdem")(top)
        command("convert", "holdem", "hands.acpc")(top)
        RESUME["exit-oos"](top)
        from kibitz.train import trainer

        kept = Journal.forget
        Journal.forget = lambda self, iteration: None  # type: ignore[method-assign]
        try:
            trainer.train(trainer.open_run(Path("exit-oos"), 3), 1)
        finally:
            Journal.forget = kept  # type: ignore[method-assign]
        shutil.rmtree("exit-oos/checkpoints")
        shutil.copytree(OLD / "exit-oos" / "checkpoints", "exit-oos/checkpoints")
        shutil.copy("exit-oos/times.jsonl", "deep-cfr/times.jsonl")
        Study.once(None, Path("once.json"), lambda: {"x": [1, 2.5]})  # type: ignore[arg-type]
        for name in ("leduc", "tic_tac_toe", "hex-7"):
            if name in shipped():
                shutil.copy(shipped()[name], f"{name}.safetensors")
        yield top
    finally:
        os.chdir(before)


def snapshot(folder: Path) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in files(folder)}


class Bench:
    """A folder of sound files, in which one is damaged at a time."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.sound = folder, snapshot(folder)
        self.names = [name for name in self.sound if readers(name)]
        self.counts: Counter[str] = Counter()
        self.faults: dict[str, str] = {}

    def put_back(self) -> None:
        for name in set(files(self.folder)) - set(self.sound):
            (self.folder / name).unlink()
        for name, data in self.sound.items():
            path = self.folder / name
            if path.is_dir():
                path.rmdir()
            if not path.is_file() or path.read_bytes() != data:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(data)

    def trial(self, name: str, reader: Reader, seed: int) -> str:
        """Damage a file and read it. Returns what is wrong with the reader's answer, or nothing."""
        generator, path = random.Random(seed), self.folder / name
        if generator.random() < 0.02:
            path.unlink()
            path.mkdir()
        else:
            path.write_bytes(damage(self.sound[name], name, generator))
        damaged = path.read_bytes() if path.is_file() else None
        began, peak = time.monotonic(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        refusal, wrong = None, ""
        try:
            reader(Path(name))
        except (BadInput, Refused) as error:
            refusal = str(error)
        except Exception as error:
            where = traceback.extract_tb(error.__traceback__)[-1]
            wrong = f"{type(error).__name__}: {error} ({where.filename}:{where.lineno})"
        self.counts["refused" if refusal is not None else "read" if not wrong else "failed"] += 1
        if refusal is not None:
            named = {part for part in Path(name).parts if part != "matches"} | {Path(name).stem, "record holds other"}
            if "\n" in refusal.strip():
                wrong = f"more than one line: {refusal}"
            elif not any(part in refusal for part in named):
                wrong = f"the file isn't named: {refusal}"
            elif damaged is not None and (not path.is_file() or path.read_bytes() != damaged):
                wrong = f"refused, but changed: {refusal}"
        if time.monotonic() - began > SECONDS:
            wrong = f"took {time.monotonic() - began:.0f} s"
        if 1024 * (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - peak) > BYTES:
            wrong = "took too much memory"
        self.put_back()
        if wrong:
            self.faults[f"{name}, {reader.__name__}, seed {seed}"] = wrong
        return wrong


@pytest.fixture(scope="module")
def bench(folder):
    return Bench(folder)


def test_sound_files_are_read(bench):
    """What the trials begin with; and every kind of file has a reader."""
    unread = {name for name in bench.sound if not readers(name)}
    assert all(name.endswith(("lock", ".png", "sheets.txt")) or "tfevents" in name for name in unread)
    for name in bench.names:
        for reader in readers(name):
            reader(Path(name))
            bench.put_back()


def test_damaged_files_are_refused_in_one_line(bench):
    subjects = [(name, number) for name in bench.names for number in range(len(readers(name)))]

    @settings(
        max_examples=int(os.environ.get("KIBITZ_FUZZ", 150)),
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(st.sampled_from(subjects), st.integers(0))
    def trial(subject, seed):
        name, number = subject
        assert bench.trial(name, readers(name)[number], seed) == ""

    trial()


@pytest.mark.heavy
def test_many_damaged_files_are_refused_in_one_line(bench):
    generator = random.Random(7)
    for _ in range(int(os.environ.get("KIBITZ_FUZZ", 5000))):
        name = generator.choice(bench.names)
        bench.trial(name, generator.choice(readers(name)), generator.randrange(1 << 60))
    print(dict(bench.counts), *(f"{key}: {value}" for key, value in bench.faults.items()), sep="\n")
    assert bench.faults == {}
