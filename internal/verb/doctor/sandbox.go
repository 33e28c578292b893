package doctor

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/ralph-loop/ralph/internal/effect/sandbox"
	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/runner"
	"github.com/ralph-loop/ralph/render"
)

// A Tried sandbox is what doctor found of one mode.
type Tried struct {
	Mode string `json:"mode"`
	// Holds says that every attempt to escape failed, but for those that the mode does not prevent.
	Holds    bool              `json:"holds"`
	Attempts []sandbox.Attempt `json:"attempts,omitempty"`
	Why      string            `json:"why,omitempty"` // it was not tried
}

// Sandboxes is what 'ralph doctor --sandbox' found.
type Sandboxes struct {
	Set   string  `json:"set"`  // the setting sandbox.mode
	Auto  string  `json:"auto"` // what auto chooses for a loop in a worktree
	Tried []Tried `json:"tried"`
}

// TrySandboxes tries to escape from each sandbox of this machine.
func TrySandboxes(ctx context.Context, e *cli.Env) (Sandboxes, error) {
	loaded, err := e.Settings(nil, e.WorkDir())
	if err != nil {
		return Sandboxes{}, err
	}
	found := Sandboxes{Set: loaded.Settings.Sandbox.Mode, Auto: string(sandbox.None)}
	if err := os.MkdirAll(e.Home, 0o700); err != nil {
		return found, err
	}
	for _, mode := range append(sandbox.Local(), sandbox.Docker, sandbox.Podman, sandbox.DockerSandbox) {
		cli.Tell(e.Stderr, "trying to escape from %s", mode)
		t := Tried{Mode: string(mode)}
		t.Attempts, err = sandbox.Escape(ctx, mode, runner.OwnProgram(), loaded.Settings.Sandbox.Image, e.Home)
		if err != nil {
			t.Why = err.Error()
		} else {
			t.Holds = !slices.ContainsFunc(t.Attempts, func(a sandbox.Attempt) bool {
				return a.Escaped && !slices.Contains(sandbox.Known(mode), a.What)
			})
		}
		if t.Holds && found.Auto == string(sandbox.None) && !mode.Contained() {
			found.Auto = string(mode)
		}
		found.Tried = append(found.Tried, t)
	}
	if runner.ServedByVM(loaded.Settings) == nil && sandbox.DockerSandbox.Check() == nil {
		found.Auto = string(sandbox.DockerSandbox)
	}
	return found, nil
}

// Print prints a table with what each mode kept from the agent.
func (s Sandboxes) Print(to io.Writer) error {
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	for _, t := range s.Tried {
		switch {
		case t.Why != "":
			fmt.Fprintf(w, "%s\tnot tried: %s\n", t.Mode, render.Clean(t.Why))
			continue
		case t.Holds:
			fmt.Fprintf(w, "%s\tholds\n", t.Mode)
		default:
			fmt.Fprintf(w, "%s\tDOES NOT HOLD\n", t.Mode)
		}
		for _, a := range t.Attempts {
			how := "kept"
			switch {
			case a.Escaped && slices.Contains(sandbox.Known(sandbox.Mode(t.Mode)), a.What):
				how = "not prevented; ralph ends it after the iteration"
			case a.Escaped:
				how = strings.TrimSuffix("ESCAPED: "+render.Clean(a.Says), ": ")
			}
			fmt.Fprintf(w, "  %s\t%s\n", a.What, how)
		}
	}
	fmt.Fprintf(w, "\nsandbox.mode\t%s\n", s.Set)
	fmt.Fprintf(w, "auto chooses\t%s\n", cmp.Or(s.Auto, "none"))
	if s.Set == string(sandbox.None) {
		fmt.Fprintln(w, "without a sandbox, the guard hook is all that there is between the agent and this machine")
	}
	return w.Flush()
}
