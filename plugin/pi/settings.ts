// What a person may set: ralph.json in pi's folder, and the flag --ralph-start. A project cannot set
// it, because it decides whether an agent may start loops.
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { type ExtensionAPI, type ExtensionContext, getAgentDir } from "@earendil-works/pi-coding-agent";

import { obj, str } from "./text.ts";

export type Start = "ask" | "always" | "never";

export interface Settings {
	/** whether pi's agent may start loops by the tool ralph_start */
	start: Start;
	/** the program ralph */
	command: string;
	/** what is wrong with the file or the flag */
	problem: string;
}

export function settings(pi: ExtensionAPI): Settings {
	const out: Settings = { start: "ask", command: "ralph", problem: "" };
	const path = join(getAgentDir(), "ralph.json");
	try {
		const file = obj(JSON.parse(readFileSync(path, "utf8")));
		if (file.start !== undefined) pick(out, str(file.start), `"start" in ${path}`);
		if (str(file.command) !== "") out.command = str(file.command);
	} catch (e) {
		if ((e as NodeJS.ErrnoException).code !== "ENOENT") {
			out.problem = `${path} cannot be read: ${(e as Error).message}`;
			out.start = "never";
		}
	}
	const flag = pi.getFlag("ralph-start");
	if (typeof flag === "string" && flag !== "") pick(out, flag, "--ralph-start");
	return out;
}

/** pick takes a known value; another one refuses rather than allows. */
function pick(out: Settings, value: string, where: string): void {
	if (value === "ask" || value === "always" || value === "never") {
		out.start = value;
		return;
	}
	out.start = "never";
	out.problem = `${where} is neither ask, always nor never: ralph_start is refused`;
}

/** patience limits how long a program that drives pi may take to answer a question: it may have no person. */
export function patience(ctx: ExtensionContext): { timeout?: number } {
	return ctx.mode === "tui" ? {} : { timeout: 120_000 };
}
