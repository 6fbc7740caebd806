"""Sentences about players and beliefs in German: nothing stays English."""

import re

import pytest

from kibitz import games
from kibitz.games import positions
from kibitz.play.players.beliefs import beliefs
from kibitz.play.players.german import pattern_said_in, said_in
from kibitz.play.players.labels import WHAT, adviser_label
from kibitz.play.players.measured import facts
from kibitz.play.players.patterns import active_patterns

ENGLISH = re.compile(
    r"\b(the|of|a|best|response|wins|per|from|it|on|at|is|not|against|with|scores|loses|search|without|network|"
    r"if|plays?|like|deals|samples|weigh\w*|seat|card|cards|dice|hand|round|cell|friend|enemy|empty|east|north)\b"
)


def german(text):
    found = said_in("de", text)
    assert not ENGLISH.search(found), found
    assert said_in("en", text) == text
    return found


@pytest.mark.parametrize("fact", facts(), ids=lambda fact: f"{fact.player} in {fact.game}")
def test_every_measured_weakness_has_german_words(fact):
    german(str(adviser_label(fact.player, games.load(fact.game))))


def test_what_a_player_is_has_german_words():
    for what in WHAT.values():
        german(what)
    german("its weakness was not measured")
    german("a best response wins 0.25 per game from it on average at iteration 30")
    assert german("search (ensemble-uct), 10 worlds of 1,000 simulations") == (
        "Suche (ensemble-uct), 10 Welten zu 1.000 Simulationen"
    )


def test_numbers_are_written_in_german_and_names_of_players_stay():
    assert german("if the opponent plays like ismcts:seconds=0.25").endswith("wie ismcts:seconds=0.25 spielt")
    assert german("search (uct), 0.5 s").endswith(", 0,5 s")
    assert german("2,000 samples, uniform over deals that fit").startswith("2.000 Stichproben, ")


@pytest.mark.parametrize(
    "text",
    [
        "uniform over deals that fit",
        "2,000 samples, uniform over deals that fit; too many to weigh by net:models/goofspiel-13",
        "uniform over deals that fit; net:models/leduc never plays like this",
        "if the opponents play like random",
        "if seat 2 plays like net:models/holdem; it never does so here: all hands are possible",
        "uniform over deals that fit; doko:models/doppelkopf weighs them once cards are played",
        "weighed by the belief network of doko:models/doppelkopf",
        "faces among the dice of seat 2",
        "cards in the hand of seat 1",
        "bid of seat 2 in round 3",
    ],
)
def test_what_beliefs_rest_on_and_are_about_has_german_words(text):
    german(text)


def test_beliefs_are_told_in_german():
    game = games.load("leduc")
    state = game.initial(seed=1)
    for move in ("Q", "K", "raise"):
        state.play(move)
    found = beliefs(game, games.view_of(game, state.record, 1), 1, "net:models/leduc")
    assert found.as_json("de")["basis"] == "wenn der Gegner wie net:models/leduc spielt"
    assert found.as_json()["basis"] == "if the opponent plays like net:models/leduc"


def test_patterns_are_described_in_german():
    words = "to a cell: friend 1 east, not empty or off the board 2 north-west; from the cell 1 south"
    expected = "nach einem Feld: eigener Stein 1 Ost, nicht leer oder außerhalb 2 Nordwest; von dem Feld 1 Süd"
    assert pattern_said_in("de", words) == expected
    game = games.load("connect_four")
    for move in active_patterns("features:models/connect_four", game, positions(game)[0], 0, language="de"):
        for pattern in move["patterns"]:
            assert not ENGLISH.search(pattern["words"]), pattern["words"]
