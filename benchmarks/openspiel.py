"""Solvers, searches and playouts against those of OpenSpiel."""

from collections.abc import Callable
from functools import partial
from typing import Any

from kibitz import games
from kibitz.games.random_games import finished
from kibitz.search.mcts import Uct
from kibitz.search.oos import Oos
from kibitz.search.strategy import uniform_strategy
from kibitz.solve.best_response import evaluate
from kibitz.solve.cfr import Cfr
from kibitz.solve.mccfr import ExternalSampling, OutcomeSampling
from kibitz.solve.sequence_form import unfold

from .measuring import Row, Work

OOS_MATCH = 100_000  # simulations of one search before it is begun again, as in a match
UCT_SIMULATIONS = 10_000  # per search

PEERS = {
    "kuhn": "kuhn_poker",
    "leduc": "leduc_poker(suit_isomorphism=true)",
    "leduc:distinct_suits=yes": "leduc_poker",
    "liars_dice": "liars_dice(numdice=1)",
    "liars_dice:2": "liars_dice(numdice=2)",
    "holdem": "universal_poker(betting=limit,numPlayers=2,numRounds=4,blind=10 5,firstPlayer=2 1 1 1,numSuits=4,"
    "numRanks=13,numHoleCards=2,numBoardCards=0 3 1 1,raiseSize=10 10 20 20,maxRaises=3 4 4 4,bettingAbstraction=fcpa)",
} | {
    f"goofspiel:{n},base=1": "turn_based_simultaneous_game(game=goofspiel("
    f"imp_info=true,num_cards={n},points_order=ascending,returns_type=win_loss))"
    for n in (6, 13)
}
BOARDS = {  # name -> OpenSpiel's name, required ratio of UCT
    "connect_four": ("connect_four", 12),
    "breakthrough": ("breakthrough(rows=8,columns=8)", 15),
    "hex": ("hex(board_size=11)", 15),
    "othello": ("othello", 15),
    "gomoku": ("gomoku(size=15,connect=5)", 15),
    "tic_tac_toe": ("tic_tac_toe", 3),
}
PEERS |= {name: peer for name, (peer, _) in BOARDS.items()}


# ---------------------------------------------------------------- ours


def _our_solver(make: Callable[..., Any], name: str, times: int = 1) -> Work:
    """Units of work by a solver that does `times` of them per iteration."""
    solver = make(games.load(name))
    return lambda count: solver.run(max(count // times, 1))


def _our_oos(name: str, targeted: bool = False) -> Work:
    """Simulations of a search that is begun again every OOS_MATCH, targeted at the position after two moves or not."""
    game = games.load(name)
    search = Oos(game, 1, delta=0.9 if targeted else 0.0)
    state, view = games.positions(game, 2)
    moves = 0
    while moves < 2 or game.turn(state) == games.CHANCE:
        moves += game.turn(state) != games.CHANCE
        actions = games.legal_actions(game, state)
        game.play(state, actions[len(actions) // 2])
    game.look(state, game.turn(state), view)

    def work(count: int) -> None:
        while count > 0:
            if search.simulations >= OOS_MATCH:
                search.begin(1)
            if search.simulations == 0:
                search.target(view, game.turn(state))
            part = min(count, OOS_MATCH - search.simulations)
            search.run(part)
            count -= part

    return work


def _our_nash_conv(name: str) -> Work:
    game = games.load(name)

    def work(count: int) -> None:  # unfolds the game each time, as the peer does
        for _ in range(count):
            evaluate(unfold(game), uniform_strategy(game))

    return work


def _our_playouts(name: str) -> Work:
    game = games.load(name)
    start = games.positions(game)[0]
    for outcome in _deal(name):
        game.play(start, outcome)
    return lambda count: finished(game, count, 1, start)


def _our_uct(name: str) -> Work:
    """Simulations from the opening, a new tree every 10,000."""
    game = games.load(name)
    search, opening = Uct(game, 1, reuse=False, prove=False), games.positions(game)[0]

    def work(count: int) -> None:
        while count > 0:
            search.advise(opening, 0, min(count, UCT_SIMULATIONS))
            count -= UCT_SIMULATIONS

    return work


# ---------------------------------------------------------------- theirs


def peer_game(name: str) -> Any:
    import pyspiel

    return pyspiel.load_game(PEERS[name])


def _peer_solver(solver: str, name: str, times: int = 1) -> Work:
    import pyspiel

    made = getattr(pyspiel, solver)(peer_game(name))

    def work(count: int) -> None:
        for _ in range(max(count // times, 1)):
            made.evaluate_and_update_policy() if hasattr(made, "evaluate_and_update_policy") else made.run_iteration()

    return work


def _peer_nash_conv(name: str) -> Work:
    import pyspiel

    game = peer_game(name)
    policy = pyspiel.UniformRandomPolicy(game)

    def work(count: int) -> None:
        for _ in range(count):
            pyspiel.nash_conv(game, policy, True)

    return work


def _peer_uct(name: str) -> Work:
    import pyspiel

    game = peer_game(name)
    evaluator = pyspiel.RandomRolloutEvaluator(1, 1)

    def work(count: int) -> None:
        while count > 0:
            part = min(count, UCT_SIMULATIONS)
            pyspiel.MCTSBot(game, evaluator, 2**0.5, part, 1000, False, 1, False).step(game.new_initial_state())
            count -= part

    return work


def _deal(name: str) -> list[int]:
    """Chance outcomes up to the first move: the peer's playouts can't begin at a chance turn."""
    state = peer_game(name).new_initial_state()
    dealt: list[int] = []
    while state.is_chance_node():
        dealt.append(state.legal_actions()[-1 if dealt else 0])
        state.apply_action(dealt[-1])
    return dealt


def _peer_playouts(name: str) -> Work:
    """The fastest way from Python: one simulation of its MCTSBot, whose evaluator does all playouts in C++."""
    import pyspiel

    game = peer_game(name)
    state = game.new_initial_state()
    for outcome in _deal(name):
        state.apply_action(outcome)

    def work(count: int) -> None:
        evaluator = pyspiel.RandomRolloutEvaluator(count, 1)
        pyspiel.MCTSBot(game, evaluator, 1.4, 1, 1000, False, 1, False).step(state)

    return work


# ---------------------------------------------------------------- the rows

SUITED = "leduc:distinct_suits=yes"
SAMPLED = {"leduc": 8, "liars_dice": 8, "goofspiel:6,base=1": 10, "goofspiel:13,base=1": 10}  # name -> required ratio
# The same algorithm on both sides, with one table from beginning to end. Outcome sampling explores with probability
# 0.6; ours updates the average strategy at the other seat's infosets, the peer at those of the updating seat.
ROWS = [
    Row(
        f"{short}-mccfr-{name.removesuffix(',base=1')}",
        unit,
        wanted,
        partial(_our_solver, solver, name, times),
        partial(_peer_solver, f"{solver.__name__}MCCFRSolver", name, times),
        peer_package="pyspiel",
    )
    for short, solver, unit, times, games_of in (
        ("os", OutcomeSampling, "trajectories/s", 2, SAMPLED),
        ("es", ExternalSampling, "iterations/s", 1, {"leduc": 10, "liars_dice": 10}),
    )
    for name, wanted in games_of.items()
]
ROWS += [
    Row(
        f"{method}-leduc-936",
        "iterations/s",
        50,
        partial(_our_solver, partial(Cfr, variant=method), SUITED),
        partial(_peer_solver, solver, SUITED),
        peer_package="pyspiel",
    )
    for method, solver in (("cfr", "CFRSolver"), ("cfr+", "CFRPlusSolver"))
]
ROWS.append(
    Row(
        "nashconv-liars_dice",
        "evaluations/s",
        100,
        partial(_our_nash_conv, "liars_dice"),
        partial(_peer_nash_conv, "liars_dice"),
        peer_package="pyspiel",
    )
)
# OpenSpiel has no Online Outcome Sampling: the peer of these rows is our own untargeted search.
ROWS += [
    Row(f"oos-targeted-{name}", "simulations/s", 0.5, partial(_our_oos, name, targeted=True), partial(_our_oos, name))
    for name in ("leduc", "liars_dice", "goofspiel:6", "goofspiel:13")
]
ROWS += [
    Row(
        f"playouts-{name.removesuffix(',base=1')}",
        "games/s",
        20,
        partial(_our_playouts, name),
        partial(_peer_playouts, name),
        peer_package="pyspiel",
    )
    for name in PEERS
]
ROWS += [
    Row(
        f"uct-{name}",
        "simulations/s",
        wanted,
        partial(_our_uct, name),
        partial(_peer_uct, name),
        peer_package="pyspiel",
    )
    for name, (_, wanted) in BOARDS.items()
]
