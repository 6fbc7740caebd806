// A hand of many cards on a narrow screen: taken out of the picture and spread in rows, large enough for a finger.

const NARROW = "(max-width: 30rem)", MANY = 6; // cards, of which fewer are large enough where they are
const GAP = 20; // from the top of the hand to the line of text that was below it

export function spreadHand(picture) {
  const table = picture.querySelector("svg"), cards = [...picture.querySelectorAll("svg > svg[data-action]")];
  const wanted = cards.length >= MANY && matchMedia(NARROW).matches;
  picture.classList.toggle("spread", wanted);
  if (!wanted) return;
  const top = Math.min(...cards.map((card) => card.y.baseVal.value));
  const heights = (text) => text.y.baseVal.getItem(0).value;
  const lowest = [...table.querySelectorAll(":scope > text")].reduce((one, two) => (heights(two) > heights(one) ? two : one));
  const { width, height } = table.viewBox.baseVal, left = height - (heights(lowest) - top - GAP);
  lowest.setAttribute("y", top + GAP);
  table.setAttribute("viewBox", `0 0 ${width} ${left}`);
  table.setAttribute("height", left);
  const hand = document.createElement("div");
  hand.className = "hand";
  hand.append(...cards);
  picture.append(hand);
}
