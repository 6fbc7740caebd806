"""What a convolutional network knows of a board: neighbours, symmetries, and where actions and encodings lie on it.

All of it is found from the rules. An encoding is some planes of one number per cell. A seat's encoding may show the
board turned, so that its own side is always below (Breakthrough): its actions are turned in the same way, and the
network has one numbering of actions, that of seat 0, for both seats.
"""

from typing import Any, NamedTuple

import numpy as np

from ...core.names import BadInput
from ...games import OVER, Game, full_name, positions
from ...games.boards import HEXAGONAL, Board
from ...games.protocol import of_a_game
from ...jit import generators, kernel

GAMES = 12  # random games by which views and symmetries are checked


class Geometry(NamedTuple):
    cells: int
    planes: int  # of an encoding
    neighbours: np.ndarray  # [cells, taps] i8: the cell itself and its neighbours; `cells` off the board
    grid: np.ndarray  # [cells] i8: the cell's place in a rectangle of rows x columns
    rows: int
    columns: int
    taps: tuple[tuple[int, int], ...]  # row and column of each neighbour in the rectangle, from -1 to 1
    by_cell: int  # actions that are plane * cells + cell come first; the others have no cell
    others: int
    frames: np.ndarray  # [seats, actions] i4: the network's number of each action of a seat
    cell_images: np.ndarray  # [symmetries, cells] i8: the identity first
    action_images: np.ndarray  # [symmetries, actions] i8: of the network's numbers


@of_a_game
def geometry_of(game: Game) -> Geometry:
    """Return the geometry of a game's board.

    Raises:
        BadInput: The game has no board, or its encoding is not planes of the board's cells.
    """
    if not hasattr(game, "board"):
        raise BadInput(f"{full_name(game)} has no board: a convolutional network needs one")
    board: Board = game.board()
    cells, facts = len(board.places), game.facts
    if not facts.encoding or facts.encoding % cells:
        raise BadInput(f"the encoding of {full_name(game)} is not planes of its {cells} cells")
    neighbours, grid, rows, columns, taps = _rectangle(board)
    turned = [_turn(game, board, seat) for seat in range(2)]
    frames = np.array([_images(game, board, cells_to) for cells_to in turned], np.int32)
    symmetries = [s.astype(np.int64) for s in board.symmetries if _keeps_the_rules(game, board, s)]
    images = [_images(game, board, each) for each in symmetries]
    return Geometry(
        cells, facts.encoding // cells, neighbours, grid, rows, columns, taps, facts.num_actions // cells,
        facts.num_actions % cells, frames, np.array(symmetries), np.array(images),
    )  # fmt: skip


def _rectangle(board: Board) -> tuple[np.ndarray, np.ndarray, int, int, tuple[tuple[int, int], ...]]:
    """Neighbours of each cell, and the smallest rectangle for the cells in which neighbours touch.

    Hexagons are sheared by nothing or half a cell per row: a hexagon's six neighbours are six of the eight around it.
    """
    shears = (0, 1) if board.directions == HEXAGONAL else (0,)

    def size(shear: int) -> int:
        columns = [c + shear * r for r, c in board.places]
        return max(columns) - min(columns)

    shear = min(shears, key=size)
    places = np.array([(r, c + shear * r) for r, c in board.places])
    places -= places.min(axis=0)
    rows, columns = (int(n) for n in places.max(axis=0) + 1)
    taps = ((0, 0), *((r, c + shear * r) for r, c in board.directions))
    where = {(int(r), int(c)): cell for cell, (r, c) in enumerate(places)}
    neighbours = [[where.get((r + dr, c + dc), len(places)) for dr, dc in taps] for r, c in places.tolist()]
    return np.array(neighbours, np.int64), places[:, 0] * columns + places[:, 1], rows, columns, taps


def _images(game: Game, board: Board, cells_to: np.ndarray) -> np.ndarray:
    """[actions] i8: the action that does on the images of cells what an action does on the cells, by `from_to`.

    Actions with the same two cells keep their order. An action that is never legal may have no image: it gets one that
    is left over.
    """
    state, count = positions(game)[0], game.facts.num_actions
    ends = [tuple(int(cell) for cell in game.from_to(state, action)) for action in range(count)]
    groups: dict[Any, list[int]] = {}
    for action, pair in enumerate(ends):
        groups.setdefault(pair, []).append(action)
    found, rank = np.full(count, -1, np.int64), dict.fromkeys(groups, 0)
    for action, pair in enumerate(ends):
        image = tuple(int(cells_to[cell]) if 0 <= cell < len(cells_to) else cell for cell in pair)
        if rank[pair] < len(groups.get(image, ())):
            found[action] = groups[image][rank[pair]]
        rank[pair] += 1
    # Where two actions have the same image, as those of both seats may, the first keeps it.
    if len(board.places) and len(set(found[found >= 0].tolist())) < (found >= 0).sum():
        return found
    left = sorted(set(range(count)) - set(found.tolist()))
    found[found < 0] = left
    return found


def _turn(game: Game, board: Board, seat: int) -> np.ndarray:
    """[cells]: where a seat's encoding shows each cell, by its own pieces in the first plane."""
    places = np.array([int(place) for place in game.places()], np.int64)  # type: ignore[attr-defined]
    encoding = np.zeros(game.facts.encoding, np.float32)
    for cells_to in board.symmetries.astype(np.int64):
        if shows(game, positions(game), seat, places, cells_to, encoding, generators(1, 1)[0], GAMES):
            return cells_to
    raise BadInput(f"the first plane of the encoding of {full_name(game)} isn't the seat's own pieces")


def _keeps_the_rules(game: Game, board: Board, cells_to: np.ndarray) -> bool:
    """Whether random games and their images under a symmetry of the board have the same turns, views and payoffs."""
    images = _images(game, board, cells_to)
    if sorted(images.tolist()) != list(range(len(images))):
        return False
    encodings, actions = np.zeros((2, game.facts.encoding), np.float32), np.zeros((3, len(images)), np.int64)
    rng = generators(2, 1)[0]
    return bool(mirrors(game, positions(game, 2), images, cells_to.astype(np.int64), encodings, actions, rng, GAMES))


@kernel
def shows(game, states, seat, places, cells_to, encoding, rng, games):
    """Whether the first plane of a seat's encoding has its pieces on the images of their cells, in random games."""
    state = states[0]
    for _ in range(games):
        game.start(state)
        while game.turn(state) != OVER:
            game.observe(state, seat, encoding)
            for cell in range(len(places)):
                place = places[cell]
                mine = game.pieces(state, seat, place >> 6) >> np.uint64(place & 63) & np.uint64(1)
                if (encoding[cells_to[cell]] > 0) != (mine != 0):
                    return False
            game.play(state, game.sample_action(state, rng))
    return True


@kernel
def mirrors(game, states, images, cells_to, encodings, actions, rng, games):
    """Whether random games have the same turns, legal actions, views and payoffs as their images."""
    one, two, cells = states[0], states[1], len(cells_to)
    for _ in range(games):
        game.start(one)
        game.start(two)
        while game.turn(one) != OVER:
            n = game.actions(one, actions[0])
            if game.turn(one) != game.turn(two) or game.actions(two, actions[1]) != n:
                return False
            actions[2, :] = 0
            for i in range(n):
                actions[2, images[actions[0, i]]] = 1
            for i in range(n):
                if not actions[2, actions[1, i]]:
                    return False
            for seat in range(2):
                game.observe(one, seat, encodings[0])
                game.observe(two, seat, encodings[1])
                for i in range(len(encodings[0])):
                    if encodings[0, i] != encodings[1, i // cells * cells + cells_to[i % cells]]:
                        return False
            action = game.sample_action(one, rng)
            game.play(one, action)
            game.play(two, images[action])
        if game.turn(two) != OVER or game.payoff(one, 0) != game.payoff(two, 0):
            return False
    return True
