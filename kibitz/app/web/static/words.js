// All texts of the page, in English and German. Texts about positions come from the server.

import { KIBITZER_WORDS } from "./words-kibitzer.js";
import { LAB_WORDS } from "./words-lab.js";
import { REVIEW_WORDS } from "./words-review.js";
import { STUDY_WORDS } from "./words-study.js";

const WORDS = {
  ...KIBITZER_WORDS,
  ...LAB_WORDS,
  ...STUDY_WORDS,
  skip: ["Skip to content", "Zum Inhalt"],
  play: ["Play", "Spielen"],
  language: ["Language", "Sprache"],
  theme: ["Colours: {theme}", "Farben: {theme}"],
  auto: ["automatic", "automatisch"],
  light: ["light", "hell"],
  dark: ["dark", "dunkel"],
  choose: ["What shall we play?", "Was spielen wir?"],
  continue: ["Continue", "Weiterspielen"],
  games: ["Games", "Spiele"],
  seats: ["{count} seats", "{count} Plätze"],
  hidden: ["hidden information", "verdeckte Information"],
  open: ["everything visible", "alles offen"],
  against: ["Against", "Gegen"],
  quick: ["Quick", "Flink"],
  solid: ["Solid", "Solide"],
  strong: ["Strong", "Stark"],
  "your-seat": ["Your seat", "Dein Platz"],
  random: ["random", "zufällig"],
  more: ["More choices", "Mehr Auswahl"],
  parameters: ["Parameters of the game", "Parameter des Spiels"],
  "known-parameters": ["Defaults: {parameters}. Write size=5, or nothing.", "Vorgaben: {parameters}. Schreibe size=5, oder nichts."],
  "named-player": ["Another player", "Ein anderer Spieler"],
  friend: ["The next seat is another person, in another browser", "Der nächste Platz ist ein anderer Mensch in einem anderen Browser"],
  length: ["Length", "Länge"],
  "length-session": ["{games} games, with compulsory solos", "{games} Spiele, mit Pflichtsoli"],
  "length-single": ["single games", "einzelne Spiele"],
  cancel: ["Cancel", "Abbrechen"],
  start: ["Play", "Spielen"],
  undo: ["Take back", "Zurücknehmen"],
  resign: ["Resign", "Aufgeben"],
  "new-deal": ["New deal", "Neu geben"],
  "other-game": ["Other game", "Anderes Spiel"],
  rematch: ["Play again, seats swapped", "Noch einmal, Plätze getauscht"],
  "next-game": ["Next game", "Nächstes Spiel"],
  "new-session": ["New session", "Neue Sitzung"],
  "session-game-of": ["Session: game {number} of {games}", "Sitzung: Spiel {number} von {games}"],
  "session-over": ["Session over after {games} games", "Sitzung zu Ende nach {games} Spielen"],
  "session-dealer": ["{who} deals", "{who} gibt"],
  "session-you-deal": ["you deal", "du gibst"],
  "session-forced": ["{who} must play a compulsory solo now", "{who} muss jetzt das Pflichtsolo spielen"],
  "session-you-forced": ["you must play your compulsory solo now", "du musst jetzt dein Pflichtsolo spielen"],
  "session-owes": ["Owes a solo", "Schuldet Solo"],
  "session-owes-yes": ["yes", "ja"],
  "session-owes-no": ["no", "nein"],
  "session-solo": ["solo", "Solo"],
  "session-place": ["Place", "Rang"],
  kibitzer: ["Kibitzer", "Kiebitz"],
  on: ["on", "an"],
  adviser: ["Who advises", "Wer rät"],
  events: ["What happened", "Verlauf"],
  "as-text": ["Position as text", "Stellung als Text"],
  "your-turn": ["Your turn", "Du bist dran"],
  thinking: ["Seat {seat} is thinking …", "Platz {seat} überlegt …"],
  waiting: ["One moment …", "Einen Moment …"],
  over: ["Game over, everything revealed", "Spielende, alles aufgedeckt"],
  compiling: ["Preparing {game}, the first time only: step {part} …", "{game} wird vorbereitet, nur beim ersten Mal: Schritt {part} …"],
  unreachable: ["The server can't be reached: is kibitz serve still running?", "Der Server ist nicht erreichbar: Läuft kibitz serve noch?"],
  unreadable: ["The server's answer can't be read (status {status}). Try again.", "Die Antwort des Servers ist nicht lesbar (Status {status}). Versuche es noch einmal."],
  you: ["you", "du"],
  seat: ["Seat {seat}", "Platz {seat}"],
  human: ["a person", "ein Mensch"],
  "to-move": ["to move", "am Zug"],
  moves: ["Your moves", "Deine Züge"],
  "which-move": ["Which one?", "Welcher Zug?"],
  "move-to": ["{cell}: play", "{cell}: spielen"],
  "move-from": ["{cell}: move this piece", "{cell}: diesen Stein ziehen"],
  "kibitzer-thinks": ["thinking …", "überlegt …"],
  "kibitzer-waits": ["Advice appears when it is your turn.", "Rat gibt es, wenn du dran bist."],
  visits: ["{count} visits", "{count} Besuche"],
  "more-moves": ["and {count} more", "und {count} weitere"],
  lost: ["The connection is lost; trying again …", "Die Verbindung ist unterbrochen; neuer Versuch …"],
  invite: ["Send this address to the other person:", "Schicke diese Adresse dem anderen Menschen:"],
  remove: ["Remove {name} from the list", "{name} aus der Liste nehmen"],
  game: ["game {number}", "Spiel {number}"],
  ...REVIEW_WORDS,
};

const GERMAN_GAMES = {
  breakthrough: "Durchbruch: Bauern, die schräg schlagen; wer die letzte Reihe erreicht, gewinnt.",
  connect_four: "Vier gewinnt: Steine in Spalten werfen; vier in einer Reihe gewinnen.",
  doppelkopf: "Doppelkopf: vier Menschen, zwei Parteien, mit An- und Absagen, Soli und Hochzeiten.",
  fanorona: "Fanorona: Steine schlagen durch Annähern und Entfernen, auch mehrmals je Zug.",
  gomoku: "Gomoku: fünf Steine in einer Reihe gewinnen.",
  goofspiel: "Goofspiel: um Preise bieten, mit jeder Karte einmal.",
  hex: "Hex: die eigenen Seiten mit einer Kette verbinden.",
  holdem: "Hold'em: Limit-Poker zu zweit mit Blinds, Flop, Turn und River.",
  knightthrough: "Springerdurchbruch: Springer, die nur vorwärts ziehen; wer die letzte Reihe erreicht, gewinnt.",
  kuhn: "Kuhn-Poker: drei Karten, ein Einsatz.",
  leduc: "Leduc-Poker: sechs Karten, zwei Setzrunden, eine offene Karte.",
  liars_dice: "Bluff: höher bieten oder das letzte Gebot anzweifeln; die höchste Augenzahl ist Joker.",
  othello: "Othello: Steine einschließen und umdrehen; die meisten gewinnen.",
  teeko: "Teeko: vier Steine setzen, dann ziehen; Reihe oder Quadrat gewinnt.",
  tic_tac_toe: "Tic-Tac-Toe: drei in einer Reihe gewinnen.",
  yavalath: "Yavalath: vier in einer Reihe gewinnen, drei verlieren.",
};

export const language = {
  get now() {
    return localStorage.getItem("kibitz.language") || (navigator.language.startsWith("de") ? "de" : "en");
  },
  set now(value) {
    localStorage.setItem("kibitz.language", value);
  },
};

export function word(name, values = {}) {
  const text = WORDS[name][language.now === "de" ? 1 : 0];
  return text.replace(/{(\w+)}/g, (whole, key) => values[key] ?? whole);
}

/** A number as it is written in the language, with exactly so many decimals, or at most three. */
export function number(value, digits) {
  const decimals = digits === undefined ? {} : { minimumFractionDigits: digits, maximumFractionDigits: digits };
  return value.toLocaleString(language.now, decimals).replace("-", "−");
}

export const signed = (value, digits = 2) => `${value < 0 ? "−" : "+"}${number(Math.abs(value), digits)}`;
export const percent = (share) => `${number(100 * share, share && share < 0.0995 ? 1 : 0)}%`;

/** A sentence about a game: its title stands before the colon. */
export function about(game) {
  return (language.now === "de" && GERMAN_GAMES[game.name]) || game.about;
}

export function title(game) {
  const [name, rest] = [game.name.split(":")[0], about(game)];
  const found = rest.split(":");
  return found.length > 1 && found[0].length < 30 ? found[0] : name.replaceAll("_", " ").replace(/^\w/, (letter) => letter.toUpperCase());
}

/** The game of a full name such as hex:size=5, if it is offered. */
export function offered(name, games) {
  return games.find((each) => each.name === name) || games.find((each) => each.name === name.split(":")[0]);
}

export function titleOf(name, games) {
  const game = offered(name, games);
  return game ? title(game) : name;
}

/** Fill in every element that names its text. */
export function translate(root) {
  document.documentElement.lang = language.now;
  for (const element of root.querySelectorAll("[data-word]")) element.textContent = word(element.dataset.word);
}
