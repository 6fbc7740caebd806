// The kibitzer's advice: one row per move, with a bar of probability, the value and the visits.

import { make } from "./chooser.js";
import { word } from "./words.js";

const ROWS = 10;

export function showAdvice(place, on, table, advice, play) {
  if (!on) return place.replaceChildren();
  if (!advice) {
    const text = table?.phase === "yours" ? "kibitzer-thinks" : "kibitzer-waits";
    return place.replaceChildren(make("p", { class: "note" }, word(text)));
  }
  if (advice.trouble) return place.replaceChildren(make("p", { class: "error", role: "alert" }, advice.trouble));
  const rows = advice.moves.slice(0, ROWS).map((move) => row(move, table, play));
  const list = make("ul", { class: "bars" }, ...rows);
  const rest = advice.moves.length - rows.length;
  const notes = [advice.player, ...advice.notes].map((note) => make("p", { class: "note" }, note));
  if (rest > 0) notes.unshift(make("p", { class: "note" }, word("more-moves", { count: rest })));
  if (!advice.finished) notes.push(make("p", { class: "note thinking" }, word("kibitzer-thinks")));
  place.replaceChildren(list, ...notes);
}

function row(move, table, play) {
  const share = `${(100 * move.policy).toFixed(move.policy < 0.1 ? 1 : 0)}%`;
  const bar = make("span", { class: "bar", "aria-hidden": "true" }, make("span"));
  bar.firstChild.style.width = `${100 * move.policy}%`;
  const facts = [];
  if (move.value !== null) facts.push(signed(move.value) + (move.error === null ? "" : ` ± ${(1.96 * move.error).toFixed(2)}`));
  if (move.visits) facts.push(word("visits", { count: move.visits.toLocaleString(document.documentElement.lang) }));
  const button = make("button", { type: "button", class: "move", "data-advised": move.action },
    make("strong", {}, move.name), bar, make("span", { class: "share" }, share), make("small", {}, facts.join(" · ")));
  const legal = table.moves.find((each) => each.action === move.action && !each.planned);
  button.addEventListener("click", () => legal && play(legal));
  return make("li", {}, button);
}

const signed = (value) => `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(2)}`;
