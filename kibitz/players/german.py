"""What players are said to be and to believe, in German: names of players and moves stay as they are."""

import re

# Phrases of the English texts, as patterns, and what replaces them; in this order.
PHRASES = (
    # what beliefs rest on
    (r"uniform over deals that fit", "alle passenden Verteilungen gleich wahrscheinlich"),
    (r"^([\d,]+) samples, ", r"\1 Stichproben, "),
    (r"; too many to weigh by (\S+)", r"; zu viele, um sie nach \1 zu gewichten"),
    (r"; (\S+) never plays like this", r"; \1 spielt nie so"),
    (r"; (\S+) weighs them once cards are played", r"; \1 gewichtet sie, sobald Karten gespielt werden"),
    (r"weighed by the belief network of (\S+)", r"gewichtet vom Netz für Vermutungen von \1"),
    (r"; it never does so here: all hands are possible", "; das tut es hier nie: alle Blätter sind möglich"),
    (r"if the opponent plays like (\S+)", r"wenn der Gegner wie \1 spielt"),
    (r"if the opponents play like (\S+)", r"wenn die Gegner wie \1 spielen"),
    (r"if seat (\d+) plays like ([^\s;]+)", r"wenn Platz \1 wie \2 spielt"),
    # what beliefs are about
    (r"^card of seat (\d+)", r"Karte von Platz \1"),
    (r"^dice of seat (\d+)", r"Würfel von Platz \1"),
    (r"^faces among the dice of seat (\d+)", r"Augen unter den Würfeln von Platz \1"),
    (r"^cards in the hand of seat (\d+)", r"Karten in der Hand von Platz \1"),
    (r"^bid of seat (\d+) in round (\d+)", r"Gebot von Platz \1 in Runde \2"),
    (r"^seat (\d+) holds:", r"Platz \1 hat:"),
    (r"\bseat (\d)\b", r"Platz \1"),
    # what an adviser is
    (r"network without search", "Netz ohne Suche"),
    (r"learned evaluation, few plies ahead", "gelernte Bewertung, wenige Züge voraus"),
    (r"learned patterns without search", "gelernte Muster ohne Suche"),
    (r"saved strategy, the last streets solved while playing", "gespeicherte Strategie, letzte Runden neu berechnet"),
    (r"saved strategy", "gespeicherte Strategie"),
    (r"rules of thumb, no search", "Faustregeln, keine Suche"),
    (r"random moves", "zufällige Züge"),
    (r"one fixed move", "immer derselbe Zug"),
    (r"another program", "ein anderes Programm"),
    (r"search \(([^,)]+), guided by ([^)]+)\)", r"Suche (\1, geführt von \2)"),
    (r"search \(", "Suche ("),
    (r"(\d+) worlds of ([\d,]+) simulations", r"\1 Welten zu \2 Simulationen"),
    (r"([\d,]+) simulations", r"\1 Simulationen"),
    (r"([\d,]+) positions", r"\1 Stellungen"),
    (r"([\d,]+) plies", r"\1 Halbzüge"),
    # what was measured
    (r"its weakness was not measured", "seine Schwäche wurde nicht gemessen"),
    (r"loses about ([\d,]+) mbb/g", r"verliert etwa \1 mbb/g"),
    (
        r"a best response wins at least ([\d,]+) mbb/g from it",
        r"eine beste Antwort gewinnt mindestens \1 mbb/g gegen ihn",
    ),
    (r"a best response wins ([\d.]+) mbb/g from it", r"eine beste Antwort gewinnt \1 mbb/g gegen ihn"),
    (r"to a local best response", "gegen eine lokale beste Antwort"),
    (r"loses (\d+) mbb/g to any player who always raises", r"verliert \1 mbb/g gegen jeden, der immer erhöht"),
    (r"a best response wins ([\d.]+) chips per game", r"eine beste Antwort gewinnt \1 Chips pro Spiel"),
    (r"a best response wins ([\d.]+) per game", r"eine beste Antwort gewinnt \1 pro Spiel"),
    (r"from it on average", "im Mittel dagegen"),
    (r", where a game is worth 1", ", wenn es in einem Spiel um 1 geht"),
    (r" at iteration (\d+)", r" in Iteration \1"),
    (r"wins ([\d.]+) points per game from three of (\S+);", r"gewinnt \1 Punkte pro Spiel gegen drei von \2;"),
    (r"what a best response wins is not known", "was eine beste Antwort gewinnt, ist nicht bekannt"),
    (r"wins all of (\d+) games", r"gewinnt alle \1 Spiele"),
    (r"scores ([\d.]+%)", r"holt \1"),
    (r"(\([\d.]+) to ([\d.]+\)) against", r"\1 bis \2 against"),
    (r"against UCT with the same time, ([\d.]+) s per move", r"gegen UCT mit gleicher Zeit, \1 s pro Zug"),
    (r"against OOS with ([\d,]+) Simulationen", r"gegen OOS mit \1 Simulationen"),
    (r", and ([\d.]+%) against IS-MCTS with ([\d,]+)$", r" und \1 gegen IS-MCTS mit \2"),
    (r"against IS-MCTS with ([\d.]+) s per move", r"gegen IS-MCTS mit \1 s pro Zug"),
    (r"against IS-MCTS with ([\d,]+) Simulationen", r"gegen IS-MCTS mit \1 Simulationen"),
    (r"; opponents who know that it never mixes can exploit it$", "; wer das weiß, kann ausnutzen, dass er nie mischt"),
)  # fmt: skip

# Words of `describe_pattern`.
PATTERN_WORDS = {
    "to": "nach", "from": "von", "a cell": "einem Feld", "any cell": "jedem Feld", "the cell": "dem Feld",
    "friend": "eigener Stein", "enemy": "fremder Stein", "empty": "leer", "off the board": "außerhalb",
    "there": "dort", "not": "nicht", "or": "oder", "between": "zwischen", "and": "und", "at row": "bei Zeile",
    "column": "Spalte", "east": "Ost", "north-east": "Nordost", "north": "Nord", "north-west": "Nordwest",
    "west": "West", "south-west": "Südwest", "south": "Süd", "south-east": "Südost",
}  # fmt: skip
_NUMBER = re.compile(r"(?<![\w.,=:/+-])(\d{1,3}(,\d{3})+|\d+)(\.\d+)?(?![\w=])")  # not in the name of a player
_WORD = re.compile(rf"(?<![\w-])({'|'.join(sorted(PATTERN_WORDS, key=len, reverse=True))})(?![\w-])")


def said_in(language: str, text: str) -> str:
    """A sentence about a player or its beliefs in a language, `en` or `de`."""
    if language == "de":
        for english, german in PHRASES:
            text = re.sub(english, german, text)
        text = _NUMBER.sub(lambda found: found[0].translate(str.maketrans(",.", ".,")), text)
    return text


def pattern_said_in(language: str, text: str) -> str:
    """A pattern in words, in a language."""
    return _WORD.sub(lambda found: PATTERN_WORDS[found[1]], text) if language == "de" else text
