"""Matches, tournaments, exploitability, and play against a person."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, overload

from ..core.names import BadInput, choose
from ..core.progress import SILENT, Reporter
from ..core.trust import only_named
from ..games import load as _load
from ..play import exploitability as _exploitability
from ..play import match as _match
from ..play import tournament as _tournament
from ..play.measures import bound, with_games
from .arguments import AnyGame, AnyPlayer, path_or_none

if TYPE_CHECKING:
    from ..play.exploiters.bound import Bound
    from ..search.strategy import Strategy


def match(
    game: AnyGame,
    players: Sequence[AnyPlayer],
    games: int = 1000,
    seed: int = 1,
    processes: int | str = 1,
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
        processes: Worker processes, or the address of a Ray cluster ("auto"). More than one process needs names, not
            objects, and a script needs `if __name__ == "__main__":` around the call.
        out: A run folder to write, or to continue; without it nothing is written.
        report: Receives progress.
        trust: Whether code in `.py` files may run that a run, a record or a network names.
        reduce_variance: Whether to estimate the payoff by AIVAT, too, in games where that is known (Leduc poker):
            `.result.reduced`. At least one player must have `action_probs`, as networks and strategies do.
        openings: Number of random plies with which games begin, in games without chance: the same for a pair of games.

    Returns:
        The result: payoffs and scores with 95% intervals, `.records` of all games.

    Example:
        >>> import kibitz
        >>> len(kibitz.match("kuhn", ["oos:100", "random"], games=20).records)
        20
    """
    if isinstance(players, str):
        raise BadInput(f"players={players!r} should be a list, one player per seat")
    with only_named(game, *players, trust=trust):
        return _match.match(
            _load(game), list(players), games, seed, processes, path_or_none(out), report, reduce_variance, openings
        )


def tournament(
    game: AnyGame,
    players: Sequence[AnyPlayer],
    games: int = 1000,
    seed: int = 1,
    processes: int | str = 1,
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
        return _tournament.tournament(
            _load(game), list(players), games, seed, processes, path_or_none(out), report, openings
        )


@overload
def exploit(
    game: AnyGame, player: AnyPlayer | Strategy, seeds: int | None = None, seed: int = 1, processes: int | str = 1,
    report: Reporter = SILENT, trust: bool = False, method: Literal["exact"] = "exact",
) -> _exploitability.Exploited: ...  # fmt: skip


@overload
def exploit(
    game: AnyGame, player: AnyPlayer | Strategy, seeds: int | None = None, seed: int = 1, processes: int | str = 1,
    report: Reporter = SILENT, trust: bool = False, *, method: Literal["rl", "ismcts", "lbr"],
    preset: str | None = None, games: int | None = None, iterations: int | None = None, simulations: int | None = None,
    out: str | Path | None = None,
) -> Bound: ...  # fmt: skip


def exploit(
    game: AnyGame,
    player: AnyPlayer | Strategy,
    seeds: int | None = None,
    seed: int = 1,
    processes: int | str = 1,
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
            with the player's policy as a model; or one that plays, of `kibitz exploit --measures`.
        preset: With `rl` and `ismcts`, the budget: `"small"`, `"kibitz"` (default) or `"long"`.
        games: Number of games that measure a lower bound.
        iterations: With `rl`, iterations of learning.
        simulations: With `ismcts`, simulations per infoset.
        out: A run folder to write, or to continue, for a lower bound; by default a new one in `runs/` with `rl` and
            `ismcts`, else none.

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
        if method in with_games():
            games = 10_000 if games is None else games
            return bound(method, rules, named, games, seed, processes, path_or_none(out), report)
        from ..play.exploiters import runs

        spent = runs.budget_for(rules, named, method, preset, **budget)
        run = runs.open_run(path_or_none(out), rules, named, method, spent, seed)
        return runs.exploit_run(run, processes, report, rules, named)


EXPLOIT_OPTIONS: dict[str, tuple[str, ...]] = {
    "exact": ("seeds",),
    "rl": ("seeds", "preset", "games", "iterations", "out"),
    "ismcts": ("seeds", "preset", "games", "simulations", "out"),
}  # of `exploit`, by method
OF_MEASURES = ("games", "out")  # of those that play games


def _only_given_where_used(method: str, given: dict[str, Any]) -> None:
    options = EXPLOIT_OPTIONS | dict.fromkeys(with_games(), OF_MEASURES)
    choose("method of exploit", method, options)
    for name, value in given.items():
        if value is not None and name not in options[method]:
            users = " and ".join(each for each, names in options.items() if name in names)
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
    from ..app.commands.play import run_game

    with only_named(game, against, trust=trust):
        run_game(_load(game), against, None, advice, str(seat), seed, language)
