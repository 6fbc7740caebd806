"""The figure and the tables of ExIt-OOS (Kitchen and Benedetti 2018), and why its Goofspiel(6) network was weak.

Everything lies in one folder, a game's training below the game's name, so that tables share it; whatever was done
already is not done again.
"""

import json
import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import Any

import numpy as np

from ..arena.elo import Rating, rate
from ..arena.match import open_run, play_into
from ..arena.statistics import Result, summary
from ..core.names import BadInput, choose
from ..core.runs import Run
from ..games import load, positions, view_of
from ..games.game import CHANCE
from ..games.records import Record
from ..learn.trainer import configured, estimate, new_run, train
from ..players import make_for
from ..search.oos import Oos
from .matches import Watched
from .report import Report, percent

TEACHER, PAPERS_TEACHER = 10_000, 20_000  # simulations a move: as the tables' heading has it, and what its code did
THRESHOLD = 0.3


@dataclass(frozen=True)
class Scale:
    iterations: float  # share of the paper's
    simulations: float  # share
    games: int  # a match
    teacher: float  # share of its simulations
    figure: tuple[int, ...]  # simulations of figure 1
    figure_iterations: int
    what: str


SCALES = {
    "quick": Scale(0.004, 0.02, 100, 0.02, (50, 500), 6, "minutes: to see that it works"),
    "half": Scale(0.5, 0.25, 2000, 1.0, (1_000, 10_000), 150, "half the iterations, a quarter of the simulations"),
    "paper": Scale(1.0, 1.0, 5000, 1.0, (1_000, 10_000, 100_000), 300, "the paper's sizes"),
}

# Iteration -> what the paper's network scored, in percent, against random and against OOS (10k).
PAPER: dict[str, tuple[str, dict[int, tuple[float, float]]]] = {
    "table-1": ("goofspiel:6", {100: (66, 30), 200: (63, 34), 1000: (69, 26), 2000: (68, 27), 2500: (67, 25)}),
    "table-2": ("goofspiel:13", {100: (61, 40), 200: (69, 44), 500: (74, 53)}),
    "table-3": ("liars_dice:1", {100: (65, 53), 500: (65, 53), 1000: (66, 51)}),
    "table-4": ("liars_dice:2", {100: (65, 52), 500: (64, 52), 1000: (66, 54)}),
}
PAPER_ELO = {"ExIt-OOS 100": 1500, "ExIt-OOS 200": 1531, "ExIt-OOS 500": 1600, "OOS 10k": 1572}

# What the public code did differently in Goofspiel(6), one at a time. Rows that are empty by mistake leave 3% of
# the reservoir and of each minibatch; workers with one seed play the same games.
ABLATION: dict[str, tuple[str, dict[str, Any]]] = {
    "as it should be": ("goofspiel:6", {}),
    "winners by seat in the encoding": ("goofspiel:6,by_seat=yes", {}),
    "97% of the rows empty": ("goofspiel:6", {"capacity": 960, "batch": 4}),
    "one seed for all workers": ("goofspiel:6", {"shared_seed": 16}),
    "all three": ("goofspiel:6,by_seat=yes", {"capacity": 960, "batch": 4, "shared_seed": 16}),
}
ABLATION_ITERATIONS = 500
PARTS = ("figure-1", *PAPER, "table-5", "ablation")

Watch = Callable[[str, float, float], None]  # what is being done, done, of


class Study:
    def __init__(
        self,
        part: str,
        scale: str,
        folder: Path,
        seed: int = 1,
        processes: int | None = None,
        watch: Watch = lambda what, done, total: None,
        tell: Callable[[str], None] = lambda text: None,
        preset: str = "paper",
        games: int | None = None,
    ) -> None:
        choose("part of exit-oos", part, PARTS)
        self.preset = choose("preset of a study", preset, ("paper", "kibitz"))
        self.part, self.folder, self.seed, self.processes = part, folder, seed, processes
        self.scale_name, self.scale = scale, SCALES[choose("scale", scale, SCALES)]
        self.games = games or self.scale.games
        self.watch, self.tell = watch, tell

    def foretell(self) -> tuple[float, int]:
        """Seconds and bytes that are still to come, about."""
        seconds, size = 0.0, 0
        for run in self._runs():
            told = estimate(run, self.processes)
            seconds, size = seconds + told.seconds, size + told.bytes
        game, matches = self._game(), self._matches()
        if game is not None:
            search = Oos(load(game))
            search.run(1)
            began = time.perf_counter()
            search.run(2000)
            each = (time.perf_counter() - began) / 2000
            for players in matches:
                asked = sum(int(name.split(":")[1].split(",")[0]) for name in players if name.startswith("oos:"))
                moves = load(game).facts.max_game_length / 2
                seconds += self.games * moves * asked * each / (self.processes or 2)
        return seconds, size

    def run(self) -> Report:
        if self.part == "figure-1":
            return self._figure()
        if self.part == "table-5":
            return self._elo()
        if self.part == "ablation":
            return self._ablation()
        return self._table()

    # ------------------------------------------------------------ what each part needs

    def _rows(self, part: str | None = None) -> list[int]:
        """The iterations of a table's rows: the paper's, at this scale and with this preset."""
        game, paper = PAPER[part or self.part]
        most = configured("exit-oos", game, self.preset, {}).iterations * self.scale.iterations
        return sorted({max(1, round(iteration / max(paper) * most)) for iteration in paper})

    def _game(self) -> str | None:
        if self.part == "figure-1":
            return None
        return {"table-5": "goofspiel:13", "ablation": "goofspiel:6"}.get(self.part) or PAPER[self.part][0]

    def _runs(self) -> list[Run]:
        if self.part == "figure-1":
            return [self._figure_run(simulations) for simulations in self.scale.figure]
        if self.part == "ablation":
            return [self._ablation_run(name) for name in ABLATION]
        return [self._trained("table-2" if self.part == "table-5" else self.part)]

    def _matches(self) -> list[list[str]]:
        teacher = f"oos:{self._teacher(TEACHER)}"
        if self.part == "figure-1":
            return []
        if self.part == "ablation":
            return [["net", teacher] for _ in ABLATION]
        if self.part == "table-5":
            return [["net", teacher] for _ in self._rows("table-2")]
        return [["net", teacher] for _ in self._rows()] + [["net", f"oos:{self._teacher(PAPERS_TEACHER)}"]]

    def _teacher(self, simulations: int) -> int:
        return max(1, round(simulations * self.scale.teacher))

    def _run(self, name: str, game: str, preset: str | None, given: dict[str, Any]) -> Run:
        folder = self.folder / name
        config = configured("exit-oos", game, preset, given | {"seed": self.seed})
        if not (folder / "config.json").exists():
            return new_run(folder, "exit-oos", config)
        run = Run(folder)
        if run.config() != {"command": "train", "method": "exit-oos", **vars(config)}:
            raise BadInput(f"{folder} holds another training: give another folder with --out")
        return run

    def _trained(self, part: str) -> Run:
        game, rows = PAPER[part][0], self._rows(part)
        simulations = configured("exit-oos", game, self.preset, {}).simulations
        given = {
            "iterations": rows[-1],
            "simulations": max(1, round(simulations * self.scale.simulations)),
            "keep_every": reduce(math.gcd, rows),
            "evaluate_every": max(1, rows[-1] // 20),
        }
        return self._run(f"{load(game).name}-{part}-{self.preset}", game, self.preset, given)

    def _figure_run(self, simulations: int) -> Run:
        iterations = self.scale.figure_iterations
        given = {"simulations": simulations, "iterations": iterations, "evaluate_every": max(1, iterations // 60)}
        return self._run(f"leduc-{simulations}-{self.preset}", "leduc", self.preset, given | {"keep_every": iterations})

    def _ablation_run(self, name: str) -> Run:
        game, given = ABLATION[name]
        iterations = max(1, round(ABLATION_ITERATIONS * self.scale.iterations))
        simulations = max(1, round(10_000 * self.scale.simulations))
        sizes = {"iterations": iterations, "keep_every": iterations, "simulations": simulations}
        judged = {"evaluate_every": max(1, iterations // 20)}
        return self._run(f"ablation-{name.replace(' ', '-')}-{self.preset}", game, self.preset, given | sizes | judged)

    # ------------------------------------------------------------ doing it

    def _train(self, run: Run) -> None:
        config = run.config()
        what, total = f"training {run.folder.name}", config["iterations"] * config["games"]
        lines = run.lines()
        if not lines or lines[-1]["iteration"] < config["iterations"] or not run.path("network.safetensors").exists():
            train(run, self.processes, None, lambda progress: self.watch(what, progress.games, total), self.tell)

    def _match(self, game: str, one: str, two: str, name: str) -> tuple[Result, list[Record]]:
        folder = self.folder / f"matches-{self.preset}" / name
        run = open_run(folder, "match", game, [one, two], self.games, self.seed)
        records = play_into(run, self.processes, Watched(name, self.watch, self.tell))
        return summary(records, self.seed), records

    def _figure(self) -> Report:
        curves = {}
        for run in self._runs():
            self._train(run)
            points = [(line["iteration"], line["nash_conv"]) for line in run.lines() if "nash_conv" in line]
            curves[f"{run.config()['simulations']:,} simulations"] = points
        rows = [
            [name, f"{points[0][1]:.3f}", f"{points[len(points) // 2][1]:.3f}", f"{points[-1][1]:.3f}",
             f"{min(value for _, value in points):.3f}"]
            for name, points in curves.items()
        ]  # fmt: skip
        return Report(
            f"Figure 1: Leduc, NashConv of the network in {self.scale.figure_iterations} iterations of training",
            ["a move", "untrained", "half-way", "end", "lowest"],
            rows,
            ["NashConv, exact; exploitability is half of it. The paper's figure has no numbers."],
            curves,
            "NashConv",
        )

    def _table(self) -> Report:
        game, paper = PAPER[self.part]
        run = self._trained(self.part)
        self._train(run)
        rows, curves = [], {"against random": [], "against OOS": []}  # type: ignore[var-annotated]
        teacher, last = f"oos:{self._teacher(TEACHER)}", self._rows()[-1]
        theirs = list(paper.items())
        for place, iteration in enumerate(self._rows()):
            net = f"net:{run.folder},iteration={iteration}"
            random, _ = self._match(game, net, "random", f"{self.part}-{iteration}-random")
            expert, _ = self._match(game, net, teacher, f"{self.part}-{iteration}-{teacher.replace(':', '-')}")
            curves["against random"].append((iteration, 100 * random.score.mean))
            curves["against OOS"].append((iteration, 100 * expert.score.mean))
            known = theirs[place] if len(theirs) == len(self._rows()) else ("", ("", ""))
            rows.append([f"{iteration}", *percent(random), *percent(expert), *map(str, (known[0], *known[1]))])
        notes = [f"The teacher is `{teacher}`. A draw counts as half; won / drawn / lost beside it."]
        notes += [self._against(game, run, last, f"oos:{self._teacher(PAPERS_TEACHER)}", "the paper's own simulations")]
        notes += [self._sharper(game, run, last, teacher)]
        equal, thinking = self._equal_time(game, run)
        notes += [self._against(game, run, last, equal, f"the network's own thinking time, {thinking * 1e6:.0f} µs")]
        if any("nash_conv" in line for line in run.lines()):
            judged = [line for line in run.lines() if "nash_conv" in line]
            notes += [f"NashConv of the network: {judged[0]['nash_conv']:.3f} untrained, {judged[-1]['nash_conv']:.3f} at the end."]  # fmt: skip  # noqa: E501
        heads = ["iterations", "random", "+ = -", teacher, "+ = -", "paper: iterations", "random %", "OOS (10k) %"]
        return Report(f"{self.part.capitalize()}: {game}", heads, rows, notes, curves, "score, %")

    def _against(self, game: str, run: Run, iteration: int, teacher: str, what: str) -> str:
        name = f"{self.part}-{iteration}-{teacher.replace(':', '-')}"
        result, _ = self._match(game, f"net:{run.folder},iteration={iteration}", teacher, name)
        return f"At the end against `{teacher}` ({what}): {' '.join(percent(result))}."

    def _sharper(self, game: str, run: Run, iteration: int, teacher: str) -> str:
        """Beyond the paper: thresholding (Ganzfried, Sandholm and Waugh 2012)."""
        name = f"{self.part}-{iteration}-threshold-{teacher.replace(':', '-')}"
        net = f"net:{run.folder},iteration={iteration},threshold={THRESHOLD}"
        result, _ = self._match(game, net, teacher, name)
        what = f"moves less likely than {THRESHOLD} of the likeliest are never played"
        return f"At the end with `threshold={THRESHOLD}` ({what}) against `{teacher}`: {' '.join(percent(result))}."

    def _equal_time(self, game_name: str, run: Run) -> tuple[str, float]:
        """The teacher that has the network's own time a move, both measured once and kept."""
        path = self.folder / f"{self.part}-{self.preset}-thinking-time.json"
        if not path.exists():
            game = load(game_name)
            seconds = {}
            for name in (f"net:{run.folder}", "oos:1000"):
                player, state = make_for(name, game), positions(game)[0]
                while game.turn(state) == CHANCE:
                    game.play(state, game.sample_action(state, np.array([1, 2], np.uint64)))
                view = view_of(game, state, int(game.turn(state)))
                times = []
                for seed in range(30):
                    player.begin(game, int(game.turn(state)), seed)
                    began = time.perf_counter()
                    player.move(view)
                    times.append(time.perf_counter() - began)
                seconds[name] = float(np.median(times))
            mine, teacher = seconds.values()
            found = {"seconds": mine, "simulations": max(1, round(1000 * mine / teacher))}
            path.write_text(json.dumps(found))
        found = json.loads(path.read_text())
        return f"oos:{found['simulations']}", found["seconds"]

    def _elo(self) -> Report:
        """Everyone against everyone, the earliest network fixed at 1500 as in the paper."""
        run = self._trained("table-2")
        self._train(run)
        names = {
            f"ExIt-OOS {iteration}": f"net:{run.folder},iteration={iteration}" for iteration in self._rows("table-2")
        }
        names["OOS 10k"] = f"oos:{self._teacher(TEACHER)}"
        records = []
        players = list(names.items())
        for i, (one, first) in enumerate(players):
            for two, second in players[i + 1 :]:
                label = f"table-5-{one}-{two}".replace(" ", "-")
                records += self._match("goofspiel:13", first, second, label)[1]
        rating: Rating = rate(records, players[0][1], 1500.0)
        rated = {player.name: player for player in rating.players}
        theirs = list(PAPER_ELO.items())
        rows = []
        for place, (name, player) in enumerate(players):
            found = rated[player]
            sure = "fixed" if found.low == found.high else f"{found.low:.0f} to {found.high:.0f}"
            known = theirs[place] if len(theirs) == len(players) else ("", "")
            rows.append([name, f"{found.elo:.0f}", sure, f"{100 * found.score:.1f}%", *map(str, known)])
        heads = ["player", "Elo", "95% interval", "score", "paper", "Elo"]
        return Report("Table 5: goofspiel:13, Elo", heads, rows, [f"{len(records):,} games."], {}, "")

    def _ablation(self) -> Report:
        rows, curves = [], {}
        teacher = f"oos:{self._teacher(TEACHER)}"
        for name, (game, _) in ABLATION.items():
            run = self._ablation_run(name)
            self._train(run)
            label = f"ablation-{name.replace(' ', '-')}"
            result, _ = self._match(game, f"net:{run.folder}", teacher, label)
            judged = [(line["iteration"], line["nash_conv"]) for line in run.lines() if "nash_conv" in line]
            curves[name] = judged
            rows.append([name, *percent(result), f"{judged[-1][1]:.3f}"])
        notes = ["Each difference of the public code by itself, all else as it should be."]
        heads = ["training", teacher, "+ = -", "NashConv"]
        title = f"Why the paper's Goofspiel(6) network is weak, {curves[name][-1][0]} iterations"
        return Report(title, heads, rows, notes, curves, "NashConv")
