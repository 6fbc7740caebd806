"""Deep CFR beside what was published: the curve of Leduc poker, and the five models of Żarejko's thesis on hold'em.

The thesis trains 50 iterations, keeps a model every 10, and lets all five play each other. Here that is done with the
defects of its program and without them, and with each defect by itself. Everything lies in one folder; whatever was
done already is not done again.
"""

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from ..arena.batched import blocks, tables
from ..arena.play import seat_of
from ..arena.statistics import Estimate, interval
from ..core.files import write_atomically
from ..core.names import BadInput, choose
from ..core.runs import Run
from ..learn.deep_cfr.thesis_defects import DEFECTS, joined
from ..learn.trainer import configured, new_run, train
from .report import Report, Watcher

PARTS = {
    "leduc": "exploitability in Leduc poker, beside published curves",
    "thesis": "the thesis' five models and their round-robin, faithful and corrected",
    "ablation": "what each defect of the thesis costs",
}
RULES = "holdem:thesis"
MODELS = 5

# Exploitability in mA/g, thousandths of an ante a game (500 times NashConv), by iteration.
PUBLISHED: dict[str, list[tuple[float, float]]] = {
    "Deep CFR, published": [(10, 705), (30, 401), (63, 224), (120, 172), (320, 132), (578, 120), (1057, 108)],
    "SD-CFR, published": [(500, 96), (1000, 89), (2000, 69)],
    "OpenSpiel, its users": [(100, 310)],
}
MILLI_ANTES = 500.0  # of a NashConv
MILLI_BLINDS = 1000.0


@dataclass(frozen=True)
class Scale:
    leduc: int  # iterations
    seeds: int  # of Leduc
    iterations: int  # of the thesis
    traversals: int
    steps: int
    deals: int  # of a pair of models
    what: str


SCALES = {
    "quick": Scale(20, 1, 5, 50, 100, 200, "minutes: to see that it works"),
    "half": Scale(100, 3, 50, 250, 1000, 5000, "the thesis' iterations, a sixteenth of its steps at most"),
    "paper": Scale(300, 3, 50, 250, 16_000, 20_000, "the thesis' sizes"),
}


class Study:
    def __init__(
        self,
        part: str,
        scale: str,
        folder: Path,
        seed: int = 1,
        processes: int | None = None,
        device: str = "auto",
        preset: str = "kibitz",
        watch: Callable[[str, float, float], None] = lambda what, done, total: None,
        tell: Callable[[str], None] = lambda text: None,
    ) -> None:
        self.part, self.scale = choose("part of deep-cfr", part, PARTS), SCALES[choose("scale", scale, SCALES)]
        self.preset = choose("preset of a study", preset, ("paper", "kibitz"))
        self.folder, self.seed, self.processes, self.device = folder, seed, processes, device
        self.watch, self.tell = watch, tell

    def run(self) -> Report:
        self.folder.mkdir(parents=True, exist_ok=True)
        return {"leduc": self._leduc, "thesis": self._thesis, "ablation": self._ablation}[self.part]()

    # ------------------------------------------------------------ training and playing

    def _trained(self, name: str, game: str, preset: str, given: dict[str, Any]) -> Run:
        config = configured("deep-cfr", game, preset, {"seed": self.seed, "device": self.device} | given)
        folder = self.folder / name
        if not (folder / "config.json").exists():
            run = new_run(folder, "deep-cfr", config)
        else:
            run = Run(folder)
            if run.config() != {"command": "train", "method": "deep-cfr", **vars(config)}:
                raise BadInput(f"{folder} holds another training: give another folder with --out")
        lines = run.lines()
        if not lines or lines[-1]["iteration"] < config.iterations or not run.path("network.safetensors").exists():
            watcher = Watcher(lambda *at: self.watch(f"training {name}, iterations", *at), self.tell)
            train(run, self.processes, report=watcher)
        return run

    def _of_thesis(self, name: str, defects: tuple[str, ...]) -> Run:
        scale = self.scale
        given = {
            "iterations": scale.iterations, "traversals": scale.traversals, "steps": scale.steps,
            "strategy_steps": scale.steps, "keep_every": scale.iterations // MODELS, "evaluate_every": 0,
        }  # fmt: skip
        return self._trained(name, RULES, "thesis", given | {"defects": joined(defects)})

    def _duel(self, one: str, two: str, name: str) -> Estimate:
        """Player `one` against `two`, in mbb/g; played once and kept."""
        path = self.folder / "duels" / f"{name}.json"
        about = {"one": one, "two": two, "deals": self.scale.deals, "seed": self.seed}
        if path.exists():
            found = json.loads(path.read_text())
            if found["about"] != about:
                raise BadInput(f"{path} holds another duel: give another folder with --out")
            return Estimate(*found["result"])
        path.parent.mkdir(exist_ok=True)
        play, won = tables(RULES, [one, two], self.seed), np.zeros(2 * self.scale.deals)
        for block in blocks(range(len(won))):
            for record in play(block):
                won[record.number] = MILLI_BLINDS * record.payoffs[seat_of(0, record.number, 2)]
            self.watch(f"{name}, deals", block[-1] // 2, self.scale.deals)
        result = interval(won.reshape(-1, 2).sum(axis=1), np.full(self.scale.deals, 2.0), self.seed)
        write_atomically(path, json.dumps({"about": about, "result": list(result)}).encode())
        return result

    # ------------------------------------------------------------ parts

    def _leduc(self) -> Report:
        ours: dict[str, list[tuple[float, float]]] = {}
        for seed in range(self.seed, self.seed + self.scale.seeds):
            given = {"iterations": self.scale.leduc, "seed": seed, "evaluate_every": min(10, self.scale.leduc)}
            run = self._trained(f"leduc-{self.preset}-{seed}", "leduc", self.preset, given)
            lines = [line for line in run.lines() if "nash_conv" in line and line["iteration"]]
            ours[f"ours, seed {seed}"] = [(line["iteration"], MILLI_ANTES * line["nash_conv"]) for line in lines]
        config = run.config()
        rows = []
        for place, (iteration, _) in enumerate(next(iter(ours.values()))):
            values = [points[place][1] for points in ours.values()]
            theirs = [
                f"{name}: {value:g}" for name, points in PUBLISHED.items() for at, value in points if at == iteration
            ]
            each = ", ".join(f"{value:.0f}" for value in values)
            rows.append([f"{iteration:g}", f"{np.mean(values):.0f}", each, "; ".join(theirs)])
        notes = [
            "Exploitability is half of NashConv, exact, here in thousandths of an ante a game (mA/g).",
            f"Ours: preset {self.preset}, {config['traversals']:,} traversals a seat and iteration, "
            f"{config['steps']:,} steps a network.",
        ]
        notes += [f"{name}: {', '.join(f'{y:g} at {x:g}' for x, y in points)}." for name, points in PUBLISHED.items()]
        heads = ["iteration", "ours, mean", "by seed", "published"]
        title = f"Leduc poker: exploitability, {self.scale.leduc} iterations"
        return Report(title, heads, rows, notes, ours | PUBLISHED, "exploitability, mA/g")

    def _thesis(self) -> Report:
        rows, curves = [], {}
        each = self.scale.iterations // MODELS
        iterations = [each * (model + 1) for model in range(MODELS)]
        last = {}
        for name, defects in (("faithful", tuple(DEFECTS)), ("corrected", ())):
            run = self._of_thesis(name, defects)
            players = [f"net:{run.folder},iteration={iteration}" for iteration in iterations]
            last[name] = players[-1]
            won: dict[tuple[int, int], Estimate] = {}
            for one, two in combinations(range(MODELS), 2):
                found = self._duel(players[two], players[one], f"{name}-{iterations[two]}-{iterations[one]}")
                won[two, one], won[one, two] = found, Estimate(-found.mean, -found.high, -found.low)
            for one in range(MODELS):
                cells = [told(won[one, two]) if one != two else "" for two in range(MODELS)]
                rows.append([name, str(iterations[one]), *cells])
            curves[name] = [(float(iterations[one]), won[one, 0].mean if one else 0.0) for one in range(MODELS)]
        better = self._duel(last["corrected"], last["faithful"], "corrected-faithful")
        lucky = [self._duel(player, "random", f"{name}-random") for name, player in last.items()]
        notes = [
            f"Each cell: what the row's model wins of the column's, in mbb/g with 95% intervals, {self.scale.deals:,} "
            "deals, each from both seats.",
            f"The last corrected model wins {told(better)} mbb/g of the last faithful one.",
            f"Against random play the last faithful model wins {told(lucky[0])}, the last corrected {told(lucky[1])}.",
            "The thesis: five models, 100 to 200 games a pair, no steady improvement.",
        ]
        heads = ["training", "model", *(f"against {iteration}" for iteration in iterations)]
        title = f"The thesis' {MODELS} models, {self.scale.iterations} iterations: round-robin"
        return Report(title, heads, rows, notes, curves, "won of the first model, mbb/g")

    def _ablation(self) -> Report:
        rows = []
        corrected = f"net:{self._of_thesis('corrected', ()).folder}"
        for name, defects in ({defect: (defect,) for defect in DEFECTS} | {"faithful": tuple(DEFECTS)}).items():
            player = f"net:{self._of_thesis(name, defects).folder}"
            against = self._duel(player, corrected, f"ablation-{name}-corrected")
            lucky = self._duel(player, "random", f"ablation-{name}-random")
            title = "all seven" if name == "faithful" else f"{list(DEFECTS).index(name) + 1} {name}"
            rows.append([title, told(against), told(lucky)])
        rows.append(["none", "", told(self._duel(corrected, "random", "ablation-corrected-random"))])
        notes = [
            f"What the last of {self.scale.iterations} iterations wins in mbb/g, with 95% intervals, "
            f"{self.scale.deals:,} deals, each from both seats. One training each: a difference of trainings is more "
            "than what these intervals show.",
            f"All else as in the preset thesis: {json.dumps(asdict(self.scale))}.",
        ]
        return Report("What each defect costs", ["defect", "against none", "against random"], rows, notes, {}, "")


def told(found: Estimate) -> str:
    """`+120 (+80 to +160)`."""
    return f"{found.mean:+.0f} ({found.low:+.0f} to {found.high:+.0f})"
