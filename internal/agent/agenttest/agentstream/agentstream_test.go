package agentstream_test

import (
	"bytes"
	"io"
	"slices"
	"testing"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/agent/agenttest/agentstream"
	"github.com/ralph-loop/ralph/internal/agent/claude"
	"github.com/ralph-loop/ralph/internal/agent/pi"
	"github.com/ralph-loop/ralph/internal/jsonscan"
	"github.com/ralph-loop/ralph/journal/event"
)

// TestStreamsAreWhatAgentsPrint holds the streams to what their doc says, and to what the
// dialects understand: a benchmark of lines that are not understood would measure nothing.
func TestStreamsAreWhatAgentsPrint(t *testing.T) {
	corpus, err := agentstream.GoSource()
	if err != nil {
		t.Skip(err)
	}
	for _, c := range []struct {
		name    string
		write   func(io.Writer, string, int64) error
		dialect agent.Dialect
		ends    int // pi's turn is over when it has answered what nobody asks it here
	}{
		{"claude", agentstream.Claude, claude.New(nil), 1},
		{"pi", agentstream.Pi, pi.New(), 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			var first, second bytes.Buffer
			if err := c.write(&first, corpus, 8<<20); err != nil {
				t.Fatal(err)
			}
			if err := c.write(&second, corpus, 8<<20); err != nil || !bytes.Equal(first.Bytes(), second.Bytes()) {
				t.Fatal("the same stream again is another one", err)
			}
			c.dialect.Open(agent.Prompt{Text: "work", Iteration: 1})
			var sizes []int
			facts := map[event.Type]int{}
			var out agent.Decoded
			for line := range bytes.Lines(first.Bytes()) {
				line = bytes.TrimSuffix(line, []byte("\n"))
				if !jsonscan.Valid(line) {
					t.Fatalf("not JSON: %.200s", line)
				}
				sizes = append(sizes, len(line)+1)
				out.Reset()
				c.dialect.Decode(line, agent.Stdout, &out)
				for _, fact := range out.Facts {
					facts[fact.EventType()]++
				}
			}
			slices.Sort(sizes)
			mean, median := first.Len()/len(sizes), sizes[len(sizes)/2]
			t.Logf("%d lines, mean %d, median %d, p99 %d, longest %d bytes; %v",
				len(sizes), mean, median, sizes[len(sizes)*99/100], sizes[len(sizes)-1], facts)
			if mean < 900 || mean > 1300 || median < 200 || median > 450 || sizes[len(sizes)-1] < 40<<10 {
				t.Errorf("mean %d, median %d, longest %d bytes", mean, median, sizes[len(sizes)-1])
			}
			if facts[event.TypeAgentUnread] > 0 || facts[event.TypeAgentFinished] != c.ends {
				t.Errorf("the dialect does not understand the stream: %v", facts)
			}
			for _, needed := range []event.Type{event.TypeAgentSaid, event.TypeToolCalled, event.TypeToolReturned} {
				if facts[needed] < len(sizes)/100 {
					t.Errorf("%d of %d lines are %s", facts[needed], len(sizes), needed)
				}
			}
		})
	}
}
