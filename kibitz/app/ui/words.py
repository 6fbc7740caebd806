"""The words of the table and of other output for people, in English and German: one table of translations."""

from ...core.names import choose

GERMAN = {
    # before and after a game
    "game {number} of {game}: you are seat {seat}, against {others} (? for help)": (
        "Spiel {number}, {game}: du bist Platz {seat}, gegen {others} (? für Hilfe)"
    ),
    "you left the game": "du hast das Spiel verlassen",
    "game over, everything revealed (you are seat {seat})": "Spielende, alles aufgedeckt (du bist Platz {seat})",
    "you win {points}": "du gewinnst {points}",
    "you lose {points}": "du verlierst {points}",
    "you break even": "unentschieden",
    "you resigned": "du hast aufgegeben",
    "seat {seat} forfeits: {reason}": "Platz {seat} gibt das Spiel verloren: {reason}",
    "the other side resigned": "die andere Seite hat aufgegeben",
    "score: no game finished yet": "Stand: noch kein Spiel beendet",
    "score: {total} after {games} game ({counts})": "Stand: {total} nach {games} Spiel ({counts})",
    "score: {total} after {games} games ({counts})": "Stand: {total} nach {games} Spielen ({counts})",
    "{count} won": "{count} gewonnen",
    "{count} lost": "{count} verloren",
    "{count} drawn": "{count} unentschieden",
    "play again? [Y/n/same] ": "noch ein Spiel? [J/n/gleich] ",
    "answer y for another game, n to leave, or same to replay this deal": (
        "j für ein neues Spiel, n zum Aufhören, gleich für dasselbe noch einmal"
    ),
    # at one's turn
    "your move> ": "dein Zug> ",
    "moves: ": "Züge: ",
    "{moves} ({count} moves)": "{moves} ({count} Züge)",
    "Enter": "Enter",
    "{text} is no move here: {moves}": "{text} ist hier kein Zug: {moves}",
    "{text} is ambiguous: {moves}": "{text} ist mehrdeutig: {moves}",
    "{examples} or another ({count} are possible)": "{examples} oder andere ({count} sind möglich)",
    "or": "oder",
    "nothing to take back: this is your first move": "nichts zurückzunehmen: das ist dein erster Zug",
    "move taken back": "Zug zurückgenommen",
    "no moves yet": "noch keine Züge",
    # what others do
    "seat {seat}": "Platz {seat}",
    "you": "du",
    "seat {seat} is thinking": "Platz {seat} überlegt",
    "seat {seat} has moved": "Platz {seat} hat gezogen",
    "chance: {outcome}": "Zufall: {outcome}",
    # advice
    "the kibitzer is thinking": "der Kiebitz überlegt",
    "{name} gives no advice": "{name} gibt keinen Rat",
    "seat {seat} to move": "Platz {seat} ist am Zug",
    "{name} would play": "{name} würde spielen",
    "move": "Zug",
    "policy": "Anteil",
    "value": "Wert",
    "error": "Fehler",
    "wins": "Siege",
    "visits": "Besuche",
    "and {count} more": "und {count} weitere",
    "{count} more": "{count} weitere",
    "value {value}": "Wert {value}",
    "values: expected payoff for seat {seat}": "Werte: erwartetes Ergebnis für Platz {seat}",
    "values: expected points for seat {seat}": "Werte: erwartete Punkte für Platz {seat}",
    "principal variation {moves}": "Hauptvariante {moves}",
    "depth {depth}": "Tiefe {depth}",
    "{count} simulations in {seconds} s": "{count} Simulationen in {seconds} s",
    "{count} simulation in {seconds} s": "{count} Simulation in {seconds} s",
    "{count} positions in {seconds} s": "{count} Stellungen in {seconds} s",
    "{count} position in {seconds} s": "{count} Stellung in {seconds} s",
    "only {count} visits: little to rely on": "nur {count} Besuche: wenig verlässlich",
    "only {count} visit: little to rely on": "nur {count} Besuch: wenig verlässlich",
    "a policy without search": "eine Strategie ohne Suche",
    "bb: big blinds of {chips} chips, won or lost in the whole hand": (
        "bb: Big Blinds zu {chips} Chips, gewonnen oder verloren in der ganzen Hand"
    ),
    # ranges
    "strategy of seat {seat} with each hand": "Strategie von Platz {seat} je Blatt",
    "range of seat {seat}": "Range von Platz {seat}",
    "first decision": "erste Entscheidung",
    "small blind": "Small Blind",
    "big blind": "Big Blind",
    "left": "links",
    "right": "rechts",
    "weight": "Gewicht",
    "on average {mixed}": "im Mittel {mixed}",
    "likeliest move ({moves}) and its share in tenths; 9: 90% or more": (
        "häufigster Zug ({moves}) und sein Anteil in Zehnteln; 9: ab 90%"
    ),
    "likeliest move ({moves}) and its share in percent": "häufigster Zug ({moves}) und sein Anteil in Prozent",
    "██ 75% or more of the highest weight, ▓▓ 50%, ▒▒ 25%, ░░ 5%, ·· less, blank 0": (
        "██ ab 75% des höchsten Gewichts, ▓▓ 50%, ▒▒ 25%, ░░ 5%, ·· weniger, leer 0"
    ),
    "pairs on the diagonal, suited hands above it, offsuit hands below": (
        "Paare auf der Diagonale, darüber gleiche Farbe, darunter verschiedene Farben"
    ),
    "about {share}": "etwa {share}",
    "{hand} wins {share} of showdowns against this range (a tie is half a win)": (
        "{hand} gewinnt {share} der Showdowns gegen diese Range (Teilung zählt halb)"
    ),
    "width: share of the move; on average {mixed}": "Breite: Anteil des Zuges; im Mittel {mixed}",
    "height: how likely a hand of this class is, relative to the likeliest": (
        "Höhe: wie wahrscheinlich so ein Blatt ist, verglichen mit dem wahrscheinlichsten"
    ),
    "their moves differ by {share} on average over all hands (total variation distance)": (
        "ihre Züge unterscheiden sich um {share} im Mittel aller Blätter (Totalvariation)"
    ),
    "the largest differences between {one} and {other}": "die größten Unterschiede zwischen {one} und {other}",
    # help
    "Enter a move by its key, its name or the start of its name, or a command:": (
        "Gib einen Zug ein (Taste, Name oder Anfang des Namens) oder einen Befehl:"
    ),
    "Enter a move by its number, its name or the start of its name, or a command:": (
        "Gib einen Zug ein (Nummer, Name oder Anfang des Namens) oder einen Befehl:"
    ),
    "Enter a move by its name or the start of its name, or a command:": (
        "Gib einen Zug ein (Name oder Anfang des Namens) oder einen Befehl:"
    ),
    "show the kibitzer's advice (also: a)": "den Rat des Kiebitzes zeigen (auch: a)",
    "return to your previous move": "zu deinem vorigen Zug zurückkehren",
    "list the moves so far, as you saw them": "die bisherigen Züge zeigen, wie du sie gesehen hast",
    "show the score": "den Spielstand zeigen",
    "show this help (also: ?)": "diese Hilfe zeigen (auch: ?)",
    "leave the game (also: q, Ctrl-D)": "das Spiel verlassen (auch: q, Strg-D)",
    # commands as they are typed
    "advice": "rat",
    "undo": "zurück",
    "moves": "züge",
    "score": "stand",
    "help": "hilfe",
    "quit": "ende",
    # stopped by Ctrl-C
    "stopped; {score}": "abgebrochen; {score}",
    # reviews
    "game {number} of {game}: {players}; reviewed by {player}": (
        "Spiel {number}, {game}: {players}; geprüft von {player}"
    ),
    "turn": "Zug",
    "street": "Runde",
    "seat": "Platz",
    "best": "bester",
    "cost": "Verlust",
    "mark": "Urteil",
    "inaccuracy": "Ungenauigkeit",
    "inaccuracies": "Ungenauigkeiten",
    "mistake": "Fehler",
    "mistakes": "Fehler",
    "blunder": "Patzer",
    "blunders": "Patzer",
    "unknown: the adviser gives no values": "unbekannt: der Berater nennt keine Werte",
    "total cost of seat {seat}: {cost}": "Verlust von Platz {seat} insgesamt: {cost}",
    "marks by cost: {marks} ({shares} of the range from {low} to {high})": (
        "Urteile nach Verlust: {marks} ({shares} der Spanne von {low} bis {high})"
    ),
    "the hand": "die Hand",
    "marks by cost: {marks}{unit}, where the cost is beyond its margin of error": (
        "Urteile nach Verlust: {marks}{unit}, wo der Verlust über seinem Fehlerbereich liegt"
    ),
    "policy: how often {player} plays the move; values: the mean of playouts in which both seats then play like "
    "{player}; cost: the value of the best move less that of the one played, ± its margin (95%). A mixed strategy "
    "plays moves of about the same value: a rare move isn't wrong by itself, only a costly one is.": (
        "Anteil: wie oft {player} den Zug spielt; Werte: Mittel von Spielen, in denen danach beide Plätze wie "
        "{player} spielen; Verlust: Wert des besten Zuges weniger der des gespielten, ± sein Fehlerbereich (95%). Eine "
        "gemischte Strategie spielt etwa gleich gute Züge: ein seltener Zug ist nicht falsch, nur ein teurer ist es."
    ),
    # score sheets and records
    "players: {names}": "Spieler: {names}",
    "session {number}": "Sitzung {number}",
    "game": "Spiel",
    "dealer": "Geber",
    "played": "gespielt",
    "owe": "schulden",
    "points for Re:": "Punkte für Re:",
    "no points": "keine Punkte",
    "game {number}, {parties}: {items}": "Spiel {number}, {parties}: {items}",
    "Re {names} with {points}": "Re {names} mit {points}",
    "{count} games": "{count} Spiele",
    "{count} games: {file}": "{count} Spiele: {file}",
    "{sessions} sessions of {games} games": "{sessions} Sitzungen zu {games} Spielen",
    "{what} of {game}, seed {seed}, {seconds} s": "{what} von {game}, Startwert {seed}, {seconds} s",
    "player": "Spieler",
    "seats": "Plätze",
    "points per session": "Punkte je Sitzung",
    "95% interval": "95%-Intervall",
    "points per game": "Punkte je Spiel",
    "games:  {file}": "Spiele:  {file}",
    "sheets: {file}": "Zettel:  {file}",
    "result: {file}": "Ergebnis: {file}",
}  # fmt: skip


LANGUAGES: dict[str, dict[str, str]] = {"en": {}, "de": GERMAN}


class Words:
    """`words("seat {seat}", seat=2)`: the text in a language, with its values filled in."""

    def __init__(self, language: str = "en") -> None:
        self.language = choose("language", language, LANGUAGES)

    def __call__(self, text: str, /, **values: object) -> str:
        found = LANGUAGES[self.language].get(text, text)
        return found.format(**values) if values else found

    def number(self, text: str) -> str:
        """A number that is written as in English: `1,234.5`, in German `1.234,5`."""
        return text.translate(str.maketrans(",.", ".,")) if self.language == "de" else text

    def sentence(self, who: str, move: str, announced: bool = False) -> str:
        """A move as a sentence: `seat 2 raises`, `you raise`, `seat 2 says liar`, `you play 2x5`."""
        spoken = announced or move.isalpha() or move.partition(" ")[0] in VERBS
        if self.language == "de":
            verb = "sag" if spoken else "spiel"
            return f"{who} {verb}{'st' if who == self('you') else 't'} {move}"
        verb, space, rest = move.partition(" ")  # `raise by 10`
        if verb not in VERBS:
            verb, space, rest = "say" if spoken else "play", " ", move
        ending = "" if who == "you" else "es" if verb.endswith(("s", "ch")) else "s"
        return f"{who} {verb}{ending}{space}{rest}"

    def either(self, alternatives: list[str]) -> str:
        """Alternatives in words: `J, Q or K`."""
        return f" {self('or')} ".join(filter(None, [", ".join(alternatives[:-1]), alternatives[-1]]))

    def examples(self, alternatives: list[str]) -> str:
        """Alternatives in words; of many only the first few."""
        if len(alternatives) <= MAX_LISTED:
            return self.either(alternatives)
        few = ", ".join(alternatives[:3])
        return self("{examples} or another ({count} are possible)", examples=few, count=len(alternatives))


VERBS = {"bet", "call", "check", "fold", "pass", "raise"}
MAX_LISTED = 12  # alternatives that are listed in full
ENGLISH = Words()
