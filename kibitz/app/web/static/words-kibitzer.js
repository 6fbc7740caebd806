// Words of the kibitzer: its advice, beliefs and patterns.

export const KIBITZER_WORDS = {
  session: ["Running score", "Spielstand"],
  "session-game": ["game", "Spiel"],
  total: ["total", "Summe"],
  line: ["Best line: {moves}", "Beste Folge: {moves}"],
  why: ["Learned patterns at {move}", "Gelernte Muster bei {move}"],
  "no-patterns": ["No pattern fires for this move.", "Kein Muster greift bei diesem Zug."],
  weight: ["weight {weight}", "Gewicht {weight}"],
  believes: ["What it believes", "Was er vermutet"],
  "own-range": ["Your hands (seat {seat})", "Deine Blätter (Platz {seat})"],
  "other-range": ["Hands of seat {seat}", "Blätter von Platz {seat}"],
  "split-now": ["Split by what you would do with each hand.", "Geteilt nach dem, was du mit jedem Blatt tätest."],
  "split-then": ["Split by what it would have done; it chose {move}.", "Geteilt nach dem, was er getan hätte; er wählte {move}."],
  "range-hint": [
    "Pairs on the diagonal, suited hands above it. The fuller a cell, the likelier each of its hands. Choose a cell to see them.",
    "Paare auf der Diagonale, gleiche Farbe darüber. Je voller ein Feld, desto wahrscheinlicher jedes seiner Blätter. Wähle ein Feld, um sie zu sehen.",
  ],
  impossible: ["impossible", "unmöglich"],
  card: ["card", "Karte"],
  copies: ["two unseen", "zwei verdeckt"],
  party: ["Re", "Re"],
  undecided: ["open", "offen"],
  "cards-hint": ["Where each unseen card is.", "Wo jede verdeckte Karte ist."],
  "if-deals-fit": ["The line marks the share of deals that fit.", "Der Strich zeigt den Anteil der passenden Verteilungen."],
};
