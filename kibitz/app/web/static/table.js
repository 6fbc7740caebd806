// The table: the position to click on, what happened, commands and the kibitzer.

import { ask, command, connect, remembered, trained } from "./api.js";
import { showAdvice } from "./advice.js";
import { showBeliefs } from "./beliefs.js";
import { clickable, mark } from "./board.js";
import { make } from "./chooser.js";
import { focusKeeper } from "./focus.js";
import { spreadHand } from "./hand.js";
import { keepFinished } from "./library.js";
import { animate, cardsOnTable } from "./motion.js";
import { showSession } from "./session.js";
import { studyAddress } from "./study.js";
import { offered, titleOf, word } from "./words.js";

export function showTable(main, key, games) {
  const find = (id) => main.querySelector(`#${id}`);
  const focus = focusKeeper([find("picture"), find("moves")]);
  let table = null, advice = null, insight = null, answered = null, announced = false;

  const live = connect(key, hear, (lost, reason) => {
    document.getElementById("notice").textContent = lost ? reason || word("lost") : "";
  });

  function hear(message) {
    if (message.kind === "table") show(message);
    if (message.kind === "progress") showProgress(message);
    if (message.kind === "advice") {
      advice = message;
      drawAdvice();
    }
    if (message.kind === "insight") {
      insight = message;
      if (message.beliefs) showBeliefs(find("beliefs"), message.beliefs, table.game);
      drawAdvice();
    }
  }

  function showProgress({ part, kibitzer }) {
    if (!part) {
      find("status").textContent = status();
      return drawAdvice();
    }
    const place = kibitzer ? find("advice").querySelector(".thinking") || find("advice").lastElementChild : find("status");
    if (place) place.textContent = kibitzer ? compiling(part) : busy(part);
  }

  /** Send a command, once per position. What it leads to is heard over the live connection. */
  async function send(what, body, more) {
    if (answered === table) return;
    answered = table;
    try {
      await command(key, what, body, more);
    } catch (error) {
      answered = null;
      find("trouble").textContent = error.message;
    }
  }

  const play = (move) => send("moves", { action: move.action, turn: table.turn, planned: move.planned });

  function show(message) {
    if (!find("picture")) return;
    const moved = !table || table.picture !== message.picture, before = table;
    table = message;
    const game = offered(table.game, games);
    Object.assign(main.querySelector(".table").dataset, { phase: table.phase, turn: table.turn });
    find("title").textContent = titleOf(table.game, games);
    document.title = `${find("title").textContent} · Kibitz`;
    find("seats").replaceChildren(...table.seats.map(seatItem));
    find("status").textContent = status();
    const cards = cardsOnTable(find("picture"));
    focus.remember();
    if (moved) {
      find("picture").innerHTML = table.picture;
      spreadHand(find("picture"));
    }
    find("picture").classList.toggle("still", !before);
    if (moved && before) animate(find("picture"), cards);
    const left = clickable(find("picture"), table.moves, play, choose);
    showMoves(left, word("moves"));
    focus.restore();
    find("trouble").textContent = table.trouble;
    find("result").hidden = !table.result;
    find("result").querySelector("strong").textContent = table.result?.text || "";
    find("result").dataset.sign = Math.sign(table.result?.payoff || 0);
    find("undo").disabled = !table.can_undo;
    find("resign").hidden = !table.can_resign;
    find("deal").hidden = table.can_resign || Boolean(table.result) || Boolean(table.session && !table.trouble);
    find("rematch").textContent = word(!table.session ? "rematch" : table.session.over ? "new-session" : "next-game");
    find("study-this").hidden = !table.result && game?.hidden !== false;
    find("score").textContent = table.score;
    showSession(find("session-note"), find("session"), table);
    find("text").textContent = table.text;
    showEvents();
    if (advice && (advice.turn !== table.turn || advice.number !== table.number || table.phase !== "yours")) advice = null;
    if (insight?.number !== table.number || table.phase === "over") forgetInsight();
    fillAdvisers(game);
    drawAdvice();
    if (table.result && !announced) find("rematch").focus({ preventScroll: true });
    if (table.result && !announced) offerReview(table.number);
    if (!table.result) find("review-this").hidden = true;
    announced = Boolean(table.result);
  }

  /** Keep the finished game in this browser, and offer to review it. */
  async function offerReview(number) {
    const id = await keepFinished(key, number);
    const button = find("review-this");
    if (!id || !button || table.number !== number) return;
    button.hidden = false;
    button.onclick = () => { location.hash = `#/review/${id}`; };
  }

  function status() {
    if (table.phase === "over") return word("over");
    if (table.phase === "yours") return word("your-turn");
    const mover = table.seats.find((seat) => seat.to_move);
    return mover ? word("thinking", { seat: mover.seat }) : word("waiting");
  }

  const compiling = (part) => word("compiling", { game: titleOf(table.game, games), part });

  /** A game is compiled, perhaps while the person thinks. */
  function busy(part) {
    return table.phase === "yours" ? `${status()} (${compiling(part)})` : compiling(part);
  }

  function seatItem(seat) {
    const who = seat.you ? word("you") : seat.player === "human" ? word("human")
      : seat.strength ? word(seat.strength) : seat.player;
    const item = make("li", {}, make("strong", {}, word("seat", { seat: seat.seat })), ` ${who}`);
    if (!seat.you && seat.strength) item.append(make("small", {}, ` ${seat.player}`));
    if (seat.to_move) {
      item.classList.add("to-move");
      item.append(make("span", { class: "hidden" }, ` (${word("to-move")})`));
    }
    return item;
  }

  /** Buttons for moves. In games of cards all have one; on a board those that have no cell of their own. */
  function showMoves(moves, label) {
    const group = find("moves");
    group.setAttribute("aria-label", label);
    group.replaceChildren(...moves.map((move) => {
      const button = make("button", { type: "button", "data-move": move.action }, move.name);
      if (move.planned) button.classList.add("planned");
      button.addEventListener("click", () => play(move));
      return button;
    }));
  }

  /** Several moves by one click: ask which. */
  function choose(moves) {
    find("status").textContent = word("which-move");
    showMoves(moves, word("which-move"));
    find("moves").querySelector("button").focus();
  }

  function showEvents() {
    const list = find("events");
    const same = list.children.length <= table.events.length &&
      [...list.children].every((item, i) => item.textContent === table.events[i]);
    if (!same) list.replaceChildren();
    list.append(...table.events.slice(list.children.length).map((event) => make("li", {}, event)));
    list.parentElement.scrollTop = list.scrollHeight;
  }

  // ---------------------------------------------------------------- the kibitzer

  function fillAdvisers(game) {
    const select = find("adviser");
    if (select.options.length || !game) return;
    for (const [strength, player] of Object.entries(game.strengths)) {
      select.append(make("option", { value: strength }, `${word(strength)} (${player})`));
    }
    const own = trained.of(table.game);
    if (own) select.append(make("option", { value: own }, own));
    select.value = localStorage.getItem("kibitz.adviser") || "solid";
    if (!select.value) select.value = "solid";
    find("kibitz").checked = localStorage.getItem("kibitz.kibitzer") === "on";
    if (find("kibitz").checked) tellKibitzer();
  }

  function forgetInsight() {
    insight = null;
    showBeliefs(find("beliefs"), null);
  }

  function tellKibitzer() {
    advice = null;
    forgetInsight();
    live.say({ on: find("kibitz").checked, player: find("adviser").value });
    drawAdvice();
  }

  function drawAdvice() {
    const on = find("kibitz").checked;
    find("adviser-row").hidden = !on;
    const now = insight && insight.turn === table.turn && table.phase === "yours";
    showAdvice(find("advice"), on, table, advice, play, now ? insight.patterns : []);
    find("beliefs").classList.toggle("stale", !now);
    mark(find("picture"), on && advice ? advice.moves : [], table?.moves || []);
  }

  find("kibitz").addEventListener("change", () => {
    localStorage.setItem("kibitz.kibitzer", find("kibitz").checked ? "on" : "off");
    tellKibitzer();
  });
  find("adviser").addEventListener("change", () => {
    localStorage.setItem("kibitz.adviser", find("adviser").value);
    tellKibitzer();
  });
  for (const name of ["undo", "resign"]) find(name).addEventListener("click", () => send(name));
  for (const name of ["rematch", "deal"]) {
    find(name).addEventListener("click", () => send("rematch", {}, `&game=${table.number}`)); // two people begin one game
  }
  find("study-this").addEventListener("click", async () => {
    try {
      location.hash = studyAddress(await ask(`tables/${encodeURIComponent(key)}/study`));
    } catch (error) {
      find("trouble").textContent = error.message;
    }
  });

  const invited = remembered.all().find((each) => each.key === key)?.invited || [];
  if (invited.length) {
    find("invite").hidden = false;
    find("invite").append(word("invite"), ...invited.map((each) => make("code", {}, ` ${location.origin}/#/table/${each}`)));
  }
  return () => live.close();
}
