"""Doppelkopf in German: the words of positions, score sheets and records, and records from and into German."""

import re

from ...core.phrases import filled, values_in
from .cards import GERMAN as GERMAN_CARDS
from .cards import NAMES

WORDS = {
    "seat": "Platz", "you": "du", "trick": "Stich", "tricks": "Stiche", "points": "Punkte", "of": "von", "to": "an",
    "with": "mit", "alone": "allein", "for": "für", "together": "zusammen", "last trick": "letzter Stich",
    "your hand": "deine Hand", "who has a reservation?": "Vorbehalte?", "which game?": "Welches Spiel?",
    "call or card?": "Ansage oder Karte?",
    "normal game": "Normalspiel", "♣ solo": "♣-Solo", "♠ solo": "♠-Solo", "♥ solo": "♥-Solo", "♦ solo": "♦-Solo",
    "queens solo": "Damensolo", "jacks solo": "Bubensolo", "marriage": "Hochzeit", "healthy": "gesund",
    "reservation": "Vorbehalt", "silent": "still", "no 90": "keine 90", "no 60": "keine 60", "no 30": "keine 30",
    "black": "schwarz", "won": "gewonnen", "under 90": "unter 90", "under 60": "unter 60", "under 30": "unter 30",
    "without a trick": "ohne Stich", "refused": "abgesagt", "120 against no 90": "120 gegen keine 90",
    "90 against no 60": "90 gegen keine 60", "60 against no 30": "60 gegen keine 30",
    "30 against black": "30 gegen schwarz", "against the queens of clubs": "gegen die Alten",
    "trick of 40": "Doppelkopf", "fox caught": "Fuchs gefangen", "♣J took the last trick": "Karlchen",
    "♣J caught in the last trick": "Karlchen gefangen", "pigs": "Schweine",
    "silent marriage": "stille Hochzeit", "owed": "Pflicht", "forced": "Zwang", "not settled yet": "noch offen",
    "found no partner": "blieb ohne Partner",
}  # fmt: skip

# Lines of a record: English, German.
LINES = {
    "game {} of {}, seed {}": "Spiel {} von {}, Startwert {}",
    "seat {n}, {}": "Platz {n}, {}",
    "reservations: {}": "Vorbehalte: {}",
    "named: {}": "gemeldet: {}",
    "trick {n}: {}": "Stich {n}: {}",
    "Re: {} with {n} in {n} tricks": "Re: {} mit {n} in {n} Stichen",
    "sheet: {}": "Zettel: {}",
    "scores: {}": "Ergebnis: {}",
}
MOVES = {"says": "sagt", "takes": "nimmt", "and": "und", "nothing": "nichts"}
SPOKEN = ("♣-solo", "♠-solo", "♥-solo", "♦-solo", "queens-solo", "jacks-solo", "no-90", "no-60", "no-30")


def to_german(record: str) -> str:
    """A record as `notation.write` gives it, in German. `notation.read` reads it, too."""
    return "".join(f"{_line_to_german(line)}\n" for line in record.splitlines())


def to_english(line: str) -> str:
    """A line of a record with English fixed words; cards and announcements are read in both languages."""
    for english, german in LINES.items():
        values = values_in(line, german)
        if values is not None:
            if not english.startswith(("game", "seat")):  # names of games and players stay as they are
                values = [_replaced(part, {two: one for one, two in MOVES.items()}) for part in values]
            if english.startswith("sheet"):
                values = [_replaced_items(values[0], {two: one for one, two in WORDS.items()})]
            return filled(english, values)
    return line


def _line_to_german(line: str) -> str:
    for english, german in LINES.items():
        values = values_in(line, english)
        if values is None:
            continue
        if english.startswith("sheet"):
            values = [_replaced_items(_replaced(values[0], MOVES), WORDS)]
        elif english.startswith("seat"):  # the name of the player stays as it is
            name, _, cards = values[1].rpartition(": ")
            values[1] = f"{name}: {_replaced(cards, CARDS)}"
        elif not english.startswith("game"):
            values = [_replaced(part, CARDS | ANNOUNCED | MOVES) for part in values]
        return filled(german, values)
    return line


CARDS = dict(zip(NAMES, GERMAN_CARDS, strict=True))
ANNOUNCED = {word: WORDS[word.replace("-", " ")] for word in (*SPOKEN, "healthy", "reservation", "marriage", "black")}


def _replaced(text: str, words: dict[str, str]) -> str:
    """The text with whole words replaced."""
    return re.sub(r"[^\s,;]+", lambda found: words.get(found[0], found[0]), text)


def _replaced_items(text: str, words: dict[str, str]) -> str:
    """The items of a score sheet, such as `won +1, fox caught -1`."""
    return re.sub(r"(.+?)( [+-]\d+)(, |$)", lambda found: words.get(found[1], found[1]) + found[2] + found[3], text)
