// The fold from the events of a journal to what is shown of them. It is pure: the same lines give the
// same units, each with the sequence number of the event that completed it. Therefore a position in
// the journal is enough to continue: read from the beginning of the iteration, and leave out what has
// a number that was shown already.
import { clean, count, cut, json, line, list, money, num, obj, str, took } from "./text.ts";

/** Unit is one thing in the transcript. */
export type Unit =
	| { kind: "said" | "thought"; text: string; sub?: boolean }
	| { kind: "tool"; id: string; name: string; args: unknown; output: string; ok: boolean; sub?: boolean }
	| { kind: "begin"; n: number; max: number; mode: string }
	| { kind: "end"; ok: boolean; text: string }
	| { kind: "command"; how: string; from: string; text: string }
	| { kind: "note"; level: "info" | "good" | "warning" | "error"; text: string };

/** Shown is a unit at its place in the journal of a loop. */
export interface Shown {
	loop: string;
	name: string;
	seq: number;
	/** of several units that one event completes */
	part: number;
	iter: number;
	unit: Unit;
}

const textMax = 48 * 1024;
const outputMax = 24 * 1024;
const tailMax = 2048;
const openMax = 256;
/** units of one iteration; more are counted */
const unitsMax = 1500;

interface Block {
	think: boolean;
	text: string;
	gone: number;
	sub: boolean;
}
interface Call {
	name: string;
	input: unknown;
	tail: string;
	sub: boolean;
}

// What is known and not shown, because other events say it or it is for programs.
const quiet = new Set(
	(
		"segment.opened segment.sealed decided loop.waited agent.started agent.used agent.planned agent.asked agent.noticed " +
		"agent.parked agent.finished folder.inspected repo.inspected guardrail.snapshotted guardrail.started iteration.checked " +
		"completion.claimed stories.read clock.jumped command.delivered repo.unreadable timer.fired notification.sent agent.quota agent.held loop.held loop.fenced loop.moved schedule.observed " +
		"command.withdrawn holdout.ended holdout.checked proof.tried proof.ended fleet.opened fleet.observed fleet.decided"
	).split(" "),
);

export class Fold {
	loop = "";
	name: string;
	seq = 0;
	at = "";
	max = 0;
	ended = false;
	/** open questions by number */
	questions = new Map<number, { text: string; choices: string[]; blocks: boolean }>();
	private iter = 0;
	private blocks = new Map<string, Block>();
	private calls = new Map<string, Call>();
	private units = 0;
	private left = 0;
	private unknown = new Map<string, number>();
	private commands = new Map<string, string>();
	private out: Unit[] = [];

	constructor(name: string, loop: string, max: number) {
		this.name = name;
		this.loop = loop;
		this.max = max;
	}

	/** line takes a line of the journal and returns what it completed. */
	line(text: string): Shown[] {
		let e: Record<string, unknown>;
		try {
			e = obj(JSON.parse(text));
		} catch {
			return [];
		}
		const seq = num(e.seq);
		if (seq === undefined || seq <= this.seq) return [];
		this.seq = seq;
		this.at = str(e.at);
		this.iter = num(e.iter) ?? this.iter;
		this.out = [];
		if (num(e.v) === 1) this.event(str(e.type), obj(e.data));
		else this.strange(`version ${line(String(e.v), 20)} of the journal's lines`);
		return this.out.map((unit, part) => ({ loop: this.loop, name: this.name, seq, part, iter: this.iter, unit }));
	}

	/** live are the last lines of what is being said or run right now. */
	live(): string[] {
		const call = [...this.calls.values()].at(-1);
		if (call) return [`${line(call.name, 40)} ${summary(call.input)}`, ...tail(call.tail, 2)];
		const block = [...this.blocks.values()].at(-1);
		return block ? tail(block.text.slice(-tailMax), 2) : [];
	}

	private show(unit: Unit): void {
		const always = unit.kind !== "said" && unit.kind !== "thought" && unit.kind !== "tool";
		if (!always && this.units >= unitsMax) {
			this.left++;
			return;
		}
		this.units++;
		this.out.push(unit);
	}

	private note(level: "info" | "good" | "warning" | "error", text: string): void {
		this.show({ kind: "note", level, text: clean(cut(text, 2000).text) });
	}

	private strange(what: string): void {
		const seen = this.unknown.get(what) ?? 0;
		if (seen === 0 && this.unknown.size >= 32) return;
		this.unknown.set(what, seen + 1);
		if (seen === 0) this.note("warning", `A newer ralph wrote this journal: ${what} cannot be shown here. 'ralph logs ${this.name}' shows it.`);
	}

	private said(think: boolean, d: Record<string, unknown>): void {
		const key = (think ? "t" : "s") + line(str(d.block), 200);
		let b = this.blocks.get(key);
		if (!b) {
			if (this.blocks.size >= openMax) this.flushBlocks();
			b = { think, text: "", gone: 0, sub: str(d.parent) !== "" };
			this.blocks.set(key, b);
		}
		const room = cut(str(d.text), textMax - b.text.length);
		b.text += room.text;
		b.gone += room.gone;
		if (d.final === true) {
			this.blocks.delete(key);
			this.block(b);
		}
	}

	private block(b: Block): void {
		const text = clean(b.text);
		if (text.trim() === "") return;
		const more = b.gone ? `\n\n… ${b.gone} more characters: ralph logs ${this.name}` : "";
		this.show({ kind: b.think ? "thought" : "said", text: text + more, ...(b.sub && { sub: true }) });
	}

	private flushBlocks(): void {
		for (const b of this.blocks.values()) this.block(b);
		this.blocks.clear();
	}

	/** flush shows what will not be completed any more. */
	private flush(): void {
		this.flushBlocks();
		for (const [id, c] of this.calls) this.tool(id, c, c.tail + "\n(it did not return)", false);
		this.calls.clear();
	}

	private tool(id: string, c: Call, output: string, ok: boolean): void {
		this.show({ kind: "tool", id: line(id, 100), name: c.name || "tool", args: c.input, output: clean(output), ok, ...(c.sub && { sub: true }) });
	}

	private event(type: string, d: Record<string, unknown>): void {
		switch (type) {
			case "agent.said":
				return this.said(false, d);
			case "agent.thought":
				return this.said(true, d);
			case "tool.called":
				if (this.calls.size >= openMax) this.flush();
				this.calls.set(cut(str(d.id), 500).text, { name: line(str(d.name), 60), input: json(d.input ?? {}), tail: "", sub: str(d.parent) !== "" });
				return;
			case "tool.progressed": {
				const c = this.calls.get(cut(str(d.id), 500).text);
				if (c) c.tail = ((d.replaced === true ? "" : c.tail) + str(d.text)).slice(-tailMax);
				return;
			}
			case "tool.returned":
				return this.returned(d);
			case "iteration.started":
				this.units = this.left = 0;
				this.flush();
				this.ended = false;
				return this.show({ kind: "begin", n: num(d.n) ?? this.iter, max: this.max, mode: line(str(d.mode), 20) });
			case "iteration.ended":
				return this.iterationEnded(d);
			case "agent.exited":
				this.flush();
				return num(d.code) ? this.note("warning", `The agent ended with code ${num(d.code)}. ${clean(str(d.stderr)).slice(-500)}`) : undefined;
			case "command.received":
				return this.received(d);
			case "command.refused":
				return this.note("warning", `Refused: ${str(d.why)}${this.commands.has(str(d.id)) ? ` (${this.commands.get(str(d.id))})` : ""}`);
			case "question.asked":
				return this.asked(d);
			case "question.answered":
				this.questions.delete(num(d.number) ?? 0);
				return this.note("info", `Question ${num(d.number)} is answered: ${line(str(d.text), 500)}${d.from ? ` (${line(str(d.from), 60)})` : ""}`);
			default:
				return this.news(type, d);
		}
	}

	private returned(d: Record<string, unknown>): void {
		const id = cut(str(d.id), 500).text;
		const c = this.calls.get(id) ?? { name: "tool", input: {}, tail: "", sub: false };
		this.calls.delete(id);
		const kept = cut(str(d.output), outputMax);
		const more = kept.gone || d.blob ? `\n… more: ralph logs ${this.name} --json` : "";
		this.tool(id, c, kept.text + more, d.ok === true);
	}

	private iterationEnded(d: Record<string, unknown>): void {
		this.flush();
		const u = obj(d.usage);
		const tokens = [u.in, u.out, u.cacheRead, u.cacheWrite].map(num);
		const used = tokens.every((n) => n === undefined) ? "tokens unknown" : `${count(tokens.reduce((sum: number, n) => sum + (n ?? 0), 0))} tokens`;
		const tools = num(d.tools) ?? 0;
		const parts = [line(str(d.outcome), 40), took(num(d.took) ?? 0), money(u.usd), `${tools} ${tools === 1 ? "tool" : "tools"}`, used];
		if (this.left > 0) parts.push(`${this.left} more messages and tools: ralph logs ${this.name} -i ${this.iter}`);
		this.show({ kind: "end", ok: str(d.outcome) === "done", text: parts.join(" · ") });
		if (d.error) this.note("error", str(d.error));
	}

	private received(d: Record<string, unknown>): void {
		const kind = line(str(d.kind), 30);
		if (this.commands.size >= openMax) this.commands.clear();
		this.commands.set(str(d.id), kind);
		const text = clean(cut(str(d.text), textMax).text);
		const from = line(str(d.from), 60);
		if (kind === "steer" || kind === "follow-up") this.show({ kind: "command", how: kind, from, text });
		else if (kind !== "ask" && kind !== "answer") this.note("info", `${kind}${d.key ? ` ${str(d.key)}=${str(d.value)}` : ""}${text ? `: ${text}` : ""}${from ? ` (${from})` : ""}`);
	}

	private asked(d: Record<string, unknown>): void {
		const n = num(d.number);
		if (n === undefined) return;
		const choices = list(d.choices).map((c) => line(str(c), 200)).slice(0, 16);
		const q = { text: line(str(d.text), 1000), choices, blocks: d.blocks === true };
		if (this.questions.size < 64) this.questions.set(n, q);
		this.note("warning", `Question ${n}: ${q.text}${choices.length ? ` (${choices.join(" | ")})` : ""}${q.blocks ? "; the work cannot end without an answer" : ""}\nAnswer it with: /ralph answer ${n} TEXT`);
	}

	/** news are the events that one line says. */
	private news(type: string, d: Record<string, unknown>): void {
		const why = str(d.why);
		switch (type) {
			case "loop.started":
				this.loop = str(d.id) || this.loop;
				this.max = num(obj(d.rules).maximumIterations) ?? this.max;
				return this.note("info", `The loop ${this.name} has started.`);
			case "loop.resumed":
				this.flush();
				this.ended = false;
				this.max = num(obj(d.rules).maximumIterations) ?? this.max;
				return this.note("info", d.died === true ? "The loop is resumed; its runner had died." : "The loop is resumed.");
			case "loop.configured":
				this.max = num(obj(d.rules).maximumIterations) ?? this.max;
				return this.note("info", `${str(d.key)} is now ${str(d.value)}.`);
			case "loop.paused":
				return this.note("info", why || "The loop is paused.");
			case "loop.unpaused":
				return this.note("info", "The loop continues.");
			case "loop.waiting":
				return this.note("warning", `The loop waits: ${str(d.for)}${d.until ? ` until ${str(d.until)}` : ""}${why ? `. ${why}` : ""}`);
			case "loop.ended": {
				this.flush();
				this.ended = true;
				const status = str(d.status);
				const strength = obj(d.strength);
				const done = strength.strength ? ` The done is ${[str(strength.strength), ...list(strength.why).slice(0, 1).map(str)].join(": ")}.` : "";
				return this.note(status === "completed" ? "good" : status === "stopped" ? "info" : "error", `The loop has ended: ${status} (${str(d.result) || str(d.reason)}). ${why}${done}${d.hint ? `\n${str(d.hint)}` : ""}`);
			}
			case "agent.limited":
				return this.note("warning", `Limit (${str(d.kind)})${d.until ? ` until ${str(d.until)}` : ""}: ${str(d.text)}`);
			case "agent.retried":
				return this.note("info", `The agent tries again (${num(d.attempt) ?? "?"}${d.max ? `/${num(d.max)}` : ""}): ${str(d.text) || str(d.kind)}`);
			case "agent.compacted":
				return this.note("info", "The agent has compacted its context.");
			case "agent.replaced":
				return this.note("info", `${str(d.name) || "Another agent"} works from now on. ${why}`);
			case "agent.unparsed":
				return d.stream === "stderr" ? undefined : this.note("warning", `A line of the agent that ralph does not understand: ${line(str(d.line), 200)}`);
			case "completion.refused":
				return this.note("warning", `Not done yet: ${list(d.missing).map(str).join("; ")}`);
			case "completion.ignored":
				return this.note("info", `A claim did not count: ${why}`);
			case "completion.accepted":
				return this.note("good", `The work is done (${str(d.how)}).${d.warning ? ` ${str(d.warning)}` : ""}`);
			case "guardrail.ended":
				return this.note(d.ok === true ? "good" : "error", `${str(d.name)}: ${d.ok === true ? "ok" : d.timedOut ? "timed out" : `failed (${num(d.code)})`}, ${took(num(d.took) ?? 0)}`);
			case "guardrail.edited":
				return this.note("warning", `The agent ${str(d.how) || "changed"} ${str(d.path)}${d.restored ? "; it was put back" : ""}`);
			case "repo.committed":
				return this.note("good", `Commit ${str(d.sha).slice(0, 8)}: ${line(str(d.message), 120)}`);
			case "scm.ended":
				return d.error ? this.note("error", `${str(d.failed)}: ${str(d.error)}`) : this.note("info", `Done: ${list(d.tasks).map(str).join(", ") || "nothing to commit"} ${str(d.pr)}`);
			case "stories.judged":
				return list(d.problems).length ? this.note("warning", list(d.problems).map((p) => `${str(obj(p).story)}: ${str(obj(p).text)}`).join("\n")) : undefined;
			case "story.reviewed":
				return this.note(d.approved ? "good" : "warning", `${str(d.story)} ${d.approved ? "is approved" : `needs changes: ${str(d.feedback)}`}`);
			case "budget.warned":
				return this.note("warning", why);
			case "breaker.tripped":
				return this.note("warning", `No progress (${str(d.rule)}, ${num(d.count) ?? "?"} iterations): ${str(d.evidence)}`);
			case "review.undone":
				return this.note("warning", `The reviewer of ${str(d.story)} changed files, and they were put back: ${list(d.files).slice(0, 10).map(str).join(", ")}`);
			case "loop.released":
				return this.note("info", d.person ? "A person lets the loop go on." : "Nothing holds the loop any more.");
			case "sandbox.opened":
				return why === "" ? this.note("info", `The agent works in a sandbox (${str(d.mode)}).`) : this.note("warning", `No sandbox holds here: ${why}`);
			case "sandbox.corrected":
				return this.note("warning", list(d.did).map((did) => `Ralph ${str(did)}`).join("\n"));
			case "notification.failed":
				return this.note("warning", `No notification by ${str(d.channel)}: ${why}`);
			case "telemetry.failed":
				return this.note("warning", `The trace is not sent: ${why}`);
			case "telemetry.restored":
				return this.note("info", "The trace is sent again, with all that was missing.");
			case "fault.raised":
				return this.note("error", `${str(d.where)}: ${str(d.error)}`);
			case "effect.failed":
				return this.note("error", `${str(d.do)}: ${str(d.error) || why}`);
			default:
				if (!quiet.has(type)) this.strange(`the event ${line(type, 60) || "without a type"}`);
		}
	}
}

/** summary is a tool's input on one line. */
export function summary(input: unknown): string {
	const o = obj(input);
	for (const key of ["command", "cmd", "path", "file_path", "pattern", "query", "url", "description"]) {
		const v = o[key];
		if (typeof v === "string") return line(v, 300);
		if (Array.isArray(v)) return line(v.map(String).join(" "), 300);
	}
	return Object.keys(o).length === 0 ? "" : line(JSON.stringify(json(input)), 300);
}

function tail(text: string, lines: number): string[] {
	return clean(text)
		.split("\n")
		.map((l) => line(l, 500))
		.filter((l) => l !== "")
		.slice(-lines);
}
