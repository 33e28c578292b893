// What the pages share: requests, the state of the connection, and times.

export const base = document.body.dataset.base;
export const mayWrite = document.body.dataset.write === "true";

// Refused is an answer that is an error.
export class Refused extends Error {
  constructor(status, answer) {
    super(answer.error || `the server answered ${status}`);
    this.status = status;
    this.hint = answer.hint || "";
  }
}

// request returns the JSON of an answer, and throws Refused, or TypeError if there is no server.
export async function request(path, body) {
  const options = { headers: { Accept: "application/json" }, cache: "no-store" };
  if (body) {
    options.method = "POST";
    options.headers["Content-Type"] = "application/json";
    options.body = JSON.stringify(body);
  }
  const answer = await fetch(base + path, options);
  const json = await answer.json().catch(() => ({}));
  if (!answer.ok) throw new Refused(answer.status, json);
  return json;
}

export function explain(error) {
  if (error instanceof Refused) return error.hint ? `${error.message} (${error.hint})` : error.message;
  return "the server cannot be reached";
}

const shown = document.getElementById("connection");

export function showConnection(text, state) {
  if (shown.textContent === text) return;
  shown.textContent = text;
  shown.dataset.state = state;
}

export function say(text) {
  document.getElementById("said").textContent = text;
}

const patience = 6000; // until a server that does not answer is gone
const unseen = 5000; // until a page that is not seen closes its stream

// connect keeps an event stream open. address returns its path, with where to continue; handlers
// are called with the data of events, by name. It closes the stream while the page is hidden: a
// browser opens few connections to one server, and other pages need them.
export function connect(address, handlers) {
  let source = null;
  let lost = 0; // when the connection was lost
  let tries = 0;
  let timer = 0;
  let holding = false;

  function open() {
    clearTimeout(timer);
    close();
    holding = false;
    if (document.hidden) return;
    const mine = new EventSource(base + address());
    source = mine;
    mine.onopen = () => {
      lost = tries = 0;
      showConnection("live", "live");
    };
    for (const [name, handle] of Object.entries(handlers)) {
      mine.addEventListener(name, (event) => {
        if (source === mine) handle(JSON.parse(event.data), event.lastEventId);
      });
    }
    mine.onerror = () => {
      if (source !== mine) return;
      close();
      again();
    };
  }

  function close() {
    if (source) source.close();
    source = null;
  }

  // hold closes the stream until it is opened again.
  function hold(why) {
    close();
    clearTimeout(timer);
    holding = true;
    showConnection(why, "wait");
  }

  function again() {
    if (document.hidden) return;
    lost = lost || Date.now();
    const gone = Date.now() - lost > patience;
    showConnection(gone ? "the server is gone" : "reconnecting…", gone ? "gone" : "wait");
    timer = setTimeout(check, Math.min(300 * 2 ** tries++, 5000));
  }

  // An event stream does not say why it failed.
  async function check() {
    try {
      await request(address().split("/live")[0]);
      open();
    } catch (error) {
      if (error instanceof Refused && error.status === 401) {
        showConnection("this link is no longer valid: open the one that ralph web prints", "gone");
      } else if (error instanceof Refused && error.status === 404) {
        showConnection("the loop was removed", "gone");
      } else {
        again();
      }
    }
  }

  let hiding = 0;
  document.addEventListener("visibilitychange", () => {
    clearTimeout(hiding);
    if (document.hidden) {
      hiding = setTimeout(() => {
        close();
        clearTimeout(timer);
      }, unseen);
    } else if (!source && !holding) {
      tries = lost = 0;
      open();
    }
  });
  window.addEventListener("pagehide", close);
  window.addEventListener("online", () => !source && !holding && open());
  open();
  return { open, hold };
}

// The clock of the machine that the loops run on.
let ahead = 0;
export const setClock = (now) => (ahead = Date.parse(now) - Date.now());
export const now = () => Date.now() + ahead;

// span spells a duration in two units: "3 h 20 m", "4 m 5 s", "7 s".
export function span(milliseconds) {
  const s = Math.max(0, Math.floor(milliseconds / 1000));
  const m = Math.floor(s / 60);
  const h = Math.floor(m / 60);
  if (h >= 24) return `${Math.floor(h / 24)} d ${h % 24} h`;
  if (h) return `${h} h ${m % 60} m`;
  if (m) return `${m} m ${s % 60} s`;
  return `${s} s`;
}

// started reports whether a loop has begun; the zero time of Go is in the year 1.
export const started = (loop) => !loop.since.startsWith("0001");

// elapsed is how long a loop has lived.
export const elapsed = (loop) => span((loop.reason || !loop.alive ? Date.parse(loop.at) : now()) - Date.parse(loop.since));

// element makes an element of text and other elements.
export function element(name, attributes = {}, ...content) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== false && value != null) made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...content);
  return made;
}

// mood is the colour of a state; its word says the same.
export function mood(loop) {
  if (loop.group === "needs you") return "person";
  if (loop.group === "working") return "works";
  return loop.exitCode === 0 ? "good" : "over";
}
