"""The base class of all searches, and their registry.

A search is one class in one file. `@search("name")` makes it a player (`name:1000`), and `kibitz compile` and the
contract tests find it there too. Its options are the parameters of its constructor that are `Annotated`.
"""

import functools
import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from ..core.names import checked
from ..core.progress import SILENT, Reporter
from ..core.registry import Registry
from ..games import Game, legal_actions
from ..jit import generators
from .advice import Advice, fixed_advice
from .announcements import Announcements
from .budget import TIMED_SIMULATIONS, Clock, chunks, never

SEARCHES = Registry("search", "kibitz.search")
search = SEARCHES
FIRST_SECONDS = 0.05  # after which growing advice is given for the first time
FIRST_SIMULATIONS = 64  # the same for a search that is repeated, where its budget is simulations


class Search:
    """A search of one game: `begin(seed)` once per game, `advise(view, seat, simulations)` once per move.

    A subclass refuses games that it can't search in its constructor (BadInput) and implements `target`, `run` and
    `advice`; or `_advise`, if it spends its budget in another way. It sees views only, so it can't peek.
    """

    # How a player's name gives the budget: "simulations" (`oos:1000`, `oos:seconds=1`), "worlds" (determinizations
    # times simulations, `ensemble-uct:10x1000`), "depth" (`alphabeta:5`, `alphabeta:seconds=1`), or "none".
    budget: ClassVar[str] = "simulations"
    # Where a player gets the constructor's parameter `policy` from: "playouts" (random, or the game's heuristic),
    # "network" or "patterns" (from a file, which `kibitz.play.players.search` loads), or "" (there is no such
    # parameter); "evaluation": it has a parameter of that name instead.
    policy_from: ClassVar[str] = ""
    keeps_tree: ClassVar[bool] = False  # from move to move; then it simulates even where only one move is legal
    timed_simulations: int = TIMED_SIMULATIONS  # between two looks at the clock, at most
    deterministic: ClassVar[bool] = False  # advice is the same for all seeds
    presets: ClassVar[dict[str, dict[str, Any]]] = {}  # name -> options: `ensemble-uct:thesis`
    plays: ClassVar[str] = "any game"  # which games it searches, in words

    def __init_subclass__(cls) -> None:
        """Let the constructor refuse values outside the domains of its parameters."""
        super().__init_subclass__()
        if "__init__" in vars(cls):
            cls.__init__ = checked(cls.__init__)  # type: ignore[method-assign]

    def __init__(self, game: Game, seed: int = 1, announcements: Announcements | None = None) -> None:
        """
        Args:
            game: The game that is played.
            seed: The same seed gives the same advice.
            announcements: Chooses announcements, so that the search sees the game without them (`self.played`).
        """
        self.game, self.announcements = game, announcements
        self.played = game.without_announcements() if announcements else game
        self.rng = generators(seed, 1)[0]
        self.clock = Clock()  # time spent searching the present view, without the compilation of kernels
        self.stopped: Callable[[], bool] = never  # whether `run` may end early, as the search is stopped or time is up

    def begin(self, seed: int) -> None:
        """Start a new game: forget everything, and restart the random numbers."""
        self.rng = generators(seed, 1)[0]

    def advise(
        self, view: Any, seat: int, simulations: int = 0, seconds: float = math.inf, report: Reporter = SILENT
    ) -> Advice:
        """Search a view of the seat to move until the simulations (0: no limit) or the seconds are used up.

        At least one simulation is done. The seconds don't include the compilation of kernels. A search that keeps no
        tree answers a single legal move at once. The report may stop it.
        """
        self.clock.restart()
        if not self.keeps_tree and len(legal_actions(self.game, view)) == 1:
            return fixed_advice(self.game, view, np.ones(1))
        if self.announcements and self.game.is_announcement(view):
            return self.announcements.advise(view, seat, self.rng)
        advice = self._advise(view, seat, simulations, seconds, report)
        return replace(advice, seconds=self.clock.seconds)

    def growing(self, view: Any, seat: int, simulations: int = 0, seconds: float = math.inf) -> Iterator[Advice]:
        """Search as `advise` does, and yield advice while the search thinks, each on about twice the time of the last.

        The last advice is that of the whole budget: with a budget of simulations, exactly what `advise` returns, but
        for `puct` with a network, whose simulations wait for each other before each advice. A search that implements
        `_advise` can't be asked on the way, so it is repeated with doubled budgets.
        """
        announcing = self.announcements is not None and self.game.is_announcement(view)
        forced = not self.keeps_tree and len(legal_actions(self.game, view)) == 1
        if self.budget == "none" or announcing or forced:
            yield self.advise(view, seat, simulations, seconds)
        elif type(self)._advise is Search._advise:
            yield from self._continued(view, seat, simulations, seconds)
        else:
            yield from self._repeated(view, seat, simulations, seconds)

    def _continued(self, view: Any, seat: int, simulations: int, seconds: float) -> Iterator[Advice]:
        """Yield advice of one search that goes on."""
        self.target(view, seat)
        self.refuse_beyond_memory(simulations)
        done, due = 0, FIRST_SECONDS
        for chunk in chunks(simulations, seconds, clock=self.clock, small=True, timed=self.timed_simulations):
            if done > 1 and self.clock.seconds >= due:
                advice = replace(self.advice(view, done), seconds=self.clock.seconds)
                with self.clock.stopped():
                    yield advice
                due = 2 * self.clock.seconds
            self.refuse_beyond_memory(chunk)
            done += self.run(chunk)
            if self.finished:
                break
        yield replace(self.advice(view, done), seconds=self.clock.seconds)

    def _repeated(self, view: Any, seat: int, simulations: int, seconds: float) -> Iterator[Advice]:
        """Yield the advice of searches from the same random numbers, each with twice the budget of the one before."""
        before, timed = self.rng.copy(), seconds < math.inf
        budget, spent = FIRST_SECONDS if timed else FIRST_SIMULATIONS, -1
        while budget < (seconds if timed else simulations):
            advice = self.advise(view, seat, simulations if timed else int(budget), budget if timed else math.inf)
            if advice.simulations == spent:  # all worlds are solved: more of the budget changes nothing
                return
            yield advice
            spent = advice.simulations
            self.rng[:] = before
            budget *= 2
        yield self.advise(view, seat, simulations, seconds)

    def _advise(self, view: Any, seat: int, simulations: int, seconds: float, report: Reporter) -> Advice:
        self.target(view, seat)
        self.refuse_beyond_memory(simulations)
        done = 0
        self.stopped = never
        for chunk in chunks(simulations, seconds, report, self.clock, timed=self.timed_simulations):
            self.refuse_beyond_memory(chunk)
            done += self.run(chunk)
            self.stopped = lambda: report.stopped or self.clock.seconds > seconds
            report.advice(functools.partial(self.advice, view, done))
            if self.finished:
                break
        self.stopped = never
        return self.advice(view, done)

    def target(self, view: Any, seat: int) -> None:
        """Make a view of the seat to move the one that `run` searches."""
        raise NotImplementedError

    def run(self, simulations: int) -> int:
        """Do simulations; return how many, which is fewer only where the search has finished or is `stopped`."""
        raise NotImplementedError

    def advice(self, view: Any, simulations: int, seconds: float = 0.0) -> Advice:
        """The advice for the view; `simulations` is the number that was done for it."""
        raise NotImplementedError

    @property
    def finished(self) -> bool:
        """Whether more simulations would change nothing."""
        return False

    @property
    def note(self) -> str:
        """What a user should know about the last search, such as a tree that was full; mostly nothing."""
        return ""

    def refuse_beyond_memory(self, simulations: int) -> None:
        """Raise BadInput where this number of further simulations may not fit into memory."""

    @classmethod
    def precompile(cls, game: Game, view: Any, seat: int) -> None:
        """Compile all kernels of the search for a game, by the smallest task that there is."""
        cls(game).advise(view, seat, 1)
