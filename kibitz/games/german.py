"""Positions in German: the phrases that games write in English, and what replaces them.

Moves stay as they are: the terms of card games are the same in German. A game with a display of its own may do
it itself.
"""

import re
from collections.abc import Callable

RANKS = {
    "deuce": ("Zwei", "Zweien"), "three": ("Drei", "Dreien"), "four": ("Vier", "Vieren"), "five": ("Fünf", "Fünfen"),
    "six": ("Sechs", "Sechsen"), "seven": ("Sieben", "Siebenen"), "eight": ("Acht", "Achten"),
    "nine": ("Neun", "Neunen"), "ten": ("Zehn", "Zehnen"), "jack": ("Bube", "Buben"), "queen": ("Dame", "Damen"),
    "king": ("König", "Könige"), "ace": ("Ass", "Asse"),
}  # fmt: skip
_ONE = f"({'|'.join(RANKS)})"
_MANY = f"({'|'.join(rank + ('es' if rank == 'six' else 's') for rank in RANKS)})"


def _hand(german: str) -> Callable[[re.Match], str]:
    """A hand: ranks, one or many, fill in the German text."""

    def fill(found: re.Match) -> str:
        return german.format(*(_rank(word) for word in found.groups()))

    return fill


def _rank(word: str) -> str:
    return RANKS[word][0] if word in RANKS else RANKS[word.removesuffix("es" if word == "sixes" else "s")][1]


PHRASES: tuple[tuple[str, str | Callable[[re.Match], str]], ...] = (
    (r"\bseat (\d+)", r"Platz \1"),
    (r"\(you\)", "(du)"),
    (r"\bto move\b", "am Zug"),
    (r"\bwins\b", "gewinnt"),
    (r": over$", ": beendet"),
    (r"\bleft to right\b", "von links nach rechts"),
    (r"\btop to bottom\b", "von oben nach unten"),
    (r"\bmay go on with\b", "darf weiterschlagen mit"),
    (r"^turns: (\d+) of (\d+)", r"Züge: \1 von \2"),
    (r"^plies: (\d+) of (\d+)", r"Halbzüge: \1 von \2"),
    (r"\bdiscs\b", "Steine"),
    (r"\bface down\b", "verdeckt"),
    (r"\bhidden die\b", "verdeckter Würfel"),
    (r"\ball prizes are gone\b", "alle Preise sind vergeben"),
    (r"\bprize (\d+) of\b", r"Preis \1 von"),
    (r"\bpoints\b", "Punkte"),
    (r"\bholds\b", "hält"),
    (r"\bwon by\b", "gewonnen von"),
    (r"\bbids\b", "Gebote"),
    (r"\bbid\b", "bot"),
    (r"^moves\b", "Züge"),
    (r"\bround (\d)", r"Runde \1"),
    (r"^public\b", "offen"),
    (r"\bin the pot\b", "im Pot"),
    (r"\bdealer\b", "Geber"),
    (r"\bbig blind\b", "Big Blind"),
    (r"\bsmall blind\b", "Small Blind"),
    (r"\bbets (\d)", r"setzt \1"),
    (r"\b(\d+) left\b", r"noch \1"),
    (r"\bpot (\d)", r"Pot \1"),
    (r"\bchips\b", "Chips"),
    (r"\bthe pot is split\b", "der Pot wird geteilt"),
    (rf"\bpair of {_MANY}\b", _hand("Paar {}")),
    (rf"\btwo pair, {_MANY} and {_MANY}", _hand("zwei Paare, {} und {}")),
    (rf"\bfull house, {_MANY} over {_MANY}", _hand("Full House, {} über {}")),
    (rf"\bthree {_MANY}", _hand("Drilling {}")),
    (rf"\bfour {_MANY}", _hand("Vierling {}")),
    (rf"\bstraight flush to the {_ONE}", _hand("Straight Flush bis {}")),
    (rf"\bstraight to the {_ONE}", _hand("Straße bis {}")),
    (rf"\bflush, {_ONE} high\b", _hand("Flush, {} hoch")),
    (rf"\b{_ONE} high\b", _hand("{} hoch")),
)


def said_in(language: str, text: str) -> str:
    """A position as plain text in a language, `en` or `de`."""
    if language == "de":
        for english, german in PHRASES:
            text = re.sub(english, german, text, flags=re.MULTILINE)
    return text


def drawn_in(language: str, picture: str) -> str:
    """A picture, of which only the text between elements is translated."""
    if language == "en":
        return picture
    return re.sub(r"(?<=>)[^<]+(?=<)", lambda found: said_in(language, found[0]), picture)
