"""What each part of `doko` brings: the player, and the same with one part switched off, against UCT on guesses.

How long a card takes is measured beside it, on the same machine in the same run: strength at the same time is what
counts, and a part that costs more than it brings should be off.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..arena.play import recorded_games
from ..core.names import choose
from ..games import load, view_of
from ..players import make_for
from .matches import Played, against_others, told
from .report import Report

UCT = "ensemble-uct:10x1000"
GAMES = {"thesis": "doppelkopf:thesis", "whole": "doppelkopf"}
PARTS = {
    "ablation": "each part switched off, in the game of the thesis",
    "whole": "in the whole game, with solos and announcements",
}
VARIANTS = {  # name -> what follows the network
    "doko": "",
    "deals all alike": ",deals=even",
    "only what the deals say": ",prior=0",
    "no card left out early": ",doubt=1000",
    "judged by the network after 12 cards": ",value=open",
    "endings solved": ",exact=10000",
    "trees of 60 on half as many deals": ",tree=60",
}
WHOLE = {"doko": "", "announcements tried as cards are": ",calls=tree"}  # the same in the whole game
TIMED = 3  # games


@dataclass(frozen=True)
class Scale:
    deals: int  # each from four seats
    what: str


SCALES = {
    "quick": Scale(10, "40 games a line"),
    "half": Scale(250, "1,000 games a line"),
    "paper": Scale(1000, "4,000 games a line"),
}


class Study:
    def __init__(
        self,
        part: str,
        network: str,
        scale: str,
        folder: Path,
        worlds: int = 100,
        seed: int = 1,
        processes: int | None = None,
        watch: Callable[[str, float, float], None] = lambda what, done, total: None,
        tell: Callable[[str], None] = lambda text: None,
        others: str = "",
    ) -> None:
        """`others`: networks that learned how the others play."""
        self.part, self.scale = choose("part of doko", part, PARTS), SCALES[choose("scale", scale, SCALES)]
        self.network, self.folder, self.worlds, self.seed = network, folder, worlds, seed
        self.processes, self.watch, self.tell, self.others = processes, watch, tell, others
        self.game = GAMES["whole" if part == "whole" else "thesis"]
        for player in self.players().values():
            make_for(player, load(self.game))

    def players(self) -> dict[str, str]:
        found, whole = {}, self.part == "whole"
        for name, options in (WHOLE if whole else VARIANTS).items():
            worlds = max(1, self.worlds // 2) if ",tree=" in options else self.worlds
            found[name] = f"doko:{self.network},simulations={worlds}{options}"
        if self.others:
            alike = {"the others taken for itself": found["doko"]}
            found = {name: f"{player},others={self.others}" for name, player in found.items()} | alike
        return found if whole else found | {"the small network alone": f"cards:{self.network},part=quick"}

    def run(self) -> Report:
        self.folder.mkdir(parents=True, exist_ok=True)
        milliseconds = self.times(self.players() | {UCT: UCT})
        rows: list[list[str]] = []
        first: Played | None = None
        for name, player in self.players().items():
            place = self.folder / f"{self.part}-{name.replace(' ', '-')}"
            found = against_others(
                place, self.game, player, UCT, self.scale.deals, self.seed, self.processes, self.watch, self.tell
            )
            beside = told(found.beside(first, self.seed)) if first else ""
            first = first or found
            rows.append([name, *found.row(), beside, *(f"{each:.1f}" for each in milliseconds[name])])
        notes = [
            f"Against three `{UCT}`, which takes {milliseconds[UCT][0]:.1f} ms a card here. doko is "
            f"`{self.players()['doko']}`.",
            "95% intervals bootstrapped over deals; beside doko: on the same deals.",
        ]
        heads = ["who", "points a game", "games", "beside doko", "ms a card", "at most"]
        return Report(f"doko in {self.game}: {PARTS[self.part]}", heads, rows, notes, {}, "")

    def times(self, players: dict[str, str]) -> dict[str, tuple[float, float]]:
        """Milliseconds for a card, the mean of some games by rules of thumb; and for any decision, at most."""
        game = load(self.game)
        play = recorded_games(self.game, ["heuristic"] * 4, self.seed)
        views = []
        for record in map(play, range(TIMED)):
            for state, action in record.replay():
                if action is not None and game.turn(state) >= 0:
                    views.append((game.turn(state), view_of(game, state, game.turn(state))))
        is_card = [not game.is_announcement(view) for _, view in views]
        found = {}
        for at, (name, text) in enumerate(players.items()):
            self.watch("how long a card takes, players", at, len(players))
            player = make_for(text, game)
            taken = []
            for seat, view in [*views[: len(views) // TIMED], *views]:  # in the first game kernels are compiled
                player.begin(game, seat, 1)
                began = time.perf_counter()
                player.move(view)
                taken.append(1000 * (time.perf_counter() - began))
            counted = np.array(taken[-len(views) :])
            found[name] = float(counted[is_card].mean()), float(counted.max())
        return found
