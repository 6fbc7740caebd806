"""Knightthrough against a slow twin, as there is no other implementation to compare with."""

import functools
import random

import pytest

from kibitz import games, jit
from kibitz.core.names import BadInput
from kibitz.games import OVER
from kibitz.games.bitboards import mask
from kibitz.games.knightthrough import cells_of
from kibitz.games.random_games import playouts

from .counted import perft, value
from .race_twin import Race, agrees_with_race, both_seats_play_alike, mirrored, position, words
from .replays import agrees_with_its_image

GAME = games.load("knightthrough")
SIZES = [(rows, columns) for rows in range(4, 9) for columns in range(4, 9)]
LEAPS = [(1, -2, True), (2, -1, True), (2, 1, True), (1, 2, True)]


def sized(rows, columns):
    return games.load(f"knightthrough:{rows},columns={columns}")


@pytest.mark.parametrize(("rows", "columns"), SIZES)
def test_random_games_agree_with_a_twin(rows, columns):
    agrees_with_race(sized(rows, columns), LEAPS, cells_of, 40 if (rows, columns) == (8, 8) else 8)


@pytest.mark.parametrize(
    ("rows", "columns", "counts"),
    [
        (8, 8, [40, 1600, 63520, 2521306, 99598454]),  # to 63,520 counted by the twin too
        (6, 6, [28, 784, 21616, 581938, 15366786]),  # to 21,616
        (4, 4, [16, 144, 1244, 8402, 55270, 277776, 1413146]),  # to 55,270
    ],
)
def test_lines_of_play(rows, columns, counts):
    assert [perft(sized(rows, columns), depth) for depth in range(1, len(counts) + 1)] == counts


@pytest.mark.parametrize(("rows", "columns", "depth"), [(8, 8, 3), (6, 6, 3), (5, 4, 4), (4, 4, 5), (4, 7, 3)])
def test_a_twin_counts_as_many_lines_of_play(rows, columns, depth):
    assert perft(sized(rows, columns), depth) == Race(rows, columns, LEAPS).perft(depth)


@pytest.mark.parametrize(("rows", "columns"), [(4, 4), (4, 5)])
def test_small_boards_have_the_same_winner_as_in_the_twin(rows, columns):
    assert value(sized(rows, columns)) == (1, -1)[Race(rows, columns, LEAPS).winner({})]


# ---------------------------------------------------------------- what follows from the rules


@pytest.mark.parametrize(("rows", "columns"), [(8, 8), (6, 5), (4, 4)])
def test_a_mirrored_game_has_the_same_moves(rows, columns):
    game = sized(rows, columns)
    agrees_with_its_image(game, functools.partial(mirrored, game, len(LEAPS)))


@pytest.mark.parametrize(("rows", "columns"), [(8, 8), (5, 7)])
def test_both_seats_see_and_play_alike_from_their_side(rows, columns):
    both_seats_play_alike(sized(rows, columns), cells_of)


def test_a_knight_leaps_ahead_onto_empty_cells_and_enemies():
    crowd = "c5 d5 e5"
    assert words(GAME, position(GAME, "d4", f"{crowd} b5 c6")) == ["d4-e6", "d4-f5", "d4xb5", "d4xc6"]
    assert words(GAME, position(GAME, "d4 e6", f"{crowd} h8")) == [
        *["d4-b5", "d4-c6", "d4-f5"],
        *["e6-c7", "e6-d8", "e6-f8", "e6-g7"],
    ]
    assert words(GAME, position(GAME, "b4", "d5 a7", 1)) == ["a7-b5", "a7-c6", "d5-c3", "d5-e3", "d5-f4", "d5xb4"]


def test_no_knight_crosses_the_edge():
    assert words(GAME, position(GAME, "a7 h6 b2", "c2")) == [
        *["a7-c8", "b2-a4", "b2-c4", "b2-d3"],
        *["h6-f7", "h6-g8"],
    ]
    assert words(GAME, position(GAME, "c7", "a2 g3", 1)) == ["a2-c1", "g3-e2", "g3-f1", "g3-h1"]


@pytest.mark.parametrize(
    ("mine", "theirs", "to_move", "move", "winner"),
    [
        ("d7 a1", "h8", 0, "d7-f8", 0),
        ("d6 a1", "h8", 0, "d6-e8", 0),
        ("d7", "h3 d8", 1, "h3-g1", 1),
        ("d4", "e6", 0, "d4xe6", 0),  # the last one is taken
        ("d4", "e6", 1, "e6xd4", 1),
        ("d4 a1", "e6 a8", 0, "d4xe6", None),
        ("d5", "a3", 0, "d5-e7", None),
    ],
)
def test_reaching_the_far_row_or_capturing_the_last_piece_wins(mine, theirs, to_move, move, winner):
    state = position(GAME, mine, theirs, to_move)
    GAME.play(state, GAME.parse_action(state, move))
    assert GAME.turn(state) == (1 - to_move if winner is None else OVER)
    if winner is not None:
        assert [GAME.payoff(state, seat) for seat in range(2)] == [[1, -1], [-1, 1]][winner]


def test_there_is_always_a_move():
    """On four columns and more: on three a knight before the far row, in the middle, couldn't leap."""
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
    with pytest.raises(BadInput, match="4 to 8"):
        sized(8, 3)


def test_no_kernel_counts_references():
    jit.counting.clear()
    playouts(GAME, 1)
    assert jit.counting == []
