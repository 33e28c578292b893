package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ralph-loop/ralph/internal/agent/process"
	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/runner"
	"github.com/ralph-loop/ralph/journal/event"
)

// foundAgent is an agent on this machine.
type foundAgent struct {
	Name     string `json:"name"`
	Path     string `json:"path"`
	Version  string `json:"version"`
	Protocol string `json:"protocol"`
	Tried    bool   `json:"tried"`            // with the real program, not from its documentation alone
	Spoken   bool   `json:"spoken"`           // this ralph speaks that protocol
	Steer    bool   `json:"steer"`            // can be told something in mid-turn
	Cost     bool   `json:"cost"`             // says what it costs
	Reset    bool   `json:"reset"`            // one process serves many iterations
	Tools    bool   `json:"tools"`            // shows the tools it uses
	Same     bool   `json:"same"`             // can go on in the same session: context: same
	Notice   string `json:"notice,omitempty"` // why it is not spoken with in the usual way
	// What a loop would start it with, before agent.flags and the other settings have their say.
	Argv []string `json:"argv,omitempty"`
	Env  []string `json:"env,omitempty"` // added to the environment
	May  string   `json:"may,omitempty"` // what it may do then without being asked
	// Keys are those of its keys that are set here, without agent.passKeys: which reach it, and why.
	Keys     *event.Keys `json:"keys,omitempty"`
	keysSays string
}

// can says in words what the agent's protocol can do.
func (a foundAgent) can() string {
	if !a.Spoken {
		return "found, but not spoken yet: --protocol text runs it"
	}
	var words []string
	for _, ability := range []struct {
		has  bool
		word string
	}{{a.Steer, "steer"}, {a.Cost, "cost"}, {a.Reset, "reset"}, {a.Tools, "tools"}, {a.Same, "same"}} {
		if ability.has {
			words = append(words, ability.word)
		}
	}
	if !a.Tried {
		words = append(words, "(by its documentation)")
	}
	return strings.Join(words, " ")
}

// agentsKnown are the agents that doctor looks for on PATH.
func agentsKnown() []config.KnownAgent {
	return slices.DeleteFunc(config.KnownAgents(), func(k config.KnownAgent) bool { return k.Bridge })
}

// findAgents asks all agents on PATH for their version at the same time.
func findAgents(e *env) (found []foundAgent, missing []string) {
	known := agentsKnown()
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

func describe(e *env, known config.KnownAgent, path string) foundAgent {
	settings := config.Agent{Command: known.Program}
	a := foundAgent{Name: known.Program, Path: path, Protocol: settings.ResolvedProtocol(), Tried: known.Tried}
	if keys := runner.LookAtKeys(settings, e.environ); keys.Why != "" {
		a.Keys, a.keysSays = &keys.Keys, keys.Says(known.Program)
	}
	if version, err := programVersion(e, path, "--version"); err != nil {
		a.Version = "(" + err.Error() + ")"
	} else {
		a.Version = version
	}
	if dialect, command, err := runner.Prepared(settings, asks(e)); err == nil {
		can := dialect.Abilities()
		a.Argv, a.Env, a.May, a.Notice = command.Argv, command.Env, command.May, command.Notice
		a.Spoken, a.Steer, a.Cost, a.Reset, a.Tools, a.Same = true, can.Live, can.Costs, can.Reset, can.Tools, can.Same
	}
	return a
}

// present reports whether the agent's program is there.
func present(a config.Agent) bool {
	argv, err := config.Agent{Command: a.Command}.Argv()
	if err != nil {
		return false
	}
	_, err = exec.LookPath(argv[0])
	return err == nil
}

// candidateFinding says whether an agent of the settings can be started at all. One that is not there
// is no failure where another of the list would work in its place. With a nil ask its program is not run.
func candidateFinding(e *env, a config.Agent, another bool, ask runner.Ask) finding {
	f := finding{What: "agent", State: works}
	argv, err := config.Agent{Command: a.Command}.Argv()
	if err != nil {
		return finding{f.What, fails, err.Error(), "see agent.command"}
	}
	path, err := exec.LookPath(argv[0])
	if err != nil {
		f.State, f.Says, f.Hint = fails, fmt.Sprintf("agent.command %q is not found", argv[0]), "install it, or name it by its path"
		if another {
			f.State, f.Says = warns, f.Says+"; another one of agents works instead"
		}
		return f
	}
	f.Says = fmt.Sprintf("%s, spoken to as %s", path, a.ResolvedProtocol())
	if _, err := runner.Dialect(a); err != nil {
		return finding{f.What, fails, err.Error(), hintNotSpoken}
	}
	_, command, err := runner.Prepared(a, ask)
	if err != nil {
		return finding{f.What, fails, err.Error(), "see agent.command and agent.flags"}
	}
	f.Hint = command.Notice
	switch keys := runner.LookAtKeys(a, e.environ); {
	case len(keys.Passed) > 0 && keys.Why == runner.KeysBySetting:
		f.Hint = joined(f.Hint, "agent.passKeys hands on "+strings.Join(keys.Passed, " and "))
	case keys.Why == runner.KeysBySetting:
		f.Hint = joined(f.Hint, "agent.passKeys withholds "+strings.Join(keys.Withheld, " and "))
	default:
		f.Hint = joined(f.Hint, keys.Says(a.Program()))
	}
	if command.Lax {
		f.State, f.Hint = warns, joined(f.Hint, "it cannot be held to agent.permissions="+a.Permissions)
	}
	if command.May != "" {
		f.Hint = joined(f.Hint, "it may do: "+command.May)
	}
	f.Says += ", started with: " + asTyped(command.Argv)
	if ask == nil {
		f.Says += "; not asked for its version: the settings of this project are not trusted"
	}
	return f
}

func joined(texts ...string) string {
	return strings.Join(slices.DeleteFunc(texts, func(text string) bool { return text == "" }), "; ")
}

// asTyped writes a command line as one would type it. The whole of it is shown: it is what a person has to
// look at who wonders what an agent was told.
func asTyped(argv []string) string {
	words := make([]string, len(argv))
	for i, word := range argv {
		words[i] = word
		if word == "" || strings.ContainsAny(word, " \t\n\"'\\$`*?;&|<>(){}[]#~") {
			words[i] = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		}
	}
	return strings.Join(words, " ")
}

// programPatience is how long a program may take to say its version. Agents on Node
// take up to two seconds each on a busy machine, and all are asked at once.
const programPatience = 10 * time.Second

// versionPattern finds the version in "git version 2.39.5" and "2.1.329 (Claude Code)".
var versionPattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\d+\.\d+[0-9A-Za-z.+-]*`)
})

// programVersion runs a program that should print its version and end.
func programVersion(e *env, path string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), programPatience)
	defer cancel()
	return versionUntil(ctx, e, path, args...)
}

func versionUntil(ctx context.Context, e *env, path string, args ...string) (string, error) {
	out, err := printed(ctx, e, append([]string{path}, args...))
	if err != nil {
		return "", err
	}
	if version := versionPattern().Find(out); version != nil {
		return strings.TrimRight(string(version), ".+-"), nil // "version 1.0.102."
	}
	return "", errors.New("says no version")
}

// asks returns what asks an agent's program what it can do.
func asks(e *env) runner.Ask {
	return func(argv []string) (said string, code int, ok bool) {
		ctx, cancel := context.WithTimeout(context.Background(), programPatience)
		defer cancel()
		out, err := printed(ctx, e, argv)
		if exited, failed := errors.AsType[*exec.ExitError](err); failed {
			return string(out), exited.ExitCode(), exited.Exited()
		}
		return string(out), 0, err == nil
	}
}

// printed runs a program that should print something and end, and returns the beginning of what it
// printed. The error says so where it did neither; that of one with another exit code than 0 is an
// *exec.ExitError.
func printed(ctx context.Context, e *env, argv []string) ([]byte, error) {
	var out head
	if e.wary && e.inProject(argv[0]) {
		return nil, errors.New("not asked for its version: it lies in this project")
	}
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Env = process.Environment(e.environ, nil, e.path())
	cmd.Dir = os.TempDir() // what stands in a project is none of its business here
	cmd.SysProcAttr = ownSession()
	cmd.Stdout, cmd.Stderr = &out, &out
	// Agents are often a launcher around the program proper: all of them have to go.
	cmd.Cancel = func() error { return killSession(cmd.Process) }
	cmd.WaitDelay = time.Second
	err := cmd.Run()
	if errors.Is(err, exec.ErrWaitDelay) {
		_ = killSession(cmd.Process) // what it left holds its output open, and is nobody's
	}
	switch {
	case ctx.Err() != nil:
		return nil, errors.New("does not answer")
	case err != nil && !errors.Is(err, exec.ErrWaitDelay):
		return out, fmt.Errorf("does not start: %w", err)
	}
	return out, nil
}

// head is the beginning of what is written to it.
type head []byte

const headMost = 64 << 10

func (h *head) Write(p []byte) (int, error) {
	*h = append(*h, p[:min(len(p), headMost-len(*h))]...)
	return len(p), nil
}

func gitFinding(e *env) finding {
	path, err := exec.LookPath("git")
	if err != nil {
		return finding{"git", warns, "not on PATH", "loops run without it; progress is then not seen in commits"}
	}
	version, err := programVersion(e, path, "--version")
	if err != nil {
		return finding{"git", warns, path + " " + err.Error(), ""}
	}
	return finding{"git", works, version, ""}
}

func nodeFinding(e *env) finding {
	path, err := exec.LookPath("node")
	if err != nil {
		return finding{"node", works, "not on PATH; agents that come with npm need it", ""}
	}
	version, err := programVersion(e, path, "--version")
	if err != nil {
		return finding{"node", warns, path + " " + err.Error(), ""}
	}
	return finding{"node", works, version, ""}
}

// dockerFinding asks the server: a client alone contains nothing.
func dockerFinding(e *env) finding {
	path, err := exec.LookPath("docker")
	if err != nil {
		return finding{"docker", works, "not on PATH; sandbox.mode docker needs it", ""}
	}
	version, err := programVersion(e, path, "version", "--format", "{{.Server.Version}}")
	if err != nil {
		return finding{"docker", works, "no server answers; sandbox.mode docker needs one", ""}
	}
	return finding{"docker", works, "server " + version, ""}
}
