// The keyboard's focus stays near where it was when the position is redrawn.

function middle(element) {
  const box = element.getBoundingClientRect();
  return [box.x + scrollX + box.width / 2, box.y + scrollY + box.height / 2];
}

/**
 * @param parts elements whose content is replaced; the first has the focus while there is nothing to choose.
 */
export function focusKeeper(parts) {
  let place = null;
  parts[0].tabIndex = -1;
  return {
    /** Before the content is replaced: note where the focus is, if it is in one of the parts. */
    remember() {
      const now = document.activeElement;
      if (!parts.some((part) => part.contains(now))) place = null;
      else if (now !== parts[0]) place = middle(now);
    },
    /** Afterwards: focus what can be chosen nearest to that. */
    restore() {
      if (!place) return;
      const far = (element) => Math.hypot(...middle(element).map((at, i) => at - place[i]));
      const choices = parts.flatMap((part) => [...part.querySelectorAll("[tabindex='0'], button")]);
      const nearest = choices.reduce((one, two) => (!one || far(two) < far(one) ? two : one), null);
      (nearest || parts[0]).focus({ preventScroll: true });
    },
  };
}
