"""The contract of board games: `from_to` and `pieces` agree with `play`."""

import re
from typing import NamedTuple

import numpy as np
import pytest

from kibitz import games
from kibitz.games import OVER, game
from kibitz.games.game import NEEDED, ON_BOARDS, RULES
from kibitz.jit import record

from .facts import ROWS
from .walks import all_steps, encoding_of, over

every_board_game = over([row for row in ROWS if not row.heavy and hasattr(games.load(row.name), "board")])
MOVING = {"breakthrough", "knightthrough", "fanorona", "teeko"}  # the others only place pieces
TURNED = {"breakthrough", "knightthrough", "fanorona"}  # a seat sees the board from its own side


def cells_of(game, state, seat):
    """The cells with a piece of the seat."""
    places = [int(place) for place in game.places()]
    words = [int(game.pieces(state, seat, word)) for word in range(max(places) // 64 + 1)]
    return {cell for cell, place in enumerate(places) if words[place // 64] >> place % 64 & 1}


def test_the_ten_games_have_boards():
    boards = {games.load(row.name).name for row in ROWS if hasattr(games.load(row.name), "board")}
    assert boards >= {"connect_four", "gomoku", "hex", "othello", "tic_tac_toe", "yavalath", *MOVING}


@every_board_game
def test_every_cell_has_a_bit_of_its_own(game):
    places = [int(place) for place in game.places()]
    assert len(set(places)) == len(places) == len(game.board().places)
    assert min(places) >= 0


@every_board_game
def test_no_cell_has_pieces_of_both_seats(game):
    for step in all_steps(game, 3):
        assert not cells_of(game, step.state, 0) & cells_of(game, step.state, 1)


@every_board_game
def test_an_encoding_begins_with_the_pieces(game):
    """Those of the seat, then those of the other seat."""
    cells = len(game.board().places)
    for step in all_steps(game, 3):
        for seat in range(2):
            planes = encoding_of(game, step.state, seat)[: 2 * cells].reshape(2, cells)
            if game.name in TURNED and seat == 1:
                planes = planes[:, ::-1]
            assert [set(np.flatnonzero(plane).tolist()) for plane in planes] == [
                cells_of(game, step.state, who) for who in (seat, 1 - seat)
            ]


@every_board_game
def test_from_to_agrees_with_play(game):
    """A move starts at a piece of the mover, if any, and ends on a cell without one, which then has it."""
    kinds = set()
    for number, step in enumerate(all_steps(game, 4)):
        if step.turn == OVER:
            continue
        mine, theirs = (cells_of(game, step.state, seat) for seat in (step.turn, 1 - step.turn))
        for action in step.actions[number % 5 :: 5]:
            start, to = (int(end) for end in game.from_to(step.state, action))
            after = step.state.copy()
            game.play(after, action)
            ours, others = cells_of(game, after, step.turn), cells_of(game, after, 1 - step.turn)
            kinds.add((start >= 0, to >= 0))
            if to < 0:
                assert start == -1 == to
                if game.name != "hex":  # there it is the swap
                    assert (ours, others) == (mine, theirs)
            elif start < 0:
                assert to not in mine | theirs
                assert ours >= mine | {to}
                assert others == theirs - ours  # some may be turned
            else:
                assert start in mine
                assert to not in mine
                assert ours == mine - {start} | {to}
                assert others <= theirs - {to}
    assert ((True, True) in kinds) == (game.name in MOVING)
    if game.name in ("teeko", "fanorona"):
        assert len(kinds) == 2  # drops; the end of a turn


@every_board_game
def test_two_actions_of_a_position_differ_in_their_cells(game):
    """Except for captures of two kinds, which a policy on patterns can't distinguish."""
    for step in all_steps(game, 4):
        ends = [tuple(map(int, game.from_to(step.state, action))) for action in step.actions]
        assert len(set(ends)) == len(ends) or game.name == "fanorona"


@every_board_game
def test_regions_are_sets_of_cells_with_names_for_patterns(game):
    for seat in range(2):
        for name, region in game.regions(seat).items():
            assert re.fullmatch("[a-z]+", name)
            assert len(region) > 0
            assert set(map(int, region)) <= set(range(len(game.board().places)))


@pytest.mark.parametrize("missing", [*ON_BOARDS, None])
def test_a_game_with_a_board_has_the_rules_for_it(missing):
    class Made(NamedTuple):
        def board(self):
            return None

    for name in {*NEEDED, *ON_BOARDS} - {missing}:
        scope = {}
        exec(f"def {name}({RULES[name]}): return 0", scope)
        setattr(Made, name, scope[name])
    decorate = game("made", state=record(("x", "i1")), num_actions=1, max_game_length=1, payoffs=(0.0, 1.0))
    if missing:
        with pytest.raises(TypeError, match="Made has a board, so it needs from_to, pieces"):
            decorate(Made)
    else:
        decorate(Made)


def test_a_game_without_a_board_needs_none():
    kuhn = games.load("kuhn")
    state = games.positions(kuhn)[0]
    assert not hasattr(kuhn, "board")
    assert kuhn.from_to(state, 0) == (-1, -1)
    assert kuhn.pieces(state, 0, 0) == 0
    assert kuhn.regions(0) == {}
