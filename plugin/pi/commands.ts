// The command /ralph. Each verb runs the verb of the same name of the program.
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import type { AutocompleteItem } from "@earendil-works/pi-tui";

import { type Loop, type Outcome, read, run, said } from "./ralph.ts";
import { outputType } from "./render.ts";
import type { Session } from "./session.ts";
import { patience } from "./settings.ts";
import { clean, cut, first, line, obj, str, words } from "./text.ts";

interface Verb {
	help: string;
	/** the loops that may be named next */
	names?: "running" | "all";
	run(s: Session, rest: string): Promise<void>;
}

export const verbs: Record<string, Verb> = {
	start: { help: "[NAME] -p 'TASK' [--worktree [BRANCH]] [FLAGS]: start a loop and attach to it; -d does not attach", run: start },
	stop: { help: "[NAME] [--now]: stop a loop after its iteration, or now", names: "running", run: (s, rest) => plain(s, "stop", rest) },
	status: { help: "[NAME]: the status of a loop", names: "all", run: (s, rest) => plain(s, "status", rest) },
	list: { help: "[--all]: the loops of this project, or of this machine", run: (s, rest) => show(s, "list", words(rest)) },
	attach: { help: "[NAME] [--last]: watch a loop; what you type goes to its agent", names: "all", run: attach },
	detach: { help: "stop watching; the loop continues", run: async (s) => s.detach() },
	kill: { help: "[NAME]: end a loop and its agent at once", names: "running", run: (s, rest) => plain(s, "kill", rest) },
	clean: { help: "[NAME ...]: remove loops that have ended, after a question", names: "all", run: tidy },
	steer: { help: "[NAME] TEXT: a message for the agent now", names: "running", run: (s, rest) => message(s, "steer", rest) },
	"follow-up": { help: "[NAME] TEXT: a message for the agent with its next prompt", names: "running", run: (s, rest) => message(s, "follow-up", rest) },
	answer: { help: "[NAME] NUMBER TEXT: answer a question of the agent", names: "running", run: answer },
};

export function command(pi: ExtensionAPI, session: () => Session | undefined): void {
	pi.registerCommand("ralph", {
		description: "Start, watch, steer and stop ralph's loops",
		getArgumentCompletions: (prefix) => complete(prefix, session()),
		handler: async (args, ctx) => {
			const s = session();
			if (!s) return;
			const [name, rest] = first(args);
			if (name === "" || name === "help" || name === "--help") return report(s, "/ralph", Object.entries(verbs).map(([n, v]) => `${n} ${v.help}`).join("\n"));
			const verb = Object.hasOwn(verbs, name) ? verbs[name] : undefined;
			if (!verb) return ctx.ui.notify(`There is no /ralph ${line(name, 40)}. There are: ${Object.keys(verbs).join(", ")}`, "error");
			try {
				await verb.run(s, rest);
			} catch (e) {
				ctx.ui.notify(`/ralph ${name}: ${(e as Error).message}`, "error");
			}
		},
	});
}

/** complete offers what may follow. What is complete already gets no offer, because enter would then take it and not run the command. */
async function complete(prefix: string, s: Session | undefined): Promise<AutocompleteItem[] | null> {
	const found = await offers(prefix, s);
	return found?.some((item) => item.value.trim() === prefix) ? null : found;
}

/** offers are verbs, then the names of loops. The value replaces all that is typed after /ralph. */
async function offers(prefix: string, s: Session | undefined): Promise<AutocompleteItem[] | null> {
	const m = /^(\S+)\s+(\S*)$/.exec(prefix);
	if (!m) {
		if (/\s/.test(prefix)) return null;
		return Object.entries(verbs)
			.filter(([n]) => n.startsWith(prefix))
			.map(([n, v]) => ({ value: v.names || n === "start" ? `${n} ` : n, label: n, description: v.help }));
	}
	const [, verb, begun] = m as unknown as [string, string, string];
	const names = Object.hasOwn(verbs, verb) ? verbs[verb]?.names : undefined;
	if (!names || !s) return null;
	const found = (await s.loops()).filter((l) => l.call.startsWith(begun) && (names === "all" || l.alive));
	return found.slice(0, 50).map((l) => ({ value: `${verb} ${l.call}`, label: l.call, description: `${l.status}, iteration ${l.iteration}` }));
}

function report(s: Session, title: string, text: string): void {
	s.pi.appendEntry(outputType, { title, text: clean(cut(text, 32 * 1024).text).trimEnd() });
}

/** show runs a verb and shows what it prints. */
async function show(s: Session, verb: string, args: string[]): Promise<void> {
	const r = await run([verb, ...args], { cwd: s.ctx.cwd });
	if (r.code !== 0 && r.out.trim() === "") throw new Error(said(r));
	report(s, `ralph ${[verb, ...args].map((a) => line(a, 60)).join(" ")}`, r.out.trim() || r.err.trim() || "(nothing)");
}

/** plain runs a verb whose loop is, without a name, the attached one. */
async function plain(s: Session, verb: string, rest: string): Promise<void> {
	const args = words(rest);
	if (!args.some((a) => !a.startsWith("-"))) args.unshift(...s.here());
	await show(s, verb, args);
}

async function start(s: Session, rest: string): Promise<void> {
	const given = words(rest);
	const args = given.filter((a) => a !== "--json" && a !== "-d" && a !== "--detach");
	const began = await begin(s, args, { cwd: s.ctx.cwd });
	if (given.includes("-d") || given.includes("--detach")) s.ctx.ui.notify(`The loop ${began.name} runs. /ralph attach ${began.name} shows it.`, "info");
	else await s.attach(began.name, began.dir, false);
}

/** begin starts a detached loop in a folder. The input is its prompt, if there is one. */
export async function begin(s: Session, args: string[], o: { cwd: string; input?: string; signal?: AbortSignal }): Promise<{ name: string; dir: string }> {
	const said = obj(await read(["start", ...args, ...host(s), "--detach", "--json"], { ...o, timeout: 120_000 }));
	const began = { name: line(str(said.name), 100), dir: str(said.dir) };
	if (began.name === "" || began.dir === "") throw new Error("ralph start did not say what it has started");
	s.board.started(began.dir);
	s.board.open();
	return began;
}

/** host says what this session works with: a loop for which no settings choose an agent works with the same. */
function host(s: Session): string[] {
	const own = { command: "pi", provider: s.ctx.model?.provider, model: s.ctx.model?.id, thinking: s.pi.getThinkingLevel() };
	return Object.entries(own).flatMap(([key, value]) => (value ? ["--host-agent", `${key}=${value}`] : []));
}

async function attach(s: Session, rest: string): Promise<void> {
	const args = words(rest);
	const [name, more] = args.filter((a) => a !== "--last");
	if (more !== undefined) throw new Error(`one loop at a time, not "${line(more, 40)}" as well`);
	await s.attach(name, undefined, args.includes("--last"));
}

async function tidy(s: Session, rest: string): Promise<void> {
	const args = words(rest).filter((a) => a !== "--yes" && a !== "-y");
	const dry = await run(["clean", ...args, "--dry-run"], { cwd: s.ctx.cwd });
	if (dry.code !== 0) throw new Error(said(dry));
	const what = clean(cut(dry.out.trim(), 2000).text);
	const none = what === "" || /^(nothing|no loop)/i.test(what);
	if (none || args.includes("--dry-run")) return report(s, "ralph clean", what || "There is nothing to remove.");
	if (!(await s.ctx.ui.confirm("Remove these loops?", what, patience(s.ctx)))) return;
	await show(s, "clean", [...args, "--yes"]);
}

/** named takes the name of a loop off the beginning of a text, as ralph steer does: only before further words. */
async function named(s: Session, text: string): Promise<[name: string | undefined, text: string]> {
	const [word, rest] = first(text);
	if (rest === "" || !/^[a-z0-9][a-z0-9._-]*$/.test(word)) return [undefined, text.trim()];
	return (await s.loops()).some((l: Loop) => l.name === word) ? [word, rest] : [undefined, text.trim()];
}

async function message(s: Session, kind: "steer" | "follow-up", rest: string): Promise<void> {
	const [name, text] = await named(s, rest);
	if (text === "") throw new Error("there is no text");
	await send(s, kind, text, name);
}

/** send sends a message to a loop, without a name to the attached one, and says what is not in its journal. */
export async function send(s: Session, kind: "steer" | "follow-up", text: string, name?: string): Promise<void> {
	const target = name ? ["--loop", name] : s.target();
	outcome(s, kind, await run([kind, ...target, "--json", "-"], { cwd: s.ctx.cwd, input: text }));
}

async function answer(s: Session, rest: string): Promise<void> {
	const [name, text] = /^\s*\d+(\s|$)/.test(rest) ? [undefined, rest] : await named(s, rest);
	const [number, said] = first(text);
	if (!/^\d{1,9}$/.test(number) || said === "") throw new Error("it takes the number of the question and the answer: /ralph answer 3 postgres");
	const target = name ? ["--loop", name] : s.target();
	outcome(s, "answer", await run(["answer", ...target, "--json", number, "-"], { cwd: s.ctx.cwd, input: said }));
}

function outcome(s: Session, kind: string, r: Outcome): void {
	let o: Record<string, unknown> = {};
	try {
		o = obj(JSON.parse(r.out));
	} catch {
		// not sent, or an answer for a person
	}
	const how = str(o.outcome);
	const why = line(str(o.why) || str(o.reason), 500);
	if (r.code !== 0 && how === "") throw new Error(said(r));
	if (how === "refused" || r.code !== 0) throw new Error(why || how || said(r));
	if (how !== "delivered") s.ctx.ui.notify(`${kind}: ${how || "sent"}${why ? `, ${why}` : ""}`, "info");
	else if (!s.board.attachment) s.ctx.ui.notify(`${kind}: delivered to ${line(str(o.loop), 60)}`, "info");
}
