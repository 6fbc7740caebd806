// The frame of the page: which view is shown, the language and the colours.

import { ask } from "./api.js";
import { showChooser } from "./chooser.js";
import { showStudy } from "./study.js";
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
  const review = location.hash.match(/^#\/review(?:\/([\w-]+))?/);
  const study = location.hash.match(/^#\/study(?:\/(.*))?$/);
  const lab = /^#\/lab\b/.test(location.hash);
  for (const tab of document.querySelectorAll("nav a")) tab.removeAttribute("aria-current");
  const tab = review ? "review" : study ? "study" : lab ? "lab" : "play";
  document.getElementById(`tab-${tab}`).setAttribute("aria-current", "page");
  try {
    games ??= await ask("games");
  } catch (error) {
    notice(error.message);
    return;
  }
  if (now !== routed) return;
  if (review) {
    const { showReview } = await import("./review.js");
    if (now !== routed) return;
    show(review[1] ? "reviewing" : "review-list");
    leave = showReview(main, review[1], games) || leave;
    return;
  }
  if (study) {
    show("studying");
    leave = showStudy(main, study[1] || "", games);
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
