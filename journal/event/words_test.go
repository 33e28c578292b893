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

	"github.com/ralph-loop/ralph/journal/event"
)

func TestEachReasonHasItsStatusAndExitCode(t *testing.T) {
	for reason, want := range map[event.Reason]struct {
		status string
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

func TestTextKeepsItsSpelling(t *testing.T) {
	for name, row := range map[string]struct{ text, plain, json string }{
		"nothing":                 {"", "", `""`},
		"a word":                  {`"word"`, "word", `"word"`},
		"escapes":                 {`"\u00fc\/\n"`, "ü/\n", `"\u00fc\/\n"`},
		"a character of two":      {`"\ud83c\udf0d"`, "🌍", `"\ud83c\udf0d"`},
		"half a character of two": {`"\ud83c"`, "\ufffd", `"\ud83c"`},
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

func TestTextIsReadFromStringsOnly(t *testing.T) {
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

func TestADamagedLineDoesNotVerify(t *testing.T) {
	whole, sum := event.AppendLine(nil, event.Stamp{Seq: 1}, event.Encode(event.TimerFired{Name: "idle"}, "clock"), 7)
	if got, ok := event.Verify(whole, 7); !ok || got != sum {
		t.Fatalf("a whole line: %08x, %v", got, ok)
	}
	for i := range whole {
		for _, bit := range []byte{1, 0x20, 0x80} {
			line := bytes.Clone(whole)
			line[i] ^= bit
			if _, ok := event.Verify(line, 7); ok {
				t.Errorf("byte %d (%q for %q) makes no difference", i, line[i], whole[i])
			}
		}
		if _, ok := event.Verify(whole[:i], 7); ok {
			t.Errorf("%d bytes of %d verify", i, len(whole))
		}
	}
	if _, ok := event.Verify(whole, 8); ok {
		t.Error("a line verifies behind another one")
	}
	if _, ok := event.CRC(append(bytes.Clone(whole), ' ')); ok {
		t.Error("a line with a space behind it has a checksum")
	}
}

// The clock of a line is read without package time: it must read the same.
func TestTimesReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seconds := rapid.Int64Range(-62135596800, 253402300799).Draw(t, "seconds") // years 1 to 9999
		at := time.Unix(seconds, rapid.Int64Range(0, 999_999_999).Draw(t, "nanoseconds"))
		text := string(event.AppendTime(nil, at.In(time.FixedZone("east", 3600*rapid.IntRange(-12, 12).Draw(t, "zone")))))
		if want := at.UTC().Truncate(time.Microsecond).Format("2006-01-02T15:04:05.000000Z"); text != want {
			t.Fatalf("%s is written as %s", want, text)
		}
		e, err := event.Parse([]byte(`{"v":1,"seq":3,"id":"x","at":"` + text + `","iter":2,"by":"clock","type":"timer.fired","data":{},"crc":"00000000"}`))
		if err != nil || !e.At.Equal(at.Truncate(time.Microsecond)) {
			t.Fatalf("%s is read as %s, %v", text, e.At, err)
		}
	})
}

// A writer does not parse what it has just written: what it takes for granted must be what a reader finds.
func TestWhatWasWrittenIsWhatIsParsed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := event.Draft{
			Type:  rapid.SampledFrom(event.Types()).Draw(t, "type"),
			By:    rapid.SampledFrom([]string{"loop", "agent:pi", "inbox:01JD", "agent:ä", `hook:"x"`, ""}).Draw(t, "by"),
			Iter:  rapid.IntRange(0, 1000).Draw(t, "iter"),
			Cause: rapid.Uint64Range(0, 3).Draw(t, "cause"),
			Data:  []byte(rapid.SampledFrom([]string{`{}`, `{"a":"}"}`, `{"text":"x","n":[1,2]}`}).Draw(t, "data")),
		}
		if rapid.Bool().Draw(t, "raw") {
			d.Raw = []byte(`{"raw":[]}`)
		}
		stamp := event.Stamp{Seq: rapid.Uint64Range(1, math.MaxInt64).Draw(t, "seq"), At: time.Date(2026, 11, 21, 1, 52, 28, 123_456_000, time.UTC)}
		copy(stamp.ID[:], "01JD0000000000000000000000")
		line, said := event.AppendOpen(nil, &stamp, &d)
		line, _ = event.Seal(line, 0, 0)
		parsed, err := event.Parse(line)
		if err != nil {
			t.Fatal(err)
		}
		if parsed.By() != d.By || parsed.Iter != d.Iter || parsed.Cause != d.Cause || string(parsed.Data()) != string(d.Data) || string(parsed.Raw()) != string(d.Raw) {
			t.Fatalf("%s was read as %+v", line, parsed)
		}
		written, ok := event.Written(line, said, &stamp, &d)
		if !ok {
			if !strings.ContainsAny(d.By, `"`) {
				t.Fatalf("%s does not say what it was made from", line)
			}
			return
		}
		if written.Seq != parsed.Seq || written.ID() != parsed.ID() || !written.At.Equal(parsed.At) || written.Iter != parsed.Iter ||
			written.By() != parsed.By() || written.Cause != parsed.Cause || written.Type != parsed.Type ||
			string(written.Data()) != string(parsed.Data()) || string(written.Raw()) != string(parsed.Raw()) || string(written.Line()) != string(line) {
			t.Fatalf("written %+v, parsed %+v", written, parsed)
		}
	})
}

// An opener remembers the line before: whatever that was, it writes what AppendOpen writes.
func TestAnOpenerWritesWhatOneWithoutMemoryWrites(t *testing.T) {
	noon := time.Date(2026, 11, 21, 12, 59, 59, 999_999_000, time.UTC)
	rapid.Check(t, func(t *rapid.T) {
		var opener event.Opener
		stamp := event.Stamp{Seq: rapid.SampledFrom([]uint64{1, 8, 98, 9_999_997, math.MaxInt64 - 40}).Draw(t, "first"), At: noon}
		copy(stamp.ID[:], "01JD0000000000000000000000")
		for range rapid.IntRange(1, 20).Draw(t, "lines") {
			stamp.Seq += rapid.SampledFrom([]uint64{1, 1, 1, 1, 0, 2}).Draw(t, "seq")
			stamp.At = stamp.At.Add(rapid.SampledFrom([]time.Duration{0, 0, time.Microsecond, -time.Hour, 24 * time.Hour}).Draw(t, "later"))
			stamp.ID[25] = "0123456789"[stamp.Seq%10]
			d := event.Draft{
				Type:  rapid.SampledFrom(event.Types()[:3]).Draw(t, "type"),
				By:    rapid.SampledFrom([]string{"loop", "agent:pi", "agent:ä", `hook:"x"`, ""}).Draw(t, "by"),
				Iter:  rapid.SampledFrom([]int{3, 3, 3, 10}).Draw(t, "iter"),
				Cause: rapid.Uint64Range(0, 2).Draw(t, "cause"),
				Data:  []byte(`{"a":"}"}`),
			}
			if rapid.Bool().Draw(t, "raw") {
				d.Raw = []byte(`{"raw":[]}`)
			}
			want, wantSaid := event.AppendOpen([]byte("before"), &stamp, &d)
			line, said := opener.Append([]byte("before"), &stamp, &d)
			if string(line) != string(want) || said != wantSaid {
				t.Fatalf("%s, said from %d;\nwant %s, from %d", line, said, want, wantSaid)
			}
			line, _ = event.Seal(line, len("before"), 0)
			line = line[len("before"):]
			var e event.Event
			if !opener.Event(&e, line, &stamp, &d) {
				if !strings.Contains(d.By, `"`) {
					t.Fatalf("%s has to be parsed", line)
				}
				continue
			}
			parsed, err := event.Parse(line)
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(e, parsed) {
				t.Fatalf("written %+v, parsed %+v", e, parsed)
			}
		}
	})
}

func TestALineThatWasChangedSaysNotWhatItWasMadeFrom(t *testing.T) {
	d := event.Encode(event.TimerFired{Name: "idle"}, "clock")
	stamp := event.Stamp{Seq: 12}
	line, said := event.AppendOpen(nil, &stamp, &d)
	line, _ = event.Seal(line, 0, 0)
	for old, changed := range map[string]string{`"seq":12`: `"seq":13`, `"by":"clock"`: `"by":"cl\"ck`, "timer.fired": "timer.FIRED", `"data":`: `"DATA":`} {
		if _, ok := event.Written(bytes.Replace(bytes.Clone(line), []byte(old), []byte(changed), 1), said, &stamp, &d); ok {
			t.Errorf("%s for %s makes no difference", changed, old)
		}
	}
}

func TestACloneStandsAlone(t *testing.T) {
	line, _ := event.AppendLine(nil, event.Stamp{Seq: 1}, event.Encode(event.TimerFired{Name: "idle"}, "clock"), 0)
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

func TestWhatCannotBeReadSaysWhichTypeItIs(t *testing.T) {
	line, _ := event.AppendLine(nil, event.Stamp{Seq: 1}, event.Draft{Type: event.TypeAgentUsed, Data: []byte(`{"in":"many"}`)}, 0)
	e, err := event.Parse(line)
	if err != nil {
		t.Fatal(err)
	}
	_, err = event.As[event.AgentUsed](e)
	if bad, ok := errors.AsType[*event.DecodeError](err); !ok || bad.Type != event.TypeAgentUsed || !strings.Contains(err.Error(), "agent.used") {
		t.Errorf("%v", err)
	}
}

func TestUsageIsReadAsEncodingJSONReadsIt(t *testing.T) {
	for _, data := range []string{
		`{}`, `{"in":1,"out":2,"cacheRead":3,"cacheWrite":4,"usd":0.0125,"model":"claude-opus-4"}`, `{"usd":null}`, `{"usd":0}`,
		`{"usd":1e-3,"new":{"in":7},"model":"caf\u00e9"}`, `{"in":null,"model":null,"usd":3,"usd":null}`, `{"in":1,"in":2}`,
		`{"in":-9223372036854775808,"out":9223372036854775807}`,
		`{"in":1.5}`, `{"in":1e3}`, `{"in":9223372036854775808}`, `{"out":"2"}`, `{"usd":"2"}`, `{"usd":1e999}`, `{"model":7}`, `[]`, `"in"`, `7`,
	} {
		line, _ := event.AppendLine(nil, event.Stamp{Seq: 1}, event.Draft{Type: event.TypeAgentUsed, Data: []byte(data)}, 0)
		e, err := event.Parse(line)
		if err != nil {
			t.Fatal(err)
		}
		var want event.AgentUsed
		bad := json.Unmarshal([]byte(data), &want)
		got, err := event.As[event.AgentUsed](e)
		if (err == nil) != (bad == nil) || err == nil && !reflect.DeepEqual(got, want) {
			t.Errorf("%s is %+v, %v; want %+v, %v", data, got, err, want, bad)
		}
	}
}

func TestWhatCannotBeJSONPanics(t *testing.T) {
	for name, p := range map[string]event.Payload{
		"a limit without end":  event.LoopConfigured{Rules: event.Rules{LimitCost: math.Inf(1)}},
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

func TestAPriceThatIsNoNumberIsNotKnown(t *testing.T) {
	for _, price := range []float64{math.Inf(1), math.Inf(-1), math.NaN()} {
		if got := string(event.AppendData(nil, event.AgentUsed{In: 1, USD: usd(price)})); got != `{"in":1,"out":0,"cacheRead":0,"cacheWrite":0,"usd":null}` {
			t.Errorf("%v is written as %s", price, got)
		}
	}
}
