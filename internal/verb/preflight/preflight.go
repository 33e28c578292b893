package preflight

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/agent/credentials"
	"github.com/ralph-loop/ralph/internal/effect/forge"
	"github.com/ralph-loop/ralph/internal/effect/otlp"
	"github.com/ralph-loop/ralph/internal/effect/repo"
	"github.com/ralph-loop/ralph/internal/effect/sandbox"
	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/ground/config"
	"github.com/ralph-loop/ralph/internal/ground/filewatch"
	"github.com/ralph-loop/ralph/internal/runner"
)

// A Loop is what a start would begin.
type Loop struct {
	Settings config.Settings
	WorkDir  string // of the agents: relative paths in their commands begin there
	Branch   string // a folder on the branch of the loop; empty if that is new
	Worktree bool   // the loop works in one of its own
	Stories  bool   // their state proves the claim that the work is done
	// Ask runs a program of an agent to find out what it can do; nil if no program may run.
	Ask runner.Ask
}

// Examine returns what a start is refused for or prints.
func (l Loop) Examine(e *cli.Env) []Finding {
	agents, found := l.examineAgents()
	for _, a := range agents {
		message := credentials.DecideKeys(a.Agent, e.Environ).Message(a.Program())
		if message != "" && !slices.ContainsFunc(found, func(f Finding) bool { return f.Says == message }) {
			found = append(found, Finding{"keys", Notes, message, ""})
		}
	}
	if says := l.unprovableClaim(e, agents); says != "" {
		found = append(found, Finding{"claim", Warns, says, "add a guardrail, a command that succeeds once the work is done, or begin with 'git init'"})
	}
	for _, a := range agents {
		if a.command.Lax {
			found = append(found, Finding{"permissions", Warns, fmt.Sprintf("%s.permissions is %s, which cannot be enforced on %s: it may do %s",
				a.Key(), a.Permissions, cmp.Or(a.Program(), a.ResolvedProtocol()), cmp.Or(a.command.May, "whatever its program does")), ""})
		}
	}
	if l.Ask != nil {
		found = append(found, Refused("sandbox", l.checkSandbox())...)
		found = append(found, Refused("pull request", l.checkForge(e))...)
	}
	found = append(found, checkCollector(e, l.Settings.Telemetry.OTLP)...)
	if says := l.heldBack(e.Home, agents); says != "" {
		found = append(found, Finding{"held back", Notes, says, ""})
	}
	if w, err := filewatch.New(); err != nil {
		found = append(found, Finding{"file events", Warns, "the loop, and what shows it, polls for news: " + err.Error(),
			"end programs that watch files, or raise it with 'sysctl fs.inotify.max_user_instances=1024'"})
	} else {
		_ = w.Close() // it watches nothing
	}
	if limit := filesLimit(); limit < minFiles {
		found = append(found, Finding{"open files", Fails, fmt.Sprintf("at most %d open files are allowed here, and a loop needs up to %d", limit, minFiles),
			"raise it with 'ulimit -n 1024', in a container with its own setting for it"})
	}
	return found
}

// minFiles is how many open files a loop needs. One with a single guardrail fails with 24, and
// sometimes with 64 on a busy machine, when a check of the repository, a guardrail and retention
// run at the same time; guardrails that run in parallel need more.
const minFiles = 128

// An examined agent can be used: the dialect and the command are those of the settings.
type examined struct {
	config.Agent
	dialect agent.Dialect
	command agent.Command
}

// examineAgents returns the agents that can be used, and with findings what keeps others from it
// and which limits cannot be kept.
func (l Loop) examineAgents() (agents []examined, found []Finding) {
	same, limits := l.Settings.Context == config.ContextSame, l.Settings.Limits
	var ask runner.Ask // unless the answer is needed before the loop begins
	if same {
		ask = l.Ask
	}
	var unlimited []string // the limits that some agent does not support
	limit := func(name string, asked, supported bool, format, protocol string) {
		if asked && !supported && !slices.Contains(unlimited, name) {
			unlimited = append(unlimited, name)
			found = append(found, Finding{name, Warns, fmt.Sprintf(format, protocol), ""})
		}
	}
	for _, a := range l.Settings.AllAgents() {
		one, wrong := examine(a, l.WorkDir, ask)
		if wrong != nil {
			found = append(found, *wrong)
			continue
		}
		agents = append(agents, one)
		protocol, can := a.ResolvedProtocol(), one.dialect.Abilities()
		if same && !can.Same {
			found = append(found, Finding{"context", Fails, fmt.Sprintf("context is same, and an agent of protocol %s has no session to continue", protocol),
				"leave context at fresh, or choose an agent that 'ralph doctor' shows with 'same'"})
		}
		limit("limits.cost", limits.Cost > 0 || limits.IterationCost > 0, can.Costs,
			"an agent of protocol %s does not report what it costs: no limit of cost can stop it", protocol)
		limit("limits.tokens", limits.Tokens > 0 || limits.IterationTokens > 0, can.Tokens,
			"an agent of protocol %s does not report the tokens that it uses: no limit of tokens can stop it", protocol)
	}
	return agents, found
}

// examine prepares an agent as a loop would.
func examine(a config.Agent, workDir string, ask runner.Ask) (examined, *Finding) {
	if _, err := runner.Dialect(a); err != nil {
		return examined{}, &Finding{"agent", Fails, err.Error(), "set its protocol to text to run it as a plain program"}
	}
	dialect, command, err := runner.Prepared(a, workDir, ask)
	if err != nil {
		return examined{}, &Finding{"agent", Fails, err.Error(), "see " + a.Key() + ".command and " + a.Key() + ".flags"}
	}
	return examined{a, dialect, command}, nil
}

// checkSandbox refuses a sandbox that cannot work here.
func (l Loop) checkSandbox() error {
	const hint = "'ralph doctor --sandbox' shows what works here; sandbox.mode chooses another, or none"
	mode := sandbox.Mode(l.Settings.Sandbox.Mode)
	if mode == sandbox.None || mode == sandbox.Auto {
		return nil
	}
	if mode == sandbox.DockerSandbox {
		if err := runner.ServedByVM(l.Settings); err != nil {
			return cli.Refuse(hint, "%w", err)
		}
	}
	if err := mode.Check(); err != nil {
		return &runner.SandboxError{Err: err}
	}
	if mode == sandbox.Landlock && !l.Worktree {
		return cli.Refuse("start the loop with --worktree, or use bwrap",
			"sandbox landlock cannot keep the files of the loop from an agent that works beside them")
	}
	return nil
}

// checkForge refuses a loop that could not make its pull request.
func (l Loop) checkForge(e *cli.Env) error {
	scm := l.Settings.SCM
	switch {
	case !scm.Publishes() && !scm.FollowPR:
	case !forge.Installed():
		return cli.Refuse("install gh or glab, or leave pr out of scm.tasks and scm.followPR out of the settings",
			"neither gh nor glab is installed, and the settings ask for a pull request")
	case scm.Publishes() && l.Branch != "" && repo.OnDefaultBranch(context.Background(), l.Branch, e.Environ...):
		return cli.Refuse("work on a branch of its own: 'git switch -c NAME'",
			"a pull request cannot be made of the branch that others begin from, %s", repo.Branch(context.Background(), l.Branch))
	}
	return nil
}

// checkCollector refuses a collector of the settings to which nothing can be sent. The variables of
// OpenTelemetry may be for another program, so they only lead to a warning.
func checkCollector(e *cli.Env, settings config.OTLP) (found []Finding) {
	target, err := otlp.Find(settings, e.Environ)
	switch {
	case target != nil:
		for _, text := range target.Ignored {
			found = append(found, Finding{"trace", Warns, "warning: " + text, ""})
		}
		return found
	case err == nil:
		return nil
	case settings.Endpoint != "":
		return []Finding{{"trace", Fails, fmt.Sprintf("the trace of the loop cannot be sent: %v", err),
			"set telemetry.otlp.endpoint to an address such as http://localhost:4318, or to none"}}
	}
	return []Finding{{"trace", Warns, fmt.Sprintf("no trace of the loop is sent: %v", err), ""}}
}

// unprovableClaim warns about an agent whose claim that the work is done cannot be checked: it does
// not show its tools, there is no repository in which a change would show, and no guardrail. The
// warning is empty if no evidence is asked for.
func (l Loop) unprovableClaim(e *cli.Env, agents []examined) string {
	s := l.Settings
	if l.Stories || len(s.Guardrails) > 0 || s.Completion.OnPromiseNoWork == config.NoWorkAccept || s.Completion.MinToolCalls == 0 {
		return ""
	}
	candidates := agents[:min(len(s.Candidates()), len(agents))] // the reviewers follow them
	silent := slices.IndexFunc(candidates, func(a examined) bool { return !a.dialect.Abilities().Tools })
	if silent < 0 || repo.Any(e.Root()) {
		return ""
	}
	const says = "ralph cannot check a claim that the work is done: " +
		"an agent of protocol %s does not show its tools, %s is in no git repository, and there is no guardrail"
	return fmt.Sprintf(says, agents[silent].ResolvedProtocol(), e.Root())
}

// heldBack says in one line what keeps the agents from doing whatever this user may do; empty for
// rehearsals alone, which do what a person wrote.
func (l Loop) heldBack(home string, agents []examined) string {
	mode := sandbox.Mode(l.Settings.Sandbox.Mode)
	agents = slices.DeleteFunc(slices.Clone(agents), func(a examined) bool { return a.ResolvedProtocol() == config.ProtocolRehearsal })
	if len(agents) == 0 {
		return ""
	}
	every := func(holds func(examined) bool) bool {
		return !slices.ContainsFunc(agents, func(a examined) bool { return !holds(a) })
	}
	var by []string
	switch mode {
	case sandbox.None, "":
	case sandbox.Auto:
		by = append(by, "the strongest sandbox that holds here")
	default:
		by = append(by, "sandbox "+string(mode))
	}
	if every(func(a examined) bool {
		return !a.command.Lax && a.Permissions != "" && a.Permissions != agent.PermitFull
	}) {
		by = append(by, "its own permissions (agents.NAME.permissions)")
	}
	ralphIsThere := !mode.Contained() || mode == sandbox.DockerSandbox && sandbox.LinuxProgram(runner.OwnProgram(), home) != ""
	guard := ralphIsThere && every(func(a examined) bool { return runner.GetsHooks(l.Settings, a.Agent) })
	switch {
	case len(by) == 0 && guard:
		return "only the guard holds the agent back, which refuses commands that look harmful: 'ralph start --sandbox' does more"
	case len(by) == 0:
		return "nothing holds the agent back: 'ralph start --sandbox' does"
	case guard:
		by = append(by, "the guard")
	}
	return "the agent is held back by " + strings.Join(by, " and ")
}
