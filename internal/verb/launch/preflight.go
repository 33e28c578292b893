package launch

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
	"github.com/ralph-loop/ralph/internal/runner"
)

// HintNotSpoken is the hint about an agent whose protocol is not supported.
const HintNotSpoken = "set its protocol to text to run it as a plain program"

// minFiles is how many open files a loop needs. One with a single guardrail fails with 24, and
// sometimes with 64 on a busy machine, when a check of the repository, a guardrail and retention
// run at the same time; guardrails that run in parallel need more.
const minFiles = 128

// enoughFiles refuses to begin a loop that would exceed the limit on open files at some point.
func enoughFiles() error {
	if limit := filesLimit(); limit < minFiles {
		return cli.Refuse("raise it with 'ulimit -n 1024', in a container with its own setting for it",
			"at most %d open files are allowed here, and a loop needs up to %d", limit, minFiles)
	}
	return nil
}

// preflight refuses settings that one of the agents can never satisfy, before a loop begins. It
// warns about limits and permissions that an agent does not support. tree is a folder on the branch
// of the loop; "" for a new branch. A loop over stories needs no other proof of its claim.
func preflight(e *cli.Env, settings config.Settings, workDir, tree string, worktree, stories bool) error {
	warnings, err := CheckAgents(settings, workDir, Asks(e))
	if err == nil {
		warnings = append(warnings, keyMessages(e, settings)...)
		if warning := UnprovableClaim(e, settings); warning != "" && !stories {
			warnings = append(warnings, warning, "hint: "+HintUnproved)
		}
		warnings = append(warnings, permissionWarnings(settings, workDir)...)
		err = cmp.Or(checkSandbox(settings, worktree), checkForge(e, settings.SCM, tree), checkCollector(e, settings.Telemetry.OTLP))
	}
	if text := heldBack(settings, workDir, e.Home); err == nil && text != "" {
		warnings = append(warnings, text)
	}
	for _, warning := range warnings {
		cli.Tell(e.Stderr, "%s", warning)
	}
	return err
}

// checkSandbox refuses a sandbox that cannot work here, before a loop begins. worktree says that
// the loop works in one of its own.
func checkSandbox(s config.Settings, worktree bool) error {
	const hint = "'ralph doctor --sandbox' shows what works here; sandbox.mode chooses another, or none"
	mode := sandbox.Mode(s.Sandbox.Mode)
	if mode == sandbox.None || mode == sandbox.Auto {
		return nil
	}
	if mode == sandbox.DockerSandbox {
		if err := runner.ServedByVM(s); err != nil {
			return cli.Refuse(hint, "%w", err)
		}
	}
	if err := mode.Check(); err != nil {
		return cli.RefuseHinted(&runner.SandboxError{Err: err})
	}
	if mode == sandbox.Landlock && !worktree {
		return cli.Refuse("start the loop with --worktree, or use bwrap", "sandbox landlock cannot keep the files of the loop from an agent that works beside them")
	}
	return nil
}

// checkForge refuses a loop that could not make its pull request, before an agent works.
func checkForge(e *cli.Env, scm config.SCM, tree string) error {
	switch {
	case !scm.Publishes() && !scm.FollowPR:
	case !forge.Installed():
		return cli.Refuse("install gh or glab, or leave pr out of scm.tasks and scm.followPR out of the settings", "neither gh nor glab is installed, and the settings ask for a pull request")
	case scm.Publishes() && tree != "" && repo.OnDefaultBranch(context.Background(), tree, e.Environ...):
		return cli.Refuse("work on a branch of its own: 'git switch -c NAME'", "a pull request cannot be made of the branch that others begin from, %s", repo.Branch(context.Background(), tree))
	}
	return nil
}

// checkCollector refuses a collector of the settings to which nothing can be sent. The variables of
// OpenTelemetry may be for another program, so they only lead to a warning.
func checkCollector(e *cli.Env, settings config.OTLP) error {
	target, err := otlp.Find(settings, e.Environ)
	switch {
	case target != nil:
		for _, text := range target.Ignored {
			cli.Tell(e.Stderr, "warning: %s", text)
		}
	case err == nil:
	case settings.Endpoint != "":
		return cli.Refuse("set telemetry.otlp.endpoint to an address such as http://localhost:4318, or to none", "the trace of the loop cannot be sent: %v", err)
	default:
		cli.Tell(e.Stderr, "no trace of the loop is sent: %v", err)
	}
	return nil
}

// HintUnproved is the hint about a claim that cannot be checked.
const HintUnproved = "add a guardrail, a command that succeeds once the work is done, or begin with 'git init'"

// UnprovableClaim warns about an agent whose claim that the work is done cannot be checked: it does
// not show its tools, there is no repository in which a change would show, and no guardrail. The
// warning is empty if no evidence is asked for.
func UnprovableClaim(e *cli.Env, settings config.Settings) string {
	if len(settings.Guardrails) > 0 || settings.Completion.OnPromiseNoWork == config.NoWorkAccept || settings.Completion.MinToolCalls == 0 {
		return ""
	}
	for _, agent := range settings.Candidates() {
		dialect, err := runner.Dialect(agent)
		if err != nil || dialect.Abilities().Tools {
			continue
		}
		if _, err := repo.Repos(context.Background(), e.Root(), e.Environ...); !repo.Absent(err) {
			return ""
		}
		return fmt.Sprintf("ralph cannot check a claim that the work is done: an agent of protocol %s does not show its tools, %s is in no git repository, and there is no guardrail",
			agent.ResolvedProtocol(), e.Root())
	}
	return ""
}

// heldBack says in one line what keeps the agents from doing whatever this user may do; "" for
// rehearsals alone, which do what a person wrote.
func heldBack(settings config.Settings, workDir, home string) string {
	agents, mode := settings.AllAgents(), sandbox.Mode(settings.Sandbox.Mode)
	played := func(a config.Agent) bool { return a.ResolvedProtocol() == config.ProtocolRehearsal }
	agents = slices.DeleteFunc(slices.Clone(agents), played)
	if len(agents) == 0 {
		return ""
	}
	every := func(holds func(config.Agent) bool) bool {
		return !slices.ContainsFunc(agents, func(a config.Agent) bool { return !holds(a) })
	}
	var by []string
	switch mode {
	case sandbox.None, "":
	case sandbox.Auto:
		by = append(by, "the strongest sandbox that holds here")
	default:
		by = append(by, "sandbox "+string(mode))
	}
	if every(func(a config.Agent) bool {
		_, command, err := runner.Prepared(a, workDir, nil)
		return err == nil && !command.Lax && a.Permissions != "" && a.Permissions != agent.PermitFull
	}) {
		by = append(by, "its own permissions (agents.NAME.permissions)")
	}
	ralphIsThere := !mode.Contained() || mode == sandbox.DockerSandbox && sandbox.LinuxProgram(runner.OwnProgram(), home) != ""
	guard := ralphIsThere && every(func(a config.Agent) bool { return runner.GetsHooks(settings, a) })
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

// permissionWarnings names the agents whose permissions cannot be enforced on them.
func permissionWarnings(settings config.Settings, workDir string) (warnings []string) {
	for _, a := range settings.AllAgents() {
		if _, command, err := runner.Prepared(a, workDir, nil); err == nil && command.Lax {
			warnings = append(warnings, fmt.Sprintf("%s.permissions is %s, which cannot be enforced on %s: it may do %s",
				a.Key(), a.Permissions, cmp.Or(a.Program(), a.ResolvedProtocol()), cmp.Or(command.May, "whatever its program does")))
		}
	}
	return warnings
}

// keyMessages says for each agent whether it pays with a key of the environment or with its own
// login, unless a setting decides it.
func keyMessages(e *cli.Env, settings config.Settings) (messages []string) {
	for _, a := range settings.AllAgents() {
		message := credentials.DecideKeys(a, e.Environ).Message(a.Program())
		if message != "" && !slices.Contains(messages, message) {
			messages = append(messages, message)
		}
	}
	return messages
}

// CheckAgents returns warnings about limits that an agent cannot support, and as an error a setting
// that one of them can never satisfy. The agents would work in workDir, which relative paths in
// their commands begin at. With a nil ask no program is run.
func CheckAgents(settings config.Settings, workDir string, asks runner.Ask) (warnings []string, err error) {
	limits := settings.Limits
	var cost, tokens string // of the first agent that does not report it
	for _, agent := range settings.AllAgents() {
		if _, err := runner.Dialect(agent); err != nil {
			return nil, cli.Refuse(HintNotSpoken, "%w", err)
		}
		var ask runner.Ask // nil unless the answer is needed before the loop begins
		if settings.Context == config.ContextSame {
			ask = asks
		}
		dialect, _, err := runner.Prepared(agent, workDir, ask)
		if err != nil {
			return nil, cli.Refuse(fmt.Sprintf("see %[1]s.command and %[1]s.flags", agent.Key()), "%w", err)
		}
		protocol, can := agent.ResolvedProtocol(), dialect.Abilities()
		if settings.Context == config.ContextSame && !can.Same {
			return nil, cli.Refuse("leave context at fresh, or choose an agent that 'ralph doctor' shows with 'same'",
				"context is same, and an agent of protocol %s has no session to continue", protocol)
		}
		if limited := limits.Cost > 0 || limits.IterationCost > 0; limited && !can.Costs && cost == "" {
			cost = fmt.Sprintf("an agent of protocol %s does not report what it costs: no limit of cost can stop it", protocol)
		}
		if limited := limits.Tokens > 0 || limits.IterationTokens > 0; limited && !can.Tokens && tokens == "" {
			tokens = fmt.Sprintf("an agent of protocol %s does not report the tokens that it uses: no limit of tokens can stop it", protocol)
		}
	}
	return slices.DeleteFunc([]string{cost, tokens}, func(warning string) bool { return warning == "" }), nil
}
