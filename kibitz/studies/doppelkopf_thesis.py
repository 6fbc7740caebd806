"""Tables 6 to 9 and figure 4 of Obenaus' thesis (2017): a network that foretells the next card of Doppelkopf.

Its half million games of people aren't public: ours are games of search players, so that the numbers stand beside the
thesis' but aren't measured on the same games. All lies in one folder, so that parts share their training; whatever was
done already is not done again.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..arena.statistics import Estimate, interval
from ..core.names import BadInput, choose
from ..core.runs import Run
from ..games import full_name, load
from ..games.doppelkopf.prediction import foresee
from ..learn.doppelkopf.lstm import read_lstm
from ..learn.doppelkopf.next_card import PRESETS, data_of
from ..learn.doppelkopf.predictors import most_likely, predictor_of
from ..learn.doppelkopf.recorded_games import is_validation
from ..learn.model_files import network_file
from ..learn.trainer import configured, new_run, train
from ..search.ismcts import THESIS_C
from .matches import against_others
from .report import Report, Watcher

RULES = "doppelkopf:thesis"
TABLE_6 = {"thesis": 45.9, "thesis-128": 44.9, "thesis-256": 50.0}  # percent
TABLE_7 = {"random": 28.8, "LSTM": 47.4, "human": 47.6}
TABLE_8 = {  # points a game of the first against three of the second
    ("LSTM", "random"): "+1.05 ± 0.13",
    ("UCT", "random"): "+1.70 ± 0.12",
    ("LSTM", "UCT"): "-0.36 ± 0.13",
}
TABLE_9 = "+0.04 ± 0.24"
BIDDING = "doppelkopf:solos=no,calls=1,charlie_caught=yes,against=no"  # as RULES, with announcements
LONGER = 7  # times the passes of table 6: the network of table 7 learned for 60 epochs more
DEALS = 20  # a card, for the random guess
PARTS = {
    "table-6": "networks of 64, 128 and 256 nodes",
    "table-7": "random, the network, a human",
    "figure-4": "the same by trick",
    "table-8": "the network, UCT and random players against each other",
    "table-9": "UCT with the network against UCT",
}


@dataclass(frozen=True)
class Scale:
    passes: float  # share of the thesis'
    judged: int  # games
    deals: int  # of a match, each from four seats
    rollouts: int  # of each of UCT's ten trees
    what: str


SCALES = {
    "quick": Scale(
        0.1, 200, 25, 100, "a tenth of the thesis' passes over the games, 4 x 200 games judged, 4 x 25 played"
    ),
    "half": Scale(0.5, 500, 250, 1000, "half of its passes, 4 x 500 games judged, 4 x 250 played"),
    "paper": Scale(
        1.0,
        500,
        1000,
        1000,
        "the thesis' sizes: 5 and 10 passes, 70 from table 7 on, 4 x 500 games judged, 4 x 1000 played",
    ),
}
LSTM = "LSTM, 2 x 64"
INTERVALS = "95% intervals bootstrapped over deals; the thesis' are 42% too wide, and over games."


class Judged(NamedTuple):
    """Arrays are [games, 4 seats, 48 cards]."""

    own: np.ndarray  # whether the card is of the seat that guesses
    right: dict[str, np.ndarray]  # who guesses -> shares of right guesses; the first is random
    legal: dict[str, np.ndarray]  # network -> whether its likeliest character was a card that can be


class Study:
    def __init__(
        self,
        part: str,
        data: Path,
        scale: str,
        folder: Path,
        seed: int = 1,
        device: str = "auto",
        watch: Callable[[str, float, float], None] = lambda what, done, total: None,
        tell: Callable[[str], None] = lambda text: None,
        processes: int | None = None,
        also: Sequence[Path] = (),
        net: Path | None = None,
        deals: int | None = None,
    ) -> None:
        """`also`: runs of other networks, measured beside those of the thesis.

        `net`: a run of next-card that stands, from table 7 on, for the one that learned for 70 passes. `deals`: of a
        match, if not as many as the scale says.
        """
        self.part = choose("part of doppelkopf", part, PARTS)
        self.data, self.scale, self.folder = data, SCALES[choose("scale", scale, SCALES)], folder
        self.seed, self.device, self.watch, self.tell, self.processes = seed, device, watch, tell, processes
        config = self._config("thesis", 1)
        self.also = {folder.name: predictor_of(Run(folder), config.validation) for folder in also}
        self.net, self.deals, self.lstm = net, deals or self.scale.deals, LSTM
        if net is not None:
            nodes = read_lstm(network_file(str(net)))[1].sizes[1:-1]
            self.lstm = f"LSTM, {len(nodes)} x {nodes[0]}"

    def run(self) -> Report:
        self.folder.mkdir(parents=True, exist_ok=True)
        return getattr(self, f"_{self.part.replace('-', '_')}")()

    # ------------------------------------------------------------ training

    def passes(self, preset: str) -> int:
        return max(1, round(PRESETS[preset]["iterations"] * self.scale.passes))

    def _config(self, preset: str, passes: int) -> Any:
        given = {"data": str(self.data), "iterations": passes, "evaluation_games": self.scale.judged, "seed": self.seed}
        return configured("next-card", RULES, preset, given | {"device": self.device})

    def trained(self, preset: str, passes: int) -> Run:
        """A run that has learned for so many passes, or more."""
        config = {"command": "train", "method": "next-card", **vars(self._config(preset, passes))}
        folder = self.folder / f"{preset}-{self.seed}"
        if not (folder / "config.json").exists():
            run = new_run(folder, "next-card", self._config(preset, passes))
        else:
            run = Run(folder)
            there = run.config()
            passes = max(passes, int(there.get("iterations", 0)))
            if there | {"iterations": passes} != config | {"iterations": passes}:
                raise BadInput(f"{folder} holds another training: give another folder with --out")
            run = Run.create_or_resume(folder, "", there | {"iterations": passes}, may_grow=("iterations",))
        if not has_learned(run, passes):
            train(run, report=Watcher(lambda *at: self.watch(f"learning {preset}, steps", *at), self.tell))
        return run

    # ------------------------------------------------------------ foretelling

    def judged(self, networks: dict[str, Run]) -> Judged:
        """These and those named beside them, on deals that none of them learned from."""
        config, game = self._config("thesis", 1), load(RULES)
        games = data_of(config)
        apart = games.take(np.flatnonzero(is_validation(games, config.validation))[: config.evaluation_games])
        self.watch("foretelling, games", 0, len(apart))
        seen = possible_next_cards(game, apart.actions, apart.lengths, DEALS, self.seed)
        predictors = {name: predictor_of(run, config.validation) for name, run in networks.items()} | self.also
        found = {name: most_likely(each.predict(apart), seen.can_be) for name, each in predictors.items()}
        right = {name: each.cards == apart.played[:, None] for name, each in found.items()}
        right = {"random": seen.random_accuracy} | right
        return Judged(apart.own, right, {name: each.legal for name, each in found.items()})

    def _longest(self) -> Run:
        return Run(self.net) if self.net else self.trained("thesis", LONGER * self.passes("thesis"))

    # ------------------------------------------------------------ playing

    def _match(self, game: str, one: str, others: str, name: str) -> list[str]:
        """One against three, each deal from all four seats: points a game, and how many games."""
        return against_others(
            self.folder / name, game, one, others, self.deals, self.seed, self.processes, self.watch, self.tell
        ).row()

    # ------------------------------------------------------------ parts

    def _table_6(self) -> Report:
        rows = []
        for preset, theirs in TABLE_6.items():
            passes, numbers = self.passes(preset), PRESETS[preset]
            run = self.trained(preset, passes)
            line = next(line for line in run.lines() if line["iteration"] == passes)
            sizes = f"2 x {numbers['nodes']}, batch {numbers['batch_size']}, {passes} passes"
            rows.append([sizes, f"{100 * line['accuracy']:.1f}%", f"{theirs}%", f"{line['loss_of_validation']:.4f}"])
        if self.also:
            right = self.judged({}).right
            rows += [[name, f"{100 * right[name].mean():.1f}%", "", ""] for name in self.also]
        heads = ["LSTM", "foretold", "thesis", "loss"]
        return Report("Table 6: networks that foretell the next card", heads, rows, self._notes(), {}, "")

    def _table_7(self) -> Report:
        judged = self.judged({self.lstm: self._longest()})
        whose = (np.ones_like(judged.own), judged.own, ~judged.own)
        theirs = {"random": f"{TABLE_7['random']}%", self.lstm: f"{TABLE_7['LSTM']}%"}
        rows = [
            [name, *(percent(right, which, self.seed) for which in whose), theirs.get(name, "")]
            for name, right in judged.right.items()
        ]
        rows.append(["a human, 12 games", "", "", "", f"{TABLE_7['human']}%"])
        rows += [
            [f"{name}: its likeliest is legal", *(f"{100 * legal[which].mean():.1f}%" for which in whose), ""]
            for name, legal in judged.legal.items()
        ]
        heads = ["who guesses", "foretold", "of its own cards", "of the others'", "thesis"]
        return Report("Table 7: who foretells the next card", heads, rows, self._notes(), {}, "")

    def _figure_4(self) -> Report:
        judged = self.judged({self.lstm: self._longest()})
        by_trick = {name: 100 * right.reshape(-1, 12, 4).mean(axis=(0, 2)) for name, right in judged.right.items()}
        rows = [[str(i + 1), *(f"{each[i]:.1f}%" for each in by_trick.values())] for i in range(12)]
        curves = {name: [(i + 1.0, float(each[i])) for i in range(12)] for name, each in by_trick.items()}
        title = "Figure 4: cards that were foretold, by trick"
        return Report(title, ["trick", *by_trick], rows, self._notes(), curves, "percent", over="trick")

    def _table_8(self) -> Report:
        uct = f"ensemble-uct:10x{self.scale.rollouts},c={THESIS_C},exact=0,announcements=tree"
        players = {"LSTM": f"lstm:{self._longest().folder}", "UCT": uct, "random": "random"}
        rows = []
        for (one, two), theirs in TABLE_8.items():
            rows.append([one, two, *self._match(RULES, players[one], players[two], f"table-8-{one}-{two}"), theirs])
        notes = [
            f"UCT is `{uct}`: as published, ten trees, and what is said is part of them.",
            *self._notes()[:1],
            INTERVALS,
        ]
        heads = ["who", "against three", "points a game", "games", "thesis"]
        return Report("Table 8: the LSTM without search", heads, rows, notes, {}, "")

    def _table_9(self) -> Report:
        network, trees, rows = self._longest().folder, f"10x{self.scale.rollouts}", []
        for what, name, game, calls, theirs in (
            ("announcements in the trees", "bidding", BIDDING, "tree", TABLE_9),
            ("announcements by the scores that follow", "calls", BIDDING, "distribution", ""),
            ("no announcements", "quiet", RULES, "tree", ""),
        ):
            guided = f"uct-lstm:{trees},net={network},exact=0,announcements={calls}"
            uct = f"ensemble-uct:{trees},c={THESIS_C},exact=0,announcements={calls}"
            rows.append([what, *self._match(game, guided, uct, f"table-9-{name}"), theirs])
        notes = [
            f"`{guided}` against three `{uct}`; `calls` as the lines say.",
            "In the trees everybody sees all cards: both announce too much there, and scores vary the more.",
            *self._notes()[:1],
            INTERVALS,
        ]
        heads = ["UCT+LSTM against UCT", "points a game", "games", "thesis"]
        return Report("Table 9: UCT with the LSTM", heads, rows, notes, {}, "")

    def _notes(self) -> list[str]:
        games = data_of(self._config("thesis", 1))
        players = f"{len(games):,} games of {full_name(load(RULES))} in {self.data}"
        return [
            f"Learned from {players}, not from games of people; deals that were judged weren't learned from.",
            "A card can be foretold if a deal fits the seat's hand and all that was played, in which it may be played.",
            f"Random: one of these deals, evenly, then a card, evenly; by {DEALS} deals a card.",
        ]


def has_learned(run: Run, passes: int) -> bool:
    """Whether its network is that of its last pass; checkpoints aren't needed for that."""
    file = run.path("network.safetensors")
    return file.exists() and read_lstm(file)[1].made.endswith(f", iteration {passes}")


def percent(right: np.ndarray, which: np.ndarray, seed: int) -> str:
    """`47.4% (46.9 to 47.9)`, bootstrapped over games."""
    counts = which.sum(axis=(1, 2)).astype(float)
    found: Estimate = interval((right * which).sum(axis=(1, 2)).astype(float), counts, seed)
    return f"{100 * found.mean:.1f}% ({100 * found.low:.1f} to {100 * found.high:.1f})"
