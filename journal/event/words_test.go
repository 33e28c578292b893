package event_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/ralph-loop/ralph/internal/ground/frame"
	"github.com/ralph-loop/ralph/internal/testkit/testevent"
	_ "github.com/ralph-loop/ralph/internal/testkit/testseed"
	"github.com/ralph-loop/ralph/journal/event"
)

func TestReasonStatusAndExitCode(t *testing.T) {
	for reason, want := range map[event.Reason]struct {
		status event.Status
		code   int
	}{
		event.ReasonPromise: {event.StatusCompleted, 0}, event.ReasonResponse: {event.StatusCompleted, 0},
		event.ReasonIterations: {event.StatusStopped, 1}, event.ReasonCost: {event.StatusStopped, 1}, event.ReasonTokens: {event.StatusStopped, 1},
		event.ReasonDuration: {event.StatusStopped, 1}, event.ReasonRestarts: {event.StatusStopped, 1},
		event.ReasonConfig: {event.StatusFailed, 2}, event.ReasonAgent: {event.StatusFailed, 2},
		event.ReasonEnvironment: {event.StatusFailed, 3}, event.ReasonDisk: {event.StatusFailed, 3}, event.ReasonFault: {event.StatusFailed, 3},
		event.ReasonChecklist: {event.StatusCompleted, 0}, event.ReasonDoneFile: {event.StatusCompleted, 0},
		event.ReasonOutage: {event.StatusFailed, 3}, event.ReasonBreaker: {event.StatusFailed, 3},
		event.ReasonAuth: {event.StatusFailed, 4}, event.ReasonQuota: {event.StatusFailed, 4},
		event.ReasonBlocked: {event.StatusStopped, 4}, event.ReasonWait: {event.StatusStopped, 4},
		event.ReasonStop: {event.StatusStopped, 130}, event.ReasonKill: {event.StatusStopped, 130}, event.ReasonInterrupt: {event.StatusStopped, 130},
		"of a later version": {event.StatusFailed, 3},
	} {
		if reason.Status() != want.status || reason.ExitCode() != want.code {
			t.Errorf("%s is %s with exit code %d", reason, reason.Status(), reason.ExitCode())
		}
	}
}

func TestWaitSaysWhatFor(t *testing.T) {
	until := time.Date(2026, 11, 21, 13, 0, 3, 9e6, time.UTC)
	for want, w := range map[string]event.LoopWaiting{
		"rate limit until 2026-11-21T13:00:03Z":    {For: event.WaitRate, Until: until},
		"overload until 2026-11-21T13:00:03Z":      {For: event.WaitOverload, Until: until},
		"restart delay until 2026-11-21T13:00:03Z": {For: event.WaitRestart, Until: until},
		"no progress until 2026-11-21T13:00:03Z":   {For: event.WaitBreaker, Until: until},
		"a person: which key?":                     {For: event.WaitPerson, Why: "which key?"},
	} {
		if got := w.String(); got != want {
			t.Errorf("it is %q, want %q", got, want)
		}
	}
}

func TestTextKeepsEncoding(t *testing.T) {
	for name, row := range map[string]struct{ text, plain, json string }{
		"nothing":               {"", "", `""`},
		"a word":                {`"word"`, "word", `"word"`},
		"escapes":               {`"\u00fc\/\n"`, "ü/\n", `"\u00fc\/\n"`},
		"a surrogate pair":      {`"\ud83c\udf0d"`, "🌍", `"\ud83c\udf0d"`},
		"half a surrogate pair": {`"\ud83c"`, "\ufffd", `"\ud83c"`},
	} {
		t.Run(name, func(t *testing.T) {
			text := event.Quoted([]byte(row.text))
			if got := text.String(); got != row.plain {
				t.Errorf("reads %q", got)
			}
			if got := string(text.AppendTo([]byte("x"))); got != "x"+row.plain {
				t.Errorf("appended it is %q", got)
			}
			if got, err := text.MarshalJSON(); err != nil || string(got) != row.json {
				t.Errorf("written as %s, %v", got, err)
			}
			if text.IsZero() != (row.plain == "") {
				t.Errorf("empty: %v", text.IsZero())
			}
		})
	}
}

func TestTextRejectsNonStrings(t *testing.T) {
	var p event.ToolProgressed
	value := []byte(`{"id":"t","text":"kept"}`)
	if err := json.Unmarshal(value, &p); err != nil || p.Text.String() != "kept" {
		t.Fatalf("%q, %v", p.Text, err)
	}
	copy(value, bytes.Repeat([]byte("#"), len(value)))
	if p.Text.String() != "kept" {
		t.Error("the text shares the memory that it was read from")
	}
	if err := json.Unmarshal([]byte(`{"text":null}`), &p); err != nil || !p.Text.IsZero() {
		t.Errorf("null is %q, %v", p.Text, err)
	}
	for _, bad := range []string{`{"text":7}`, `{"text":{}}`, `{"text":["x"]}`, `{"text":true}`} {
		if err := json.Unmarshal([]byte(bad), &p); err == nil {
			t.Errorf("%s was read", bad)
		}
	}
}

func TestPlainTextReadsBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.String().Draw(t, "s")
		text := event.Plain(s)
		var viaJSON string
		if err := json.Unmarshal(text, &viaJSON); err != nil || viaJSON != text.String() || text.String() != s {
			t.Fatalf("%q is spelled %s and reads %q and %q, %v", s, text, text.String(), viaJSON, err)
		}
	})
}

// Package event parses times itself: the result must be the same as that of package time.
func TestTimesReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seconds := rapid.Int64Range(-62135596800, 253402300799).Draw(t, "seconds") // years 1 to 9999
		at := time.Unix(seconds, rapid.Int64Range(0, 999_999_999).Draw(t, "nanoseconds"))
		line, _ := frame.Append(nil, frame.Stamp{Seq: 1, At: at.In(time.FixedZone("east", 3600*rapid.IntRange(-12, 12).Draw(t, "zone")))}, event.Encode(event.TimerFired{}, "clock"), 0)
		if want := at.UTC().Truncate(time.Microsecond).Format("2006-01-02T15:04:05.000000Z"); !bytes.Contains(line, []byte(want)) {
			t.Fatalf("%s is not in %s", want, line)
		}
		e, err := event.Parse(line)
		if err != nil || !e.At.Equal(at.Truncate(time.Microsecond)) {
			t.Fatalf("%s is read as %s, %v", line, e.At, err)
		}
	})
}

func TestCloneSharesNoMemory(t *testing.T) {
	line, _ := frame.Append(nil, frame.Stamp{Seq: 1}, event.Encode(event.TimerFired{Name: "idle"}, "clock"), 0)
	e, err := event.Parse(line)
	if err != nil {
		t.Fatal(err)
	}
	clone := e.Clone()
	copy(line, bytes.Repeat([]byte("#"), len(line)))
	if fired, err := event.As[event.TimerFired](clone); err != nil || fired.Name != "idle" || clone.By() != "clock" {
		t.Errorf("%+v, %v", clone, err)
	}
}

func TestDecodeErrorNamesType(t *testing.T) {
	e := testevent.Of(1, time.Time{}, event.Draft{Type: event.TypeAgentUsed, Data: []byte(`{"in":"many"}`)})
	_, err := event.As[event.AgentUsed](e)
	if bad, ok := errors.AsType[*event.DecodeError](err); !ok || bad.Type != event.TypeAgentUsed || !strings.Contains(err.Error(), "agent.used") {
		t.Errorf("%v", err)
	}
}

func TestUsageDecodesLikeEncodingJSON(t *testing.T) {
	for _, data := range []string{
		`{}`, `{"in":1,"out":2,"cacheRead":3,"cacheWrite":4,"usd":0.0125,"model":"claude-opus-4","unpriced":true}`, `{"usd":null}`, `{"usd":0}`,
		`{"usd":1e-3,"new":{"in":7},"model":"caf\u00e9"}`, `{"in":null,"model":null,"usd":3,"usd":null}`, `{"in":1,"in":2}`,
		`{"in":-9223372036854775808,"out":9223372036854775807}`,
		`{"in":1.5}`, `{"in":1e3}`, `{"in":9223372036854775808}`, `{"out":"2"}`, `{"usd":"2"}`, `{"usd":1e999}`, `{"model":7}`, `{"unpriced":true,"unpriced":null}`, `{"unpriced":1}`, `[]`, `"in"`, `7`,
	} {
		e := testevent.Of(1, time.Time{}, event.Draft{Type: event.TypeAgentUsed, Data: []byte(data)})
		var want event.AgentUsed
		bad := json.Unmarshal([]byte(data), &want)
		got, err := event.As[event.AgentUsed](e)
		if (err == nil) != (bad == nil) || err == nil && !reflect.DeepEqual(got, want) {
			t.Errorf("%s is %+v, %v; want %+v, %v", data, got, err, want, bad)
		}
	}
}

func TestEncodePanicsOnInvalidJSON(t *testing.T) {
	for name, p := range map[string]event.Payload{
		"a limit without end":  event.LoopConfigured{Rules: event.Rules{Limits: event.LimitRules{Cost: math.Inf(1)}}},
		"a checkpoint of junk": event.SegmentOpened{Checkpoint: json.RawMessage(`{`)},
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("it was encoded")
				}
			}()
			event.Encode(p, "loop")
		})
	}
}

func TestNonFinitePriceIsNull(t *testing.T) {
	for _, price := range []float64{math.Inf(1), math.Inf(-1), math.NaN()} {
		if got := string(event.AppendData(nil, event.AgentUsed{In: 1, USD: usd(price)})); got != `{"in":1,"out":0,"cacheRead":0,"cacheWrite":0,"usd":null}` {
			t.Errorf("%v is written as %s", price, got)
		}
	}
}
