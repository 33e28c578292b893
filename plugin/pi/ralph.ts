// The program ralph, which does all the work: this extension starts it with lists of arguments, never
// with a line for a shell, and reads what it prints.
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { StringDecoder } from "node:string_decoder";

import { getAgentDir } from "@earendil-works/pi-coding-agent";

import { clean, cut, list, obj } from "./text.ts";

const kept = 4 * 1024 * 1024;
const longest = 8 * 1024 * 1024;

/** program is the name or path of ralph. */
let program = "ralph";
export function use(path: string): void {
	program = path;
}

export interface Outcome {
	code: number;
	out: string;
	err: string;
}

export interface Options {
	cwd: string;
	input?: string;
	signal?: AbortSignal;
	/** milliseconds, a minute without it */
	timeout?: number;
}

/** run runs ralph and returns what it printed, of each stream the first 4 MiB. It rejects only if ralph cannot be started. */
export function run(args: string[], o: Options): Promise<Outcome> {
	return new Promise((resolve, reject) => {
		const child = spawn(program, args, { cwd: o.cwd, stdio: ["pipe", "pipe", "pipe"], signal: o.signal, timeout: o.timeout ?? 60_000 });
		let out = "";
		let err = "";
		child.stdout.setEncoding("utf8").on("data", (s: string) => {
			if (out.length < kept) out += s;
		});
		child.stderr.setEncoding("utf8").on("data", (s: string) => {
			if (err.length < kept) err += s;
		});
		child.on("error", (e) => reject(missing(e, o.cwd)));
		child.on("close", (code) => resolve({ code: code ?? -1, out, err }));
		child.stdin.on("error", () => {}); // ralph may end without reading it
		child.stdin.end(o.input ?? "");
	});
}

function missing(e: Error, cwd: string): Error {
	const code = (e as NodeJS.ErrnoException).code;
	if (code === "ENOENT" && !existsSync(cwd)) return new Error(`the folder of this session is gone: ${cwd}`);
	if (code !== "ENOENT" && code !== "EACCES") return e;
	const what = code === "ENOENT" ? (program.includes("/") ? "does not exist" : "is not on PATH") : "cannot be executed";
	return new Error(`the program ${program} ${what}; "command" in ralph.json of pi's folder (${getAgentDir()}) may name its path`);
}

/** read runs ralph and returns the JSON that it printed; its words to a person become the error. */
export async function read(args: string[], o: Options): Promise<unknown> {
	const r = await run(args, o);
	if (r.code !== 0 && r.out.trim() === "") throw new Error(said(r));
	try {
		return JSON.parse(r.out);
	} catch {
		throw new Error(r.code === 0 ? `ralph ${args[0]} printed something that is not JSON` : said(r));
	}
}

/** said is what ralph had to say about a failure. */
export function said(r: Outcome): string {
	const text = clean(cut(r.err.trim() || r.out.trim(), 4000).text).replace(/^ralph: error: /, "").replace(/\nralph: hint: /g, "\n");
	return text || `ralph ended with code ${r.code}`;
}

/** Follower is a program that prints lines until it ends or is closed. */
export class Follower {
	private child: ChildProcess;
	private buffer = "";
	private skipping = false;
	private queue: string[] = [];
	private busy = false;
	private closed = false;
	private code: number | undefined;
	private err = "";

	constructor(
		args: string[],
		cwd: string,
		private on: {
			line(text: string): void;
			/** a line that is too long to read was left out */
			skipped(): void;
			/** what had arrived has been handed over */
			idle(): void;
			end(code: number, err: string): void;
		},
	) {
		this.child = spawn(program, args, { cwd, stdio: ["ignore", "pipe", "pipe"] });
		const decoder = new StringDecoder("utf8");
		this.child.stdout!.on("data", (bytes: Buffer) => this.data(decoder.write(bytes)));
		this.child.stderr!.setEncoding("utf8").on("data", (s: string) => {
			this.err = (this.err + s).slice(-4000);
		});
		this.child.on("error", (e) => {
			this.err = missing(e, cwd).message;
			this.ended(-1);
		});
		this.child.on("close", (code) => this.ended(code ?? -1));
	}

	/** close ends the program; nothing is reported from now on. */
	close(): void {
		this.closed = true;
		this.queue = [];
		this.child.kill();
	}

	private ended(code: number): void {
		this.code ??= code;
		this.work();
	}

	private data(text: string): void {
		if (this.closed) return;
		let from = 0;
		for (let to = text.indexOf("\n"); to >= 0; from = to + 1, to = text.indexOf("\n", from)) {
			if (this.skipping) {
				this.skipping = false;
				this.on.skipped();
			} else {
				this.queue.push(this.buffer + text.slice(from, to));
			}
			this.buffer = "";
		}
		if (!this.skipping) this.buffer += text.slice(from);
		if (this.buffer.length > longest) {
			this.skipping = true;
			this.buffer = "";
		}
		this.work();
	}

	/** work takes some lines, then lets pi draw and listen before it takes more. The program waits meanwhile. */
	private work(): void {
		if (this.busy || this.closed) return;
		for (const text of this.queue.splice(0, 100)) {
			if (this.closed) return;
			this.on.line(text);
		}
		if (this.queue.length > 0) {
			this.busy = true;
			this.child.stdout!.pause();
			setImmediate(() => {
				this.busy = false;
				this.work();
			});
			return;
		}
		this.child.stdout!.resume();
		this.on.idle();
		if (this.code !== undefined && !this.closed) {
			this.closed = true;
			this.on.end(this.code, this.err);
		}
	}
}

/** Loop is a loop as `ralph list --json` has it. */
export interface Loop {
	name: string;
	/** what to call it by: its name, or its folder where the name is not enough */
	call: string;
	dir: string;
	project: string;
	alive: boolean;
	status: string;
	iteration: number;
	maximumIterations: number;
	started: string;
	at: string;
	cost: number | null;
	waiting: string;
	questions: number;
}

/** loops reads an array that `ralph list --json` printed. */
export function loops(value: unknown): Loop[] {
	return list(value)
		.slice(0, 1000)
		.map(obj)
		.filter((l) => typeof l.name === "string" && typeof l.dir === "string")
		.map((l) => ({
			name: clean(String(l.name)),
			call: clean(String(l.call || l.name)),
			dir: String(l.dir),
			project: String(l.project ?? ""),
			alive: l.alive === true,
			status: clean(String(l.status ?? "")),
			iteration: Number(l.iteration) || 0,
			maximumIterations: Number(l.maximumIterations) || 0,
			started: String(l.started ?? ""),
			at: String(l.at ?? ""),
			cost: typeof l.cost === "number" ? l.cost : null,
			waiting: clean(String(l.waiting ?? "")),
			questions: Number(l.openQuestions) || 0,
		}));
}
