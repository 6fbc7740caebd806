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
    config = run.config()
    game: Any = load_stored(config["game"])
    path, keep = run.path(ABSTRACTION_FILE), KeepParts(run.path("parts"))
    with run.lock():
        if not path.exists():
            spec = Spec(tuple(config["clusters"]), config["seed"])
            found = abstraction(cards_of(game), spec, nearest, threads, report, keep)
            save_buckets(path, game, found, clusters=config["clusters"], seed=config["seed"])
        keep.clear()
    return map_buckets(path, game)
