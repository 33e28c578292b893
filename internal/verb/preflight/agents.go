package preflight

import (
	"fmt"
	"os/exec"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/agent/credentials"
	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/ground/config"
	"github.com/ralph-loop/ralph/internal/runner"
)

// Agents are those that ralph looks for on PATH.
func Agents() []config.KnownAgent {
	return slices.DeleteFunc(config.KnownAgents(), func(k config.KnownAgent) bool { return k.Bridge })
}

// Installed returns the programs of the known agents that are on PATH.
func Installed() []string {
	var here []string
	for _, known := range Agents() {
		if _, err := exec.LookPath(known.Program); err == nil {
			here = append(here, known.Program)
		}
	}
	return here
}

// AgentHint returns how to choose an agent, of those that are installed.
func AgentHint() string {
	choose := "give one with --agent, or let 'ralph init' ask for it"
	if here := Installed(); len(here) > 0 {
		return choose + "; installed here: " + strings.Join(here, ", ")
	}
	return choose + "; none that ralph knows is on PATH"
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

// NoLogin says that an agent cannot pay, and what to do; empty if it can, or that is not known.
func NoLogin(e *cli.Env, a config.Agent, ask runner.Ask) string {
	known, ok := config.KnownProgram(a.Program())
	if !ok || !credentials.LoginMissing(a, e.Environ, ask) {
		return ""
	}
	return "no login is found: " + known.Login
}

// Program reports whether an agent of the settings can be started: its program, how a loop starts
// it, its login. what is agent or reviewer. A missing program is no
// failure if another one of the list can work instead. With a nil ask no program is run.
func Program(e *cli.Env, what string, a config.Agent, another bool, ask runner.Ask) Finding {
	key := a.Key()
	path, program, err := lookUp(a)
	switch {
	case err != nil && program == "":
		return Finding{what, Fails, err.Error(), "see " + key + ".command"}
	case err != nil && another:
		return Finding{what, Warns, fmt.Sprintf("%s: the program %q is not found; another agent works instead", key, program),
			"install it, or name it by its path"}
	case err != nil:
		return Finding{what, Fails, fmt.Sprintf("%s: the program %q is not found", key, program), "install it, or name it by its path"}
	}
	one, wrong := examine(a, e.WorkDir(), ask)
	if wrong != nil {
		wrong.What = what
		return *wrong
	}
	f := Finding{What: what, State: Works, Says: fmt.Sprintf("%s, protocol %s, started with: %s", path, a.ResolvedProtocol(), cli.AsTyped(one.command.Argv))}
	hints := []string{one.command.Notice}
	if keys := credentials.DecideKeys(a, e.Environ); keys.Why == credentials.KeysBySetting {
		does, names := "withholds", keys.Withheld
		if len(keys.Passed) > 0 {
			does, names = "passes", keys.Passed
		}
		hints = append(hints, key+".passKeys "+does+" "+strings.Join(names, " and "))
	}
	if ask == nil {
		f.Says += "; not asked for its version: the settings of this project are not trusted"
	} else if missing := NoLogin(e, a, ask); missing != "" {
		f.State, hints = Warns, append([]string{missing}, hints...)
	}
	if one.command.May != "" {
		hints = append(hints, "it may do: "+one.command.May)
	}
	f.Hint = strings.Join(slices.DeleteFunc(hints, func(hint string) bool { return hint == "" }), "; ")
	return f
}
