// The list of loops in three groups.

import { base, connect, elapsed, element, explain, mayWrite, mood, now, request, say, setClock, span, started } from "./api.js";

const groups = ["needs you", "working", "ended"];
const empty = { "needs you": "No loop needs you.", working: "No loop is running.", ended: "No loop has ended yet." };
const titles = { "needs you": "Needs you", working: "Working", ended: "Ended" };

const list = document.getElementById("list");
const filter = document.getElementById("filter");
const totals = document.getElementById("totals");
const silent = document.getElementById("silent");
const gone = document.getElementById("gone"); // only on the page of a loop of another machine
const only = document.body.dataset.shows; // the loop of another machine that this page is of
const cards = new Map(); // by the loop's key
const sections = new Map();
const heads = new Map(); // of the loops of another machine, by section and machine
let loops = [];
let known = null; // keys of the loops that needed a person

// keyOf names a loop: one that was moved to another machine has the same id there.
const idOf = (loop) => (loop.remote ? `${loop.remote}:${loop.id}` : loop.id);
const keyOf = (loop) => idOf(loop) || loop.dir || loop.error;
const nameOf = (loop) => (loop.remote ? loop.call : loop.name);

// silence says since when nothing was heard of the machine that has a loop, to the minute; empty if
// it gives signs of life.
const silentAfter = 120000;
function silence(loop) {
  const since = loop.remote && loop.heard ? now() - Date.parse(loop.heard) : 0;
  return since >= silentAfter ? `last heard of ${span(since).replace(/ \d+ s$/, "")} ago` : "";
}

for (const group of groups) {
  const count = element("span", { class: "count" });
  const body = element("div", { class: "cards" });
  const section = element("section", { "aria-label": titles[group] }, element("h2", {}, titles[group] + " ", count), body);
  sections.set(group, { section, body, count });
  list.append(section);
}

// asked is the question that a loop's agent waits for an answer to.
const asked = (loop) => loop.questions?.[0];

function matches(loop) {
  if (only) return keyOf(loop) === only;
  const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
  const text = [nameOf(loop), loop.project, loop.state, loop.agent, loop.question || (asked(loop) && loop.about) || ""].join(" ").toLowerCase();
  return words.every((word) => text.includes(word));
}

function makeCard(loop) {
  const card = element("article", { class: "card" });
  const parts = {
    name: element("a", { class: "name", href: `${base}/loops/${encodeURIComponent(idOf(loop) || loop.name)}` }),
    state: element("span", { class: "badge" }),
    facts: element("p", { class: "dim" }),
    project: element("p", { class: "dim" }),
    why: element("p", { class: "reason" }),
  };
  card.append(element("div", { class: "top" }, parts.name, parts.state), parts.why, parts.facts, parts.project);
  return { card, parts, form: null };
}

function fill(made, loop) {
  const { parts, card } = made;
  made.awaited = asked(loop)?.number || loop.awaitedQuestion; // the answer is bound to it
  made.held = Boolean(loop.question) || loop.status === "paused";
  parts.name.textContent = nameOf(loop) || "unreadable entry";
  parts.state.textContent = loop.state;
  parts.state.dataset.mood = mood(loop);
  const facts = [];
  if (loop.shown.iteration) facts.push(`iteration ${loop.shown.iteration}`);
  if (started(loop)) facts.push(elapsed(loop));
  if (within(loop)) facts.push(within(loop));
  if (loop.strength) facts.push(`strength ${loop.strength}`);
  if (loop.agent) facts.push(loop.agent);
  facts.push(loop.shown.cost === "unknown" ? "cost unknown" : loop.shown.cost);
  if (loop.today && loop.shown.today !== loop.shown.cost) facts.push(`today ${loop.shown.today}`);
  if (only && silence(loop)) facts.push(silence(loop));
  if (loop.group === "ended" && started(loop)) facts.push(`${span(now() - Date.parse(loop.at))} ago`);
  parts.facts.textContent = facts.join(" · ");
  parts.project.textContent = loop.shown.project || loop.project;
  parts.project.title = loop.project;
  const open = loop.openQuestions ? `${loop.openQuestions} open question${loop.openQuestions > 1 ? "s" : ""}` : "";
  let why = loop.question || [open, loop.about].filter(Boolean).join(" · ") || loop.error || "";
  if (loop.alive && why && loop.aboutSince) why += ` (${span(now() - Date.parse(loop.aboutSince))})`;
  parts.why.textContent = why;
  parts.why.hidden = !why;
  parts.why.classList.toggle("asks", Boolean(loop.question || open));
  const asks = mayWrite && (loop.alive ? only || loop.group === "needs you" : loop.group === "needs you" && asked(loop));
  if (asks && !made.form) {
    made.form = answerForm(loop);
    card.append(made.form);
    if (only) card.append((made.stop = stopper(loop)));
  } else if (!asks && made.form) {
    made.form.remove();
    made.stop?.remove();
    made.form = null;
  }
  if (made.form) made.form.label(made, loop);
}

// answerForm lets a person answer in place; the loop continues with the answer.
function answerForm(loop) {
  const text = element("textarea", { rows: 1, "aria-label": `Message to loop ${nameOf(loop)}` });
  const problem = element("p", { class: "problem", role: "alert", hidden: true });
  const submit = element("button", { type: "submit" });
  const choices = element("div", { class: "choices" });
  const form = element("form", { class: "answer" }, choices, text, submit, problem);
  form.label = (made, loop) => {
    const asks = loop.question || made.awaited;
    text.placeholder = asks ? "Answer" : "Message to the agent";
    submit.textContent = !asks ? (made.held ? "Resume" : "Send") : loop.question && loop.alive ? "Answer and resume" : "Answer";
    if (choices.dataset.number === String(made.awaited)) return;
    choices.dataset.number = String(made.awaited);
    choices.replaceChildren(...(asked(loop)?.choices || []).map((choice) => {
      const button = element("button", { type: "button" }, choice);
      button.addEventListener("click", () => {
        text.value = choice;
        form.requestSubmit();
      });
      return button;
    }));
  };
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const path = `/api/loops/${encodeURIComponent(idOf(loop))}/commands`;
    try {
      const { awaited: question, held } = cards.get(keyOf(loop)) || {};
      const answers = text.value.trim();
      if ((question || loop.remote) && !answers && !held) return text.focus();
      if (loop.remote) submit.disabled = true; // it may take a while
      if (answers && question) await request(path, { kind: "answer", question, text: text.value });
      else if (answers) await request(path, { kind: "steer", text: text.value });
      if (loop.remote) text.value = ""; // it is sent once, also if a pool refuses what follows
      if (!answers || (!question && (held || !loop.remote))) await request(path, { kind: "resume" });
      text.value = "";
      problem.hidden = true;
      say(`Sent to loop ${nameOf(loop)}.`);
    } catch (error) {
      problem.textContent = explain(error);
      problem.hidden = false;
    }
    submit.disabled = false;
  });
  return form;
}

// stopper stops a loop of another machine.
function stopper(loop) {
  const problem = element("p", { class: "problem", role: "alert", hidden: true });
  const buttons = [["stop", "After this iteration", ""], ["stop-now", "Now", "danger"]].map(([kind, words, style]) => {
    const button = element("button", { type: "button", class: style }, words);
    button.addEventListener("click", async () => {
      button.disabled = true;
      try {
        await request(`/api/loops/${encodeURIComponent(idOf(loop))}/commands`, { kind });
        problem.hidden = true;
        say(`Loop ${nameOf(loop)} has been told to stop.`);
      } catch (error) {
        problem.textContent = explain(error);
        problem.hidden = false;
      }
      button.disabled = false;
    });
    return button;
  });
  return element("details", { class: "stopper" }, element("summary", {}, "Stop…"), element("div", { class: "answer" }, ...buttons, problem));
}

// headOf is the heading of the loops of another machine.
function headOf(group, loop) {
  const key = `${group} ${loop.remote}`;
  if (!heads.has(key)) heads.set(key, element("h3", {}));
  const text = [loop.remote, silence(loop)].filter(Boolean).join(" · ");
  if (heads.get(key).textContent !== text) heads.get(key).textContent = text;
  return heads.get(key);
}

// nested puts loops right after the one that started them, such as a fleet, and says how deep.
function nested(group) {
  const shown = new Set(group.map(idOf));
  const parentOf = (loop) => loop.parent && idOf({ ...loop, id: loop.parent });
  const rows = [];
  const add = (loop, depth) => {
    if (rows.some((row) => row.loop === loop)) return; // an entry that was edited may be its own parent
    rows.push({ loop, depth });
    for (const inner of group) if (inner.parent && parentOf(inner) === idOf(loop)) add(inner, depth + 1);
  };
  for (const loop of group) if (!loop.parent || !shown.has(parentOf(loop))) add(loop, 0);
  for (const loop of group) add(loop, 0);
  return rows;
}

// sectionOf is the group in which a loop stands: one that has ended stands under the loop that
// started it.
function sectionOf(loop) {
  const seen = new Set();
  while (loop.group === "ended" && loop.parent && !seen.has(loop)) {
    seen.add(loop);
    const outer = loops.find((other) => other.id === loop.parent && other.remote === loop.remote && matches(other));
    if (!outer) break;
    loop = outer;
  }
  return loop.group;
}

// within says how far the loops are that a loop has started.
function within(loop) {
  const inner = loops.filter((other) => other.parent && other.parent === loop.id && other.remote === loop.remote);
  const ended = inner.filter((other) => other.group === "ended").length;
  return inner.length ? `${ended} of ${inner.length} loop${inner.length > 1 ? "s" : ""} ended` : "";
}

function draw() {
  const seen = new Set();
  for (const group of groups) {
    const { section, body, count } = sections.get(group);
    const mine = loops.filter((loop) => matches(loop) && sectionOf(loop) === group);
    const rows = nested(mine);
    count.textContent = rows.filter(({ loop }) => loop.group === group).length;
    let machine;
    const wanted = rows.flatMap(({ loop, depth }) => {
      const key = keyOf(loop);
      seen.add(key);
      if (!cards.has(key)) cards.set(key, makeCard(loop));
      fill(cards.get(key), loop);
      cards.get(key).card.classList.toggle("inner", depth > 0);
      const another = loop.remote && loop.remote !== machine;
      machine = loop.remote;
      return another && !only ? [headOf(group, loop), cards.get(key).card] : [cards.get(key).card];
    });
    section.hidden = only && !wanted.length;
    if (!wanted.length) wanted.push(element("p", { class: "empty" }, filter.value ? "Nothing matches." : empty[group]));
    // A card that stays in its place keeps what a person types in it.
    const same = wanted.length === body.children.length && wanted.every((card, i) => body.children[i] === card);
    if (!same) {
      const focus = document.activeElement;
      body.replaceChildren(...wanted);
      if (focus && body.contains(focus)) focus.focus();
    }
  }
  for (const key of cards.keys()) if (!seen.has(key)) cards.delete(key);
  const costs = loops.map((loop) => loop.today);
  const sum = costs.reduce((all, cost) => all + (cost ?? 0), 0);
  const unknown = costs.filter((cost) => cost == null).length;
  totals.textContent = `today $${sum.toFixed(2)}` + (unknown ? `, unknown for ${unknown}` : "");
  totals.hidden = only || !loops.length;
  const asking = loops.filter((loop) => loop.group === "needs you").length;
  const mine = only && loops.find(matches);
  if (gone) {
    const moved = loops.find((loop) => loop.id && only.endsWith(`:${loop.id}`));
    const where = moved ? ["It is elsewhere now: ", element("a", { href: `${base}/loops/${encodeURIComponent(idOf(moved))}` }, nameOf(moved))] : ["It is not listed any more."];
    gone.replaceChildren(...where);
    gone.hidden = Boolean(mine);
  }
  if (mine) document.title = `${nameOf(mine)}: ${mine.state} · ralph`;
  else document.title = (asking ? `(${asking}) ` : "") + "Loops · ralph";
}

function announce() {
  const asking = new Set(loops.filter((loop) => loop.group === "needs you").map(keyOf));
  if (known) {
    const fresh = loops.filter((loop) => asking.has(keyOf(loop)) && !known.has(keyOf(loop)));
    if (fresh.length) say(fresh.map((loop) => `Loop ${nameOf(loop)} needs you: ${loop.question || loop.state}`).join(". "));
  }
  known = asking;
}

filter.addEventListener("input", draw);
document.addEventListener("keydown", (event) => {
  if (event.key === "/" && !/^(INPUT|TEXTAREA)$/.test(document.activeElement.tagName)) {
    event.preventDefault();
    filter.focus();
  } else if (event.key === "Escape" && document.activeElement === filter) {
    filter.value = "";
    draw();
    filter.blur();
  }
});

function take(data) {
  setClock(data.now);
  loops = data.loops;
  silent.textContent = (data.silent || []).join(" · ");
  silent.hidden = !silent.textContent;
  announce();
  draw();
}

setInterval(() => loops.some((loop) => loop.alive) && draw(), 1000);
connect(() => "/api/loops", { loops: take });

// A page that is not seen has no stream; its title still says how many loops need a person.
setInterval(() => document.hidden && request("/api/loops").then(take, () => {}), 30000);
