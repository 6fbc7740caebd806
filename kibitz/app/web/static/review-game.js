// The review of one game: the graph, the moves with their costs, the position with advice, and trying again.

import { showAdvice } from "./advice.js";
import { ask, content, sent } from "./api.js";
import { clickable, mark } from "./board.js";
import { make } from "./chooser.js";
import { graph, GLYPHS, pointsOf } from "./graph.js";
import { kept } from "./library.js";
import { asGame, asPage, asReview, save } from "./share.js";
import { language, number, signed, titleOf, word } from "./words.js";

const COLUMNS = ["col-turn", "col-seat", "col-move", "col-mark", "col-value", "col-cost", "col-best"];
const PICTURES = 12; // of costly positions in a saved page
const known = (value) => (value === null || value === undefined ? "" : signed(value));
const points = (value) => (value ? `${value < 0 ? "−" : "+"}${number(Math.abs(value))}` : "0");

export function showGame(main, game, games) {
  const find = (id) => main.querySelector(`#${id}`), { record } = game;
  const positions = new Map(), rows = new Map(), best = new Map(); // by turn
  let outline = null, opening = 1, stops = [], now = 1, position = null, review = kept.get(game.id) || null;
  let stopper = null, learning = null, seat = game.seat;

  const about = (turn) => review?.moves.find((move) => move.turn === turn);
  const turnOf = (turn) => outline.turns[turn - 1];
  const place = (turn) => turn - opening + 1; // as people count, from the first decision on
  const end = record.actions.length + 1;
  const adviser = () => find("named-reviewer").value.trim() || find("reviewer").value;

  async function begin() {
    find("title").textContent = titleOf(record.game, games);
    document.title = `${find("title").textContent} · ${word("review")} · Kibitz`;
    find("seats").replaceChildren(...record.players.map((player, i) => {
      const who = player === "human" && i + 1 === game.seat ? word("you") : player === "human" ? word("human") : player;
      return make("li", {}, make("strong", {}, word("seat", { seat: i + 1 })), ` ${who} `, make("small", {}, points(record.payoffs[i])));
    }));
    const seats = record.players.map((_, i) => make("option", { value: i + 1 }, String(i + 1)));
    find("seen-from").replaceChildren(...seats);
    find("seen-from").value = seat;
    for (const name of ["first-move", "previous-move", "next-move", "last-move"]) find(name).setAttribute("aria-label", word(name));
    try {
      outline = await askOutline();
    } catch (error) {
      find("trouble").textContent = error.message;
      return;
    }
    if (!find("picture")) return;
    for (const [strength, player] of Object.entries(outline.strengths)) {
      find("reviewer").append(make("option", { value: strength }, `${word(strength)} (${player})`));
    }
    find("reviewer").value = localStorage.getItem("kibitz.adviser");
    if (!find("reviewer").value) find("reviewer").value = "solid";
    ask("players").then((players) => find("advisers")?.replaceChildren(
      ...players.map((player) => make("option", { value: player.example }, player.about)))).catch(() => {});
    find("reveal-row").hidden = !outline.hidden;
    opening = outline.turns.find((each) => each.seat)?.turn ?? end;
    stops = [...outline.turns.filter((each) => each.turn >= opening && each.told).map((each) => each.turn), end];
    fillList();
    drawReview();
    go(stops[0]);
    if (!review) start();
  }

  /** The moves by name, and the names of the best ones of a review that was made before. */
  async function askOutline() {
    const spell = (review?.moves || []).map((move) => ({ turn: move.turn, action: move.best }));
    const found = await ask(`reviews/outline?language=${language.now}`, { record, spell });
    spell.forEach((each, i) => best.set(each.turn, found.names[i]));
    return found;
  }

  // ---------------------------------------------------------------- the review

  async function start() {
    stop();
    const mine = new AbortController();
    stopper = mine;
    review = { player: adviser(), total: 0, done: 0, zero_sum: false, complete: false, moves: [], marks: {} };
    best.clear();
    leaveLearning();
    find("trouble").textContent = "";
    find("review-note").textContent = word("review-waits");
    drawReview();
    try {
      for await (const line of lines(mine.signal)) hear(line);
    } catch (error) {
      if (error.name !== "AbortError" && find("trouble")) find("trouble").textContent = error.message;
    }
    if (stopper === mine) stopper = null;
    if (review.total) kept.set(game.id, review);
    if (find("graph")) drawReview();
  }

  function stop() {
    stopper?.abort();
    stopper = null;
  }

  async function* lines(signal) {
    const body = JSON.stringify({ record, player: adviser(), browser: browserName() });
    const headers = { "content-type": "application/json" };
    const response = await sent(`/api/reviews?language=${language.now}`, { method: "POST", headers, body, signal });
    if (!response.ok) await content(response);
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    for (let rest = ""; ;) {
      const { value, done } = await reader.read();
      if (done) return;
      const parts = (rest + value).split("\n");
      rest = parts.pop();
      for (const part of parts) yield JSON.parse(part);
    }
  }

  function hear(line) {
    if (!find("graph")) return;
    if (line.kind === "start") Object.assign(review, { player: line.player, total: line.total, zero_sum: line.zero_sum, marks: line.marks });
    if (line.kind === "compiling" && line.part) find("review-note").textContent = word("compiling", { game: titleOf(record.game, games), part: line.part });
    if (line.kind === "move") {
      review.moves = [...review.moves.filter((move) => move.turn !== line.turn), line].sort((a, b) => a.turn - b.turn);
      best.set(line.turn, line.moves.find((move) => move.action === line.best)?.name || "");
      showRow(line.turn);
      if (line.turn === now) drawPosition();
    }
    if (line.kind === "progress") {
      review.done = line.done;
      drawReview();
    }
    if (line.kind === "end") {
      review.complete = line.complete;
      find("trouble").textContent = line.trouble;
    }
  }

  /** Everything that depends on the review as a whole. */
  function drawReview() {
    const running = stopper !== null, values = { done: review?.done, total: review?.total, player: review?.player };
    main.querySelector(".review").dataset.review = running ? "running" : review?.complete ? "complete" : "stopped";
    find("stop-review").hidden = !running;
    find("start-review").hidden = running;
    find("start-review").textContent = word(review?.moves.length ? "review-again" : "start-review");
    find("review-bar").hidden = !running;
    find("review-bar").firstChild.style.width = `${100 * (review?.done || 0) / (review?.total || 1)}%`;
    if (review?.total) find("review-note").textContent = word(running ? "review-progress" : review.complete ? "review-done" : "review-stopped", values);
    for (const id of ["save-review", "save-page"]) find(id).disabled = running || !review?.moves.length;
    find("learn").disabled = running || !review?.moves.length;
    find("totals").replaceChildren(...totals().map((line) => make("li", {}, line)));
    for (const move of review?.moves || []) showRow(move.turn);
    drawGraph();
  }

  function totals() {
    return [...new Set((review?.moves || []).map((move) => move.seat))].sort().map((each) => {
      const own = review.moves.filter((move) => move.seat === each), known = own.filter((move) => move.cost !== null);
      const cost = known.length ? number(known.reduce((sum, move) => sum + move.cost, 0), 2) : word("cost-unknown");
      const counts = ["blunder", "mistake", "inaccuracy"].map((name) => [own.filter((move) => move.mark === name).length, name])
        .filter(([count]) => count).map(([count, name]) => `${count} × ${word(name)}`);
      return `${word("total-cost", { seat: each, cost })} (${counts.join(", ") || word("no-marks")})`;
    });
  }

  function drawGraph() {
    const values = review ? pointsOf(review, record, seat) : [];
    if (!values.length) {
      find("graph").replaceChildren(make("figcaption", { class: "note" }, word("graph-empty")));
      return;
    }
    const all = [0, ...values.map((point) => point.value)];
    const low = review.zero_sum ? -Math.max(...all.map(Math.abs)) : Math.min(...all), label = word("graph-says", {
      seat, first: signed(values[0].value), last: signed(values.at(-1).value), count: values.filter((point) => point.mark).length,
    });
    const drawn = graph(values, {
      first: opening - 0.5, last: end, now, label, across: word("graph-across"), up: word("graph-up", { seat }), low, high: review.zero_sum ? -low : Math.max(...all),
      width: Math.max(320, Math.min(720, find("graph").clientWidth)), choose: (at) => {
        if (!learning) go(stops.reduce((a, b) => (Math.abs(b - at) < Math.abs(a - at) ? b : a)));
      },
    });
    const legend = Object.entries(GLYPHS).map(([mark, glyph]) => make("span", {}, make("b", { class: mark, "aria-hidden": "true" }, glyph), ` ${word(mark)}`));
    find("graph").replaceChildren(drawn, make("figcaption", { class: "note legend" }, ...legend, make("span", {}, make("b", { class: "here", "aria-hidden": "true" }, "│"), ` ${word("graph-now")}`)));
  }

  // ---------------------------------------------------------------- the list of moves

  function fillList() {
    const head = COLUMNS.map((name) => make("th", { scope: "col" }, word(name)));
    const body = make("tbody");
    for (const each of outline.turns.filter((turn) => turn.turn >= opening)) {
      const button = make("button", { type: "button", class: "quiet", "data-turn": each.turn }, each.name);
      button.addEventListener("click", () => {
        leaveLearning();
        go(each.turn);
      });
      const cells = [make("td", {}, String(place(each.turn))), make("td", {}, each.seat ? String(each.seat) : word("chance")), make("td", {}, button)];
      const row = make("tr", {}, ...cells, ...Array.from({ length: 4 }, () => make("td")));
      row.hidden = !each.told;
      if (!each.seat) row.className = "chance";
      rows.set(each.turn, row);
      body.append(row);
    }
    find("move-list").replaceChildren(make("thead", {}, make("tr", {}, ...head)), body);
  }

  function cellsOf(turn) {
    const move = about(turn), { seat: mover, name } = turnOf(turn);
    const costly = move && move.action !== move.best && move.cost !== 0;
    return [String(place(turn)), mover ? String(mover) : word("chance"), name, move?.mark ? `${GLYPHS[move.mark]} ${word(move.mark)}` : "",
      known(move?.value), move?.cost ? number(move.cost, 2) : "", costly ? best.get(turn) || "" : ""];
  }

  function showRow(turn) {
    const row = rows.get(turn), move = about(turn);
    if (!row || !move) return;
    cellsOf(turn).slice(4).forEach((text, i) => { row.children[4 + i].textContent = text; });
    row.children[3].replaceChildren(...(move.mark ? [GLYPHS[move.mark], make("span", {}, ` ${word(move.mark)}`)] : []));
    row.className = move.mark;
    if (move.mark && row.hidden) {
      row.hidden = false;
      stops = [...new Set([...stops, turn])].sort((a, b) => a - b);
    }
  }

  // ---------------------------------------------------------------- the position

  async function go(turn) {
    now = turn;
    for (const shown of rows.values()) shown.removeAttribute("aria-current");
    rows.get(turn)?.setAttribute("aria-current", "true");
    const list = main.querySelector(".scroll"), row = rows.get(turn);
    if (row) list.scrollTop = row.offsetTop - list.clientHeight / 2;
    find("first-move").disabled = find("previous-move").disabled = now <= stops[0];
    find("next-move").disabled = find("last-move").disabled = now >= end;
    drawGraph();
    const revealed = find("reveal").checked && !learning, key = `${turn} ${revealed}`;
    try {
      if (!positions.has(key)) positions.set(key, await ask(`reviews/position?language=${language.now}`, { record, turn, revealed }));
    } catch (error) {
      if (find("trouble")) find("trouble").textContent = error.message;
      return;
    }
    if (now !== turn || !find("picture")) return;
    position = positions.get(key);
    find("picture").innerHTML = position.picture;
    find("text").textContent = position.text;
    drawPosition();
  }

  function step(by) {
    const at = stops.indexOf(now) < 0 ? stops.findLastIndex((turn) => turn < now) : stops.indexOf(now);
    const next = stops[Math.max(0, Math.min(stops.length - 1, at + by))];
    if (next !== now) go(next);
  }

  /** Advice and words about the position, or the question of `learn from your mistakes`. */
  function drawPosition() {
    if (!position) return;
    main.querySelector(".review").dataset.turn = now;
    const asking = learning && !learning.solved, move = about(now);
    const left = clickable(find("picture"), asking ? position.moves : [], tryMove, showMoves);
    showMoves(asking ? left : []);
    find("walk").hidden = Boolean(learning);
    find("learn-buttons").hidden = !learning;
    find("show-answer").hidden = !asking;
    if (!learning) find("status").textContent = caption();
    const named = new Map(position.moves.map((each) => [each.action, each.name]));
    const advice = move && !asking ? {
      moves: move.moves.map((each) => ({ ...each, name: named.get(each.action) || each.name })), notes: move.notes, player: review.player, finished: true,
    } : null;
    mark(find("picture"), advice ? advice.moves : [], position.moves);
    if (advice) showAdvice(find("advice"), true, { phase: "yours", moves: [] }, advice, () => {});
    else find("advice").replaceChildren(make("p", { class: "note" }, word(asking ? "advice-later" : "no-advice")));
    for (const button of find("advice").querySelectorAll("button")) {
      button.disabled = true;
      button.classList.toggle("played", Number(button.dataset.advised) === move?.action);
    }
  }

  function caption() {
    if (now === end) return word(outline.over ? "at-end" : "at-break");
    const { seat: mover, name } = turnOf(now), move = about(now), words = { turn: place(now), seat: mover, move: name };
    if (!mover) return word("at-chance", words);
    const said = word("at-move", words);
    if (!move || move.cost === null) return said;
    if (!move.mark) return `${said} ${move.cost ? word("move-cost", { cost: number(move.cost, 2), best: best.get(now) }) : word("move-good")}`;
    return `${said} ${GLYPHS[move.mark]} ${word(move.mark)}. ${word("move-cost", { cost: number(move.cost, 2), best: best.get(now) })}`;
  }

  function showMoves(moves) {
    find("moves").setAttribute("aria-label", word("moves"));
    find("moves").replaceChildren(...moves.map((move) => {
      const button = make("button", { type: "button", "data-move": move.action }, move.name);
      button.addEventListener("click", () => tryMove(move));
      return button;
    }));
  }

  // ---------------------------------------------------------------- learn from your mistakes

  function learn() {
    const costly = review.moves.filter((move) => move.mark && move.seat === seat).sort((a, b) => a.turn - b.turn);
    if (!costly.length) {
      find("status").textContent = word("learn-none", { seat });
      return;
    }
    learning = { costly, asked: 0, solved: false };
    question();
  }

  async function question() {
    const { costly, asked } = learning, move = costly[asked];
    learning.solved = false;
    find("next-mistake").hidden = true;
    find("status").textContent = word("learn-asks", { place: asked + 1, count: costly.length, move: turnOf(move.turn).name, mark: word(move.mark) });
    main.querySelector(".review").dataset.learning = asked + 1;
    await go(move.turn);
    find("picture")?.scrollIntoView({ block: "nearest" });
  }

  function tryMove(tried) {
    const move = learning.costly[learning.asked];
    if (tried.action === move.action) {
      find("status").textContent = word("learn-same", { move: tried.name });
    } else if (tried.action === move.best || move.moves.find((each) => each.action === tried.action)?.good) {
      solve(word(tried.action === move.best ? "learn-best" : "learn-right", { move: tried.name }));
    } else {
      find("status").textContent = word("learn-wrong", { move: tried.name });
      drawPosition();
    }
  }

  function solve(said) {
    const last = learning.asked === learning.costly.length - 1;
    learning.solved = true;
    find("status").textContent = last ? `${said} ${word("learn-end")}` : said;
    find("next-mistake").hidden = last;
    drawPosition();
    find(last ? "leave-learning" : "next-mistake").focus({ preventScroll: true });
  }

  function leaveLearning() {
    learning = null;
    delete main.querySelector(".review").dataset.learning;
    if (position) drawPosition();
  }

  // ---------------------------------------------------------------- files

  async function savePage() {
    const costly = review.moves.filter((move) => move.mark).sort((a, b) => b.cost - a.cost).slice(0, PICTURES);
    const shown = [];
    for (const move of costly.sort((a, b) => a.turn - b.turn)) {
      const { picture } = await ask(`reviews/position?language=${language.now}`, { record, turn: move.turn });
      const said = word("at-move", { turn: place(move.turn), seat: move.seat, move: turnOf(move.turn).name });
      shown.push({ picture, caption: `${said} ${word(move.mark)}. ${word("move-cost", { cost: number(move.cost, 2), best: best.get(move.turn) })}` });
    }
    const turns = [...rows.keys()].filter((turn) => !rows.get(turn).hidden);
    save(`${fileName()}.html`, asPage(record, review, {
      language: language.now,
      title: `${titleOf(record.game, games)} · ${word("review")}`,
      players: record.players.map((player, i) => `${word("seat", { seat: i + 1 })}: ${player} (${points(record.payoffs[i])})`),
      summary: [find("review-note").textContent, ...totals()],
      graph: find("graph").querySelector("svg"),
      head: COLUMNS.map((name) => word(name)),
      rows: turns.map((turn) => ({ cells: cellsOf(turn), mark: about(turn)?.mark || "" })),
      positions: shown,
    }), "text/html");
  }

  const fileName = () => `${record.game.replace(/[^\w-]+/g, "-")}-${record.number + 1}`;

  // ---------------------------------------------------------------- what a person does

  const actions = {
    "start-review": start, "stop-review": stop, learn,
    "first-move": () => go(stops[0]), "previous-move": () => step(-1), "next-move": () => step(1), "last-move": () => go(end),
    "show-answer": () => solve(word("learn-answer", { move: best.get(now) })),
    "next-mistake": () => { learning.asked += 1; question(); }, "leave-learning": leaveLearning,
    "save-game": () => save(`${fileName()}.jsonl`, asGame(record), "application/jsonl"),
    "save-review": () => save(`${fileName()}-review.json`, asReview(record, review), "application/json"), "save-page": savePage,
  };
  for (const [name, act] of Object.entries(actions)) find(name).addEventListener("click", act);
  find("reveal").addEventListener("change", () => go(now));
  find("seen-from").addEventListener("change", () => {
    seat = Number(find("seen-from").value);
    leaveLearning();
    drawGraph();
  });
  const keys = (event) => {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    const typing = event.target.closest?.("input, select, textarea, pre, .scroll");
    if (by && !learning && outline && !typing && !event.defaultPrevented && !event.altKey && !event.ctrlKey && !event.metaKey) step(by);
  };
  const resized = () => outline && drawGraph();
  document.addEventListener("keydown", keys);
  addEventListener("resize", resized);
  begin();
  return () => {
    stop();
    document.removeEventListener("keydown", keys);
    removeEventListener("resize", resized);
  };
}

/** A random name of this browser, of which the server reviews one game at a time. */
function browserName() {
  const name = localStorage.getItem("kibitz.browser") || crypto.getRandomValues(new Uint32Array(3)).join("-");
  localStorage.setItem("kibitz.browser", name);
  return name;
}
