"""Players that search: each gives its search the budget, and its name's other parameters."""

import math
from typing import Annotated, Any, NamedTuple

from ..core import names
from ..core.names import BadInput
from ..games import Game
from ..learn.mlp import compiled, read_layers
from ..learn.model_files import network_file
from ..learn.tspg.store import POLICIES, biased, features_for
from ..search.advice import Advice
from ..search.alphabeta import AlphaBeta
from ..search.announcements import Announcements
from ..search.ensemble_uct import EXACT, EnsembleUct
from ..search.ismcts import IsMcts, SingleUct
from ..search.oos import Oos
from ..search.policies import Heuristic
from ..search.puct import Puct
from ..search.uct import Uct
from .player import AdvisedPlayer, player, same


class Searching(AdvisedPlayer):
    """Gives its search the budget, and its name's other parameters."""

    name: str

    def __init__(self, options: Any) -> None:
        self.options = options
        self.search: Any = None
        names.at_least("simulations", options.simulations, 0)
        if not options.simulations and not options.seconds:
            raise BadInput(f"give simulations ({self.name}:10000) or seconds ({self.name}:seconds=1)")

    def begin(self, game: Game, seat: int, seed: int) -> None:
        super().begin(game, seat, seed)
        if self.search is None or not same(self.search.game, game):
            self.search = self.new_search(game)
        self.search.begin(int(self.generator.integers(2**63)))

    def advise(self, view: Any) -> Advice:
        seconds = self.options.seconds or math.inf
        return self.search.advise(view, self.seat, self.options.simulations, seconds)

    def new_search(self, game: Game) -> Any:
        raise NotImplementedError


@player("oos")
class OosPlayer(Searching):
    """Online Outcome Sampling: converges to equilibrium, and mixes its moves as one must."""

    name = "oos"

    class Options(NamedTuple):
        simulations: Annotated[int, "simulations a move; 0: no limit"] = 0
        seconds: Annotated[float, "time a move; 0: no limit"] = 0.0
        target: Annotated[str, "what simulations aim at; auto is what suits the game", ("auto", "pst", "ist")] = "auto"
        epsilon: Annotated[float, "exploration"] = 0.4
        delta: Annotated[float, "share of targeted simulations"] = 0.9
        gamma: Annotated[float, "mistakes mixed into strategies"] = 0.01
        linear: Annotated[bool, "whether later simulations count more in its average strategy"] = False
        net: Annotated[str, "a network for its playouts: a run folder, a file, models/NAME; none: at random"] = ""

    def __init__(self, options: Any) -> None:
        super().__init__(options)
        # All actions must keep a chance (ε), and all that is off target too (δ).
        if not 0 < options.epsilon <= 1:
            raise BadInput(f"oos: epsilon={options.epsilon} should be above 0, and at most 1")
        for name in ("delta", "gamma"):
            if not 0 <= getattr(options, name) < 1:
                raise BadInput(f"oos: {name}={getattr(options, name)} should be from 0 to below 1")

    def new_search(self, game: Game) -> Oos:
        given = self.options
        target = None if given.target == "auto" else given.target
        policy = compiled(read_layers(network_file(given.net), game)[0]) if given.net else None
        search = Oos(game, 0, given.epsilon, given.delta, given.gamma, target, policy, linear=given.linear)
        search.refuse_beyond_memory(given.simulations * game.facts.max_game_length)
        return search


@player("ismcts")
class IsMctsPlayer(Searching):
    """Information set MCTS: strong against the weak, exploitable by the strong."""

    name = "ismcts"

    class Options(NamedTuple):
        simulations: Annotated[int, "simulations a move; 0: no limit"] = 0
        seconds: Annotated[float, "time a move; 0: no limit"] = 0.0
        c: Annotated[float, "exploration, for rewards from 0 to 1"] = 0.7

    def new_search(self, game: Game) -> IsMcts:
        return IsMcts(game, 0, self.options.c)


@player("uct")
class UctPlayer(Searching):
    """Tree search by UCB1, random playouts: for games in which nothing is hidden."""

    name = "uct"
    made_by: Any = Uct

    class Options(NamedTuple):
        simulations: Annotated[int, "simulations a move; 0: no limit"] = 0
        seconds: Annotated[float, "time a move; 0: no limit"] = 0.0
        c: Annotated[float, "exploration, for rewards from -1 to 1"] = math.sqrt(2)
        urgency: Annotated[str, "of moves never tried: first of all, or as their parent", ("infinite", "parent")] = (
            "infinite"
        )
        prove: Annotated[bool, "whether won and lost positions are proven"] = True
        reuse: Annotated[bool, "whether the tree is kept from move to move"] = True
        plies: Annotated[int, "of a playout, then it is a draw; 0: no limit"] = 0
        megabytes: Annotated[int, "of memory for the tree; 0: half of the machine's"] = 0

    def new_search(self, game: Game) -> Any:
        given = self.options
        names.at_least("plies", given.plies, 0)
        names.at_least("megabytes", given.megabytes, 0)
        memory = given.megabytes * 1e6 if given.megabytes else None
        settings = {"plies": given.plies, "prove": given.prove, "reuse": given.reuse, "memory": memory}
        return self.made_by(game, 0, given.c, given.urgency, policy=self.policy(game), **settings)

    def policy(self, game: Game) -> Any:
        """Of its playouts, and the prior: none, so both are uniform."""
        return None


@player("puct")
class PuctPlayer(UctPlayer):
    """Tree search that follows a prior, uniform or learned patterns, and plays out by them."""

    name = "puct"
    made_by = Puct

    class Options(NamedTuple):
        simulations: Annotated[int, "simulations a move; 0: no limit"] = 0
        seconds: Annotated[float, "time a move; 0: no limit"] = 0.0
        c: Annotated[float, "exploration, for rewards from -1 to 1"] = 2.5
        policy: Annotated[str, "learned patterns: a run folder, or a file of features; none: uniform"] = ""
        playouts: Annotated[str, "which of its weights play out", (*POLICIES, "uniform")] = "double"
        iteration: Annotated[int, "of the run; 0: its last"] = 0
        urgency: Annotated[str, "of moves never tried: as won, or as their parent", ("infinite", "parent")] = "parent"
        prove: Annotated[bool, "whether won and lost positions are proven"] = True
        reuse: Annotated[bool, "whether the tree is kept from move to move"] = True
        plies: Annotated[int, "of a playout, then it is a draw; 0: no limit"] = 0
        megabytes: Annotated[int, "of memory for the tree; 0: half of the machine's"] = 0

    def policy(self, game: Game) -> Any:
        given = self.options
        if not given.policy:
            return None
        return biased(game, features_for(network_file(given.policy, given.iteration), game), "ce", given.playouts)


CALLS = ("distribution", "tree")
THESIS_C = 16000 / 4120  # Sievers' C, for rewards of 500 * score + points, as if they were from -1 to 1


def announcements_for(game: Game, options: Any) -> Announcements | None:
    """None where what is said aside is searched as any other move."""
    names.at_least("worlds", options.worlds, 2)
    return None if options.calls == "tree" else Announcements(game, options.worlds, options.margin)


@player("ensemble-uct")
class EnsemblePlayer(Searching):
    """Guesses what is hidden some times, searches each guess by UCT as if all were open, and takes the mean."""

    name = "ensemble-uct"

    class Options(NamedTuple):
        budget: Annotated[str, "guesses x simulations of each, as 10x1000"]
        c: Annotated[float, "exploration, for rewards from -1 to 1"] = math.sqrt(2)
        playouts: Annotated[str, "at random, or as is usual in the game", ("random", "usual")] = "random"
        exact: Annotated[int, "a guess of so many positions or fewer is solved instead; 0: never"] = EXACT
        calls: Annotated[str, "what is said aside: by the scores that follow, or in the tree", CALLS] = "distribution"
        worlds: Annotated[int, "for what is said aside"] = 400
        margin: Annotated[float, "payoff that saying something must be worth"] = 0.0

        presets = {"thesis": {"budget": "10x1000", "c": THESIS_C, "exact": 0, "calls": "tree"}}  # type: ignore[misc]

    def __init__(self, options: Any) -> None:
        self.options, self.search = options, None
        deals, times, simulations = options.budget.partition("x")
        if not times or not deals.isdecimal() or not simulations.isdecimal() or min(int(deals), int(simulations)) < 1:
            raise BadInput(f"{self.name}: {options.budget} should be guesses x simulations, such as 10x1000")
        self.deals, self.simulations = int(deals), int(simulations)

    def new_search(self, game: Game) -> Any:
        given = self.options
        names.at_least("exact", given.exact, 0)
        policy = Heuristic() if given.playouts == "usual" else None
        return EnsembleUct(game, 0, self.deals, given.c, given.exact, announcements_for(game, given), policy=policy)

    def advise(self, view: Any) -> Advice:
        return self.search.advise(view, self.seat, self.deals * self.simulations)


@player("single-uct")
class SinglePlayer(Searching):
    """One tree of what its seat knows, each simulation on another guess of what is hidden."""

    name = "single-uct"

    class Options(NamedTuple):
        simulations: Annotated[int, "simulations a move; 0: no limit"] = 0
        seconds: Annotated[float, "time a move; 0: no limit"] = 0.0
        c: Annotated[float, "exploration, for rewards from -1 to 1"] = math.sqrt(2)
        decide: Annotated[str, "by the highest mean, or the most visits", ("mean", "visits")] = "mean"
        playouts: Annotated[str, "at random, or as is usual in the game", ("random", "usual")] = "random"
        calls: Annotated[str, "what is said aside: by the scores that follow, or in the tree", CALLS] = "distribution"
        worlds: Annotated[int, "for what is said aside"] = 400
        margin: Annotated[float, "payoff that saying something must be worth"] = 0.0

        presets = {"thesis": {"simulations": 10_000, "c": THESIS_C, "calls": "tree"}}  # type: ignore[misc]

    def new_search(self, game: Game) -> SingleUct:
        given = self.options
        policy = Heuristic() if given.playouts == "usual" else None
        return SingleUct(game, 0, given.c, policy, given.decide == "mean", announcements_for(game, given))


@player("alphabeta")
class AlphaBetaPlayer(AdvisedPlayer):
    """Looks at everything to a fixed depth, and knows nothing beyond it."""

    class Options(NamedTuple):
        depth: Annotated[int, "plies", range(1, 100)] = 6

    def __init__(self, options: Any) -> None:
        self.depth = options.depth
        self.search: AlphaBeta | None = None

    def begin(self, game: Game, seat: int, seed: int) -> None:
        super().begin(game, seat, seed)
        if self.search is None or not same(self.search.game, game):
            self.search = AlphaBeta(game, 0, self.depth)

    def advise(self, view: Any) -> Advice:
        assert self.search is not None
        return self.search.advise(view, self.seat)
