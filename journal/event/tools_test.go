package event_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/testkit/testevent"
	"github.com/ralph-loop/ralph/journal/event"
)

// The events of tools decode themselves, to the same as encoding/json.
func TestToolsDecodeAsJSON(t *testing.T) {
	for _, data := range []string{
		`{}`, `[]`, `"a"`,
		`{"id":"t\u00e91","name":"ba\"sh","input":{"a": [1, 2]},"parent":"t0"}`,
		`{"id":null,"name":null,"input":null,"parent":null,"text":null,"replaced":null,"ok":null,"output":null,"took":null,"blob":null,"bytes":null}`,
		`{"id":"t1","text":"a\nb\ud83d\ude00","replaced":true}`,
		`{"id":"t1","ok":true,"output":"","took":12,"blob":"ef","bytes":70000}`,
		`{"id":"t1","ok":false,"output":"a","took":-12,"new":{"x":1},"id":"t2"}`,
		`{"id":1}`, `{"name":true}`, `{"parent":[]}`, `{"text":1}`, `{"output":{}}`, `{"replaced":"true"}`, `{"ok":1}`,
		`{"took":1.5}`, `{"took":"1"}`, `{"bytes":1e3}`, `{"blob":7}`,
	} {
		same[event.ToolCalled](t, data)
		same[event.ToolProgressed](t, data)
		same[event.ToolReturned](t, data)
	}
}

func same[T event.Payload](t *testing.T, data string) {
	t.Helper()
	var want T
	bad := json.Unmarshal([]byte(data), &want)
	got, err := event.As[T](testevent.Of(1, time.Date(2026, 11, 21, 1, 52, 28, 0, time.UTC), event.Draft{Type: want.EventType(), Data: []byte(data)}))
	if (err != nil) != (bad != nil) {
		t.Errorf("%T of %s: %v, with encoding/json %v", want, data, err, bad)
	}
	if diff := cmp.Diff(want, got); bad == nil && diff != "" {
		t.Errorf("%T of %s:\n%s", want, data, diff)
	}
}
