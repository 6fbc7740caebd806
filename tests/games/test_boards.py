"""Boards: neighbours, lines, symmetries and text."""

import itertools

import numpy as np
import pytest

from kibitz.games.boards import HEXAGONAL, SQUARE, board_text, hexagon, rhombus, square

SQUARES = {f"square({rows}, {columns})": square(rows, columns) for rows, columns in [(1, 4), (3, 3), (6, 7), (15, 15)]}
RHOMBI = {f"rhombus({size})": rhombus(size) for size in (1, 2, 5, 11)}
HEXAGONS = {f"hexagon({side})": hexagon(side) for side in (1, 2, 3, 5)}
BOARDS = SQUARES | RHOMBI | HEXAGONS
every_board = pytest.mark.parametrize("board", BOARDS.values(), ids=BOARDS)


# ---------------------------------------------------------------- cells and neighbours


@every_board
def test_a_cell_is_found_by_its_place_and_has_a_name_of_its_own(board):
    assert len(set(board.names)) == len(board.names) == len(board.places)
    assert [board.cell[place] for place in board.places] == list(range(len(board.places)))


@pytest.mark.parametrize(
    ("board", "cells"), [(square(6, 7), 42), (rhombus(11), 121), (hexagon(5), 61), (hexagon(1), 1)], ids=repr
)
def test_the_number_of_cells_follows_from_geometry(board, cells):
    """A hexagon has 3 * side * (side - 1) + 1."""
    assert len(board.places) == cells


@every_board
def test_directions_come_in_opposite_pairs(board):
    half = len(board.directions) // 2
    for direction, (row, column) in enumerate(board.directions):
        assert board.directions[(direction + half) % (2 * half)] == (-row, -column)
    for cell, direction in np.argwhere(board.neighbours >= 0):
        assert board.neighbours[board.neighbours[cell, direction], (direction + half) % (2 * half)] == cell


@every_board
def test_directions_are_in_counter_clockwise_order(board):
    """From one to the next by the same angle. On hexagons a row up is half a cell to the right."""
    lean = 0.5 if board.directions == HEXAGONAL else 0.0
    height = 3**0.5 / 2 if lean else 1.0
    angles = [np.arctan2(height * row, column + lean * row) for row, column in board.directions]
    turns = np.diff(np.unwrap([*angles, angles[0]]))
    assert angles[0] == 0
    assert turns == pytest.approx(np.full(len(turns), 2 * np.pi / len(turns)))


@every_board
def test_orthogonal_directions_cross_an_edge(board):
    """Every second one on squares, where the others step over a corner; all on hexagons."""
    over_edges = board.directions[:: board.orthogonal]
    if board.directions == SQUARE:
        assert all(abs(row) + abs(column) == 1 for row, column in over_edges)
        assert len(over_edges) == 4
    else:
        assert len(over_edges) == 6


def pairs(board, step=1):
    """Pairs of neighbours in every `step`-th direction."""
    return int(np.sum(board.neighbours[:, ::step] >= 0)) // 2


@pytest.mark.parametrize(("rows", "columns"), [(1, 4), (3, 3), (6, 7), (15, 15)])
def test_neighbours_of_a_square_board(rows, columns):
    board = square(rows, columns)
    assert pairs(board, 2) == 2 * rows * columns - rows - columns
    assert pairs(board) - pairs(board, 2) == 2 * (rows - 1) * (columns - 1)


@pytest.mark.parametrize("size", [1, 2, 5, 11])
def test_neighbours_of_a_rhombus_are_those_of_hex(size):
    board = rhombus(size)
    assert pairs(board) == 3 * size**2 - 4 * size + 1
    for row, column in itertools.product(range(size), repeat=2):
        beside = [(0, 1), (0, -1), (1, 0), (1, -1), (-1, 0), (-1, 1)]
        cells = {(row + down, column + right) for down, right in beside}
        expected = {r * size + c for r, c in cells if 0 <= r < size and 0 <= c < size}
        assert set(board.neighbours[row * size + column].tolist()) - {-1} == expected


@pytest.mark.parametrize("side", [1, 2, 3, 5])
def test_neighbours_of_a_hexagon(side):
    board = hexagon(side)
    assert pairs(board) == 9 * side**2 - 15 * side + 6
    degrees = np.sum(board.neighbours >= 0, axis=1).tolist()
    if side > 1:
        assert {degree: degrees.count(degree) for degree in (3, 4)} == {3: 6, 4: 6 * (side - 2)}
        assert degrees.count(6) == len(degrees) - 6 * (side - 1)


# ---------------------------------------------------------------- rays and lines


@every_board
def test_a_ray_leads_from_neighbour_to_neighbour_to_the_edge(board):
    for cell, direction in np.ndindex(board.neighbours.shape):
        at = cell
        for following in board.rays[cell, direction]:
            at = board.neighbours[at, direction] if at >= 0 else -1
            assert following == at
        assert at == -1 or board.neighbours[at, direction] == -1


@every_board
@pytest.mark.parametrize("length", [2, 3, 4, 5])
def test_lines_are_rows_of_cells_each_once(board, length):
    found = board.lines(length)
    assert found.shape[1] == length
    assert len({frozenset(line) for line in found.tolist()}) == len(found)
    for line in found.tolist():
        steps = {tuple(np.subtract(board.places[b], board.places[a])) for a, b in itertools.pairwise(line)}
        assert len(steps) == 1
        assert steps <= set(board.directions)


@pytest.mark.parametrize(
    ("board", "length", "count"),
    [
        (square(3, 3), 3, 8),  # tic-tac-toe
        (square(6, 7), 4, 69),  # Connect Four
        (square(15, 15), 5, 572),  # Gomoku
        (square(5, 5), 4, 28),  # Teeko, whose other 16 patterns are squares
        (square(3, 3), 4, 0),
        (rhombus(5), 5, 2 * 5 + 1),
        (rhombus(11), 4, 2 * 11 * 8 + 8**2),
        (hexagon(5), 4, 3 * (2 * (2 + 3 + 4 + 5) + 6)),  # Yavalath: rows of 5, 6, 7, 8, 9, 8, ... in three directions
        (hexagon(5), 9, 3),
        (hexagon(5), 10, 0),
    ],
)
def test_the_number_of_lines_follows_from_combinatorics(board, length, count):
    assert len(board.lines(length)) == count


# ---------------------------------------------------------------- symmetries


@every_board
def test_a_symmetry_is_a_permutation_that_keeps_neighbours(board):
    cells = list(range(len(board.places)))
    assert board.symmetries[0].tolist() == cells
    for image in board.symmetries.tolist():
        assert sorted(image) == cells
        for step in {1, board.orthogonal}:  # those over an edge among themselves
            for cell in cells:
                beside = [image[other] for other in board.neighbours[cell, ::step] if other >= 0]
                assert sorted(beside) == sorted(o for o in board.neighbours[image[cell], ::step].tolist() if o >= 0)


@every_board
def test_a_symmetry_keeps_lines(board):
    lines = {frozenset(line) for line in board.lines(3).tolist()}
    for image in board.symmetries.tolist():
        assert {frozenset(image[cell] for cell in line) for line in lines} == lines


@every_board
def test_symmetries_are_a_group(board):
    found = {tuple(image) for image in board.symmetries.tolist()}
    assert len(found) == len(board.symmetries)
    for one, two in itertools.product(found, repeat=2):
        assert tuple(two[cell] for cell in one) in found


@pytest.mark.parametrize(
    ("board", "count"), [(square(3, 3), 8), (square(6, 7), 4), (square(1, 4), 2), (rhombus(5), 4), (hexagon(3), 12)]
)
def test_the_number_of_symmetries_follows_from_geometry(board, count):
    assert len(board.symmetries) == count


# ---------------------------------------------------------------- names and text


def test_cells_have_the_names_that_players_use():
    assert square(6, 7).names[:8] == ("a1", "b1", "c1", "d1", "e1", "f1", "g1", "a2")
    assert rhombus(3).names == ("a1", "b1", "c1", "a2", "b2", "c2", "a3", "b3", "c3")
    assert hexagon(2).names == ("a1", "a2", "b1", "b2", "b3", "c1", "c2")


@pytest.mark.parametrize(
    ("board", "expected"),
    [
        (
            square(2, 3),
            [
                " 2 d e f",
                " 1 a b c",
                "   a b c",
            ],
        ),
        (
            rhombus(3),
            [
                "  a1 a b c",
                "  a2  d e f",
                "  a3   g h i",
            ],
        ),
        (
            hexagon(2),
            [
                "  c1  f g",
                "  b1 c d e",
                "  a1  a b",
            ],
        ),
    ],
    ids=["square", "rhombus", "hexagon"],
)
def test_a_board_text_has_every_cell_at_its_place(board, expected):
    letters = "abcdefghijklmnopqrstuvwxyz"
    assert board_text(board, list(letters[: len(board.places)])).splitlines() == expected


def test_rows_from_ten_on_are_aligned():
    drawn = board_text(square(10, 1), ["."] * 10).splitlines()
    assert (drawn[0], drawn[1], drawn[-1]) == ("10 .", " 9 .", "   a")


def test_a_board_is_made_once():
    """Games ask for theirs again and again."""
    assert square(3, 3) is square(3, 3)
    assert hexagon(2) is hexagon(2)
    assert rhombus(2) is rhombus(2)
