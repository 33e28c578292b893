package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/ralph-loop/ralph/internal/runner"
	"github.com/ralph-loop/ralph/journal"
	"github.com/ralph-loop/ralph/journal/event"
)

type journalRedecodeVerb struct {
	journalPlace
	All bool `help:"Show the lines as well that come to the same events as they did."`
}

// redecodedLine is an agent's line as --json has it.
type redecodedLine struct {
	Seq       uint64             `json:"seq"`
	Iteration int                `json:"iteration"`
	By        string             `json:"by"`
	Same      bool               `json:"same"`
	Recorded  []*decisionOfEvent `json:"recorded"`
	Decoded   []*decisionOfEvent `json:"decoded"`
}

// Run decodes the agents' own lines again, with today's dialects, and shows what has become of them. It writes nothing: what
// happened stays as it was recorded.
func (v *journalRedecodeVerb) Run(e *env) error {
	path, err := v.source(e)
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
		if same && !v.All {
			return nil
		}
		return v.show(e, line, same)
	}
	var read uint64
	for ev, err := range journal.Read(path, journal.ReadOptions{}) {
		if err != nil {
			return readUpTo(err, read)
		}
		read = ev.Seq
		line, err := r.Event(ev)
		if shown := show(line); shown != nil {
			return shown
		}
		if err != nil {
			return err
		}
	}
	if err := show(r.Close()); err != nil || v.JSON {
		return err
	}
	fmt.Fprintf(e.stdout, "of %s of agents that are kept, %d come to other events today\n", quantity(lines, "line"), others)
	return nil
}

func (v *journalRedecodeVerb) show(e *env, line *runner.Redecoded, same bool) error {
	l := redecodedLine{
		Seq: line.Seq, Iteration: line.Iteration, By: line.By, Same: same,
		Recorded: decisionsOf(line.Recorded), Decoded: decisionsOf(line.Decoded),
	}
	if v.JSON {
		return printJSON(e.stdout, l, "")
	}
	fmt.Fprintf(e.stdout, "event %d, iteration %d, %s\n", l.Seq, l.Iteration, clean(l.By))
	for _, d := range l.Recorded {
		fmt.Fprintf(e.stdout, "  recorded  %s\n", clean(d.String()))
	}
	for _, d := range l.Decoded {
		fmt.Fprintf(e.stdout, "  today     %s\n", clean(d.String()))
	}
	return nil
}

func decisionsOf(drafts []event.Draft) []*decisionOfEvent {
	of := []*decisionOfEvent{}
	for _, d := range drafts {
		of = append(of, decisionOf(d))
	}
	return of
}
