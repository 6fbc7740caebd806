// The patterns behind a move of a linear policy, drawn below its row of advice when it is unfolded.

import { make } from "./chooser.js";
import { signed, word } from "./words.js";

const SCALE = 0.55;

export function showPatterns(row, move, found) {
  let button = row.querySelector(".why"), box = row.querySelector(".patterns");
  if (!found) {
    button?.remove();
    box?.remove();
    return;
  }
  if (!button) {
    box = make("div", { class: "patterns", hidden: "" });
    button = make("button", { type: "button", class: "why", "aria-expanded": "false", "data-why": move.action });
    button.addEventListener("click", () => {
      box.hidden = !box.hidden;
      button.setAttribute("aria-expanded", String(!box.hidden));
    });
    row.append(button, box);
  }
  button.setAttribute("aria-label", word("why", { move: move.name }));
  button.title = word("why", { move: move.name });
  const drawn = JSON.stringify(found.patterns);
  if (box.drawn === drawn) return;
  box.drawn = drawn;
  box.replaceChildren(...found.patterns.map(figure));
  if (!found.patterns.length) box.append(make("p", { class: "note" }, word("no-patterns")));
}

function figure(pattern) {
  const picture = make("div");
  picture.innerHTML = pattern.svg;
  for (const side of ["width", "height"]) picture.firstChild.setAttribute(side, SCALE * picture.firstChild.getAttribute(side));
  const caption = make("figcaption", { class: pattern.weight < 0 ? "against" : "for" }, word("weight", { weight: signed(pattern.weight) }));
  return make("figure", { title: pattern.words }, picture, caption);
}
