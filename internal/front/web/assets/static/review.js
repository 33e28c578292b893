// The page on which a person goes through the work of a loop, item after item.

import { element, explain, mayWrite, request, say } from "./api.js";

const { id, name } = document.body.dataset;
const path = `/api/loops/${encodeURIComponent(id)}/review`;
const get = (key) => document.getElementById(key);

const titles = { guardrail: "A guardrail that could not be tried", survivor: "A change that no guardrail notices", fact: "What looks like gaming", file: "A file with a risk", rest: "The rest" };

let list = { items: [] };
let at = 0;

const current = () => list.items[at];
const placeOf = (item) => (item.kind === "rest" ? `${item.files.length} other file${item.files.length === 1 ? "" : "s"}` : item.line ? `${item.file}:${item.line}` : item.file);
const stateOf = (item) => item.state || (item.changedSince ? "open again: it has changed" : "open");

// nextOpen is the first open item after one, or else the first open one; -1 if none is.
function nextOpen(after) {
  const open = list.items.map((item, i) => (item.state ? -1 : i)).filter((i) => i >= 0);
  return open.find((i) => i > after) ?? open[0] ?? -1;
}

function take(next) {
  const before = current()?.id;
  list = next;
  const same = list.items.findIndex((item) => item.id === before);
  at = same >= 0 ? same : Math.min(at, Math.max(list.items.length - 1, 0));
  draw();
}

function draw() {
  const item = current();
  const progress = list.items.length ? `reviewed ${list.reviewed} of ${list.of}${list.filesUnknown ? " that are known" : ""}`
    : list.unknown ? "" : "nothing to read";
  get("progress").textContent = list.done && list.items.length ? `${progress}, all is decided` : progress;
  get("compared").textContent = list.compared || "";
  get("unknown").hidden = !list.unknown;
  get("unknown").textContent = `Which files changed is not known: ${list.unknown}`;
  for (const part of ["item", "actions", "all"]) get(part).hidden = !item;
  if (!item) return;
  get("kind").textContent = `${at + 1} of ${list.items.length} · ${titles[item.kind]} · ${stateOf(item)}`;
  get("place").textContent = placeOf(item) + (item.added || item.removed ? `  +${item.added || 0} −${item.removed || 0}` : "");
  get("reasons").replaceChildren(...[...item.reasons, ...(item.files || [])].map((reason) => element("li", {}, reason)));
  get("command").textContent = item.back || item.command || "";
  const lines = item.diff ? item.diff.split("\n") : [];
  get("diff").hidden = !lines.length;
  get("diff").replaceChildren(...lines.map((line) => element("span", { class: { "+": "added", "-": "removed" }[line[0]] || "kept" }, line || " ")));
  get("items").replaceChildren(...list.items.map(row));
  if (mayWrite) {
    get("roll").hidden = item.kind === "rest" || list.alive || item.state === "rolled back";
    for (const button of ["approve", "send"]) get(button).hidden = item.state === "rolled back";
  }
}

function row(item, i) {
  const button = element("button", { type: "button", class: "link", "aria-current": i === at }, placeOf(item));
  button.addEventListener("click", () => choose(i));
  return element("li", {}, button, element("span", { class: "dim" }, ` ${stateOf(item)}`));
}

function choose(i) {
  if (i < 0 || i >= list.items.length) return;
  at = i;
  complain("");
  draw();
  window.scrollTo(0, 0);
}

function complain(text) {
  get("notice").textContent = "";
  get("problem").textContent = text;
  get("problem").hidden = !text;
}

async function act(body) {
  complain("");
  const enable = (yes) => get("actions").querySelectorAll("button").forEach((button) => (button.disabled = !yes));
  enable(false);
  const was = at;
  try {
    const next = await request(path, body);
    take(next);
    say(next.said || "");
    const open = nextOpen(was - 1); // an item that was rolled back has gone to the end
    if (open >= 0) choose(open);
    get("notice").textContent = next.said || "";
  } catch (error) {
    complain(explain(error));
  }
  enable(true);
}

get("previous").addEventListener("click", () => choose(at - 1));
get("next").addEventListener("click", () => choose(at + 1));
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("dialog, textarea, #diff")) return;
  const key = { n: "next", ArrowRight: "next", p: "previous", ArrowLeft: "previous", a: "approve", s: "send", r: "roll" }[event.key];
  const button = key && get(key);
  if (!button || button.hidden || button.disabled) return;
  event.preventDefault();
  button.click();
});
if (mayWrite) {
  get("approve").addEventListener("click", () => act({ do: "approve", item: current().id }));
  get("send").addEventListener("click", () => {
    const more = list.more ? `, ${list.more}` : "";
    get("purpose").textContent = list.alive ? `Your words about this are in the next prompt of ${name}:` : `These words about it resume ${name}${more}:`;
    get("back").showModal();
  });
  get("back").addEventListener("close", async () => {
    const [agreed, words] = [get("back").returnValue, get("words").value.trim()];
    get("back").returnValue = "";
    if (!agreed) return;
    if (!words) return complain("there are no words for the agent");
    await act({ do: "send back", item: current().id, words });
    if (get("problem").hidden) get("words").value = "";
  });
  get("roll").addEventListener("click", () => {
    get("about").textContent = `${current().file} would be as it was before the loop. All files are kept as they are now.`;
    get("file").showModal();
  });
  get("file").addEventListener("close", () => {
    const agreed = get("file").returnValue;
    get("file").returnValue = "";
    if (agreed) act({ do: "roll back", item: current().id, file: current().file });
  });
}

try {
  take(await request(path));
  const open = nextOpen(-1);
  if (open >= 0) choose(open);
} catch (error) {
  get("progress").textContent = "";
  complain(explain(error));
}
