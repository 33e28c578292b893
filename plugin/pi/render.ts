// How the messages, tools and borders of a loop look in pi: with pi's own components.
import type { AssistantMessage } from "@earendil-works/pi-ai";
import {
	AssistantMessageComponent,
	createBashToolDefinition,
	createFindToolDefinition,
	createGrepToolDefinition,
	createLsToolDefinition,
	createReadToolDefinition,
	createWriteToolDefinition,
	type ExtensionAPI,
	type Theme,
	type ToolDefinition,
	ToolExecutionComponent,
	UserMessageComponent,
} from "@earendil-works/pi-coding-agent";
import { type Component, Container, Text, truncateToWidth, type TUI, visibleWidth } from "@earendil-works/pi-tui";

import { type Shown, summary, type Unit } from "./journal.ts";
import { obj, str } from "./text.ts";

/** entryType marks the entries of a session that show something of a loop. They are never sent to pi's model. */
export const entryType = "ralph";
/** outputType marks entries with what a command of ralph printed. */
export const outputType = "ralph-output";

let screen: TUI | undefined;
/** setScreen says where components ask for a new frame; tools with pictures need it. */
export function setScreen(tui: TUI | undefined): void {
	screen = tui;
}
const frames = { requestRender: () => screen?.requestRender() } as unknown as TUI;

/** Flush shows a component without the empty lines above it: an entry has one already. */
class Flush implements Component {
	constructor(private inner: Component) {}
	invalidate(): void {
		this.inner.invalidate();
	}
	render(width: number): string[] {
		const lines = [...this.inner.render(width)];
		while (lines.length > 1 && visibleWidth(lines[0]!) === 0) {
			const marks = lines.shift()!.trim(); // a mark of the terminal for the beginning of a message
			lines[0] = marks + lines[0]!;
		}
		return lines;
	}
}

/** Border is a line as wide as the screen with a label in it. */
class Border implements Component {
	constructor(
		private label: string,
		private style: (text: string) => string,
	) {}
	invalidate(): void {}
	render(width: number): string[] {
		const label = truncateToWidth(`─── ${this.label} `, width, "…");
		return [this.style(label + "─".repeat(Math.max(0, width - visibleWidth(label))))];
	}
}

export function render(pi: ExtensionAPI): void {
	pi.registerEntryRenderer<Shown>(entryType, (entry, { expanded }, theme) => {
		const shown = entry.data;
		if (!shown?.unit) return undefined;
		return new Flush(component(shown, expanded, theme));
	});
	pi.registerEntryRenderer<{ title: string; text: string }>(outputType, (entry, _options, theme) => {
		if (!entry.data) return undefined;
		return new Text(`${theme.fg("customMessageLabel", theme.bold(entry.data.title))}\n${entry.data.text}`, 1, 0);
	});
}

function component(shown: Shown, expanded: boolean, theme: Theme): Component {
	const u = shown.unit;
	switch (u.kind) {
		case "said":
		case "thought":
			return under(u.sub, new AssistantMessageComponent(message(u)), theme);
		case "tool":
			return under(u.sub, tool(u, expanded), theme);
		case "begin":
			return new Border(`${shown.name} · iteration ${u.n}${u.max ? `/${u.max}` : ""}${u.mode && u.mode !== "work" ? ` · ${u.mode}` : ""}`, (t) => theme.fg("borderAccent", t));
		case "end":
			return new Border(u.text, (t) => theme.fg(u.ok ? "borderMuted" : "warning", t));
		case "command":
			return command(u, theme);
		case "note":
			return new Text(theme.fg(u.level === "info" ? "muted" : u.level === "good" ? "success" : u.level, `${shown.name}: ${u.text}`), 1, 0);
		default:
			return new Text(theme.fg("warning", `${shown.name}: a later version of the extension wrote this`), 1, 0);
	}
}

function under(sub: boolean | undefined, inner: Component, theme: Theme): Component {
	if (!sub) return inner;
	const box = new Container();
	box.addChild(new Text(theme.fg("dim", "a subagent:"), 1, 0));
	box.addChild(inner);
	return box;
}

function command(u: Extract<Unit, { kind: "command" }>, theme: Theme): Component {
	const box = new Container();
	box.addChild(new Text(theme.fg("dim", `${u.how}${u.from ? ` from ${u.from}` : ""}`), 1, 0));
	box.addChild(new UserMessageComponent(u.text));
	return box;
}

function message(u: { kind: "said" | "thought"; text: string }): AssistantMessage {
	const none = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0 };
	return {
		role: "assistant",
		content: [u.kind === "said" ? { type: "text", text: u.text } : { type: "thinking", thinking: u.text }],
		api: "openai-completions",
		provider: "ralph",
		model: "loop",
		usage: { ...none, cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 } },
		stopReason: "stop",
		timestamp: 0,
	};
}

// biome-ignore lint: a definition's types depend on its parameters, which are not used here
type AnyTool = ToolDefinition<any, any, any>;
const drawn: Record<string, (cwd: string) => AnyTool> = {
	bash: createBashToolDefinition,
	read: createReadToolDefinition,
	write: createWriteToolDefinition,
	grep: createGrepToolDefinition,
	find: createFindToolDefinition,
	ls: createLsToolDefinition,
};
// What these definitions need to draw a call. Another agent's tool of that name may take something else.
const needs: Record<string, string> = { bash: "command", read: "path", write: "path", grep: "pattern", find: "pattern", ls: "path" };

function tool(u: Extract<Unit, { kind: "tool" }>, expanded: boolean): Component {
	const name = u.name.toLowerCase();
	const args = { ...obj(u.args) };
	if (args.path === undefined && typeof args.file_path === "string") args.path = args.file_path;
	const cwd = process.cwd();
	const make = typeof args[needs[name] ?? ""] === "string" && (name !== "write" || typeof args.content === "string") ? drawn[name] : undefined;
	const t = new ToolExecutionComponent(u.name, u.id, args, { showImages: false }, make ? make(cwd) : plain(u.name), frames, cwd);
	t.setArgsComplete();
	t.updateResult({ content: [{ type: "text", text: u.output }], details: undefined, isError: !u.ok });
	t.setExpanded(expanded);
	return t;
}

/** plain draws the call of a tool that pi does not have. Without renderResult pi shows the first lines of what it returned. */
function plain(name: string): Pick<AnyTool, "renderCall"> {
	return {
		renderCall: (args, theme) => new Text(`${theme.fg("toolTitle", theme.bold(name))} ${theme.fg("accent", str(summary(args)))}`, 0, 0),
	};
}
