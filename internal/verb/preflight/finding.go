package preflight

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/ralph-loop/ralph/internal/front/cli"
)

// A Finding is the answer to one question.
type Finding struct {
	What  string `json:"what"`
	State State  `json:"state"`
	Says  string `json:"says"`
	Hint  string `json:"hint,omitempty"` // the next step
}

// New returns a finding.
func New(what string, state State, says, hint string) Finding {
	return Finding{what, state, says, hint}
}

// State of a finding. It is Fails only if the loop cannot run, or none can.
type State string

// The states. A start does not print what works.
const (
	Works State = "ok"
	Notes State = "note"
	Warns State = "warn"
	Fails State = "fail"
)

// Refused is the finding of an error, as a person would read it. Without an error it is empty.
func Refused(what string, err error) []Finding {
	if err == nil {
		return nil
	}
	f := Finding{What: what, State: Fails, Says: err.Error()}
	if hinted, ok := errors.AsType[interface {
		error
		Hint() string
	}](err); ok {
		f.Hint = hinted.Hint()
	}
	return []Finding{f}
}

// Report refuses a start because of the first finding that fails. If none does, it prints them.
func Report(e *cli.Env, found []Finding) error {
	for _, f := range found {
		if f.State == Fails {
			return cli.Refuse(f.Hint, "%s", f.Says)
		}
	}
	for _, f := range found {
		if f.State == Works {
			continue
		}
		cli.Tell(e.Stderr, "%s", f.Says)
		if f.Hint != "" {
			cli.Tell(e.Stderr, "hint: %s", f.Hint)
		}
	}
	return nil
}

// Writable reports whether files can be made in a folder, or in the nearest one that exists.
func Writable(what, folder string) Finding {
	at := folder
	info, err := os.Stat(at)
	for err != nil && filepath.Dir(at) != at {
		at = filepath.Dir(at)
		info, err = os.Stat(at)
	}
	if err != nil {
		return Finding{what, Fails, err.Error(), ""}
	}
	if !info.IsDir() {
		return Finding{what, Fails, at + " is not a folder", "move it away, or set RALPH_HOME"}
	}
	probe, err := os.CreateTemp(at, ".ralph-doctor-*")
	if err != nil {
		return Finding{what, Fails, err.Error(), "ralph writes there: make it writable"}
	}
	probe.Close()
	os.Remove(probe.Name())
	if at != folder {
		folder += " (will be made)"
	}
	return Finding{what, Works, folder, ""}
}
