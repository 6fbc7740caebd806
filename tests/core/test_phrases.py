"""Texts are translated by a table of phrases with values in them."""

import pytest

from kibitz.core.phrases import Phrases, filled, values_in

TABLE = {
    "seat {n}": "Platz {n}", "bid": "bot", "bids": "Gebote", "pair of {w}": "Paar {w}", "{n} left": "noch {n}",
    "if seat {n} plays like {p}": "wenn Platz {n} wie {p} spielt", ": over": ": beendet",
}  # fmt: skip


@pytest.mark.parametrize(
    ("english", "german"),
    [
        ("seat 2: bids, bid 3", "Platz 2: Gebote, bot 3"),
        ("forbid seats", "forbid seats"),
        ("pair of kings, pair of 2s", "Paar Könige, Paar 2s"),
        ("1,200 left, 3.5%", "noch 1,200, 3.5%"),
        ("if seat 1 plays like oos:100,gamma=0.1; seat 2", "wenn Platz 1 wie oos:100,gamma=0.1 spielt; Platz 2"),
        ("leduc: over", "leduc: beendet"),
        ("leduc: overlay", "leduc: overlay"),
    ],
)
def test_the_longest_phrase_is_replaced_where_it_stands_for_itself(english, german):
    assert Phrases(TABLE, {"kings": "Könige"})(english) == german


def test_the_values_of_a_line_are_read_and_written():
    assert values_in("trick 3: 1 ♣A, 2 ♣9", "trick {n}: {}") == ["3", "1 ♣A, 2 ♣9"]
    assert values_in("trick x: 1 ♣A", "trick {n}: {}") is None
    assert filled("Stich {n}: {}", ["3", "{n}"]) == "Stich 3: {n}"
