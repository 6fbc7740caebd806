"""Positions in which just one move wins, and not at once: tree search finds it, and alpha-beta says that it is so.

All but the last two, which are made up, are from games between weak players.
"""

from typing import NamedTuple

import pytest

from kibitz import games
from kibitz.games import legal_actions
from kibitz.search.alphabeta import AlphaBeta
from kibitz.search.mcts import Puct, Uct

from .test_mcts import after


class Position(NamedTuple):
    game: str
    moves: str  # that led here
    only: str  # that wins
    plies: int  # until it has won, at most
    refuted: int  # plies until all others have not


POSITIONS = [
    Position("tic_tac_toe", "b3 c1", "c3", 5, 7),
    Position("tic_tac_toe", "b1 a1 c2", "a3", 5, 6),
    Position("tic_tac_toe", "c3 b1 c2", "c1", 5, 5),
    Position("tic_tac_toe", "a1 b2 c2 a3", "c1", 3, 3),
    Position("connect_four", "4 1 7 5 5 6 1 1 5 1 6 1", "1", 9, 9),
    Position("connect_four", "5 4 1 3 4 5 6 4 7 4 4 5 1 5 5 3 2 5 1", "1", 7, 7),
    Position("connect_four", "5 1 4 6 3 2 4 1 5 3 7 4 6 7 4", "5", 5, 5),
    Position("connect_four", "4 4 7 6 2 5 1 3 6 4 2 4 4 4 2 6 1", "2", 9, 9),
    Position("connect_four", "3 3 5 4 5 4 5 5 4 3 3 6 4 6 3 4 6 5 3 5 7 4 6 6 2 2 2 1", "1", 5, 5),
    Position(
        "breakthrough:6,columns=6",
        "c2-c3 b5-a4 f2-e3 a4-a3 f1-f2 e5-e4 a2-b3 a3xb2 c1xb2 d5-d4 d1-c2 e4-f3 e2-d3 d4xe3 b3-b4 b6-b5",
        "b4xa5",
        3,
        6,
    ),
    Position(
        "breakthrough:6,columns=6",
        "c2-d3 e5-f4 d1-c2 d5-e4 e2-f3 f6-e5 d3xe4 f5xe4 e1-e2 e4xf3 f2-e3 a5-b4 c2-c3 f4xe3 c3-d4 e6-f5 d4xe5",
        "d6xe5",
        5,
        5,
    ),
    Position(
        "breakthrough:6,columns=6",
        "e2-f3 b5-c4 f2-e3 f5-f4 b2-b3 c4-d3 d1-e2 d5-e4 c2xd3 e4xd3 e2xd3 c6-b5 f1-f2 c5-c4 b3-a4 c4xd3 a4xb5",
        "a6xb5",
        5,
        5,
    ),
    Position(
        "breakthrough:6,columns=6",
        "b2-c3 a5-a4 c3-c4 d5xc4 d2-d3 c5-d4 d3xc4 a4-b3 b1-b2 b3xc2 d1xc2 c6-c5 c2-b3 d4-d3 c4xb5 a6xb5 f2-e3 "
        "b5-c4 b3-a4",
        "d3-c2",
        3,
        6,
    ),
    Position(
        "breakthrough:6,columns=6",
        "d2-d3 e5-f4 e1-d2 a5-b4 c2-c3 e6-e5 c3xb4 c5-d4 f2-f3 b6-c5 b4xc5 d6xc5 b2-b3 d4-c3 a2-a3 c3xd2 c1xd2 "
        "b5-b4 b3-c4 b4-c3 c4xd5",
        "c6xd5",
        7,
        7,
    ),
    Position(
        "breakthrough",
        "e2-e3 f7-f6 b2-b3 e7-e6 c1-b2 b7-a6 b3-a4 f6-e5 f2-g3 e5-d4 e3xd4 c7-c6 g3-g4 g7-g6 b2-b3 d8-c7 d4-e5 "
        "a7-b6 d2-e3 c6-b5 e5-d6 c7xd6 f1-f2 e8-f7 d1-e2 e6-f5 e3-f4 b5-b4 c2-d3 b4-c3 g4-g5 f8-g7 g2-h3 g7-f6 "
        "f4-e5 f6xg5 e5xd6 c3-d2",
        "e1xd2",
        5,
        5,
    ),
    Position(
        "knightthrough",
        "e2-f4 e8-d6 a2-b4 g8-f6 b1-a3 e7-g6 h1-g3 f6-g4 b2-d3 b8-c6 a3-c4 d7-b6 d2-b3 g4xh2 g3-h5 c7-e6",
        "f1xh2",
        5,
        5,
    ),
    Position(
        "knightthrough",
        "b2-d3 g8-h6 d1-c3 b7-d6 c1-b3 d6-e4 d2xe4 c8-d6 f2-h3 e7-g6 c2-e3 g6-h4 c3-d5 c7-e6 d3-f4 h4xg2",
        "e1xg2",
        5,
        5,
    ),
    Position(
        "knightthrough",
        "g1-h3 b7-d6 g2-f4 d6-f5 b1-a3 a7-c6 f1-e3 d7-f6 e3-g4 f5-g3 h1xg3 f8-d7 b2-a4 f7-e5 f4-h5 e7-f5 d1-e3 "
        "e5-f3 h2xf3 g8-h6 f3-g5 f5xg3",
        "e2xg3",
        5,
        5,
    ),
    Position(
        "hex:7",
        "f5 a1 g7 e5 b4 g5 e3 e4 f7 g2 e6 f4 g3 b5 a2 a7 c4 d3 a3 f2 f6 b1 f3 b7 f1 c5 a5 c7 d6 b6 e7 e1 c3 a4",
        "d4",
        7,
        8,
    ),
    Position("hex:7", "a7 b3 f4 a6 e3 g6 f7 c5 f6 b7 d7 c7 e1 f2 b4 c1 d4 b6 c4 f5 e2 b1 b5 g7 d2 a3 e6", "e5", 5, 5),
    Position(
        "hex:7",
        "g6 c1 d3 f4 c4 a6 g7 c7 e5 c2 e7 a4 b3 f5 g2 e2 g5 d1 f1 c3 c6 b7 f6 e3 g4 c5 d2 a5 a3 e4 d7 b2",
        "g3",
        3,
        6,
    ),
    Position(
        "hex:7",
        "d4 c3 g7 c2 f1 g2 b7 a2 c6 e7 f7 a7 d3 e6 d7 g6 a1 e3 f5 b2 f6 b3 a5 f2 c4 a6 b6 e2",
        "d2",
        5,
        5,
    ),
    Position(
        "hex:7",
        "b4 f7 a1 d2 f6 e5 a6 f2 d4 a2 e3 g3 g4 g1 c4 g2 e7 e6 a5 d1 d5 d6 f4 b6 e1 g5 b7 a7 c7 f1 e4 b3",
        "e2",
        3,
        6,
    ),
    Position(
        "othello",
        "e6 d6 c3 f5 g4 f6 c6 e3 f7 d3 c2 f4 c5 f8 c4 b6 g7 b1 e7 h8 g5 f3 b4 d7 c7 h4 g6 h6 g8 a4 a3 b3 e2 b7 h3 "
        "g3 h5 h7 d8 d2 c1 e1 a1 h2 a8 a5 b8 b2 d1 f2 g1",
        "f1",
        9,
        10,
    ),
    Position(
        "othello",
        "f5 d6 c5 f6 d7 g5 h5 b6 c4 e3 c6 d8 g7 f3 c3 d3 c2 b2 e7 f4 c7 h8 e6 c1 a5 e8 b3 b7 a1 a6 f7 d2 g3 h6 a8 "
        "b5 b8 h3 e1 a4 h7 g8 g4 h4 f2 g1 b1 e2 b4 f8 g6 c8 d1",
        "a2",
        7,
        8,
    ),
    Position(
        "othello",
        "f5 f6 e6 f4 g3 c6 c5 d6 e7 g4 b6 h2 f3 a6 f7 g6 h7 c4 c3 b2 g5 h6 b5 a4 h3 d8 e8 h8 d7 g8 b7 h5 h4 e3 f8 "
        "e2 e1 g7 b3 a8 b4 f2 c7 d1 a5 a3 a7 b8 c8 f1 b1 a2",
        "a1",
        9,
        9,
    ),
    Position(
        "othello",
        "e6 f4 e3 d2 g4 h4 g3 d6 c4 g2 e2 g5 c6 f2 h2 c5 c2 d7 c8 e7 c7 c3 f8 d8 f6 b7 b4 e1 a8 f5 b8 f7 g6 d3 e8 "
        "b5 a4 a5 a6 h6 f3 c1 b2 a1 h5 h3 a3 h1 b3 g7 a2",
        "d1",
        9,
        10,
    ),
    Position("teeko", "e5 a1 e4 c4 b5 b3 c5", "d5", 3, 3),
    Position("teeko", "a4 b1 d3 c4 b4 d5 c3", "b3", 3, 4),
    Position("teeko", "a3 e4 b2 d3 c1 c5 b3", "e3", 3, 6),
    Position("teeko", "d2 b2 e2 b1 d3 a5 e5", "b3", 3, 6),
    Position("teeko", "a3 d3 a5 d1 b3 a4 b2 e1 b2-a2 d3-c3 a2-b1 a4-b5 b1-b2", "b5-b4", 3, 6),
    Position("yavalath", "g7 e7 d2 d7 g6 i3 f3 c4 h5 e9 b2 d8 h3 e4 f5 g5", "f6", 5, 5),
    Position("yavalath", "c5 h2 h1 c1 g2 d4 e8 h4 d3 i1 h3 b3 g4", "f4", 3, 4),
    Position("yavalath", "e5 h3 a2 d4 i4 i2 g6 d7 c7 i5 e6 i1 c1 g2 g4 b4 h2 e1 i3 d6", "d5", 5, 5),
    Position("yavalath", "h5 f4 g3 e6 h3 g6 i2 e5 c6 e9 a4 e2 b3 f1 e8 i4 a1 i3 h2", "h4", 3, 3),
    Position("gomoku:9", "c1 c2 f5 f8 g5 f9 d2 i6 d1 e3 h9 a9 h4 e9 a6 d6 e7 h5 i8 d9 b7 g6 i3", "f6", 5, 5),
    Position("gomoku:9", "i9 d6 c6 d5 h4 h9 i8 b8 a8 f8 c4 f4 c3 c9 g4 i4 e4 e7 f1 d8", "c5", 3, 4),
    Position("gomoku:9", "i9 b8 b4 e2 i6 i5 i4 f1 g8 e4 d6 c5 g1 g5 b5 d3 e8 g2 b6 e1 g7 b3 h8 e3", "e5", 5, 5),
    Position("gomoku:9", "g2 c9 a8 b8 i4 a9 e9 f5 h9 i8 b6 i5 b7 g6 h5 i9 h6 a2 h3 f9 g3 f3 c7 e4", "h7", 3, 3),
    Position("gomoku", "f8 g5 h8 g6 i8 g7 o12 g9", "g8", 3, 3),
    Position("gomoku", "d8 g5 e8 g6 f8 g7 h9 g9 i10 c8 j11 k12", "g8", 3, 3),
]


def over(positions):
    ids = [f"{each.game}-{each.moves.count(' ') + 1}-{each.only}" for each in positions]
    return pytest.mark.parametrize("position", positions, ids=ids)


def set_up(position):
    game = games.load(position.game)
    return game, after(game, *position.moves.split())


def winning(game, state, depth, unknown):
    """All moves that win, if positions undecided within the depth have this value for the seat to move."""
    exact, sign = AlphaBeta(game, 1, depth), 1 if game.turn(state) == 0 else -1
    exact.even = sign * unknown
    low, high = sorted((sign / 2, sign))  # whether it is a win is all there is to know
    found = []
    for action in legal_actions(game, state):
        following = state.copy()
        game.play(following, action)
        if exact.value(following, depth - 1, low, high) == sign:
            found.append(game.action_to_string(state, action))
    return found


@over(POSITIONS)
def test_alpha_beta_proves_that_the_move_wins_and_no_other(position):
    game, state = set_up(position)
    assert winning(game, state, position.plies - 2, unknown=-1) == []
    assert winning(game, state, position.plies, unknown=-1) == [position.only]
    assert winning(game, state, position.refuted, unknown=1) == [position.only]


@over(POSITIONS)
def test_uct_finds_the_only_move_that_wins(position):
    game, state = set_up(position)
    advice = Uct(game, 1).advise(state, game.turn(state), 10_000)
    assert game.action_to_string(state, advice.best) == position.only


QUICK = ("tic_tac_toe", "connect_four", "breakthrough")  # PUCT is compiled for each game


def found_by_puct(position):
    game, state = set_up(position)
    return game.action_to_string(state, Puct(game, 1).advise(state, game.turn(state), 10_000).best)


@over([each for each in POSITIONS if each.game.startswith(QUICK)])
def test_puct_finds_it_without_a_prior(position):
    assert found_by_puct(position) == position.only


@pytest.mark.heavy  # in gomoku it tries a few of 200 moves, as nothing tells them apart
@over([each for each in POSITIONS if not each.game.startswith(QUICK) and each.game != "gomoku"])
def test_puct_finds_it_without_a_prior_in_the_other_games(position):
    assert found_by_puct(position) == position.only
