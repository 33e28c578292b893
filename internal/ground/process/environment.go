package process

import (
	"runtime"
	"slices"
	"strings"
)

// NestingMarks are the variables that an agent sets for its tools, to say whose children they are.
// ralph may itself be run from inside an agent, and an agent of ralph has no outer session: with
// these variables an agent takes itself for a nested one, reports under the outer session's id, or
// writes to the outer session's files. Settings of the same agents are not listed: they configure
// the agent that we start as much as the one around us.
var NestingMarks = []string{
	// Claude Code 2.1 sets these for tools and hooks.
	"CLAUDECODE",                // "you run inside Claude Code"; some launchers refuse to start
	"CLAUDE_CODE_ENTRYPOINT",    // how the outer one was started; ends up in its reports
	"CLAUDE_CODE_SESSION_ID",    // the outer session
	"CLAUDE_CODE_CHILD_SESSION", // makes a session count as another's child
	"CLAUDE_CODE_SSE_PORT",      // the editor that the outer one is connected to
	"CLAUDE_PID",                // the outer process
	"CLAUDE_PROJECT_DIR",        // the outer project, read by hooks
	"CLAUDE_ENV_FILE",           // a file of the outer session that its hooks append to
	// Codex sets these for the commands that it runs.
	"CODEX_THREAD_ID", "CODEX_SESSION_ID", "CODEX_TOOL_CALL_ID", // the outer conversation
	"CODEX_CI", // "not interactive", meant for the commands
	// pi 1.5 for its bash tool.
	"PI_SESSION_ID", "PI_CODING_AGENT",
	// opencode, Gemini CLI and Qwen Code.
	"OPENCODE", "OPENCODE_PID", "GEMINI_CLI", "QWEN_CODE",
	// Used by several to say which agent is at work; programs change what they print because of it.
	"AGENT", "AI_AGENT",
	// Of another run: Start sets its own.
	MarkVariable,
}

// Environment returns base without NestingMarks and without the names in drop, followed by add.
// Entries are "NAME=value"; of several with one name the last counts, so add wins over base and may
// set what was dropped. None of the arguments is changed.
func Environment(base, drop, add []string) []string {
	unwanted := make(map[string]bool, len(NestingMarks)+len(drop))
	for _, name := range slices.Concat(NestingMarks, drop) {
		unwanted[fold(name)] = true
	}
	kept := slices.DeleteFunc(slices.Clone(base), func(entry string) bool { return unwanted[variable(entry)] })
	all := append(kept, add...)

	last := make(map[string]int, len(all))
	for i, entry := range all {
		last[variable(entry)] = i
	}
	result := make([]string, 0, len(last))
	for i, entry := range all {
		if last[variable(entry)] == i {
			result = append(result, entry)
		}
	}
	return result
}

// variable returns the name in an entry. Windows keeps per-drive directories under names that begin
// with "=".
func variable(entry string) string {
	if entry == "" {
		return ""
	}
	name, _, _ := strings.Cut(entry[1:], "=")
	return fold(entry[:1] + name)
}

func fold(name string) string {
	if runtime.GOOS == "windows" {
		return strings.ToUpper(name)
	}
	return name
}
