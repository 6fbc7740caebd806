"""Boards as a network sees them: neighbours, symmetries, turned views."""

import numpy as np
import pytest

from kibitz.core.names import BadInput
from kibitz.games import OVER, load, positions
from kibitz.jit import generators
from kibitz.nets.boards.geometry import geometry_of


@pytest.mark.parametrize(
    ("name", "symmetries", "taps"),
    [
        ("tic_tac_toe", 8, 9),
        ("connect_four:rows=4,columns=5", 2, 9),
        ("hex:3", 2, 7),
        ("breakthrough:4,columns=3", 2, 9),
    ],
)
def test_symmetries_of_the_game_and_neighbours(name, symmetries, taps):
    geometry = geometry_of(load(name))
    assert len(geometry.cell_images) == len(geometry.action_images) == symmetries
    assert geometry.neighbours.shape == (geometry.cells, taps)
    assert geometry.cell_images[0].tolist() == list(range(geometry.cells))
    for images in geometry.action_images:
        assert sorted(images.tolist()) == list(range(load(name).facts.num_actions))


def test_hexagons_have_six_neighbours_in_a_square():
    geometry = geometry_of(load("hex:3"))
    assert (geometry.rows, geometry.columns) == (3, 3)
    assert len(set(geometry.taps)) == 7
    corner = [n for n in geometry.neighbours[0].tolist() if n < 9]
    assert sorted(corner) == [0, 1, 3]  # the acute corner of the rhombus has two neighbours


def test_both_seats_of_a_race_have_the_same_actions():
    """Seat 1 sees the board turned: what it may do there is what seat 0 may do in the same view."""
    game = load("breakthrough:4,columns=3")
    geometry, rng, found = geometry_of(game), generators(1, 1)[0], {}
    out = np.zeros(game.facts.num_actions, np.int64)
    for _ in range(300):
        state = positions(game)[0]
        while (seat := game.turn(state)) != OVER:
            encoding = np.zeros(game.facts.encoding, np.float32)
            game.observe(state, seat, encoding)
            legal = sorted(geometry.frames[seat, out[: game.actions(state, out)]].tolist())
            assert found.setdefault(encoding.tobytes(), legal) == legal
            game.play(state, game.sample_action(state, rng))


def test_games_without_a_board_are_refused():
    with pytest.raises(BadInput, match="leduc has no board"):
        geometry_of(load("leduc"))
