package otlp

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"

	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/ralph-loop/ralph/internal/testkit/testevent"
	"github.com/ralph-loop/ralph/journal/event"
)

const loopID = "01JD000000000000000000000A"

var start = time.Date(2026, 11, 24, 1, 0, 0, 0, time.UTC)

// journalOf returns events, one second apart.
func journalOf(t *testing.T, payloads ...event.Payload) []event.Event {
	t.Helper()
	var events []event.Event
	for i, p := range payloads {
		events = append(events, testevent.Of(event.Seq(i+1), start.Add(time.Duration(i)*time.Second), event.Encode(p, "loop")))
	}
	return events
}

func usd(v float64) *float64 { return &v }

// story is a loop that died in its second iteration, was resumed, and completed.
var story = []event.Payload{
	event.LoopStarted{Name: "demo", ID: loopID, Agent: event.Agent{Protocol: "pi", Version: "0.87"}, Version: "1"},
	event.IterationStarted{N: 1, Mode: "work", Prompt: event.Blob{Text: "the secret plan"}},
	event.AgentStarted{PID: 1, Session: "s1"},
	event.ToolCalled{ID: "t1", Name: "task"},
	event.ToolCalled{ID: "t2", Name: "bash", Parent: "t1", Input: []byte(`{"command":"cat plan"}`)},
	event.ToolReturned{ID: "t2", OK: false, Output: event.Plain("the secret output")},
	event.ToolReturned{ID: "t1", OK: true},
	event.AgentSaid{Block: "1.0", Text: event.Plain("the secret answer"), Final: true},
	event.AgentUsed{In: 10, Out: 5, CacheRead: 100, CacheWrite: 1, USD: usd(0.5), Model: "anthropic/claude-opus"},
	event.AgentFinished{Outcome: event.TurnOK},
	event.GuardrailStarted{Name: "make test"},
	event.GuardrailEnded{Name: "make test", OK: false, Code: 2},
	event.IterationEnded{N: 1, Outcome: event.OutcomeDone},
	event.LoopWaiting{For: event.WaitRestart},
	event.LoopWaited{For: event.WaitRestart},
	event.IterationStarted{N: 2},
	event.ToolCalled{ID: "t3", Name: "bash"},
	event.AgentUsed{In: 1, Out: 1},
	event.LoopResumed{Died: true, Version: "1"},
	event.IterationEnded{N: 2, Outcome: event.OutcomeInterrupted},
	event.IterationStarted{N: 3},
	event.IterationEnded{N: 3, Outcome: event.OutcomeLimited},
	event.LoopEnded{Status: event.StatusCompleted, Reason: event.ReasonPromise},
}

func spansOf(t *testing.T, m Mapping, payloads []event.Payload) []Span {
	t.Helper()
	f := NewFold(m)
	var spans []Span
	for _, e := range journalOf(t, payloads...) {
		spans = append(spans, f.Event(e)...)
	}
	return append(spans, f.Cut()...)
}

func TestLoopBecomesSpans(t *testing.T) {
	spans := spansOf(t, Mapping{}, story)
	id := map[string]string{}
	for _, s := range spans {
		id[s.ID] = s.Name
	}
	var got []string
	for _, s := range spans {
		line := s.Name + " < " + id[s.Parent] + " " + s.End.Sub(s.Start).String()
		for _, a := range s.Attributes {
			if a.Key == "error.type" {
				line += " " + *a.Text
			}
			if a.Key == "ralph.incomplete" {
				line += " incomplete"
			}
		}
		got = append(got, line)
	}
	want := []string{
		"execute_tool bash < execute_tool task 1s tool_error",
		"execute_tool task < invoke_agent pi 3s",
		"evaluate make test < invoke_agent pi 1s failed",
		"invoke_agent pi < invoke_workflow demo 11s",
		"wait restart < invoke_workflow demo 1s",
		"execute_tool bash < invoke_agent pi 1s incomplete",
		"invoke_agent pi < invoke_workflow demo 2s interrupted incomplete",
		"invoke_workflow demo <  17s interrupted incomplete",
		"invoke_agent pi < invoke_workflow demo 1s limited",
		"invoke_workflow demo < invoke_workflow demo 4s",
	}
	if len(got) != len(want) || len(id) != len(spans) {
		t.Fatalf("%d spans with %d ids, want %d:\n%q", len(got), len(id), len(want), got)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("span %d is %q, want %q", i, got[i], want[i])
		}
	}
}

func TestUsageFollowsConvention(t *testing.T) {
	for _, s := range spansOf(t, Mapping{}, story) {
		if s.Name != "invoke_agent pi" {
			continue
		}
		text, _ := json.Marshal(s.Attributes)
		for _, want := range []string{
			`"gen_ai.provider.name","text":"anthropic"`, `"gen_ai.usage.input_tokens","int":111`, `"gen_ai.usage.output_tokens","int":5`,
			`"gen_ai.usage.cache_read.input_tokens","int":100`, `"ralph.cost_usd","float":0.5`, `"gen_ai.conversation.id","text":"s1"`, `"ralph.tools","int":2`,
		} {
			if !bytes.Contains(text, []byte(want)) {
				t.Errorf("no %s in %s", want, text)
			}
		}
		return
	}
}

// A second fold gives the same bytes, also one that was kept as JSON between any two events.
func TestTraceIsReproducible(t *testing.T) {
	encode := func(spans []Span, as Encoding) []byte {
		body, err := Encode(NewFold(Mapping{}).Trace(), spans, nil, as)
		if err != nil {
			t.Fatal(err)
		}
		return body
	}
	once := spansOf(t, Mapping{Content: true}, story)
	for _, as := range []Encoding{JSON, Protobuf} {
		if again := spansOf(t, Mapping{Content: true}, story); !bytes.Equal(encode(once, as), encode(again, as)) {
			t.Errorf("%s differs", as)
		}
	}
	f := NewFold(Mapping{Content: true})
	var spans []Span
	for _, e := range journalOf(t, story...) {
		spans = append(spans, f.Event(e)...)
		kept, err := json.Marshal(f)
		if err != nil {
			t.Fatal(err)
		}
		f = NewFold(Mapping{Content: true})
		if err := json.Unmarshal(kept, f); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(encode(once, JSON), encode(spans, JSON)) {
		t.Errorf("a fold that was kept as JSON gives\n%s\nnot\n%s", encode(spans, JSON), encode(once, JSON))
	}
}

func TestContentsNeedConsent(t *testing.T) {
	for _, content := range []bool{false, true} {
		body, err := Encode("", spansOf(t, Mapping{Content: content, Mask: func(b []byte) []byte { return bytes.ReplaceAll(b, []byte("plan"), []byte("****")) }}, story), nil, JSON)
		if err != nil {
			t.Fatal(err)
		}
		for _, secret := range []string{"the secret ****", "the secret output", "the secret answer", "cat ****"} {
			if got := bytes.Contains(body, []byte(secret)); got != content {
				t.Errorf("with content %v, %q is there: %v", content, secret, got)
			}
		}
		if bytes.Contains(body, []byte("plan")) {
			t.Errorf("with content %v, a secret is there", content)
		}
	}
}

// The schema of the convention asks for a reason in each message of the model.
func TestMessagesSayWhyTheyEnded(t *testing.T) {
	said := event.AgentSaid{Block: "1", Text: event.Plain("hello"), Final: true}
	for want, then := range map[string][]event.Payload{
		"stop":  {event.AgentFinished{Outcome: event.TurnOK}, event.IterationEnded{N: 1, Outcome: event.OutcomeDone}},
		"error": {event.AgentFinished{Outcome: event.TurnError}, event.IterationEnded{N: 1, Outcome: event.OutcomeFailed}},
	} {
		payloads := append([]event.Payload{story[0], event.IterationStarted{N: 1, Prompt: event.Blob{Text: "go"}}, said}, then...)
		got := map[string]string{}
		for _, a := range spansOf(t, Mapping{Content: true}, payloads)[0].Attributes {
			if a.Text != nil {
				got[a.Key] = *a.Text
			}
		}
		if text := `[{"role":"assistant","parts":[{"type":"text","content":"hello"}],"finish_reason":"` + want + `"}]`; got["gen_ai.output.messages"] != text {
			t.Errorf("%s, want %s", got["gen_ai.output.messages"], text)
		}
		if text := `[{"role":"user","parts":[{"type":"text","content":"go"}]}]`; got["gen_ai.input.messages"] != text {
			t.Errorf("%s, want %s", got["gen_ai.input.messages"], text)
		}
	}
}

func TestEncodingsSayTheSame(t *testing.T) {
	spans := spansOf(t, Mapping{}, story)
	as := map[Encoding]ptrace.Traces{}
	for encoding, unmarshal := range map[Encoding]func([]byte) (ptrace.Traces, error){
		JSON: (&ptrace.JSONUnmarshaler{}).UnmarshalTraces, Protobuf: (&ptrace.ProtoUnmarshaler{}).UnmarshalTraces,
	} {
		body, err := Encode(traceID(loopID, ""), spans, Resource{}, encoding)
		if err != nil {
			t.Fatal(err)
		}
		if as[encoding], err = unmarshal(body); err != nil {
			t.Fatalf("%s: %v", encoding, err)
		}
	}
	a, _ := (&ptrace.JSONMarshaler{}).MarshalTraces(as[JSON])
	b, _ := (&ptrace.JSONMarshaler{}).MarshalTraces(as[Protobuf])
	if !bytes.Equal(a, b) || !bytes.Contains(a, []byte(`"traceId":"0193`)) {
		t.Errorf("they differ:\n%s\n%s", a, b)
	}
}

func TestParentContinuesTrace(t *testing.T) {
	const outer = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	for text, want := range map[string]bool{
		outer: true, "": false, outer[:len(outer)-1] + "0": false, "ff" + outer[2:]: false, outer + "-x": false, "01" + outer[2:] + "-x": true,
		"00-00000000000000000000000000000000-b7ad6b7169203331-01": false, "00-0AF7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01": false,
	} {
		if _, ok := ParseParent(text); ok != want {
			t.Errorf("%q: %v, want %v", text, ok, want)
		}
	}
	started := story[0].(event.LoopStarted)
	started.TraceParent = outer
	spans := spansOf(t, Mapping{}, []event.Payload{started, event.LoopEnded{Status: event.StatusStopped}})
	if len(spans) != 1 || spans[0].Parent != "b7ad6b7169203331" {
		t.Errorf("spans are %+v", spans)
	}
	if got := TraceParent(loopID, outer, 3); got[:35] != outer[:35] || got[36:52] != spanID(loopID, "iteration", 3) {
		t.Errorf("the environment has %s", got)
	}
}

func TestFloodsAreBounded(t *testing.T) {
	payloads := []event.Payload{story[0], event.IterationStarted{N: 1}}
	for i := range 3 * openMost {
		payloads = append(payloads, event.ToolCalled{ID: string(rune('a' + i)), Name: "x"}, event.AgentRetried{Attempt: i})
	}
	f := NewFold(Mapping{})
	for _, e := range journalOf(t, payloads...) {
		f.Event(e)
	}
	if n := f.Open(); n != openMost+2 {
		t.Errorf("%d spans are open", n)
	}
	if f.Iteration.Dropped == 0 || len(f.Iteration.Events) != marksMost {
		t.Errorf("%d events, %d dropped", len(f.Iteration.Events), f.Iteration.Dropped)
	}
}
