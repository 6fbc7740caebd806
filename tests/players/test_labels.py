"""Sentences about advisers: every number is in the page of docs that it is from."""

import json
from pathlib import Path

import pytest

from kibitz import games
from kibitz.play.players.labels import adviser_label
from kibitz.play.players.measured import facts

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize("fact", facts(), ids=lambda fact: f"{fact.player} in {fact.game}")
def test_what_is_said_of_a_player_is_in_the_docs_and_found_for_it(fact):
    assert fact.quote in (DOCS / fact.page).read_text()
    found = adviser_label(fact.player, games.load(fact.game))
    assert found.weakness == fact.weakness
    assert found.source == f"docs/{fact.page}"


def test_the_words_say_what_it_is_how_long_it_takes_and_what_it_loses():
    holdem = games.load("holdem")
    assert str(adviser_label("net:models/holdem", holdem, seconds=0.0123)) == (
        "network without search, 12 ms; a best response wins at least 72 mbb/g from it"
    )
    assert adviser_label("net:models/holdem,threshold=0.2", holdem).weakness == "its weakness was not measured"
    assert adviser_label("style:tight-passive", games.load("holdem:flop")).source == ""  # another game
    found = adviser_label("puct:seconds=2,policy=models/teeko", games.load("teeko"))
    assert str(found).startswith("search (puct, guided by models/teeko), 2 s; scores 80.0%")
    assert adviser_label("oos:1000", games.load("leduc")).weakness.startswith("a best response wins 1.5 chips")
    assert str(adviser_label("oos:1000", games.load("leduc"), thinks=3)) == (
        "search (oos), 3 s; its weakness was not measured"
    )
    assert adviser_label("oos:2000", games.load("leduc")).weakness == "its weakness was not measured"
    assert adviser_label("ensemble-uct:10x1000", games.load("doppelkopf")).what == (
        "search (ensemble-uct), 10 worlds of 1,000 simulations"
    )
    json.dumps(found.as_json())
    step = adviser_label("mmds:1000,net=models/leduc,eta=3", games.load("leduc"))
    assert step.what == "search (mmds, guided by models/leduc), 1,000 simulations"
    assert step.as_json("de")["what"] == "Suche (mmds, geführt von models/leduc), 1.000 Simulationen"

    class Mine:
        def move(self, view):
            return 0

    assert str(adviser_label(Mine(), holdem)) == "Mine; its weakness was not measured"


def test_a_run_says_how_exploitable_its_network_is(tmp_path):
    metrics = [{"iteration": 10, "nash_conv": 0.8}, {"iteration": 20, "loss": 1.0}, {"iteration": 30, "nash_conv": 0.5}]
    (tmp_path / "metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in metrics))
    found = adviser_label(f"net:{tmp_path}", games.load("leduc"))
    assert found.weakness == "a best response wins 0.25 per game from it on average at iteration 30"
    assert found.source == str(tmp_path / "metrics.jsonl")
    assert "0.4 per game" in adviser_label(f"net:{tmp_path},iteration=10", games.load("leduc")).weakness
    assert adviser_label(f"net:{tmp_path / 'none'}", games.load("leduc")).source == ""
