// The page of one loop: its conversation, live, and what a person can do.

import { connect, elapsed, element, explain, mayWrite, mood, now, request, say, setClock, span, started } from "./api.js";
import { commandOf } from "./command.js";

const { id, name } = document.body.dataset;
const path = `/api/loops/${encodeURIComponent(id)}`;
const get = (key) => document.getElementById(key);

const conversation = get("conversation");
const list = get("entries");
const problem = get("problem");

// Entries

const most = 1500; // entries that the page keeps while it follows
const shown = new Map(); // elements by key
let first = 1; // the first event of this page
let after = 0; // the last one; 0 before there is a page
let oldest = 0; // the first event that is shown
let start = false; // there is nothing before it

const atEnd = () => conversation.scrollHeight - conversation.scrollTop - conversation.clientHeight < 60;
const toEnd = () => (conversation.scrollTop = conversation.scrollHeight);

function put(entry) {
  let made = shown.get(entry.key);
  if (made && made.html === entry.html) return;
  if (!made) {
    made = element("div", { class: "holder" });
    shown.set(entry.key, made);
  }
  const open = [...made.querySelectorAll("details")].map((part) => part.open);
  made.className = "holder";
  made.seq = entry.seq;
  made.dataset.kind = entry.kind;
  made.html = entry.html;
  // The server made this from a template that escapes what others wrote, and scripts in it cannot
  // run.
  made.innerHTML = entry.html;
  made.querySelectorAll("details").forEach((part, i) => i in open && (part.open = open[i]));
  place(made);
}

// place puts an entry where its event belongs. What the server has not confirmed is at the end.
function place(made) {
  let next = null;
  for (let other = list.lastElementChild; other && other.seq > made.seq; other = other.previousElementSibling) {
    if (other !== made) next = other;
  }
  if (!made.isConnected || made.nextElementSibling !== next) list.insertBefore(made, next);
}

function putAll(entries) {
  const follows = atEnd();
  const before = list.lastElementChild;
  for (const entry of entries) put(entry);
  if (follows) {
    forget();
    toEnd();
  } else if (list.lastElementChild !== before) {
    get("newest").hidden = false;
  }
}

// forget removes the oldest entries of a page that has been open for long.
function forget() {
  if (list.childElementCount <= most) return;
  while (list.childElementCount > most - 300) {
    for (const [key, made] of shown) {
      if (made === list.firstElementChild) {
        shown.delete(key);
        break;
      }
    }
    list.firstElementChild.remove();
  }
  oldest = list.firstElementChild.seq;
  start = false;
  get("load").hidden = false;
}

let loading = false;

async function loadEarlier() {
  if (loading || start) return;
  loading = true;
  try {
    const page = await request(`${path}/entries?html=1&before=${oldest}`);
    const height = conversation.scrollHeight;
    const top = list.firstElementChild;
    for (const entry of page.entries) {
      if (shown.has(entry.key)) continue; // a later state of it is shown
      put(entry);
    }
    if (top) conversation.scrollTop += conversation.scrollHeight - height;
    start = page.start || page.first === 0 || page.first >= oldest;
    oldest = page.first || oldest;
    get("load").hidden = start;
    if (page.problem) complain(page.problem);
  } catch (error) {
    complain(explain(error));
  }
  loading = false;
}

get("load").addEventListener("click", loadEarlier);
conversation.addEventListener("scroll", () => {
  if (conversation.scrollTop < 400) loadEarlier();
  if (atEnd()) held ? catchUp() : (get("newest").hidden = true);
});
get("newest").addEventListener("click", () => (held ? catchUp() : toEnd()));
// A keyboard on a telephone, or a longer message, leaves less for the conversation.
let followed = true;
conversation.addEventListener("scroll", () => (followed = atEnd()), { passive: true });
new ResizeObserver(() => followed && toEnd()).observe(conversation);

// State

let state = null;

function drawState() {
  if (!state) return;
  const badge = get("state");
  badge.textContent = state.state;
  badge.dataset.mood = mood(state);
  const facts = [];
  if (state.shown.iteration) facts.push(["iteration", state.shown.iteration]);
  if (started(state)) facts.push(["elapsed", elapsed(state)]);
  facts.push(["cost", state.shown.cost], ["tokens", state.shown.tokens]);
  if (state.storiesTotal) facts.push(["stories", `${state.storiesDone ?? 0} of ${state.storiesTotal}`]);
  if (state.open && state.story?.id) facts.push(["story", `${state.story.mode} ${state.story.id}`]);
  if (state.boxes) facts.push(["tasks", `${state.ticked ?? 0} of ${state.boxes}`]);
  if (state.agent) facts.push(["agent", state.agent]);
  if (state.alive && state.doing) facts.push(["now", state.doing]);
  const text = facts.map((fact) => fact.join(" ")).join("|");
  const holder = get("facts");
  if (holder.text !== text) {
    holder.text = text;
    holder.replaceChildren(...facts.map(([key, value]) => element("div", { class: key }, element("dt", {}, key), element("dd", {}, value))));
  }
  document.title = `${name}: ${state.state} · ralph`;
  drawQuestion();
  drawQuestions();
  if (mayWrite) drawForm();
}

// waitsForPerson reports that a loop goes on only when a person lets it.
const waitsForPerson = () => state.alive && state.group === "needs you";

function drawQuestion() {
  let title = "";
  let text = "";
  if (state.awaitedQuestion) title = ""; // it is one of the numbered questions
  else if (state.question) [title, text] = ["The agent asks", state.question];
  else if (waitsForPerson()) [title, text] = [state.state, state.waiting];
  else if (state.alive && state.until) [title, text] = ["Waiting", `${state.waiting} (${span(Date.parse(state.until) - now())} left)`];
  else if (state.reason) [title, text] = [`Ended: ${state.reason}`, [state.ended?.why, state.done, state.nextStep].filter(Boolean).join(". ")];
  else if (state.died) [title, text] = ["The runner died", `In ${state.project}, ${state.nextStep}`];
  get("question").hidden = !title;
  get("links").hidden = state.alive || !started(state);
  get("question").dataset.mood = mood(state);
  if (get("ask").textContent !== title) get("ask").textContent = title;
  if (get("asked").textContent !== text) get("asked").textContent = text;
}

// asked has the forms of open questions by number. A form stays while its question is open, with
// what a person types in it.
const asked = new Map();

function drawQuestions() {
  const open = state.alive ? (state.questions || []).filter((question) => !question.answeredAt) : [];
  for (const [number, form] of asked) {
    if (open.some((question) => question.number === number)) continue;
    form.remove();
    asked.delete(number);
  }
  for (const question of open) {
    if (asked.has(question.number)) continue;
    const form = questionForm(question);
    asked.set(question.number, form);
    get("questions").append(form);
    if (followed) toEnd();
    say(`The agent asks: ${question.text}`);
  }
}

function questionForm({ number, text, choices = [], blocks }) {
  const about = element("p", {}, element("strong", {}, `Question ${number}`), blocks ? " · the work is not done without an answer" : "");
  const form = element("form", { class: "question", "data-number": number, autocomplete: "off" }, about, element("p", {}, text));
  if (!mayWrite) {
    if (choices.length) form.append(element("p", { class: "dim" }, choices.join(" · ")));
    return form;
  }
  const enable = (yes) => [...form.elements].forEach((part) => (part.disabled = !yes));
  const answer = async (text) => {
    if (!text.trim() || !(await send({ kind: "answer", question: number, text }))) return;
    enable(false);
    setTimeout(() => enable(true), 10000); // the question is still there: the answer was refused
  };
  const buttons = choices.map((choice) => {
    const button = element("button", { type: "button" }, choice);
    button.addEventListener("click", () => answer(choice));
    return button;
  });
  const own = element("input", { type: "text", placeholder: "Answer", "aria-label": `Answer to question ${number}`, enterkeyhint: "send" });
  form.append(element("div", { class: "choices" }, ...buttons, own, element("button", { type: "submit" }, "Answer")));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    answer(own.value);
  });
  return form;
}

function drawForm() {
  const resting = waitsForPerson();
  get("form").hidden = !state.alive;
  get("continue").hidden = state.alive || !started(state);
  get("when").hidden = resting;
  const asks = state.question && !state.awaitedQuestion;
  get("send").textContent = asks ? "Answer and resume" : resting ? "Resume" : "Send";
  get("text").placeholder = asks ? "Answer" : "Message to the agent";
  const pausing = resting || /paus/.test(state.state);
  get("actions").querySelector("[data-kind=pause]").hidden = pausing;
  get("actions").querySelector("[data-kind=resume]").hidden = !pausing || resting;
}

function setState(next) {
  if (!next) return;
  setClock(next.now);
  const old = state;
  state = next;
  drawState();
  if (old && old.state !== next.state) say(`Loop ${name} is ${next.state}.`);
  if (next.question && !next.awaitedQuestion && (!old || old.question !== next.question)) say(`The agent asks: ${next.question}`);
}

setInterval(drawState, 1000);

// Commands

function complain(text) {
  problem.textContent = text;
  problem.hidden = !text;
}

async function send(command) {
  complain("");
  try {
    const sent = await request(`${path}/commands`, command);
    if (!shown.has(sent.id)) putSent(sent, command);
    return true;
  } catch (error) {
    complain(explain(error));
    return false;
  }
}

// putSent shows a command until the loop's journal has it.
function putSent(sent, command) {
  const made = element("div", { class: "holder sent" }, element("p", {}, command.text || command.kind), element("p", { class: "dim" }, "sent; the loop has not taken it yet"));
  made.seq = Infinity;
  shown.set(sent.id, made);
  place(made);
  toEnd();
}

function fit(text) {
  text.style.height = "auto";
  text.style.height = `${Math.min(text.scrollHeight + 2, window.innerHeight / 3)}px`;
}

async function submit(next) {
  const text = get("text");
  const typed = text.value.trim();
  const resting = waitsForPerson();
  const command = commandOf(typed, next ? "follow-up" : "steer");
  if (command.problem) return complain(command.problem);
  if (!typed && !resting) return;
  if (typed && !(await send(command))) return;
  text.value = "";
  fit(text);
  if (resting && (!typed || command.kind === "steer" || command.kind === "follow-up")) await send({ kind: "resume" });
}

if (mayWrite) {
  const text = get("text");
  const touch = matchMedia("(pointer: coarse)");
  get("form").addEventListener("submit", (event) => {
    event.preventDefault();
    submit(get("form").elements.when.value === "follow-up");
  });
  text.addEventListener("input", () => fit(text));
  text.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing || (touch.matches && !event.altKey)) return;
    event.preventDefault();
    submit(event.altKey || get("form").elements.when.value === "follow-up");
  });
  get("actions").addEventListener("click", (event) => {
    const { kind } = event.target.dataset;
    if (kind === "stop") get("stop").showModal();
    else if (kind) send({ kind });
  });
  get("continue").addEventListener("click", () => get("more").showModal());
  get("more").addEventListener("close", async () => {
    const agreed = get("more").returnValue;
    get("more").returnValue = "";
    if (!agreed) return;
    complain("");
    get("continue").disabled = true;
    try {
      await request(`${path}/resume`, { iterations: Number(get("iterations").value) || 1 });
      say(`Loop ${name} continues.`);
    } catch (error) {
      complain(explain(error));
    }
    get("continue").disabled = false;
  });
  get("stop").addEventListener("close", () => {
    const kind = get("stop").returnValue;
    get("stop").returnValue = "";
    if (kind) send({ kind });
  });
}

// Start

let held = false; // the loop is far ahead of a page whose person reads what came before

function fill(page) {
  shown.clear();
  list.replaceChildren();
  [first, after, oldest, start] = [page.first || 1, page.last, page.first, page.start];
  get("load").hidden = start;
  get("newest").hidden = true;
  held = false;
  putAll(page.entries);
  toEnd();
  complain(page.problem || "");
  setState(page.state);
  showLinked();
}

// showLinked shows the entry that the address names by the number of an event.
async function showLinked() {
  const linked = location.hash.slice(1);
  if (!/^\d+$/.test(linked)) return;
  while (!document.getElementById(linked) && !start && oldest > Number(linked)) {
    const before = oldest;
    await loadEarlier();
    if (oldest === before) break;
  }
  document.getElementById(linked)?.scrollIntoView({ block: "center" });
}
window.addEventListener("hashchange", showLinked);

let spoken = null; // the key of words that may still grow

// speak reads words to a person who does not see them, when they are complete.
function speak(entries) {
  if (!entries.length) return;
  if (spoken && entries.at(-1).key !== spoken) {
    say(shown.get(spoken)?.querySelector(".body")?.textContent.trim().slice(0, 400) || "");
    spoken = null;
  }
  spoken = entries.findLast((entry) => entry.kind === "words")?.key || spoken;
}

const stream = connect(() => (after || list.childElementCount ? `${path}/live?first=${first}&after=${after}` : `${path}/live`), {
  state: setState,
  page(data) {
    if (!list.childElementCount || atEnd()) return fill(data);
    held = true;
    setState(data.state);
    get("newest").hidden = false;
    stream.hold("live, far ahead of what is shown");
  },
  entries(data, seq) {
    putAll(data.entries);
    after = Number(seq);
    setState(data.state);
    speak(data.entries);
  },
  problem(data) {
    complain(data.hint ? `${data.error}; ${data.hint}` : data.error);
  },
});

function catchUp() {
  if (!held) return;
  held = false; // another click must not begin again
  get("newest").hidden = true;
  after = 0;
  list.replaceChildren();
  stream.open();
}

// A page that is not seen has no stream; its title still says what the loop does. Neither has one
// whose person reads what came before.
setInterval(async () => {
  if (document.hidden) setState(await request(path).catch(() => state));
}, 30000);
setInterval(async () => {
  if (held && !document.hidden) setState(await request(path).catch(() => state));
}, 2000);
