package golden

import (
	"bytes"
	"os"
	"testing"

	"github.com/ralph-loop/ralph/journal/event"
)

// Events returns the events of a file of journal lines.
func Events(t testing.TB, file string) (events []event.Event) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(data) {
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
