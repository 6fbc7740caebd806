// Curves as SVG: axes with round numbers, values under the pointer or by arrow keys, and the same as a table.

import { make } from "./chooser.js";
import { word } from "./words.js";

const SPACE = "http://www.w3.org/2000/svg";
const SIZE = { width: 640, height: 230, left: 58, right: 20, top: 12, bottom: 30 };
const ROWS = 40;

function draw(tag, attributes = {}, ...children) {
  const element = document.createElementNS(SPACE, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

export function number(value) {
  const size = Math.abs(value);
  const digits = size >= 100 ? 0 : size >= 10 ? 1 : size >= 0.1 ? 3 : size >= 0.001 ? 4 : 6;
  return value.toLocaleString(document.documentElement.lang, { maximumFractionDigits: digits });
}

/** Round numbers between two values. */
export function ticks(low, high, count) {
  if (!(high > low)) return [low];
  const raw = (high - low) / count, power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 2.5, 5, 10].map((each) => each * power).find((each) => each >= raw);
  const found = [];
  for (let at = Math.ceil(low / step - 1e-9); at * step <= high + step * 1e-9; at++) found.push(at * step + 0);
  return found;
}

/**
 * A chart of curves of one kind.
 * @param place Element to fill; what is in it is replaced, while the focus and the value that is read stay.
 * @param curves [{ name, label, points: [[x, y], ...] }]
 */
export function showCurves(place, curves) {
  const points = curves.flatMap((curve) => curve.points);
  if (!points.length) return;
  SIZE.width = Math.max(280, Math.min(760, place.clientWidth || 640));  // one unit is one pixel: texts keep their size
  let xs = extent(points.map((point) => point[0])), ys = extent(points.map((point) => point[1]));
  const logarithmic = ys[0] > 0 && ys[1] / ys[0] > 30;
  if (!logarithmic) ys = ys[0] > 0 && ys[0] < ys[1] / 2 ? [0, ys[1] * 1.04] : widened(ys);
  if (xs[0] === xs[1]) xs = [xs[0], xs[0] + 1];
  const scale = logarithmic ? Math.log10 : (value) => value;
  const across = (x) => SIZE.left + (SIZE.width - SIZE.left - SIZE.right) * (x - xs[0]) / (xs[1] - xs[0]);
  const up = (y) => SIZE.height - SIZE.bottom
    - (SIZE.height - SIZE.top - SIZE.bottom) * (scale(y) - scale(ys[0])) / (scale(ys[1]) - scale(ys[0]));

  const svg = draw("svg", { viewBox: `0 0 ${SIZE.width} ${SIZE.height}`, class: "curve", role: "img", tabindex: "0" });
  svg.setAttribute("aria-label", curves.map((curve) => word("lab-curve", {
    name: curve.label, first: number(curve.points[0][1]), last: number(curve.points.at(-1)[1]),
  })).join(" "));
  for (const y of logarithmic ? powers(ys) : ticks(...ys, 4)) {
    svg.append(draw("line", { class: "grid", x1: SIZE.left, x2: SIZE.width - SIZE.right, y1: up(y), y2: up(y) }),
      draw("text", { x: SIZE.left - 8, y: up(y) + 4, "text-anchor": "end" }, number(y)));
  }
  for (const x of ticks(...xs, SIZE.width / 90).filter(Number.isInteger)) {
    svg.append(draw("text", { x: across(x), y: SIZE.height - 9, "text-anchor": "middle" }, number(x)));
  }
  curves.forEach((curve, i) => {
    const path = curve.points.map(([x, y], k) => `${k ? "L" : "M"}${across(x).toFixed(1)} ${up(y).toFixed(1)}`).join("");
    svg.append(draw("path", { class: `line line-${i % 4}`, d: path }));
    const [x, y] = curve.points.at(-1);
    svg.append(draw("circle", { class: `dot line-${i % 4}`, cx: across(x), cy: up(y), r: 3.5 }));
  });
  const cursor = draw("line", { class: "cursor", y1: SIZE.top, y2: SIZE.height - SIZE.bottom, visibility: "hidden" });
  svg.append(cursor);

  const all = [...new Set(points.map((point) => point[0]))].sort((one, two) => one - two);
  const value = make("p", { class: "value", "aria-live": "polite" });
  let at = null;  // index of the iteration that is read

  function read(index) {
    at = index === null ? null : Math.max(0, Math.min(all.length - 1, index));
    cursor.setAttribute("visibility", at === null ? "hidden" : "visible");
    const x = at === null ? all.at(-1) : all[at];
    cursor.setAttribute("x1", across(x));
    cursor.setAttribute("x2", across(x));
    value.replaceChildren(`${word("lab-iteration")} ${number(x)}`, ...curves.flatMap((curve, i) => {
      const y = before(curve.points, x);
      return y === null ? [] : [make("span", { class: `key line-${i % 4}` }), `${curve.label} ${number(y)}`];
    }));
    if (logarithmic) value.append(make("small", {}, ` (${word("lab-logarithmic")})`));
    place.dataset.at = at ?? "";
  }
  svg.addEventListener("pointermove", (event) => {
    const box = svg.getBoundingClientRect();
    const x = xs[0] + (xs[1] - xs[0]) * ((event.clientX - box.left) / box.width * SIZE.width - SIZE.left)
      / (SIZE.width - SIZE.left - SIZE.right);
    read(all.reduce((best, each, i) => (Math.abs(each - x) < Math.abs(all[best] - x) ? i : best), 0));
  });
  svg.addEventListener("pointerleave", () => read(null));
  svg.addEventListener("keydown", (event) => {
    const now = at ?? all.length - 1, page = Math.max(1, Math.round(all.length / 10));
    const to = { ArrowLeft: now - 1, ArrowRight: now + 1, PageDown: now - page, PageUp: now + page, Home: 0, End: all.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    read(to);
  });

  const focused = place.contains(document.activeElement) && document.activeElement.tagName === "svg";
  const open = place.querySelector("details")?.open, kept = place.dataset.at;
  place.replaceChildren(make("div", { class: "chart" }, svg), value, table(curves, all, open));
  read(focused && kept ? Number(kept) : null);
  if (focused) svg.focus({ preventScroll: true });
}

const extent = (values) => [Math.min(...values), Math.max(...values)];
const widened = ([low, high]) => (low === high ? [low - 1, high + 1] : [low - (high - low) * 0.05, high + (high - low) * 0.05]);

function powers([low, high]) {
  const found = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); power++) {
    for (const each of [1, 3]) if (each * 10 ** power >= low && each * 10 ** power <= high) found.push(each * 10 ** power);
  }
  return found.length > 1 ? found : [low, high];
}

/** The value of a curve at an iteration, or at the last measured one before it. */
function before(points, x) {
  let low = 0, high = points.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (points[middle][0] <= x) low = middle + 1; else high = middle;
  }
  return low ? points[low - 1][1] : null;
}

function table(curves, all, open) {
  const step = Math.ceil(all.length / ROWS);
  const shown = all.filter((x, i) => i % step === 0 || i === all.length - 1);
  const head = make("tr", {}, make("th", { scope: "col" }, word("lab-iteration")),
    ...curves.map((curve) => make("th", { scope: "col" }, curve.label)));
  const rows = shown.map((x) => make("tr", {}, make("th", { scope: "row" }, number(x)), ...curves.map((curve) => {
    const found = curve.points.find((point) => point[0] === x);
    return make("td", {}, found ? number(found[1]) : "");
  })));
  const details = make("details", {}, make("summary", {}, word("lab-as-table")),
    make("div", { class: "scroll", role: "region", "aria-label": word("lab-as-table"), tabindex: "0" }, make("table", {}, make("thead", {}, head), make("tbody", {}, ...rows))));
  details.open = Boolean(open);
  return details;
}
