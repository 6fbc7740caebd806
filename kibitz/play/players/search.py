"""Players that search: one class for all searches of the registry, and for a search in a user's file.

A name such as `oos:1000,delta=0.8` gives three kinds of options: the budget per move, the `Annotated` parameters of the
search's constructor, and where its policy comes from (`Search.policy_from`).
"""

import inspect
import math
from collections.abc import Callable
from dataclasses import replace
from typing import Annotated, Any, get_origin

import numpy as np

from ...core.names import ITERATION, PATH, SECONDS, SIMULATIONS, BadInput
from ...core.progress import SILENT, Reporter
from ...games import Game, legal_actions
from ...nets.mlp import compiled, read_layers
from ...nets.model_files import network_file
from ...search.advice import Advice
from ...search.alphabeta import AlphaBeta
from ...search.policies import Heuristic
from ...search.search import SEARCHES, Search
from ...train.alphazero.playing import BoardPolicy
from ...train.ntuple.store import FORMAT as NTUPLES
from ...train.ntuple.store import default_evaluation, ntuples_for
from ...train.tspg.store import POLICIES, biased, features_for
from .defaults import shipped_model
from .player import AdvisedPlayer, player, same

Playouts = Annotated[str, "playout policy: uniformly random, or the game's heuristic", ("random", "heuristic")]


class SearchPlayer(AdvisedPlayer):
    """Moves by the advice of a search: `SearchPlayer(Oos, simulations=1000)`."""

    report: Reporter = SILENT  # of its searches; it may stop them

    def __init__(self, new_search: Callable[[Game], Search], simulations: int = 0, seconds: float = 0.0) -> None:
        """
        Args:
            new_search: Makes the search for a game; a search class does.
            simulations: Simulations per move; 0: no limit.
            seconds: Seconds per move; 0: no limit.
        """
        self.new_search, self.simulations, self.seconds = new_search, simulations, seconds
        self.search: Search | None = None
        self.foreseen: tuple[Any, Advice] | None = None  # a view that may come up next, and the advice on it

    def begin(self, game: Game, seat: int, seed: int) -> None:
        super().begin(game, seat, seed)
        self.foreseen = None
        if self.search is None or not same(self.search.game, game):
            self.search = self.new_search(game)
            moves = game.facts.max_game_length if self.search.keeps_tree else 1
            self.search.refuse_beyond_memory(self.simulations * moves)
        if not self.search.deterministic:
            self.search.begin(int(self.generator.integers(2**63)))

    def advise(self, view: Any) -> Advice:
        assert self.search is not None
        if self.foreseen and equal_records(self.foreseen[0], view):
            return self.foreseen[1]
        return self.search.advise(view, self.seat, self.simulations, self.seconds or math.inf, self.report)

    def explain(self, view: Any) -> Advice:
        """The last advice, with announcements on the same scale as cards.

        The search values cards; an announcement is chosen by other playouts, which tell how much each gains over the
        first, staying silent, but whose own values differ from the search's. So silence gets the value of the best
        move that follows it, by the search, and the others what they gain. That move's advice is kept: if the view
        comes up it is given again. Where another seat moves next, or the next move is the only one, values stay.
        """
        assert self.search is not None and self.advice is not None  # noqa: PT018
        advice, following = self.advice, after_announcements(self.game, view, self.seat)
        if not self.search.announcements or not self.game.is_announcement(view) or following is None:
            return advice
        if not self.foreseen or not equal_records(self.foreseen[0], following):
            self.foreseen = following, self.advise(following)
        silence = self.foreseen[1].root_value
        return advice if math.isnan(silence) else replace(advice, value=advice.value - advice.value[0] + silence)


def after_announcements(game: Game, view: Any, seat: int) -> Any:
    """The view after all seats have declined to announce; None where another seat moves then."""
    following = view.copy()
    while game.turn(following) >= 0 and game.is_announcement(following):
        game.play(following, legal_actions(game, following)[0])
    return following if game.turn(following) == seat else None


def equal_records(one: Any, two: Any) -> bool:
    """Compare two records field by field, ignoring the padding between fields."""
    return all(np.array_equal(one[field], two[field]) for field in one.dtype.names)


# ---------------------------------------------------------------- budgets


def by_simulations(
    simulations: Annotated[int, "simulations per move; 0: no limit", SIMULATIONS] = 0,
    seconds: Annotated[float, "seconds per move; 0: no limit", SECONDS] = 0.0,
) -> tuple[int, float, dict[str, int]]:
    """Simulations, seconds, and settings of the search."""
    if not simulations and not seconds:
        raise BadInput("no budget is given: name simulations, such as oos:10000, or seconds, such as oos:seconds=1")
    return simulations, seconds, {}


def by_worlds(
    budget: Annotated[str, "worlds x simulations of each, such as 10x1000"],
) -> tuple[int, float, dict[str, int]]:
    worlds, times, simulations = budget.partition("x")
    numbers = [int(part) if part.isdecimal() and len(part) < 10 else 0 for part in (worlds, simulations)]
    if not times or min(numbers) < 1:
        raise BadInput(f"budget={budget} should be worlds x simulations, such as 10x1000, both below a billion")
    return int(worlds) * int(simulations), 0.0, {"determinizations": int(worlds)}


def by_depth(
    depth: Annotated[int, "plies; by default 6, or as many as the nodes or seconds allow", range(1, 100)] = 0,
    nodes: Annotated[int, "positions per move; 0: no limit", SIMULATIONS] = 0,
    seconds: Annotated[float, "seconds per move; 0: no limit", SECONDS] = 0.0,
) -> tuple[int, float, dict[str, int]]:
    return nodes, seconds, {}


def without_budget() -> tuple[int, float, dict[str, int]]:
    return 0, 0.0, {}


EXAMPLES = {
    "simulations": "1000",
    "worlds": "10x1000",
    "depth": "5",
    "none": "5",
}  # of the first option in a player's name

BUDGETS: dict[str, Callable[..., tuple[int, float, dict[str, int]]]] = {
    "simulations": by_simulations,
    "worlds": by_worlds,
    "depth": by_depth,
    "none": without_budget,
}

# ---------------------------------------------------------------- policies


def playout_policy(game: Game, playouts: Playouts = "random") -> Any:
    return Heuristic() if playouts == "heuristic" else None


def network_policy(
    game: Game,
    net: Annotated[str, "network for the playouts: a run folder, a file, models/NAME; none: random", PATH] = "",
) -> Any:
    return compiled(read_layers(network_file(net), game)[0]) if net else None


def pattern_policy(
    game: Game,
    policy: Annotated[str, "learned patterns: a run folder, or a file of features; none: uniform", PATH] = "",
    playouts: Annotated[str, "which of its weights play out", (*POLICIES, "uniform")] = "double",
    iteration: Annotated[int, "iteration of the run; 0: its last", ITERATION] = 0,
    net: Annotated[
        str, "network that values leaves in place of playouts: a run folder of alphazero, or a file", PATH
    ] = "",
    threads: Annotated[int, "threads that evaluate the network for one position", range(1, 257)] = 1,
) -> Any:
    if net and policy:
        raise BadInput(f"net={net} takes the place of policy={policy}: give one of them")
    if net:
        return BoardPolicy(network_file(net, iteration), game, threads)
    if threads > 1:
        raise BadInput(f"threads={threads} is for a network: name one by net")
    if not policy:
        return None
    return biased(game, features_for(network_file(policy, iteration), game), "ce", playouts)


def network_search(policy: BoardPolicy, **given: Any) -> Search:
    """The tree search of `puct` with a network; of its options these have a meaning with one."""
    known = {key: given.pop(key) for key in ("c", "prove", "megabytes") if key in given}
    for key in given:
        raise BadInput(f"{key}={given[key]} is about playouts or a tree that is kept: puct with net has neither")
    return policy.search(**known)


def evaluation(
    game: Game,
    eval: Annotated[str, "learned evaluation: a run folder, or a file of n-tuples; none: the game's own", PATH] = "",
    iteration: Annotated[int, "iteration of the run; 0: its last", ITERATION] = 0,
) -> Any:
    """The evaluation of a name; without one that which ships for exactly this game, else the game's default."""
    eval = eval or shipped_model(game, NTUPLES.name)
    return ntuples_for(network_file(eval, iteration), game) if eval else default_evaluation(game)


# `Search.policy_from` -> the function from a game and the options of a player's name to the policy; None: uniform.
POLICY_LOADERS: dict[str, Callable[..., Any]] = {
    "playouts": playout_policy,
    "network": network_policy,
    "patterns": pattern_policy,
    "evaluation": evaluation,
}

# ---------------------------------------------------------------- players by name


def player_class(search: type[Search]) -> type[SearchPlayer]:
    """The class of players by a search. Its constructor takes all options of a player's name."""
    budget, loader = BUDGETS[search.budget], POLICY_LOADERS.get(search.policy_from)
    parts = [_options(part) if part else {} for part in (budget, search, loader)]
    options = parts[0] | parts[1] | parts[2]

    def __init__(self: Any, **given: Any) -> None:
        of_budget, of_search, of_policy = ({key: given[key] for key in part if key in given} for part in parts)
        simulations, seconds, settings = budget(**of_budget)

        def new_search(game: Game) -> Search:
            key = "evaluation" if search.policy_from == "evaluation" else "policy"
            policy = {key: loader(game, **of_policy)} if loader else {}
            all_settings: dict[str, Any] = of_search | settings | policy
            if isinstance(all_settings.get("policy"), BoardPolicy):
                return network_search(**all_settings)
            return search(game, 0, **all_settings)

        SearchPlayer.__init__(self, new_search, simulations, seconds)
        self.options = {key: each.default for key, each in options.items()} | given

    __init__.__annotations__ = {key: each.annotation for key, each in options.items()}
    members = {
        "__init__": __init__,
        "__doc__": search.__doc__,
        "__module__": __name__,
        "__signature__": inspect.Signature(list(options.values())),
        "presets": search.presets,
        "plays": search.plays,
        "example": EXAMPLES[search.budget],
    }
    return type(f"{search.__name__}Player", (SearchPlayer,), members)


def _options(function: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    """The `Annotated` parameters of a function or constructor."""
    return {
        key: each.replace(kind=each.KEYWORD_ONLY)
        for key, each in inspect.signature(function, eval_str=True).parameters.items()
        if get_origin(each.annotation) is Annotated
    }


@player("ntuple")
class NTuplePlayer(SearchPlayer):
    """Plays by a learned evaluation of n-tuples, looking few plies ahead; alphabeta:eval=FILE looks further."""

    plays = "the game that it was trained for"
    example = "runs/connect_four-ntuple"

    def __init__(
        self,
        network: Annotated[str, "a run folder, or a file of n-tuples", PATH],
        iteration: Annotated[int, "iteration of the run; 0: the last", ITERATION] = 0,
        depth: Annotated[int, "plies that it looks ahead", range(1, 100)] = 1,
    ) -> None:
        path = network_file(network, iteration)
        super().__init__(lambda game: AlphaBeta(game, depth=depth, evaluation=ntuples_for(path, game)))


for _name, _search in SEARCHES.items():
    player(_name)(player_class(_search))
