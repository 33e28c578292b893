//go:build unix

package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/core/loopstate"
	"github.com/ralph-loop/ralph/internal/testkit/golden"
	"github.com/ralph-loop/ralph/internal/testkit/terminaltest"
	"github.com/ralph-loop/ralph/journal"
	"github.com/ralph-loop/ralph/journal/event"
)

// recorded makes a loop of recorded events. It has ended.
func (p *place) recorded(name, file string) {
	p.Helper()
	lines, err := os.ReadFile(filepath.Join("..", "..", "render", "testdata", "runs", file))
	p.must(err)
	var events []event.Event
	for line := range bytes.Lines(lines) {
		e, err := event.Parse(bytes.TrimSpace(line))
		p.must(err)
		events = append(events, e)
	}
	w, now := p.journalOf(name, events[0].At)
	var state loopstate.State
	fold := func(events []event.Event, err error) {
		for _, e := range events {
			err = errors.Join(err, state.Fold(e))
		}
		p.must(err)
	}
	opened, _, err := journal.Last(p.loop(name), 1)
	fold(opened, err)
	add := func(d event.Draft) { fold(w.Append([]event.Draft{d})) }
	if events[0].Type != event.TypeSegmentOpened { // only what an agent did
		add(event.Encode(event.LoopStarted{Name: name, Dir: "/home/ada/" + name, Project: "/home/ada", Agent: event.Agent{Protocol: "claude"}}, "loop"))
		add(event.Encode(event.IterationStarted{N: 1, Mode: "work"}, "loop"))
	}
	for _, e := range events {
		switch *now = e.At; e.Type {
		case event.TypeSegmentSealed:
		case event.TypeSegmentOpened:
			if e.Seq > 1 {
				fold(w.Rotate(e.Iter, state.Checkpoint()))
			}
		default:
			add(event.Draft{Type: e.Type, By: e.By(), Iter: e.Iter, Data: e.Data()})
		}
	}
	p.must(w.Close())
}

// The screens of recorded loops, with the styles of each character.
func TestFullScreenOfRecordedLoops(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	newest := map[string]string{"greet": "✓ loop greet completed", "tools": "All done."}
	for name, file := range map[string]string{"greet": "demo.jsonl", "tools": "claude-tools.jsonl"} {
		p.recorded(name, file)
		p.fine("journal", "rebuild", name) // the files beside the journal
	}
	for _, tt := range []struct {
		file          string
		columns, rows int
		light         bool
		environ       []string
		loop, keys    string
	}{
		{"40x20", 40, 20, false, nil, "greet", ""},
		{"80x24", 80, 24, false, nil, "greet", ""},
		{"200x50", 200, 50, false, nil, "greet", ""},
		{"80x24.light", 80, 24, true, nil, "greet", ""},
		{"80x24.no-colour", 80, 24, false, []string{"NO_COLOR=1"}, "greet", ""},
		{"80x24.16-colours", 80, 24, false, []string{"COLORTERM=", "TERM=xterm"}, "greet", ""},
		{"80x24.beginning", 80, 24, false, nil, "greet", ctrlHome},
		{"100x30.tools", 100, 30, false, nil, "tools", ""},
		{"100x30.tools-unfolded", 100, 30, false, nil, "tools", "\tz"},
		{"80x24.manual", 80, 24, false, nil, "greet", "?"},
		{"120x40.iterations", 120, 40, false, nil, "greet", "\tl"},
	} {
		t.Run(tt.file, func(t *testing.T) {
			t.Parallel()
			p := &place{T: t, dir: p.dir, home: p.home, program: p.program}
			w := p.screen(terminaltest.Options{Columns: tt.columns, Rows: tt.rows, Light: tt.light, Marks: true}, tt.environ, "attach", tt.loop)
			w.sees("resume>", newest[tt.loop])
			w.types(tt.keys)
			file := filepath.Join("testdata", "screens", tt.file+".golden")
			if *golden.Update { // nothing but a pause shows that the screen is complete
				p.must(w.Quiet(time.Second, patience))
			} else if want, err := os.ReadFile(file); err == nil {
				// If it does not become so, what is wrong is shown below.
				_, _ = w.Await(patience, func(e *terminaltest.Emulator) bool { return e.Styled() == string(want) })
			}
			var got string
			var colours []string
			w.Look(func(e *terminaltest.Emulator) { got, colours = e.Styled(), e.Colours() })
			if slices.ContainsFunc(tt.environ, func(s string) bool { return s == "NO_COLOR=1" }) && len(colours) > 0 {
				t.Errorf("NO_COLOR, and the screen has the colours %v", colours)
			}
			golden.Check(t, file, got)
		})
	}
}

// What is printed at once may be higher than the terminal: what is live below it stays whole.
func TestInlineKeepsLiveLines(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.recorded("greet", "demo.jsonl")
	w := p.screen(terminaltest.Options{Columns: 40, Rows: 20, Marks: true}, nil, "attach", "greet", "--inline")
	w.sees("✓ loop greet completed", "missing\n3 iterations, $0.05, 16s\nresume>\ngreet · 3/5 · completed: promise · 16s")
	w.Look(func(e *terminaltest.Emulator) {
		all := strings.Join(append(e.Scrollback, e.Text()), "\n")
		from := 0
		for _, text := range []string{"── iteration 2 done", "(4.8k cached)", "── iteration 3 of 5", "✓ edit", "[x] describe it in README.md", "claim accepted", "── iteration 3 done"} {
			at := strings.Index(all[from:], text)
			if at < 0 {
				t.Fatalf("%q is not in its place:\n%s", text, all)
			}
			from += at
		}
	})
}
