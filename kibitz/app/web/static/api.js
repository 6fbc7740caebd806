// Requests to the server, and the live connection to a table.

import { language, word } from "./words.js";

export async function ask(path, body) {
  const options = body === undefined ? {} : {
    method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body),
  };
  return content(await sent(`/api/${path}`, options));
}

/** The response to a request, or an error in plain words where there is none. */
export async function sent(path, options) {
  try {
    return await fetch(path, options);
  } catch (error) {
    throw error.name === "AbortError" ? error : new Error(word("unreachable"));
  }
}

/** The JSON of a response, or an error in plain words: what the server says is wrong, or that it says nothing. */
export async function content(response) {
  const said = /^application\/json\b/.test(response.headers.get("content-type") || "");
  const found = said ? await response.json().catch(() => undefined) : undefined;
  if (!response.ok && typeof found?.detail === "string") throw new Error(found.detail);
  if (!response.ok || found === undefined) throw new Error(word("unreadable", { status: response.status }));
  return found;
}

const table = (key, what = "") => `tables/${encodeURIComponent(key)}${what}?language=${language.now}`;
export const command = (key, what, body = {}, more = "") => ask(table(key, `/${what}`) + more, body);

export const connect = (key, heard, lost) => follow(() => table(key, "/live"), heard, lost);

/** A connection that comes back when it is lost. `heard` gets each message, `lost` whether there is no connection. */
export function follow(path, heard, lost) {
  let socket, closed = false, wait = 500, wanted = null;
  function open() {
    const scheme = location.protocol === "https:" ? "wss" : "ws";
    socket = new WebSocket(`${scheme}://${location.host}/api/${path()}`);
    socket.onopen = () => {
      wait = 500;
      lost(false);
      if (wanted) socket.send(wanted);
    };
    socket.onmessage = (event) => heard(JSON.parse(event.data));
    socket.onclose = (event) => {
      if (closed) return;
      lost(true, event.reason);
      setTimeout(open, wait);
      wait = Math.min(wait * 2, 8000);
    };
  }
  open();
  return {
    say(message) {
      wanted = JSON.stringify(message);
      if (socket.readyState === WebSocket.OPEN) socket.send(wanted);
    },
    close() {
      closed = true;
      socket.close();
    },
  };
}

/** The tables that this browser has played at, the newest first. */
export const remembered = {
  all() {
    try {
      return JSON.parse(localStorage.getItem("kibitz.tables")) || [];
    } catch {
      return [];
    }
  },
  add(table) {
    const others = this.all().filter((each) => each.key !== table.key);
    localStorage.setItem("kibitz.tables", JSON.stringify([table, ...others].slice(0, 12)));
  },
  remove(key) {
    localStorage.setItem("kibitz.tables", JSON.stringify(this.all().filter((each) => each.key !== key)));
  },
};

/** Players from trainings that this browser has chosen as kibitzers, by game. */
export const trained = {
  of(game) {
    return JSON.parse(localStorage.getItem("kibitz.trained") || "{}")[game];
  },
  /** Let a player advise from now on at tables of a game. */
  use(game, player) {
    localStorage.setItem("kibitz.trained", JSON.stringify({ ...JSON.parse(localStorage.getItem("kibitz.trained") || "{}"), [game]: player }));
    localStorage.setItem("kibitz.adviser", player);
    localStorage.setItem("kibitz.kibitzer", "on");
  },
};
