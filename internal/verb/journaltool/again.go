package journaltool

// This file runs today's dialects on a journal.

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/front/logs"
	"github.com/ralph-loop/ralph/internal/runner"
	"github.com/ralph-loop/ralph/journal/event"
)

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
	for ev, err := range (logs.Source{Path: path}).Events(0) {
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
