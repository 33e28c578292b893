package render_test

import (
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/ground/frame"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/render"
)

func TestRunning(t *testing.T) {
	call := func(id, command string) event.ToolCalled {
		return event.ToolCalled{ID: id, Name: "bash", Input: []byte(`{"command":"` + command + `"}`)}
	}
	prints := func(text string) event.ToolProgressed { return event.ToolProgressed{ID: "a", Text: event.Plain(text)} }
	for name, row := range map[string]struct {
		story []any
		what  string
		tail  []string
	}{
		"nothing is known":              {nil, "", nil},
		"the agent":                     {[]any{event.AgentStarted{}}, "the agent works", nil},
		"it thinks":                     {[]any{event.AgentStarted{}, event.AgentThought{Block: "1"}}, "the agent thinks", nil},
		"it writes":                     {[]any{event.AgentThought{Block: "1"}, event.AgentSaid{Block: "2"}}, "the agent writes", nil},
		"a tool":                        {[]any{event.AgentStarted{}, call("a", "make test")}, "bash  make test", nil},
		"its file, from the project":    {[]any{event.ToolCalled{ID: "a", Name: "Read", Input: []byte(`{"file_path":"/p/x.go"}`)}}, "Read  x.go", nil},
		"the latest of several":         {[]any{call("a", "one"), call("b", "two"), call("c", "three")}, "bash  three (and 2 others)", nil},
		"not one that returned":         {[]any{call("a", "one"), call("b", "two"), event.ToolReturned{ID: "b", OK: true}}, "bash  one", nil},
		"the agent after the last tool": {[]any{call("a", "one"), event.ToolReturned{ID: "a", OK: true}}, "the agent works", nil},
		"the end of what it prints":     {[]any{call("a", "one"), prints("1\n2\n"), prints("3\n4"), prints("4\n\n")}, "bash  one", []string{"2", "3", "44"}},
		"output that was replaced":      {[]any{call("a", "one"), prints("1\n2\n"), event.ToolProgressed{ID: "a", Text: event.Plain("9\n"), Replaced: true}}, "bash  one", []string{"9"}},
		"a bar that is drawn again":     {[]any{call("a", "one"), prints("10%\r20%\r30%")}, "bash  one", []string{"10%", "20%", "30%"}},
		"hostile text is clean":         {[]any{call("a", "\\u001b[2Jone\\u009b3J"), prints("\x1b]0;title\x07\x1b[31mre\x1b["), prints("0md\t.")}, "bash  one", []string{"red    ."}},
		"a guardrail":                   {[]any{call("a", "one"), event.AgentFinished{}, event.GuardrailStarted{Name: "make \x1b[2Jlint"}}, "guardrail  make lint", nil},
		"not one that has ended":        {[]any{event.GuardrailStarted{Name: "x"}, event.GuardrailEnded{Name: "x"}}, "", nil},
		"nothing after the end":         {[]any{call("a", "one"), event.IterationEnded{N: 1}}, "", nil},
	} {
		t.Run(name, func(t *testing.T) {
			running := render.Running{Project: "/p"}
			events := script(row.story...)
			for _, e := range events {
				running.Event(e)
			}
			what, since := running.Now()
			if tail := running.Tail(3); what != row.what || !slices.Equal(tail, row.tail) {
				t.Errorf("%q with %q, want %q with %q", what, tail, row.what, row.tail)
			}
			if what != "" && (since.Before(events[0].At) || since.After(events[len(events)-1].At)) {
				t.Errorf("since %v", since)
			}
		})
	}
}

// For a tool that prints without end, memory is bounded by what is shown, and no event copies all
// that came before it.
func TestRunningBoundsToolOutput(t *testing.T) {
	const many, most = 200_000, 1 << 20
	running := render.Running{}
	events := script(event.ToolCalled{ID: "a", Name: "yes"}, event.ToolProgressed{ID: "a", Text: event.Plain("0123456789abcdefghijklmnopqrstuvwxyz\n")})
	running.Event(events[0])
	before := memory()
	for range many {
		running.Event(events[1])
	}
	after := memory()
	if tail := running.Tail(2); !slices.Equal(tail, []string{"0123456789abcdefghijklmnopqrstuvwxyz", "0123456789abcdefghijklmnopqrstuvwxyz"}) {
		t.Errorf("the end is %q", tail)
	}
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > most {
		t.Errorf("%d bytes are kept", grown)
	}
	if each := (after.TotalAlloc - before.TotalAlloc) / many; each > 4<<10 {
		t.Errorf("each event allocates %d bytes", each)
	}
}

// memory is what is in use, after a collection.
func memory() (m runtime.MemStats) {
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m
}

// script makes events of payloads, a second apart.
func script(steps ...any) (events []event.Event) {
	var crc uint32
	for i, p := range steps {
		var line []byte
		at := time.Date(2026, 11, 21, 12, 0, i, 0, time.UTC)
		line, crc = frame.Append(nil, frame.Stamp{Seq: event.Seq(i + 1), ID: [26]byte([]byte("01JD0000000000000000000000")), At: at}, event.Encode(p.(event.Payload), "loop"), crc)
		e, err := event.Parse(line)
		if err != nil {
			panic(err)
		}
		events = append(events, e)
	}
	return events
}
