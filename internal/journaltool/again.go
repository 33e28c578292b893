package journaltool

// This file runs today's rules and dialects on a journal.

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/ralph-loop/ralph/internal/cli"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/runner"
	"github.com/ralph-loop/ralph/journal/event"
)

// redecided is the result of Redecide.
type redecided struct {
	OK        bool      `json:"ok"`
	Events    int       `json:"events"`
	Decisions int       `json:"decisions"` // those that were compared
	Seq       event.Seq `json:"seq,omitempty"`
	Rule      string    `json:"rule,omitempty"` // that decides now
	// absent where the journal continues without a decision
	Recorded *draft `json:"recorded,omitempty"`
	Decided  *draft `json:"decided,omitempty"` // absent where nothing is to be decided
	Version  string `json:"version,omitempty"` // of the ralph that wrote it
}

// draft is an event without its envelope.
type draft struct {
	Type event.Type      `json:"type"`
	Data json.RawMessage `json:"data"`
}

func draftOf(d event.Draft) *draft {
	if d.Type == "" {
		return nil
	}
	return &draft{Type: d.Type, Data: d.Data}
}

func (d *draft) String() string {
	if d == nil {
		return "no decision"
	}
	return fmt.Sprintf("%s %s", d.Type, d.Data)
}

// Redecide folds a journal and compares each recorded decision with what the rules decide now. A
// difference is exit code 3.
func Redecide(e *cli.Env, src Source, asJSON bool) error {
	var v loop.Verifier
	var r redecided
	for ev, err := range src.events(0) {
		if err != nil {
			return err
		}
		r.Events++
		switch ev.Type {
		case event.TypeLoopStarted, event.TypeLoopResumed:
			_ = json.Unmarshal(ev.Field("version"), &r.Version)
		}
		found, err := v.Event(ev)
		if err != nil {
			return fmt.Errorf("fold event %d: %w", ev.Seq, err)
		}
		if r.Decisions = v.Decisions; found != nil {
			r.Seq, r.Rule, r.Recorded, r.Decided = found.Seq, found.Rule, draftOf(found.Recorded), draftOf(found.Decided)
			break
		}
	}
	r.OK = r.Seq == 0
	switch {
	case asJSON:
		if err := cli.PrintJSON(e.Stdout, r, ""); err != nil {
			return err
		}
	case r.OK:
		fmt.Fprintf(e.Stdout, "%d events with %d decisions, which are the same today\n", r.Events, r.Decisions)
	default:
		fmt.Fprintf(e.Stdout, "event %d\n  recorded  %s\n  today     %s\n", r.Seq, cli.Clean(r.Recorded.String()), cli.Clean(r.Decided.String()))
		if r.Rule != "" {
			fmt.Fprintf(e.Stdout, "  because   %s\n", r.Rule)
		}
	}
	if r.OK {
		return nil
	}
	return &cli.Failure{
		Err: fmt.Errorf("today's rules decide something else at event %d, after %d decisions that are the same", r.Seq, r.Decisions), Code: event.ExitFailed,
		NextStep: fmt.Sprintf("it was written by ralph %s, and this is %s: where both are the same, the journal was changed or the rules are not pure", cli.Clean(r.Version), cli.BuildVersion()),
	}
}

// redecoded is an agent's line as JSON.
type redecoded struct {
	Seq       event.Seq `json:"seq"`
	Iteration int       `json:"iteration"`
	By        string    `json:"by"`
	Same      bool      `json:"same"`
	Recorded  []*draft  `json:"recorded"`
	Decoded   []*draft  `json:"decoded"`
}

// Redecode decodes the agents' own lines again, with today's dialects, and shows those that decode
// to other events, or all. It writes nothing: what happened stays as it was recorded.
func Redecode(e *cli.Env, name string, all, asJSON bool) error {
	path, _, err := e.FindPath(name)
	if err != nil {
		return err
	}
	r := runner.Redecoder{Blob: func(sum string) ([]byte, error) {
		root, err := os.OpenRoot(filepath.Join(path, "blobs"))
		if err != nil {
			return nil, fmt.Errorf("read a blob: %w", err)
		}
		defer root.Close()
		return root.ReadFile(sum)
	}}
	var lines, others int
	show := func(line *runner.Redecoded) error {
		if line == nil {
			return nil
		}
		lines++
		same := line.Same()
		if !same {
			others++
		}
		if same && !all {
			return nil
		}
		return redecoded{
			Seq: line.Seq, Iteration: line.Iteration, By: line.By, Same: same,
			Recorded: draftsOf(line.Recorded), Decoded: draftsOf(line.Decoded),
		}.print(e, asJSON)
	}
	for ev, err := range (Source{path: path}).events(0) {
		if err != nil {
			return err
		}
		line, err := r.Event(ev)
		if shown := show(line); shown != nil {
			return shown
		}
		if err != nil {
			return err
		}
	}
	if err := show(r.Close()); err != nil || asJSON {
		return err
	}
	fmt.Fprintf(e.Stdout, "agents' lines: %d kept, %d decode to other events today\n", lines, others)
	return nil
}

func (l redecoded) print(e *cli.Env, asJSON bool) error {
	if asJSON {
		return cli.PrintJSON(e.Stdout, l, "")
	}
	fmt.Fprintf(e.Stdout, "event %d, iteration %d, %s\n", l.Seq, l.Iteration, cli.Clean(l.By))
	for _, d := range l.Recorded {
		fmt.Fprintf(e.Stdout, "  recorded  %s\n", cli.Clean(d.String()))
	}
	for _, d := range l.Decoded {
		fmt.Fprintf(e.Stdout, "  today     %s\n", cli.Clean(d.String()))
	}
	return nil
}

func draftsOf(drafts []event.Draft) []*draft {
	of := []*draft{}
	for _, d := range drafts {
		of = append(of, draftOf(d))
	}
	return of
}
