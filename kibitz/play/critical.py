"""Critical positions: those in which a wrong move changes the outcome, by a solver. A player is measured by the share
of them in which it keeps the outcome.

Positions are reached by random moves. Each is made of the seed and its number, so that any process may find it.
"""

from collections.abc import Callable, Sequence
from contextlib import closing
from typing import Any, NamedTuple

import numpy as np

from ..core.names import BadInput, at_least
from ..core.pool import Places, spread
from ..core.progress import SILENT, Reporter
from ..core.workers import check_main_guard
from ..games import OVER, Game, full_name, legal_actions, positions
from ..search.alphabeta import DEEPEST, AlphaBeta
from ..search.connect_four_solver import ConnectFourSolver, has_solver
from .play import as_game, labels, seed_of, shared
from .players import label, make_for
from .statistics import Estimate, interval

TRIES = 10_000  # random games in which a critical position is looked for
NODES = 10**9  # of the general solver per position


class Critical(NamedTuple):
    """A critical position, and what players made of it."""

    actions: list[int]  # that led there
    outcomes: list[float]  # after each legal action, for the seat to move
    kept: list[bool]  # by each player


class AlphaBetaSolver:
    """Exact payoffs of every move, by alpha-beta search to the end of the game: for small boards and late positions."""

    def __init__(self, game: Game) -> None:
        self.game, self.search = game, AlphaBeta(game, depth=DEEPEST)  # which asks no other solver

    def outcomes(self, state: Any) -> list[float]:
        seat, found = self.game.turn(state), []
        for action in legal_actions(self.game, state):
            following = np.array([state], self.game.state)[0]
            self.game.play(following, action)
            turn = self.game.turn(following)
            if turn == OVER:
                found.append(float(self.game.payoff(following, seat)))
                continue
            advice = self.search.advise(following, turn, NODES)
            if not advice.exact and len(advice.actions) > 1:
                raise BadInput(f"a position of {full_name(self.game)} is too large to solve: look for later ones")
            found.append(advice.root_value if advice.exact else max(self.outcomes(following)))
            if turn != seat:
                found[-1] = -found[-1]
        return found


def solver_of(game: Game) -> Any:
    """The solver of a game: `outcomes(state)`."""
    return ConnectFourSolver(game) if has_solver(game) else AlphaBetaSolver(game)


def critical_position(
    game: Game, solver: Any, seed: int, number: int, plies: tuple[int, int]
) -> tuple[list[int], list[float]]:
    """The moves that lead to a critical position, and the outcome after each legal move."""
    generator = np.random.default_rng([seed, number])
    for _ in range(TRIES):
        state, actions = positions(game)[0], list[int]()
        wanted = int(generator.integers(plies[0], plies[1] + 1))
        while len(actions) < wanted and game.turn(state) != OVER:
            actions.append(int(generator.choice(legal_actions(game, state))))
            game.play(state, actions[-1])
        if game.turn(state) != OVER and len(legal_actions(game, state)) > 1:
            outcomes = solver.outcomes(state)
            if min(outcomes) < max(outcomes):
                return actions, outcomes
    raise BadInput(f"no critical position of {full_name(game)} was found after {plies[0]} to {plies[1]} random plies")


def examiner(game: str | Game, players: Sequence[Any], seed: int, plies: tuple[int, int]) -> Callable[[int], Critical]:
    """Return the function that shows a position, given by its number, to all players: the part of a worker process."""
    rules = as_game(game)
    solver, made = solver_of(rules), [make_for(each, rules) for each in players]

    def examine(number: int) -> Critical:
        actions, outcomes = critical_position(rules, solver, seed, number, plies)
        state, kept = positions(rules)[0], []
        for action in actions:
            rules.play(state, action)
        legal, seat = legal_actions(rules, state), rules.turn(state)
        for place, player in enumerate(made):
            player.begin(rules, seat, seed_of(seed, number, place))
            action = int(player.move(state.copy()))
            if action not in legal:
                raise BadInput(f"{label(players[place])} played {action} in position {number + 1}, which is illegal")
            kept.append(outcomes[legal.index(action)] == max(outcomes))
        return Critical(actions, outcomes, kept)

    return examine


def examine_players(
    game: str | Game,
    players: Sequence[Any],
    count: int = 200,
    plies: tuple[int, int] = (8, 25),
    seed: int = 1,
    processes: Places | None = None,
    report: Reporter = SILENT,
) -> dict[str, Estimate]:
    """The share of critical positions in which each player keeps the outcome, with its 95% interval (Wilson).

    Args:
        game: A two-seat zero-sum game without hidden information and chance.
        players: Names or objects.
        count: Number of positions, the same for all players.
        plies: The fewest and the most random moves before a position.
        seed: The same seed gives the same positions.
        processes: Worker processes, by default one per core; or the address of a Ray cluster.
        report: Receives the progress.
    """
    check_main_guard()
    at_least("positions", count, 1, 10**6)
    at_least("seed", seed, 0)
    if not 0 <= plies[0] <= plies[1]:
        raise BadInput(f"plies from {plies[0]} to {plies[1]}: the first should be at least 0, the second not less")
    rules = as_game(game)
    AlphaBeta(rules)  # refuses games that can't be solved
    given, processes = shared(rules, players, processes)
    kept = np.zeros(len(players))
    arguments = (given, list(players), seed, plies)
    with closing(spread(examiner, arguments, range(count), processes, report)) as done:
        for n, critical in enumerate(done, 1):
            kept += critical.kept
            report.progress(n, count, "positions")
    ones = np.ones(count)
    return {
        name: interval(np.arange(count) < each, ones, bounds=(0.0, 1.0))
        for name, each in zip(labels(players), kept, strict=True)
    }
