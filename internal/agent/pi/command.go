package pi

import (
	"fmt"

	"github.com/ralph-loop/ralph/internal/agent"
)

// sessionFlags are the flags of pi that choose a session and so exclude
// --no-session.
var sessionFlags = []string{
	"--session", "--session-id", "--session-dir", "--fork",
	"--continue", "-c", "--resume", "-r", "--no-session",
}

// Command returns the argv of pi in RPC mode. Flags of the user, in
// its command or flags, replace the ones made from settings; another --mode is an error.
func (d *Dialect) Command(spec agent.Spec) (agent.Command, error) {
	argv, err := spec.Argv(nil)
	if err != nil {
		return agent.Command{}, fmt.Errorf("pi: %w", err)
	}
	if mode, given := argv.Flag("--mode"); given && mode != "rpc" {
		return agent.Command{}, fmt.Errorf("pi: --mode %s cannot be driven: leave it out or say rpc", mode)
	}
	argv.Add("--mode", "rpc")
	if !argv.Has(sessionFlags...) {
		argv.AddValue("--session-dir", spec.SessionDir)
		d.forked = spec.Resume != ""
		argv.AddValue("--fork", spec.Resume) // a copy: an iteration that is tried again begins where the first began
		if spec.SessionDir == "" && spec.Resume == "" {
			argv.Add("--no-session")
		}
	}
	argv.AddValue("--provider", spec.Provider)
	argv.AddValue("--model", spec.Model)
	argv.AddValue("--thinking", spec.Thinking)
	for _, path := range spec.Extensions {
		argv.Words = append(argv.Words, "--extension", path)
	}
	for _, path := range spec.Skills {
		argv.Words = append(argv.Words, "--skill", path)
	}
	return agent.Command{Argv: argv.End(), May: "everything: pi has no permissions", Lax: spec.Confined()}, nil
}
