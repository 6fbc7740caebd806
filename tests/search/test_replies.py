"""Last good replies: what the table learns and forgets, what playouts play, and which games have them."""

from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from kibitz import games, players
from kibitz.core.names import BadInput
from kibitz.games import OVER, legal_actions, positions
from kibitz.jit import generators
from kibitz.players.contract import check_player
from kibitz.players.search import network_search
from kibitz.search import mcts
from kibitz.search.legality import Listed, legality_of
from kibitz.search.mcts import Puct, Uct
from kibitz.search.policies import policy
from kibitz.search.replies import UNANSWERED, Line, learn_replies, record_move, with_replies
from kibitz.search.selection import Ucb1

HEIRS = f"{Path(__file__).parents[1] / 'games' / 'heirs.py'}:Heirs"
PILE = f"{Path(__file__).parents[1] / 'games' / 'pile.py'}:Pile"


@policy
class Lowest(NamedTuple):
    """The legal action of the lowest number."""

    def weigh(self, game, state, actions, n, probs):
        probs[:n] = 0.0
        probs[0] = 1.0

    def step(self, game, state, actions, probs, rng):
        game.actions(state, actions)
        return actions[0]


def line_of(*moves):
    """A line of (seat, action)."""
    line = Line(np.zeros(9, np.int32), np.zeros(9, np.int8), np.zeros(1, np.int64))
    for seat, action in moves:
        record_move(line, seat, action)
    return line


def empty_table():
    return np.full((2, 9), UNANSWERED, np.int32)


def known(table):
    """{(seat, the other's move): reply}"""
    return {(int(seat), int(move)): int(table[seat, move]) for seat, move in np.argwhere(table != UNANSWERED)}


def test_replies_of_the_winner_are_stored_and_later_ones_replace_them():
    table = empty_table()
    learn_replies(table, line_of((0, 4), (1, 2), (0, 6), (1, 3), (0, 5)), 0, True)
    assert known(table) == {(0, 2): 6, (0, 3): 5}
    learn_replies(table, line_of((0, 4), (1, 2), (0, 7)), 0, True)
    assert known(table) == {(0, 2): 7, (0, 3): 5}
    learn_replies(table, line_of((0, 4), (1, 2)), 1, True)
    assert known(table) == {(0, 2): 7, (0, 3): 5, (1, 4): 2}


@pytest.mark.parametrize("forget", [True, False])
def test_a_reply_that_loses_is_forgotten_and_another_reply_is_not(forget):
    table = empty_table()
    table[0, 2], table[0, 3] = 6, 5
    learn_replies(table, line_of((0, 4), (1, 2), (0, 6), (1, 3), (0, 8), (1, 7)), 1, forget)
    kept = {} if forget else {(0, 2): 6}
    assert known(table) == kept | {(0, 3): 5, (1, 4): 2, (1, 6): 3, (1, 8): 7}


def test_a_seat_that_moves_twice_does_not_reply_to_itself():
    table = empty_table()
    learn_replies(table, line_of((0, 1), (0, 2), (1, 3), (1, 4), (0, 5)), 0, True)
    assert known(table) == {(0, 4): 5}


def played_out(replies, *moves, plies=9):
    """The moves of a playout in Tic-tac-toe after some moves in the tree, and its rewards (None: not over)."""
    game = games.load("tic_tac_toe")
    _, policy = with_replies(game, Ucb1(1.0, False), Lowest(), True)
    state, rewards = positions(game)[0], np.zeros(2)
    for (seat, move), reply in replies.items():
        policy.reply[seat, move] = reply
    for move in moves:
        record_move(policy.line, game.turn(state), move)
        game.play(state, move)
    ended = policy.evaluate(game, state, plies, np.zeros(9, np.int64), np.zeros(9), generators(1, 1)[0], rewards)
    assert policy.line.length[0] == 0
    length = int(state.marks[0]).bit_count() + int(state.marks[1]).bit_count()
    return policy.line.moves[len(moves) : length].tolist(), rewards.tolist() if ended else None, known(policy.reply)


def test_playouts_play_known_replies_where_they_are_legal():
    assert played_out({}, 0)[0] == [1, 2, 3, 4, 5, 6]
    assert played_out({(1, 0): 8}, 0)[0] == [8, 1, 2, 3, 4, 5, 6]
    assert played_out({(1, 0): 8, (0, 8): 4}, 0)[0][:3] == [8, 4, 1]
    # Cell 0 is taken, so that the reply isn't legal; that of the other seat is none of this seat's.
    assert played_out({(1, 0): 0, (0, 0): 5}, 0)[0] == [1, 2, 3, 4, 5, 6]


def test_playouts_teach_replies_and_those_that_are_cut_short_or_drawn_do_not():
    moves, rewards, table = played_out({(1, 0): 1}, 0)
    assert (moves, rewards) == ([1, 2, 3, 4, 5, 6], [1, -1])
    assert table == {(0, 1): 2, (0, 3): 4, (0, 5): 6}  # seat 0 won, so that seat 1 forgets its reply
    assert played_out({(1, 0): 8}, 0, plies=2) == ([8, 1], None, {(1, 0): 8})
    drawn = {(1, 0): 4, (0, 4): 8, (1, 8): 1, (0, 1): 7, (1, 7): 6, (0, 6): 2, (1, 2): 5, (0, 5): 3}
    assert played_out(drawn, 0) == ([4, 8, 1, 7, 6, 2, 5, 3], [0, 0], drawn)


@pytest.mark.parametrize("replies", ["lgr", "lgrf"])
def test_the_table_of_a_search_is_that_of_a_slow_twin(replies, monkeypatch):
    monkeypatch.setattr(mcts, "simulate", getattr(mcts.simulate, "py_func", mcts.simulate))
    game, twin = games.load("tic_tac_toe"), {}
    found = Uct(game, 1, prove=False, policy=Lowest(), replies=replies)
    found.target(positions(game)[0])
    learned = 0
    for _ in range(150):
        before = found.tree.visits.copy()
        found.run(1)
        state, node, line = positions(game)[0], 0, []
        while increased := [child for child in children(found.tree, node) if found.tree.visits[child] > before[child]]:
            node = increased[0]
            line.append((game.turn(state), int(found.tree.action[node])))
            game.play(state, line[-1][1])
        if game.turn(state) != OVER:  # there was a playout
            learned += learn(twin, game, state, line, replies == "lgrf")
        assert known(found.policy.reply) == twin
    assert learned > 50


def children(tree, node):
    return range(int(tree.first[node]), int(tree.first[node]) + int(tree.children[node]))


def learn(twin, game, state, line, forget):
    """Play out by the twin's replies and the lowest action, and learn; whether the game was won."""
    while (seat := game.turn(state)) != OVER:
        reply = twin.get((seat, line[-1][1]))
        legal = legal_actions(game, state)
        line.append((seat, reply if reply in legal else legal[0]))
        game.play(state, line[-1][1])
    if game.payoff(state, 0) == 0:
        return False
    for (_, move), (seat, reply) in pairwise(line):
        if game.payoff(state, seat) > 0:
            twin[seat, move] = reply
        elif forget and twin.get((seat, move)) == reply:
            del twin[seat, move]
    return True


def test_plain_python_grows_the_same_tree_and_table(monkeypatch):
    game = games.load("tic_tac_toe")
    found = []
    for _ in range(2):
        search = Uct(game, 1, replies="lgrf")
        found.append((search.advise(positions(game)[0], 0, 200).visits.tolist(), known(search.policy.reply)))
        monkeypatch.setattr(mcts, "simulate", getattr(mcts.simulate, "py_func", mcts.simulate))
    assert found[0] == found[1]
    assert found[0][1]


def test_the_table_is_kept_as_long_as_the_tree():
    game = games.load("tic_tac_toe")
    search, state = Uct(game, 1, replies="lgrf"), positions(game)[0]
    search.advise(state, 0, 200)
    game.play(state, 4)
    before = known(search.policy.reply)
    search.target(state)
    assert known(search.policy.reply) == before
    search.begin(1)
    search.target(state)
    assert known(search.policy.reply) == {}


# Measured before there were replies.
WITHOUT = {Uct: [57, 71, 264, 50, 265, 95, 18, 45, 135], Puct: [37, 51, 19, 56, 300, 14, 285, 48, 190]}


@pytest.mark.parametrize("search", WITHOUT)
def test_without_replies_the_search_is_what_it_was(search):
    game = games.load("tic_tac_toe")
    found = search(game, 5, prove=False)
    assert found.advise(positions(game)[0], 0, 1000).visits.tolist() == WITHOUT[search]


QUICK = ("tic_tac_toe", "connect_four", "hex:4", "hex:4,swap=yes", "gomoku:5,connect=4", "yavalath:4", "breakthrough")


@pytest.mark.parametrize("name", [*QUICK, "othello:4"])
def test_an_action_is_legal_where_the_rules_list_it(name):
    game, generator = games.load(name), np.random.default_rng(1)
    quick, scratch = legality_of(game), np.zeros(1024, np.int64)
    assert isinstance(quick, Listed) == (name not in QUICK)
    for _ in range(3):
        state = positions(game)[0]
        while game.turn(state) != OVER:
            legal = legal_actions(game, state)
            found = [each for each in range(game.facts.num_actions) if quick.is_legal(game, state, each, scratch)]
            assert found == sorted(set(legal) - ({16} if name.endswith("swap=yes") else set()))
            game.play(state, int(generator.choice(legal)))


def test_players_with_replies_keep_the_contract():
    for text in ("uct:40,replies=lgrf", "puct:40,replies=lgr"):
        assert check_player(text, "tic_tac_toe") > 4


@pytest.mark.parametrize("name", [HEIRS, PILE])
def test_games_without_replies_are_refused(name):
    with pytest.raises(BadInput, match="has no last good replies: replies is for two seats on a board, no chance"):
        players.make_for("uct:40,replies=lgrf", games.load(name))


def test_bad_replies_are_refused():
    with pytest.raises(BadInput, match="replies=yes is out of range, it should be none or lgr or lgrf"):
        players.make_for("uct:40,replies=yes", games.load("tic_tac_toe"))
    with pytest.raises(BadInput, match="replies=lgrf is about playouts"):
        network_search(None, replies="lgrf")
