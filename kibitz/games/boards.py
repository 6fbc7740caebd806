"""Boards of square or hexagonal cells: neighbours, lines and symmetries for rules, pictures and features.

Directions are in counter-clockwise order, so that d and d + directions / 2 are opposite. On squares: east, north-east,
north, north-west, west, ...; the even ones are orthogonal. On hexagons: six, from east.
"""

import functools
from dataclasses import dataclass

import numpy as np

SQUARE = ((0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1), (-1, 0), (-1, 1))  # row, column; rows go up
HEXAGONAL = ((0, 1), (1, 0), (1, -1), (0, -1), (-1, 0), (-1, 1))  # axial coordinates
LETTERS = "abcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True, eq=False)
class Board:
    """The cells of a board and their geometry."""

    places: tuple[tuple[int, int], ...]  # row and column of each cell; axial coordinates on hexagons
    names: tuple[str, ...]  # name of each cell
    directions: tuple[tuple[int, int], ...]  # row and column that a step adds
    orthogonal: int  # step from one direction across an edge to the next: 2 on squares, 1 on hexagons
    alquerque: bool = False  # diagonals only between cells whose row and column have an even sum

    @functools.cached_property
    def cell(self) -> dict[tuple[int, int], int]:
        """Place -> cell."""
        return {place: cell for cell, place in enumerate(self.places)}

    @functools.cached_property
    def neighbours(self) -> np.ndarray:
        """[cells, directions] i2: the neighbour in each direction; -1 off the board, and where there is no line."""
        found = [[self.cell.get((r + dr, c + dc), -1) for dr, dc in self.directions] for r, c in self.places]
        neighbours = np.array(found, np.int16)
        if self.alquerque:
            neighbours[[sum(place) % 2 == 1 for place in self.places], 1::2] = -1
        return neighbours

    @functools.cached_property
    def rays(self) -> np.ndarray:
        """[cells, directions, longest] i2: all cells in a direction, the nearest first; -1 off the board."""
        longest = max(max(place) for place in self.places) - min(min(place) for place in self.places)
        found = np.full((len(self.places), len(self.directions), longest + 1), -1, np.int16)
        for cell in range(len(self.places)):
            for direction in range(len(self.directions)):
                at, distance = int(self.neighbours[cell, direction]), 0
                while at >= 0:
                    found[cell, direction, distance] = at
                    at, distance = int(self.neighbours[at, direction]), distance + 1
        return found

    def lines(self, length: int) -> np.ndarray:
        """[lines, length] i2: all straight lines of `length` cells, each once."""
        found = []
        for cell in range(len(self.places)):
            for direction in range(len(self.directions) // 2):
                row = [cell, *self.rays[cell, direction, : length - 1].tolist()]
                if len(row) == length and row[-1] >= 0:
                    found.append(row)
        return np.array(found, np.int16).reshape(-1, length)

    @functools.cached_property
    def symmetries(self) -> np.ndarray:
        """[symmetries, cells] i2: the image of each cell under each rotation and reflection, the identity first."""
        steps = self.directions
        up, right = steps.index((1, 0)), steps.index((0, 1))
        found = []
        for turn in range(len(steps)):
            for mirror in (1, -1):
                images = [steps[(turn + mirror * direction) % len(steps)] for direction in range(len(steps))]
                moved = [image(place, images[up], images[right]) for place in self.places]
                low = [min(place[i] for place in moved) - min(place[i] for place in self.places) for i in range(2)]
                cells = [self.cell.get((r - low[0], c - low[1]), -1) for r, c in moved]
                if min(cells) >= 0 and cells not in found:
                    found.append(cells)
        return np.array(sorted(found, key=lambda cells: cells != list(range(len(cells)))), np.int16)


def image(place: tuple[int, int], up: tuple[int, int], right: tuple[int, int]) -> tuple[int, int]:
    """The image of a place under the linear map that is given by the images of a step up and a step right."""
    return place[0] * up[0] + place[1] * right[0], place[0] * up[1] + place[1] * right[1]


@functools.cache
def square(rows: int, columns: int) -> Board:
    """A board of squares, row by row from a1 at the lower left."""
    places = tuple((row, column) for row in range(rows) for column in range(columns))
    names = tuple(f"{LETTERS[column]}{row + 1}" for row, column in places)
    return Board(places, names, SQUARE, 2)


@functools.cache
def alquerque(rows: int, columns: int) -> Board:
    """A board of points connected by the lines of Alquerque: only every other point has diagonals."""
    points = square(rows, columns)
    return Board(points.places, points.names, SQUARE, 2, alquerque=True)


@functools.cache
def rhombus(size: int) -> Board:
    """The board of Hex: rows of hexagons, each shifted by half a cell; a1 is at the upper left, as is usual in Hex."""
    places = tuple((-row, row + column) for row in range(size) for column in range(size))
    names = tuple(f"{LETTERS[column]}{row + 1}" for row in range(size) for column in range(size))
    return Board(tuple((r, c) for r, c in places), names, HEXAGONAL, 1)


@functools.cache
def hexagon(side: int) -> Board:
    """A hexagon of hexagons with `side` cells per side, row by row from a1 at the lower left."""
    reach = side - 1
    places = tuple(
        (row, column)
        for row in range(-reach, reach + 1)
        for column in range(max(-reach, -reach - row), min(reach, reach - row) + 1)
    )
    firsts = {row: min(c for r, c in places if r == row) for row, _ in places}
    names = tuple(f"{LETTERS[row + reach]}{column - firsts[row] + 1}" for row, column in places)
    return Board(places, names, HEXAGONAL, 1)


def board_text(board: Board, symbols: list[str]) -> str:
    """One symbol per cell, as the board lies before the players, with coordinates at the edge."""
    rows = sorted({row for row, _ in board.places}, reverse=True)
    if board.directions == SQUARE:
        columns = 1 + max(column for _, column in board.places)
        lines = []
        for row in rows:
            cells = " ".join(symbols[board.cell[row, column]] for column in range(columns))
            lines.append(f"{row + 1:>2} {cells}")
        return "\n".join([*lines, "   " + " ".join(LETTERS[:columns])])
    # The centre of a cell is at column + row / 2: half a cell is one character.
    left = min(2 * column + row for row, column in board.places)
    lines = []
    for row in rows:
        here = sorted((column, cell) for (r, column), cell in board.cell.items() if r == row)
        indent = " " * (2 * here[0][0] + row - left)
        first = board.names[here[0][1]]
        lines.append(f"{first:>4} {indent}{' '.join(symbols[cell] for _, cell in here)}")
    return "\n".join(lines)
