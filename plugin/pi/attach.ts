// An attachment to a loop: what its journal says becomes entries of pi's session, in order, each once.
//
// The entries are the memory of what was shown: the last one of a loop is the place to continue at.
// pi keeps no file of a session before its model has answered once. Until then a file in pi's folder
// keeps the place, for the next pi in this folder.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { type ExtensionAPI, type ExtensionContext, getAgentDir } from "@earendil-works/pi-coding-agent";

import { Fold, type Shown } from "./journal.ts";
import { Follower, loops, read } from "./ralph.ts";
import { entryType } from "./render.ts";
import { Room } from "./room.ts";
import { line, list, num, obj, str } from "./text.ts";

/** attachType marks the entries that say that the session is attached to a loop, or no longer. They are not shown. */
export const attachType = "ralph-attached";

export interface Place {
	loop: string;
	name: string;
	dir: string;
	seq: number;
	part: number;
	iter: number;
}

interface Mark {
	attached: boolean;
	loop: string;
	name: string;
	dir: string;
}

/** project is the folder that holds .ralph. */
export const project = (dir: string): string => dirname(dirname(dir));

export class Attachment {
	readonly name: string;
	readonly dir: string;
	readonly loop: string;
	fold: Fold;
	private place: Place;
	private follower: Follower | undefined;
	private retries = 0;
	private timer: NodeJS.Timeout | undefined;
	private closed = false;
	private lost = 0;
	private told = false;

	constructor(
		private pi: ExtensionAPI,
		private ctx: ExtensionContext,
		place: Place,
		private room: Room,
		max: number,
		questions: unknown,
		private on: { changed(): void; ended(why: string): void },
	) {
		this.place = place;
		this.name = place.name;
		this.dir = place.dir;
		this.loop = place.loop;
		this.fold = new Fold(place.name, place.loop, max);
		for (const q of list(questions).map(obj)) {
			const n = num(q.number);
			if (n !== undefined && !q.answeredAt) this.fold.questions.set(n, { text: line(str(q.text), 1000), choices: list(q.choices).map((c) => line(str(c), 200)), blocks: q.blocks === true });
		}
	}

	/** follow reads from the beginning of the iteration of the last thing that was shown. */
	follow(): void {
		const fold = new Fold(this.name, this.loop, this.fold.max);
		fold.questions = this.fold.questions;
		this.fold = fold;
		const from = this.place.iter > 0 ? ["--iteration", `${this.place.iter}..`] : [];
		let kept = false;
		this.follower = new Follower(["logs", this.name, "--project", project(this.dir), "--json", "--follow", ...from], this.ctx.cwd, {
			line: (text) => {
				for (const shown of fold.line(text)) {
					if (shown.loop !== this.loop) return this.stop(`the loop ${this.name} was started again: /ralph attach ${this.name} shows the new one`);
					if (shown.seq < this.place.seq || (shown.seq === this.place.seq && shown.part <= this.place.part)) continue;
					if (this.room.full) {
						this.over();
						continue; // the fold goes on: the line above the editor shows what it knows
					}
					this.place = { ...this.place, seq: shown.seq, part: shown.part, iter: shown.iter };
					this.pi.appendEntry<Shown>(entryType, shown);
					this.room.take(shown);
					kept = true;
				}
			},
			skipped: () => {
				if (++this.lost === 1) this.ctx.ui.notify(`A line of the journal of ${this.name} is too long to be shown.`, "warning");
			},
			idle: () => {
				if (kept) remember(this.ctx, this.place);
				kept = false;
				this.retries = 0;
				this.on.changed();
			},
			end: (code, err) => void this.ended(code, err),
		});
	}

	/** over says, once, that the session has no room for more. */
	private over(): void {
		if (this.told) return;
		this.told = true;
		this.ctx.ui.notify(`This session has shown as much of loops as pi can hold without becoming slow. What ${this.name} does from now on is not shown here: /new, then /ralph attach ${this.name}, goes on with its current iteration.`, "warning");
	}

	/** ended finds out why there is no more to read: the loop has ended, its runner is dead, or only ralph's reader is. */
	private async ended(code: number, err: string): Promise<void> {
		if (this.closed) return;
		if (this.fold.ended) return this.stop(`the loop ${this.name} has ended`);
		if (this.vanished()) return;
		let why = line(err, 300);
		try {
			const here = loops(await read(["list", "--json", "--project", project(this.dir)], { cwd: this.ctx.cwd })).find((l) => l.name === this.name);
			if (this.closed) return;
			if (!here) return this.stop(`the loop ${this.name} is gone`);
			if (!here.alive) return this.stop(`the runner of ${this.name} has died; /ralph start ${this.name} --resume continues it`);
		} catch (e) {
			why = (e as Error).message;
		}
		if (this.closed) return;
		if (++this.retries > 5) return this.stop(`the journal of ${this.name} cannot be read (code ${code}): ${why}`);
		this.timer = setTimeout(() => this.follow(), 500 * 2 ** this.retries);
	}

	/** vanished ends the attachment if the folder of the loop is gone. ralph's reader notices that only after half a minute. */
	vanished(): boolean {
		if (existsSync(this.dir)) return false;
		this.stop(`the folder of the loop ${this.name} is gone`);
		return true;
	}

	private stop(why: string): void {
		if (this.closed) return;
		this.detach();
		this.on.ended(why);
	}

	/** detach ends the attachment, not the loop. */
	detach(): void {
		if (this.closed) return;
		this.close();
		mark(this.pi, this.place, false);
		forget(this.ctx);
	}

	/** close ends it with this pi: the next one continues. */
	close(): void {
		this.closed = true;
		clearTimeout(this.timer);
		this.follower?.close();
	}
}

/** mark notes in the session that it is attached to a loop, or no longer. */
export function mark(pi: ExtensionAPI, place: Place, attached: boolean): void {
	pi.appendEntry<Mark>(attachType, { attached, loop: place.loop, name: place.name, dir: place.dir });
}

/** places are what was shown of each loop in the branch of the session, by the loop's id, the loop that it is attached to, and the room that is left. */
export function places(ctx: ExtensionContext): { shown: Map<string, Place>; attached: Mark | undefined; room: Room } {
	const shown = new Map<string, Place>();
	const room = new Room();
	let attached: Mark | undefined;
	for (const entry of ctx.sessionManager.getBranch()) {
		if (entry.type !== "custom") continue;
		const d = obj(entry.data);
		const loop = str(d.loop);
		if (loop === "") continue;
		if (entry.customType === attachType) {
			attached = d.attached === true ? { attached: true, loop, name: str(d.name), dir: str(d.dir) } : undefined;
		} else if (entry.customType === entryType) {
			room.take(entry.data);
			const p = { loop, name: str(d.name), dir: "", seq: num(d.seq) ?? 0, part: num(d.part) ?? 0, iter: num(d.iter) ?? 0 };
			const before = shown.get(loop);
			if (!before || p.seq > before.seq || (p.seq === before.seq && p.part > before.part)) shown.set(loop, p);
		}
	}
	return { shown, attached, room };
}

interface Kept extends Place {
	pid: number;
	session: string;
}

function file(ctx: ExtensionContext): string {
	return join(getAgentDir(), "ralph", `${createHash("sha256").update(ctx.cwd).digest("hex").slice(0, 32)}.json`);
}

/** remember keeps the place while pi has no file of the session. A session without a file at all is not remembered. */
export function remember(ctx: ExtensionContext, place: Place): void {
	const session = ctx.sessionManager.getSessionFile();
	if (session === undefined) return;
	const path = file(ctx);
	try {
		if (existsSync(session)) return rmSync(path, { force: true });
		mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
		writeFileSync(`${path}.${process.pid}`, JSON.stringify({ ...place, pid: process.pid, session } satisfies Kept), { mode: 0o600 });
		renameSync(`${path}.${process.pid}`, path);
	} catch {
		// The place is a convenience: without it the next pi in this folder begins without a loop.
	}
}

function forget(ctx: ExtensionContext): void {
	try {
		rmSync(file(ctx), { force: true });
	} catch {
		// as above
	}
}

/** remembered is the place that an earlier pi in this folder left, if it is gone and its session was never kept. */
export function remembered(ctx: ExtensionContext): Place | undefined {
	try {
		const k = JSON.parse(readFileSync(file(ctx), "utf8")) as Kept;
		if (existsSync(k.session) || (k.pid !== process.pid && alive(k.pid))) return undefined;
		if (typeof k.loop !== "string" || typeof k.name !== "string" || typeof k.dir !== "string" || typeof k.seq !== "number") return undefined;
		return { loop: k.loop, name: k.name, dir: k.dir, seq: k.seq, part: num(k.part) ?? 0, iter: num(k.iter) ?? 0 };
	} catch {
		return undefined;
	}
}

function alive(pid: number): boolean {
	try {
		process.kill(pid, 0);
		return true;
	} catch (e) {
		return (e as NodeJS.ErrnoException).code === "EPERM";
	}
}
