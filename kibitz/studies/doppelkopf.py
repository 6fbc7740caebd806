"""Tables 6 and 7 and figure 4 of Obenaus' thesis (2017): how well a network foretells the next card of Doppelkopf.

Its half million games of people aren't public: ours are games of search players, so that the numbers stand beside the
thesis' but aren't measured on the same games. All lies in one folder, so that parts share their training.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..arena.statistics import Estimate, interval
from ..games import full_name, load
from ..games.doppelkopf.prediction import foresee
from ..learn.doppelkopf_games import is_validation
from ..learn.models import network_file
from ..learn.next_card import CARDS, lines_of, read_network
from ..learn.next_card_method import VALUES, data_of
from ..learn.training import configured, new_run, train
from ..names import BadInput, choose
from ..runs import Run
from .report import Report

RULES = "doppelkopf:thesis"
TABLE_6 = {"thesis": 45.9, "thesis-128": 44.9, "thesis-256": 50.0}  # percent
TABLE_7 = {"random": 28.8, "LSTM": 47.4, "human": 47.6}
LONGER = 7  # times the passes of table 6: the network of table 7 learned for 60 epochs more
DEALS = 20  # a card, for the random guess
PARTS = {
    "table-6": "networks of 64, 128 and 256 nodes",
    "table-7": "random, the network, a human",
    "figure-4": "the same by trick",
}


@dataclass(frozen=True)
class Scale:
    passes: float  # share of the thesis'
    judged: int  # games
    what: str


SCALES = {
    "quick": Scale(0.1, 200, "a tenth of the thesis' passes over the games, 4 x 200 games judged"),
    "paper": Scale(1.0, 500, "the thesis' sizes: 5 and 10 passes, 70 for table 7, 4 x 500 games judged"),
}


class Judged(NamedTuple):
    """Shares of right guesses, [games, 4 seats, 48 cards], of a random guess and of the network."""

    random: np.ndarray
    hits: np.ndarray
    legal: np.ndarray  # whether the network's likeliest character was a card that can be
    own: np.ndarray  # whether the card is of the seat that guesses


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
    ) -> None:
        self.part = choose("part of doppelkopf", part, PARTS)
        self.data, self.scale, self.folder = data, SCALES[choose("scale", scale, SCALES)], folder
        self.seed, self.device, self.watch = seed, device, watch
        self._config("thesis", 1)

    def run(self) -> Report:
        self.folder.mkdir(parents=True, exist_ok=True)
        return getattr(self, f"_{self.part.replace('-', '_')}")()

    # ------------------------------------------------------------ training

    def passes(self, preset: str) -> int:
        return max(1, round(VALUES[preset]["iterations"] * self.scale.passes))

    def _config(self, preset: str, passes: int) -> Any:
        given = {"data": str(self.data), "iterations": passes, "judged": self.scale.judged, "seed": self.seed}
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
        train(run, watch=lambda passed: self.watch(f"learning {preset}, steps", passed.steps, passed.total))
        return run

    # ------------------------------------------------------------ foretelling

    def judged(self, run: Run) -> Judged:
        from ..learn.next_card_training import as_lstm, foretell  # torch takes longer to import than many a command

        config = self._config("thesis", 1)
        games, game = data_of(config), load(RULES)
        apart = games.take(np.flatnonzero(is_validation(games, config.validation))[: config.judged])
        self.watch("foretelling, games", 0, len(apart))
        seen = foresee(game, apart.actions, apart.lengths, DEALS, self.seed)
        lines = lines_of(apart)
        module = as_lstm(read_network(network_file(str(run.folder)))[0])
        found = foretell(module, lines, seen.can_be.reshape(-1, 48))
        shape = seen.can_be.shape
        hits = (found.cards == lines[:, CARDS]).reshape(shape)
        return Judged(seen.random, hits, found.legal.reshape(shape), apart.own)

    # ------------------------------------------------------------ parts

    def _table_6(self) -> Report:
        rows = []
        for preset, theirs in TABLE_6.items():
            passes, numbers = self.passes(preset), VALUES[preset]
            run = self.trained(preset, passes)
            line = next(line for line in run.lines() if line["iteration"] == passes)
            sizes = f"2 x {numbers['nodes']}, batch {numbers['batch']}, {passes} passes"
            rows.append([sizes, f"{100 * line['accuracy']:.1f}%", f"{theirs}%", f"{line['loss_of_validation']:.4f}"])
        heads = ["LSTM", "foretold", "thesis", "loss"]
        return Report("Table 6: networks that foretell the next card", heads, rows, self._notes(), {}, "")

    def _table_7(self) -> Report:
        judged = self.judged(self.trained("thesis", LONGER * self.passes("thesis")))
        everything = np.ones_like(judged.own)
        rows = []
        for name, right, theirs in (("random", judged.random, "random"), ("LSTM, 2 x 64", judged.hits, "LSTM")):
            parts = [percent(right, which, self.seed) for which in (everything, judged.own, ~judged.own)]
            rows.append([name, *parts, f"{TABLE_7[theirs]}%"])
        rows.append(["a human, 12 games", "", "", "", f"{TABLE_7['human']}%"])
        legal = [f"{100 * judged.legal[which].mean():.1f}%" for which in (everything, judged.own, ~judged.own)]
        rows.append(["LSTM: its likeliest is legal", *legal, ""])
        heads = ["who guesses", "foretold", "of its own cards", "of the others'", "thesis"]
        return Report("Table 7: who foretells the next card", heads, rows, self._notes(), {}, "")

    def _figure_4(self) -> Report:
        judged = self.judged(self.trained("thesis", LONGER * self.passes("thesis")))
        tricks = [each.reshape(-1, 12, 4) for each in (judged.random, judged.hits)]
        random, hits = (100 * each.mean(axis=(0, 2)) for each in tricks)
        rows = [[str(i + 1), f"{random[i]:.1f}%", f"{hits[i]:.1f}%"] for i in range(12)]
        curves = {
            name: [(i + 1.0, float(each[i])) for i in range(12)] for name, each in (("random", random), ("LSTM", hits))
        }
        title = "Figure 4: cards that were foretold, by trick"
        return Report(title, ["trick", "random", "LSTM, 2 x 64"], rows, self._notes(), curves, "percent", over="trick")

    def _notes(self) -> list[str]:
        games = data_of(self._config("thesis", 1))
        players = f"{len(games):,} games of {full_name(load(RULES))} in {self.data}"
        return [
            f"Learned from {players}, not from games of people; deals that were judged weren't learned from.",
            "A card can be foretold if a deal fits the seat's hand and all that was played, in which it may be played.",
            f"Random: one of these deals, evenly, then a card, evenly; by {DEALS} deals a card.",
        ]


def percent(right: np.ndarray, which: np.ndarray, seed: int) -> str:
    """`47.4% (46.9 to 47.9)`, bootstrapped over games."""
    counts = which.sum(axis=(1, 2)).astype(float)
    found: Estimate = interval((right * which).sum(axis=(1, 2)).astype(float), counts, seed)
    return f"{100 * found.mean:.1f}% ({100 * found.low:.1f} to {100 * found.high:.1f})"
