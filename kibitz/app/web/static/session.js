// The running score of a session by seat, one row per finished game, for games of more than two seats.

import { make } from "./chooser.js";
import { word } from "./words.js";

export function showSession(place, table) {
  place.hidden = table.seats.length < 3 || !table.results.length;
  if (place.hidden) return;
  const points = (value) => make("td", {}, `${value < 0 ? "−" : "+"}${Math.abs(value)}`);
  const first = table.played - table.results.length + 1;
  const rows = table.results.map((row, i) => make("tr", {}, make("th", { scope: "row" }, String(first + i)), ...row.map(points)));
  const names = table.seats.map((seat) => make("th", { scope: "col" }, seat.you ? word("you") : word("seat", { seat: seat.seat })));
  place.replaceChildren(make("caption", {}, word("session")),
    make("thead", {}, make("tr", {}, make("th", { scope: "col" }, word("session-game")), ...names)),
    make("tbody", {}, ...rows),
    make("tfoot", {}, make("tr", {}, make("th", { scope: "row" }, word("total")), ...table.totals.map(points))));
}
