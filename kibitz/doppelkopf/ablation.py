"""The contribution of each component of `doko`: the player with one component switched off, against ensemble UCT.

Time per card is measured beside it, on the same machine in the same run: strength at equal time is what counts, and a
component that costs more than it gains should be off.

Components are chosen by this table, so its deals are none of those that the strength of the chosen player is measured
on: the seed of its matches is a million above the study's.
"""

import time
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from ..core.names import LARGEST, Interval
from ..games import load, view_of
from ..play.play import recorded_games
from ..play.players import make_for
from ..reproduce.report import Report, points
from ..reproduce.study import DealResults, Study, study

UCT = "ensemble-uct:10x1000"
GAMES = {"ablation": "doppelkopf:thesis", "whole": "doppelkopf"}
PARTS = {
    "ablation": "one component switched off at a time, in the game of the thesis",
    "whole": "the full game, with solos and announcements",
}
# Label -> name of the folder, options after the network.
VARIANTS = {
    "doko": ("doko", ""),
    "uniform determinizations": ("deals-all-alike", ",determinization=uniform"),
    "no policy prior": ("only-what-the-deals-say", ",prior_weight=0"),
    "no early elimination of cards": ("no-card-left-out-early", ",confidence=1000"),
    "value network after 12 cards": ("judged-by-the-network-after-12-cards", ",value=network"),
    "endings solved": ("endings-solved", ",exact=10000"),
    "trees of 60 on half as many worlds": ("trees-of-60-on-half-as-many-deals", ",tree_simulations=60"),
}
WHOLE = {"doko": ("doko", ""), "announcements in the tree": ("announcements-tried-as-cards-are", ",announcements=tree")}
SAME_OPPONENTS = "opponents modelled as itself", "the-others-taken-for-itself"
POLICY = "policy network alone", "the-small-network-alone"
TIMED = 3  # games
APART = 10**6  # from the study's seed to that of its matches


@dataclass(frozen=True)
class Scale:
    deals: int  # each from four seats
    what: str


SCALES = {
    "quick": Scale(10, "40 games per row"),
    "half": Scale(250, "1,000 games per row"),
    "paper": Scale(1000, "4,000 games per row"),
}


@study("doko")
@dataclass(kw_only=True)
class DokoStudy(Study):
    """The contribution of each component of doko, against three ensemble-uct:10x1000, and its time per card.

    The same command resumes an interrupted study.

    Example: kibitz study doko whole --net models/doppelkopf --scale half
    """

    net: Annotated[str, "Networks of kibitz train cards or exit-rollouts: a run folder, or a file."]
    worlds: Annotated[int, "Number of determinizations per card.", Interval(1, 1e6)] = 100
    others: Annotated[str, "Networks that model the other players: a run folder, or a file."] = ""

    parts, scales = PARTS, SCALES

    def __post_init__(self) -> None:
        super().__post_init__()
        self.game = GAMES[self.part]
        for player, _ in self.players().values():  # refused before anything is written
            make_for(player, load(self.game))

    def players(self) -> dict[str, tuple[str, str]]:
        """Label -> player, name of the folder of its match."""
        found, whole = {}, self.part == "whole"
        for label, (folder, options) in (WHOLE if whole else VARIANTS).items():
            worlds = max(1, self.worlds // 2) if ",tree_simulations=" in options else self.worlds
            found[label] = f"doko:{self.net},simulations={worlds}{options}", folder
        if self.others:
            same = found["doko"][0]
            found = {label: (f"{player},others={self.others}", folder) for label, (player, folder) in found.items()}
            found[SAME_OPPONENTS[0]] = same, SAME_OPPONENTS[1]
        if not whole:
            found[POLICY[0]] = f"cards:{self.net},part=policy", POLICY[1]
        return found

    @property
    def match_seed(self) -> int:
        return (self.seed + APART) % LARGEST

    def report_ablation(self) -> Report:
        players = self.players()
        milliseconds = self.times({label: player for label, (player, _) in players.items()} | {UCT: UCT})
        rows: list[list[str]] = []
        first: DealResults | None = None
        for label, (player, folder) in players.items():
            found = self.one_against_others(f"{self.part}-{folder}", self.game, player, UCT, self.sizes.deals)
            difference = points(found.difference(first)) if first else ""
            first = first or found
            rows.append([label, *found.row(), difference, *(f"{each:.1f}" for each in milliseconds[label])])
        notes = [
            f"Against three `{UCT}`, which takes {milliseconds[UCT][0]:.1f} ms per card here. doko is "
            f"`{players['doko'][0]}`.",
            f"95% intervals over deals (seed {self.match_seed:,}, none of the deals of a match with seed {self.seed}); "
            "the difference from doko is on the same deals.",
        ]
        heads = ["player", "points per game", "games", "difference from doko", "ms per card", "maximum"]
        return Report(f"doko in {self.game}: {PARTS[self.part]}", heads, rows, notes)

    report_whole = report_ablation

    def times(self, players: dict[str, str]) -> dict[str, tuple[float, float]]:
        """Milliseconds per card, the mean over some games of the heuristic player; and the maximum of any decision."""
        game = load(self.game)
        play = recorded_games(self.game, ["heuristic"] * 4, self.seed)
        views = []
        for record in map(play, range(TIMED)):
            for state, action in record.replay():
                if action is not None and game.turn(state) >= 0:
                    views.append((game.turn(state), view_of(game, state, game.turn(state))))
        is_card = [not game.is_announcement(view) for _, view in views]
        found = {}
        for done, (label, text) in enumerate(players.items()):
            self.report.progress(done, len(players), "time per card, players")
            player = make_for(text, game)
            taken = []
            for seat, view in [*views[: len(views) // TIMED], *views]:  # the first game compiles the kernels
                player.begin(game, seat, 1)
                began = time.perf_counter()
                player.move(view)
                taken.append(1000 * (time.perf_counter() - began))
            counted = np.array(taken[-len(views) :])
            found[label] = float(counted[is_card].mean()), float(counted.max())
        return found
