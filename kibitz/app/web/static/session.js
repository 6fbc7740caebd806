// The score sheet of games of more than two seats: a row per finished game, totals, and where a session stands.

import { make } from "./chooser.js";
import { number, word } from "./words.js";

/** Columns begin with the viewer and go round the table, so that everybody keeps a column while seats rotate. */
export function showSession(note, place, table) {
  const { session, seats } = table, own = seats.findIndex((seat) => seat.you);
  const round = (row) => [...row.slice(own), ...row.slice(0, own)];
  note.hidden = !session;
  note.textContent = session ? stands(session, table) : "";
  place.hidden = seats.length < 3 || !(session || table.results.length);
  if (place.hidden) return;
  const head = (scope, text) => make("th", { scope }, text);
  const points = (value, solo) => make("td", {}, `${value < 0 ? "−" : "+"}${number(Math.abs(value))}`, ...(solo ? [make("small", {}, ` ${word("session-solo")}`)] : []));
  const first = table.played - table.results.length + 1;
  const rows = table.results.map((row, i) => make("tr", {}, head("row", String(first + i)),
    ...round(row.map((value, seat) => points(value, session?.solos[i] === seat + 1)))));
  const foot = [make("tr", {}, head("row", word("total")), ...round(table.totals).map((value) => points(value)))];
  if (session?.owes.some(Boolean)) {
    const cells = round(session.owes).map((owes) => make("td", {}, word(owes ? "session-owes-yes" : "session-owes-no")));
    foot.push(make("tr", { id: "owes" }, head("row", word("session-owes")), ...cells));
  }
  if (session?.over) {
    const places = round(table.totals).map((total) => 1 + table.totals.filter((other) => other > total).length);
    foot.push(make("tr", { id: "places" }, head("row", word("session-place")), ...places.map((each) => make("td", {}, `${each}.`))));
  }
  place.replaceChildren(make("caption", {}, word("session")),
    make("thead", {}, make("tr", {}, head("col", word("session-game")), ...round(seats).map((seat) => head("col", who(seat))))),
    make("tbody", {}, ...rows),
    make("tfoot", {}, ...foot));
}

const who = (seat) => (seat.you ? word("you") : word("seat", { seat: seat.seat }));

/** One sentence: which game it is, who deals, and who must play a solo. */
function stands(session, { seats, phase }) {
  if (session.over) return word("session-over", { games: session.games });
  const said = (seat, own, other) => (seats[seat - 1].you ? word(own) : word(other, { who: who(seats[seat - 1]) }));
  const game = phase === "over" ? session.played : session.played + 1;
  const facts = [word("session-game-of", { number: game, games: session.games }), said(session.dealer, "session-you-deal", "session-dealer")];
  if (session.forced) facts.push(said(session.forced, "session-you-forced", "session-forced"));
  return facts.join(" · ");
}
