"""Tic-tac-toe against OpenSpiel, and against known counts and values."""

import numpy as np
import pytest

from kibitz import games
from kibitz.games.tic_tac_toe import cells_of

from .counted import layers, perft, value
from .replays import agrees_with_its_image, agrees_with_openspiel, chances_of_ends, finishes_by_its_law

GAME = games.load("tic_tac_toe")


def test_random_games_agree_with_openspiel():
    """Its rows go down."""
    agrees_with_openspiel(GAME, "tic_tac_toe", lambda action: (2 - action // 3) * 3 + action % 3, range(300))


@pytest.mark.parametrize("image", GAME.board().symmetries.tolist())
def test_symmetric_positions_have_symmetric_moves(image):
    agrees_with_its_image(GAME, lambda action: image[action])


def test_lines_of_play():
    """9!/(9 - n)! until someone may have won; a win then ends a line. In all 255,168 games (Henry Bottomley)."""
    counts = [perft(GAME, depth) for depth in range(1, 10)]
    assert counts == [9, 72, 504, 3024, 15120, 54720, 148176, 200448, 127872]


def test_positions_and_how_they_end():
    """5,478 positions; of the final ones x has won 626, o 316, and 16 are full without a winner."""
    found = layers(GAME)
    assert sum(map(len, found)) == 5478
    ends = [GAME.payoff(state, 0) for layer in found for state in layer if GAME.turn(state) == games.OVER]
    assert [ends.count(payoff) for payoff in (1, -1, 0)] == [626, 316, 16]


def test_it_is_a_draw():
    assert value(GAME) == 0


def test_random_games_have_the_exact_win_probabilities():
    """x wins 737 in 1,260, o 121 in 420, and 8 in 63 are drawn."""
    chances = {1: 0.0, -1: 0.0, 0: 0.0}
    for key, chance in chances_of_ends(GAME, games.positions(GAME)).items():
        marks = np.frombuffer(key[:4], np.int16)
        state = games.positions(GAME)[0]
        state.marks[:] = marks
        chances[int(GAME.payoff(state, 0))] += chance
    assert [chances[payoff] for payoff in (1, -1, 0)] == pytest.approx([737 / 1260, 121 / 420, 8 / 63])


def test_random_playout_plays_at_random():
    finishes_by_its_law(GAME, 200_000)


def test_random_playout_works_from_any_position():
    state = games.positions(GAME)[0]
    for action in (4, 0, 2):
        GAME.play(state, action)
    finishes_by_its_law(GAME, 50_000, state)


def test_a_position_is_shown_with_its_winner():
    state = games.positions(GAME)[0]
    for cell in ("a1", "a2", "b1", "b2", "c1"):
        GAME.play(state, GAME.parse_action(state, cell))
    assert GAME.show(state, 1).splitlines() == [
        "seat 1: x, wins",
        "seat 2 (you): o",
        " 3 . . .",
        " 2 o o .",
        " 1 x x x",
        "   a b c",
    ]


def test_an_action_is_the_cell_of_its_mark():
    assert [cells_of(GAME, action) for action in range(9)] == [(-1, cell) for cell in range(9)]
