package doctor

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/ralph-loop/ralph/internal/agent/credentials"
	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/ground/config"
	"github.com/ralph-loop/ralph/internal/runner"
	"github.com/ralph-loop/ralph/internal/verb/launch"
	"github.com/ralph-loop/ralph/journal/event"
)

// foundAgent is an agent on this machine.
type foundAgent struct {
	Name     string `json:"name"`
	Path     string `json:"path"`
	Version  string `json:"version"`
	Protocol string `json:"protocol"`
	// with the real program, not from its documentation alone
	Tried  bool   `json:"tried"`
	Spoken bool   `json:"spoken"`           // the protocol is supported
	Steer  bool   `json:"steer"`            // takes text in mid-turn
	Cost   bool   `json:"cost"`             // reports what it costs
	Reset  bool   `json:"reset"`            // one process serves many iterations
	Tools  bool   `json:"tools"`            // shows the tools it uses
	Same   bool   `json:"same"`             // can continue a session: context: same
	Notice string `json:"notice,omitempty"` // why an unusual protocol is used
	// How a loop would start it, without its flags and the other settings.
	Argv []string `json:"argv,omitempty"`
	Env  []string `json:"env,omitempty"` // added to the environment
	May  string   `json:"may,omitempty"` // what it may do then without being asked
	// Keys are its API keys in the environment, and those that it gets without its passKeys.
	Keys *event.Keys `json:"keys,omitempty"`
	// LoginMissing says that neither a login nor a key was found, and how a person logs in.
	LoginMissing string `json:"loginMissing,omitempty"`
	// ShellNotice says that ralph is not found in the shell in which it runs commands.
	ShellNotice string `json:"shellNotice,omitempty"`
	keyMessage  string
}

// can lists the abilities of the agent's protocol.
func (a foundAgent) can() string {
	if !a.Spoken {
		return "found; its own protocol is not supported: --protocol text runs it"
	}
	var words []string
	add := func(has bool, word string) {
		if has {
			words = append(words, word)
		}
	}
	add(a.Steer, "steer")
	add(a.Cost, "cost")
	add(a.Reset, "reset")
	add(a.Tools, "tools")
	add(a.Same, "same")
	add(!a.Tried, "(by its documentation)")
	return strings.Join(words, " ")
}

// AgentsKnown are the agents that doctor looks for on PATH.
func AgentsKnown() []config.KnownAgent {
	return slices.DeleteFunc(config.KnownAgents(), func(k config.KnownAgent) bool { return k.Bridge })
}

// findAgents describes the agents on PATH, which it runs at the same time.
func findAgents(e *cli.Env) (found []foundAgent, missing []string) {
	known := AgentsKnown()
	agents := make([]foundAgent, len(known))
	var all sync.WaitGroup
	for i, k := range known {
		path, err := exec.LookPath(k.Program)
		if err != nil {
			continue
		}
		all.Go(func() { agents[i] = describe(e, k, path) })
	}
	all.Wait()
	found, missing = []foundAgent{}, []string{}
	for i, a := range agents {
		if a.Path == "" {
			missing = append(missing, known[i].Program)
			continue
		}
		found = append(found, a)
	}
	return found, missing
}

func describe(e *cli.Env, known config.KnownAgent, path string) foundAgent {
	settings := config.Agent{Command: known.Program}
	a := foundAgent{Name: known.Program, Path: path, Protocol: settings.ResolvedProtocol(), Tried: known.Tried}
	if keys := credentials.DecideKeys(settings, e.Environ); keys.Why != "" {
		a.Keys, a.keyMessage = &keys.Keys, keys.Message(known.Program)
	}
	if credentials.LoginMissing(settings, e.Environ, launch.Asks(e)) {
		a.LoginMissing = noLogin(known)
	}
	if known.Protocol == config.ProtocolCodex {
		a.ShellNotice = shellNotice(e)
	}
	if version, err := programVersion(e, path, "--version"); err != nil {
		a.Version = "(" + err.Error() + ")"
	} else {
		a.Version = version
	}
	if dialect, command, err := runner.Prepared(settings, e.WorkDir(), launch.Asks(e)); err == nil {
		can := dialect.Abilities()
		a.Argv, a.Env, a.May, a.Notice = command.Argv, command.Env, command.May, command.Notice
		a.Spoken, a.Steer, a.Cost, a.Reset, a.Tools, a.Same = true, can.Live, can.Costs, can.Reset, can.Tools, can.Same
	}
	return a
}

// noLogin says that an agent cannot pay, and what to do.
func noLogin(known config.KnownAgent) string { return "no login is found: " + known.Login }

// shellNotice says that a login shell, in which Codex runs commands, does not find ralph with the
// variables that a loop gives it.
func shellNotice(e *cli.Env) string {
	self, shell := runner.OwnProgram(), e.Variable("SHELL")
	if !slices.Contains([]string{"bash", "zsh", "sh", "dash"}, filepath.Base(shell)) {
		shell = "/bin/sh"
	}
	if filepath.Base(self) != "ralph" {
		return ""
	}
	inLoop := *e
	inLoop.Environ = runner.WithProgram(e.Environ, self)
	ctx, cancel := context.WithTimeout(context.Background(), launch.ProgramPatience)
	defer cancel()
	const mark = "ralph is at "
	out, err := launch.Printed(ctx, &inLoop, []string{shell, "-lc", "echo '" + mark + "'\"$(command -v ralph)\""})
	if err != nil || !strings.Contains(string(out), mark+"\n") { // a profile may print something, too
		return ""
	}
	return fmt.Sprintf("its login shell (%s -l) does not find ralph, so prompts name %s: for prompts of your own put that folder into PATH at the end of the shell's profile", shell, self)
}

// lookUp finds the agent's program.
func lookUp(a config.Agent) (path, program string, err error) {
	argv, err := config.Agent{Command: a.Command}.Argv()
	if err != nil {
		return "", "", err
	}
	path, err = exec.LookPath(argv[0])
	return path, argv[0], err
}

// Present reports whether the agent's program exists.
func Present(a config.Agent) bool {
	_, _, err := lookUp(a)
	return err == nil
}

// CandidateFinding reports whether an agent of the settings can be started. A missing one is no
// failure if another of the list can work in its place. With a nil ask its program is not run.
func CandidateFinding(e *cli.Env, a config.Agent, another bool, ask runner.Ask) finding {
	return agentFinding(e, "agent", a, another, ask)
}

// reviewer names the finding about an agent of review.agent.
const reviewer = "reviewer"

// agentFinding is CandidateFinding also for reviewers.
func agentFinding(e *cli.Env, what string, a config.Agent, another bool, ask runner.Ask) finding {
	f, key := finding{What: what, State: Works}, a.Key()
	path, program, err := lookUp(a)
	switch {
	case err != nil && program == "":
		return finding{f.What, Fails, err.Error(), "see " + key + ".command"}
	case err != nil:
		f = finding{f.What, Fails, fmt.Sprintf("%s: the program %q is not found", key, program), "install it, or name it by its path"}
		if another {
			f.State, f.Says = warns, f.Says+"; another agent works instead"
		}
		return f
	}
	f.Says = fmt.Sprintf("%s, protocol %s", path, a.ResolvedProtocol())
	if _, err := runner.Dialect(a); err != nil {
		return finding{f.What, Fails, err.Error(), launch.HintNotSpoken}
	}
	_, command, err := runner.Prepared(a, e.WorkDir(), ask)
	if err != nil {
		return finding{f.What, Fails, err.Error(), "see " + key + ".command and " + key + ".flags"}
	}
	hints := []string{command.Notice}
	switch keys := credentials.DecideKeys(a, e.Environ); {
	case len(keys.Passed) > 0 && keys.Why == credentials.KeysBySetting:
		hints = append(hints, key+".passKeys passes "+strings.Join(keys.Passed, " and "))
	case keys.Why == credentials.KeysBySetting:
		hints = append(hints, key+".passKeys withholds "+strings.Join(keys.Withheld, " and "))
	default:
		hints = append(hints, keys.Message(a.Program()))
	}
	if command.Lax {
		f.State = warns
		hints = append(hints, key+".permissions="+a.Permissions+" cannot be enforced on it")
	}
	if ask != nil && credentials.LoginMissing(a, e.Environ, ask) {
		known, _ := a.Known()
		f.State, hints = warns, append([]string{noLogin(known)}, hints...)
	}
	if command.May != "" {
		hints = append(hints, "it may do: "+command.May)
	}
	f.Hint = strings.Join(slices.DeleteFunc(hints, func(hint string) bool { return hint == "" }), "; ")
	f.Says += ", started with: " + cli.AsTyped(command.Argv)
	if ask == nil {
		f.Says += "; not asked for its version: the settings of this project are not trusted"
	}
	return f
}

// versionPattern finds the version in "git version 2.39.5" and "2.1.329 (Claude Code)".
var versionPattern = regexp.MustCompile(`\d+\.\d+[0-9A-Za-z.+-]*`)

// programVersion runs a program that should print its version and end.
func programVersion(e *cli.Env, path string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), launch.ProgramPatience)
	defer cancel()
	return versionUntil(ctx, e, path, args...)
}

func versionUntil(ctx context.Context, e *cli.Env, path string, args ...string) (string, error) {
	out, err := launch.Printed(ctx, e, append([]string{path}, args...))
	if err != nil {
		return "", err
	}
	if version := versionPattern.Find(out); version != nil {
		return strings.TrimRight(string(version), ".+-"), nil // "version 1.0.102."
	}
	return "", errors.New("says no version")
}

// programFinding reports the version of a program, or that it is missing.
func programFinding(e *cli.Env, missing finding) finding {
	path, err := exec.LookPath(missing.What)
	if err != nil {
		return missing
	}
	version, err := programVersion(e, path, "--version")
	if err != nil {
		return finding{missing.What, warns, path + " " + err.Error(), ""}
	}
	return finding{missing.What, Works, version, ""}
}
