package transcript_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/testkit/golden"
	"github.com/ralph-loop/ralph/internal/testkit/testevent"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/render/transcript"
)

var runs = []string{"demo", "pi-tools", "pi-overload", "claude-tools", "claude-partial", "claude-subagent", "stories"}

func readRun(t testing.TB, name string) []event.Event {
	return testevent.Read(t, filepath.Join("..", "testdata", "runs", name+".jsonl"))
}

// script makes the events of a run from payloads, a second apart, in iteration 1.
func script(steps ...event.Payload) (events []event.Event) {
	for i, p := range steps {
		draft := event.Encode(p, "loop")
		draft.Iter = 1
		events = append(events, testevent.Of(event.Seq(i+1), time.Date(2026, 11, 21, 12, 0, i, 0, time.UTC), draft))
	}
	return events
}

// entries takes each entry's last state, asking after each nth event.
func entries(events []event.Event, n int, o transcript.Options) []transcript.Entry {
	o.Location = time.UTC
	b := transcript.New(o)
	last := map[event.Seq]transcript.Entry{}
	take := func() {
		for _, e := range b.Take() {
			last[e.Seq] = e
		}
	}
	for i, e := range events {
		if b.Add(e); i%n == n-1 {
			take()
		}
	}
	take()
	var all []transcript.Entry
	for _, seq := range slices.Sorted(maps.Keys(last)) {
		all = append(all, last[seq])
	}
	return all
}

func TestEntriesOfRuns(t *testing.T) {
	for _, run := range runs {
		t.Run(run, func(t *testing.T) {
			var got bytes.Buffer
			enc := json.NewEncoder(&got)
			enc.SetEscapeHTML(false)
			enc.SetIndent("", " ")
			for _, e := range entries(readRun(t, run), 1000, transcript.Options{}) {
				if err := enc.Encode(e); err != nil {
					t.Fatal(err)
				}
			}
			golden.Check(t, filepath.Join("testdata", run+".golden"), got.Bytes())
		})
	}
}

// It makes no difference how often a reader takes the entries.
func TestTakeOftenOrRarely(t *testing.T) {
	for _, run := range runs {
		events := readRun(t, run)
		want := entries(events, len(events), transcript.Options{Verbose: true})
		for _, n := range []int{1, 2, 7} {
			if diff := cmp.Diff(want, entries(events, n, transcript.Options{Verbose: true})); diff != "" {
				t.Errorf("%s, each %d events:\n%s", run, n, diff)
			}
		}
	}
}

func TestTakenEntriesDoNotChange(t *testing.T) {
	b := transcript.New(transcript.Options{})
	events := script(event.ToolCalled{ID: "a", Name: "bash"}, event.ToolProgressed{ID: "a", Text: event.Plain("1\n")}, event.ToolReturned{ID: "a", OK: true})
	var states []transcript.State
	var taken []transcript.Tools
	for _, e := range events {
		b.Add(e)
		tools := b.Take()[0].Body.(transcript.Tools)
		taken = append(taken, tools)
		states = append(states, tools.State())
	}
	for i, tools := range taken {
		if tools.State() != states[i] {
			t.Errorf("entry %d became %s", i, tools.State())
		}
	}
	if want := []transcript.State{transcript.StateRunning, transcript.StateRunning, transcript.StateOK}; !slices.Equal(states, want) {
		t.Errorf("states %v, want %v", states, want)
	}
}

func TestEntriesInWords(t *testing.T) {
	text := event.Plain
	for name, c := range map[string]struct {
		events []event.Payload
		want   []string
	}{
		"reading tools are one entry": {
			[]event.Payload{
				event.ToolCalled{ID: "1", Name: "Read", Input: []byte(`{"file_path":"a.go"}`)}, event.ToolReturned{ID: "1", OK: true},
				event.ToolCalled{ID: "2", Name: "Grep", Input: []byte(`{"pattern":"x"}`)}, event.ToolReturned{ID: "2", OK: true},
				event.ToolCalled{ID: "3", Name: "Bash", Input: []byte(`{"command":"make"}`)}, event.ToolReturned{ID: "3"},
				event.ToolCalled{ID: "4", Name: "Read", Input: []byte(`{"file_path":"b.go"}`)},
			},
			[]string{"1 tools ok: Read a.go, Grep x", "5 tools failed: Bash make", "7 tools running: Read b.go"},
		},
		"a tool without a result is lost": {
			[]event.Payload{event.ToolCalled{ID: "1", Name: "Bash"}, event.AgentFinished{Outcome: event.TurnOK}},
			[]string{"1 tools failed: Bash "},
		},
		"a tool that was called before": {
			[]event.Payload{event.ToolReturned{ID: "1", OK: true, Output: text("x")}},
			[]string{"1 tools ok: a tool that was called before "},
		},
		"words continue after a tool": {
			[]event.Payload{
				event.AgentSaid{Block: "1", Text: text("a")}, event.ToolCalled{ID: "1", Name: "Bash"},
				event.AgentSaid{Block: "1", Text: text("b"), Final: true},
			},
			[]string{"1 words: ab", "2 tools running: Bash "},
		},
		"blank words are no entry": {
			[]event.Payload{event.AgentSaid{Block: "1", Text: text("\n"), Final: true}, event.AgentThought{Block: "1", Text: text("hm")}},
			[]string{"2 thinking: hm"},
		},
		"a message is delivered into a turn": {
			[]event.Payload{
				event.AgentStarted{}, event.ToolCalled{ID: "1", Name: "Bash"}, event.ToolReturned{ID: "1", OK: true},
				event.CommandReceived{ID: "c", Kind: event.CommandSteer, Text: "hi"}, event.AgentSaid{Block: "2", Text: text("x")},
				event.CommandDelivered{ID: "c", How: event.DeliveredLive},
			},
			[]string{"2 tools ok: Bash ", "4 message steer hi delivered turn 2", "5 words: x"},
		},
		"a message is refused": {
			[]event.Payload{event.CommandReceived{ID: "c", Kind: event.CommandSet, Text: "hi"}, event.CommandRefused{ID: "c", Why: "no"}, event.CommandRefused{ID: "d", Why: "late"}},
			[]string{"1 message set hi refused: no", "3 message   refused: late"},
		},
		"a claim gets its verdict": {
			[]event.Payload{event.CompletionClaimed{How: event.ClaimPromise}, event.CompletionRefused{Missing: []string{"a check failed"}}},
			[]string{"1 claim promise refused: a check failed"},
		},
		"a wait ends": {
			[]event.Payload{event.LoopWaiting{For: event.WaitPerson, Why: "which colour?"}, event.LoopWaited{For: event.WaitPerson}},
			[]string{"1 wait person which colour? over"},
		},
		"a plan in a row is one entry": {
			[]event.Payload{event.AgentPlanned{Todos: []event.Todo{{Text: "a"}}}, event.AgentPlanned{Todos: []event.Todo{{Text: "a", Status: event.TodoDone}}}},
			[]string{"1 plan 1 of 1"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, e := range entries(script(c.events...), 1, transcript.Options{}) {
				got = append(got, inWords(e))
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func inWords(e transcript.Entry) string {
	text := fmt.Sprintf("%d %s", e.Seq, e.Body.Kind())
	switch body := e.Body.(type) {
	case transcript.Words:
		text += ": " + body.Text
	case transcript.Thinking:
		text += ": " + body.Text
	case transcript.Tools:
		var calls []string
		for _, c := range body.Calls {
			calls = append(calls, c.Name+" "+c.About)
		}
		text += fmt.Sprintf(" %s: %s", body.State(), strings.Join(calls, ", "))
	case transcript.Message:
		text += fmt.Sprintf(" %s %s %s", body.Command, body.Text, body.State)
		if body.Turn > 0 {
			text += fmt.Sprintf(" turn %d", body.Turn)
		}
		if body.Why != "" {
			text += ": " + body.Why
		}
	case transcript.Claim:
		text += fmt.Sprintf(" %s %s: %s", body.How, body.State, strings.Join(body.Missing, ", "))
	case transcript.Wait:
		text += fmt.Sprintf(" %s %s", string(body.For), body.Why)
		if body.Over {
			text += " over"
		}
	case transcript.Plan:
		text += fmt.Sprintf(" %d of %d", body.Done(), len(body.Todos))
	}
	return text
}

// A block without an end does not make an entry without an end.
func TestLongWordsAreSeveralEntries(t *testing.T) {
	var steps []event.Payload
	for range 100 {
		steps = append(steps, event.AgentSaid{Block: "1", Text: event.Plain(strings.Repeat("x", 4<<10))})
	}
	all := entries(script(steps...), 1, transcript.Options{})
	size := 0
	for _, e := range all {
		said := e.Body.(transcript.Words).Text
		if size += len(said); len(said) > 68<<10 {
			t.Errorf("an entry has %d bytes", len(said))
		}
	}
	if size != 100*4<<10 || len(all) < 2 {
		t.Errorf("%d entries have %d bytes", len(all), size)
	}
}

func TestEntriesAreClean(t *testing.T) {
	for _, poison := range []string{"\x1b[2Jowned", "\x1b]0;t\x07", "\u009b31m\u0085", "\x00\b\r\x7f", "\u202eevil\u2066"} {
		events := testevent.Poisoned(t, filepath.Join("..", "..", "journal", "event", "testdata", "catalogue.jsonl"), poison)
		for _, e := range entries(events, 1, transcript.Options{Verbose: true}) {
			if tools, ok := e.Body.(transcript.Tools); ok {
				for i := range tools.Calls {
					tools.Calls[i].About += tools.Calls[i].InputText()
					tools.Calls[i].Input, tools.Calls[i].ID, tools.Calls[i].Blob = nil, "", ""
				}
			}
			if m, ok := e.Body.(transcript.Message); ok {
				m.ID = ""
				e.Body = m
			}
			checkStrings(t, fmt.Sprintf("%s %s", e.Body.Kind(), poison), e.Body)
		}
	}
}

func checkStrings(t *testing.T, where string, body transcript.Body) {
	t.Helper()
	encoded, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	var data any
	if err := json.Unmarshal(encoded, &data); err != nil {
		t.Fatal(err)
	}
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case string:
			for _, r := range v {
				if r != '\n' && r != '\t' && unicode.IsControl(r) || 0x202A <= r && r <= 0x202E || 0x2066 <= r && r <= 0x2069 {
					t.Errorf("%q: %U in %q", where, r, v)
					return
				}
			}
		case map[string]any:
			for _, each := range v {
				walk(each)
			}
		case []any:
			for _, each := range v {
				walk(each)
			}
		}
	}
	walk(data)
}

func remove(t *testing.T, path string) {
	t.Helper()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
}

// future is an event of a version that does not exist yet.
type future struct{ Type event.Type }

func (f future) EventType() event.Type { return f.Type }

func TestNewerEventsAreOneNote(t *testing.T) {
	all := script(
		event.IterationStarted{N: 1}, future{"dream.began"}, event.AgentSaid{Block: "1", Text: event.Plain("words"), Final: true},
		future{"dream.ended\x1b[2J"}, future{"dream.began"},
	)
	var notes []string
	for _, e := range entries(all, 2, transcript.Options{}) {
		if n, ok := e.Body.(transcript.Note); ok {
			notes = append(notes, n.Text)
		}
	}
	if want := []string{"3 events of a newer ralph are not shown: dream.began, dream.ended"}; !slices.Equal(notes, want) {
		t.Errorf("notes %q, want %q", notes, want)
	}
	details := 0
	for _, e := range entries(all, 2, transcript.Options{Verbose: true}) {
		if e.Body.Kind() == transcript.KindDetail {
			details++
		}
	}
	if details != 3 {
		t.Errorf("a verbose transcript has %d of 3 events", details)
	}
}
