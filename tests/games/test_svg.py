"""Pictures are well-formed, load nothing, and a view's picture shows only what its seat knows."""

import re
from xml.etree import ElementTree

import pytest

from kibitz import games, jit
from kibitz.games import State
from kibitz.games.display import piece_owners
from kibitz.games.svg import EMPTY, LAST, board_svg, card_svg, die_svg, table_html, text_html

from .walks import all_steps, every_game, every_hidden_game, view_of, world_of

SVG = "{http://www.w3.org/2000/svg}"


def elements(text, tag):
    return list(ElementTree.fromstring(text).iter(f"{SVG}{tag}"))


@every_game
def test_a_picture_is_one_well_formed_element(game):
    for step in list(all_steps(game, 2))[::3]:
        for state in (State(game, step.state), *(State(game, step.state).view(s) for s in range(game.facts.seats))):
            picture = state._repr_html_()
            ElementTree.fromstring(picture)
            assert "http" not in picture.replace("http://www.w3.org/2000/svg", "")  # nothing is loaded


@every_hidden_game
def test_states_that_look_the_same_to_a_seat_have_the_same_picture(game):
    rng = jit.generators(15, 1)[0]
    for step in all_steps(game, 2):
        for seat in range(game.facts.seats):
            world = world_of(game, view_of(game, step.state, seat), seat, rng)
            one, two = (State(game, record).view(seat)._repr_html_() for record in (step.state, world))
            assert one == two


@pytest.mark.parametrize("name", ["kuhn", "leduc", "liars_dice:dice=2,faces=3", "goofspiel:4"])
def test_a_spectators_picture_shows_everything(name):
    game, rng = games.load(name), jit.generators(16, 1)[0]
    pictures = {}
    for step in all_steps(game, 8):
        for seat in range(2):
            for record in (step.state, world_of(game, view_of(game, step.state, seat), seat, rng)):
                text = game.show(record, -1)
                assert pictures.setdefault(State(game, record)._repr_html_(), text) == text


@every_game
def test_a_board_is_drawn_with_every_cell_and_piece(game):
    if not hasattr(game, "board"):
        return
    for step in list(all_steps(game, 2))[::5]:
        drawn = board_svg(game, step.state)
        cells = [path for path in elements(drawn, "path") if path.get("data-cell")]
        assert len(elements(drawn, "circle")) == sum(owner >= 0 for owner in piece_owners(game, step.state))
        (title,) = elements(drawn, "title")
        assert game.name in title.text
        assert [(path.get("data-cell"), path.get("data-name")) for path in cells] == [
            (str(cell), name) for cell, name in enumerate(game.board().names)
        ]


@pytest.mark.parametrize("name", ["goofspiel:4", "doppelkopf"])
def test_only_cards_of_the_own_hand_can_be_clicked_on(name):
    game = games.load(name)
    state = game.initial(3).deal()
    for seat in range(game.facts.seats):
        view = view_of(game, state.record, seat)
        drawn = [int(each) for each in re.findall('data-action="([0-9]+)"', game.picture(view, seat))]
        assert len(drawn) == (4 if name == "goofspiel:4" else 12)
    assert "data-action" not in game.picture(state.record, -1)


def test_pictures_have_no_styles():
    """A page with a strict content security policy refuses them."""
    for name in ("leduc", "goofspiel:4", "liars_dice", "hex:3", "holdem", "doppelkopf"):
        assert "style=" not in games.load(name).initial(1)._repr_html_()


def cells_drawn(picture, colour):
    return [cell for cell, path in enumerate(elements(picture, "path")) if path.get("fill") == colour]


@pytest.mark.parametrize(
    ("name", "moves", "cells"),
    [
        ("breakthrough", ["c2-c3"], [10, 18]),
        ("connect_four", ["4", "4"], [10]),  # the second lands on the first
        ("othello", ["d3"], [19]),
        ("hex:5", ["c3"], [12]),
        ("teeko", ["c3"], [12]),
    ],
)
def test_the_last_move_is_highlighted(name, moves, cells):
    state = games.load(name).initial()
    assert cells_drawn(state._repr_html_(), LAST) == []
    for move in moves:
        state.play(move)
    assert cells_drawn(state._repr_html_(), LAST) == cells
    while state.history:
        state.undo()
    assert cells_drawn(state._repr_html_(), LAST) == []


def test_row_one_is_where_players_have_it():
    def place(name, cell):
        path = elements(games.load(name).initial()._repr_html_(), "path")[cell].get("d")
        return float(path.lstrip("M").split()[0].split(",")[1])

    assert place("tic_tac_toe", 0) > place("tic_tac_toe", 8)
    assert place("othello", 0) < place("othello", 63)
    assert place("hex:3", 0) < place("hex:3", 8)


def test_a_board_of_points_has_the_lines_along_which_pieces_move():
    game = games.load("fanorona:3,columns=3")
    (lines,) = (path for path in elements(game.initial()._repr_html_(), "path") if not path.get("data-cell"))
    drawn = re.findall("M([0-9.]+),([0-9.]+)L([0-9.]+),([0-9.]+)", lines.get("d"))
    assert len(drawn) == 6 + 6 + 4  # rows, columns, and the diagonals between b2 and the corners
    assert sum(one != three and two != four for one, two, three, four in drawn) == 4
    assert lines.get("pointer-events") == "none"  # a click is one on the cell below


def test_the_goals_of_a_seat_are_tinted():
    path = elements(games.load("hex:3").initial()._repr_html_(), "path")
    colours = [each.get("fill") for each in path]
    assert len({colours[1], colours[3], colours[4]}) == 3  # top, left, middle
    assert colours[4] == EMPTY == colours[0]  # a corner is both seats'


def test_text_is_escaped():
    nasty = "<script>&\"'"
    for picture in (text_html(nasty), card_svg(nasty, nasty), table_html([(nasty, [], nasty)])):
        assert "<script" not in picture
        assert nasty in "".join(ElementTree.fromstring(picture).itertext())


def test_cards_and_dice_face_down_are_all_alike():
    assert elements(card_svg(None), "text") == []
    assert elements(die_svg(None), "circle") == []
    for pips in range(1, 7):
        assert len(elements(die_svg(pips), "circle")) == pips
    assert "".join(each.text for each in elements(die_svg(12), "text")) == "12"
    assert [each.text for each in elements(card_svg("10"), "text")] == ["10"]
