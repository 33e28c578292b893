// Package testevent makes events for tests, and reads recorded ones.
package testevent

import (
	"bytes"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/ground/frame"
	"github.com/ralph-loop/ralph/internal/testkit/testfile"
	"github.com/ralph-loop/ralph/journal/event"
)

// Of returns a draft as an event that was read from a journal.
func Of(seq event.Seq, at time.Time, d event.Draft) event.Event {
	stamp := frame.Stamp{Seq: seq, At: at}
	copy(stamp.ID[:], fmt.Sprintf("01JD%022d", seq))
	line, _ := frame.Append(nil, stamp, d, 0)
	e, err := event.Parse(line)
	if err != nil {
		panic(fmt.Errorf("%s: %w", line, err))
	}
	return e
}

// Read returns the events of a file of journal lines.
func Read(t testing.TB, file string) (events []event.Event) {
	t.Helper()
	for line := range bytes.Lines(testfile.Read(t, file)) {
		e, err := event.Parse(bytes.TrimSuffix(line, []byte("\n")))
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		events = append(events, e)
	}
	if len(events) == 0 {
		t.Fatalf("%s has no events", file)
	}
	return events
}

// Poisoned returns the events of a file with a text in place of each string of their data.
func Poisoned(t testing.TB, file, text string) (events []event.Event) {
	t.Helper()
	for _, e := range Read(t, file) {
		var data any
		testfile.Must(t, json.Unmarshal(e.Data(), &data))
		spoiled, err := json.Marshal(replaced(data, text))
		testfile.Must(t, err)
		events = append(events, Of(e.Seq, e.At, event.Draft{Type: e.Type, By: "x", Data: spoiled}))
	}
	return events
}

func replaced(v any, with string) any {
	switch v := v.(type) {
	case string:
		return with
	case map[string]any:
		for key := range v {
			v[key] = replaced(v[key], with)
		}
	case []any:
		for i := range v {
			v[i] = replaced(v[i], with)
		}
	}
	return v
}
