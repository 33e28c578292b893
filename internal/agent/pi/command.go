package pi

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/agent"
)

// sessionFlags are the flags of pi that choose a session and so exclude
// --no-session.
var sessionFlags = []string{
	"--session", "--session-id", "--session-dir", "--fork",
	"--continue", "-c", "--resume", "-r", "--no-session",
}

// Command returns the argv of pi in RPC mode. Flags of the user, in
// agent.command or agent.flags, replace the ones made from settings; another --mode is an error.
func (d *Dialect) Command(spec agent.Spec) (agent.Command, error) {
	if len(spec.Command) == 0 {
		return agent.Command{}, fmt.Errorf("pi: agent.command is empty")
	}
	users := slices.Concat(spec.Command[1:], spec.Flags)
	if mode, given := flagValue(users, "--mode"); given && mode != "rpc" {
		return agent.Command{}, fmt.Errorf("pi: --mode %s cannot be driven: leave it out or say rpc", mode)
	}
	argv := slices.Clone(spec.Command)
	add := func(flag, value string) {
		if _, given := flagValue(users, flag); !given && value != "" {
			argv = append(argv, flag, value)
		}
	}
	add("--mode", "rpc")
	if !slices.ContainsFunc(users, isSessionFlag) {
		add("--session-dir", spec.SessionDir)
		d.forked = spec.Resume != ""
		add("--fork", spec.Resume) // a copy: an iteration that is tried again begins where the first began
		if spec.SessionDir == "" && spec.Resume == "" {
			argv = append(argv, "--no-session")
		}
	}
	add("--provider", spec.Provider)
	add("--model", spec.Model)
	add("--thinking", spec.Thinking)
	for _, path := range spec.Extensions {
		argv = append(argv, "--extension", path)
	}
	for _, path := range spec.Skills {
		argv = append(argv, "--skill", path)
	}
	return agent.Command{Argv: append(argv, spec.Flags...), May: "everything: pi has no permissions", Lax: spec.Confined()}, nil
}

// flagValue finds a flag in either spelling, `--flag value` or `--flag=value`.
func flagValue(args []string, flag string) (value string, given bool) {
	for i, arg := range args {
		if arg == flag {
			if i+1 < len(args) {
				value = args[i+1]
			}
			return value, true
		}
		if value, ok := strings.CutPrefix(arg, flag+"="); ok {
			return value, true
		}
	}
	return "", false
}

func isSessionFlag(arg string) bool {
	name, _, _ := strings.Cut(arg, "=")
	return slices.Contains(sessionFlags, name)
}
