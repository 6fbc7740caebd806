"""Runs of card abstraction: computed into a folder, part by part, so that a killed run continues.

config.json               game, clusters of each street, seed
parts/                    what is finished so far
abstraction.safetensors   the whole, when all is done
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ...core.names import at_least
from ...core.progress import SILENT, Reporter
from ...core.runs import RESUME, Run
from ...core.steps import Work, steps
from ...games import full_name, load_stored
from .buckets import Buckets
from .cards import cards_of
from .clusters import Nearest, Spec, abstraction
from .files import ABSTRACTION_FILE, KeepParts, map_buckets, save_buckets
from .presets import check_memory, clusters


def new_run(
    game: Any, buckets: str = "small", seed: int = 1, folder: Path | None = None, resume: Sequence[str] = ()
) -> Run:
    """Start an abstraction, or continue the one in `folder` if it is the same.

    Args:
        game: Hold'em, with any deck and number of streets.
        buckets: `small`, `medium`, `large`, or a number of clusters per street after the first, `9000-9000-9000`.
        seed: Of k-means.
        folder: The folder; None: the next free `runs/holdem-abstraction-001`.
        resume: The words of the command that continues the run, without the folder.
    """
    at_least("seed", seed, 0)
    cards = cards_of(game)
    found = clusters(buckets, game, cards)
    check_memory(game, cards, found)
    config = {"command": "abstract", "game": full_name(game), "clusters": list(found), "seed": seed}
    if resume:
        config[RESUME] = list(resume)
    return Run.create_or_resume(folder, f"{game.name}-abstraction", config)


def compute(run: Run, threads: int | None = None, report: Reporter = SILENT, nearest: Nearest | None = None) -> Buckets:
    """Compute what is missing of an abstraction, write the whole, and return it.

    Args:
        run: From `new_run`.
        threads: Number of threads; by default one per core.
        report: Receives progress.
        nearest: As in `abstraction`.
    """
    found: Buckets = steps(Computing(run, threads, nearest), report)
    return found


class Computing(Work):
    """An abstraction as one step, which keeps its parts."""

    run: Run
    defers, logs = False, False

    def __init__(self, run: Run, threads: int | None, nearest: Nearest | None) -> None:
        super().__init__(run, 1)
        self.config, self.threads, self.nearest = run.config(), threads, nearest
        self.game: Any = load_stored(self.config["game"])
        self.path, self.keep = run.path(ABSTRACTION_FILE), KeepParts(run.path("parts"))

    def restore(self) -> bool:
        self.done = int(self.path.exists())
        return True

    def step(self) -> None:
        about = {key: self.config[key] for key in ("clusters", "seed")}
        spec = Spec(tuple(about["clusters"]), about["seed"])
        found = abstraction(cards_of(self.game), spec, self.nearest, self.threads, self.report, self.keep)
        save_buckets(self.path, self.game, found, **about)
        self.done = 1

    def tell(self) -> None:
        """The parts are reported as they are computed."""

    def result(self) -> Buckets:
        self.keep.clear()
        return map_buckets(self.path, self.game)
