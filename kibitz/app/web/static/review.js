// The games that can be reviewed: this browser's, those of run folders, and those of a file.

import { ask } from "./api.js";
import { make } from "./chooser.js";
import { kept, library } from "./library.js";
import { showGame } from "./review-game.js";
import { savedReview } from "./share.js";
import { number, titleOf, word } from "./words.js";

const MAX_BYTES = 60_000; // of a request

export function showReview(main, id, games) {
  if (id && library.find(id)) return showGame(main, library.find(id), games);
  if (id) {
    document.getElementById("notice").textContent = word("no-such-game");
    location.hash = "#/review";
    return null;
  }
  document.title = `${word("review-title")} · Kibitz`;
  showOwn(main, games);
  showRuns(main, games);
  main.querySelector("#file-form").addEventListener("submit", (event) => {
    event.preventDefault();
    openFile(main, games);
  });
  return null;
}

const signed = (value) => `${value < 0 ? "−" : value > 0 ? "+" : ""}${number(Math.abs(value))}`;

/** Keep a game in this browser, with its review where there is one, and show it. */
function open(record, review) {
  const id = `g${Date.now().toString(36)}${Math.random().toString(36).slice(2, 8)}`;
  library.add({ id, record, seat: record.players.indexOf("human") + 1 || 1, time: Date.now() });
  if (review) kept.set(id, review);
  location.hash = `#/review/${id}`;
}

function showOwn(main, games) {
  const list = main.querySelector("#own-games"), own = library.all();
  list.replaceChildren(...own.map((game) => {
    const result = signed(game.record.payoffs[game.seat - 1]);
    const when = new Date(game.time).toLocaleString(document.documentElement.lang, { dateStyle: "short", timeStyle: "short" });
    const name = `${titleOf(game.record.game, games)}, ${result}, ${when}`;
    const remove = make("button", { type: "button", class: "quiet", "aria-label": word("remove", { name }) }, "×");
    remove.addEventListener("click", () => {
      library.remove(game.id);
      showOwn(main, games);
    });
    return make("li", {}, make("a", { href: `#/review/${game.id}` }, name), remove);
  }));
  if (!own.length) list.append(make("li", { class: "note" }, word("no-own-games")));
}

/** One button per game of a list. */
function gameItems(found, games) {
  return found.map((record) => {
    const result = record.payoffs.map(signed).join(" : ");
    const button = make("button", { type: "button" },
      make("strong", {}, word("game-result", { game: titleOf(record.game, games), number: record.number + 1, result })),
      make("small", {}, record.players.join(" · ")));
    button.addEventListener("click", () => open(record));
    return make("li", {}, button);
  });
}

async function showRuns(main, games) {
  const place = main.querySelector("#run-games");
  let runs;
  try {
    runs = await ask("reviews/runs");
  } catch (error) {
    place.replaceChildren(make("p", { class: "error", role: "alert" }, error.message));
    return;
  }
  place.replaceChildren(...runs.map((run) => {
    const list = make("ul", { class: "game-list" }), more = make("button", { type: "button", class: "quiet" }, word("more-games"));
    const details = make("details", {}, make("summary", {}, make("strong", {}, run.name),
      make("small", {}, ` ${titleOf(run.game, games)} · ${run.players.join(" · ")}`)), list, more);
    const load = async () => {
      more.disabled = true;
      try {
        const found = await ask(`reviews/games?run=${encodeURIComponent(run.name)}&first=${list.children.length + 1}`);
        list.append(...gameItems(found.games, games));
        more.hidden = !found.more;
      } catch (error) {
        details.append(make("p", { class: "error", role: "alert" }, error.message));
      }
      more.disabled = false;
    };
    details.addEventListener("toggle", () => details.open && !list.children.length && load());
    more.addEventListener("click", load);
    more.hidden = true;
    return details;
  }));
  if (!runs.length) place.append(make("p", { class: "note" }, word("no-runs")));
}

// ---------------------------------------------------------------- files

async function openFile(main, games) {
  const find = (id) => main.querySelector(id), error = find("#file-form .error");
  error.textContent = find("#file-note").textContent = "";
  find("#file-games").replaceChildren();
  try {
    const file = find("#game-file").files[0];
    if (file && file.size > 50_000_000) throw new Error(word("file-large"));
    const text = file ? await file.text() : find("#game-text").value;
    if (/^\s*(<!doctype html|<html|\{\s*"format")/i.test(text)) {
      const saved = savedReview(text);
      if (!saved) throw new Error(word("file-strange"));
      const { games: [record] } = await ask("reviews/files", { text: JSON.stringify(saved.record) });
      open(record, saved.review);
      return;
    }
    const part = beginning(text);
    const found = await ask("reviews/files", { text: part, rules: find("#game-rules").value.trim() });
    if (found.games.length === 1) open(found.games[0]);
    else find("#file-games").append(...gameItems(found.games, games));
    if (part.length < text.length) find("#file-note").textContent = word("file-cut", { count: found.games.length });
  } catch (problem) {
    error.textContent = problem.message;
  }
}

/** As many whole games from the beginning of a file as one request may hold. */
function beginning(text) {
  const size = (part) => new TextEncoder().encode(JSON.stringify(part)).length;
  const separator = /^\s*(game |Spiel |PokerStars)/.test(text) ? /\r?\n[ \t]*\r?\n/g : /\n/g;
  if (text.length <= MAX_BYTES && size(text) <= MAX_BYTES) return text;
  let end = 0;
  for (const found of text.slice(0, MAX_BYTES).matchAll(separator)) {
    const next = found.index + found[0].length;
    if (size(text.slice(0, next)) > MAX_BYTES) break;
    end = next;
  }
  if (!end) throw new Error(word("file-large"));
  return text.slice(0, end);
}
