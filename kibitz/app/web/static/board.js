// Makes pictures clickable: cells (data-cell) and cards (data-action) that stand for legal moves.

import { word } from "./words.js";

const SVG = "http://www.w3.org/2000/svg";

/**
 * Let a person play by clicking on the picture, or with Tab, arrows and Enter.
 * @returns the moves that need a button: they have no cell, or the game is played with cards.
 */
export function clickable(picture, moves, play, choose) {
  for (const old of picture.querySelectorAll(".legal, .start")) reset(old);
  for (const hint of picture.querySelectorAll(".hint")) hint.remove();
  const whole = picture.querySelector("svg:not([data-action])");
  if (whole && moves.length) { // an image has no parts for a screen reader, a group has
    whole.setAttribute("role", "group");
    whole.setAttribute("aria-label", whole.querySelector("title")?.textContent || "");
  }
  for (const card of picture.querySelectorAll("[data-action]")) {
    const move = moves.find((each) => String(each.action) === card.dataset.action);
    if (move) enable(card, "legal", move.name, () => play(move));
  }
  const onBoard = moves.filter((move) => move.cells.length);
  if (!onBoard.length) return moves;
  const moving = onBoard.some((move) => move.start >= 0);
  for (const cell of picture.querySelectorAll("[data-cell]")) {
    const number = Number(cell.dataset.cell);
    const placing = onBoard.filter((move) => move.start < 0 && move.cells.includes(number));
    const starting = onBoard.filter((move) => move.start === number);
    if (placing.length) {
      enable(cell, "legal", word("move-to", { cell: cell.dataset.name }), () => one(placing, play, choose));
      if (placing.some((move) => move.cells[0] === number)) hint(picture, cell);
    } else if (starting.length) {
      enable(cell, "start", word("move-from", { cell: cell.dataset.name }), () => select(picture, moves, cell, starting, play, choose));
    }
  }
  const first = picture.querySelector(".legal, .start");
  if (first && moving && new Set(onBoard.map((move) => move.start)).size === 1 && onBoard[0].start >= 0) {
    select(picture, moves, first, onBoard, play, choose);
  }
  return moves.filter((move) => !move.cells.length);
}

/** After a piece was chosen: its targets become clickable; a click on another piece chooses that one. */
function select(picture, moves, from, starting, play, choose) {
  for (const old of picture.querySelectorAll(".selected")) old.classList.remove("selected");
  for (const old of picture.querySelectorAll(".legal")) reset(old);
  for (const old of picture.querySelectorAll(".hint")) old.remove();
  from.classList.add("selected");
  for (const cell of picture.querySelectorAll("[data-cell]")) {
    const ending = starting.filter((move) => move.cells.includes(Number(cell.dataset.cell)));
    if (!ending.length) continue;
    reset(cell);
    enable(cell, "legal", word("move-to", { cell: cell.dataset.name }), () => one(ending, play, choose));
    hint(picture, cell);
  }
  picture.onkeydown = (event) => {
    if (event.key === "Escape") clickable(picture, moves, play, choose);
  };
}

function one(moves, play, choose) {
  if (moves.length === 1) play(moves[0]);
  else choose(moves);
}

function enable(element, kind, label, act) {
  element.classList.add(kind);
  element.setAttribute("role", "button");
  element.setAttribute("tabindex", "0");
  element.setAttribute("aria-label", label);
  element.onclick = act;
  element.onkeydown = (event) => {
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      act();
    } else if (event.key.startsWith("Arrow")) {
      event.preventDefault();
      step(element, event.key.slice(5));
    }
  };
}

function reset(element) {
  element.classList.remove("legal", "start", "selected");
  for (const name of ["role", "tabindex", "aria-label"]) element.removeAttribute(name);
  element.onclick = element.onkeydown = null;
}

/** Focus the nearest clickable element in a direction. */
function step(from, direction) {
  const middle = (element) => {
    const box = element.getBoundingClientRect();
    return [box.x + box.width / 2, box.y + box.height / 2];
  };
  const [x, y] = middle(from), horizontal = direction === "Left" || direction === "Right";
  const sign = direction === "Left" || direction === "Up" ? -1 : 1;
  let best = null, least = Infinity;
  for (const other of from.closest("#picture")?.querySelectorAll("[tabindex]") || []) {
    const [a, b] = middle(other);
    const [ahead, aside] = horizontal ? [(a - x) * sign, Math.abs(b - y)] : [(b - y) * sign, Math.abs(a - x)];
    if (ahead > 1 && ahead + 2 * aside < least) [best, least] = [other, ahead + 2 * aside];
  }
  best?.focus();
}

function disc(cell, kind, radius) {
  const box = cell.getBBox(), circle = document.createElementNS(SVG, "circle");
  circle.setAttribute("cx", box.x + box.width / 2);
  circle.setAttribute("cy", box.y + box.height / 2);
  circle.setAttribute("r", radius);
  circle.setAttribute("class", kind);
  cell.ownerSVGElement.append(circle);
}

/** A dot on a cell to play on. Hexagons have names there, which say as much. */
function hint(picture, cell) {
  if (cell.getAttribute("d").split(" ").length < 6) disc(cell, "hint", 3.5);
}

/** Advice on the board: a disc on each cell, larger for more probable moves; cards of advised moves are outlined. */
export function mark(picture, advised, moves) {
  for (const old of picture.querySelectorAll(".advised-disc")) old.remove();
  for (const old of picture.querySelectorAll(".advised")) old.classList.remove("advised");
  const shares = new Map();
  for (const { action, policy } of advised) {
    const move = moves.find((each) => each.action === action && !each.planned);
    if (policy < 0.02) continue;
    if (move?.cells.length) shares.set(move.cells[0], (shares.get(move.cells[0]) || 0) + policy);
    else if (policy > 0.2) picture.querySelector(`[data-action="${action}"]`)?.classList.add("advised");
  }
  for (const [cell, share] of shares) {
    disc(picture.querySelector(`[data-cell="${cell}"]`), "advised-disc", 4 + 9 * Math.sqrt(share));
  }
}
