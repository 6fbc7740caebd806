// What the kibitzer believes about hidden information: ranges in a grid, cards by seat, or bars.

import { make } from "./chooser.js";
import { number, percent, word } from "./words.js";

const COLOURS = { fold: "fold", check: "call", call: "call", bet: "raise", raise: "raise" };
const SUITS = { c: "♣", d: "♦", h: "♥", s: "♠" };
const ANSWERS = 13; // listed of one question
const KINDS = { ranges, cards, worlds };

export function showBeliefs(section, beliefs, game = "") {
  section.hidden = !beliefs;
  if (!beliefs) return;
  const body = section.querySelector(".believed");
  const chosen = body.querySelector(".range .chosen")?.dataset.hand;
  body.replaceChildren(make("p", { class: "note" }, beliefs.basis), ...KINDS[beliefs.kind](beliefs, game));
  if (chosen) body.querySelector(`.range [data-hand="${chosen}"]`)?.dispatchEvent(new Event("click", { bubbles: true }));
}

function bar(share, mark) {
  const found = make("span", { class: "bar", "aria-hidden": "true" }, make("span"));
  found.firstChild.style.width = `${100 * share}%`;
  if (mark !== undefined) {
    found.append(make("i"));
    found.lastChild.style.left = `${100 * mark}%`;
  }
  return found;
}

// ---------------------------------------------------------------- hold'em

function ranges({ own, other }) {
  const details = make("div", { class: "combos", "aria-live": "polite" });
  const hint = make("p", { class: "note" }, word("range-hint"));
  details.append(hint);
  const grids = make("div", { class: "ranges" }, range(own, "own-range", details), range(other, "other-range", details));
  return [grids, details];
}

function range(hands, title, details) {
  const name = word(title, { seat: hands.seat });
  const table = make("table", { class: "range", role: "grid", "aria-label": name });
  const cells = hands.grid.flat();
  table.style.gridTemplateColumns = `repeat(${hands.grid.length}, minmax(0, 1fr))`;
  const most = Math.max(...cells.map((cell) => cell.prob / Math.max(cell.combos.length, 1)));
  hands.grid.forEach((row, y) => {
    table.append(make("tr", { role: "row" }, ...row.map((cell, x) => drawCell(hands, cell, most, x === 0 && y === 0))));
  });
  const choose = (target) => {
    const chosen = target.closest?.("td");
    if (!chosen) return;
    for (const old of table.closest(".ranges").querySelectorAll(".chosen")) old.classList.remove("chosen");
    for (const old of table.querySelectorAll("[tabindex='0']")) old.tabIndex = -1;
    if (matchMedia("(max-width: 40rem)").matches) table.parentElement.append(details); // else it is below both
    chosen.classList.add("chosen");
    chosen.tabIndex = 0;
    showCombos(details, name, hands, cells.find((cell) => cell.name === chosen.dataset.hand));
  };
  for (const event of ["mouseover", "focusin", "click"]) table.addEventListener(event, ({ target }) => choose(target));
  table.addEventListener("keydown", (event) => step(table, event));
  const split = hands.played ? word("split-then", { move: hands.played }) : hands.actions.length ? word("split-now") : "";
  const legend = make("p", { class: "legend" }, ...hands.actions.map((action) => make("span", { class: COLOURS[action] || "call" }, action)));
  return make("figure", {}, make("figcaption", {}, make("strong", {}, name), make("small", {}, split)), table, legend);
}

function drawCell(hands, cell, most, first) {
  const share = cell.combos.length ? cell.prob / cell.combos.length / most : 0;
  const label = cell.combos.length ? `${cell.name} ${percent(cell.prob)}${mix(hands.actions, cell.policy)}` : `${cell.name} ${word("impossible")}`;
  const found = make("td", { role: "gridcell", tabindex: first ? 0 : -1, "data-hand": cell.name, "aria-label": label }, cell.name);
  if (!cell.combos.length) found.classList.add("impossible");
  found.style.backgroundImage = gradient(hands.actions, cell.policy);
  found.style.backgroundSize = `100% ${Math.round(100 * share)}%`;
  return found;
}

function gradient(actions, policy) {
  if (!actions.length) return "linear-gradient(var(--neutral), var(--neutral))";
  let from = 0;
  const stops = [];
  for (let i = actions.length - 1; i >= 0; i--) { // raises first
    const to = from + 100 * policy[i];
    stops.push(`var(--${COLOURS[actions[i]] || "call"}) ${from}% ${to}%`);
    from = to;
  }
  return `linear-gradient(to right, ${stops.join(", ")})`;
}

const mix = (actions, policy) =>
  actions.map((action, i) => [action, policy[i]]).filter(([, share]) => share >= 0.005).reverse()
    .map(([action, share]) => `, ${action} ${percent(share)}`).join("");

function showCombos(place, title, hands, cell) {
  const head = make("p", {}, make("strong", {}, `${title}: ${cell.name}`),
    cell.combos.length ? ` ${percent(cell.prob)}${mix(hands.actions, cell.policy)}` : ` ${word("impossible")}`);
  const list = make("ul", {}, ...cell.combos.map((combo) => {
    const item = make("li", { title: mix(hands.actions, combo.policy).slice(2) }, ...combo.hand.split(" ").map(card),
      make("small", {}, `${number(100 * combo.prob, 2)}%`), make("span", { class: "hidden" }, mix(hands.actions, combo.policy)));
    if (hands.actions.length) {
      item.append(make("span", { class: "mix", "aria-hidden": "true" }));
      item.lastChild.style.backgroundImage = gradient(hands.actions, combo.policy);
    }
    return item;
  }));
  place.replaceChildren(head, list);
}

function card(name) {
  const suit = SUITS[name.at(-1)] || "";
  return make("b", { class: "♥♦".includes(suit) ? "red" : "black" }, name.slice(0, -1).replace("T", "10") + suit);
}

function step(table, event) {
  const [across, down] = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] }[event.key] || [0, 0];
  const at = event.target.closest("td");
  if (!at || (!across && !down)) return;
  event.preventDefault();
  table.rows[at.parentElement.rowIndex + down]?.cells[at.cellIndex + across]?.focus();
}

// ---------------------------------------------------------------- Doppelkopf

function cards({ seat, cards: unseen, re }) {
  const seats = [1, 2, 3].map((step) => (seat - 1 + step) % 4);
  const head = make("tr", {}, make("th", { scope: "col" }, word("card")),
    ...seats.map((other) => make("th", { scope: "col" }, word("seat", { seat: other + 1 }))));
  const party = make("tr", { class: "party" }, make("th", { scope: "row" }, word("party")),
    ...seats.map((other) => make("td", {}, ...(re[other] === null ? [word("undecided")] : [bar(re[other]), percent(re[other])]))));
  const rows = unseen.map((each) => make("tr", {}, cardHead(each), ...seats.map((other) => {
    const share = each.seats[other] / each.copies;
    return make("td", {}, bar(share), percent(share));
  })));
  const half = Math.ceil(rows.length / 2);
  const tables = [[party, ...rows.slice(0, half)], rows.slice(half)].filter((part) => part.length)
    .map((part) => make("table", { class: "unseen" }, make("thead", {}, head.cloneNode(true)), make("tbody", {}, ...part)));
  return [make("p", { class: "note" }, word("cards-hint")), make("div", { class: "by-seat" }, ...tables)];
}

function cardHead(each) {
  const name = make("b", { class: /[♥♦]/.test(each.card) ? "red" : "black" }, each.card);
  const found = make("th", { scope: "row" }, name);
  if (each.copies > 1) found.append(make("span", { "aria-hidden": "true" }, " ×2"), make("span", { class: "hidden" }, ` ${word("copies")}`));
  return found;
}

// ---------------------------------------------------------------- other games

function worlds({ tables }, game) {
  const marked = tables.some((table) => table.answers.some((each) => Math.abs(each.prob - each.fits) > 0.005));
  const found = tables.map((table) => {
    const known = [...table.answers].sort((one, two) => two.prob - one.prob).slice(0, ANSWERS);
    const rows = table.answers.filter((each) => known.includes(each)).map((each) => make("li", {},
      make("span", { class: "chips" }, ...chips(each.answer, game)), bar(each.prob, marked ? each.fits : undefined),
      make("span", { class: "share" }, percent(each.prob))));
    const rest = table.answers.length - rows.length;
    return make("figure", {}, make("figcaption", {}, make("strong", {}, table.about)), make("ul", { class: "answers" }, ...rows),
      ...(rest > 0 ? [make("p", { class: "note" }, word("more-moves", { count: rest }))] : []));
  });
  const note = marked ? [make("p", { class: "note" }, word("if-deals-fit"))] : [];
  return [make("div", { class: "questions" }, ...found), ...note];
}

function chips(answer, game) {
  const dice = game.startsWith("liars_dice");
  return (dice ? answer.split(" ") : [answer]).map((text) => make("b", { class: dice ? "die" : "card" }, text));
}
