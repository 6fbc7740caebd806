"""Training, and the models that come with Kibitz."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from ..core.names import BadInput, as_path
from ..core.progress import SILENT, Reporter
from ..core.runs import Run
from ..core.trust import only_named
from ..games import Game, full_name
from ..games import load as _load
from ..play.players import make_for
from ..play.players.player import Player
from .arguments import AnyGame, path_or_none


@dataclass(frozen=True)
class TrainingRun:
    """A run folder of training: its metrics, a plot of them, the player that it makes."""

    run: Run  # the run folder
    trust: bool = False  # whether code in `.py` files that the run names may be run

    @property
    def folder(self) -> Path:
        """Where it is."""
        return self.run.folder

    @property
    def config(self) -> dict[str, Any]:
        """The exact configuration: learner, game, and every option."""
        return self.run.config()

    @property
    def metrics(self) -> list[dict[str, Any]]:
        """One dictionary per iteration that was measured."""
        return self.run.read_lines()

    def plot(self, metric: str | None = None, path: str | Path | None = None) -> Any:
        """Plot a metric over iterations, by default NashConv or the loss; into a file if a path is given."""
        from ..app.ui import plots

        measured = {key for line in self.metrics for key in line} - {"iteration"}
        chosen = metric or next((key for key in ("nash_conv", "loss", "loss_1") if key in measured), None)
        if chosen not in measured:
            raise BadInput(f"no metric {chosen!r} in {self.folder}: there are {', '.join(sorted(measured)) or 'none'}")
        points = [(line["iteration"], line[chosen]) for line in self.metrics if chosen in line]
        title = str(self.config["game"])
        return plots.curves(path_or_none(path), {self.folder.name: points}, title, chosen.replace("_", " "))

    def player(self, iteration: int = 0) -> Player:
        """The player that plays what was learned; `iteration` 0 is the last one."""
        from ..train.trainer import class_of

        with only_named(trust=self.trust):
            kind = class_of(self.run).player
            return make_for(f"{kind}:{self.folder}" + (f",iteration={iteration}" if iteration else ""), self.game)

    @property
    def game(self) -> Game:
        """The game that was trained on."""
        with only_named(trust=self.trust):
            return _load(str(self.config["game"]))

    def __str__(self) -> str:
        last = dict(self.metrics[-1]) if self.metrics else {"iteration": 0}
        values = ", ".join(f"{key} {value:.4g}" for key, value in last.items())
        return f"{self.folder}: {self.config['game']}, {values}"

    def _repr_html_(self) -> str:
        return f"<p>{escape(str(self))}</p>"


def train(
    learner: str,
    game: AnyGame,
    preset: str | None = None,
    out: str | Path | None = None,
    processes: int | str | None = None,
    report: Reporter = SILENT,
    trust: bool = False,
    **options: Any,
) -> TrainingRun:
    """Train a network, into a run folder.

    Args:
        learner: `"exit-oos"`, `"tspg"`, `"deep-cfr"`, ..., or `"path/to/file.py:Class"`.
        game: A game or its name.
        preset: A named set of options, such as `"small"` or `"paper"`.
        out: The folder to write; by default a new one in `runs/`.
        processes: Worker processes, of learners that have them, by default one; or the address of a Ray cluster. More
            need `if __name__ == "__main__":` around the call in a script.
        report: Receives progress.
        trust: Whether code in `.py` files may run that a run, a record or a network names.
        **options: Single options, such as `iterations=20`; `kibitz train exit-oos --help` lists those of `exit-oos`.

    Returns:
        The run: `.metrics`, `.plot()`, `.player()`.

    Example:
        >>> import kibitz, tempfile
        >>> folder = tempfile.mkdtemp()
        >>> run = kibitz.train("exit-oos", "kuhn", preset="small", out=folder, iterations=2, simulations=100)
        >>> run.metrics[-1]["iteration"]
        2
    """
    from ..train import trainer

    with only_named(learner, game, trust=trust):
        trainer.check_workers(learner, processes)
        config = trainer.configured(learner, full_name(_load(game)), preset, options)
        run = trainer.new_run(path_or_none(out), learner, config)
        trainer.train(run, processes or 1, report=report)
        return TrainingRun(run, trust)


def resume(
    folder: str | Path,
    iterations: int | None = None,
    processes: int | str | None = None,
    report: Reporter = SILENT,
    trust: bool = False,
) -> TrainingRun:
    """Resume a training run from its last checkpoint; the result is that of a run that was never stopped.

    Args:
        folder: The run folder.
        iterations: A larger total number of iterations to reach; by default that of the run.
        processes: Worker processes, as for `train`.
        report: Receives progress.
        trust: Whether code in `.py` files may run that a run, a record or a network names.

    Returns:
        The run.

    Example:
        >>> import kibitz, tempfile
        >>> folder = tempfile.mkdtemp()
        >>> _ = kibitz.train("exit-oos", "kuhn", preset="small", out=folder, iterations=1, simulations=100)
        >>> kibitz.resume(folder, iterations=2).metrics[-1]["iteration"]
        2
    """
    from ..train import trainer

    with only_named(trust=trust):
        run = trainer.open_run(as_path(folder), iterations)
        trainer.check_workers(trainer.method_of(run), processes)
        trainer.train(run, processes or 1, report=report)
        return TrainingRun(run, trust)


def models() -> dict[str, Any]:
    """List the trained models that come with Kibitz.

    Returns:
        Name -> what is known of it: game, origin, the player that plays it, size in bytes. A name such as
        `"models/leduc"` goes where a run folder does: `"net:models/leduc"`.

    Example:
        >>> import kibitz
        >>> "models/leduc" in kibitz.models()
        True
    """
    from ..nets.model_files import PREFIX, shipped
    from ..train.descriptions import describe

    return {f"{PREFIX}{name}": describe(path) for name, path in shipped().items()}
