package claude

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/agent"
)

// rootTools are allowed by name where permissions cannot be skipped. Reading needs no permission.
const rootTools = "Bash,Edit,Write,NotebookEdit,WebFetch,WebSearch,Task,Skill"

// unanswered are tools that Claude offers only if permission prompts are answered, and that
// wait for a person.
const unanswered = "AskUserQuestion,EnterPlanMode,ExitPlanMode"

// permissionFlags choose permissions: with one of them, the user decides about all of these.
var permissionFlags = []string{
	"--dangerously-skip-permissions", "--permission-mode", "--permission-prompt-tool",
	"--permission-prompts", "--allowedTools", "--restricted",
}

// sessionFlags continue the session of an earlier process.
var sessionFlags = []string{"--resume", "-r", "--continue", "-c"}

// aliases of the flags that matter here.
var aliases = map[string]string{"-p": "--print", "--allowed-tools": "--allowedTools", "--disallowed-tools": "--disallowedTools"}

// marks are what Claude Code 2.1.329 sets for its tools and hooks, beyond what is removed for
// every agent: with them our process would report to the session around it.
var marks = []string{
	"CLAUDECODE", "CLAUDE_CODE_SESSION_ATTENDED", "CLAUDE_CODE_CHILD_NOTES_DIR", "CLAUDE_CODE_MESSAGING_TOKEN",
	"CLAUDE_CODE_MESSAGING_SOCKET", "CLAUDE_EFFORT", "CLAUDE_PLUGIN_ROOT", "CLAUDE_PLUGIN_DATA",
}

// environment of the process. Without the first, `result` is not the end: a background command
// holds the process for up to 600 s, and another turn follows. Auto-memory would carry notes from
// one iteration into the next, and a fresh context must be fresh: what must be remembered is in
// files that a person can read. An update in mid-loop would change the program between two
// iterations.
var environment = []string{
	"CLAUDE_CODE_DISABLE_BACKGROUND_TASKS=1", "CLAUDE_CODE_DISABLE_AUTO_MEMORY=1", "DISABLE_AUTOUPDATER=1",
}

// providers are chosen by a variable.
var providers = map[string]string{
	"bedrock": "CLAUDE_CODE_USE_BEDROCK=1", "vertex": "CLAUDE_CODE_USE_VERTEX=1", "foundry": "CLAUDE_CODE_USE_FOUNDRY=1",
}

// Command returns the argv of Claude Code. Flags of the user, in its command or flags,
// replace the ones made from settings. A format other than stream-json and a provider that Claude
// does not have are errors.
func (d *Dialect) Command(spec agent.Spec) (agent.Command, error) {
	d.loop, d.iteration = spec.LoopDir, spec.Iteration
	if d.variant != nil {
		return d.variant.command(spec)
	}
	argv, err := spec.Argv(flagName)
	if err != nil {
		return agent.Command{}, fmt.Errorf("claude: %w", err)
	}
	d.confined = spec.Confined() && !argv.Has(permissionFlags...)
	d.spent.gap = argv.Has(sessionFlags...)
	d.spent.gapUSD = d.spent.gap
	for _, flag := range []string{"--input-format", "--output-format"} {
		if format, ok := argv.Flag(flag); ok && format != "stream-json" {
			return agent.Command{}, fmt.Errorf("claude: %s %s cannot be driven: leave it out", flag, format)
		}
	}
	argv.Add("--print")
	argv.Add("--input-format", "stream-json")
	argv.Add("--output-format", "stream-json")
	argv.Add("--verbose") // without it stream-json is refused
	argv.Add("--replay-user-messages")
	partial, notice := d.partial(argv, spec.Command)
	if partial {
		argv.Add(partialFlag)
	}
	if spec.Resume != "" && !d.spent.gap { // a copy: an iteration that is tried again begins where the first began
		argv.Add("--resume", spec.Resume)
		argv.Add("--fork-session")
		d.spent.gap, d.spent.gapUSD = true, true
	} else {
		d.session = nameSession(argv, spec.Session)
	}
	command, err := complete(argv, spec, true)
	command.Notice = cmp.Or(command.Notice, notice)
	return command, err
}

// partialFlag has Claude print what it writes while it writes it. Without it nothing is seen before
// a block is complete.
const partialFlag = "--include-partial-messages"

// partial says whether to add the flag and, if the program does not have it, what a person should
// know: a program refuses to start with an unknown flag.
func (d *Dialect) partial(argv *agent.Argv, program []string) (add bool, notice string) {
	if d.ask == nil || argv.Has(partialFlag) {
		return true, ""
	}
	help, code, ok := d.ask(append(slices.Clone(program), "--help"))
	switch {
	case !ok || code != 0: // its start reports why
		return false, ""
	case strings.Contains(help, partialFlag):
		return true, ""
	}
	return false, "this claude has no " + partialFlag + ": what it writes is seen when a block is complete, and until then counts as silence for limits.idle"
}

// TextCommand is Claude Code as a plain program that takes its prompt on stdin and prints its
// answer: protocol text.
func TextCommand(spec agent.Spec) (agent.Command, error) {
	argv, err := spec.Argv(flagName)
	if err != nil {
		return agent.Command{}, fmt.Errorf("claude: %w", err)
	}
	argv.Add("--print")
	argv.Add("--output-format", "text")
	return complete(argv, spec, false)
}

// nameSession gives the conversation an id, and returns it. If the user has chosen the
// conversation, it is that one; "" if only Claude's first line has it.
func nameSession(argv *agent.Argv, id string) string {
	if argv.Has("--fork-session") {
		return ""
	}
	for _, flag := range []string{"--session-id", "--resume", "-r"} {
		if chosen, ok := argv.Flag(flag); ok {
			if strings.HasPrefix(chosen, "-") {
				return ""
			}
			return chosen
		}
	}
	if id == "" || argv.Has("--continue", "-c") {
		return ""
	}
	argv.Add("--session-id", id)
	return id
}

// complete adds the flags of the settings and permissions. asks says that Claude can ask ralph.
func complete(argv *agent.Argv, spec agent.Spec, asks bool) (agent.Command, error) {
	env := slices.Clone(environment)
	switch variable, known := providers[spec.Provider]; {
	case known:
		env = append(env, variable)
	case spec.Provider != "" && spec.Provider != "anthropic":
		return agent.Command{}, fmt.Errorf("claude: its provider %q is none of anthropic, bedrock, vertex, foundry", spec.Provider)
	}
	may := permit(argv, spec, asks)
	argv.AddValue("--model", spec.Model)
	// low, medium, high, xhigh and max are the same in both programs.
	switch level := spec.Thinking; {
	case level == "minimal":
		argv.Add("--effort", "low")
	case level != "off" && level != "none":
		argv.AddValue("--effort", level)
	case !argv.Has("--effort"):
		env = append(env, "MAX_THINKING_TOKENS=0")
	}
	var notice string
	if hooks := spec.OwnHooks(fileTools...); argv.Has("--settings") && len(hooks) > 0 {
		notice = "its flags have --settings, so ralph's hooks are not given to claude: 'ralph plugin install claude' does that"
	} else if len(hooks) > 0 {
		argv.Add("--settings", hookSettings(hooks))
	}
	return agent.Command{Argv: argv.End(), Env: env, Drop: marks, ParentDeath: true, May: may, Notice: notice}, nil
}

// fileTools are the tools by which Claude changes and reads files, which the guard judges too.
var fileTools = []string{"Write", "Edit", "MultiEdit", "NotebookEdit", "Read", "Grep"}

// hookSettings are settings with these hooks alone. Claude Code 2.1.329 adds them to those of the
// person and of the project.
func hookSettings(hooks []agent.Hook) string {
	type matched struct {
		Matcher string       `json:"matcher,omitempty"`
		Hooks   []agent.Hook `json:"hooks"`
	}
	events := map[string][]matched{}
	for _, h := range hooks {
		events[h.Event] = []matched{{h.Matcher, []agent.Hook{h}}}
	}
	return agent.PlainJSON(map[string]any{"hooks": events})
}

// permit adds flags for what the agent may do, and reports it. If asks is set, ralph answers what
// Claude asks about; else Claude denies it by itself.
func permit(argv *agent.Argv, spec agent.Spec, asks bool) (may string) {
	mode, allowed := "acceptEdits", ""
	switch {
	case argv.Has(permissionFlags...):
		return agent.ByItsFlags
	case spec.Permissions == agent.PermitWorkspace:
		may = "change files in its folder, and what its own settings allow; what it asks about is denied"
	case spec.Permissions == agent.PermitAsk:
		mode, may = "default", "what its own settings allow; what it asks about is denied"
	case spec.Root:
		allowed, may = rootTools, "everything: to root the usual tools are allowed by name, and what it asks about is allowed"
	default:
		argv.Add("--dangerously-skip-permissions")
		return "everything (--dangerously-skip-permissions)"
	}
	argv.Add("--permission-mode", mode)
	if allowed != "" {
		argv.Add("--allowedTools", allowed)
	}
	argv.Add("--disallowedTools", unanswered)
	if asks {
		argv.Add("--permission-prompt-tool", "stdio")
	}
	return may
}

// flagName returns a flag of the user by its long name. In its command only long flags count: it
// may be a wrapper such as `docker run -p 80:80 …`.
func flagName(word string, command bool) string {
	if command && strings.HasPrefix(word, "-") && !strings.HasPrefix(word, "--") {
		return "-"
	}
	name, value, joined := strings.Cut(word, "=")
	long, known := aliases[name]
	switch {
	case !known:
		return word
	case joined:
		return long + "=" + value
	}
	return long
}
