// The page around the core: it lets time pass, shows what the core reports, and passes on what a
// person does. It decides nothing.
"use strict";

const at = id => document.getElementById(id);
const linesMost = 2000; // that the page keeps
let elapsed = 0; // simulated milliseconds
let running = true;
let ended = false;
let follows = true; // the list shows its last line
let last; // when the last frame was drawn

// The address has the seed and the acts: #seed=7&do=12000.kill,61000.steer.text
const parameters = () => new URLSearchParams(location.hash.slice(1));

function begin() {
  const seed = Number.parseInt(parameters().get("seed"), 10);
  playground.start(seed >= 0 && seed <= 999999 ? seed : 1);
  for (const act of (parameters().get("do") || "").split(",").filter(Boolean)) {
    const [ms, what, ...text] = act.split(".");
    const problem = Number.isInteger(Number(ms)) ? playground.plan(Number(ms), what, decodeURIComponent(text.join("."))) : `${ms} is no number of milliseconds`;
    if (problem) add({ note: true, tone: "failure", at: "", text: `The address of this page: ${problem}.` });
  }
  advance(0);
}

function restart(seed, acts) {
  const now = new URLSearchParams({ seed });
  if (acts) now.set("do", acts);
  history.replaceState(null, "", `#${now}`);
  again();
}

function again() {
  at("lines").replaceChildren();
  at("said").textContent = at("latest").textContent = "";
  follows = true;
  begin();
}

function act(what, text = "") {
  const p = parameters();
  playground.plan(elapsed, what, text);
  const done = [elapsed, what].concat(text ? encodeURIComponent(text) : []).join(".");
  p.set("seed", p.get("seed") || "1");
  p.set("do", [p.get("do"), done].filter(Boolean).join(","));
  history.replaceState(null, "", `#${p}`);
  advance(0);
}

function advance(ms) {
  const news = JSON.parse(playground.advance(ms));
  elapsed = news.elapsed;
  const list = at("lines");
  for (const line of news.lines || []) add(line);
  while (list.childElementCount > linesMost) list.firstChild.remove();
  if (follows) list.scrollTop = list.scrollHeight;
  facts(news.facts);
  at("clock").textContent = clock(elapsed);
  if (news.ended !== ended) {
    ended = news.ended;
    for (const button of document.querySelectorAll("[data-act], #steer button")) button.disabled = ended;
  }
}

const clock = ms => new Date(Date.UTC(2026, 10, 21, 1) + ms).toISOString().slice(11, 19);

function element(name, kind, text) {
  const e = document.createElement(name);
  e.className = kind;
  e.textContent = text;
  return e;
}

function add(line) {
  if (line.lost) {
    for (const li of at("lines").children) li.classList.toggle("lost", li.classList.contains("lost") || Number(li.dataset.seq) >= line.lost);
    return;
  }
  const li = document.createElement("li");
  const time = element("time", "", line.at);
  const text = element("span", "text", line.text);
  if (line.tone) li.dataset.tone = line.tone;
  if (line.note) {
    li.className = "note";
    li.append(time, text);
    at("said").textContent = line.text;
  } else {
    li.dataset.seq = line.seq;
    li.dataset.type = line.type;
    if (!line.rule && !line.tone) li.className = "quiet";
    li.classList.toggle("detail", Boolean(line.detail));
    const details = document.createElement("details");
    const summary = document.createElement("summary");
    summary.append(time, text);
    if (line.rule) summary.append(element("span", "rule", `rule: ${line.rule}`));
    details.append(summary, element("pre", "", line.json));
    if (line.tone) details.firstChild.dataset.tone = line.tone;
    li.append(details);
    if (line.tone && line.tone !== "good") at("said").textContent = line.text;
  }
  at("lines").append(li);
  if (line.text && !line.detail) at("latest").textContent = `${line.at} ${line.text}`;
}

// facts changes only what differs, so that a reader can select text.
function facts(all) {
  const list = at("facts");
  while (list.childElementCount > 2 * all.length) list.lastChild.remove();
  all.forEach((fact, i) => {
    if (!list.children[2 * i]) list.append(document.createElement("dt"), document.createElement("dd"));
    const [name, text] = [list.children[2 * i], list.children[2 * i + 1]];
    if (name.textContent !== fact.name) name.textContent = fact.name;
    if (text.textContent !== fact.text) text.textContent = fact.text;
  });
}

// Time passes in steps of whole milliseconds, at most a minute in one frame: a hidden page sleeps.
function frame(now) {
  if (running && !ended && last !== undefined) {
    const ms = Math.min(Math.round((now - last) * Number(at("speed").value)), 60000);
    if (ms > 0) advance(ms);
  }
  last = now;
  requestAnimationFrame(frame);
}

function listen() {
  for (const button of document.querySelectorAll("[data-act]")) button.addEventListener("click", () => act(button.dataset.act));
  at("steer").addEventListener("submit", event => {
    event.preventDefault();
    if (at("text").value.trim()) act("steer", at("text").value.trim());
  });
  at("play").addEventListener("click", () => {
    running = !running;
    at("play").textContent = running ? "Stop the clock" : "Let it run";
  });
  at("again").addEventListener("click", () => restart(parameters().get("seed") || "1"));
  at("other").addEventListener("click", () => restart(Math.floor(Math.random() * 1000000)));
  at("all").addEventListener("change", () => at("lines").classList.toggle("everything", at("all").checked));
  const list = at("lines");
  let moved = 0; // until then a person moves the list: a new size of the page does as well
  for (const kind of ["wheel", "touchmove", "pointerdown", "keydown"]) {
    list.addEventListener(kind, () => (moved = performance.now() + 2000), { passive: true });
  }
  list.addEventListener("scroll", () => {
    const end = list.scrollHeight - list.scrollTop - list.clientHeight < 40;
    if (end || performance.now() < moved) follows = end;
  });
  new ResizeObserver(() => {
    if (follows) list.scrollTop = list.scrollHeight;
  }).observe(list);
  addEventListener("hashchange", again);
}

// The core is stored compressed, and unpacked here: then any server will do. One that names the
// encoding has the browser unpack it.
async function load() {
  const response = await fetch("ralph.wasm.gz");
  if (!response.ok) throw new Error(`ralph.wasm.gz: ${response.status}`);
  const packed = !response.headers.get("Content-Encoding");
  const stream = packed ? response.body.pipeThrough(new DecompressionStream("gzip")) : response.body;
  const go = new Go();
  const { instance } = await WebAssembly.instantiateStreaming(new Response(stream, { headers: { "Content-Type": "application/wasm" } }), go.importObject);
  go.run(instance);
  const size = Number(response.headers.get("Content-Length"));
  at("size").textContent = `The core is ${size ? `${(size / 1e6).toFixed(1)} MB, and ` : ""}ready after ${Math.round(performance.now())} ms.`;
}

addEventListener("playground", () => {
  at("loading").hidden = true;
  document.querySelector("main").hidden = false;
  listen();
  begin();
  requestAnimationFrame(frame);
});

load().catch(error => { at("loading").textContent = `The core cannot be loaded: ${error.message}`; });
