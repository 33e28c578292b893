// Loops side by side: each works in a git work tree of its own. A person makes the work trees.
import { execFile } from "node:child_process";
import { realpath } from "node:fs/promises";
import { resolve } from "node:path";

import { line } from "./text.ts";

const howTo = "ralph makes no work trees: 'git worktree add ../NAME -b NAME' does, then --worktree ../NAME uses it";

/** worktree is the folder of a work tree of the repository that cwd is in. Any other folder is an error. */
export async function worktree(cwd: string, path: string): Promise<string> {
	if (path.trim() === "") throw new Error(`--worktree needs a folder; ${howTo}`);
	const listed = await new Promise<string>((done, failed) => {
		const args = ["worktree", "list", "--porcelain", "-z"];
		execFile("git", args, { cwd, timeout: 20_000, maxBuffer: 4 * 1024 * 1024 }, (e, out, err) => (e ? failed(new Error(`git has no work trees here: ${line(err || e.message, 300)}`)) : done(out)));
	});
	const here = await realpath(resolve(cwd, path)).catch(() => undefined);
	const trees = listed.split("\0").filter((l) => l.startsWith("worktree ")).map((l) => l.slice("worktree ".length));
	if (here === undefined || !trees.includes(here)) throw new Error(`${line(path, 100)} is no work tree of this repository; ${howTo}`);
	return here;
}

/** takeWorktree takes --worktree out of the arguments of a start, and returns what it names. */
export function takeWorktree(args: string[]): { rest: string[]; path: string | undefined } {
	const at = args.findIndex((a) => a === "--worktree" || a.startsWith("--worktree="));
	if (at < 0) return { rest: args, path: undefined };
	const inOne = args[at]!.startsWith("--worktree=");
	const next = args[at + 1];
	const path = inOne ? args[at]!.slice("--worktree=".length) : next === undefined || next.startsWith("-") ? "" : next;
	return { rest: args.toSpliced(at, inOne || path === "" ? 1 : 2), path };
}
