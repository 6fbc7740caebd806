// Study: walk to any position by moves and deals, and compare the advice of two players on it.

import { ask, follow } from "./api.js";
import { showAdvice } from "./advice.js";
import { clickable, mark } from "./board.js";
import { make } from "./chooser.js";
import { compare } from "./study-compare.js";
import { language, number, offered, title, titleOf, word } from "./words.js";

const SIDES = ["a", "b"], LETTERS = ["A", "B"];
const NAMED = ":named";
const PAUSE = 300; // milliseconds at a position before the advisers begin: one may be walking on

/** The address of a study: game, moves, seat (0: the seat to move) and advisers. */
export function studyAddress({ game, moves = "", seat = 0, a, b }) {
  const values = Object.entries({ moves, seat: seat || "", a, b }).filter(([, value]) => value);
  const query = new URLSearchParams(values).toString();
  return `#/study/${encodeURIComponent(game)}${query ? `?${query}` : ""}`;
}

export function showStudy(main, path, games) {
  const find = (id) => main.querySelector(`#${id}`);
  const [name, query] = path.split("?"), given = new URLSearchParams(query);
  const wanted = {
    game: decodeURIComponent(name) || "leduc", moves: given.get("moves") || "", seat: Number(given.get("seat")) || 0,
    a: given.get("a") || localStorage.getItem("kibitz.study.a") || "solid",
    b: given.get("b") ?? localStorage.getItem("kibitz.study.b") ?? "quick",
  };
  let position = null, advice = [null, null], number = 0, waiting = 0, gone = false, asked = 0;

  const live = follow(() => `study/live?language=${language.now}`, hear, (lost, reason) => {
    document.getElementById("notice").textContent = lost ? reason || word("lost") : "";
  });

  // ---------------------------------------------------------------- the position

  /** Go to a position. What is refused leaves everything as it is, and says why. */
  async function go(changes, { fill = "", keep = true } = {}) {
    const mine = ++asked, next = { ...wanted, ...changes };
    let found;
    try {
      found = await ask(`study?language=${language.now}`, { game: next.game, moves: next.moves, seat: next.seat, fill });
    } catch (error) {
      if (!gone && mine === asked) find("trouble").textContent = error.message;
      return false;
    }
    if (gone || mine !== asked) return false;
    position = found;
    Object.assign(wanted, next, { game: found.game, moves: found.moves, seat: found.hidden ? found.seat : 0 });
    const address = studyAddress(wanted);
    if (location.hash !== address) history[keep ? "pushState" : "replaceState"](null, "", address);
    const focused = ["moves", "study-steps", "picture"].find((id) => find(id).contains(document.activeElement));
    show();
    if (focused) refocus(focused);
    askAdvisers();
    return true;
  }

  /** What was clicked is gone: the keyboard goes on from the same place. */
  function refocus(id) {
    const place = find(id === "study-steps" ? "study-steps" : "moves");
    const next = id === "picture" ? find("picture").querySelector("[tabindex]") : place.querySelector("[aria-current], [data-move]");
    (next || find("moves").querySelector("button") || find("study-back")).focus({ preventScroll: true });
  }

  const words = () => position.steps.map((step) => step.word);
  const play = (option) => go({ moves: [...words(), option.word].join(" ") }, { fill: "forced" });

  function show() {
    const game = offered(position.game, games);
    find("title").textContent = titleOf(position.game, games);
    document.title = `${word("study")}: ${find("title").textContent} · Kibitz`;
    Object.assign(main.querySelector(".study").dataset, { turn: position.turn, moves: position.moves });
    find("study-game").value = game?.name || "";
    const parameters = game && position.game !== game.name ? position.game.slice(game.name.length + 1) : "";
    if (document.activeElement !== find("study-parameters")) find("study-parameters").value = parameters;
    find("study-parameters").placeholder = game?.parameters || "";
    find("study-seat-row").hidden = !position.hidden;
    find("study-seat").replaceChildren(...[...Array(position.seats).keys()].map((seat) =>
      make("option", { value: seat + 1 }, word("seat", { seat: seat + 1 }))));
    find("study-seat").value = position.seat;
    find("trouble").textContent = "";
    find("status").textContent = status();
    find("picture").innerHTML = position.picture;
    main.querySelector(".study").classList.toggle("wide", find("picture").firstElementChild?.viewBox?.baseVal.width > 600);
    find("text").textContent = position.text;
    find("study-text").value = position.moves;
    showSteps();
    const own = !position.hidden || position.turn === position.seat; // else the cards of the picture aren't the mover's
    const left = clickable(find("picture"), own ? position.options : [], play, (several) => {
      find("status").textContent = word("which-move");
      showOptions(several);
      find("moves").querySelector("button").focus();
    });
    showOptions(own ? left : position.options);
    find("study-back").disabled = find("study-again").disabled = !position.steps.length;
    find("study-deal").hidden = position.turn !== 0;
    advice = [null, null];
    for (const side of SIDES) fillAdvisers(side, game);
    drawAdvice();
  }

  function status() {
    if (position.turn > 0) return word("study-seat-next", { seat: position.turn });
    if (position.turn === 0) return word("study-chance-next");
    if (!position.payoffs) return word("study-over-unknown");
    const payoffs = position.payoffs.map((payoff, seat) => `${word("seat", { seat: seat + 1 })} ${signed(payoff)}`);
    return word("study-over", { payoffs: payoffs.join(", ") });
  }

  /** The way so far: a click on a step returns to the position after it. Unknown deals in a row are one step. */
  function showSteps() {
    const steps = [{ name: word("study-start"), who: "", end: 0 }];
    position.steps.forEach((step, i) => {
      const who = step.seat ? word("seat", { seat: step.seat }) : word("study-by-chance"), last = steps.at(-1);
      if (step.word === "?" && last.word === "?" && last.who === who) {
        last.count += 1;
        last.name = `? × ${last.count}`;
        last.end = i + 1;
      } else if (!step.told) last.end = i + 1;
      else steps.push({ ...step, who, end: i + 1, count: 1 });
    });
    find("study-steps").replaceChildren(...steps.map((step) => {
      const here = step.end === position.steps.length;
      const button = make("button", { type: "button", "data-end": step.end, title: word("study-jump", { name: step.name }) });
      if (step.who) button.append(make("small", {}, step.who), " ");
      button.append(make("strong", {}, step.name));
      if (here) button.setAttribute("aria-current", "step");
      button.addEventListener("click", () => here || go({ moves: words().slice(0, step.end).join(" ") }));
      return make("li", {}, button);
    }));
    const list = find("study-steps");
    list.scrollTop = list.scrollHeight;
  }

  function showOptions(options) {
    const group = find("moves");
    group.setAttribute("aria-label", word("study-options"));
    const buttons = options.map((option) => {
      const button = make("button", { type: "button", "data-move": option.action }, option.name);
      button.addEventListener("click", () => play(option));
      return button;
    });
    if (position.unknown) {
      buttons.push(unknown(word("study-unknown"), () => play({ word: "?" })));
      if (position.unknown > 1) {
        buttons.push(unknown(word("study-unknown-rest", { count: position.unknown }), () => go({}, { fill: "unknown" })));
      }
    }
    group.replaceChildren(...buttons);
    group.classList.toggle("many", buttons.length > 20);
  }

  function unknown(text, act) {
    const button = make("button", { type: "button", class: "unknown" }, make("strong", {}, "?"), ` ${text}`);
    button.addEventListener("click", act);
    return button;
  }

  // ---------------------------------------------------------------- the advisers

  function fillAdvisers(side, game) {
    const select = find(`study-${side}`), now = wanted[side];
    const strengths = Object.entries(game?.strengths || {});
    const options = strengths.map(([strength, player]) => make("option", { value: strength }, `${word(strength)} (${player})`));
    if (side === "b") options.push(make("option", { value: "none" }, word("study-none")));
    options.push(make("option", { value: NAMED }, word("study-named")));
    select.replaceChildren(...options);
    const named = now !== "none" && !strengths.some(([strength]) => strength === now);
    select.value = named ? NAMED : now;
    select.title = select.selectedOptions[0]?.textContent || "";
    const input = find(`study-name-${side}`);
    input.hidden = !named;
    if (named && document.activeElement !== input) input.value = now;
  }

  function chose(side, player) {
    wanted[side] = player;
    localStorage.setItem(`kibitz.study.${side}`, player);
    history.replaceState(null, "", studyAddress(wanted));
    advice = [null, null];
    drawAdvice();
    askAdvisers();
  }

  const advised = () => position && position.turn > 0 && (!position.hidden || position.turn === position.seat);
  const players = () => SIDES.map((side) => wanted[side]).filter((player) => player && player !== "none");

  function askAdvisers() {
    clearTimeout(waiting);
    number += 1;
    if (!advised()) return live.say({ number, game: wanted.game, moves: "", seat: 1, players: [] }); // stops them
    waiting = setTimeout(() => live.say({
      number, game: wanted.game, moves: position.moves, seat: position.turn, players: players(),
    }), PAUSE);
  }

  function hear(message) {
    if (gone || !position) return;
    const place = find(`study-advice-${SIDES[message.side]}`);
    if (message.kind === "progress" && !advice[message.side]) {
      place.replaceChildren(make("p", { class: "note" }, word("compiling", { game: titleOf(wanted.game, games), part: message.part })));
    }
    if (message.kind === "advice" && message.number === number) {
      advice[message.side] = message;
      drawAdvice();
    }
  }

  function drawAdvice() {
    const two = wanted.b !== "none", on = advised();
    main.querySelector(".advisers").dataset.advisers = two ? 2 : 1;
    SIDES.forEach((side, i) => {
      const place = find(`study-advice-${side}`);
      if (i && !two) return place.replaceChildren();
      if (!on) return place.replaceChildren(...noAdvice());
      showAdvice(place, true, { phase: "yours", moves: position.options }, advice[i], play);
    });
    const first = on && advice.find((each) => each && !each.trouble);
    mark(find("picture"), first ? first.moves : [], position.options);
    find("study-compared").hidden = !two || !on || !advice.every((each) => each && !each.trouble);
    if (!find("study-compared").hidden) compare(find("study-comparison"), advice);
  }

  function noAdvice(side) {
    const seat = position.seat, turn = position.turn;
    if (turn <= 0) return [make("p", { class: "note" }, word("study-no-seat"))];
    if (side) return [make("p", { class: "note" }, word("study-other-seat", { seat, turn }))];
    const look = make("button", { type: "button", class: "look" }, word("study-look", { seat: turn }));
    look.addEventListener("click", () => go({ seat: turn }));
    return [make("p", { class: "note" }, word("study-other-seat", { seat, turn })), look];
  }

  // ---------------------------------------------------------------- commands

  find("study-game").replaceChildren(...games.map((game) => make("option", { value: game.name }, title(game))));
  const chosen = () => {
    const parameters = find("study-parameters").value.trim(), game = find("study-game").value;
    return parameters ? `${game}:${parameters}` : game;
  };
  find("study-game").addEventListener("change", () => {
    find("study-parameters").value = "";
    go({ game: chosen(), moves: "", seat: 1 });
  });
  find("study-parameters").addEventListener("change", () => go({ game: chosen(), moves: "", seat: 1 }));
  find("study-seat").addEventListener("change", async () => {
    if (!(await go({ seat: Number(find("study-seat").value) }))) find("study-seat").value = position.seat;
  });
  find("study-back").addEventListener("click", () => go({ moves: words().slice(0, -1).join(" ") }));
  find("study-again").addEventListener("click", () => go({ moves: "" }));
  find("study-deal").addEventListener("click", () => go({}, { fill: "deal" }));
  find("study-form").addEventListener("submit", (event) => {
    event.preventDefault();
    go({ moves: find("study-text").value, seat: 0 });
  });
  find("study-text").addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.shiftKey) {
      event.preventDefault();
      find("study-form").requestSubmit();
    }
  });
  find("study-copy").addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(position.moves);
    } catch { // not allowed here: the person can press Ctrl-C
      find("study-text").select();
      return;
    }
    find("study-copy").textContent = word("study-copied");
    setTimeout(() => { if (!gone) find("study-copy").textContent = word("study-copy"); }, 1500);
  });
  SIDES.forEach((side, i) => {
    const letter = LETTERS[i], input = find(`study-name-${side}`);
    find(`study-title-${side}`).textContent = word("study-adviser", { letter });
    find(`study-${side}`).setAttribute("aria-label", word("study-choose", { letter }));
    input.setAttribute("aria-label", word("study-name", { letter }));
    find(`study-${side}`).addEventListener("change", (event) => {
      if (event.target.value !== NAMED) {
        input.hidden = true;
        return chose(side, event.target.value);
      }
      input.hidden = false;
      input.value = "";
      input.focus();
    });
    input.addEventListener("change", () => input.value.trim() && chose(side, input.value.trim()));
  });
  ask("players").then((all) => find("study-players")?.replaceChildren(
    ...all.map((player) => make("option", { value: player.example }, player.about)))).catch(() => {});

  /** An address that can't be shown leads to the beginning, with the reason. */
  async function begin() {
    if ((await go({}, { keep: false })) || gone) return;
    const reason = find("trouble").textContent;
    if (await go({ moves: "", seat: 1 }, { keep: false }) || await go({ game: "leduc", moves: "", seat: 1 }, { keep: false })) {
      find("trouble").textContent = reason;
    }
  }

  const first = offered(wanted.game, games);
  if (!wanted.moves && !wanted.seat && first?.hidden) wanted.seat = 1;
  begin();
  return () => {
    gone = true;
    clearTimeout(waiting);
    live.close();
  };
}

const signed = (value) => `${value < 0 ? "−" : "+"}${number(Math.abs(value))}`;
