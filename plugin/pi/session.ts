// What lives as long as a session of pi: the attachment, the lines above the editor, and where the keys go.
import type { ExtensionAPI, ExtensionContext, InputEvent, InputEventResult } from "@earendil-works/pi-coding-agent";
import { getKeybindings, isKeyRelease } from "@earendil-works/pi-tui";

import { Attachment, mark, type Place, places, project, remember, remembered } from "./attach.ts";
import { send } from "./commands.ts";
import { type Loop, loops, read } from "./ralph.ts";
import type { Room } from "./room.ts";
import { line, num, obj, str } from "./text.ts";
import { Board } from "./widget.ts";

export class Session {
	readonly board: Board;
	private known: { at: number; loops: Promise<Loop[]> } | undefined;
	private keys: (() => void) | undefined;
	private prompts = 0;
	private closed = false;

	constructor(
		readonly pi: ExtensionAPI,
		readonly ctx: ExtensionContext,
	) {
		this.board = new Board(ctx);
	}

	/** loops are those of this machine, at most two seconds old. */
	loops(): Promise<Loop[]> {
		if (!this.known || Date.now() - this.known.at > 2000) {
			const found = read(["list", "--all", "--json"], { cwd: this.ctx.cwd, timeout: 10_000 }).then(loops, () => []);
			this.known = { at: Date.now(), loops: found };
		}
		return this.known.loops;
	}

	/** here names the attached loop for a verb that takes it as an argument; nothing if there is none. */
	here(): string[] {
		const a = this.board.attachment;
		return a ? [a.name, "--project", project(a.dir)] : [];
	}

	/** target names it for a verb that takes it as a flag. */
	target(): string[] {
		const a = this.board.attachment;
		return a ? ["--loop", a.name, "--project", project(a.dir)] : [];
	}

	/** attach shows a loop from where this session has left it, else from the beginning of its iteration. */
	async attach(name: string | undefined, dir: string | undefined, last: boolean): Promise<void> {
		const args = [...(name ? [name] : []), ...(dir ? ["--project", project(dir)] : [])];
		const status = obj(await read(["status", ...args, "--json"], { cwd: this.ctx.cwd }));
		const found: Place = { loop: str(status.id), name: line(str(status.name), 100), dir: str(status.dir), seq: 0, part: -1, iter: num(status.iteration) ?? 0 };
		if (found.loop === "" || found.name === "") throw new Error("the loop's status lacks its id");
		if (found.iter === 1) found.iter = 0;
		const { shown, room } = places(this.ctx);
		const before = last ? undefined : shown.get(found.loop);
		if (before?.loop === this.board.attachment?.loop && this.board.attachment) return this.ctx.ui.notify(`${found.name} is attached already.`, "info");
		this.follow({ ...found, ...before, dir: found.dir }, room, status, false);
	}

	private follow(place: Place, room: Room, status: Record<string, unknown>, again: boolean): void {
		if (this.closed) return;
		this.board.attachment?.detach();
		const a = new Attachment(this.pi, this.ctx, place, room, num(status.maximumIterations) ?? 0, status.questions, {
			changed: () => this.board.draw(),
			ended: (why) => {
				if (this.board.attachment !== a) return;
				this.unroute();
				this.ctx.ui.notify(`Detached: ${why}.`, "info");
			},
		});
		if (!again) mark(this.pi, place, true);
		remember(this.ctx, place);
		this.board.attachment = a;
		this.board.open();
		this.board.draw();
		this.route();
		a.follow();
	}

	detach(): void {
		const a = this.board.attachment;
		if (!a) return this.ctx.ui.notify("No loop is attached.", "info");
		a.detach();
		this.unroute();
		this.ctx.ui.notify(`Detached from ${a.name}. It continues; /ralph attach ${a.name} goes on from here.`, "info");
	}

	/** resume attaches again where an earlier pi, or this one before a reload, was attached. */
	async resume(startup: boolean): Promise<void> {
		const { shown, attached, room } = places(this.ctx);
		const left = attached ? (shown.get(attached.loop) ?? { ...attached, seq: 0, part: -1, iter: 0 }) : startup ? remembered(this.ctx) : undefined;
		if (!left) return;
		const dir = attached?.dir || left.dir;
		try {
			const status = obj(await read(["status", left.name, "--project", project(dir), "--json"], { cwd: this.ctx.cwd }));
			if (this.closed || this.board.attachment) return;
			if (str(status.id) !== left.loop) throw new Error("another loop has its name now");
			this.follow({ ...left, dir }, room, status, attached !== undefined);
			this.ctx.ui.notify(`Attached to ${left.name} again.`, "info");
		} catch (e) {
			if (!this.closed) this.ctx.ui.notify(`The loop ${left.name}, which was attached here, is not any more: ${(e as Error).message}`, "warning");
			if (attached) mark(this.pi, { ...left, dir }, false);
		}
	}

	/** close ends all that this session has open; its loops go on. */
	close(): void {
		this.closed = true;
		this.keys?.();
		this.keys = undefined;
		this.board.attachment?.close();
		this.board.close();
	}

	/** prompt counts the dialogs that wait for a person: keys are theirs. */
	prompt(by: 1 | -1): void {
		this.prompts = Math.max(0, this.prompts + by);
	}

	/** input takes what a person submits with enter while a loop is attached. */
	input(event: InputEvent): InputEventResult {
		const a = this.board.attachment;
		if (!a || event.source !== "interactive" || this.command(event.text)) return { action: "continue" };
		if (event.text.trim() === "") return { action: "continue" };
		if (event.images?.length) this.ctx.ui.notify("A loop takes no pictures: only the text is sent.", "warning");
		void this.send(event.streamingBehavior === "followUp" ? "follow-up" : "steer", event.text);
		return { action: "handled" };
	}

	/** command says whether a text calls one of pi's own commands, prompts or skills. */
	private command(text: string): boolean {
		const m = /^\/(\S+)/.exec(text.trimStart());
		return m !== null && this.pi.getCommands().some((c) => c.name === m[1]);
	}

	private async send(kind: "steer" | "follow-up", text: string): Promise<void> {
		try {
			await send(this, kind, text);
		} catch (e) {
			if (this.closed) return;
			this.ctx.ui.notify(`${kind}: ${(e as Error).message}`, "error");
			if (this.ctx.ui.getEditorText().trim() === "") this.ctx.ui.setEditorText(text);
		}
	}

	/**
	 * route takes the key for a follow-up while a loop is attached: pi itself treats it as enter when
	 * its agent is idle. Without an attached loop nothing listens, and both keys are pi's.
	 */
	private route(): void {
		if (this.keys || this.ctx.mode !== "tui") return;
		this.keys = this.ctx.ui.onTerminalInput((data) => {
			if (this.prompts > 0 || isKeyRelease(data) || !followUp(data)) return undefined;
			const text = this.ctx.ui.getEditorText().trim();
			if (text === "" || text.startsWith("!") || this.slash(text)) return undefined;
			this.ctx.ui.setEditorText("");
			void this.send("follow-up", text);
			return { consume: true };
		});
	}

	/** slash: pi has commands of its own that it does not list; they are never followed by a second slash. */
	private slash(text: string): boolean {
		return /^\/[a-z][a-z:-]*(\s|$)/.test(text) || this.command(text);
	}

	private unroute(): void {
		this.board.attachment = undefined;
		this.keys?.();
		this.keys = undefined;
		this.board.draw();
	}
}

/** followUp asks pi's own key bindings, which a person may have changed. */
function followUp(data: string): boolean {
	return (getKeybindings() as unknown as { matches(data: string, key: string): boolean }).matches(data, "app.message.followUp");
}
