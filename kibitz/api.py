"""The Python interface: what the command line does, as functions on names or objects. Exported from `kibitz` itself."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, overload

from .arena import exploitability as _exploitability
from .arena import match as _match
from .arena import review as _review
from .arena import tournament as _tournament
from .core.names import BadInput, as_path, at_least, choose
from .core.progress import SILENT, Reporter
from .core.runs import Run
from .core.trust import only_named
from .games import Game, full_name, load_stored, view_of
from .games import check as _check
from .games import load as _load
from .games.record_files import read_game
from .games.records import Record
from .games.state import State
from .players import default_player, explained, make_for
from .players.player import Player
from .search.advice import Advice
from .search.best_response import Exploitability

if TYPE_CHECKING:
    from .arena.exploiters.bound import Bound
    from .players.beliefs import Beliefs
    from .players.doppelkopf_beliefs import CardBeliefs
    from .players.holdem_beliefs import RangeBeliefs
    from .search.public_chance.strategy import TableStrategy
    from .search.public_tree.table import PublicStrategy
    from .search.search import Search
    from .search.strategy import Strategy

AnyGame = Game | str
AnyPlayer = Player | str


def load(game: AnyGame) -> Game:
    """Load a game.

    Args:
        game: A name with parameters (`"leduc"`, `"goofspiel:13"`, `"liars_dice:dice=2,faces=6"`), a game in a file
            (`"path/to/my_game.py:MyGame"`), or a game, which is returned as it is.

    Returns:
        The game. `game.initial()` gives its first state, `game.facts` its facts.

    Example:
        >>> import kibitz
        >>> game = kibitz.load("leduc")
        >>> game.facts.num_actions
        3
    """
    with only_named(game):
        return _load(game)


def check(game: AnyGame, games: int = 40, seed: int = 1) -> int:
    """Check that the rules and facts of a game are right: for authors of games.

    Random games are played in plain Python, and everything that the rules return is checked against the facts and
    against each other; then each rule is compiled by itself and compared with plain Python.

    Args:
        game: A game or its name.
        games: Number of random games.
        seed: The same seed plays the same games.

    Returns:
        The number of positions that were checked.

    Raises:
        BadInput: Something is wrong. The message is one line: file, line, rule or fact, and what to write.

    Example:
        >>> import kibitz
        >>> kibitz.check("kuhn", games=2) > 6
        True
    """
    at_least("games", games, 1)
    at_least("seed", seed, 0)
    return _check(_load(game), games, seed=seed)


# ---------------------------------------------------------------- solving


@dataclass(frozen=True)
class Solution:
    """An equilibrium approximated by a solver. Prints its NashConv; `plot()` shows how it converged."""

    game: Game
    method: str  # the solver
    iterations: int
    seconds: float  # without measuring
    strategy: Strategy | TableStrategy | PublicStrategy  # the average one; a table where the game isn't enumerated
    exploitability: Exploitability | None  # None: the game is too large to measure
    curve: list[tuple[int, float]]  # (iterations, NashConv)

    @property
    def nash_conv(self) -> float:
        """The sum over seats of what a best response gains; NaN where the game is too large to measure it."""
        return self.exploitability.nash_conv if self.exploitability else math.nan

    @property
    def value(self) -> float:
        """Expected payoff of seat 0 when both seats play the strategy; NaN where it is not measured."""
        return self.exploitability.value if self.exploitability else math.nan

    def plot(self, path: str | Path | None = None) -> Any:
        """Plot NashConv over iterations: into a file if a path is given. A notebook shows the plot."""
        from .app.ui import plots

        lines = {self.method: self.curve}
        return plots.curves(_path(path), lines, f"{full_name(self.game)}, {self.method}", "NashConv", log_x=True)

    def __str__(self) -> str:
        measured = f"NashConv {self.nash_conv:.6g}, value {self.value:.6g}" if self.exploitability else "not measured"
        return f"{full_name(self.game)} by {self.method}, {self.iterations:,} iterations: {measured}"

    def _repr_html_(self) -> str:
        return f"<p>{escape(str(self))}</p>"


def solve(
    game: AnyGame,
    method: str = "cfr+",
    iterations: int = 1000,
    seed: int = 1,
    report: Reporter = SILENT,
    abstraction: str | Path | None = None,
) -> Solution:
    """Approximate an equilibrium of a two-seat zero-sum game.

    Args:
        game: A game or its name.
        method: `cfr`, `cfr+`, `linear`, `dcfr`, `pcfr+` (exact, on the sequence form; large games
            that declare a public tree are solved on it, by all of these but `pcfr+`), `external` or `outcome`
            (Monte Carlo, on the rules); `pcs` (public chance sampling, for Leduc poker and hold'em).
        iterations: Number of iterations; each updates both seats.
        seed: The same seed gives the same result; only sampling solvers use it.
        report: Receives progress.
        abstraction: For `pcs`, the folder of a card abstraction that `kibitz abstract` has computed; by default all
            hands are kept apart.

    Returns:
        The solution: `.strategy`, `.nash_conv`, `.value`, `.plot()`.

    Example:
        >>> import kibitz
        >>> kibitz.solve("kuhn", "cfr+", iterations=1000).nash_conv < 0.001
        True
    """
    from .search import solvers

    loaded = load(game)
    solver, form = solvers.new_solver(loaded, method, seed, _path(abstraction))
    curve: list[tuple[int, float]] = []
    seconds = 0.0
    for measured in solvers.solve(solver, form, iterations):
        seconds = measured.seconds
        if measured.nash_conv is not None:
            curve.append((measured.iterations, measured.nash_conv))
        report.progress(measured.iterations, iterations, f"NashConv {curve[-1][1]:.4g}" if curve else "")
    strategy = solver.strategy()
    exploitability = solvers.measure(solver, form)
    return Solution(loaded, method, solver.iterations, seconds, strategy, exploitability, curve)


# ---------------------------------------------------------------- searching


def advise(
    game: AnyGame,
    position: str | State = "",
    player: AnyPlayer | None = None,
    seed: int = 1,
    trust: bool = False,
) -> Advice:
    """Ask a player for advice on a position.

    Args:
        game: A game or its name.
        position: All actions and chance outcomes so far, with `?` for what the seat to move can't see
            (`"? K raise"`), or a `State`, of which only the view of the seat to move is used.
        player: Anything that gives advice: a name such as `"oos:10000"`, or a player; by default the strongest that
            answers within a second.
        seed: The same seed gives the same advice, unless the player's budget is a time.
        trust: Whether code in `.py` files may run that a run, a record or a network names.

    Returns:
        The advice: `.policy`, `.value` and `.visits` by action. It prints as a table, in a notebook too.

    Example:
        >>> import kibitz
        >>> kibitz.advise("kuhn", "? K bet", "oos:1000").best  # 1 is a bet: call with the king
        1
    """
    from .app.ui.position_parser import parse_position
    from .app.ui.referee import Follower, own_views

    with only_named(game, player, trust=trust):
        loaded = _load(game)
        at_least("seed", seed, 0)
        states = position.records if isinstance(position, State) else parse_position(loaded, position)
        seat = int(loaded.turn(states[-1]))
        if seat < 0:
            raise BadInput("no seat is to move in this position")
        player = player or default_player(loaded)
        adviser = make_for(player, loaded)
        views = own_views(loaded, states, seat)
        Follower(adviser, loaded, seat, seed).move(views)
        advice = explained(adviser, views[-1])
        if advice is None:
            raise BadInput(f"{player} gives no advice, it only moves: name a player such as oos:1000")
        return advice.named(loaded, views[-1])


def beliefs(
    game: AnyGame,
    position: str | State = "",
    assumed: AnyPlayer | None = None,
    own: AnyPlayer | None = None,
    seat: int | None = None,
    trust: bool = False,
) -> Beliefs | RangeBeliefs | CardBeliefs:
    """What a seat may believe about hidden information at a position.

    Args:
        game: A game or its name.
        position: A `State`, or all moves and chance outcomes so far as text, as for `advise`. Only what the seat sees
            of it is used.
        assumed: The player that the others are assumed to be, one without search, such as `"net:models/leduc"`; in
            Doppelkopf a player with a belief network. By default all deals that fit are equally likely.
        own: In hold'em, the player whose strategy with all own hands is shown; by default `assumed`.
        seat: Whose view, from 0; by default that of the seat to move.
        trust: Whether code in `.py` files may run that a run, a record or a network names.

    Returns:
        The probabilities and what they rest on (`.basis`); `.as_json()`. Hold'em: `.other` and `.own`, each with its
        `.grid()` of hand classes. Doppelkopf: `.expected` cards by seat, `.re` by seat. Others: `.distributions`.

    Example:
        >>> import kibitz
        >>> print(kibitz.beliefs("kuhn", "? Q bet"))
        uniform over deals that fit
        card of seat 1: J 50.0%, K 50.0%
    """
    from .app.ui.position_parser import parse_line, parse_position
    from .players.beliefs import beliefs as find

    with only_named(game, assumed, own, trust=trust):
        loaded = _load(game)
        if seat is not None and seat not in range(loaded.facts.seats):
            raise BadInput(f"seat {seat} should be 0 to {loaded.facts.seats - 1}")
        if isinstance(position, State):
            record = position.record
        else:
            states = parse_position(loaded, position) if seat is None else parse_line(loaded, position, seat).states
            record = states[-1]
        seat = int(loaded.turn(record)) if seat is None else seat
        if seat < 0:
            raise BadInput("no seat is to move")
        return find(loaded, view_of(loaded, record, seat), seat, assumed, own)


def explain(
    game: AnyGame,
    position: str | State = "",
    player: AnyPlayer | None = None,
    most: int = 5,
    trust: bool = False,
) -> list[dict[str, Any]]:
    """Explain a policy of learned patterns: which of them speak for each move, which against it.

    Args:
        game: A game or its name.
        position: A `State`, or all moves so far as text, as for `advise`.
        player: A player of patterns, such as `"features:models/connect_four"`, or a search that they guide, such as
            `"puct:1000,policy=models/connect_four"`, whose prior is explained; by default the default player.
        most: Number of patterns per move, those of the largest contributions.
        trust: Whether code in `.py` files may run that a run, a record or a network names.

    Returns:
        One dictionary per legal move: `move`, `action`, `prob`, `logit` and `patterns`. Each pattern has its `words`,
        its `weight`, its `contribution` to the logit (the weight times how much more active it is for this move than
        for all moves on average), whether it is `active` for this move, its `text` as in the file, the `cells` of the
        board that it tests, and an `svg`. As the policy is a softmax of linear logits, the explanation is exact.

    Example:
        >>> import kibitz
        >>> moves = kibitz.explain("connect_four", "4 4 3")
        >>> round(sum(move["prob"] for move in moves), 6)
        1.0
        >>> best = max(moves, key=lambda move: move["prob"])
        >>> best["move"], len(best["patterns"])
        ('5', 5)
    """
    from .app.ui.position_parser import parse_position
    from .players.patterns import active_patterns

    with only_named(game, player, trust=trust):
        loaded = _load(game)
        at_least("most", most, 1)
        record = position.record if isinstance(position, State) else parse_position(loaded, position)[-1]
        seat = int(loaded.turn(record))
        if seat < 0:
            raise BadInput("no seat is to move")
        chosen = default_player(loaded) if player is None else player
        return active_patterns(chosen, loaded, view_of(loaded, record, seat), seat, most)


def review(
    record: Record | str | Path,
    number: int = 1,
    player: AnyPlayer | None = None,
    seat: int | None = None,
    seed: int = 1,
    report: Reporter = SILENT,
    trust: bool = False,
) -> _review.Review:
    """Review a finished game: what a player would have advised, and what each move cost.

    Args:
        record: A record, such as one of `match(...).records`; or a file of games, of any format that `kibitz convert`
            reads, or a run folder.
        number: Which game of the file, from 1.
        player: The adviser, a name or a player; by default the strongest that answers within a second.
        seat: Review only the moves of this seat, from 0.
        seed: The same seed gives the same review, unless the player's budget is a time.
        report: Receives progress.
        trust: Whether code in `.py` files may run that a run, a record or a network names.

    Returns:
        The review: `.moves` with value, best value, cost and mark of each, `.total_cost(seat)`, `.curve()` for a graph,
        `.as_json()`. It prints as a table, in a notebook too.

    Example:
        >>> import kibitz
        >>> record = kibitz.match("tic_tac_toe", ["uct:100", "random"], games=2).records[0]
        >>> kibitz.review(record, player="alphabeta:depth=9", seat=0).total_cost(0) >= 0
        True
    """
    with only_named(player, trust=trust):
        if not isinstance(record, Record):
            at_least("number", number, 1)
            record = read_game(as_path(record), number)
        return _review.review(record, player, seat, seed, report)


def replay_svg(record: Record | State | str | Path, number: int = 1, seconds: float = 1.2, trust: bool = False) -> str:
    """Draw a game as an animated SVG, in which everything hidden is shown.

    Args:
        record: A record, such as one of `match(...).records`; a `State` that was played from the opening; or a file of
            games, of any format that `kibitz convert` reads, or a run folder.
        number: Which game of the file, from 1.
        seconds: Time per move.
        trust: Whether code in `.py` files may run that a record names.

    Returns:
        One `<svg>` element, for a file or a notebook (`IPython.display.SVG`). It needs no script and nothing from
        elsewhere, and stands still for viewers who asked for reduced motion.

    Example:
        >>> import kibitz
        >>> state = kibitz.load("tic_tac_toe").initial().play("b2").play("a1")
        >>> kibitz.replay_svg(state).startswith("<svg")
        True
    """
    from .games.animation import replay_svg as draw

    if isinstance(record, State):
        return draw(record.game, record.history, seconds=seconds)
    with only_named(trust=trust):
        if not isinstance(record, Record):
            at_least("number", number, 1)
            record = read_game(as_path(record), number)
        return draw(load_stored(record.game), record.actions, record.players, seconds)


def search(game: AnyGame, name: str, seed: int = 1, **options: Any) -> Search:
    """Make a search that can be asked again and again.

    Args:
        game: A game or its name.
        name: `"oos"`, `"ismcts"`, `"uct"`, `"puct"`, ..., or `"path/to/file.py:Class"`.
        seed: The same seed gives the same advice.
        **options: Options of the search, such as `c=1.4`; the same as behind the colon of a player's name.

    Returns:
        The search. `search.advise(view, seat, simulations=10_000)` answers for a view of the seat to move.

    Example:
        >>> import kibitz
        >>> state = kibitz.load("tic_tac_toe").initial()
        >>> kibitz.search("tic_tac_toe", "uct").advise(state.record, 0, simulations=1000).simulations
        1000
    """
    from .search.search import SEARCHES

    with only_named(game, name):
        found = SEARCHES[name](_load(game), **options)
    found.begin(seed)
    return found


# ---------------------------------------------------------------- playing


def match(
    game: AnyGame,
    players: Sequence[AnyPlayer],
    games: int = 1000,
    seed: int = 1,
    processes: int = 1,
    out: str | Path | None = None,
    report: Reporter = SILENT,
    trust: bool = False,
    reduce_variance: bool = False,
    openings: int = 0,
) -> _match.MatchResult:
    """Play a match: each player through all seats, every deal from every seat.

    Args:
        game: A game or its name.
        players: One per seat: names such as `"oos:1000"`, `"net:RUN"`, `"path/to/file.py:Class"`, or objects with
            `move(view)`.
        games: Number of games.
        seed: The same seed gives the same games.
        processes: Worker processes. More than one needs names, not objects, and a script needs
            `if __name__ == "__main__":` around the call.
        out: A run folder to write, or to continue; without it nothing is written.
        report: Receives progress.
        trust: Whether code in `.py` files may run that a run, a record or a network names.
        reduce_variance: In Leduc poker and hold'em, whether to estimate the payoff by AIVAT, too: `.result.reduced`. At
            least one player must have `action_probs`, as networks, strategies and styles do.
        openings: Number of random plies with which games begin, in games without chance: the same for a pair of games.

    Returns:
        The result: payoffs and scores with 95% intervals, `.records` of all games.

    Example:
        >>> import kibitz
        >>> len(kibitz.match("kuhn", ["oos:100", "random"], games=20).records)
        20
    """
    with only_named(game, *players, trust=trust):
        return _match.match(
            _load(game), list(players), games, seed, processes, _path(out), report, reduce_variance, openings
        )


def tournament(
    game: AnyGame,
    players: Sequence[AnyPlayer],
    games: int = 1000,
    seed: int = 1,
    processes: int = 1,
    out: str | Path | None = None,
    report: Reporter = SILENT,
    trust: bool = False,
    openings: int = 0,
) -> _tournament.Standings:
    """Play a round-robin tournament of a two-seat game: every pair plays the same deals.

    Args:
        game: A game or its name.
        players: Two or more names or objects, as for `match`.
        games: Number of games per pair.
        seed: The same seed gives the same games.
        processes: Worker processes, as for `match`.
        out: A run folder to write, or to continue; without it nothing is written.
        report: Receives progress.
        trust: Whether code in `.py` files may run that a run, a record or a network names.
        openings: Number of random plies with which games begin, in games without chance: the same in every match.

    Returns:
        The standings: mean payoffs with intervals, per pair and overall.

    Example:
        >>> import kibitz
        >>> table = kibitz.tournament("kuhn", ["oos:100", "ismcts:100", "random"], games=20)
        >>> len(table.names)
        3
    """
    with only_named(game, *players, trust=trust):
        return _tournament.tournament(_load(game), list(players), games, seed, processes, _path(out), report, openings)


@overload
def exploit(
    game: AnyGame, player: AnyPlayer | Strategy, seeds: int | None = None, seed: int = 1, processes: int = 1,
    report: Reporter = SILENT, trust: bool = False, method: Literal["exact"] = "exact",
) -> _exploitability.Exploited: ...  # fmt: skip


@overload
def exploit(
    game: AnyGame, player: AnyPlayer | Strategy, seeds: int | None = None, seed: int = 1, processes: int = 1,
    report: Reporter = SILENT, trust: bool = False, *, method: Literal["lbr", "rl", "ismcts"],
    preset: str | None = None, games: int | None = None, iterations: int | None = None, simulations: int | None = None,
    out: str | Path | None = None,
) -> Bound: ...  # fmt: skip


def exploit(
    game: AnyGame,
    player: AnyPlayer | Strategy,
    seeds: int | None = None,
    seed: int = 1,
    processes: int = 1,
    report: Reporter = SILENT,
    trust: bool = False,
    method: str = "exact",
    preset: str | None = None,
    games: int | None = None,
    iterations: int | None = None,
    simulations: int | None = None,
    out: str | Path | None = None,
) -> _exploitability.Exploited | Bound:
    """Measure the NashConv of a player or a strategy: exactly, or a lower bound.

    Exactly: in a two-seat zero-sum game that is small, or declares a public tree if the player doesn't search. A lower
    bound is what an opponent wins that was made for the player.

    Args:
        game: A game or its name.
        player: A name, a player, or a strategy such as `solve(...).strategy`.
        seeds: With `exact`, number of seeds to average over (3); a search plays another strategy with each. With `rl`
            and `ismcts`, number of exploiters, of which the best is measured (3 and 1).
        seed: The first seed.
        processes: Worker processes, as for `match`.
        report: Receives progress.
        trust: Whether code in `.py` files may run that a run, a record or a network names.
        method: `"exact"`; or a lower bound: `"rl"`, an exploiter that learns by playing; `"ismcts"`, one that searches
            with the player's policy as a model; `"lbr"`, local best response in hold'em.
        preset: With `rl` and `ismcts`, the budget: `"small"`, `"kibitz"` (default) or `"long"`.
        games: Number of games that measure a lower bound.
        iterations: With `rl`, iterations of learning.
        simulations: With `ismcts`, simulations per infoset.
        out: A run folder to write, or to continue, for a lower bound; by default a new one in `runs/` with `rl` and
            `ismcts`, and none with `lbr`.

    Returns:
        With `exact` the exploitability: `.nash_conv` is the mean over seeds, `.mean_strategy` has the figures of the
        mean strategy, and `.strategy` is that strategy. Else a bound: `.nash_conv` is a mean with its 95% interval.

    Example:
        >>> import kibitz
        >>> round(kibitz.exploit("kuhn", "random").nash_conv, 4)
        0.9167
        >>> mean = kibitz.exploit("kuhn", "ismcts:10", seeds=5)
        >>> abs(kibitz.exploit("kuhn", mean.strategy).nash_conv - mean.mean_strategy.nash_conv) < 1e-9
        True
    """
    budget = {"seeds": seeds, "games": games, "iterations": iterations, "simulations": simulations}
    _only_given_where_used(method, budget | {"preset": preset, "out": out})
    with only_named(game, player, trust=trust):
        rules = _load(game)
        if method == "exact":
            return _exploitability.exploit(rules, player, 3 if seeds is None else seeds, seed, processes, report)
        named: Any = _exploitability.named(player)
        named = f"strategy:{named}" if isinstance(named, Path) else named
        if method == "lbr":
            from .arena.holdem_lbr import local_bound

            return local_bound(rules, named, 10_000 if games is None else games, seed, processes, _path(out), report)
        from .arena.exploiters import runs

        spent = runs.budget_for(rules, named, method, preset, **budget)
        run = runs.open_run(_path(out), rules, named, method, spent, seed)
        return runs.exploit_run(run, processes, report, rules, named)


EXPLOIT_OPTIONS: dict[str, tuple[str, ...]] = {
    "exact": ("seeds",),
    "lbr": ("games", "out"),
    "rl": ("seeds", "preset", "games", "iterations", "out"),
    "ismcts": ("seeds", "preset", "games", "simulations", "out"),
}  # of `exploit`, by method


def _only_given_where_used(method: str, given: dict[str, Any]) -> None:
    choose("method of exploit", method, EXPLOIT_OPTIONS)
    for name, value in given.items():
        if value is not None and name not in EXPLOIT_OPTIONS[method]:
            users = " and ".join(each for each, names in EXPLOIT_OPTIONS.items() if name in names)
            raise BadInput(f"{name}={value} is for the methods {users}, not for {method}")


def play(
    game: AnyGame,
    against: AnyPlayer | None = None,
    seat: int | str = 1,
    advice: bool = False,
    seed: int | None = None,
    language: str = "en",
    trust: bool = False,
) -> None:
    """Play against a player, in a terminal or a notebook.

    Args:
        game: A game or its name.
        against: The opponent in all other seats, a name or an object; by default the strongest that answers within a
            second.
        seat: Your seat, from 1, or `"random"`.
        advice: Whether to show advice before each of your moves.
        seed: The same seed deals the same games; by default new ones.
        language: `"en"` or `"de"`.
        trust: Whether code in `.py` files may run that a run, a record or a network names.

    Example:
        >>> import kibitz
        >>> kibitz.play("leduc", against="oos:1000")  # doctest: +SKIP
    """
    from .app.commands.play import run_game

    with only_named(game, against, trust=trust):
        run_game(_load(game), against, None, advice, str(seat), seed, language)


# ---------------------------------------------------------------- training


@dataclass(frozen=True)
class TrainingRun:
    """A run folder of training: its metrics, a plot of them, the player that it makes."""

    run: Run  # the run folder
    trust: bool = False  # whether code in `.py` files that the run names may be run

    @property
    def folder(self) -> Path:
        """Where it is."""
        return self.run.folder

    @property
    def config(self) -> dict[str, Any]:
        """The exact configuration: learner, game, and every option."""
        return self.run.config()

    @property
    def metrics(self) -> list[dict[str, Any]]:
        """One dictionary per iteration that was measured."""
        return self.run.read_lines()

    def plot(self, metric: str | None = None, path: str | Path | None = None) -> Any:
        """Plot a metric over iterations, by default NashConv or the loss; into a file if a path is given."""
        from .app.ui import plots

        measured = {key for line in self.metrics for key in line} - {"iteration"}
        chosen = metric or next((key for key in ("nash_conv", "loss", "loss_1") if key in measured), None)
        if chosen not in measured:
            raise BadInput(f"no metric {chosen!r} in {self.folder}: there are {', '.join(sorted(measured)) or 'none'}")
        points = [(line["iteration"], line[chosen]) for line in self.metrics if chosen in line]
        title = str(self.config["game"])
        return plots.curves(_path(path), {self.folder.name: points}, title, chosen.replace("_", " "))

    def player(self, iteration: int = 0) -> Player:
        """The player that plays what was learned; `iteration` 0 is the last one."""
        from .learn.trainer import class_of

        with only_named(trust=self.trust):
            kind = class_of(self.run).player
            return make_for(f"{kind}:{self.folder}" + (f",iteration={iteration}" if iteration else ""), self.game)

    @property
    def game(self) -> Game:
        """The game that was trained on."""
        with only_named(trust=self.trust):
            return _load(str(self.config["game"]))

    def __str__(self) -> str:
        last = dict(self.metrics[-1]) if self.metrics else {"iteration": 0}
        values = ", ".join(f"{key} {value:.4g}" for key, value in last.items())
        return f"{self.folder}: {self.config['game']}, {values}"

    def _repr_html_(self) -> str:
        return f"<p>{escape(str(self))}</p>"


def train(
    learner: str,
    game: AnyGame,
    preset: str | None = None,
    out: str | Path | None = None,
    processes: int = 1,
    report: Reporter = SILENT,
    trust: bool = False,
    **options: Any,
) -> TrainingRun:
    """Train a network, into a run folder.

    Args:
        learner: `"exit-oos"`, `"tspg"`, `"deep-cfr"`, ..., or `"path/to/file.py:Class"`.
        game: A game or its name.
        preset: A named set of options, such as `"small"` or `"paper"`.
        out: The folder to write; by default a new one in `runs/`.
        processes: Worker processes. More than one needs `if __name__ == "__main__":` around the call in a script.
        report: Receives progress.
        trust: Whether code in `.py` files may run that a run, a record or a network names.
        **options: Single options, such as `iterations=20`; `kibitz train exit-oos --help` lists those of `exit-oos`.

    Returns:
        The run: `.metrics`, `.plot()`, `.player()`.

    Example:
        >>> import kibitz, tempfile
        >>> folder = tempfile.mkdtemp()
        >>> run = kibitz.train("exit-oos", "kuhn", preset="small", out=folder, iterations=2, simulations=100)
        >>> run.metrics[-1]["iteration"]
        2
    """
    from .learn import trainer

    with only_named(learner, game, trust=trust):
        config = trainer.configured(learner, full_name(_load(game)), preset, options)
        run = trainer.new_run(_path(out), learner, config)
        trainer.train(run, processes, report=report)
        return TrainingRun(run, trust)


def resume(
    folder: str | Path,
    iterations: int | None = None,
    processes: int = 1,
    report: Reporter = SILENT,
    trust: bool = False,
) -> TrainingRun:
    """Resume a training run from its last checkpoint; the result is that of a run that was never stopped.

    Args:
        folder: The run folder.
        iterations: A larger total number of iterations to reach; by default that of the run.
        processes: Worker processes, as for `train`.
        report: Receives progress.
        trust: Whether code in `.py` files may run that a run, a record or a network names.

    Returns:
        The run.

    Example:
        >>> import kibitz, tempfile
        >>> folder = tempfile.mkdtemp()
        >>> _ = kibitz.train("exit-oos", "kuhn", preset="small", out=folder, iterations=1, simulations=100)
        >>> kibitz.resume(folder, iterations=2).metrics[-1]["iteration"]
        2
    """
    from .learn import trainer

    with only_named(trust=trust):
        run = trainer.open_run(as_path(folder), iterations)
        trainer.train(run, processes, report=report)
        return TrainingRun(run, trust)


def models() -> dict[str, Any]:
    """List the trained models that come with Kibitz.

    Returns:
        Name -> what is known of it: game, origin, the player that plays it, size in bytes. A name such as
        `"models/leduc"` goes where a run folder does: `"net:models/leduc"`.

    Example:
        >>> import kibitz
        >>> "models/leduc" in kibitz.models()
        True
    """
    from .learn.model_files import PREFIX, describe, shipped

    return {f"{PREFIX}{name}": describe(path) for name, path in shipped().items()}


def _path(folder: str | Path | None) -> Path | None:
    return None if folder is None else as_path(folder)
