// Where two advisers agree, and by how much they differ, move by move.

import { make } from "./chooser.js";
import { language, percent, signed, word } from "./words.js";

const ROWS = 10;

export function duration(seconds) {
  const digits = (value, most) => value.toLocaleString(language.now, { maximumFractionDigits: most });
  return seconds >= 1 ? `${digits(seconds, 1)} s` : `${digits(1000 * seconds, seconds < 0.001 ? 1 : 0)} ms`;
}

export function compare(place, [one, two]) {
  const shares = new Map();
  [one, two].forEach((advice, side) => advice.moves.forEach((move) => {
    const row = shares.get(move.action) || { name: move.name, shares: [0, 0], values: [null, null] };
    row.shares[side] = move.policy;
    row.values[side] = move.value;
    shares.set(move.action, row);
  }));
  const rows = [...shares.values()].sort((a, b) => Math.max(...b.shares) - Math.max(...a.shares));
  const common = rows.reduce((sum, row) => sum + Math.min(...row.shares), 0);
  const best = [one, two].map((advice) => advice.moves[0]);
  const agree = best[0].action === best[1].action;
  const facts = [
    agree ? word("study-agree", { move: best[0].name }) : word("study-differ", { one: best[0].name, two: best[1].name }),
    word("study-common", { share: percent(common) }),
    word("study-time", { one: duration(one.seconds), two: duration(two.seconds) }),
  ];
  const head = [word("study-move"), "A", "B", word("study-difference")].map((text) => make("th", { scope: "col" }, text));
  head.at(-1).className = "wide";
  const table = make("table", {}, make("thead", {}, make("tr", {}, ...head)), make("tbody", {}, ...rows.slice(0, ROWS).map(row)));
  const note = rows.length > ROWS ? [make("p", { class: "note" }, word("more-moves", { count: rows.length - ROWS }))] : [];
  place.dataset.agree = agree;
  place.replaceChildren(make("p", { class: "verdict" }, make("strong", {}, facts[0]), ` ${facts.slice(1).join(" ")}`), table, ...note);
}

/** One move: both probabilities, and a bar to the left where A plays it more often, to the right where B does. */
function row({ name, shares: [one, two] }) {
  const difference = two - one, bar = make("span", { class: "difference", "aria-hidden": "true" }, make("span"));
  const sign = Math.abs(difference) < 0.005 ? "same" : difference > 0 ? "more" : "less";
  bar.firstChild.className = sign;
  bar.firstChild.style.width = `${50 * Math.abs(difference)}%`;
  const text = signed(100 * difference, Math.abs(difference) < 0.1 ? 1 : 0);
  return make("tr", {}, make("th", { scope: "row" }, name), make("td", {}, percent(one)), make("td", {}, percent(two)),
    make("td", { class: "wide" }, make("div", {}, bar, make("span", { class: "amount" }, sign === "same" ? "0" : text))));
}
