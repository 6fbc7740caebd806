"""Positions in German: nothing but names of games and moves stays English."""

import re
from xml.etree import ElementTree

import pytest

from kibitz import games
from kibitz.games import legal_actions, positions, view_of
from kibitz.games.display import display
from kibitz.games.game import is_shipped
from kibitz.games.german import said_in

from .walks import walk

NAMES = [name for name, kind in games.GAMES.items() if is_shipped(kind) and name != "doppelkopf"]
MOVES = {"pass", "bet", "check", "call", "fold", "raise", "liar", "preflop", "flop", "turn", "river", "board"}
GERMAN = {"hoch", "von", "nach", "links", "rechts", "oben", "unten", "am", "im", "du", "um", "der", "wird", "geteilt"}
GERMAN |= {"setzt", "gewinnt", "gewonnen", "offen", "verdeckt", "verdeckter", "beendet", "noch", "bis", "und", "zwei"}
GERMAN |= {"hält", "bot", "alle", "sind", "vergeben", "darf", "weiterschlagen", "mit"}


@pytest.mark.parametrize("name", NAMES)
def test_no_english_word_is_left_in_a_position(name):
    game = games.load(name)
    shown, known = display(game, "de"), MOVES | GERMAN | {*name.split("_"), "em"}
    for seed in range(3):
        steps = walk(game, seed)
        for step in [*steps[:: len(steps) // 5 + 1], steps[-1]]:
            for seat in (0, -1):
                state = view_of(game, step.state, seat) if seat >= 0 else step.state
                drawn = " ".join(ElementTree.fromstring(shown.picture(state, seat)).itertext())
                text = f"{shown.show(state, seat)} {drawn}"
                left = set(re.findall(r"(?<![\w'♣♦♥♠])[a-zäöüß]{3,}(?!\w)", text)) - known
                assert not left, text


def test_hands_of_poker_have_german_names():
    for english, german in {
        "ace high": "Ass hoch",
        "pair of sixes": "Paar Sechsen",
        "two pair, kings and threes": "zwei Paare, Könige und Dreien",
        "three fours": "Drilling Vieren",
        "straight to the ten": "Straße bis Zehn",
        "flush, queen high": "Flush, Dame hoch",
        "full house, jacks over eights": "Full House, Buben über Achten",
        "four aces": "Vierling Asse",
        "straight flush to the five": "Straight Flush bis Fünf",
    }.items():
        assert said_in("de", english) == german
        assert said_in("en", english) == english


def test_moves_of_holdem_name_their_chips_and_the_end_its_winner():
    game = games.load("holdem")
    shown, (state,) = display(game), positions(game)
    for card in (51, 47, 0, 4):
        game.play(state, card)
    assert [shown.action_to_string(state, action) for action in legal_actions(game, state)] == [
        "fold",
        "call 5",
        "raise by 10",
    ]
    assert display(game, "de").action_to_string(state, 2) == "raise um 10"
    assert [shown.parse_action(state, text) for text in ("call 5", "Call", "raise by 10", "r")] == [1, 1, 2, 2]
    game.play(state, 2)
    assert shown.action_to_string(state, 1) == "call 10"
    assert "D" in "".join(ElementTree.fromstring(game.picture(state, 0)).itertext())
    game.play(state, 0)
    own = shown.final_picture(state, 1)
    assert "seat 2 wins 10 chips" in own
    assert "seat 2 (you)" in own
    assert "face down" not in own
    assert "Platz 2 gewinnt 10 Chips" in display(game, "de").final_picture(state, 1)


def test_the_last_trick_is_shown_beside_the_one_on_the_table():
    game = games.load("doppelkopf")
    shown = display(game, "de")
    for step in walk(game, 1):
        if step.state.count == 6:
            drawn = shown.picture(step.state, 0)
            assert "letzter Stich" in drawn
            return
    pytest.fail("the game has fewer tricks")
