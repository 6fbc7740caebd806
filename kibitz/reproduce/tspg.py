"""Table I and figures 2 to 4 of tree-search policy gradients (Soemers et al. 2019), and the effect of its choices.

A repetition is one training run with a seed of its own, and the games that evaluate it. Repetitions are spread over
processes.
"""

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Annotated, Any, NamedTuple

import numpy as np

from ..core.files import read_json
from ..core.names import Interval, choose
from ..core.pool import at_most, spread
from ..core.progress import SILENT, Reporter
from ..core.runs import Run
from ..core.workers import cores
from ..games import Game, full_name, load
from ..nets.model_files import network_file
from ..play.players import make_for
from ..play.statistics import Estimate, interval
from ..search.playouts import duel
from ..train.trainer import configured
from ..train.tspg.config import PRESETS
from ..train.tspg.store import Features, read_features
from .report import Panels, Report
from .study import Study, study
from .tspg_matches import STAGES, known_mean, match_game, stages

INTERVALS = "95% t-intervals over runs, or Wilson's over games where these are wider"
# Published score of biased MCTS against UCT, in percent with its interval: playouts by π_ce (double), and by π_tspg.
PAPER: dict[str, tuple[tuple[float, float, float], tuple[float, float, float]]] = {
    "breakthrough": ((100, 100, 100), (100, 100, 100)),
    "connect_four": ((76, 72, 80.5), (72, 67.5, 77.3)),
    "fanorona": ((99.5, 99, 100), (99.2, 98.5, 100)),
    "gomoku": ((28, 22.5, 34), (18, 15.5, 20.5)),
    "hex:7": ((89.5, 84, 95), (88.5, 84, 93)),
    "hex:11": ((86.5, 78.5, 94.5), (71, 50, 95)),
    "knightthrough": ((76.5, 73.5, 80), (63, 57.5, 69.5)),
    "othello": ((69, 64, 73.5), (69, 66, 72)),
    "teeko": ((97, 94.5, 100), (93.8, 91.8, 95)),
    "yavalath": ((100, 100, 100), (98.5, 97.5, 99.5)),
}
OPTIONAL = "fanorona:compulsory=no"
# Of figure 2, as shares of the training: after 1, 25, 50, 100 and 200 games.
CHECKPOINTS = (0.005, 0.125, 0.25, 0.5, 1.0)
PLAYOUTS = ("double", "tspg")
CHOICES = ("loss", "parent", "mixed")
URGENCIES = ("infinite", "parent")
PARTS = {
    "table-1": "biased MCTS against UCT with equal simulations",
    "figure-2": "the policies against each other, without search, during training",
    "figure-3": "entropy of policies and searches over the stages of a game",
    "figure-4": "distribution of the weights",
    "unvisited": "effect of the value assumed for unvisited actions",
}


@dataclass(frozen=True)
class Scale:
    games: float  # of self-play, as a share of the paper's
    simulations: float  # share
    repetitions: int
    matches: int  # games against UCT per repetition
    duels: int  # games between policies per repetition
    what: str


SCALES = {
    "quick": Scale(0.03, 0.03, 2, 4, 40, "minutes: to see that it works"),
    "half": Scale(0.5, 0.5, 5, 40, 200, "half the games of self-play, half the simulations"),
    "paper": Scale(1.0, 1.0, 5, 40, 200, "the paper's sizes: 5 runs of 200 games, 1,600 simulations per move"),
}


class Task(NamedTuple):
    """One repetition, and the part that needs it."""

    game: str
    seed: int
    part: str
    unvisited: str


@study("tspg")
@dataclass(kw_only=True)
class TspgStudy(Study):
    """Reproduce Table I or a figure of tree-search policy gradients: trains, plays, writes Markdown and a plot.

    Repetitions are spread over processes. The same command resumes an interrupted study; all parts share training.

    Example: kibitz study tspg table-1 --game connect_four --scale quick

    Example: kibitz study tspg figure-2 --game all --scale paper --preset best
    """

    game: Annotated[
        list[str], "A game, or several: --game hex:7 --game othello; default connect_four. all: the paper's ten."
    ] = field(default_factory=list)
    preset: Annotated[str, "Training configuration: paper, public, or best (ours)."] = "paper"
    features: Annotated[str, "Atoms that patterns are grown from: faithful, or rich."] = "faithful"
    repetitions: Annotated[int | None, "Number of training runs per game; default by the scale.", Interval(1, 1000)] = (
        None
    )
    unvisited: Annotated[
        str | None,
        "Value assumed for unvisited actions in the TSPG objective: parent, loss or mixed; default by the preset.",
    ] = None
    fpu: Annotated[
        str | None,
        "First-play urgency of the UCT that is played against: infinite, the default, or parent, as in Ludii.",
    ] = None

    parts, scales = PARTS, SCALES

    def __post_init__(self) -> None:
        super().__post_init__()
        games = list(PAPER) if self.game == ["all"] else self.game or ["connect_four"]
        self.game = [full_name(load(game)) for game in games]
        self.preset = choose("preset", self.preset, PRESETS)
        self.repetitions = self.repetitions or self.sizes.repetitions
        if self.unvisited is not None:
            choose("value of unvisited actions", self.unvisited, CHOICES)
        if self.fpu is not None:
            choose("first-play urgency", self.fpu, URGENCIES)
        for game in self.game:  # refused before anything is written
            configured("tspg", game, self.preset, self.configuration(game, self.seed, self.unvisited_in(game)))

    def file_name(self) -> str:
        choice = "" if self.unvisited is None else f"-{self.unvisited}"
        return f"{self.part}-{self.preset}-{self.features}{choice}{self.opponent.removeprefix('uct')}"

    @property
    def opponent(self) -> str:
        """What files call the UCT that is played against."""
        return "uct-parent" if self.fpu == "parent" else "uct"

    def run(self, report: Reporter = SILENT) -> Report:
        tasks = self.tasks()
        places = at_most(self.places or cores(), len(tasks))
        report.progress(0, len(tasks), "repetitions")
        for done, _ in enumerate(spread(repetition, (self,), tasks, places, report, alone=None), 1):
            report.progress(done, len(tasks), "repetitions")
        return super().run(report)

    # ------------------------------------------------------------ one repetition

    def unvisited_in(self, game: str) -> str:
        """The value of unvisited actions in the training of a game: as given, or the preset's."""
        return self.unvisited or configured("tspg", game, self.preset, {}).unvisited

    def configuration(self, game: str, seed: int, unvisited: str) -> dict[str, Any]:
        config = configured("tspg", game, self.preset, {})
        iterations = max(2, round(config.iterations * self.sizes.games))
        return {
            "iterations": iterations,
            "simulations": max(2, round(config.simulations * self.sizes.simulations)),
            "keep_every": max(1, round(iterations / 8)),
            "features": self.features,
            "unvisited": unvisited,
            "seed": seed,
        }

    def tasks(self) -> list[Task]:
        part = {"figure-3": "table-1", "figure-4": "figure-2", "unvisited": "figure-2"}.get(self.part, self.part)
        return [
            Task(game, seed, part, choice)
            for game in self.game
            for choice in (CHOICES if self.part == "unvisited" else (self.unvisited_in(game),))
            for seed in self.repeated_seeds()
        ]

    def repeated_seeds(self) -> range:
        assert self.repetitions is not None
        return range(self.seed, self.seed + self.repetitions)

    def repetition_run(self, game: str, seed: int, unvisited: str) -> Run:
        """The training run of a repetition, finished or not."""
        name = game.replace(":", "-").replace(",", "-").replace("=", "-")
        folder = f"{name}-{self.preset}-{self.features}-{unvisited}-{seed}"
        return self.training(folder, "tspg", game, self.preset, self.configuration(game, seed, unvisited))

    def do(self, task: Task) -> None:
        """Train and evaluate one repetition."""
        run = self.train(self.repetition_run(task.game, task.seed, task.unvisited), processes=1)
        game, config = load(task.game), run.config()
        if task.part == "figure-2":
            for iteration in checkpoints(config["iterations"], config["keep_every"]):
                self.once(run.path(f"duels-{iteration}.json"), partial(self.duels, game, run, iteration))
        if task.part == "table-1":
            for playouts in PLAYOUTS:
                name = f"against-{self.opponent}-{playouts}"
                self.once(run.path(f"{name}.json"), partial(self.matches, game, run, playouts, name))

    def policies(self, game: Game, run: Run, iteration: int = 0) -> Features:
        return read_features(network_file(str(run.folder), iteration), game)[0]

    def duels(self, game: Game, run: Run, iteration: int) -> dict[str, float]:
        """Mean score of the other policies against ce."""
        features = self.policies(game, run, iteration)
        base, seed = features.policy(game, "ce"), run.config()["seed"]
        return {
            name: float(duel(game, features.policy(game, name), base, self.sizes.duels, seed).mean())
            for name in PLAYOUTS
        }

    def matches(self, game: Game, run: Run, playouts: str, name: str) -> dict[str, Any]:
        """Scores against UCT, and the entropy of searches and policies at each move of these games.

        Each game is kept in a file of the folder `name`: what was played before an interruption isn't played again.
        """
        simulations, seed = run.config()["simulations"], run.config()["seed"]
        fpu = self.fpu or URGENCIES[0]

        @functools.cache  # made when the first game is missing
        def players() -> dict[str, Any]:
            biased = f"puct:{simulations},policy={run.folder},playouts={playouts},prove=no,plies=200"
            uct = f"uct:{simulations},prove=no,plies=200,fpu={fpu}"
            return {"biased": make_for(biased, game), "uct": make_for(uct, game)}

        features = self.policies(game, run)
        policies = {each: features.policy(game, each) for each in ("ce", "tspg")}
        played = [
            self.once(run.path(f"{name}/{number}.json"), partial(match_game, game, players, policies, seed, number))
            for number in range(self.sizes.matches)
        ]
        entropies = [tuple(each) for one in played for each in one["entropy"]]
        return {"scores": [one["score"] for one in played], "entropy": stages(entropies)}

    # ------------------------------------------------------------ parts

    def repeated(self, game: str, name: str, unvisited: str = "") -> list[Any]:
        """The contents of a file of each repetition."""
        choice = unvisited or self.unvisited_in(game)
        runs = [self.repetition_run(game, seed, choice) for seed in self.repeated_seeds()]
        return [read_json(run.path(f"{name}.json"), "result of a study") for run in runs]

    def report_table_1(self) -> Report:
        rows = []
        for game in self.game:
            row = [game]
            published = published_for(game)
            for place, playouts in enumerate(PLAYOUTS):
                scores = [
                    np.mean(each["scores"]) for each in self.repeated(game, f"against-{self.opponent}-{playouts}")
                ]
                theirs = "" if published is None else "{:g} ({:g} to {:g})".format(*published[place])
                row += [percents(over_runs(scores, self.sizes.matches)), theirs]
            rows.append(row)
        heads = ["game", "double playouts %", "paper", "tspg playouts %", "paper"]
        notes = [
            f"Biased MCTS (prior ce) against UCT with equal simulations; {self.repetitions} runs, {self.sizes.matches} "
            f"games each, moving first in half of them; {INTERVALS}; a draw is half."
            + (" In UCT an unvisited action has its parent's value." if self.fpu == "parent" else ""),
            self.settings(),
        ]
        return Report("Table I: biased MCTS against UCT", heads, rows, notes)

    def settings(self) -> str:
        config = self.configuration(self.game[0], self.seed, self.unvisited_in(self.game[0]))
        choice = "" if self.part == "unvisited" else f", unvisited actions: {config['unvisited']}"
        return (
            f"Preset {self.preset}, {self.features} features, {config['iterations']} games of self-play, "
            f"{config['simulations']} simulations per move{choice}."
        )

    def report_figure_2(self) -> Report:
        rows: list[list[str]] = []
        panels: Panels = {}
        for game in self.game:
            config = self.configuration(game, self.seed, self.unvisited_in(game))
            at = checkpoints(config["iterations"], config["keep_every"])
            duels = [self.repeated(game, f"duels-{iteration}") for iteration in at]
            for name in PLAYOUTS:
                scores = [over_runs([each[name] for each in repetitions], self.sizes.duels) for repetitions in duels]
                points = [(i, *(100 * value for value in found)) for i, found in zip(at, scores, strict=True)]
                panels.setdefault(game, {})[name] = points
                rows.append([game, name, *map(percents, scores)])
        heads = ["game", "policy", *(f"after {iteration}" for iteration in at)]
        notes = [
            f"Score of a policy against ce, both sampling their moves: {self.repetitions} runs, {self.sizes.duels} "
            f"games each, {INTERVALS}. The paper's figure has no numbers: its π_tspg is above "
            "50% in all ten games, its π_ce (double) near 50%.",
            self.settings(),
        ]
        title = "Figure 2: policies against π_ce"
        return Report(
            title, heads, rows, notes, panels=panels, y_label="score against ce, %", x_label="games of self-play"
        )

    def report_figure_3(self) -> Report:
        rows: list[list[str]] = []
        panels: Panels = {}
        for game in self.game:
            found = self.repeated(game, f"against-{self.opponent}-tspg")
            for name in ("uct", "ce", "biased", "tspg"):
                by_stage = [[each["entropy"][name][i] for each in found] for i in range(STAGES)]
                means = [known_mean(values) for values in by_stage]
                panels.setdefault(game, {})[name] = [
                    (10.0 * i + 5, mean) for i, mean in enumerate(means) if mean is not None
                ]
                cells = ["-" if mean is None else f"{mean:.2f}" for mean in means[:: STAGES // 5]]
                rows.append([game, name, *cells, f"{known_mean(means):.3f}"])
        heads = ["game", "policy", *(f"{100 * i // STAGES}%" for i in range(0, STAGES, STAGES // 5)), "mean"]
        notes = [
            "Entropy divided by the logarithm of the number of legal moves, by the stage of the game (turn / turns), "
            "in the games of Table I with tspg playouts. Searches (uct, biased) by their visits.",
            "The paper: uct is highest, then ce, then biased, and tspg is lowest, in most games.",
            self.settings(),
        ]
        title = "Figure 3: entropy over the stages of a game"
        return Report(
            title, heads, rows, notes, panels=panels, y_label="normalized entropy", x_label="stage of the game, %"
        )

    def report_figure_4(self) -> Report:
        from scipy.stats import gaussian_kde

        rows: list[list[str]] = []
        panels: Panels = {}
        for game in self.game:
            runs = [self.repetition_run(game, seed, self.unvisited_in(game)) for seed in self.repeated_seeds()]
            features = [self.policies(load(game), run) for run in runs]
            for name in ("ce", "tspg"):
                weights = np.concatenate([each.weights(name)[seat] for each in features for seat in range(2)])
                near = float(np.mean(np.abs(weights) < 0.1))
                low, high = np.quantile(weights, [0.01, 0.99])
                rows.append([game, name, f"{weights.std():.2f}", f"{100 * near:.0f}%", f"{low:.2f} to {high:.2f}"])
                grid = np.linspace(-3, 3, 61)
                density = gaussian_kde(weights)(grid)
                panels.setdefault(game, {})[name] = list(zip(grid.tolist(), density.tolist(), strict=True))
        heads = ["game", "weights", "standard deviation", "within ±0.1", "1% to 99%"]
        notes = ["The paper: θ_ce has the higher peak at 0, θ_ce + θ_tspg the longer tails.", self.settings()]
        title = "Figure 4: distribution of the weights"
        return Report(title, heads, rows, notes, panels=panels, y_label="density", x_label="weight")

    def report_unvisited(self) -> Report:
        rows = []
        for game in self.game:
            config = self.configuration(game, self.seed, self.unvisited_in(game))
            last = checkpoints(config["iterations"], config["keep_every"])[-1]
            for choice in CHOICES:
                scores = [each["tspg"] for each in self.repeated(game, f"duels-{last}", choice)]
                rows.append([game, choice, percents(over_runs(scores, self.sizes.duels))])
        heads = ["game", "value of unvisited actions", "tspg against ce %"]
        return Report("Unvisited actions in the TSPG objective", heads, rows, [self.settings()])


def published_for(game: str) -> tuple[tuple[float, float, float], tuple[float, float, float]] | None:
    """The paper's figures for a game, by its full name; None if it has none.

    It doesn't say whether captures in its Fanorona are compulsory: its figures are shown beside both.
    """
    names = {full_name(load(name)): name for name in PAPER} | {full_name(load(OPTIONAL)): "fanorona"}
    return PAPER[names[game]] if game in names else None


def repetition(study: TspgStudy) -> Callable[[Task], None]:
    """The function that a worker process applies to each task."""
    return study.do


def checkpoints(iterations: int, keep_every: int) -> list[int]:
    """The iterations of figure 2 at this scale, among those that are kept."""
    wanted = (max(1, round(share * iterations)) for share in CHECKPOINTS)
    near = (1 if each == 1 else min(iterations, max(1, round(each / keep_every)) * keep_every) for each in wanted)
    return sorted(set(near))


def over_runs(scores: Sequence[float], games: int) -> Estimate:
    """The mean score of runs of so many games each, with a 95% interval over runs, within 0 and 1.

    It is Student's t-interval of the runs, or, at an end where that is wider, Wilson's of all their games: a few runs
    may agree by chance, and where all won all their games the first has no width. The paper's bootstrap over five runs
    covers 83%.
    """
    found = interval(np.array(scores), np.ones(len(scores)))
    if np.isnan(found.low):
        return found
    total = games * len(scores)
    won = np.clip(found.mean * total - np.arange(total), 0, 1)
    wilson = interval(won, np.ones(total), bounds=(0, 1))
    return Estimate(found.mean, max(min(found.low, wilson.low), 0.0), min(max(found.high, wilson.high), 1.0))


def percents(found: Estimate) -> str:
    if np.isnan(found.low):
        return f"{100 * found.mean:.1f}"
    return f"{100 * found.mean:.1f} ({100 * found.low:.1f} to {100 * found.high:.1f})"
