// The Lab: runs with their curves, live while they grow; results, ratings, and short trainings.

import { ask, follow, remembered, trained } from "./api.js";
import { make } from "./chooser.js";
import { number, showCurves } from "./curves.js";
import { sortable } from "./sortable.js";
import { setUpTraining } from "./training.js";
import { title, word } from "./words.js";
import { LAB_WORDS } from "./words-lab.js";

const MATCHES = ["match", "tournament", "session", "record"];
const GROUPS = ["nash_conv", "exploitability", "loss", "accuracy", "points", "score"];
let view = "trainings";

export function showLab(main, games) {
  const find = (what) => main.querySelector(what);
  const rows = new Map();  // name -> list item
  const sorted = { ratings: { column: 1, descending: true }, result: { column: 1, descending: true } };
  let runs = [], leftOut = 0, detail = null, rated = "", old = "";
  let chosen = nameInAddress();
  document.title = `${word("lab")} · Kibitz`;

  const live = follow(() => "lab/live", hear, (lost, reason) => {
    document.getElementById("notice").textContent = lost ? reason || word("lost") : "";
  });
  if (chosen) live.say({ run: chosen });

  function hear(message) {
    if (!find("#lab-detail")) return;
    if (message.kind === "runs") {
      runs = message.runs;
      leftOut = message.left_out;
      if (!detail && chosen) showKindOf(runs.find((run) => run.name === chosen));
      showList();
    } else if (message.kind === "run" && message.run.name === chosen) {
      detail = message;
      showDetail();
    } else if (message.kind === "gone") {
      trouble(message.detail);
      choose(null);
    }
  }

  function trouble(text) {
    find("#lab-trouble").textContent = text;
  }

  async function tell(what, body) {
    trouble("");
    try {
      return await ask(`lab/${what}`, body);
    } catch (error) {
      trouble(error.message);
      return null;
    }
  }

  // ---------------------------------------------------------------- the list

  const isMatch = (run) => MATCHES.includes(run.command);
  const listed = () => runs.filter((run) => isMatch(run) === (view === "matches"));

  function showKindOf(run) {
    if (run) view = isMatch(run) ? "matches" : "trainings";
    showView();
  }

  function showView() {
    for (const button of main.querySelectorAll("[data-view]")) button.setAttribute("aria-pressed", button.dataset.view === view);
    find(".lab").hidden = view === "ratings";
    find("#lab-ratings").hidden = view !== "ratings";
    if (view === "ratings") showRatings();
  }

  function showList() {
    const shown = listed(), list = find(".runs");
    for (const run of shown) {
      if (!rows.has(run.name)) rows.set(run.name, newRow(run.name));
      fillRow(rows.get(run.name), run);
    }
    const items = shown.map((run) => rows.get(run.name));
    if (items.length !== list.children.length || items.some((item, i) => item !== list.children[i])) {
      const focused = document.activeElement;
      list.replaceChildren(...items);
      if (list.contains(focused)) focused.focus({ preventScroll: true });
    }
    find("#lab-list-title").textContent = word(`lab-${view}`);
    find("#lab-none").textContent = shown.length ? (leftOut ? word("lab-left-out", { count: leftOut }) : "") : word(`lab-none-${view}`);
    find("#lab-detail").hidden = !shown.length && !chosen;
  }

  function newRow(name) {
    const button = make("button", { type: "button", "data-run": name }, make("strong", {}, name),
      make("span", { class: "badge" }), make("small", { class: "what" }),
      make("span", { class: "bar", "aria-hidden": "true" }, make("span")), make("small", { class: "done" }));
    button.addEventListener("click", () => choose(name));
    return make("li", {}, button);
  }

  function fillRow(item, run) {
    const part = (what) => item.querySelector(what);
    setState(part(".badge"), run);
    part(".what").textContent = [run.method || word("lab-players", { count: run.players.length }), gameTitle(run.game)].filter(Boolean).join(" · ");
    if (run.state === "damaged" || !run.game) part(".what").textContent = run.problem;
    const whole = run.wanted ? Math.min(1, (run.done || 0) / run.wanted) : run.state === "finished" ? 1 : 0;
    part(".bar").hidden = run.state === "damaged" || run.state === "failed";
    part(".bar span").style.width = `${100 * whole}%`;
    part(".done").textContent = [progress(run), headline(run)].filter(Boolean).join(" · ");
    if (run.name === chosen) item.firstChild.setAttribute("aria-current", "true");
    else item.firstChild.removeAttribute("aria-current");
  }

  function setState(badge, run) {
    badge.dataset.state = run.state;
    badge.textContent = word(`lab-${run.state}`);
  }

  function progress(run) {
    if (run.wanted === null || run.done === null) return "";
    return word(isMatch(run) ? "lab-games" : "lab-iterations", { done: number(run.done), wanted: number(run.wanted) });
  }

  function headline(run) {
    const first = Object.keys(run.figures)[0];
    if (first) return `${label(first)} ${number(run.figures[first])}`;
    return reached(run);
  }

  // What the first player of a match scores or gets; empty: nothing yet.
  function reached(run) {
    if (!run.players.length) return "";
    if (run.score) return word("lab-score-of", { player: run.players[0], score: percent(run.score.mean) });
    return run.payoff ? word("lab-payoff-of", { player: run.players[0], payoff: signed(run.payoff.mean) }) : "";
  }

  function gameTitle(name) {
    const game = games.find((each) => each.name === name.split(":")[0]);
    return game ? `${title(game)}${name.includes(":") ? ` (${name.split(":").slice(1).join(":").replaceAll(",", ", ")})` : ""}` : name;
  }

  // ---------------------------------------------------------------- one run

  function choose(name) {
    chosen = name;
    detail = null;
    old = "";
    live.say({ run: name });
    history.replaceState(null, "", name ? `#/lab/run/${encodeURIComponent(name)}` : "#/lab");
    showList();
    find("#lab-run").hidden = true;
    find("#lab-choose").hidden = Boolean(name);
    find(".lab").classList.toggle("chosen", Boolean(name));
  }

  function showDetail() {
    const { run } = detail;
    find("#lab-run").hidden = false;
    find("#lab-choose").hidden = true;
    find("#lab-title").textContent = run.name;
    setState(find("#lab-state"), run);
    find("#lab-facts").textContent = [[run.method, gameTitle(run.game)].filter(Boolean).join(" · "), progress(run), when(run.changed)].filter(Boolean).join(" · ");
    find("#lab-problem").textContent = run.problem;
    find("#lab-stop").hidden = !run.can_stop;
    find("#lab-resume").hidden = !run.can_resume;
    for (const id of ["#lab-play", "#lab-advise"]) find(id).hidden = !run.player;
    const busy = ["starting", "running", "stopping"].includes(run.state);
    find("#lab-hint").textContent = run.state === "starting" ? word("lab-preparing")
      : busy && run.command === "train" && !run.player ? word("lab-not-yet") : run.player;
    drawCurves();
    drawResult();
    find("#lab-log").hidden = !detail.log;
    find("#lab-log pre").textContent = detail.log;
    const settings = JSON.stringify(detail.settings);
    if (settings !== old) {
      old = settings;
      find("#lab-settings tbody").replaceChildren(...Object.entries(detail.settings).map(([key, value]) =>
        make("tr", {}, make("th", { scope: "row" }, key.replaceAll("_", " ")), make("td", {}, value))));
    }
    find("#lab-settings").hidden = !Object.keys(detail.settings).length;
  }

  function drawCurves() {
    const place = find("#lab-curves");
    const groups = GROUPS.map((start) => [start, detail.curves.filter((curve) => curve.name.startsWith(start) && curve.points.length)]);
    const used = groups.filter(([, curves]) => curves.length);
    const wanted = used.map(([start]) => `${detail.run.name}/${start}`);
    if (wanted.join() !== [...place.children].map((each) => each.dataset.group).join()) {
      place.replaceChildren(...wanted.map((group) => make("figure", { "data-group": group }, make("figcaption"), make("div"))));
    }
    used.forEach(([start, curves], i) => {
      const figure = place.children[i];
      figure.firstChild.textContent = label(start);
      showCurves(figure.lastChild, curves.slice(0, 4).map((curve) => ({ ...curve, label: label(curve.name) })));
    });
    find("#lab-no-curves").hidden = used.length > 0 || isMatch(detail.run) || detail.run.state === "damaged";
  }

  function drawResult() {
    const { result, run } = detail, place = find("#lab-result");
    place.hidden = !result;
    const text = JSON.stringify(result);
    if (!result || place.dataset.text === text + run.name) return;
    place.dataset.text = text + run.name;
    const parts = [];
    if (reached(run)) {
      const { low, high } = run.score || run.payoff, shown = run.score ? percent : signed;
      const within = low === null ? "" : ` (${word("lab-to", { low: shown(low), high: shown(high) })})`;
      parts.push(make("p", {}, make("strong", {}, reached(run)), within,
        result.wins === null ? "" : make("span", { class: "note" }, ` ${word("lab-counts", { wins: number(result.wins), draws: number(result.draws), losses: number(result.losses) })}`)));
    }
    const lines = result.rows.map((row, i) => ({ ...row, place: i }));
    const columns = [
      { name: word("lab-player"), value: (row) => row.player, show: (row) => (result.cross.length ? `${row.place + 1}. ${row.player}` : row.player) },
      { name: word("lab-payoff"), number: true, value: (row) => row.payoff.mean, show: (row) => signed(row.payoff.mean) },
      { name: word("lab-interval"), number: true, value: (row) => row.payoff.low, show: (row) => span(row.payoff) },
      ...result.cross.map((_, j) => ({
        name: word("lab-against", { place: j + 1 }), number: true,
        value: (row) => result.cross[row.place][j], show: (row) => (row.place === j ? "–" : signed(result.cross[row.place][j])),
      })),
    ];
    sorted.result = { column: 1, descending: true };
    if (lines.length) parts.push(sortable(columns, lines, sorted.result, word("lab-payoff")));
    place.replaceChildren(...parts);
  }

  /** Open a table against the run's player, or one at which it advises. */
  async function open(opponent) {
    const { run } = detail;
    trouble("");
    try {
      const seats = Array(run.seats).fill(opponent);
      seats[0] = "human";
      const { links } = await ask("tables", { game: run.game, seats });
      remembered.add({ key: links[0].key, game: run.game, time: Date.now(), invited: [] });
      location.hash = `#/table/${links[0].key}`;
    } catch (error) {
      trouble(error.message);
    }
  }

  // ---------------------------------------------------------------- ratings

  async function showRatings() {
    const found = await tell(`ratings?game=${encodeURIComponent(rated)}`);
    if (!found || !find("#lab-ratings")) return;
    rated = found.game;
    const select = find("#rated-game");
    select.replaceChildren(...found.games.map((game) => make("option", { value: game }, gameTitle(game))));
    select.value = found.game;
    find("#rated-row").hidden = !found.games.length;
    find("#rated-problem").textContent = found.problem || (found.games.length ? "" : word("lab-none-ratings"));
    const columns = [
      { name: word("lab-player"), value: (row) => row.player, show: (row) => row.player },
      { name: word("lab-elo"), number: true, value: (row) => row.elo, show: (row) => row.elo.toFixed(0) },
      { name: word("lab-interval"), number: true, value: (row) => row.low,
        show: (row) => (row.low === row.high ? word("lab-fixed") : word("lab-to", { low: row.low.toFixed(0), high: row.high.toFixed(0) })) },
      { name: word("lab-played"), number: true, value: (row) => row.games, show: (row) => number(row.games) },
      { name: word("lab-score"), number: true, value: (row) => row.score,
        show: (row) => percent(row.score) + (row.note ? `, ${word(`lab-${row.note}`)}` : "") },
    ];
    find("#rated").replaceChildren(...(found.players.length ? [sortable(columns, found.players, sorted.ratings, word("lab-ratings"))] : []));
  }

  for (const button of main.querySelectorAll("[data-view]")) {
    button.addEventListener("click", () => {
      view = button.dataset.view;
      choose(null);
      showView();
    });
  }
  find("#lab-views").setAttribute("aria-label", word("lab-views"));
  find("#rated-game").addEventListener("change", (event) => {
    rated = event.target.value;
    showRatings();
  });
  find("#lab-stop").addEventListener("click", () => tell("stop", { run: chosen }));
  find("#lab-resume").addEventListener("click", () => tell("resume", { run: chosen }));
  find("#lab-play").addEventListener("click", () => open(detail.run.player));
  find("#lab-advise").addEventListener("click", () => {
    trained.use(detail.run.game, detail.run.player);
    open("solid");
  });
  find("#lab-new").addEventListener("click", () => setUpTraining(find("#training"), gameTitle, (name) => {
    view = "trainings";
    showView();
    choose(name);
  }));
  find("#lab-back").addEventListener("click", () => {
    const before = chosen;
    choose(null);
    rows.get(before)?.firstChild.focus();
  });
  const resized = () => detail && drawCurves();
  addEventListener("resize", resized);
  find(".lab").classList.toggle("chosen", Boolean(chosen));
  showView();
  return () => {
    removeEventListener("resize", resized);
    live.close();
  };
}

function nameInAddress() {
  try {
    return decodeURIComponent(location.hash.match(/^#\/lab\/run\/(.+)$/)?.[1] || "") || null;
  } catch {
    return null;
  }
}

const label = (name) => (LAB_WORDS[`curve-${name}`] ? word(`curve-${name}`) : name.replaceAll("_", " "));
const percent = (value) => `${(100 * value).toLocaleString(document.documentElement.lang, { maximumFractionDigits: 1 })}%`;
const payoff = (value) => Math.abs(value).toLocaleString(document.documentElement.lang, { minimumFractionDigits: 3, maximumFractionDigits: 3 });
const signed = (value) => (value === null ? "–" : `${value < 0 ? "−" : "+"}${payoff(value)}`);
const span = ({ low, high }) => (low === null || high === null ? "–" : word("lab-to", { low: signed(low), high: signed(high) }));
const when = (seconds) => (seconds ? new Date(1000 * seconds).toLocaleString(document.documentElement.lang, { dateStyle: "medium", timeStyle: "short" }) : "");
