"""Pictures of card games: well-formed SVG that shows a seat no more than its view."""

from xml.etree import ElementTree

import numpy as np
import pytest

from kibitz import games, jit
from kibitz.games import CHANCE, OVER, view_of
from kibitz.games.playing_cards import label, playing_card_svg, table_svg

SVG = "{http://www.w3.org/2000/svg}"
NAMES = ["doppelkopf", "doppelkopf:nines=no,pigs=yes", "holdem", "holdem:thesis", "holdem:flop,ranks=5,suits=2"]


def states_met(game, seed, count=3):
    """Some positions and the last one of random games."""
    rng = jit.generators(seed, 1)[0]
    for _ in range(count):
        (state,) = games.positions(game)
        turns = 0
        while game.turn(state) != OVER:
            if turns % (7 if game.facts.seats == 4 else 2) == 0:
                yield state.copy()
            game.play(state, game.sample_action(state, rng))
            turns += 1
        yield state.copy()


def titles(picture):
    """The titles of the cards in a picture, after a check of its root."""
    root = ElementTree.fromstring(picture)
    assert root.tag == f"{SVG}svg"
    assert root.get("role") == "img"
    assert root[0].tag == f"{SVG}title"
    assert root[0].text
    return [card[0].text for card in root.iter(f"{SVG}svg")][1:]


@pytest.mark.parametrize("name", NAMES)
def test_a_picture_shows_no_more_than_the_view(name):
    game = games.load(name)
    for state in states_met(game, 1):
        for seat in range(game.facts.seats):
            picture = game.picture(state, seat)
            titles(picture)
            assert picture == game.picture(view_of(game, state, seat), seat)


@pytest.mark.parametrize("name", NAMES)
def test_positions_that_look_the_same_to_a_seat_have_the_same_picture(name):
    game, rng = games.load(name), jit.generators(2, 1)[0]
    notes, world = np.zeros(game.facts.notes), np.zeros(1, game.state)[0]
    differ = 0
    for state in states_met(game, 2):
        if game.turn(state) == CHANCE:
            continue
        for seat in range(game.facts.seats):
            view = view_of(game, state, seat)
            game.prepare(view, seat, notes)
            assert game.determinize(view, seat, notes, rng, world)
            assert game.picture(world, seat) == game.picture(state, seat)
            differ += game.picture(world, -1) != game.picture(state, -1)
    assert differ > 10


def test_a_spectator_of_doppelkopf_sees_all_hands_and_a_seat_its_own():
    game, rng = games.load("doppelkopf:calls=0,solos=no"), jit.generators(3, 1)[0]
    (state,) = games.positions(game)
    while state.count < 2:
        game.play(state, game.sample_action(state, rng))
    assert titles(game.picture(state, -1)).count("face down") == 0
    assert len(titles(game.picture(state, -1))) == 48
    hidden = titles(game.picture(state, 2)).count("face down")
    assert (hidden, len(titles(game.picture(state, 2)))) == (34, 48)


def test_a_picture_of_holdem_has_hole_cards_board_pot_and_bets():
    game = games.load("holdem")
    (state,) = games.positions(game)
    for action in (51, 47, 0, 4, 1, 2, 1, 10, 15, 22):  # the dealer calls, the big blind raises, the dealer calls
        game.play(state, action)
    seen = titles(game.picture(state, 0))
    assert sorted(seen) == sorted(["face down", "face down", "A♠", "K♠", "4♥", "5♠", "7♥"])
    text = "".join(ElementTree.fromstring(game.picture(state, 0)).itertext())
    assert "pot 40" in text
    assert "seat 1 (you), big blind, ace high" in text
    assert "bets 20" in text
    assert "face down" not in titles(game.picture(state, -1))


def test_text_in_pictures_is_escaped():
    root = ElementTree.fromstring(table_svg("<&>", 100, 80, [label("a < b & 'c'", 1, 1), playing_card_svg("<", "&")]))
    assert root[0].text == "<&>"
    assert "a < b & 'c'" in "".join(root.itertext())
    assert ElementTree.fromstring(playing_card_svg("A", "♥", face_up=False))[0].text == "face down"
