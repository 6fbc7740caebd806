// The graph of the value over the moves, drawn as SVG.

import { ticks } from "./curves.js";
import { number } from "./words.js";

const SVG = "http://www.w3.org/2000/svg";
const HEIGHT = 260, LEFT = 50, RIGHT = 16, TOP = 42, BOTTOM = 46, TICKS = 8;
export const GLYPHS = { inaccuracy: "?!", mistake: "?", blunder: "??" };

function draw(tag, attributes, text) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  if (text !== undefined) element.textContent = text;
  return element;
}

/** Points for a seat: the value after each reviewed move, and the result at the end. */
export function pointsOf(review, record, seat) {
  const own = review.moves.filter((move) => move.value !== null && (review.zero_sum || move.seat === seat));
  const sign = (move) => (move.seat === seat ? 1 : -1);
  const points = own.map((move) => ({ turn: move.turn, value: sign(move) * move.value, mark: move.mark, seat: move.seat }));
  if (own.length) points.unshift({ turn: own[0].turn - 0.5, value: sign(own[0]) * own[0].best_value, mark: "" });
  if (review.complete && own.length) points.push({ turn: record.actions.length + 1, value: record.payoffs[seat - 1], mark: "" });
  return points;
}

/**
 * Draw the points. `first` and `last` are the turns at the edges, `low` and `high` the values, `across` and `up` name the
 * axes, `width` is in pixels.
 * @returns the SVG element; a click on it calls `choose` with a turn.
 */
export function graph(points, { first, last, now, label, across, up, choose, low, high, width }) {
  const x = (turn) => LEFT + (width - LEFT - RIGHT) * (turn - first) / Math.max(1, last - first);
  const y = (value) => TOP + (HEIGHT - TOP - BOTTOM) * (high - value) / (high - low || 1);
  const svg = draw("svg", { viewBox: `0 0 ${width} ${HEIGHT}`, role: "img", "aria-label": label, class: "value-graph" });
  for (const value of [low, high].filter((value) => Math.abs(y(value) - y(0)) > 14).concat(0)) {
    svg.append(draw("line", { class: value === 0 ? "zero" : "grid", x1: LEFT, x2: width - RIGHT, y1: y(value), y2: y(value) }));
    svg.append(draw("text", { class: "tick", x: LEFT - 8, y: y(value) + 4, "text-anchor": "end" }, number(Number(value.toPrecision(3)))));
  }
  const bottom = HEIGHT - BOTTOM;
  for (const turn of ticks(Math.ceil(first), last, TICKS).filter(Number.isInteger)) {
    svg.append(draw("line", { class: "grid", x1: x(turn), x2: x(turn), y1: bottom, y2: bottom + 5 }));
    svg.append(draw("text", { class: "tick", x: x(turn), y: bottom + 19, "text-anchor": "middle" }, number(turn)));
  }
  svg.append(draw("text", { class: "axis", x: 8, y: 18 }, up));
  svg.append(draw("text", { class: "axis", x: width - RIGHT, y: HEIGHT - 8, "text-anchor": "end" }, across));
  if (points.length) {
    const line = points.map((point) => `${x(point.turn).toFixed(1)},${y(point.value).toFixed(1)}`);
    const [from, to] = [points[0], points.at(-1)].map((point) => x(point.turn).toFixed(1));
    svg.append(draw("path", { class: "area", d: `M${from},${y(Math.max(low, Math.min(0, high)))} L${line.join(" L")} L${to},${y(Math.max(low, Math.min(0, high)))} Z` }));
    svg.append(draw("path", { class: "curve", d: `M${line.join(" L")}` }));
  }
  if (now !== null) svg.append(draw("line", { class: "now", x1: x(now), x2: x(now), y1: TOP - 8, y2: HEIGHT - BOTTOM + 8 }));
  for (const point of points) {
    const dot = draw("circle", { class: `point ${point.mark}`, cx: x(point.turn), cy: y(point.value), r: point.mark ? 6 : 3.5, "data-turn": point.turn });
    svg.append(dot);
    if (point.mark) {
      const above = y(point.value) > TOP + 14;
      svg.append(draw("text", { class: `glyph ${point.mark}`, x: x(point.turn), y: y(point.value) + (above ? -10 : 22), "text-anchor": "middle" }, GLYPHS[point.mark]));
    }
  }
  svg.addEventListener("click", (event) => {
    const box = svg.getBoundingClientRect();
    const at = first + ((event.clientX - box.left) * width / box.width - LEFT) / (width - LEFT - RIGHT) * Math.max(1, last - first);
    choose(at);
  });
  return svg;
}
