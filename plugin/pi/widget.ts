// The lines above the editor: the loop that pi is attached to, what its agent does right now, what it
// asks, and the other loops that run here.
import type { ExtensionContext, Theme } from "@earendil-works/pi-coding-agent";
import { type Component, truncateToWidth, type TUI, visibleWidth } from "@earendil-works/pi-tui";

import { type Attachment, project } from "./attach.ts";
import { Follower, type Loop, loops } from "./ralph.ts";
import { setScreen } from "./render.ts";
import { line, money, took } from "./text.ts";

const othersMax = 3;
const questionsMax = 3;

/** Board knows the loops of this machine that run, and draws them. */
export class Board {
	attachment: Attachment | undefined;
	private running: Loop[] = [];
	/** the folders of loops that this pi has started: they may run in another work tree */
	private own = new Set<string>();
	private watch: Follower | undefined;
	private timer: NodeJS.Timeout | undefined;
	private shown = false;
	private tui: TUI | undefined;

	constructor(private ctx: ExtensionContext) {}

	started(dir: string): void {
		this.own.add(dir);
	}

	/** open begins to watch. It may be called again. */
	open(): void {
		if (this.watch || this.ctx.mode !== "tui") return;
		this.watch = new Follower(["list", "--all", "--running", "--json", "--watch"], this.ctx.cwd, {
			line: (text) => {
				try {
					this.running = loops(JSON.parse(text));
				} catch {
					return;
				}
				if (!this.running.some((l) => l.dir === this.attachment?.dir)) this.attachment?.vanished();
			},
			skipped: () => {},
			idle: () => this.draw(),
			end: () => (this.watch = undefined),
		});
		// The elapsed time moves on even while nothing happens.
		this.timer ??= setInterval(() => this.tui?.requestRender(), 1000);
		this.timer.unref();
	}

	close(): void {
		this.watch?.close();
		this.watch = undefined;
		clearInterval(this.timer);
		this.timer = undefined;
		setScreen(undefined);
	}

	/** draw shows the widget while there is something in it. */
	draw(): void {
		if (this.ctx.mode !== "tui") return;
		const wanted = this.attachment !== undefined || this.others().length > 0;
		if (wanted && !this.shown) {
			this.ctx.ui.setWidget("ralph", (tui, theme) => {
				this.tui = tui;
				setScreen(tui);
				return new Lines((width) => this.lines(width, theme));
			});
		} else if (!wanted && this.shown) {
			this.ctx.ui.setWidget("ralph", undefined);
			this.tui = undefined;
		}
		this.shown = wanted;
		this.tui?.requestRender();
	}

	/** others are the loops beside the attached one that run for this project, or were started from here. */
	private others(): Loop[] {
		return this.running.filter((l) => l.dir !== this.attachment?.dir && (this.own.has(l.dir) || near(l.project, this.ctx.cwd) || near(project(l.dir), this.ctx.cwd)));
	}

	private lines(width: number, theme: Theme): string[] {
		const out: string[] = [];
		const a = this.attachment;
		if (a) {
			const l = this.running.find((r) => r.dir === a.dir);
			const color = l?.status === "running" ? "accent" : "warning";
			out.push(theme.fg(color, row(a.name, l, a.fold.max, width, "enter steers")));
			for (const text of a.fold.live()) out.push(theme.fg("dim", `  ${text}`));
			const open = [...a.fold.questions];
			for (const [n, q] of open.slice(0, questionsMax)) {
				out.push(theme.fg("warning", `  ? ${n} ${q.text}${q.choices.length ? ` (${q.choices.join(" | ")})` : ""}`));
			}
			if (open.length > questionsMax) out.push(theme.fg("warning", `  and ${open.length - questionsMax} more questions`));
		}
		const others = this.others();
		for (const l of others.slice(0, othersMax)) out.push(theme.fg("dim", row(l.name, l, l.maximumIterations, width, "")));
		if (others.length > othersMax) out.push(theme.fg("dim", `and ${others.length - othersMax} more: /ralph list`));
		return out.map((text) => truncateToWidth(text, width, "…")); // pi ends with an error when a line is wider
	}
}

/** row leaves out what has no room, the least important first. */
function row(name: string, l: Loop | undefined, max: number, width: number, hint: string): string {
	if (!l) return `ralph: ${name}`;
	const at = `${l.iteration}${max ? `/${max}` : ""}`;
	const elapsed = took(Date.now() - Date.parse(l.started || l.at));
	const waits = l.waiting ? `${l.status} (${line(l.waiting, 30)})` : l.status;
	const asks = l.questions ? `${l.questions} open` : "";
	const cost = money(l.cost ?? undefined);
	const forms = [
		[name, `iteration ${at}`, waits, elapsed, cost, asks, hint],
		[name, `iteration ${at}`, waits, elapsed, cost, asks],
		[name, at, l.status, elapsed, cost === "cost unknown" ? "" : cost, asks],
		[name, at, l.status, elapsed],
		[name, at, l.status],
	].map((parts) => `ralph: ${parts.filter((p) => p !== "").join(" │ ")}`);
	return forms.find((f) => visibleWidth(f) <= width) ?? forms.at(-1)!;
}

function near(folder: string, cwd: string): boolean {
	return folder !== "" && (folder === cwd || cwd.startsWith(`${folder}/`) || folder.startsWith(`${cwd}/`));
}

class Lines implements Component {
	constructor(private make: (width: number) => string[]) {}
	invalidate(): void {}
	render(width: number): string[] {
		return this.make(width);
	}
}
