"""The figure and the tables of ExIt-OOS (Kitchen and Benedetti 2018), and why its Goofspiel(6) network was weak."""

import math
import time
from dataclasses import dataclass
from functools import reduce
from typing import Annotated, Any

import numpy as np

from ..core.names import MAX_GAMES, Interval, at_least, choose
from ..core.runs import Run
from ..games import load, positions, view_of
from ..games.game import CHANCE
from ..play.elo import rate
from ..play.players import make_for
from ..play.statistics import summary
from ..train.trainer import configured
from .report import Report, score
from .study import Study, study

# Simulations per move of the expert: as in the headings of the tables, and as in the public code.
EXPERT, PUBLIC_EXPERT = 10_000, 20_000
THRESHOLD = 0.3
PARTS = {
    "figure-1": "NashConv of the network in Leduc poker",
    "table-1": "Goofspiel(6), the network against random and OOS",
    "table-2": "Goofspiel(13)",
    "table-3": "Liar's Dice(1)",
    "table-4": "Liar's Dice(2)",
    "table-5": "Elo in Goofspiel(13)",
    "ablation": "the faults of the public code in Goofspiel(6), one at a time",
}


@dataclass(frozen=True)
class Scale:
    iterations: float  # as a share of the paper's
    simulations: float  # share
    games: int  # per match
    expert: float  # share of its simulations
    figure: tuple[int, ...]  # simulations per move in figure 1
    figure_iterations: int
    what: str


SCALES = {
    "quick": Scale(0.004, 0.02, 100, 0.02, (50, 500), 6, "minutes: to see that it works"),
    "half": Scale(0.5, 0.25, 2000, 1.0, (1_000, 10_000), 150, "half the iterations, a quarter of the simulations"),
    "paper": Scale(1.0, 1.0, 5000, 1.0, (1_000, 10_000, 100_000), 300, "the paper's sizes"),
}

# Iteration -> published score of the network, in percent, against random and against OOS (10k).
PAPER: dict[str, tuple[str, dict[int, tuple[float, float]]]] = {
    "table-1": ("goofspiel:6", {100: (66, 30), 200: (63, 34), 1000: (69, 26), 2000: (68, 27), 2500: (67, 25)}),
    "table-2": ("goofspiel:13", {100: (61, 40), 200: (69, 44), 500: (74, 53)}),
    "table-3": ("liars_dice:1", {100: (65, 53), 500: (65, 53), 1000: (66, 51)}),
    "table-4": ("liars_dice:2", {100: (65, 52), 500: (64, 52), 1000: (66, 54)}),
}
PAPER_ELO = {"ExIt-OOS 100": 1500, "ExIt-OOS 200": 1531, "ExIt-OOS 500": 1600, "OOS 10k": 1572}

# The faults of the public code in Goofspiel(6), one at a time: label -> name of the folder, game, configuration.
# Rows left empty by mistake leave 3% of the reservoir and of each minibatch; workers with one seed play the same games.
ABLATION: dict[str, tuple[str, str, dict[str, Any]]] = {
    "corrected": ("as-it-should-be", "goofspiel:6", {}),
    "encoding gives winners by seat": ("winners-by-seat-in-the-encoding", "goofspiel:6,by_seat=yes", {}),
    "97% of the reservoir empty": ("97%-of-the-rows-empty", "goofspiel:6", {"capacity": 960, "batch_size": 4}),
    "one seed for all workers": ("one-seed-for-all-workers", "goofspiel:6", {"shared_seed": 16}),
    "all three": ("all-three", "goofspiel:6,by_seat=yes", {"capacity": 960, "batch_size": 4, "shared_seed": 16}),
}
ABLATION_ITERATIONS, ABLATION_SIMULATIONS = 500, 10_000


@study("exit-oos")
@dataclass(kw_only=True)
class ExitOosStudy(Study):
    """Reproduce a table or the figure of ExIt-OOS: trains, plays, and writes Markdown and a plot.

    The same command resumes an interrupted study. Tables 2 and 5 share their training.

    Example: kibitz study exit-oos table-1 --scale quick
    """

    preset: Annotated[str, "Training configuration: paper, best (ours, stronger) or large (large games)."] = "paper"
    games: Annotated[int | None, "Number of games per match; default by the scale.", Interval(1, MAX_GAMES)] = None

    parts, scales = PARTS, SCALES

    def __post_init__(self) -> None:
        super().__post_init__()
        self.preset = choose("preset", self.preset, ("paper", "best", "large"))
        self.games = self.games or self.sizes.games
        at_least("--games", self.games, 2)
        self.trained_for = "table-2" if self.part == "table-5" else self.part  # the table whose training it uses
        self.expert = f"oos:{self.expert_simulations(EXPERT)}"

    def file_name(self) -> str:
        return f"{self.part}-{self.preset}"

    # ------------------------------------------------------------ training and matches

    def rows(self) -> list[int]:
        """The iterations in a table's rows: the paper's, at this scale and with this preset."""
        game, paper = PAPER[self.trained_for]
        most = configured("exit-oos", game, self.preset, {}).iterations * self.sizes.iterations
        return sorted({max(1, round(iteration / max(paper) * most)) for iteration in paper})

    def expert_simulations(self, simulations: int) -> int:
        return max(1, round(simulations * self.sizes.expert))

    def exit_run(self, name: str, game: str, **given: Any) -> Run:
        return self.training(f"{name}-{self.preset}", "exit-oos", game, self.preset, given | {"seed": self.seed})

    def table_run(self) -> Run:
        game, rows = PAPER[self.trained_for][0], self.rows()
        simulations = configured("exit-oos", game, self.preset, {}).simulations
        return self.exit_run(
            f"{load(game).name}-{self.trained_for}", game,
            iterations=rows[-1], simulations=max(1, round(simulations * self.sizes.simulations)),
            keep_every=reduce(math.gcd, rows), evaluate_every=max(1, rows[-1] // 20),
        )  # fmt: skip

    def figure_run(self, simulations: int) -> Run:
        iterations = self.sizes.figure_iterations
        return self.exit_run(
            f"leduc-{simulations}", "leduc", simulations=simulations, iterations=iterations,
            evaluate_every=max(1, iterations // 60), keep_every=iterations,
        )  # fmt: skip

    def ablation_run(self, name: str) -> Run:
        folder, game, given = ABLATION[name]
        iterations = max(1, round(ABLATION_ITERATIONS * self.sizes.iterations))
        simulations = max(1, round(ABLATION_SIMULATIONS * self.sizes.simulations))
        return self.exit_run(
            f"ablation-{folder}", game, **given, iterations=iterations, keep_every=iterations, simulations=simulations,
            evaluate_every=max(1, iterations // 20),
        )  # fmt: skip

    def played(self, name: str, game: str, one: str, two: str) -> list:
        assert self.games is not None
        return self.match(f"matches-{self.preset}/{name}", game, [one, two], self.games)

    def scored(self, name: str, game: str, one: str, two: str) -> Any:
        return summary(self.played(name, game, one, two))

    # ------------------------------------------------------------ parts

    def report_figure_1(self) -> Report:
        curves = {}
        for run in map(self.figure_run, self.sizes.figure):
            curves[f"{run.config()['simulations']:,} simulations"] = nash_convs(self.train(run))
        rows = [
            [name, f"{points[0][1]:.3f}", f"{points[len(points) // 2][1]:.3f}", f"{points[-1][1]:.3f}",
             f"{min(value for _, value in points):.3f}"]
            for name, points in curves.items()
        ]  # fmt: skip
        return Report(
            f"Figure 1: Leduc, NashConv of the network in {self.sizes.figure_iterations} iterations of training",
            ["per move", "untrained", "half-way", "end", "lowest"],
            rows,
            ["NashConv, exact; exploitability is half of it. The paper's figure has no numbers."],
            curves,
            y_label="NashConv",
        )

    def report_table(self) -> Report:
        game, paper = PAPER[self.part]
        run = self.train(self.table_run())
        rows, curves = [], {"against random": [], "against OOS": []}  # type: ignore[var-annotated]
        last, published = self.rows()[-1], list(paper.items())
        for place, iteration in enumerate(self.rows()):
            net = f"net:{run.folder},iteration={iteration}"
            random = self.scored(f"{self.part}-{iteration}-random", game, net, "random")
            expert = self.scored(self.against_expert(iteration, self.expert), game, net, self.expert)
            curves["against random"].append((iteration, 100 * random.score.mean))
            curves["against OOS"].append((iteration, 100 * expert.score.mean))
            theirs = published[place] if len(published) == len(self.rows()) else ("", ("", ""))
            rows.append([f"{iteration}", *score(random), *score(expert), *map(str, (theirs[0], *theirs[1]))])
        net = f"net:{run.folder},iteration={last}"
        public = f"oos:{self.expert_simulations(PUBLIC_EXPERT)}"
        equal, thinking = self.equal_time(game, run)
        notes = [f"The expert is `{self.expert}`. A draw counts as half; won / drawn / lost beside the score."]
        # Thresholding (Ganzfried, Sandholm and Waugh 2012) is not in the paper.
        teacher = self.teacher(run)
        taught = [(f"against the search that taught it, `{teacher}`", net, teacher, f"{self.part}-{last}-teacher")]
        for about, one, two, name in (
            *(taught if teacher else ()),
            (f"against `{public}` (as in the public code)", net, public, self.against_expert(last, public)),
            (
                f"with `threshold={THRESHOLD}` (no move below {THRESHOLD} of the likeliest's probability is played) "
                f"against `{self.expert}`",
                f"{net},threshold={THRESHOLD}", self.expert, self.against_expert(f"{last}-threshold", self.expert),
            ),
            (
                f"against `{equal}` (the network's own thinking time, {thinking * 1e6:.0f} µs)",
                net, equal, self.against_expert(last, equal),
            ),
        ):  # fmt: skip
            notes.append(f"The last network {about}: {' '.join(score(self.scored(name, game, one, two)))}.")
        if points := nash_convs(run):
            notes.append(f"NashConv of the network: {points[0][1]:.3f} untrained, {points[-1][1]:.3f} at the end.")
        heads = ["iterations", "random", "+ = -", self.expert, "+ = -", "paper: iterations", "random %", "OOS (10k) %"]
        return Report(f"{self.part.capitalize()}: {game}", heads, rows, notes, curves, y_label="score, %")

    report_table_1 = report_table_2 = report_table_3 = report_table_4 = report_table

    def against_expert(self, iteration: int | str, expert: str) -> str:
        """Name of a match's folder."""
        return f"{self.part}-{iteration}-{expert.replace(':', '-')}"

    def teacher(self, run: Run) -> str:
        """The search that a run's last network learned from; empty where no player has its second network's values."""
        config = run.config()
        if config["leaf"] == "value":
            return ""
        weights = ",linear=yes" if config["linear_averaging"] else ""
        return f"oos:{config['simulations']},net={run.folder}{weights}"

    def equal_time(self, game_name: str, run: Run) -> tuple[str, float]:
        """The expert that takes the network's own time per move, and that time, both measured once and kept."""

        def measure() -> dict[str, float]:
            game = load(game_name)
            seconds = []
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
                seconds.append(float(np.median(times)))
            return {"seconds": seconds[0], "simulations": max(1, round(1000 * seconds[0] / seconds[1]))}

        found = self.once(self.folder / f"{self.part}-{self.preset}-thinking-time.json", measure)
        return f"oos:{found['simulations']}", found["seconds"]

    def report_table_5(self) -> Report:
        """All pairs of networks and the expert, the earliest network fixed at 1500 as in the paper."""
        run = self.train(self.table_run())
        players = [(f"ExIt-OOS {iteration}", f"net:{run.folder},iteration={iteration}") for iteration in self.rows()]
        players.append(("OOS 10k", self.expert))
        records = []
        for i, (one, first) in enumerate(players):
            for two, second in players[i + 1 :]:
                records += self.played(f"table-5-{one}-{two}".replace(" ", "-"), "goofspiel:13", first, second)
        rated = {player.name: player for player in rate(records, players[0][1], 1500.0).players}
        published = list(PAPER_ELO.items())
        rows = []
        for place, (name, player) in enumerate(players):
            found = rated[player]
            interval = "fixed" if found.low == found.high else f"{found.low:.0f} to {found.high:.0f}"
            theirs = published[place] if len(published) == len(players) else ("", "")
            rows.append([name, f"{found.elo:.0f}", interval, f"{100 * found.score:.1f}%", *map(str, theirs)])
        heads = ["player", "Elo", "95% interval", "score", "paper", "Elo"]
        return Report("Table 5: goofspiel:13, Elo", heads, rows, [f"{len(records):,} games."])

    def report_ablation(self) -> Report:
        rows, curves = [], {}
        for name, (folder, game, _) in ABLATION.items():
            run = self.train(self.ablation_run(name))
            result = self.scored(f"ablation-{folder}", game, f"net:{run.folder}", self.expert)
            curves[name] = nash_convs(run)
            rows.append([name, *score(result), f"{curves[name][-1][1]:.3f}"])
        notes = ["Each fault of the public code by itself, all else corrected."]
        heads = ["training", self.expert, "+ = -", "NashConv"]
        title = f"Why the paper's Goofspiel(6) network is weak, {curves[name][-1][0]} iterations"
        return Report(title, heads, rows, notes, curves, y_label="NashConv")


def nash_convs(run: Run) -> list[tuple[float, float]]:
    """(iteration, NashConv) of each evaluation; empty where the game is too large."""
    return [(line["iteration"], line["nash_conv"]) for line in run.read_lines() if "nash_conv" in line]
