// ralph for pi: start, watch, steer and answer loops from a session of pi. The program ralph does the
// work; this extension runs its verbs and shows what they print.
import { fileURLToPath } from "node:url";

import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";

import { command } from "./commands.ts";
import { use } from "./ralph.ts";
import { render } from "./render.ts";
import { Session } from "./session.ts";
import { settings } from "./settings.ts";
import { tools } from "./tools.ts";

const skills = fileURLToPath(new URL("./skills", import.meta.url));

export default function (pi: ExtensionAPI): void {
	render(pi); // also for sessions that are looked at without ralph
	pi.registerFlag("ralph-start", { type: "string", description: "Whether pi's agent may start ralph loops: ask, always or never" });
	// The agent of a loop is steered by its loop alone, and ends with it.
	if (process.env.RALPH_LOOP_DIR) return;

	let session: Session | undefined;
	command(pi, () => session);
	tools(pi, () => session);
	pi.on("session_start", async (event, ctx) => {
		const s = settings(pi);
		use(s.command);
		if (s.problem && ctx.hasUI) ctx.ui.notify(s.problem, "warning");
		session?.close();
		session = new Session(pi, ctx);
		if (ctx.mode === "tui") void session.resume(event.reason === "startup");
	});
	pi.on("session_shutdown", () => {
		session?.close();
		session = undefined;
	});
	pi.on("resources_discover", () => ({ skillPaths: [skills] }));
	pi.on("input", (event) => session?.input(event) ?? { action: "continue" });
	pi.on("ui_prompt_start", () => session?.prompt(1));
	pi.on("ui_prompt_end", () => session?.prompt(-1));
}
