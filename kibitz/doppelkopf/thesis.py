"""Tables 6 to 9 and figure 4 of Obenaus' thesis (2017): an LSTM that predicts the next card of Doppelkopf.

The half million human games of the thesis aren't public. Ours are games of search players, so the numbers beside the
thesis' are not measured on the same games.
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np

from ..core.names import Interval
from ..core.runs import Run
from ..games import full_name, load
from ..nets.model_files import network_file
from ..play.statistics import Estimate, interval
from ..reproduce.report import Report
from ..reproduce.study import Study, study
from ..search.ismcts import THESIS_C
from ..train.trainer import configured
from .learn.lstm import read_lstm
from .learn.next_card import PRESETS, data_of
from .learn.predictors import most_likely, predictor_of
from .learn.recorded_games import is_validation
from .rules.next_card import possible_next_cards

RULES = "doppelkopf:thesis"
TABLE_6 = {"thesis": 45.9, "thesis-128": 44.9, "thesis-256": 50.0}  # percent
TABLE_7 = {"random": 28.8, "LSTM": 47.4, "human": 47.6}
TABLE_8 = {  # points per game of the first against three of the second
    ("LSTM", "random"): "+1.05 ± 0.13",
    ("UCT", "random"): "+1.70 ± 0.12",
    ("LSTM", "UCT"): "-0.36 ± 0.13",
}
TABLE_9 = "+0.04 ± 0.24"
BIDDING = "doppelkopf:solos=no,calls=1,charlie_caught=yes,against=no"  # RULES with announcements
LONGER = 7  # times the epochs of table 6: the network of table 7 was trained for 60 epochs more
WORLDS = 20  # per card, for the random prediction
PARTS = {
    "table-6": "accuracy of networks of 64, 128 and 256 nodes",
    "table-7": "accuracy of a random prediction, the network and a human",
    "figure-4": "accuracy by trick",
    "table-8": "the network, UCT and random players against each other",
    "table-9": "UCT with the network against UCT",
}


@dataclass(frozen=True)
class Scale:
    epochs: float  # as a share of the thesis'
    validation_games: int
    deals: int  # per match, each from four seats
    rollouts: int  # of each of UCT's ten trees
    what: str


SCALES = {
    "quick": Scale(0.1, 200, 25, 100, "a tenth of the thesis' epochs, 4 x 200 games predicted, 4 x 25 played"),
    "half": Scale(0.5, 500, 250, 1000, "half of its epochs, 4 x 500 games predicted, 4 x 250 played"),
    "paper": Scale(
        1.0, 500, 1000, 1000,
        "the thesis' sizes: 5 and 10 epochs, 70 from table 7 on, 4 x 500 games predicted, 4 x 1000 played",
    ),
}  # fmt: skip
LSTM = "LSTM, 2 x 64"
INTERVALS = "95% intervals over deals; the thesis' are 42% too wide, and over games."


class Predictions(NamedTuple):
    """Arrays are [games, 4 seats, 48 cards]."""

    own: np.ndarray  # bool: whether the seat that predicts plays the card itself
    correct: dict[str, np.ndarray]  # predictor -> share of correct predictions; the first is random
    legal: dict[str, np.ndarray]  # network -> whether its likeliest output was a card that is possible


@study("doppelkopf")
@dataclass(kw_only=True)
class DoppelkopfThesis(Study):
    """Reproduce a table or figure of Obenaus' thesis on Doppelkopf: trains, predicts, plays, writes Markdown.

    The same command resumes an interrupted study. All parts share their training.

    Example: kibitz study doppelkopf table-7 --data runs/doppelkopf-record-001 --scale quick

    Example: kibitz study doppelkopf table-9 --data runs/doppelkopf-record-001 --scale half --processes 8

    Example: kibitz study doppelkopf figure-4 --data runs/uct-games --net runs/study-doppelkopf-paper/thesis-256-1
    """

    data: Annotated[Path, "Games of doppelkopf:thesis to learn from, as made by kibitz record."]
    also: Annotated[
        list[Path], "Run of another network to evaluate in table-6, table-7 and figure-4; may be repeated."
    ] = field(default_factory=list)
    net: Annotated[
        Path | None,
        "Run of next-card to use from table-7 on; default: one trained for seven times the epochs of table-6.",
    ] = None
    deals: Annotated[
        int | None, "Number of deals per match, each from four seats; default by the scale.", Interval(1, 1e6)
    ] = None
    device: Annotated[str, "Torch device: auto, cpu or cuda."] = "auto"

    parts, scales = PARTS, SCALES

    def __post_init__(self) -> None:
        super().__post_init__()
        self.validation = self.config().validation
        self.predictors = {folder.name: predictor_of(Run(folder), self.validation) for folder in self.also}
        self.lstm = LSTM
        if self.net is not None:
            nodes = read_lstm(network_file(str(self.net)))[1].sizes[1:-1]
            self.lstm = f"LSTM, {len(nodes)} x {nodes[0]}"

    def scale_text(self) -> str:
        return super().scale_text() + (f"; but 4 x {self.deals} played" if self.deals else "")

    # ------------------------------------------------------------ training

    def epochs(self, preset: str) -> int:
        return max(1, round(PRESETS[preset]["iterations"] * self.sizes.epochs))

    def given(self, epochs: int) -> dict[str, Any]:
        given = {
            "data": str(self.data),
            "iterations": epochs,
            "evaluation_games": self.sizes.validation_games,
            "seed": self.seed,
        }
        return given | {"device": self.device}

    def config(self) -> Any:
        """A configuration that names the data and its split."""
        return configured("next-card", RULES, "thesis", self.given(1))

    def trained(self, preset: str, epochs: int) -> Run:
        """A run that was trained for this number of epochs, or more."""
        name = f"{preset}-{self.seed}"
        return self.train(self.training(name, "next-card", RULES, preset, self.given(epochs), extend=True))

    def is_trained(self, run: Run) -> bool:
        """Whether its network is that of the last epoch; checkpoints aren't needed for that."""
        file = run.path("network.safetensors")
        return file.exists() and read_lstm(file)[1].made.endswith(f", iteration {run.config()['iterations']}")

    def longest(self) -> Run:
        return Run(self.net) if self.net else self.trained("thesis", LONGER * self.epochs("thesis"))

    # ------------------------------------------------------------ predicting

    def predictions(self, networks: dict[str, Run]) -> Predictions:
        """Predictions by these networks and those of `also`, on deals that none of them was trained on."""
        config, game = self.config(), load(RULES)
        games = data_of(config)
        apart = games.take(np.flatnonzero(is_validation(games, config.validation))[: config.evaluation_games])
        self.report.progress(0, len(apart), "predicting, games")
        cards = possible_next_cards(game, apart.actions, apart.lengths, WORLDS, self.seed)
        predictors = {name: predictor_of(run, config.validation) for name, run in networks.items()} | self.predictors
        found = {name: most_likely(each.predict(apart), cards.possible) for name, each in predictors.items()}
        correct = {name: each.cards == apart.played[:, None] for name, each in found.items()}
        legal = {name: each.legal for name, each in found.items()}
        return Predictions(apart.own, {"random": cards.random_accuracy} | correct, legal)

    def notes(self) -> list[str]:
        games = len(data_of(self.config()))
        return [
            f"Trained on {games:,} games of {full_name(load(RULES))} in {self.data}, not on human games; validation "
            "deals weren't trained on.",
            "A card is possible if some deal fits the seat's hand and all cards played, in which it may be played.",
            f"Random: one of these deals, uniformly, then a card, uniformly; estimated by {WORLDS} deals per card.",
        ]

    # ------------------------------------------------------------ parts

    def report_table_6(self) -> Report:
        rows = []
        for preset, theirs in TABLE_6.items():
            epochs, numbers = self.epochs(preset), PRESETS[preset]
            run = self.trained(preset, epochs)
            line = next(line for line in run.read_lines() if line["iteration"] == epochs)
            sizes = f"2 x {numbers['nodes']}, batch {numbers['batch_size']}, {epochs} epochs"
            rows.append([sizes, f"{100 * line['accuracy']:.1f}%", f"{theirs}%", f"{line['loss_of_validation']:.4f}"])
        if self.also:
            correct = self.predictions({}).correct
            rows += [[name, f"{100 * correct[name].mean():.1f}%", "", ""] for name in self.predictors]
        heads = ["LSTM", "accuracy", "thesis", "loss"]
        return Report("Table 6: networks that predict the next card", heads, rows, self.notes())

    def report_table_7(self) -> Report:
        found = self.predictions({self.lstm: self.longest()})
        subsets = (np.ones_like(found.own), found.own, ~found.own)
        theirs = {"random": f"{TABLE_7['random']}%", self.lstm: f"{TABLE_7['LSTM']}%"}
        rows = [
            [name, *(percent(correct, which) for which in subsets), theirs.get(name, "")]
            for name, correct in found.correct.items()
        ]
        rows.append(["a human, 12 games", "", "", "", f"{TABLE_7['human']}%"])
        rows += [
            [f"{name}: its likeliest is possible", *(f"{100 * legal[which].mean():.1f}%" for which in subsets), ""]
            for name, legal in found.legal.items()
        ]
        heads = ["predictor", "accuracy", "own cards", "others' cards", "thesis"]
        return Report("Table 7: accuracy of predicting the next card", heads, rows, self.notes())

    def report_figure_4(self) -> Report:
        found = self.predictions({self.lstm: self.longest()})
        by_trick = {name: 100 * each.reshape(-1, 12, 4).mean(axis=(0, 2)) for name, each in found.correct.items()}
        rows = [[str(i + 1), *(f"{each[i]:.1f}%" for each in by_trick.values())] for i in range(12)]
        curves = {name: [(i + 1.0, float(each[i])) for i in range(12)] for name, each in by_trick.items()}
        title, heads = "Figure 4: accuracy by trick", ["trick", *by_trick]
        return Report(title, heads, rows, self.notes(), curves, y_label="percent", x_label="trick")

    def match_row(self, name: str, game: str, one: str, others: str) -> list[str]:
        """Points per game of one player against three others, and the number of games."""
        return self.one_against_others(name, game, one, others, self.deals or self.sizes.deals).row()

    def report_table_8(self) -> Report:
        uct = f"ensemble-uct:10x{self.sizes.rollouts},c={THESIS_C},exact=0,announcements=tree"
        players = {"LSTM": f"lstm:{self.longest().folder}", "UCT": uct, "random": "random"}
        rows = []
        for (one, two), theirs in TABLE_8.items():
            rows.append([one, two, *self.match_row(f"table-8-{one}-{two}", RULES, players[one], players[two]), theirs])
        notes = [
            f"UCT is `{uct}`: as published, ten trees, with announcements in the trees.",
            *self.notes()[:1],
            INTERVALS,
        ]
        heads = ["player", "against three", "points per game", "games", "thesis"]
        return Report("Table 8: the LSTM without search", heads, rows, notes)

    def report_table_9(self) -> Report:
        network, trees, rows = self.longest().folder, f"10x{self.sizes.rollouts}", []
        for what, name, game, calls, theirs in (
            ("announcements in the trees", "bidding", BIDDING, "tree", TABLE_9),
            ("announcements by the distribution of final scores", "calls", BIDDING, "distribution", ""),
            ("no announcements", "quiet", RULES, "tree", ""),
        ):
            guided = f"uct-lstm:{trees},net={network},exact=0,announcements={calls}"
            uct = f"ensemble-uct:{trees},c={THESIS_C},exact=0,announcements={calls}"
            rows.append([what, *self.match_row(f"table-9-{name}", game, guided, uct), theirs])
        notes = [
            f"`{guided}` against three `{uct}`; `calls` as in the rows.",
            "In the trees all cards are visible: both players announce too much there, which adds variance.",
            *self.notes()[:1],
            INTERVALS,
        ]
        heads = ["UCT+LSTM against UCT", "points per game", "games", "thesis"]
        return Report("Table 9: UCT with the LSTM", heads, rows, notes)


def percent(correct: np.ndarray, which: np.ndarray) -> str:
    """`47.4% (46.9 to 47.9)`, with its interval over games."""
    counts = which.sum(axis=(1, 2)).astype(float)
    found: Estimate = interval((correct * which).sum(axis=(1, 2)).astype(float), counts, bounds=(0, 1))
    return f"{100 * found.mean:.1f}% ({100 * found.low:.1f} to {100 * found.high:.1f})"
