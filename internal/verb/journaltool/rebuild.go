package journaltool

import (
	"fmt"
	"strings"

	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/front/logs"
	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/internal/verb/launch"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/projector"
)

// rebuilt is the result of Rebuild and CheckProjections.
type rebuilt struct {
	Journal    string    `json:"journal"`
	Seq        event.Seq `json:"seq"` // of the last event
	Iterations int       `json:"iterations"`
	OK         bool      `json:"ok"`
	// of a check: the file, and the key if it has one
	Differ []string `json:"differ,omitempty"`
}

// Rebuild writes the projections of a loop again.
func Rebuild(e *cli.Env, name string, asJSON bool) error {
	dir, err := logs.Folder(e, name)
	if err != nil {
		return err
	}
	var p projector.Projections
	err = launch.WithLock(dir, func() error {
		defer e.Busy("reading the journal")()
		p, err = projector.Write(dir)
		return logs.ReadableUpTo(err, p.Seq)
	})
	if err != nil {
		return err
	}
	if asJSON {
		return cli.PrintJSON(e.Stdout, rebuilt{Journal: dir, Seq: p.Seq, Iterations: p.Iterations, OK: true}, "")
	}
	fmt.Fprintf(e.Stdout, "state.json is at event %d; %d iterations written again\n", p.Seq, p.Iterations)
	return nil
}

// CheckProjections compares the projections of a loop with its journal.
func CheckProjections(e *cli.Env, name string, asJSON bool) error {
	dir, err := logs.Folder(e, name)
	if err != nil {
		return err
	}
	done := e.Busy("reading the journal")
	p, err := projector.Compare(dir)
	done()
	if err != nil {
		return logs.ReadableUpTo(err, p.Seq)
	}
	same := len(p.Differ) == 0
	switch {
	case asJSON:
		err = cli.PrintJSON(e.Stdout, rebuilt{dir, p.Seq, p.Iterations, same, p.Differ}, "")
	case same:
		_, err = fmt.Fprintf(e.Stdout, "state.json is what the journal says at event %d of %d, and so is the file of each of %s\n",
			p.State, p.Seq, units.Count{Begun: p.Iterations}.Iterations())
	default:
		_, err = fmt.Fprintln(e.Stdout, cli.Clean(strings.Join(p.Differ, "\n")))
	}
	if err == nil && !same {
		err = differ(p)
	}
	return err
}

// differ is the error of projections that are not what the journal says.
func differ(p projector.Projections) error {
	return &cli.Failure{
		Err: fmt.Errorf("the projections differ from the journal in %d places", len(p.Differ)), Code: event.ExitFailed,
		NextStep: "'ralph journal rebuild' writes them again; the journal is the truth",
	}
}
