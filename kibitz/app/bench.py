"""Our speed against OpenSpiel's on one core, both measured in the same run, by turns.

Machines are noisy, and change their speed from second to second: the two sides of a round are measured one right after
the other, and the round with the median ratio is the one that is told.
"""

import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from .. import games
from ..games.holdem.evaluator import evaluate
from ..jit import generators
from ..learn.exit_oos import ExItOos
from ..learn.features.linear import linear
from ..learn.features.naive import naive
from ..learn.features.patterns import Pattern, canonical, combined, turned, window
from ..learn.features.sets import atoms_of
from ..learn.perceptron import Layers, compiled, new_layers, passes, sizes_of
from ..names import BadInput, choose
from ..search.best_response import judge
from ..search.cfr import Cfr
from ..search.concurrent_oos import UNDER_WAY, ConcurrentOos, new_batch
from ..search.ensemble import Ensemble
from ..search.guesses import draw_guesses
from ..search.ismcts import SingleUct
from ..search.mccfr import ExternalSampling, OutcomeSampling
from ..search.oos import Oos
from ..search.playouts import by_policy, finished
from ..search.sequence_form import unfold
from ..search.strategy import uniform_strategy
from ..search.table import clear
from ..search.uct import Uct
from . import bench_deep_cfr, bench_doppelkopf_networks

Work = Callable[[int], object]  # does so many units

ROUNDS = 9
OOS_MATCH = 100_000  # simulations of one match, as a player would do them
SECONDS = 0.4  # a round of one side
UCT_SIMULATIONS = 10_000  # of a search


@dataclass(frozen=True)
class Row:
    name: str
    unit: str
    wanted: float  # the ratio that we hold ourselves to
    ours: Callable[[], Work]  # prepares it
    peer: Callable[[], Work] | float  # or a published figure, of another machine

    def measure(self) -> dict[str, Any]:
        sides = [_calibrated(side()) for side in (self.ours, self.peer) if callable(side)]
        rounds = [tuple(_rate(work, count) for work, count in sides) for _ in range(ROUNDS)]
        if not callable(self.peer):
            rounds = [(ours, self.peer) for (ours,) in rounds]
        ours, peer = sorted(rounds, key=lambda pair: pair[0] / pair[1])[ROUNDS // 2]
        return {"name": self.name, "unit": self.unit, "ours": ours, "peer": peer, "ratio": ours / peer}


def _rate(work: Work, count: int) -> float:
    began = time.perf_counter()
    work(count)
    return count / (time.perf_counter() - began)


def _calibrated(work: Work) -> tuple[Work, int]:
    """The work, and how much of it takes about one round."""
    work(1)  # compiles
    count = 1
    while (rate := _rate(work, count)) * SECONDS > 2 * count:
        count = min(10 * count, max(int(rate * SECONDS), 1))
    return work, count


def select(wanted: list[str]) -> list[Row]:
    """Rows whose name holds one of the words; all where none is given."""
    try:
        import phevaluator  # noqa: F401
        import pyspiel  # noqa: F401
    except ImportError:
        raise BadInput("benchmarks measure against OpenSpiel and phevaluator: pip install 'kibitz[bench]'") from None
    chosen = [row for row in ROWS if not wanted or any(word in row.name for word in wanted)]
    for word in wanted:
        if not any(word in row.name for row in chosen):
            choose("benchmark", word, [row.name for row in ROWS])
    return chosen


# ---------------------------------------------------------------- our side


def _our_solver(make: Callable[..., Any], name: str, times: int = 1) -> Work:
    """Units of work by a solver that does `times` of them an iteration."""
    solver = make(games.load(name))
    return lambda count: solver.run(max(count // times, 1))


def _our_oos(name: str, targeted: bool = False) -> Work:
    """Simulations from nothing, aimed at the position after two moves where asked; begun anew when they get many."""
    game = games.load(name)
    search = Oos(game, 1, targeting=0.9 if targeted else 0.0)
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
                search.aim(view, game.turn(state))
            part = min(count, OOS_MATCH - search.simulations)
            search.run(part)
            count -= part

    return work


def _our_nash_conv(name: str) -> Work:
    game = games.load(name)

    def work(count: int) -> None:  # from nothing each time, as the peer does it
        for _ in range(count):
            judge(unfold(game), uniform_strategy(game))

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


# ---------------------------------------------------------------- searches on guesses

# The published C++ program: 4.5 s for the decisions of one seat in a game at 10 guesses x 1,000 rollouts, on one slow
# ARM core. It is quoted, not measured here.
PUBLISHED_SECONDS = 4.5
DECISIONS, ROLLOUTS = 12, 10_000
CARDS = (1, 13, 25, 37)  # the card that is to be played


def _views(seat: int | None = None) -> dict[int, tuple[Any, int]]:
    """Of a random game of Doppelkopf: number of the card -> view, seat to play it; or only those of one seat."""
    game, rng = games.load("doppelkopf:thesis"), generators(1, 1)[0]
    state, found = games.positions(game)[0], {}
    while (turn := game.turn(state)) != games.OVER:
        aside = turn != games.CHANCE and game.aside(state)
        if turn != games.CHANCE and not aside and seat in (None, turn):
            found[1 + int(state.count)] = games.view_of(game, state, turn), turn
        game.play(state, games.legal_actions(game, state)[0] if aside else game.pick(state, rng))
    return found


def _our_rollouts(make: Callable[..., Any], card: int) -> Work:
    search, (view, seat) = make(games.load("doppelkopf:thesis"), 1), _views()[card]

    def work(count: int) -> None:
        while count > 0:
            search.advise(view, seat, min(count, ROLLOUTS))
            count -= ROLLOUTS

    return work


def _our_guesses(card: int) -> Work:
    game, (view, seat), rng = games.load("doppelkopf:thesis"), _views()[card], generators(1, 1)[0]

    def work(count: int) -> None:
        while count > 0:
            draw_guesses(game, view, seat, min(count, ROLLOUTS), rng)
            count -= ROLLOUTS

    return work


def _our_decisions(make: Callable[..., Any]) -> Work:
    """All of one seat in a game, so many times."""
    search, views = make(games.load("doppelkopf:thesis"), 1), _views(0).values()

    def work(count: int) -> None:
        for _ in range(count):
            for view, seat in views:
                search.advise(view, seat, ROLLOUTS)

    return work


# ---------------------------------------------------------------- OpenSpiel's


PEERS = {
    "kuhn": "kuhn_poker",
    "leduc": "leduc_poker(suit_isomorphism=true)",
    "leduc:told_apart=yes": "leduc_poker",
    "liars_dice": "liars_dice(numdice=1)",
    "liars_dice:2": "liars_dice(numdice=2)",
    "holdem": "universal_poker(betting=limit,numPlayers=2,numRounds=4,blind=10 5,firstPlayer=2 1 1 1,numSuits=4,"
    "numRanks=13,numHoleCards=2,numBoardCards=0 3 1 1,raiseSize=10 10 20 20,maxRaises=3 4 4 4,bettingAbstraction=fcpa)",
} | {
    f"goofspiel:{n},base=1": "turn_based_simultaneous_game(game=goofspiel("
    f"imp_info=true,num_cards={n},points_order=ascending,returns_type=win_loss))"
    for n in (6, 13)
}


BOARDS = {  # name -> OpenSpiel's, and what we want of UCT
    "connect_four": ("connect_four", 12),
    "breakthrough": ("breakthrough(rows=8,columns=8)", 15),
    "hex": ("hex(board_size=11)", 15),
    "othello": ("othello", 15),
    "gomoku": ("gomoku(size=15,connect=5)", 15),
    "tic_tac_toe": ("tic_tac_toe", 3),
}
PEERS |= {name: peer for name, (peer, _) in BOARDS.items()}


def _load(name: str) -> Any:
    import pyspiel

    return pyspiel.load_game(PEERS[name])


def _peer_solver(solver: str, name: str, times: int = 1) -> Work:
    import pyspiel

    made = getattr(pyspiel, solver)(_load(name))

    def work(count: int) -> None:
        for _ in range(max(count // times, 1)):
            made.evaluate_and_update_policy() if hasattr(made, "evaluate_and_update_policy") else made.run_iteration()

    return work


def _peer_nash_conv(name: str) -> Work:
    import pyspiel

    game = _load(name)
    policy = pyspiel.UniformRandomPolicy(game)

    def work(count: int) -> None:
        for _ in range(count):
            pyspiel.nash_conv(game, policy, True)

    return work


def _peer_uct(name: str) -> Work:
    import pyspiel

    game = _load(name)
    evaluator = pyspiel.RandomRolloutEvaluator(1, 1)

    def work(count: int) -> None:
        while count > 0:
            part = min(count, UCT_SIMULATIONS)
            pyspiel.MCTSBot(game, evaluator, 2**0.5, part, 1000, False, 1, False).step(game.new_initial_state())
            count -= part

    return work


def _deal(name: str) -> list[int]:
    """Outcomes that bring the peer's game to its first move: its playouts can't begin at a chance turn."""
    state = _load(name).new_initial_state()
    dealt: list[int] = []
    while state.is_chance_node():
        dealt.append(state.legal_actions()[-1 if dealt else 0])
        state.apply_action(dealt[-1])
    return dealt


def _peer_playouts(name: str) -> Work:
    """The fastest way from Python: one simulation of its MCTSBot, whose evaluator does all playouts in C++."""
    import pyspiel

    game = _load(name)
    state = game.new_initial_state()
    for outcome in _deal(name):
        state.apply_action(outcome)

    def work(count: int) -> None:
        evaluator = pyspiel.RandomRolloutEvaluator(count, 1)
        pyspiel.MCTSBot(game, evaluator, 1.4, 1, 1000, False, 1, False).step(state)

    return work


# ---------------------------------------------------------------- poker hands


def _sevens(count: int) -> np.ndarray:
    """Seven cards each, side by side."""
    return np.ascontiguousarray(np.random.default_rng(1).random((count, 52)).argsort()[:, :7].T.astype(np.uint8))


def _our_hands() -> Work:
    game = games.load("holdem")
    return lambda count: finished(game, count)


def _peer_hands() -> Work:
    """From the deal on, as a program in Python plays them. Its playouts in C++ begin after it: `playouts-holdem`."""
    game, chance = _load("holdem"), random.Random(1)

    def work(count: int) -> None:
        for _ in range(count):
            state = game.new_initial_state()
            while not state.is_terminal():
                state.apply_action(chance.choice(state.legal_actions()))

    return work


def _our_evaluator() -> Work:
    hands = _sevens(100_000)
    out = np.zeros(hands.shape[1], np.int64)

    def work(count: int) -> None:
        while count > 0:
            evaluate(hands[:, :count], out)
            count -= hands.shape[1]

    return work


def _peer_evaluator() -> Work:
    """phevaluator, in C, asked for one hand at a time: it has no other way."""
    from phevaluator import evaluate_cards

    hands = _sevens(1000).T.tolist()

    def work(count: int) -> None:
        for i in range(count):
            evaluate_cards(*hands[i % len(hands)])

    return work


# ---------------------------------------------------------------- networks in playouts

# Here both sides are ours: positions that a network evaluates a second, in the first simulations of searches (later
# ones hardly leave the tree in a small game). The networks are the paper's, and a large one.
NETWORKS = [
    ("leduc", "128"),
    ("goofspiel:6", "128-64"),
    ("goofspiel:13", "128-128-64"),
    ("liars_dice", "128-64"),
    ("liars_dice:2", "128-64"),
    ("goofspiel:13", "512-512-512"),
]
FRESH = 200  # simulations of a search
SIDE_BY_SIDE = 32  # games, where in batches


def _layers(name: str, hidden: str) -> Layers:
    sizes = [int(size) for size in hidden.split("-")]
    return new_layers(sizes_of(games.load(name), sizes), np.random.default_rng(1))


def _compiled_search(name: str, hidden: str) -> Work:
    """Positions that the compiled network evaluates inside the search's kernel."""
    policy = compiled(_layers(name, hidden))
    search = Oos(games.load(name), policy=policy)

    def work(count: int) -> None:
        until = policy.asked[0] + count
        while policy.asked[0] < until:
            clear(search.table)
            search.run(FRESH)

    return work


def _batched_search(name: str, hidden: str, side_by_side: int, under_way: int) -> Work:
    """Positions that torch evaluates for so many searches at once."""
    from ..learn.apprentice import batch_evaluator

    game, evaluate = games.load(name), batch_evaluator(_layers(name, hidden), "cpu")
    searches = [ConcurrentOos(game, 1, under_way) for _ in range(side_by_side)]
    batch = new_batch(game, side_by_side * under_way)

    def work(count: int) -> None:
        while count > 0:
            waiting = 0
            for search in searches:
                if not search.left[0]:  # a new one, while the last machines of the old one still run
                    clear(search.table)
                    search.machines["busy"] = 0
                    search.left[0] = FRESH
                waiting += search.advance(batch, waiting)
            batch.logits[:waiting] = evaluate(batch.encodings[:waiting])
            count -= waiting

    return work


def _encodings(name: str) -> np.ndarray:
    """Of decisions in random games."""
    game, rng = games.load(name), generators(1, 1)[0]
    found: list[np.ndarray] = []
    while len(found) < 2000:
        state = games.positions(game)[0]
        while (turn := game.turn(state)) != games.OVER:
            if turn != games.CHANCE:
                found.append(np.zeros(game.facts.encoding, np.float32))
                game.observe(state, turn, found[-1])
            game.play(state, game.pick(state, rng))
    return np.array(found)


def _compiled_alone(name: str, hidden: str) -> Work:
    policy, encodings = compiled(_layers(name, hidden)), _encodings(name)
    return lambda count: passes(policy, encodings, count)


def _batched_alone(name: str, hidden: str, rows: int) -> Work:
    from ..learn.apprentice import batch_evaluator

    evaluate, encodings = batch_evaluator(_layers(name, hidden), "cpu"), _encodings(name)[:rows]

    def work(count: int) -> None:
        for _ in range(-(-count // rows)):
            evaluate(encodings)

    return work


# ---------------------------------------------------------------- patterns in playouts

# Both sides are ours again: tables of bits against every pattern tested for every action. The patterns are the atoms
# and 200 pairs of pairs by chance: what they are makes no difference to the tables, and little to the tests.
GROWN = 200
TEN = (
    "breakthrough", "connect_four", "fanorona", "gomoku", "hex:7", "hex:11", "knightthrough", "othello", "teeko",
    "yavalath",
)  # fmt: skip


def _patterns(name: str) -> tuple[Any, list[list[Pattern]], list[np.ndarray]]:
    game: Any = games.load(name)
    chance, eye = np.random.default_rng(1), window(game.board())
    sets = []
    for seat in range(2):
        found = dict.fromkeys(atoms_of(game, "faithful", seat))
        wanted = len(found) + GROWN
        while len(found) < wanted:
            one, two = (list(found)[i] for i in chance.integers(len(found), size=2))
            both = combined(one, turned(two, eye, int(chance.integers(len(eye.turns)))), eye)
            if both is not None and len(both.elements) > 1:
                found[canonical(both, eye)] = None
        sets.append(list(found))
    return game, sets, [chance.normal(0, 0.15, len(each)) for each in sets]


def _pattern_playouts(make: Any, name: str) -> Work:
    game, sets, weights = _patterns(name)
    policy = make(game, "faithful", sets, weights)
    return lambda count: by_policy(game, policy, count, 1)


# ---------------------------------------------------------------- the table


SUITED = "leduc:told_apart=yes"
ROWS = [
    Row(
        f"{short}-mccfr-{name}",
        unit,
        wanted,
        partial(_our_solver, solver, name, times),
        partial(_peer_solver, f"{solver.__name__}MCCFRSolver", name, times),
    )
    for short, solver, unit, wanted, times in (
        ("os", OutcomeSampling, "trajectories/s", 8, 2),
        ("es", ExternalSampling, "iterations/s", 10, 1),
    )
    for name in ("leduc", "liars_dice")
]
ROWS += [
    Row(
        f"{method}-leduc-936",
        "iterations/s",
        50,
        partial(_our_solver, partial(Cfr, variant=method), SUITED),
        partial(_peer_solver, solver, SUITED),
    )
    for method, solver in (("cfr", "CFRSolver"), ("cfr+", "CFRPlusSolver"))
]
ROWS.append(
    Row(
        "nashconv-liars_dice",
        "a second",
        100,
        partial(_our_nash_conv, "liars_dice"),
        partial(_peer_nash_conv, "liars_dice"),
    )
)
ROWS += [
    Row(
        f"oos-{name.removesuffix(',base=1')}",
        "simulations/s",
        wanted,
        partial(_our_oos, name),
        partial(_peer_solver, "OutcomeSamplingMCCFRSolver", name, 2),
    )
    for name, wanted in (("leduc", 8), ("liars_dice", 8), ("goofspiel:6,base=1", 10), ("goofspiel:13,base=1", 10))
]
# Here the peer is our own untargeted search.
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
    )
    for name in PEERS
]
ROWS += [
    Row("hands-holdem", "games/s", 30, _our_hands, _peer_hands),
    Row("evaluator-holdem", "hands/s", 50, _our_evaluator, _peer_evaluator),
]
ROWS += [
    Row(f"uct-{name}", "simulations/s", wanted, partial(_our_uct, name), partial(_peer_uct, name))
    for name, (_, wanted) in BOARDS.items()
]
for label, make in (("ensemble", partial(Ensemble, exact=0)), ("single", SingleUct)):
    ROWS += [
        Row(
            f"{label}-uct-doppelkopf-card-{card}",
            "simulations/s",
            5,
            partial(_our_rollouts, make, card),
            DECISIONS * ROLLOUTS / PUBLISHED_SECONDS,
        )
        for card in CARDS
    ]
ROWS.append(Row("guesses-doppelkopf-card-25", "deals/s", 1, partial(_our_guesses, 25), 1e6))  # beside a million
ROWS += [
    Row(f"{label}-uct-doppelkopf-game", "games/s", 5, partial(_our_decisions, make), 1 / PUBLISHED_SECONDS)
    for label, make in (("ensemble", Ensemble), ("single", SingleUct))
]
ROWS += [Row(*row) for row in bench_doppelkopf_networks.rows(_views)]
ROWS += [
    Row(
        f"features-{name}",
        "games/s",
        10,
        partial(_pattern_playouts, linear, name),
        partial(_pattern_playouts, naive, name),
    )
    for name in TEN
]
for name, hidden in NETWORKS:
    label, rows = f"{name}-{hidden}", SIDE_BY_SIDE * UNDER_WAY
    inside = partial(_compiled_search, name, hidden)
    batched = partial(_batched_search, name, hidden, SIDE_BY_SIDE, UNDER_WAY)
    alone: Any = partial(_compiled_alone, name, hidden)
    if ExItOos(name, hidden=hidden).in_batches(games.load(name)):
        inside, batched, alone = batched, inside, partial(_batched_alone, name, hidden, rows)
    ROWS += [
        # the way that is taken against a network that is asked for one position at a time,
        Row(
            f"net-{label}",
            "positions/s",
            10 if "512" in hidden else 20,
            inside,
            partial(_batched_search, name, hidden, 1, 1),
        ),
        # against its forward pass alone, one position or the same batch at a time,
        Row(f"net-of-forward-{label}", "positions/s", 0.5, inside, alone),
        # and against the other way: compiled into the kernel, or in batches
        Row(f"net-other-way-{label}", "positions/s", 1, inside, batched),
    ]
ROWS += [Row(*row) for row in bench_deep_cfr.ROWS]
