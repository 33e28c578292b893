package frame_test

import (
	"bytes"
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/ralph-loop/ralph/internal/ground/frame"
	_ "github.com/ralph-loop/ralph/internal/testkit/testseed"
	"github.com/ralph-loop/ralph/journal/event"
)

func TestVerifyRejectsChangedLine(t *testing.T) {
	whole, sum := frame.Append(nil, frame.Stamp{Seq: 1}, event.Encode(event.TimerFired{Name: "idle"}, "clock"), 7)
	if got, ok := frame.Verify(whole, 7); !ok || got != sum {
		t.Fatalf("a whole line: %08x, %v", got, ok)
	}
	for i := range whole {
		for _, bit := range []byte{1, 0x20, 0x80} {
			line := bytes.Clone(whole)
			line[i] ^= bit
			if _, ok := frame.Verify(line, 7); ok {
				t.Errorf("byte %d (%q for %q) makes no difference", i, line[i], whole[i])
			}
		}
		if _, ok := frame.Verify(whole[:i], 7); ok {
			t.Errorf("%d bytes of %d verify", i, len(whole))
		}
	}
	if _, ok := frame.Verify(whole, 8); ok {
		t.Error("a line verifies after another one")
	}
	if _, ok := frame.CRC(append(bytes.Clone(whole), ' ')); ok {
		t.Error("a line with a space after it has a checksum")
	}
}

func TestParseReadsWrittenLine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := event.Draft{
			Type:  rapid.SampledFrom(event.Types()).Draw(t, "type"),
			By:    rapid.SampledFrom([]string{"loop", "agent:pi", "inbox:01JD", "agent:ä", `hook:"x"`, ""}).Draw(t, "by"),
			Iter:  rapid.IntRange(0, 1000).Draw(t, "iter"),
			Cause: event.Seq(rapid.Uint64Range(0, 3).Draw(t, "cause")),
			Data:  []byte(rapid.SampledFrom([]string{`{}`, `{"a":"}"}`, `{"text":"x","n":[1,2]}`}).Draw(t, "data")),
		}
		if rapid.Bool().Draw(t, "raw") {
			d.Raw = []byte(`{"raw":[]}`)
		}
		stamp := frame.Stamp{Seq: event.Seq(rapid.Uint64Range(1, math.MaxInt64).Draw(t, "seq")), At: time.Date(2026, 11, 21, 1, 52, 28, 123_456_000, time.UTC)}
		copy(stamp.ID[:], "01JD0000000000000000000000")
		line, authored := frame.AppendOpen(nil, &stamp, &d)
		if !bytes.HasPrefix(line[authored:], []byte(`,"by":`)) {
			t.Fatalf("%s: authored text begins at %d", line, authored)
		}
		line, _ = frame.Close(line, 0, 0)
		e, err := event.Parse(line)
		if err != nil {
			t.Fatal(err)
		}
		if e.Seq != stamp.Seq || !e.At.Equal(stamp.At) || e.ID() != string(stamp.ID[:]) || e.By() != d.By || e.Iter != d.Iter ||
			e.Cause != d.Cause || e.Type != d.Type || string(e.Data()) != string(d.Data) || string(e.Raw()) != string(d.Raw) {
			t.Fatalf("%s was read as %+v", line, e)
		}
	})
}
