// Movement: a piece slides to where it goes, a card comes from its seat. Nothing moves for those who want less of it.

const TIMING = { duration: 350, easing: "ease-out" };

/** The open cards on the table before a picture is replaced. */
export function cardsOnTable(picture) {
  return new Set([...picture.querySelectorAll("svg svg:not([data-action])")].map(place));
}

const place = (card) => `${card.querySelector("title")?.textContent} ${card.getAttribute("x")} ${card.getAttribute("y")}`;

/** Animate what is new in a picture. */
export function animate(picture, before) {
  if (matchMedia("(prefers-reduced-motion: reduce)").matches) return;
  slide(picture);
  const whole = picture.querySelector("svg")?.getBBox();
  for (const card of picture.querySelectorAll("svg svg:not([data-action])")) {
    const width = Number(card.getAttribute("width")), height = Number(card.getAttribute("height"));
    if (before.has(place(card)) || width < 40 || !card.querySelector("g")) continue; // small: the last trick; no face
    const across = Number(card.getAttribute("x")) + width / 2 - whole.width / 2;
    const down = Number(card.getAttribute("y")) + height / 2 - whole.height / 2;
    card.animate([{ opacity: 0, transform: `translate(${across}px, ${down}px)` }, { opacity: 1, transform: "none" }], TIMING);
  }
}

function slide(picture) {
  const piece = picture.querySelector("circle.last");
  const from = [...picture.querySelectorAll("path.last")].find((cell) => !picture.querySelector(`[data-piece="${cell.dataset.cell}"]`));
  if (!piece || !from) return;
  const box = from.getBBox();
  const across = box.x + box.width / 2 - piece.getAttribute("cx"), down = box.y + box.height / 2 - piece.getAttribute("cy");
  piece.style.animation = "none";
  piece.animate([{ transform: `translate(${across}px, ${down}px)` }, { transform: "none" }], TIMING);
}
