"""Alpha-beta search: exact values on small boards, by exhaustive search; budgets; the transposition table."""

import functools
from typing import NamedTuple

import numpy as np
import pytest

from kibitz import games
from kibitz.core.names import BadInput
from kibitz.core.progress import SILENT, Reporter
from kibitz.games import OVER, legal_actions, positions
from kibitz.jit import rules
from kibitz.search.alphabeta import AlphaBeta
from kibitz.search.mcts import Uct
from kibitz.search.principal_variation import captures_of
from kibitz.search.tactics import tactics_of

from .test_mcts import after, random_positions

SMALL = ("tic_tac_toe", "connect_four:4,columns=4,connect=3", "breakthrough:4,columns=3")


def exhaustive(game):
    """The value of a position for seat 0 by plain recursion over all games."""

    @functools.cache
    def value(key):
        state = np.frombuffer(key, game.state).copy()[0]
        turn = game.turn(state)
        if turn == OVER:
            return game.payoff(state, 0)
        found = []
        for action in legal_actions(game, state):
            following = np.array([state], game.state)
            game.play(following[0], action)
            found.append(value(following.tobytes()))
        return max(found) if turn == 0 else min(found)

    return lambda state: value(np.array([state], game.state).tobytes())


@pytest.mark.parametrize("name", SMALL)
def test_values_equal_exhaustive_search(name):
    """A depth gives the value of every move, a budget of nodes that of the best one."""
    game = games.load(name)
    truth, longest = exhaustive(game), game.facts.max_game_length
    fixed, free = AlphaBeta(game, depth=min(longest, 99)), AlphaBeta(game, megabytes=0.01)
    for state in random_positions(game, 20, seed=3, most=8):
        seat = game.turn(state)
        sign = 1 if seat == 0 else -1
        wanted = []
        for action in legal_actions(game, state):
            following = np.array([state], game.state)[0]
            game.play(following, action)
            wanted.append(sign * truth(following))
        exact = fixed.advise(state, seat)
        assert exact.value.tolist() == wanted
        assert (exact.policy > 0).tolist() == [value == max(wanted) for value in wanted]
        found = free.advise(state, seat, 10**7)
        assert found.exact
        assert found.root_value == max(wanted)
        assert wanted[legal_actions(game, state).index(found.best)] == max(wanted)
        assert fixed.value(state, longest) == truth(state)


def test_the_first_move_of_small_boards():
    """Known results: Tic-Tac-Toe is a draw, and so is Connect Four on five columns of four."""
    for name in ("tic_tac_toe", "connect_four:4,columns=5"):
        game = games.load(name)
        advice = AlphaBeta(game).advise(positions(game)[0], 0, 10**8)
        assert advice.exact
        assert advice.root_value == 0


def test_a_fixed_depth_counts_undecided_positions_as_draws_whatever_was_searched_before():
    game = games.load("connect_four")
    state = after(game, *"417556115161")  # column 1 wins, in nine plies
    used = AlphaBeta(game, depth=9)
    assert used.value(state, 9) == 1
    assert used.value(state, 7) == 0 == AlphaBeta(game, depth=7).value(state, 7)


def test_the_budget_of_nodes_is_kept_and_a_search_goes_on_where_it_stopped():
    game = games.load("connect_four")
    search, view = AlphaBeta(game), positions(game)[0]
    for nodes in (1, 2, 50, 5000):
        search.begin(1)
        advice = search.advise(view, 0, nodes)
        assert advice.simulations == nodes
        assert advice.policy.sum() == 1
    stopped, whole = AlphaBeta(game), AlphaBeta(game)
    for each in (stopped, whole):
        each._start(view, 6)
    while not stopped._go(stopped.free, int(stopped.memory.now[1]) + 7):
        pass
    assert whole._go(whole.free, np.inf)
    assert stopped.memory.now[1] == whole.memory.now[1]
    assert stopped.frames.best[0] == whole.frames.best[0]
    np.testing.assert_array_equal(stopped.memory.table, whole.memory.table)


def test_the_table_saves_nodes():
    game = games.load("connect_four")
    view, nodes = positions(game)[0], []
    for megabytes in (0.001, 8):
        search = AlphaBeta(game, depth=8, megabytes=megabytes)
        advice = search.advise(view, 0)
        nodes.append(advice.simulations)
        assert advice.depth == 8
    assert nodes[1] < 0.7 * nodes[0]


def test_seconds_are_kept():
    game = games.load("connect_four")
    search = AlphaBeta(game)
    advice = search.advise(positions(game)[0], 0, seconds=0.2)
    assert 0.2 <= advice.seconds < 1
    assert len(advice.line) > 4
    assert 4 < advice.depth < 42


def test_a_depth_is_counted_when_it_is_complete_and_no_value_is_minus_zero():
    game = games.load("tic_tac_toe")
    assert AlphaBeta(game).advise(positions(game)[0], 0, simulations=1).depth == 0
    view = positions(game)[0]
    game.play(view, 4)
    value = AlphaBeta(game, depth=2).advise(view, 1).value
    assert not np.signbit(value).any()


def test_captures_are_noticed():
    assert captures_of(games.load("breakthrough"))[0]
    assert captures_of(games.load("knightthrough"))[0]
    assert not captures_of(games.load("connect_four"))[0]
    assert not captures_of(games.load("othello"))[0]


def test_a_new_player_asks_few_questions_about_captures(monkeypatch):
    """Its rules run as plain Python: 50,000 calls took a third of a second in Gomoku."""
    game, calls = games.load("gomoku:size=14"), []
    own = type(game).from_to
    monkeypatch.setattr(type(game), "from_to", lambda *given: calls.append(1) or own(*given))
    assert not captures_of(game)[0]
    assert 0 < len(calls) <= 2 * 14**2
    AlphaBeta(game)
    assert len(calls) <= 2 * 14**2


class Stopping(Reporter):
    """Stops a search at its third report."""

    may_stop, reports = True, 0

    def progress(self, done, total=None, note=""):
        self.reports += 1

    @property
    def stopped(self):
        return self.reports >= 3


@pytest.mark.parametrize("new", [AlphaBeta, functools.partial(AlphaBeta, depth=60), Uct])
@pytest.mark.parametrize("seconds", [np.inf, 1e6])
def test_a_report_stops_a_search(new, seconds):
    game, report = games.load("connect_four"), Stopping()
    simulations = 0 if "depth" in getattr(new, "keywords", {}) else 2**40
    advice = new(game).advise(positions(game)[0], 0, simulations, seconds, report)
    assert report.reports == 3
    assert advice.policy.sum() == 1
    assert advice.best in advice.actions


def test_telling_advice_on_the_way_changes_nothing():
    class Curious(Reporter):
        told = ()

        def advice(self, so_far, depth=0):
            self.told = (*self.told, (depth, so_far()))

    game, report = games.load("connect_four:rows=5,columns=5"), Curious()
    view = positions(game)[0]
    plain, followed = (AlphaBeta(game).advise(view, 0, 200_000, report=each) for each in (SILENT, report))
    for part in ("policy", "value", "visits"):
        np.testing.assert_array_equal(getattr(plain, part), getattr(followed, part))
    assert plain.line == followed.line
    assert plain.depth == followed.depth == max(depth for depth, _ in report.told)
    assert {depth for depth, _ in report.told} >= set(range(1, plain.depth + 1))


def test_plain_wins_of_breakthrough_are_true():
    """Tactics against the exact values of search without them, at depth 5, on random positions."""
    game = games.load("breakthrough:6,columns=4")
    tactics, search = tactics_of(game), AlphaBeta(game, depth=5)
    seen = [0, 0]
    for state in random_positions(game, 150, seed=5, most=30):
        sign = 1 if game.turn(state) == 0 else -1
        value = sign * search.value(state, 3)
        assert not tactics.tactics_win(game, state) or value == 1
        if value == 1 and int(state.pieces[1 - int(state.to_move)]).bit_count() > 1:
            seen[0] += 1
            seen[1] += bool(tactics.tactics_win(game, state)) or bool(tactics.tactics_urgent(game, state))
        if int(tactics.tactics_urgent(game, state)).bit_count() > 1 and not tactics.tactics_win(game, state):
            assert value == -1
    assert seen[1] > 0.6 * seen[0] > 10
    assert not tactics_of(games.load("tic_tac_toe")).tactics_win(games.load("tic_tac_toe"), None)


def test_games_of_chance_are_refused():
    with pytest.raises(BadInput, match="no hidden information and no chance"):
        AlphaBeta(games.load("leduc"))


def test_tactics_take_no_names_from_games():
    @rules({"start": "self, state"})
    class OwnGame(NamedTuple):
        skip: int = 0
        urgent: int = 0
        threatened: int = 0

    assert OwnGame()._fields == ("skip", "urgent", "threatened")
