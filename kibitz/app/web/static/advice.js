// The kibitzer's advice: one row per move, with a bar of probability, the value and the visits.

import { make } from "./chooser.js";
import { showPatterns } from "./patterns.js";
import { number, percent, signed, word } from "./words.js";

const ROWS = 10;

/** Show advice. Rows stay in place while it grows, so that they can be clicked on and keep the focus. */
export function showAdvice(place, on, table, advice, play, patterns = []) {
  if (!on) return place.replaceChildren();
  if (!advice) {
    const text = table?.phase === "yours" ? "kibitzer-thinks" : "kibitzer-waits";
    return place.replaceChildren(make("p", { class: "note" }, word(text)));
  }
  if (advice.trouble) return place.replaceChildren(make("p", { class: "error", role: "alert" }, advice.trouble));
  const position = `${advice.number}/${advice.turn}/${advice.player}`;
  let list = place.querySelector(".bars");
  if (list?.dataset.position !== position) {
    list = make("ul", { class: "bars", "data-position": position });
    place.replaceChildren(list);
  }
  const focused = document.activeElement;
  const moves = advice.moves.slice(0, advice.moves.length === ROWS + 1 ? ROWS + 1 : ROWS);
  for (const old of [...list.children]) {
    if (!moves.some((move) => String(move.action) === old.dataset.row)) old.remove();
  }
  moves.forEach((move, place) => {
    const row = list.querySelector(`[data-row="${move.action}"]`) || newRow(move);
    fillRow(row, move, table, play, patterns.find((each) => each.action === move.action));
    if (list.children[place] !== row) list.insertBefore(row, list.children[place] || null);
  });
  if (list.contains(focused)) focused.focus({ preventScroll: true });
  const rest = advice.moves.length - moves.length;
  const notes = [advice.label || advice.player, ...advice.notes];
  if (advice.line?.length > 1) notes.unshift(word("line", { moves: advice.line.join(" ") }));
  if (rest > 0) notes.unshift(word("more-moves", { count: rest }));
  while (list.nextSibling) list.nextSibling.remove();
  place.append(...notes.map((note) => make("p", { class: "note" }, note)));
  if (!advice.finished) place.append(make("p", { class: "note thinking" }, word("kibitzer-thinks")));
}

function newRow(move) {
  const bar = make("span", { class: "bar", "aria-hidden": "true" }, make("span"));
  const button = make("button", { type: "button", class: "move", "data-advised": move.action },
    make("strong"), bar, make("span", { class: "share" }), make("small"));
  return make("li", { "data-row": move.action }, button);
}

function fillRow(row, move, table, play, patterns) {
  const find = (what) => row.querySelector(what), facts = [];
  if (move.value !== null) facts.push(signed(move.value) + interval(move));
  if (move.visits) facts.push(word("visits", { count: number(move.visits) }));
  find("strong").textContent = move.name;
  find(".bar span").style.width = `${100 * move.policy}%`;
  find(".share").textContent = percent(move.policy);
  find("small").textContent = facts.join(" · ");
  const legal = table.moves.find((each) => each.action === move.action && !each.planned);
  find(".move").onclick = () => legal && play(legal);
  showPatterns(row, move, patterns);
}

function interval({ value, interval: ends }) {
  if (!ends) return "";
  const [below, above] = [value - ends[0], ends[1] - value];
  if (Math.abs(below - above) < 0.01) return ` ± ${number(above, 2)}`;
  return ` (${signed(ends[0])} … ${signed(ends[1])})`;
}
