"""OpenSpiel and Kibitz agree on each other's games, players and strategies."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import chisquare

import kibitz
from kibitz import BadInput
from kibitz.games import GAMES, check, is_shipped, legal_actions, load, positions, view_of
from kibitz.games import openspiel as reader
from kibitz.jit import generators

pyspiel = pytest.importorskip("pyspiel")
pytestmark = pytest.mark.filterwarnings("default")
ROOT = Path(__file__).parents[2]
FAIR = "goofspiel(num_cards=4,imp_info=True,points_order=descending)"

# OpenSpiel looks up each action by its text among all others: large boards take minutes.
SMALL = {
    "breakthrough": "rows=5,columns=4", "connect_four": "rows=4,columns=4", "fanorona": "rows=3,columns=3",
    "gomoku": "size=5", "hex": "size=3", "knightthrough": "rows=5,columns=4", "othello": "size=4", "teeko": "limit=20",
    "yavalath": "side=3",
}  # fmt: skip


@pytest.mark.parametrize("name", [name for name in GAMES if is_shipped(GAMES[name])])
def test_every_game_passes_openspiels_own_test(name):
    (registered,) = kibitz.openspiel.register(name)
    game = pyspiel.load_game(f"{registered}({SMALL.get(name, '')})")
    facts = load(f"{name}:{SMALL.get(name, '')}").facts
    assert (game.num_players(), game.num_distinct_actions()) == (facts.seats, facts.num_actions)
    pyspiel.random_sim_test(game, num_sims=1, serialize=True, verbose=False)


def test_all_games_and_ones_own_are_registered():
    names = kibitz.openspiel.register()
    assert {f"kibitz_{name}" for name in GAMES} == set(names)
    (own,) = kibitz.openspiel.register(f"{ROOT / 'examples' / 'von_neumann_poker.py'}:VonNeumannPoker")
    pyspiel.random_sim_test(pyspiel.load_game(own), num_sims=1, serialize=False, verbose=False)


@pytest.mark.parametrize("name", ["kuhn", "leduc:raises=1", "goofspiel:3", "liars_dice:faces=2"])
def test_exploitability_is_the_same(name):
    solution = kibitz.solve(name, "cfr+", 20)
    policy, game = kibitz.openspiel.policy(solution.strategy), kibitz.openspiel.game(name)
    assert pyspiel.exploitability(game, policy) == pytest.approx(solution.nash_conv / 2, abs=1e-9)
    back = kibitz.openspiel.strategy(name, policy)
    assert np.allclose(back.probs, solution.strategy.probs)


@pytest.mark.heavy
@pytest.mark.parametrize("name", ["leduc", "goofspiel:5", "liars_dice"])
def test_exploitability_of_larger_games_is_the_same(name):
    solution = kibitz.solve(name, "cfr+", 200)
    policy = kibitz.openspiel.policy(solution.strategy)
    found = pyspiel.exploitability(kibitz.openspiel.game(name), policy)
    assert found == pytest.approx(solution.nash_conv / 2, abs=1e-9)


def test_tabular_policies_in_python_go_both_ways():
    solution = kibitz.solve("kuhn", "cfr+", 20)
    table = kibitz.openspiel.tabular_policy(solution.strategy)
    assert np.allclose(kibitz.openspiel.strategy("kuhn", table).probs, solution.strategy.probs)
    native = kibitz.solve("openspiel:kuhn_poker", "cfr+", 20)
    found = pyspiel.nash_conv(pyspiel.load_game("kuhn_poker"), kibitz.openspiel.policy(native.strategy))
    assert found == pytest.approx(native.nash_conv, abs=1e-9)


@pytest.mark.parametrize(("ours", "theirs", "iterations"), [("kuhn", "kuhn_poker", 20), ("leduc", "leduc_poker", 2)])
def test_openspiels_cfr_reaches_the_same_value_on_both_games(ours, theirs, iterations):
    found = []
    for game in (kibitz.openspiel.game(ours), pyspiel.load_game(theirs)):
        solver = pyspiel.CFRSolver(game)
        for _ in range(iterations):
            solver.evaluate_and_update_policy()
        policy = solver.average_policy()
        value = pyspiel.expected_returns(game.new_initial_state(), policy, -1, True)[0]
        found.append((value, pyspiel.nash_conv(game, policy)))
    assert found[0] == pytest.approx(found[1], abs=1e-9)


def test_openspiels_mcts_plays_our_hex():
    from open_spiel.python.algorithms import mcts

    game, draws = kibitz.openspiel.game("hex:3"), np.random.RandomState(1)
    bot = mcts.MCTSBot(game, 2, 20, mcts.RandomRolloutEvaluator(1, draws), random_state=draws)
    state = game.new_initial_state()
    while not state.is_terminal():
        state.apply_action(bot.step(state))
    assert sorted(state.returns()) == [-1, 1]


# ---------------------------------------------------------------- OpenSpiel's games


@pytest.mark.parametrize(
    ("name", "search", "plays"),
    [
        ("tic_tac_toe", "uct", True), ("tic_tac_toe", "ismcts", True), ("leduc_poker", "ismcts", True),
        ("leduc_poker", "uct", False), ("liars_dice", "ismcts", True), ("backgammon", "uct", True),
        ("hearts", "ismcts", True), ("hearts", "uct", False),
    ],
)  # fmt: skip
def test_searches_of_openspiels_games(name, search, plays):
    game = load(f"openspiel:{name}")
    state = game.initial(seed=1).deal()
    if plays:
        advice = kibitz.advise(game, state, f"{search}:5")
        assert set(advice.actions) == set(legal_actions(game, state.record))
    else:
        with pytest.raises(BadInput, match="hidden information"):
            kibitz.advise(game, state, f"{search}:5")


def test_small_games_are_solved_and_others_refused_with_a_reason():
    assert kibitz.solve("openspiel:kuhn_poker", iterations=500).value == pytest.approx(-1 / 18, abs=1e-3)
    assert kibitz.exploit("openspiel:kuhn_poker", "random").nash_conv == pytest.approx(0.916667, abs=1e-6)
    for name, reason in (
        ("hearts", "needs two seats"),
        ("backgammon", "too large to enumerate"),
        ("kun_poker", "did you mean 'kuhn_poker'"),
        ("kuhn_poker(players=99)", "OpenSpiel refuses"),
        ("mfg_crowd_modelling", "mean-field"),
    ):
        with pytest.raises(BadInput, match=reason):
            kibitz.solve(f"openspiel:{name}")


def test_a_large_game_says_once_that_it_is_slow(capsys):
    reader._loaded.cache_clear()
    for _ in range(2):
        load("openspiel:tic_tac_toe")
    assert capsys.readouterr().err.count("slowly") == 1


@pytest.mark.parametrize("name", ["liars_dice", "hearts"])
def test_views_hide_what_the_seat_does_not_know(name):
    game, rng = load(f"openspiel:{name}"), generators(1, 1)[0]
    state = positions(game)[0]
    while game.turn(state) < 0:
        game.play(state, game.sample_action(state, rng))
    for _ in range(3):
        seat = game.turn(state)
        view = view_of(game, state, seat)
        world = np.zeros(1, game.state)
        assert game.determinize(view, seat, np.zeros(1), rng, world[0])
        assert game.infoset(view, seat) == game.infoset(state, seat) == game.infoset(world[0], seat)
        assert view == view_of(game, world[0], seat)  # nothing of the world shows
        game.play(state, game.sample_action(state, rng))


# ---------------------------------------------------------------- players


@pytest.mark.parametrize("name", ["kuhn_poker", "tic_tac_toe"])
def test_players_are_bots(name):
    game = pyspiel.load_game(name)
    bots = [kibitz.openspiel.Bot(game, "ismcts:5", seat) for seat in range(2)]
    assert sum(pyspiel.evaluate_bots(game.new_initial_state(), bots, 1)) == 0
    with pytest.raises(BadInput, match="seat 2"):
        kibitz.openspiel.Bot(game, "random", 2)


@pytest.mark.parametrize("player", ["mcts,simulations=3", "ismcts,simulations=3", "uniform_random"])
def test_bots_are_players(player):
    for game in ("kuhn", "openspiel:kuhn_poker"):
        one, two = (kibitz.match(game, [f"openspiel-bot:{player}", "random"], games=4) for _ in range(2))
        assert [each.actions for each in one.records] == [each.actions for each in two.records]


def test_without_openspiel_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyspiel", None)
    for call in (
        lambda: load("openspiel:kuhn_poker(players=2)"),
        lambda: kibitz.match("kuhn", ["openspiel-bot:mcts"] * 2),
    ):
        reader._loaded.cache_clear()
        with pytest.raises(BadInput, match=r"pip install 'kibitz\[openspiel\]'"):
            call()


def test_nothing_imports_openspiel_before_it_is_used():
    code = "import sys, kibitz, kibitz.app.cli, kibitz.games; kibitz.solve, kibitz.advise, kibitz.match, kibitz.train; "
    code += "list(kibitz.games.GAMES); assert 'pyspiel' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)


@pytest.mark.parametrize("name", ["kuhn_poker", FAIR, "liars_dice(numdice=1,dice_sides=3)"])
def test_positions_that_fit_a_view_are_drawn_fairly(name):
    """In a game that stays in OpenSpiel: those it samples itself, and those that are listed. `check` compares them."""
    assert check(reader.OpenSpielGame(reader.load_spiel(name), name), games=6) > 20


def test_hidden_choices_with_more_continuations_are_drawn_more_often():
    """Seat 1 won with a 4 and lost with a 2: the other bid 1 or 2 and then 3 or 4, or 3 and then 4."""
    game, rng = reader.OpenSpielGame(reader.load_spiel(FAIR), FAIR), generators(1, 1)[0]
    state, worlds = game.initial(), np.zeros(2_000, game.state)
    for card in (4, 1, 2, 3):
        state.play(card - 1)
    view = view_of(game, state.record, 0)
    for world in worlds:
        assert game.determinize(view, 0, np.zeros(1), rng, world)
    bids, counts = np.unique(worlds["moves"][:, [1, 3]] + 1, axis=0, return_counts=True)
    assert bids.tolist() == [[1, 3], [1, 4], [2, 3], [2, 4], [3, 4]]
    assert chisquare(counts).pvalue > 1e-4


def test_a_position_that_cannot_be_drawn_fairly_is_refused():
    game = load("openspiel:goofspiel(num_cards=13,imp_info=True,points_order=descending)")
    state, rng = game.initial(), generators(1, 1)[0]
    for lower in range(6):
        state.play(11 - lower).play(lower)
    view = view_of(game, state.record, 0)
    with pytest.raises(BadInput, match="can be drawn fairly here: OpenSpiel samples none, and there are more than"):
        game.determinize(view, 0, np.zeros(1), rng, positions(game)[0])
