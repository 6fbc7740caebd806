"""A name such as `oos:10000` -> something that moves.

A player only ever gets views, so it can't peek. `begin` starts a game, `move` answers a view
of the seat to move; `advice` is what stood behind the last move.
"""

import math
from pathlib import Path
from typing import Annotated, Any, NamedTuple, Protocol

import numpy as np

from . import names
from .games import Game, full_name, legal_actions
from .games.protocol import usual
from .jit import generators
from .learn.features.store import POLICIES, Features, biased, read_features
from .learn.models import network_file
from .learn.next_card import Reading, check_rules, line_so_far, read_network
from .learn.next_card_oracle import LineReader
from .learn.perceptron import Layers, compiled, logits, read_layers
from .names import BadInput
from .search.advice import Advice, fixed_advice
from .search.alphabeta import AlphaBeta
from .search.asides import Asides
from .search.blended import EXPLORATION
from .search.concurrent_trees import GuidedEnsemble
from .search.ensemble import EXACT, Ensemble
from .search.ismcts import IsMcts, SingleUct
from .search.oos import Oos
from .search.policies import Usual, usual_action, weighed
from .search.puct import Puct
from .search.strategy import Strategy, read_strategy
from .search.uct import Uct


class Player(Protocol):
    advice: Advice | None

    def begin(self, game: Game, seat: int, seed: int) -> None:
        """A new game, from this seat. The same seed gives the same moves."""

    def move(self, view: Any) -> int:
        """An action at a view of the seat, whose turn it is."""


def same(one: Game, other: Game) -> bool:
    """Whether two games are one: tuples are equal by their fields, as Othello and Yavalath of size 4 are."""
    return type(one) is type(other) and one == other


class _Advised:
    """Draws its moves from its own advice."""

    advice: Advice | None = None

    def begin(self, game: Game, seat: int, seed: int) -> None:
        self.game, self.seat = game, seat
        self.generator = np.random.default_rng(seed)

    def move(self, view: Any) -> int:
        self.advice = self.advise(view)
        return self.advice.draw(self.generator)

    def advise(self, view: Any) -> Advice:
        raise NotImplementedError


class Random(_Advised):
    """Plays uniformly at random."""

    class Options(NamedTuple):
        pass

    def __init__(self, options: Any) -> None:
        pass

    def advise(self, view: Any) -> Advice:
        n = len(legal_actions(self.game, view))
        return fixed_advice(self.game, view, np.full(n, 1 / n))


class AsUsual(_Advised):
    """Plays what the game itself calls usual: rules of thumb, no search."""

    class Options(NamedTuple):
        pass

    def __init__(self, options: Any) -> None:
        pass

    def begin(self, game: Game, seat: int, seed: int) -> None:
        if type(game).usual is usual:
            raise BadInput(f"{full_name(game)} doesn't say what is usual")
        super().begin(game, seat, seed)
        self.rng = generators(seed, 1)[0]

    def advise(self, view: Any) -> Advice:
        chosen = usual_action(self.game, view, self.rng)
        return fixed_advice(self.game, view, (np.array(legal_actions(self.game, view)) == chosen).astype(float))


class DokoRules(AsUsual):
    """The same by the name that players of Doppelkopf know."""

    def begin(self, game: Game, seat: int, seed: int) -> None:
        if game.name != "doppelkopf":
            raise BadInput("doko-rules plays doppelkopf; usual plays any game that says what is usual")
        super().begin(game, seat, seed)


class FromFile(_Advised):
    """Plays a saved strategy; evenly where it doesn't know the infoset."""

    class Options(NamedTuple):
        file: Annotated[str, "a strategy file, or the run folder it lies in"]

    def __init__(self, options: Any) -> None:
        self.path = Path(options.file)
        if self.path.is_dir():
            self.path = self.path / "strategy.safetensors"
        self.strategy: Strategy | None = None

    def begin(self, game: Game, seat: int, seed: int) -> None:
        super().begin(game, seat, seed)
        if self.strategy is None or not same(self.strategy.game, game):
            self.strategy = read_strategy(self.path, game)

    def advise(self, view: Any) -> Advice:
        assert self.strategy is not None
        n = len(legal_actions(self.game, view))
        return fixed_advice(self.game, view, self.strategy.at(int(self.game.infoset(view, self.seat)), n))


class FromNetwork(_Advised):
    """Plays a trained network, without any search: at once."""

    class Options(NamedTuple):
        network: Annotated[str, "a run folder, a network file, or models/NAME"]
        iteration: Annotated[int, "of a run; 0: its last"] = 0
        threshold: Annotated[float, "moves less likely than this share of the likeliest are never played"] = 0.0

    def __init__(self, options: Any) -> None:
        self.path = network_file(options.network, options.iteration)
        self.threshold = options.threshold
        if not 0 <= options.threshold <= 1:
            raise BadInput(f"net: threshold={options.threshold} should be from 0 to 1")
        self.known: tuple[Game, Layers] | None = None

    def begin(self, game: Game, seat: int, seed: int) -> None:
        super().begin(game, seat, seed)
        if self.known is None or not same(self.known[0], game):
            self.known = game, read_layers(self.path, game)[0]
            self.encoding = np.zeros(game.facts.encoding, np.float32)

    def advise(self, view: Any) -> Advice:
        assert self.known is not None
        self.game.observe(view, self.seat, self.encoding)
        said = logits(self.known[1], self.encoding)[legal_actions(self.game, view)].astype(float)
        odds = np.exp(said - said.max())
        odds[odds < self.threshold] = 0
        return fixed_advice(self.game, view, odds / odds.sum())


class FromNextCard(_Advised):
    """Plays the card that a network foretells for its own seat, without any search; speaks as is usual."""

    class Options(NamedTuple):
        network: Annotated[str, "a run folder of next-card, or its network file"]

    def __init__(self, options: Any) -> None:
        self.network = read_network(network_file(options.network))[0]

    def begin(self, game: Game, seat: int, seed: int) -> None:
        check_rules(game)
        super().begin(game, seat, seed)
        self.rng, self.reading = generators(seed, 1)[0], Reading(self.network)

    def advise(self, view: Any) -> Advice:
        legal = legal_actions(self.game, view)
        if self.game.aside(view):
            said = usual_action(self.game, view, self.rng)
            return fixed_advice(self.game, view, (np.array(legal) == said).astype(float))
        foretold = self.reading.next(line_so_far(view, self.seat))[legal]
        return fixed_advice(self.game, view, np.eye(len(legal))[np.argmax(foretold)])


class FromFeatures(_Advised):
    """Plays learned patterns, without any search: at once."""

    class Options(NamedTuple):
        features: Annotated[str, "a run folder, or a file of features"]
        policy: Annotated[str, "which weights", tuple(POLICIES)] = "tspg"
        iteration: Annotated[int, "of a run; 0: its last"] = 0
        greedy: Annotated[bool, "whether it always plays the likeliest move"] = False

    def __init__(self, options: Any) -> None:
        self.options, self.path = options, network_file(options.features, options.iteration)
        self.known: tuple[Game, Any] | None = None

    def begin(self, game: Game, seat: int, seed: int) -> None:
        super().begin(game, seat, seed)
        if self.known is None or not same(self.known[0], game):
            self.known = game, features_for(self.path, game).policy(game, self.options.policy)

    def advise(self, view: Any) -> Advice:
        assert self.known is not None
        odds = weighed(self.game, self.known[1], view, len(legal_actions(self.game, view)))
        if self.options.greedy:
            odds = (np.arange(len(odds)) == np.argmax(odds)).astype(float)
        return fixed_advice(self.game, view, odds)


def features_for(path: Path, game: Game) -> Features:
    """Features from their file, refused where the game has none."""
    if not hasattr(game, "board"):
        raise BadInput(f"{full_name(game)} has no board, so it has no patterns")
    return read_features(path, game)[0]


class _Searching(_Advised):
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


class OosPlayer(_Searching):
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
        search.refuse_beyond_memory(given.simulations * game.facts.longest)
        return search


class IsMctsPlayer(_Searching):
    """Information set MCTS: strong against the weak, exploitable by the strong."""

    name = "ismcts"

    class Options(NamedTuple):
        simulations: Annotated[int, "simulations a move; 0: no limit"] = 0
        seconds: Annotated[float, "time a move; 0: no limit"] = 0.0
        c: Annotated[float, "exploration, for rewards from 0 to 1"] = 0.7

    def new_search(self, game: Game) -> IsMcts:
        return IsMcts(game, 0, self.options.c)


class UctPlayer(_Searching):
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


def asides_for(game: Game, options: Any) -> Asides | None:
    """None where what is said aside is searched as any other move."""
    names.at_least("guesses", options.guesses, 2)
    return None if options.calls == "tree" else Asides(game, options.guesses, options.margin)


class EnsemblePlayer(_Searching):
    """Guesses what is hidden some times, searches each guess by UCT as if all were open, and takes the mean."""

    name = "ensemble-uct"

    class Options(NamedTuple):
        budget: Annotated[str, "guesses x simulations of each, as 10x1000"]
        c: Annotated[float, "exploration, for rewards from -1 to 1"] = math.sqrt(2)
        playouts: Annotated[str, "at random, or as is usual in the game", ("random", "usual")] = "random"
        exact: Annotated[int, "a guess of so many positions or fewer is solved instead; 0: never"] = EXACT
        calls: Annotated[str, "what is said aside: by the scores that follow, or in the tree", CALLS] = "distribution"
        guesses: Annotated[int, "for what is said aside"] = 400
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
        policy = Usual() if given.playouts == "usual" else None
        return Ensemble(game, 0, self.deals, given.c, given.exact, asides_for(game, given), policy=policy)

    def advise(self, view: Any) -> Advice:
        return self.search.advise(view, self.seat, self.deals * self.simulations)


class GuidedPlayer(EnsemblePlayer):
    """The same, led by a network that foretells the next card: UCT+LSTM, as in the thesis."""

    name = "uct-lstm"

    class Options(NamedTuple):
        budget: Annotated[str, "guesses x simulations of each, as 10x1000"]
        net: Annotated[str, "a run folder of next-card, or its network file"]
        c: Annotated[float, "exploration, for rewards from -1 to 1"] = EXPLORATION
        playouts: Annotated[str, "at random, or as is usual in the game", ("random", "usual")] = "random"
        exact: Annotated[int, "a guess of so many positions or fewer is solved instead; 0: never"] = EXACT
        calls: Annotated[str, "what is said aside: by the scores that follow, or in the tree", CALLS] = "distribution"
        guesses: Annotated[int, "for what is said aside"] = 400
        margin: Annotated[float, "payoff that saying something must be worth"] = 0.0

    def __init__(self, options: Any) -> None:
        super().__init__(options)
        self.network = read_network(network_file(options.net))[0]

    def begin(self, game: Game, seat: int, seed: int) -> None:
        check_rules(game)
        super().begin(game, seat, seed)

    def new_search(self, game: Game) -> GuidedEnsemble:
        given = self.options
        names.at_least("exact", given.exact, 0)
        policy = Usual() if given.playouts == "usual" else None
        reader, asides = LineReader(self.network), asides_for(game, given)
        return GuidedEnsemble(game, reader, 0, self.deals, given.c, given.exact, asides, policy)


class SinglePlayer(_Searching):
    """One tree of what its seat knows, each simulation on another guess of what is hidden."""

    name = "single-uct"

    class Options(NamedTuple):
        simulations: Annotated[int, "simulations a move; 0: no limit"] = 0
        seconds: Annotated[float, "time a move; 0: no limit"] = 0.0
        c: Annotated[float, "exploration, for rewards from -1 to 1"] = math.sqrt(2)
        decide: Annotated[str, "by the highest mean, or the most visits", ("mean", "visits")] = "mean"
        playouts: Annotated[str, "at random, or as is usual in the game", ("random", "usual")] = "random"
        calls: Annotated[str, "what is said aside: by the scores that follow, or in the tree", CALLS] = "distribution"
        guesses: Annotated[int, "for what is said aside"] = 400
        margin: Annotated[float, "payoff that saying something must be worth"] = 0.0

        presets = {"thesis": {"simulations": 10_000, "c": THESIS_C, "calls": "tree"}}  # type: ignore[misc]

    def new_search(self, game: Game) -> SingleUct:
        given = self.options
        policy = Usual() if given.playouts == "usual" else None
        return SingleUct(game, 0, given.c, policy, given.decide == "mean", asides_for(game, given))


class AlphaBetaPlayer(_Advised):
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


class Human:
    """A person at the terminal, in a match as any other player. (`kibitz play` is the comfortable way to play.)"""

    class Options(NamedTuple):
        pass

    advice: Advice | None = None

    def __init__(self, options: Any) -> None:
        pass

    def begin(self, game: Game, seat: int, seed: int) -> None:
        self.game, self.seat = game, seat

    def move(self, view: Any) -> int:
        legal = ", ".join(self.game.spell(view, action) for action in legal_actions(self.game, view))
        print(f"\n{self.game.show(view, self.seat)}")
        while True:
            try:
                return self.game.read(view, input(f"seat {self.seat + 1}, your move ({legal}): "))
            except BadInput as error:
                print(error)
            except EOFError:
                raise BadInput("the human has left the table") from None


PLAYERS: dict[str, Any] = {
    "random": Random,
    "oos": OosPlayer,
    "ismcts": IsMctsPlayer,
    "uct": UctPlayer,
    "puct": PuctPlayer,
    "ensemble-uct": EnsemblePlayer,
    "uct-lstm": GuidedPlayer,
    "single-uct": SinglePlayer,
    "usual": AsUsual,
    "doko-rules": DokoRules,
    "alphabeta": AlphaBetaPlayer,
    "strategy": FromFile,
    "net": FromNetwork,
    "lstm": FromNextCard,
    "features": FromFeatures,
    "human": Human,
}


def make(text: str) -> Player:
    """A player by its name: `random`, `oos:10000,target=ist,delta=0.9`, `net:RUN`."""
    name, parameters = names.split(text)
    kind = PLAYERS[names.choose("player", name, PLAYERS)]
    values = names.parameters(name, kind.Options, parameters)
    for key in kind.Options._fields:
        if key not in values and key not in kind.Options._field_defaults:
            raise BadInput(f"{name}: {key} is missing; {names.describe(names.hints(kind.Options))}")
    return kind(kind.Options(**values))


def make_adviser(text: str, game: Game) -> Player:
    """A player that gives advice on what it moves."""
    if text == "human":
        raise BadInput("a human gives no advice, only moves: name a player such as oos:1000")
    return make_for(text, game)


def make_for(text: str, game: Game) -> Player:
    """The same, refused at once where it can't play this game."""
    player = make(text)
    try:
        player.begin(game, 0, 0)
    except BadInput as error:
        raise BadInput(f"{text} can't play {full_name(game)}: {error}") from None
    return player
