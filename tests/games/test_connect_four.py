"""Connect Four against OpenSpiel, and against published counts and values."""

import pytest

from kibitz import games
from kibitz.core.names import BadInput
from kibitz.games.connect_four import cells_of

from .counted import layers, perft, value
from .replays import agrees_with_its_image, agrees_with_openspiel, finishes_by_its_law
from .walks import all_steps, encoding_of

GAME = games.load("connect_four")


@pytest.mark.parametrize(
    ("rows", "columns", "connect", "count"),
    [(6, 7, 4, 300), (4, 4, 4, 100), (7, 8, 5, 100), (5, 4, 3, 100), (3, 9, 3, 100), (15, 4, 6, 50), (6, 9, 2, 50)],
)
def test_random_games_agree_with_openspiel(rows, columns, connect, count):
    game = games.load(f"connect_four:{rows},columns={columns},connect={connect}")
    theirs = f"connect_four(rows={rows},columns={columns},x_in_row={connect})"
    agrees_with_openspiel(game, theirs, lambda column: column, range(count))


@pytest.mark.parametrize("columns", [6, 7])
def test_it_is_the_same_game_in_a_mirror(columns):
    agrees_with_its_image(games.load(f"connect_four:columns={columns}"), lambda column: columns - 1 - column, range(20))


def test_lines_of_play():
    """7 ** n, less what is full or over. To depth 7: 7 ** 7 - 7, as only seven stones in one column don't fit."""
    counts = [perft(GAME, depth) for depth in range(1, 10)]
    assert counts == [7, 49, 343, 2401, 16807, 117649, 7**7 - 7, 5673234, 39394572]


def test_positions_turn_by_turn():
    """OEIS A212693 (6 rows, 7 columns); all of 4x4 as counted by John Tromp."""
    assert [len(layer) for layer in layers(GAME, 8)] == [1, 7, 49, 238, 1120, 4263, 16422, 54859, 184275]
    assert sum(map(len, layers(games.load("connect_four:4,columns=4")))) == 161029


@pytest.mark.parametrize(
    ("columns", "rows", "expected"),
    [
        *((4, 4, 0), (4, 5, 0), (4, 6, 0), (5, 4, 0), (6, 4, -1)),
        *(pytest.param(width, 5, 0, marks=pytest.mark.heavy) for width in (5, 6)),
    ],
)
def test_small_boards_have_the_values_of_john_tromp(columns, rows, expected):
    """tromp.github.io/c4/c4.html."""
    game = games.load(f"connect_four:{rows},columns={columns}")
    assert value(game, promise=[-abs(2 * column - columns + 1) for column in range(columns)]) == expected


@pytest.mark.parametrize("name", ["3,columns=3,connect=3", "2,columns=5,connect=3", "4,columns=3,connect=4"])
def test_random_playout_plays_at_random(name):
    finishes_by_its_law(games.load(f"connect_four:{name}"), 50_000)


@pytest.mark.parametrize(
    ("line", "winner"),
    [
        ("1 2 1 2 1 2 1", 0),
        ("1 2 3 4 5 6 7 1 1 2 3 2 4 3 6 4 5", 0),
        ("1 7 2 7 3 7 4", 0),
        ("7 1 7 2 7 3 6 4", 1),
        ("1 2 2 3 3 4 3 4 4 6 4", 0),
        ("7 6 6 5 5 4 5 4 4 1 4", 0),
    ],
)
def test_four_in_every_direction_win(line, winner):
    state = games.positions(GAME)[0]
    for word in line.split():
        assert GAME.turn(state) >= 0
        GAME.play(state, GAME.parse_action(state, word))
    assert GAME.turn(state) == games.OVER
    assert [GAME.payoff(state, seat) for seat in (winner, 1 - winner)] == [1, -1]


def test_a_position_is_shown():
    state = games.positions(GAME)[0]
    for word in "44547":
        GAME.play(state, GAME.parse_action(state, word))
    assert GAME.show(state, 0).splitlines() == [
        "seat 1 (you): x",
        "seat 2: o, to move",
        ". . . . . . .",
        ". . . . . . .",
        ". . . . . . .",
        ". . . o . . .",
        ". . . o . . .",
        ". . . x x . x",
        "1 2 3 4 5 6 7",
    ]


@pytest.mark.parametrize("name", ["connect_four", "connect_four:7,columns=8", "connect_four:15,columns=4"])
def test_a_stone_lands_on_the_cell_of_from_to(name):
    game = games.load(name)
    cells = game.rows * game.columns
    for step in all_steps(game, 3):
        for action in step.actions:
            after = step.state.copy()
            game.play(after, action)
            new = encoding_of(game, after, step.turn) - encoding_of(game, step.state, step.turn)
            nowhere, to = cells_of(game, step.state, action)
            assert (nowhere, new[to], abs(new).sum()) == (-1, 1, 1)
            assert to < cells


@pytest.mark.parametrize(
    ("name", "words"), [("8,columns=8", "rows=8, columns=8"), ("3,columns=3", "connect=4"), ("3,columns=4", "")]
)
def test_boards_that_are_too_large_or_too_small_are_refused(name, words):
    if words:
        with pytest.raises(BadInput, match=words):
            games.load(f"connect_four:{name}")
    else:
        games.load(f"connect_four:{name}")
