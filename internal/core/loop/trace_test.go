package loop_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/core/loop"
	"github.com/ralph-loop/ralph/internal/core/loopstate"
	"github.com/ralph-loop/ralph/internal/ground/frame"
	"github.com/ralph-loop/ralph/internal/testkit/golden"
	"github.com/ralph-loop/ralph/journal/event"
)

// memory is a journal that is a slice.
type memory struct {
	lines [][]byte
	crc   uint32
	now   time.Time
}

func (m *memory) Append(drafts []event.Draft) ([]event.Event, error) {
	var events []event.Event
	for _, d := range drafts {
		stamp := frame.Stamp{Seq: event.Seq(len(m.lines) + 1), At: m.now}
		copy(stamp.ID[:], fmt.Sprintf("%026d", stamp.Seq))
		var line []byte
		line, m.crc = frame.Append(nil, stamp, d, m.crc)
		m.lines = append(m.lines, line)
		e, err := event.Parse(line)
		if err != nil {
			return nil, err
		}
		events = append(events, e)
	}
	return events, nil
}

func (m *memory) Rotate(int, json.RawMessage) ([]event.Event, error) { return nil, nil }
func (m *memory) Full() bool                                         { return false }
func (m *memory) Sync() error                                        { return nil }

// recordingExecutor is an executor that only records its effects.
type recordingExecutor struct {
	asked   []event.Decided
	journal *memJournal
	before  map[string]string // the last call of the journal before each effect
}

func (n *recordingExecutor) Do(d event.Decided, _ event.Seq, _ *loopstate.State) {
	n.asked = append(n.asked, d)
	if n.journal != nil {
		n.before[string(d.Do)] = n.journal.asked[len(n.journal.asked)-1]
	}
}

// A trace file is a story: lines that begin with an arrow are what happens,
//
//	<- +2s agent.finished {"outcome":"ok"}
//
// and the indented lines under each are what the loop records and does because of
// it. A line that begins with <& happens together with the line before it: nothing is
// decided in between, as when a runner dies there. Lines that begin with # are for the
// reader.
func TestDecisionTraces(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "trace", "*.txt"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no traces: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			golden.Check(t, file, play(t, string(want)))
		})
	}
}

// play runs a story in an engine and returns it with the engine's decisions.
func play(t *testing.T, story string) string {
	t.Helper()
	text, _ := played(t, story)
	return text
}

// played is play, with the journal that the engine wrote.
func played(t *testing.T, story string) (string, *memory) {
	t.Helper()
	journal := &memory{now: time.Date(2026, 11, 21, 1, 0, 0, 0, time.UTC)}
	hands := &recordingExecutor{}
	engine := &loop.Engine{Journal: journal, Executor: hands}
	var out strings.Builder
	var batch []event.Draft
	step := func() {
		if len(batch) == 0 {
			return
		}
		before := len(journal.lines) + len(batch)
		if err := engine.Step(batch); err != nil {
			fmt.Fprintf(&out, "  error: %v\n", err)
		}
		batch = nil
		for _, line := range journal.lines[min(before, len(journal.lines)):] {
			e, err := event.Parse(line)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&out, "  %s %s\n", e.Type, e.Data())
		}
		fmt.Fprintf(&out, "  = %s\n", statusLine(engine.State()))
	}
	for line := range strings.Lines(story) {
		line = strings.TrimRight(line, "\n")
		if strings.HasPrefix(line, "  ") {
			continue // output of an earlier run
		}
		input, more := strings.CutPrefix(line, "<& ")
		if !more {
			step()
		}
		fmt.Fprintln(&out, line)
		happens := more
		if !more {
			input, happens = strings.CutPrefix(line, "<- ")
		}
		if happens {
			batch = append(batch, parseInput(t, journal, input)...)
		}
	}
	step()
	return out.String(), journal
}

// parseInput reads "+2s type data" into a draft, and moves the clock.
func parseInput(t *testing.T, journal *memory, input string) []event.Draft {
	t.Helper()
	if strings.HasPrefix(input, "+") {
		span, rest, _ := strings.Cut(input[1:], " ")
		d, err := time.ParseDuration(span)
		if err != nil {
			t.Fatalf("%q: %v", input, err)
		}
		journal.now = journal.now.Add(d)
		input = rest
	}
	name, data, _ := strings.Cut(input, " ")
	if data == "" {
		data = "{}"
	}
	if !json.Valid([]byte(data)) {
		t.Fatalf("%q: the data is not JSON", input)
	}
	return []event.Draft{{Type: event.Type(name), By: "story", Data: []byte(data)}}
}

// statusLine returns the loop's status and the deadline it waits for.
func statusLine(s *loopstate.State) string {
	where := s.Status().String()
	if s.Phase != "" {
		where += fmt.Sprintf(", iteration %d %s", s.Iteration, s.Phase)
	}
	if deadline, ok := s.Deadline(); ok {
		where += fmt.Sprintf(", %s in %s", deadline.Name, deadline.At.Sub(s.At))
	}
	return where
}
