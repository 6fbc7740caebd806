// The frame of the page: which view is shown, the language and the colours.

import { ask } from "./api.js";
import { showChooser } from "./chooser.js";
import { showTable } from "./table.js";
import { language, translate, word } from "./words.js";

const main = document.getElementById("main");
const THEMES = ["auto", "light", "dark"];
let leave = () => {};
let games;
let routed = 0;  // how often a view was asked for: what was loaded for an earlier one isn't shown

function theme() {
  const now = localStorage.getItem("kibitz.theme") || "auto";
  document.documentElement.dataset.theme = now;
  document.getElementById("theme").textContent = word("theme", { theme: word(now) });
  return now;
}

function show(id) {
  main.replaceChildren(document.getElementById(id).content.cloneNode(true));
  translate(document);
}

export function notice(text) {
  document.getElementById("notice").textContent = text;
}

async function route() {
  const now = ++routed;
  leave();
  leave = () => {};
  notice("");
  translate(document);
  theme();
  const key = location.hash.match(/^#\/table\/([\w-]+)/)?.[1];
  const lab = /^#\/lab\b/.test(location.hash);
  document.getElementById("tab-play").toggleAttribute("aria-current", !lab);
  document.getElementById("tab-lab").toggleAttribute("aria-current", lab);
  document.querySelector("nav [aria-current]").setAttribute("aria-current", "page");
  try {
    games ??= await ask("games");
  } catch (error) {
    notice(error.message);
    return;
  }
  if (lab) {
    const { showLab } = await import("./lab.js");
    if (now !== routed) return;
    show("lab");
    leave = showLab(main, games);
    return;
  }
  show(key ? "playing" : "choosing");
  leave = (key ? showTable(main, key, games) : showChooser(main, games)) || leave;
}

document.getElementById("language").value = language.now;
document.getElementById("language").addEventListener("change", (event) => {
  language.now = event.target.value;
  route();
});
document.getElementById("theme").addEventListener("click", () => {
  localStorage.setItem("kibitz.theme", THEMES[(THEMES.indexOf(theme()) + 1) % THEMES.length]);
  theme();
});
addEventListener("hashchange", () => {
  if (!location.hash.startsWith("#main")) route();
});
route();
