"""Positions in German: the phrases that games write in English, and what replaces them.

Moves stay as they are: the terms of card games are the same in German. A game with a display of its own may do
it itself.
"""

import re

from ..core.phrases import Phrases

RANKS = {
    "deuce": "Zwei", "three": "Drei", "four": "Vier", "five": "Fünf", "six": "Sechs", "seven": "Sieben",
    "eight": "Acht", "nine": "Neun", "ten": "Zehn", "jack": "Bube", "queen": "Dame", "king": "König", "ace": "Ass",
    "deuces": "Zweien", "threes": "Dreien", "fours": "Vieren", "fives": "Fünfen", "sixes": "Sechsen",
    "sevens": "Siebenen", "eights": "Achten", "nines": "Neunen", "tens": "Zehnen", "jacks": "Buben",
    "queens": "Damen", "kings": "Könige", "aces": "Asse",
}  # fmt: skip
PHRASES = {
    "seat {n}": "Platz {n}", "(you)": "(du)", "to move": "am Zug", "wins": "gewinnt", ": over": ": beendet",
    "left to right": "von links nach rechts", "top to bottom": "von oben nach unten",
    "may go on with": "darf weiterschlagen mit", "turns: {n} of {n}": "Züge: {n} von {n}",
    "plies: {n} of {n}": "Halbzüge: {n} von {n}", "discs": "Steine", "face down": "verdeckt",
    "hidden die": "verdeckter Würfel", "all prizes are gone": "alle Preise sind vergeben",
    "prize {n} of": "Preis {n} von", "points": "Punkte", "holds": "hält", "won by": "gewonnen von", "bids": "Gebote",
    "bid": "bot", "moves": "Züge", "round {n}": "Runde {n}", "public": "offen", "in the pot": "im Pot",
    "dealer": "Geber", "big blind": "Big Blind", "small blind": "Small Blind", "bets {n}": "setzt {n}",
    "{n} left": "noch {n}", "pot {n}": "Pot {n}", "chips": "Chips", "the pot is split": "der Pot wird geteilt",
    "pair of {w}": "Paar {w}", "two pair, {w} and {w}": "zwei Paare, {w} und {w}",
    "full house, {w} over {w}": "Full House, {w} über {w}", "straight flush to the {w}": "Straight Flush bis {w}",
    "straight to the {w}": "Straße bis {w}", "flush, {w} high": "Flush, {w} hoch",
}  # fmt: skip
ONE, MANY = list(RANKS.items())[:13], list(RANKS.items())[13:]
PHRASES |= {f"{rank} high": f"{german} hoch" for rank, german in ONE}
PHRASES |= {f"three {ranks}": f"Drilling {german}" for ranks, german in MANY}
PHRASES |= {f"four {ranks}": f"Vierling {german}" for ranks, german in MANY}
_position = Phrases(PHRASES, RANKS)


def said_in(language: str, text: str) -> str:
    """A position as plain text in a language, `en` or `de`."""
    return _position(text) if language == "de" else text


def drawn_in(language: str, picture: str) -> str:
    """A picture, of which only the text between elements is translated."""
    if language == "en":
        return picture
    return re.sub(r"(?<=>)[^<]+(?=<)", lambda found: said_in(language, found[0]), picture)
