// Tables whose columns sort when their heads are clicked.

import { make } from "./chooser.js";
import { word } from "./words.js";

/**
 * @param columns [{ name, value: (row) => number or text, show: (row) => text, number: whether it is right-aligned }]
 * @param sorted { column, descending } is kept by the caller, so that a new table is sorted like the old one.
 */
export function sortable(columns, rows, sorted, caption) {
  const table = make("table", { class: "sortable" }, make("caption", { class: "hidden" }, caption));
  function fill(focus) {
    const { value } = columns[sorted.column];
    const order = [...rows].sort((one, two) => {
      const [a, b] = [value(one), value(two)];
      const by = typeof a === "string" ? a.localeCompare(b) : (a ?? -Infinity) - (b ?? -Infinity);
      return sorted.descending ? -by : by;
    });
    const heads = columns.map((column, i) => {
      const button = make("button", { type: "button", title: word("lab-sort", { column: column.name }) }, column.name);
      button.addEventListener("click", () => {
        sorted.descending = sorted.column === i ? !sorted.descending : Boolean(column.number);
        sorted.column = i;
        fill(true);
      });
      const head = make("th", { scope: "col" }, button);
      if (column.number) head.classList.add("number");
      if (sorted.column === i) head.setAttribute("aria-sort", sorted.descending ? "descending" : "ascending");
      return head;
    });
    const body = order.map((row) => make("tr", {}, ...columns.map((column, i) =>
      make(i ? "td" : "th", { ...(i ? {} : { scope: "row" }), ...(column.number ? { class: "number" } : {}) }, column.show(row)))));
    table.querySelectorAll("thead, tbody").forEach((part) => part.remove());
    table.append(make("thead", {}, make("tr", {}, ...heads)), make("tbody", {}, ...body));
    if (focus) heads[sorted.column].firstChild.focus();
  }
  fill(false);
  return make("div", { class: "scroll", role: "region", "aria-label": caption, tabindex: "0" }, table);
}
