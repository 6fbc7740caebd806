// Games that can be reviewed, kept in this browser: finished at its tables, or opened from a file or a run folder.

import { ask } from "./api.js";

const NAME = "kibitz.games", MOST = 40;

export const library = {
  /** All games, the newest first: { id, record, seat (from 1), time }. */
  all() {
    try {
      return JSON.parse(localStorage.getItem(NAME)) || [];
    } catch {
      return [];
    }
  },
  find(id) {
    return this.all().find((each) => each.id === id);
  },
  /** Keep a game; the oldest are dropped where there are too many or the browser has no room. */
  add(game) {
    let games = [game, ...this.all().filter((each) => each.id !== game.id)].slice(0, MOST);
    while (games.length) {
      try {
        localStorage.setItem(NAME, JSON.stringify(games));
        return;
      } catch {
        games = games.slice(0, -1);
      }
    }
  },
  remove(id) {
    localStorage.setItem(NAME, JSON.stringify(this.all().filter((each) => each.id !== id)));
  },
};

/** Keep the finished game of a table; return its id, or nothing where it has no moves to review. */
export async function keepFinished(key, number) {
  const id = `${key}-${number}`;
  if (library.find(id)) return id;
  try {
    const { record, seat } = await ask(`reviews/tables/${encodeURIComponent(key)}`);
    if (!record.actions.length || record.number + 1 !== number) return "";
    library.add({ id, record, seat, time: Date.now() });
    return id;
  } catch {
    return "";
  }
}

const reviews = new Map(); // by id of the game; also in the session's storage, for a reload

export const kept = {
  get(id) {
    if (!reviews.has(id)) {
      try {
        const found = JSON.parse(sessionStorage.getItem(`kibitz.review.${id}`));
        if (found) reviews.set(id, found);
      } catch { /* it can be made again */ }
    }
    return reviews.get(id);
  },
  set(id, review) {
    reviews.set(id, review);
    try {
      sessionStorage.setItem(`kibitz.review.${id}`, JSON.stringify(review));
    } catch { /* too large: kept until a reload */ }
  },
};
