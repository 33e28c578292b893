package claude

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/agent"
)

// rootTools are allowed by name where permissions cannot be skipped. Reading needs no permission.
const rootTools = "Bash,Edit,Write,NotebookEdit,WebFetch,WebSearch,Task,Skill"

// unanswered are tools that Claude offers only where somebody answers permission prompts, and that wait for a person.
const unanswered = "AskUserQuestion,EnterPlanMode,ExitPlanMode"

// permissionFlags choose who may do what: with one of them the user has decided it all.
var permissionFlags = []string{
	"--dangerously-skip-permissions", "--permission-mode", "--permission-prompt-tool",
	"--permission-prompts", "--allowedTools", "--restricted",
}

// sessionFlags go on with the session of an earlier process.
var sessionFlags = []string{"--resume", "-r", "--continue", "-c"}

// aliases of the flags that matter here.
var aliases = map[string]string{"-p": "--print", "--allowed-tools": "--allowedTools", "--disallowed-tools": "--disallowedTools"}

// marks are what Claude Code 2.1.329 sets for its tools and hooks, beyond what is removed for
// every agent: with them our process would report to the session around it.
var marks = []string{
	"CLAUDECODE", "CLAUDE_CODE_SESSION_ATTENDED", "CLAUDE_CODE_CHILD_NOTES_DIR", "CLAUDE_CODE_MESSAGING_TOKEN",
	"CLAUDE_CODE_MESSAGING_SOCKET", "CLAUDE_EFFORT", "CLAUDE_PLUGIN_ROOT", "CLAUDE_PLUGIN_DATA",
}

// environment of the process. Without the first, `result` is not the end: a background command holds the process for up to
// 600 s, and another turn follows. Auto-memory would carry notes from one iteration into the next, and a fresh
// context is to be fresh: what is to be remembered stands in files that a person can read. An update in mid-loop would change
// the program between two iterations.
var environment = []string{
	"CLAUDE_CODE_DISABLE_BACKGROUND_TASKS=1", "CLAUDE_CODE_DISABLE_AUTO_MEMORY=1", "DISABLE_AUTOUPDATER=1",
}

// providers are chosen by a variable.
var providers = map[string]string{
	"bedrock": "CLAUDE_CODE_USE_BEDROCK=1", "vertex": "CLAUDE_CODE_USE_VERTEX=1", "foundry": "CLAUDE_CODE_USE_FOUNDRY=1",
}

// Command returns the argv of Claude Code. Flags of the user, in agent.command or agent.flags, replace the
// ones made from settings. A format other than stream-json and a provider that Claude does not have are errors.
func (d *Dialect) Command(spec agent.Spec) (agent.Command, error) {
	if len(spec.Command) == 0 {
		return agent.Command{}, fmt.Errorf("claude: agent.command is empty")
	}
	d.loop, d.iteration = spec.LoopDir, spec.Iteration
	if d.variant != nil {
		return d.variant.command(spec)
	}
	c := newCall(spec)
	d.confined = spec.Confined() && !c.decided()
	d.spent.gap = slices.ContainsFunc(sessionFlags, func(flag string) bool { _, ok := c.users[flag]; return ok })
	d.spent.gapUSD = d.spent.gap
	for _, flag := range []string{"--input-format", "--output-format"} {
		if format, ok := c.users[flag]; ok && format != "stream-json" {
			return agent.Command{}, fmt.Errorf("claude: %s %s cannot be driven: leave it out", flag, format)
		}
	}
	c.add("--print")
	c.add("--input-format", "stream-json")
	c.add("--output-format", "stream-json")
	c.add("--verbose") // without it stream-json is refused
	c.add("--replay-user-messages")
	partial, notice := d.partial(c, spec.Command)
	if partial {
		c.add(partialFlag)
	}
	if spec.Resume != "" && !d.spent.gap { // a copy: an iteration that is tried again begins where the first began
		c.add("--resume", spec.Resume)
		c.add("--fork-session")
		d.spent.gap, d.spent.gapUSD = true, true
	} else {
		d.session = c.session(spec.Session)
	}
	command, err := c.command(spec, true)
	command.Notice = notice
	return command, err
}

// partialFlag has Claude print what it writes while it writes it. Without it nothing is seen before a block is whole.
const partialFlag = "--include-partial-messages"

// partial says whether the flag is to be added, and what to know where the program has none: one that does not know a flag refuses to
// start.
func (d *Dialect) partial(c *call, program []string) (add bool, notice string) {
	if _, given := c.users[partialFlag]; given || d.ask == nil {
		return true, ""
	}
	help, code, ok := d.ask(append(slices.Clone(program), "--help"))
	switch {
	case !ok || code != 0: // that it cannot be run is told when it is
		return false, ""
	case strings.Contains(help, partialFlag):
		return true, ""
	}
	return false, "this claude has no " + partialFlag + ": what it writes is seen when it is whole, and until then counts as silence for limits.idle"
}

// TextCommand is Claude Code as a plain program that takes its prompt on stdin and prints its answer: agent.protocol text.
func TextCommand(spec agent.Spec) (agent.Command, error) {
	c := newCall(spec)
	c.add("--print")
	c.add("--output-format", "text")
	return c.command(spec, false)
}

// call is an argv in the making.
type call struct {
	argv  []string
	users map[string]string // what the user gave
}

func newCall(spec agent.Spec) *call {
	return &call{argv: slices.Clone(spec.Command), users: given(spec)}
}

// add adds a flag of ralph's, unless the user gave it.
func (c *call) add(flag string, value ...string) {
	if _, ok := c.users[flag]; !ok {
		c.argv = append(append(c.argv, flag), value...)
	}
}

// session gives the conversation an id, and returns it. Where the user has said which conversation it is, it is that one; "" where only
// Claude's first line tells.
func (c *call) session(id string) string {
	if _, forks := c.users["--fork-session"]; forks {
		return ""
	}
	for _, flag := range []string{"--session-id", "--resume", "-r"} {
		if users, ok := c.users[flag]; ok {
			if strings.HasPrefix(users, "-") {
				return ""
			}
			return users
		}
	}
	if _, goesOn := c.users["--continue"]; goesOn || id == "" {
		return ""
	}
	if _, goesOn := c.users["-c"]; goesOn {
		return ""
	}
	c.add("--session-id", id)
	return id
}

// command adds what the settings say and what nobody is asked for. asks says that Claude can ask ralph.
func (c *call) command(spec agent.Spec, asks bool) (agent.Command, error) {
	env := slices.Clone(environment)
	switch variable, known := providers[spec.Provider]; {
	case known:
		env = append(env, variable)
	case spec.Provider != "" && spec.Provider != "anthropic":
		return agent.Command{}, fmt.Errorf("claude: agent.provider %q is none of anthropic, bedrock, vertex, foundry", spec.Provider)
	}
	may := c.permit(spec, asks)
	if spec.Model != "" {
		c.add("--model", spec.Model)
	}
	if _, ok := c.users["--effort"]; !ok {
		level, variable := effort(spec.Thinking)
		if level != "" {
			c.add("--effort", level)
		}
		if variable != "" {
			env = append(env, variable)
		}
	}
	return agent.Command{Argv: append(c.argv, spec.Flags...), Env: env, Drop: marks, ParentDeath: true, May: may}, nil
}

// decided reports whether the user's flags say who may do what.
func (c *call) decided() bool {
	return slices.ContainsFunc(permissionFlags, func(flag string) bool { _, ok := c.users[flag]; return ok })
}

// permit adds what the agent may do, and says it. What Claude asks about comes to ralph where asks says that it can; else it is denied by
// Claude itself.
func (c *call) permit(spec agent.Spec, asks bool) (may string) {
	mode, allowed := "acceptEdits", ""
	switch {
	case c.decided():
		return agent.ByItsFlags
	case spec.Permissions == agent.PermitWorkspace:
		may = "change files in its folder, and what its own settings allow; what it asks about is denied"
	case spec.Permissions == agent.PermitAsk:
		mode, may = "default", "what its own settings allow; what it asks about is denied"
	case spec.Root:
		allowed, may = rootTools, "everything: to root the usual tools are allowed by name, and what it asks about is allowed"
	default:
		c.add("--dangerously-skip-permissions")
		return "everything (--dangerously-skip-permissions)"
	}
	c.add("--permission-mode", mode)
	if allowed != "" {
		c.add("--allowedTools", allowed)
	}
	c.add("--disallowedTools", unanswered)
	if asks {
		c.add("--permission-prompt-tool", "stdio")
	}
	return may
}

// effort puts ralph's words for how much to think into Claude's: low, medium, high, xhigh and max are the same.
func effort(thinking string) (level, variable string) {
	switch thinking {
	case "off", "none":
		return "", "MAX_THINKING_TOKENS=0"
	case "minimal":
		return "low", ""
	}
	return thinking, ""
}

// given returns the user's flags by their long names. In agent.command only long flags count: it may be a wrapper such as
// `docker run -p 80:80 …`.
func given(spec agent.Spec) map[string]string {
	flags := map[string]string{}
	note := func(args []string, short bool) {
		for i, arg := range args {
			name, value, joined := strings.Cut(arg, "=")
			if !strings.HasPrefix(name, "--") && (!short || !strings.HasPrefix(name, "-")) {
				continue
			}
			if !joined && i+1 < len(args) {
				value = args[i+1]
			}
			if long, ok := aliases[name]; ok {
				name = long
			}
			flags[name] = value
		}
	}
	note(spec.Command[1:], false)
	note(spec.Flags, true)
	return flags
}
