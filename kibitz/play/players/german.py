"""What players are said to be and to believe, in German: names of players and moves stay as they are."""

import re

from ...core.phrases import Phrases

PHRASES = {
    # what beliefs rest on
    "uniform over deals that fit": "alle passenden Verteilungen gleich wahrscheinlich",
    "{n} samples, ": "{n} Stichproben, ",
    "; too many to weigh by {p}": "; zu viele, um sie nach {p} zu gewichten",
    "; {p} never plays like this": "; {p} spielt nie so",
    "; {p} weighs them once cards are played": "; {p} gewichtet sie, sobald Karten gespielt werden",
    "weighed by the belief network of {p}": "gewichtet vom Netz für Vermutungen von {p}",
    "; it never does so here: all hands are possible": "; das tut es hier nie: alle Blätter sind möglich",
    "if the opponent plays like {p}": "wenn der Gegner wie {p} spielt",
    "if the opponents play like {p}": "wenn die Gegner wie {p} spielen",
    "if seat {n} plays like {p}": "wenn Platz {n} wie {p} spielt",
    # what beliefs are about
    "card of seat {n}": "Karte von Platz {n}",
    "dice of seat {n}": "Würfel von Platz {n}",
    "faces among the dice of seat {n}": "Augen unter den Würfeln von Platz {n}",
    "cards in the hand of seat {n}": "Karten in der Hand von Platz {n}",
    "bid of seat {n} in round {n}": "Gebot von Platz {n} in Runde {n}",
    "seat {n} holds:": "Platz {n} hat:",
    "seat {n}": "Platz {n}",
    # what an adviser is
    "network without search": "Netz ohne Suche",
    "learned evaluation, few plies ahead": "gelernte Bewertung, wenige Züge voraus",
    "learned patterns without search": "gelernte Muster ohne Suche",
    "saved strategy, the last streets solved while playing": "gespeicherte Strategie, letzte Runden neu berechnet",
    "saved strategy": "gespeicherte Strategie",
    "rules of thumb, no search": "Faustregeln, keine Suche",
    "random moves": "zufällige Züge",
    "one fixed move": "immer derselbe Zug",
    "another program": "ein anderes Programm",
    "search (": "Suche (",
    ", guided by ": ", geführt von ",
    "{n} worlds of {n} simulations": "{n} Welten zu {n} Simulationen",
    "{n} simulations": "{n} Simulationen",
    "{n} positions": "{n} Stellungen",
    "{n} plies": "{n} Halbzüge",
    # what was measured
    "its weakness was not measured": "seine Schwäche wurde nicht gemessen",
    "loses about {n} mbb/g": "verliert etwa {n} mbb/g",
    "a best response wins at least {n} mbb/g from it": "eine beste Antwort gewinnt mindestens {n} mbb/g gegen ihn",
    "a best response wins {n} mbb/g from it": "eine beste Antwort gewinnt {n} mbb/g gegen ihn",
    "to a local best response": "gegen eine lokale beste Antwort",
    "loses {n} mbb/g to any player who always raises": "verliert {n} mbb/g gegen jeden, der immer erhöht",
    "a best response wins {n} chips per game": "eine beste Antwort gewinnt {n} Chips pro Spiel",
    "a best response wins {n} per game": "eine beste Antwort gewinnt {n} pro Spiel",
    "from it on average": "im Mittel dagegen",
    ", where a game is worth 1": ", wenn es in einem Spiel um 1 geht",
    " at iteration {n}": " in Iteration {n}",
    "wins {n} points per game from three of {p};": "gewinnt {n} Punkte pro Spiel gegen drei von {p};",
    "what a best response wins is not known": "was eine beste Antwort gewinnt, ist nicht bekannt",
    "wins all of {n} games": "gewinnt alle {n} Spiele",
    "scores {n}": "holt {n}",
    "({n} to {n})": "({n} bis {n})",
    "against UCT with the same time, {n} s per move": "gegen UCT mit gleicher Zeit, {n} s pro Zug",
    "against OOS with {n} simulations": "gegen OOS mit {n} Simulationen",
    ", and {n} against IS-MCTS with {n}": " und {n} gegen IS-MCTS mit {n}",
    "against IS-MCTS with {n} s per move": "gegen IS-MCTS mit {n} s pro Zug",
    "against IS-MCTS with {n} simulations": "gegen IS-MCTS mit {n} Simulationen",
    "; opponents who know that it never mixes can exploit it": "; wer das weiß, kann ausnutzen, dass er nie mischt",
}
# Words of `describe_pattern`.
PATTERN_WORDS = {
    "to": "nach", "from": "von", "a cell": "einem Feld", "any cell": "jedem Feld", "the cell": "dem Feld",
    "friend": "eigener Stein", "enemy": "fremder Stein", "empty": "leer", "off the board": "außerhalb",
    "there": "dort", "not": "nicht", "or": "oder", "between": "zwischen", "and": "und", "at row": "bei Zeile",
    "column": "Spalte", "east": "Ost", "north-east": "Nordost", "north": "Nord", "north-west": "Nordwest",
    "west": "West", "south-west": "Südwest", "south": "Süd", "south-east": "Südost",
}  # fmt: skip

_NUMBER = re.compile(r"(?<![\w.,=:/+-])(\d{1,3}(,\d{3})+|\d+)(\.\d+)?(?![\w=])")  # not in the name of a player
_sentence, _pattern = Phrases(PHRASES), Phrases(PATTERN_WORDS)


def said_in(language: str, text: str) -> str:
    """A sentence about a player or its beliefs in a language, `en` or `de`."""
    if language == "en":
        return text
    return _NUMBER.sub(lambda found: found[0].translate(str.maketrans(",.", ".,")), _sentence(text))


def pattern_said_in(language: str, text: str) -> str:
    """A pattern in words, in a language."""
    return _pattern(text) if language == "de" else text
