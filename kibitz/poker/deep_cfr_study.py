"""Deep CFR beside published results: the curve in Leduc poker, and the five models of Żarejko's thesis on hold'em.

The thesis trains 50 iterations, keeps a model every 10, and lets all five play each other. The study does that with the
defects of its program, without them, and with one defect at a time.
"""

import json
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Annotated, Any

import numpy as np

from ..core.names import BadInput, choose
from ..core.runs import Run
from ..play.play import seat_of
from ..play.statistics import Estimate, interval
from ..reproduce.report import Report, points
from ..reproduce.study import Study, study
from ..train.deep_cfr.thesis_defects import DEFECTS, joined

PARTS = {
    "leduc": "exploitability in Leduc poker, beside the curves of Steinberger 2019",
    "thesis": "the thesis' five models and their round-robin, faithful and corrected",
    "ablation": "the cost of each defect of the thesis",
}
RULES = "holdem:thesis"
MODELS = 5

# Iteration -> exploitability in mA/g, thousandths of an ante per game (500 times NashConv). Brown et al. (2019) have no
# experiment with Leduc; both curves are of Steinberger's paper on SD-CFR, whose advantage networks continue from the
# iteration before.
PUBLISHED: dict[str, list[tuple[float, float]]] = {
    "Deep CFR (Steinberger 2019)": [(10, 705), (30, 401), (63, 224), (120, 172), (320, 132), (578, 120), (1057, 108)],
    "SD-CFR (Steinberger 2019)": [(500, 96), (1000, 89), (2000, 69)],
    "OpenSpiel, its users": [(100, 310)],
}
MILLI_ANTES = 500.0  # per unit of NashConv
MILLI_BLINDS = 1000.0


@dataclass(frozen=True)
class Scale:
    leduc: int  # iterations
    seeds: int  # in Leduc
    iterations: int  # of the thesis
    traversals: int
    steps: int
    deals: int  # per pair of models
    what: str


SCALES = {
    "quick": Scale(20, 1, 5, 50, 100, 200, "minutes: to see that it works"),
    "half": Scale(100, 3, 50, 250, 1000, 5000, "the thesis' iterations, a sixteenth of its steps at most"),
    "paper": Scale(300, 3, 50, 250, 16_000, 20_000, "the thesis' sizes"),
}


@study("deep-cfr")
@dataclass(kw_only=True)
class DeepCfrStudy(Study):
    """Deep CFR beside published results: the curve in Leduc; the thesis on hold'em with and without its defects.

    The same command resumes an interrupted study. The parts thesis and ablation share their training.

    Example: kibitz study deep-cfr leduc --scale half

    Example: kibitz study deep-cfr thesis --scale quick
    """

    preset: Annotated[str, "Training configuration in Leduc: paper, or best (ours)."] = "best"
    device: Annotated[str, "Torch device: auto, cpu or cuda."] = "auto"

    parts, scales = PARTS, SCALES

    def __post_init__(self) -> None:
        super().__post_init__()
        self.preset = choose("preset", self.preset, ("paper", "best"))

    # ------------------------------------------------------------ training and playing

    def trained(self, name: str, game: str, preset: str, given: dict[str, Any]) -> Run:
        return self.train(
            self.training(name, "deep-cfr", game, preset, {"seed": self.seed, "device": self.device} | given)
        )

    def thesis_run(self, name: str, defects: tuple[str, ...]) -> Run:
        sizes = self.sizes
        given = {
            "iterations": sizes.iterations, "traversals": sizes.traversals, "steps": sizes.steps,
            "strategy_steps": sizes.steps, "keep_every": sizes.iterations // MODELS, "evaluate_every": 0,
        }  # fmt: skip
        return self.trained(name, RULES, "thesis", given | {"defects": joined(defects)})

    def duel(self, one: str, two: str, name: str) -> Estimate:
        """Winnings of player `one` against `two`, in mbb/g; played once and kept."""
        deals, about = self.sizes.deals, {"one": one, "two": two, "deals": self.sizes.deals, "seed": self.seed}

        def play() -> dict[str, Any]:
            won = np.zeros(2 * deals)
            for record in self.games_of(RULES, [one, two], 2 * deals, name):
                won[record.number] = MILLI_BLINDS * record.payoffs[seat_of(0, record.number, 2)]
            found = interval(won.reshape(-1, 2).sum(axis=1), np.full(deals, 2.0))
            return {"about": about, "result": list(found)}

        path = self.folder / "duels" / f"{name}.json"
        found = self.once(path, play)
        if found["about"] != about:
            raise BadInput(f"{path} holds another match: give another folder with --out")
        return Estimate(*found["result"])

    # ------------------------------------------------------------ parts

    def report_leduc(self) -> Report:
        ours: dict[str, list[tuple[float, float]]] = {}
        for seed in range(self.seed, self.seed + self.sizes.seeds):
            given = {"iterations": self.sizes.leduc, "seed": seed, "evaluate_every": min(10, self.sizes.leduc)}
            run = self.trained(f"leduc-{self.preset}-{seed}", "leduc", self.preset, given)
            lines = [line for line in run.read_lines() if "nash_conv" in line and line["iteration"]]
            ours[f"ours, seed {seed}"] = [(line["iteration"], MILLI_ANTES * line["nash_conv"]) for line in lines]
        config = run.config()
        rows = []
        for place, (iteration, _) in enumerate(next(iter(ours.values()))):
            values = [curve[place][1] for curve in ours.values()]
            theirs = [
                f"{name}: {value:g}" for name, curve in PUBLISHED.items() for at, value in curve if at == iteration
            ]
            each = ", ".join(f"{value:.0f}" for value in values)
            rows.append([f"{iteration:g}", f"{np.mean(values):.0f}", each, "; ".join(theirs)])
        notes = [
            "Exploitability is half of NashConv, exact, here in thousandths of an ante per game (mA/g).",
            f"Ours: preset {self.preset}, {config['traversals']:,} traversals per seat and iteration, "
            f"{config['steps']:,} steps per network.",
        ]
        notes += [f"{name}: {', '.join(f'{y:g} at {x:g}' for x, y in curve)}." for name, curve in PUBLISHED.items()]
        heads = ["iteration", "ours, mean", "by seed", "published"]
        title = f"Leduc poker: exploitability, {self.sizes.leduc} iterations"
        return Report(title, heads, rows, notes, ours | PUBLISHED, y_label="exploitability, mA/g")

    def report_thesis(self) -> Report:
        rows, curves = [], {}
        each = self.sizes.iterations // MODELS
        iterations = [each * (model + 1) for model in range(MODELS)]
        last = {}
        for name, defects in (("faithful", tuple(DEFECTS)), ("corrected", ())):
            run = self.thesis_run(name, defects)
            players = [f"net:{run.folder},iteration={iteration}" for iteration in iterations]
            last[name] = players[-1]
            won: dict[tuple[int, int], Estimate] = {}
            for one, two in combinations(range(MODELS), 2):
                found = self.duel(players[two], players[one], f"{name}-{iterations[two]}-{iterations[one]}")
                won[two, one], won[one, two] = found, Estimate(-found.mean, -found.high, -found.low)
            for one in range(MODELS):
                cells = [points(won[one, two], 0) if one != two else "" for two in range(MODELS)]
                rows.append([name, str(iterations[one]), *cells])
            curves[name] = [(float(iterations[one]), won[one, 0].mean if one else 0.0) for one in range(MODELS)]
        corrected = points(self.duel(last["corrected"], last["faithful"], "corrected-faithful"), 0)
        random = [points(self.duel(player, "random", f"{name}-random"), 0) for name, player in last.items()]
        notes = [
            f"Each cell: winnings of the row's model against the column's, in mbb/g with 95% intervals, "
            f"{self.sizes.deals:,} deals, each from both seats.",
            f"The last corrected model against the last faithful one: {corrected} mbb/g.",
            f"Against random play the last faithful model wins {random[0]}, the last corrected {random[1]}.",
            "The thesis: five models, 100 to 200 games per pair, no steady improvement.",
        ]
        heads = ["training", "model", *(f"against {iteration}" for iteration in iterations)]
        title = f"The thesis' {MODELS} models, {self.sizes.iterations} iterations: round-robin"
        return Report(title, heads, rows, notes, curves, y_label="won against the first model, mbb/g")

    def report_ablation(self) -> Report:
        rows = []
        corrected = f"net:{self.thesis_run('corrected', ()).folder}"
        for name, defects in ({defect: (defect,) for defect in DEFECTS} | {"faithful": tuple(DEFECTS)}).items():
            player = f"net:{self.thesis_run(name, defects).folder}"
            against = self.duel(player, corrected, f"ablation-{name}-corrected")
            random = self.duel(player, "random", f"ablation-{name}-random")
            title = "all seven" if name == "faithful" else f"{list(DEFECTS).index(name) + 1} {name}"
            rows.append([title, points(against, 0), points(random, 0)])
        rows.append(["none", "", points(self.duel(corrected, "random", "ablation-corrected-random"), 0)])
        notes = [
            f"Winnings of the last of {self.sizes.iterations} iterations in mbb/g, with 95% intervals, "
            f"{self.sizes.deals:,} deals, each from both seats. One training run each: training runs differ by more "
            "than these intervals.",
            f"All else as in the preset thesis: {json.dumps(asdict(self.sizes))}.",
        ]
        return Report("Cost of each defect", ["defect", "against none", "against random"], rows, notes)
