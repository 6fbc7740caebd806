"""Table I and figures 2-4 of tree-search policy gradients (Soemers et al. 2019), and what its choices do.

A repetition is one training run, by its own seed, and the games that judge it. All lie in one folder, so that parts
share them, and whatever was done already is not done again; repetitions are spread over processes.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..arena.statistics import Estimate, interval
from ..core.files import write_atomically
from ..core.names import BadInput, choose
from ..core.runs import Run
from ..core.workers import cores, spread
from ..games import OVER, Game, full_name, legal_actions, load, positions
from ..learn.model_files import network_file
from ..learn.trainer import configured, new_run, train
from ..learn.tspg.store import Features, read_features
from ..players import make_for
from ..search.playouts import duel
from ..search.policies import weighed
from .report import Report

# Biased MCTS against UCT, in percent, with its interval: playouts by π_ce (double), and by π_tspg.
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
Drawn = dict[str, dict[str, list[tuple[float, ...]]]]  # game -> name -> points
CHECKPOINTS = (0.005, 0.125, 0.25, 0.5, 1.0)  # of figure 2: after 1, 25, 50, 100 and 200 games
PLAYOUTS = ("double", "tspg")
STAGES = 10  # of a game, in figure 3
CHOICES = ("loss", "parent", "mixed")
PARTS = {
    "table-1": "search with what was learned against UCT, at as many simulations",
    "figure-2": "the policies against each other, without search, on the way",
    "figure-3": "how undecided policies and searches are, over the stages of a game",
    "figure-4": "the spread of weights",
    "unvisited": "what the value of actions never tried does to tspg",
}


@dataclass(frozen=True)
class Scale:
    games: float  # of self-play, share of the paper's
    simulations: float  # share
    repetitions: int
    matches: int  # games against UCT, a repetition
    duels: int  # games of policies, a repetition
    what: str


SCALES = {
    "quick": Scale(0.03, 0.03, 2, 4, 40, "minutes: to see that it works"),
    "half": Scale(0.5, 0.5, 5, 40, 200, "half the games of self-play, half the simulations"),
    "paper": Scale(1.0, 1.0, 5, 40, 200, "the paper's sizes: 5 runs of 200 games, 1,600 simulations a move"),
}


class Task(NamedTuple):
    """One repetition, and what is to be known of it."""

    game: str
    seed: int
    part: str
    unvisited: str


class Study:
    def __init__(
        self,
        part: str,
        games: Sequence[str],
        scale: str,
        folder: Path,
        preset: str = "paper",
        features: str = "faithful",
        seed: int = 1,
        processes: int | None = None,
        watch: Callable[[str, float, float], None] = lambda what, done, total: None,
        tell: Callable[[str], None] = lambda text: None,
        repetitions: int | None = None,
        unvisited: str = "parent",
    ) -> None:
        self.part = choose("part of tspg", part, PARTS)
        self.games = [full_name(load(game)) for game in games or ("connect_four",)]
        self.scale = SCALES[choose("scale", scale, SCALES)]
        self.preset, self.features, self.folder, self.seed = preset, features, folder, seed
        self.processes, self.watch, self.tell = processes or cores(), watch, tell
        self.repetitions = repetitions or self.scale.repetitions
        self.unvisited = choose("value of actions never tried", unvisited, CHOICES)
        for game in self.games:
            self._config(game, self.seed, self.unvisited)

    # ------------------------------------------------------------ what there is to do

    def _config(self, game: str, seed: int, unvisited: str) -> Any:
        config = configured("tspg", game, self.preset, {})
        iterations = max(2, round(config.iterations * self.scale.games))
        given = {
            "iterations": iterations,
            "simulations": max(2, round(config.simulations * self.scale.simulations)),
            "keep_every": max(1, round(iterations / 8)),
            "features": self.features,
            "unvisited": unvisited,
            "seed": seed,
        }
        return configured("tspg", game, self.preset, given)

    def _tasks(self) -> list[Task]:
        choices = CHOICES if self.part == "unvisited" else (self.unvisited,)
        part = {"figure-3": "table-1", "figure-4": "figure-2", "unvisited": "figure-2"}.get(self.part, self.part)
        return [
            Task(game, self.seed + i, part, choice)
            for game in self.games
            for choice in choices
            for i in range(self.repetitions)
        ]

    def run(self) -> Report:
        tasks = self._tasks()
        work = spread(repetition, (self,), tasks, min(self.processes, len(tasks)), self.tell, alone=None)
        self.watch("repetitions", 0, len(tasks))
        for done, _ in enumerate(work, 1):
            self.watch("repetitions", done, len(tasks))
        return getattr(self, f"_{self.part.replace('-', '_')}")()

    def __getstate__(self) -> dict[str, Any]:
        """What a process needs of it."""
        return self.__dict__ | {"watch": None, "tell": None}

    # ------------------------------------------------------------ one repetition

    def trained(self, task: Task) -> Run:
        """The run of a repetition, as far as it is."""
        config = self._config(task.game, task.seed, task.unvisited)
        name = task.game.replace(":", "-").replace(",", "-").replace("=", "-")
        folder = self.folder / f"{name}-{self.preset}-{self.features}-{task.unvisited}-{task.seed}"
        if not (folder / "config.json").exists():
            return new_run(folder, "tspg", config)
        run = Run(folder)
        if run.config() != {"command": "train", "method": "tspg", **vars(config)}:
            raise BadInput(f"{folder} holds another training: give another folder with --out")
        return run

    def do(self, task: Task) -> None:
        """Train and judge."""
        run = self.trained(task)
        lines, iterations = run.lines(), run.config()["iterations"]
        if not lines or lines[-1]["iteration"] < iterations or not run.path("network.safetensors").exists():
            train(run, 1)
        game = load(task.game)
        if task.part == "figure-2":
            for iteration in checkpoints(iterations, run.config()["keep_every"]):
                self._once(run, f"duels-{iteration}", lambda at=iteration: self._duels(game, run, at))  # type: ignore[misc]
        if task.part == "table-1":
            for playouts in PLAYOUTS:
                self._once(run, f"against-uct-{playouts}", lambda by=playouts: self._matches(game, run, by))  # type: ignore[misc]

    def _once(self, run: Run, name: str, found: Callable[[], Any]) -> Any:
        path = run.path(f"{name}.json")
        if not path.exists():
            write_atomically(path, json.dumps(found()).encode())
        return json.loads(path.read_text())

    def _features(self, game: Game, run: Run, iteration: int = 0) -> Features:
        return read_features(network_file(str(run.folder), iteration), game)[0]

    def _duels(self, game: Game, run: Run, iteration: int) -> dict[str, float]:
        """What the other policies score against ce."""
        features = self._features(game, run, iteration)
        base, seed = features.policy(game, "ce"), run.config()["seed"]
        return {
            name: float(duel(game, features.policy(game, name), base, self.scale.duels, seed).mean())
            for name in PLAYOUTS
        }

    def _matches(self, game: Game, run: Run, playouts: str) -> dict[str, Any]:
        """Scores against UCT, and the entropy of everybody's choice at each move of these games."""
        simulations, seed = run.config()["simulations"], run.config()["seed"]
        biased = make_for(f"puct:{simulations},policy={run.folder},playouts={playouts},prove=no,plies=200", game)
        uct = make_for(f"uct:{simulations},prove=no,plies=200", game)
        features = self._features(game, run)
        policies = {name: features.policy(game, name) for name in ("ce", "tspg")}
        scores: list[float] = []
        undecided: list[tuple[float, str, float]] = []  # stage of the game, whose choice, its entropy
        for number in range(self.scale.matches):
            mine, state = number % 2, positions(game)[0]
            for seat in range(2):
                (biased if seat == mine else uct).begin(game, seat, seed * 10_000 + 2 * number + seat)
            turns, here = 0, []
            while (turn := game.turn(state)) != OVER:
                mover, name = (biased, "biased") if turn == mine else (uct, "uct")
                action = mover.move(state.copy())
                n = len(legal_actions(game, state))
                if n > 1 and mover.advice is not None:
                    here.append((turns, name, entropy(mover.advice.visits / mover.advice.visits.sum())))
                    here += [(turns, each, entropy(weighed(game, by, state, n))) for each, by in policies.items()]
                game.play(state, action)
                turns += 1
            undecided += [(at / turns, who, value) for at, who, value in here]
            got, theirs = game.payoff(state, mine), game.payoff(state, 1 - mine)
            scores.append(0.5 * ((got > theirs) + (got >= theirs)))
        return {"scores": scores, "entropy": stages(undecided)}

    # ------------------------------------------------------------ what came out

    def _all(self, game: str, name: str, unvisited: str = "") -> list[Any]:
        """A file of each repetition."""
        choice = unvisited or self.unvisited
        runs = [self.trained(Task(game, self.seed + i, self.part, choice)) for i in range(self.repetitions)]
        return [json.loads(run.path(f"{name}.json").read_text()) for run in runs]

    def _table_1(self) -> Report:
        rows = []
        for game in self.games:
            row = [game]
            for place, playouts in enumerate(PLAYOUTS):
                found = over_runs([np.mean(each["scores"]) for each in self._all(game, f"against-uct-{playouts}")])
                known = self._paper(game)
                theirs = "" if known is None else "{:g} ({:g} to {:g})".format(*known[place])
                row += [percents(found), theirs]
            rows.append(row)
        heads = ["game", "double playouts %", "paper", "tspg playouts %", "paper"]
        notes = [
            f"Biased MCTS (prior ce) against UCT at as many simulations; {self.repetitions} runs, {self.scale.matches} "
            "games each, half of them moved first; 95% bootstrap intervals over runs; a draw is half.",
            self._how(),
        ]
        return Report("Table I: search with learned patterns against UCT", heads, rows, notes, {}, "")

    def _paper(self, game: str) -> Any:
        return next((value for name, value in PAPER.items() if full_name(load(name)) == game), None)

    def _how(self) -> str:
        config = self._config(self.games[0], self.seed, self.unvisited)
        return (
            f"Preset {self.preset}, {self.features} features, {config.iterations} games of self-play, "
            f"{config.simulations} simulations a move."
        )

    def _figure_2(self) -> Report:
        rows: list[list[str]] = []
        drawn: Drawn = {}
        for game in self.games:
            config = self._config(game, self.seed, self.unvisited)
            at = checkpoints(config.iterations, config.keep_every)
            for name in PLAYOUTS:
                points = [over_runs([each[name] for each in self._all(game, f"duels-{iteration}")]) for iteration in at]
                lines = [(i, *(100 * value for value in point)) for i, point in zip(at, points, strict=True)]
                drawn.setdefault(game, {})[name] = lines
                rows.append([game, name, *(percents(point) for point in points)])
        heads = ["game", "policy", *(f"after {iteration}" for iteration in at)]
        notes = [
            f"Score of a policy against ce, both drawing moves by their odds: {self.repetitions} runs, "
            f"{self.scale.duels} games each, 95% bootstrap intervals over runs. The paper's figure has no numbers: "
            "its π_tspg is above 50% in all ten games, its π_ce (double) near 50%.",
            self._how(),
        ]
        title, measured = "Figure 2: policies against π_ce", "score against ce, %"
        return Report(title, heads, rows, notes, {}, measured, drawn, "games of self-play")

    def _figure_3(self) -> Report:
        rows: list[list[str]] = []
        drawn: Drawn = {}
        for game in self.games:
            found = self._all(game, "against-uct-tspg")
            for who in ("uct", "ce", "biased", "tspg"):
                by_stage = [[each["entropy"][who][i] for each in found] for i in range(STAGES)]
                means = [_mean(values) for values in by_stage]
                points = [(10.0 * i + 5, mean) for i, mean in enumerate(means) if mean is not None]
                drawn.setdefault(game, {})[who] = list(points)
                told = ["-" if mean is None else f"{mean:.2f}" for mean in means[:: STAGES // 5]]
                rows.append([game, who, *told, f"{_mean(means):.3f}"])
        heads = ["game", "whose choice", *(f"{100 * i // STAGES}%" for i in range(0, STAGES, STAGES // 5)), "mean"]
        notes = [
            "Entropy divided by the logarithm of the number of legal moves, by the stage of the game (turn / turns), "
            "in the games of Table I with tspg playouts. Searches by their visits.",
            "The paper: uct is highest, then ce, then biased, and tspg is lowest, in most games.",
            self._how(),
        ]
        title, measured = "Figure 3: entropy over the stages of a game", "normalised entropy"
        return Report(title, heads, rows, notes, {}, measured, drawn, "stage of the game, %")

    def _figure_4(self) -> Report:
        from scipy.stats import gaussian_kde

        rows: list[list[str]] = []
        drawn: Drawn = {}
        for game in self.games:
            runs = [self.trained(Task(game, self.seed + i, self.part, self.unvisited)) for i in range(self.repetitions)]
            features = [self._features(load(game), run) for run in runs]
            for name in ("ce", "tspg"):
                weights = np.concatenate([each.weights(name)[seat] for each in features for seat in range(2)])
                near = float(np.mean(np.abs(weights) < 0.1))
                low, high = np.quantile(weights, [0.01, 0.99])
                rows.append([game, name, f"{weights.std():.2f}", f"{100 * near:.0f}%", f"{low:.2f} to {high:.2f}"])
                grid = np.linspace(-3, 3, 61)
                density = gaussian_kde(weights)(grid)
                drawn.setdefault(game, {})[name] = list(zip(grid.tolist(), density.tolist(), strict=True))
        heads = ["game", "weights", "standard deviation", "within ±0.1", "1% to 99%"]
        notes = ["The paper: θ_ce has the higher peak at 0, θ_ce + θ_tspg the longer tails.", self._how()]
        return Report("Figure 4: the spread of weights", heads, rows, notes, {}, "density", drawn, "weight")

    def _unvisited(self) -> Report:
        rows = []
        for game in self.games:
            config = self._config(game, self.seed, self.unvisited)
            last = checkpoints(config.iterations, config.keep_every)[-1]
            for choice in CHOICES:
                scores = [each["tspg"] for each in self._all(game, f"duels-{last}", choice)]
                rows.append([game, choice, percents(over_runs(scores))])
        heads = ["game", "an action never tried counts as", "tspg against ce %"]
        return Report("Unvisited actions in the TSPG objective", heads, rows, [self._how()], {}, "")


def repetition(study: Study) -> Callable[[Task], None]:
    """What a process does."""
    return study.do


def checkpoints(iterations: int, keep_every: int) -> list[int]:
    """The iterations of figure 2 at this scale, of those that are kept."""
    wanted = (max(1, round(share * iterations)) for share in CHECKPOINTS)
    near = (1 if each == 1 else min(iterations, max(1, round(each / keep_every)) * keep_every) for each in wanted)
    return sorted(set(near))


def entropy(probs: np.ndarray) -> float:
    """Of 0 to 1: 1 is undecided."""
    used = probs[probs > 0]
    return float(-(used * np.log(used)).sum() / np.log(len(probs)))


def stages(undecided: Sequence[tuple[float, str, float]]) -> dict[str, list[float | None]]:
    """The mean entropy of everybody's choices at each stage of the game."""
    found: dict[str, list[list[float]]] = {}
    for place, who, value in undecided:
        found.setdefault(who, [[] for _ in range(STAGES)])[min(int(place * STAGES), STAGES - 1)].append(value)
    return {who: [float(np.mean(each)) if each else None for each in values] for who, values in found.items()}


def _mean(values: Sequence[float | None]) -> float | None:
    """Of those that there are; short games have no moves at some stages."""
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if known else None


def over_runs(scores: Sequence[float]) -> Estimate:
    """Mean and 95% bootstrap interval over runs, as in the paper."""
    return interval(np.array(scores), np.ones(len(scores)))


def percents(found: Estimate) -> str:
    if np.isnan(found.low):
        return f"{100 * found.mean:.1f}"
    return f"{100 * found.mean:.1f} ({100 * found.low:.1f} to {100 * found.high:.1f})"
