package policy_test

import (
	"testing"
	"time"

	"github.com/ralph-loop/ralph/journal/event"
)

// noon is when the stories of these tests begin.
var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// happened returns a payload as an event that was read from a journal's line.
func happened(t testing.TB, at time.Time, p event.Payload) event.Event {
	t.Helper()
	line, _ := event.AppendLine(nil, event.Stamp{Seq: 1, At: at}, event.Encode(p, "story"), 0)
	e, err := event.Parse(line)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// misspelt returns an event of a type whose payload is not what it should be.
func misspelt(t testing.TB, typ event.Type) event.Event {
	t.Helper()
	line, _ := event.AppendLine(nil, event.Stamp{Seq: 1, At: noon}, event.Draft{Type: typ, Data: []byte(`[]`)}, 0)
	e, err := event.Parse(line)
	if err != nil {
		t.Fatal(err)
	}
	return e
}
