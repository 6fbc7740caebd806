// The first view: choose a game, then whom to play against.

import { ask, remembered } from "./api.js";
import { about, title, word } from "./words.js";

const LENGTHS = [24, 8, 4, 0]; // games of a session; 0: single games

export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

export function showChooser(main, games) {
  document.title = "Kibitz";
  const list = main.querySelector(".games");
  for (const game of games) {
    const facts = `${word("seats", { count: game.seats })} · ${word(game.hidden ? "hidden" : "open")}`;
    const button = make("button", { type: "button", "data-game": game.name },
      make("img", { src: `/api/picture?game=${encodeURIComponent(game.name)}`, alt: "", loading: "lazy" }),
      make("strong", {}, title(game)), make("span", {}, description(game)), make("small", {}, facts));
    button.addEventListener("click", () => setUp(main, game));
    list.append(make("li", {}, button));
  }
  showRemembered(main, games);
}

/** What a game is about, without its title. */
function description(game) {
  const rest = about(game).startsWith(`${title(game)}:`) ? about(game).slice(title(game).length + 1).trim() : about(game);
  return rest.charAt(0).toUpperCase() + rest.slice(1);
}

function showRemembered(main, games) {
  const section = main.querySelector("#continue");
  const tables = remembered.all();
  section.hidden = !tables.length;
  section.querySelector("ul").replaceChildren(...tables.map((table) => {
    const game = games.find((each) => each.name === table.game.split(":")[0]) || { name: table.game, about: "" };
    const name = `${title(game)}, ${new Date(table.time).toLocaleString(document.documentElement.lang)}`;
    const remove = make("button", { type: "button", class: "quiet", "aria-label": word("remove", { name }) }, "×");
    remove.addEventListener("click", () => {
      remembered.remove(table.key);
      showRemembered(main, games);
    });
    return make("li", {}, make("a", { href: `#/table/${table.key}` }, name), remove);
  }));
}

function setUp(main, game) {
  const dialog = main.querySelector("#setup"), find = (what) => dialog.querySelector(what);
  find("h2").textContent = title(game);
  find(".about").textContent = description(game);
  find(".error").textContent = "";
  find(".strengths").replaceChildren(...Object.entries(game.strengths).map(([strength, player]) => {
    const input = make("input", { type: "radio", name: "strength", value: strength });
    input.checked = strength === "solid";
    return make("label", {}, input, make("span", {}, make("strong", {}, word(strength)), make("small", {}, player)));
  }));
  const prepare = () => ask("prepare", { game: game.name, strength: find("input[name=strength]:checked").value }).catch(() => {});
  find(".strengths").onchange = prepare;
  prepare();
  const seats = [...Array(game.seats).keys()];
  find("#seat").replaceChildren(...seats.map((seat) => make("option", { value: seat }, String(seat + 1))),
    make("option", { value: "random" }, word("random")));
  find("#length-row").hidden = !game.sessions;
  find("#length").replaceChildren(...LENGTHS.map((games) => make("option", { value: games }, word(games ? "length-session" : "length-single", { games }))));
  find("#parameters").value = "";
  find("#named").value = "";
  find("#known-parameters").textContent = word("known-parameters", { parameters: game.parameters });
  ask("players").then((players) => find("#players").replaceChildren(
    ...players.map((player) => make("option", { value: player.example }, player.about)))).catch(() => {});
  find("#cancel").onclick = () => dialog.close();
  find("form").onsubmit = async (event) => {
    event.preventDefault();
    const chosen = find("#named").value.trim() || find("input[name=strength]:checked").value;
    const place = find("#seat").value === "random" ? Math.floor(Math.random() * game.seats) : Number(find("#seat").value);
    const players = seats.map((seat) => (seat === place ? "human" : chosen));
    if (find("#friend").checked) players[(place + 1) % game.seats] = "human";
    const parameters = find("#parameters").value.trim();
    find("#start").disabled = true;
    try {
      const name = parameters ? `${game.name}:${parameters}` : game.name;
      const { links } = await ask("tables", { game: name, seats: players, games: game.sessions ? Number(find("#length").value) : 0 });
      const own = links.find((link) => link.seat === place + 1);
      const invited = links.filter((link) => link !== own).map((link) => link.key);
      remembered.add({ key: own.key, game: name, time: Date.now(), invited });
      dialog.close();
      location.hash = `#/table/${own.key}`;
    } catch (error) {
      find(".error").textContent = error.message;
    } finally {
      find("#start").disabled = false;
    }
  };
  dialog.showModal();
}
