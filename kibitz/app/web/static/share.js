// Games and reviews as files: saved, and read again.

const FORMAT = "kibitz review 1", MARKS = ["", "inaccuracy", "mistake", "blunder"];
const BEGIN = '<script type="application/json" id="kibitz-review">';
const STYLE = `body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#23282c;background:#fffdf8}
table{border-collapse:collapse}td,th{padding:.2rem .7rem;text-align:left;border-bottom:1px solid #ddd6c7}
.value-graph{width:100%;height:auto}.grid{stroke:#ddd6c7}.zero{stroke:#8a8a80}.tick,.axis,.glyph{font:12px sans-serif;fill:#5d645f}
.area{fill:#2f5d5022}.curve{fill:none;stroke:#2f5d50;stroke-width:2}.point{fill:#2f5d50}.now{display:none}
.inaccuracy{fill:#a97908}.mistake{fill:#c2560c}.blunder{fill:#a03325}td.inaccuracy,td.mistake,td.blunder{font-weight:600}
figure{margin:1.5rem 0}figure>svg{width:min(100%,22rem);height:auto}figure table svg{width:46px}`;

export function save(name, text, type) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

export const asGame = (record) => `${JSON.stringify(record)}\n`;
export const asReview = (record, review) => JSON.stringify({ format: FORMAT, record, review });

const escape = (text) => String(text).replace(/[&<>"]/g, (letter) => `&#${letter.charCodeAt(0)};`);

/**
 * A page that shows a review without any server, and holds it for being opened here again.
 * @param parts { language, title, players, summary, graph (an SVG element), head, rows (cells and a mark), positions (caption and picture) }
 */
export function asPage(record, review, parts) {
  const row = ({ cells, mark }) => `<tr>${cells.map((cell) => `<td class="${mark}">${escape(cell)}</td>`).join("")}</tr>`;
  const positions = parts.positions.map(({ caption, picture }) => `<figure>${picture}<figcaption>${escape(caption)}</figcaption></figure>`);
  const data = asReview(record, review).replaceAll("<", "\\u003c");
  return `<!doctype html>
<html lang="${parts.language}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escape(parts.title)}</title><style>${STYLE}</style></head><body>
<h1>${escape(parts.title)}</h1>
<p>${parts.players.map(escape).join("<br>")}</p>
${parts.graph ? new XMLSerializer().serializeToString(parts.graph) : ""}
<ul>${parts.summary.map((line) => `<li>${escape(line)}</li>`).join("")}</ul>
<table><thead><tr>${parts.head.map((cell) => `<th>${escape(cell)}</th>`).join("")}</tr></thead><tbody>${parts.rows.map(row).join("\n")}</tbody></table>
${positions.join("\n")}
${BEGIN}${data}</script>
</body></html>
`;
}

/** The record and the review in a saved file; null where there is none, or a value is of the wrong kind. */
export function savedReview(text) {
  try {
    const start = text.indexOf(BEGIN);
    const found = JSON.parse(start < 0 ? text : text.slice(start + BEGIN.length, text.indexOf("</script>", start)));
    return found.format === FORMAT && sound(found) ? { record: found.record, review: found.review } : null;
  } catch {
    return null;
  }
}

function sound({ record, review }) {
  const number = Number.isFinite, whole = Number.isInteger, optional = (value) => value === null || number(value);
  const text = (value) => typeof value === "string" && value.length < 1000;
  const advised = (move) => whole(move.action) && text(move.name) && number(move.policy) && optional(move.value)
    && optional(move.error) && number(move.visits) && typeof move.good === "boolean";
  const turns = record.actions.length, seats = record.players.length;
  const reviewed = (move) => whole(move.turn) && move.turn >= 1 && move.turn <= turns && whole(move.seat) && move.seat >= 1
    && move.seat <= seats && move.action === record.actions[move.turn - 1] && whole(move.best) && optional(move.value)
    && optional(move.best_value) && optional(move.cost) && MARKS.includes(move.mark) && move.moves.every(advised) && move.notes.every(text);
  return text(review.player) && whole(review.total) && whole(review.done) && typeof review.zero_sum === "boolean"
    && typeof review.complete === "boolean" && review.moves.length <= turns && review.moves.every(reviewed);
}
