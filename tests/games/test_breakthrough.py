"""Breakthrough against OpenSpiel's, and against a slow twin on boards that OpenSpiel sets up otherwise."""

import functools
import random

import pytest

from kibitz import games, jit
from kibitz.games import OVER
from kibitz.games.bitboards import mask
from kibitz.games.breakthrough import cells_of
from kibitz.games.random_games import playouts

from .counted import perft, value
from .race_twin import Race, agrees_with_race, both_seats_play_alike, mirrored, position, words
from .replays import agrees_with_its_image, openspiel
from .walks import walk

GAME = games.load("breakthrough")
SIZES = [(rows, columns) for rows in range(4, 9) for columns in range(2, 9)]


def sized(rows, columns):
    return games.load(f"breakthrough:{rows},columns={columns}")


# ---------------------------------------------------------------- OpenSpiel: two rows a side from six rows on


@pytest.mark.parametrize(("rows", "columns", "count"), [(8, 8, 120), (6, 6, 80), (6, 2, 50), (7, 5, 50), (8, 3, 50)])
def test_random_games_agree_with_openspiel(rows, columns, count):
    game, oracle = sized(rows, columns), openspiel(f"breakthrough(rows={rows},columns={columns})")
    named = {}  # its number -> its word: e5d4, e5xd4 with a star behind

    def word(step, action):
        """Its first player moves down: rows are counted from the other end."""
        start, to = cells_of(game, action)
        takes = int(step.state.pieces[1 - step.turn]) >> to & 1
        cells = [f"{'abcdefgh'[cell % columns]}{rows - cell // columns}" for cell in (start, to)]
        return "".join(cells) + "*" * takes

    for seed in range(count):
        state = oracle.new_initial_state()
        for step in walk(game, seed):
            assert state.is_terminal() == (step.turn == OVER)
            if step.turn == OVER:
                assert state.returns() == [game.payoff(step.state, seat) for seat in range(2)]
                continue
            assert state.current_player() == step.turn
            legal = state.legal_actions()
            for action in legal:
                named[action] = named.get(action) or state.action_to_string(action)
            assert {named[action] for action in legal} == {word(step, action) for action in step.actions}
            played = word(step, step.action)
            state.apply_action(next(action for action in legal if named[action] == played))


@pytest.mark.parametrize(
    ("rows", "columns", "counts"),
    [
        (8, 8, [22, 484, 11132, 256036, 6182818]),  # to 256,036 counted by OpenSpiel too
        (6, 6, [16, 256, 4308, 71478, 1248290, 21470998]),  # to 1,248,290
        (5, 3, [7, 42, 276, 1776, 11860, 75966, 471314]),  # to 11,860 by the twin
    ],
)
def test_lines_of_play_are_as_many_as_published(rows, columns, counts):
    assert [perft(sized(rows, columns), depth) for depth in range(1, len(counts) + 1)] == counts


def test_openspiel_counts_as_many_lines_of_play():
    assert [openspiel_perft("breakthrough(rows=8,columns=8)", depth) for depth in (1, 2, 3)] == [22, 484, 11132]
    assert openspiel_perft("breakthrough(rows=6,columns=6)", 4) == 71478


def openspiel_perft(name, depth):
    def count(state, left):
        if left == 1:
            return len(state.legal_actions())
        return sum(count(state.child(action), left - 1) for action in state.legal_actions())

    return count(openspiel(name).new_initial_state(), depth)


# ---------------------------------------------------------------- the twin


STEPS = [(1, -1, True), (1, 0, False), (1, 1, True)]


@pytest.mark.parametrize(("rows", "columns"), SIZES)
def test_random_games_agree_with_a_twin(rows, columns):
    agrees_with_race(sized(rows, columns), STEPS, cells_of, 4)


@pytest.mark.parametrize(("rows", "columns", "depth"), [(4, 2, 13), (4, 5, 4), (5, 3, 5), (5, 5, 4)])
def test_a_twin_counts_as_many_lines_of_play(rows, columns, depth):
    assert perft(sized(rows, columns), depth) == Race(rows, columns, STEPS).perft(depth)


@pytest.mark.parametrize(("rows", "columns"), [(4, 2), (4, 3), (5, 2)])
def test_small_boards_have_the_same_winner_as_in_the_twin(rows, columns):
    assert value(sized(rows, columns)) == (1, -1)[Race(rows, columns, STEPS).winner({})]


# ---------------------------------------------------------------- what follows from the rules


@pytest.mark.parametrize(("rows", "columns"), [(8, 8), (6, 5), (4, 2)])
def test_a_mirrored_game_has_the_same_moves(rows, columns):
    game = sized(rows, columns)
    agrees_with_its_image(game, functools.partial(mirrored, game, len(STEPS)))


@pytest.mark.parametrize(("rows", "columns"), [(8, 8), (5, 7)])
def test_both_seats_see_and_play_alike_from_their_side(rows, columns):
    both_seats_play_alike(sized(rows, columns), cells_of)


def test_straight_only_onto_empty_cells_and_diagonally_onto_enemies_too():
    assert words(GAME, position(GAME, "d4", "d5 e5")) == ["d4-c5", "d4xe5"]
    assert words(GAME, position(GAME, "d4 c5", "h8")) == ["c5-b6", "c5-c6", "c5-d6", "d4-d5", "d4-e5"]
    assert words(GAME, position(GAME, "a2", "a3 b3", 1)) == ["a3-b2", "b3-b2", "b3-c2", "b3xa2"]


def test_no_piece_crosses_the_edge():
    assert words(GAME, position(GAME, "a4 h4", "c7")) == ["a4-a5", "a4-b5", "h4-g5", "h4-h5"]
    assert words(GAME, position(GAME, "c2", "a5 h5", 1)) == ["a5-a4", "a5-b4", "h5-g4", "h5-h4"]


@pytest.mark.parametrize(
    ("mine", "theirs", "to_move", "move", "winner"),
    [
        ("d7 a1", "h8", 0, "d7-e8", 0),
        ("d7", "h2 d8 e8", 1, "h2-g1", 1),
        ("d4", "e5", 0, "d4xe5", 0),  # the last one is taken
        ("d4", "e5", 1, "e5xd4", 1),
        ("d4 a1", "e5 a8", 0, "d4xe5", None),
        ("d6", "a3", 0, "d6-d7", None),
    ],
)
def test_reaching_the_far_row_or_capturing_the_last_piece_wins(mine, theirs, to_move, move, winner):
    state = position(GAME, mine, theirs, to_move)
    GAME.play(state, GAME.parse_action(state, move))
    assert GAME.turn(state) == (1 - to_move if winner is None else OVER)
    if winner is not None:
        assert [GAME.payoff(state, seat) for seat in range(2)] == [[1, -1], [-1, 1]][winner]


def test_there_is_always_a_move():
    rng = random.Random(4)
    for rows, columns in SIZES:
        game = sized(rows, columns)
        state = games.positions(game)[0]
        inner = range(columns, (rows - 1) * columns)  # nobody has won
        for _ in range(40):
            cells = rng.sample(inner, rng.randrange(2, len(inner) + 1))
            share = rng.randrange(1, len(cells))
            state.pieces[0], state.pieces[1] = mask(cells[:share]), mask(cells[share:])
            for state.to_move in range(2):
                assert games.legal_actions(game, state)


def test_the_board_and_whose_turn_it_is_are_shown():
    state = games.positions(sized(4, 3))[0]
    sized(4, 3).play(state, sized(4, 3).parse_action(state, "b2xa3"))
    assert sized(4, 3).show(state, 1).splitlines() == [
        "seat 1: x",
        "seat 2 (you): o, to move",
        " 4 o o o",
        " 3 x o o",
        " 2 x . x",
        " 1 x x x",
        "   a b c",
    ]


def test_no_kernel_counts_references():
    jit.counting.clear()
    playouts(GAME, 1)
    assert jit.counting == []
