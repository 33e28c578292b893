package doctor

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/ralph-loop/ralph/internal/agent/credentials"
	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/ground/config"
	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/internal/runner"
	"github.com/ralph-loop/ralph/internal/verb/preflight"
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

// findAgents describes the agents on PATH, which it runs at the same time.
func findAgents(e *cli.Env) (found []foundAgent, missing []string) {
	known := preflight.Agents()
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
	a.LoginMissing = preflight.NoLogin(e, settings, preflight.Asks(e))
	if known.Protocol == config.ProtocolCodex {
		a.ShellNotice = shellNotice(e)
	}
	if version, err := programVersion(e, path, "--version"); err != nil {
		a.Version = "(" + err.Error() + ")"
	} else {
		a.Version = version
	}
	if dialect, command, err := runner.Prepared(settings, e.WorkDir(), preflight.Asks(e)); err == nil {
		can := dialect.Abilities()
		a.Argv, a.Env, a.May, a.Notice = command.Argv, command.Env, command.May, command.Notice
		a.Spoken, a.Steer, a.Cost, a.Reset, a.Tools, a.Same = true, can.Live, can.Costs, can.Reset, can.Tools, can.Same
	}
	return a
}

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
	ctx, cancel := context.WithTimeout(context.Background(), preflight.Patience)
	defer cancel()
	const mark = "ralph is at "
	out, err := preflight.Printed(ctx, &inLoop, []string{shell, "-lc", "echo '" + mark + "'\"$(command -v ralph)\""})
	if err != nil || !strings.Contains(string(out), mark+"\n") { // a profile may print something, too
		return ""
	}
	return fmt.Sprintf("its login shell (%s -l) does not find ralph, so prompts name %s: "+
		"for prompts of your own put that folder into PATH at the end of the shell's profile", shell, self)
}

// versionPattern finds the version in "git version 2.39.5" and "2.1.329 (Claude Code)".
var versionPattern = units.Pattern(`\d+\.\d+[0-9A-Za-z.+-]*`)

// programVersion runs a program that should print its version and end.
func programVersion(e *cli.Env, path string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), preflight.Patience)
	defer cancel()
	return versionUntil(ctx, e, path, args...)
}

func versionUntil(ctx context.Context, e *cli.Env, path string, args ...string) (string, error) {
	out, err := preflight.Printed(ctx, e, append([]string{path}, args...))
	if err != nil {
		return "", err
	}
	if version := versionPattern().Find(out); version != nil {
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
		return preflight.New(missing.What, preflight.Warns, path+" "+err.Error(), "")
	}
	return preflight.New(missing.What, preflight.Works, version, "")
}
