package cast_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/testkit/terminaltest"
	"github.com/ralph-loop/ralph/render/cast"
)

const second = time.Second

func TestRecordingAsWritten(t *testing.T) {
	var out bytes.Buffer
	w := cast.NewWriter(&out, cast.Header{Columns: 80, Rows: 24, Title: "a <loop>", Command: "ralph attach", At: time.Unix(1504467315, 0)})
	w.Output(248*time.Millisecond, "\x1b[1mOne.\x1b[0m\r\n")
	w.Marker(second, "iteration 2")
	w.Resize(3*second, 90, 30)
	w.Output(2*second, "späte\u2028\x00Ausgabe") // a clock that was set back
	w.Exit(4500*time.Millisecond, 3)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	want := `{"version":3,"term":{"cols":80,"rows":24},"timestamp":1504467315,"command":"ralph attach","title":"a <loop>"}
[0.248, "o", "\u001b[1mOne.\u001b[0m\r\n"]
[0.752, "m", "iteration 2"]
[2.000, "r", "90x30"]
[0.000, "o", "späte\u2028\u0000Ausgabe"]
[1.500, "x", "3"]
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Error(diff)
	}
}

// Ten thousand events a third of a millisecond apart take as long as they should.
func TestRoundingDoesNotAddUp(t *testing.T) {
	var out bytes.Buffer
	w := cast.NewWriter(&out, cast.Header{Columns: 80, Rows: 24})
	for i := range 10_001 {
		w.Output(time.Duration(i)*333*time.Microsecond, ".")
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	events := eventsOf(t, out.Bytes())
	if last := events[len(events)-1].At; last != 3330*time.Millisecond {
		t.Errorf("the last event is at %v", last)
	}
}

// No event contains half a character: a player would show a replacement for each half.
func TestCharactersAreNotCut(t *testing.T) {
	const text = "日本語 äöü 🙂"
	for cut := range len(text) {
		var out bytes.Buffer
		w := cast.NewWriter(&out, cast.Header{Columns: 80, Rows: 24})
		w.Output(0, text[:cut])
		w.Output(0, text[cut:])
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		var got string
		for _, e := range eventsOf(t, out.Bytes()) {
			got += e.Text
		}
		if got != text {
			t.Errorf("cut after %d bytes: %q", cut, got)
		}
	}
}

func eventsOf(t *testing.T, recording []byte) []terminaltest.Recorded {
	t.Helper()
	_, events, err := terminaltest.ReadRecording(recording)
	if err != nil {
		t.Fatal(err)
	}
	return events
}

func TestScreenWritesChangedRows(t *testing.T) {
	var out bytes.Buffer
	w := cast.NewWriter(&out, cast.Header{Columns: 20, Rows: 3})
	s := cast.NewScreen(w, 3)
	s.Frame(0, []string{"head", "\x1b[1mone\x1b[0m", "foot", "beyond the screen"})
	s.Frame(second, []string{"head", "\x1b[1mone\x1b[0m", "foot"})
	s.Frame(2*second, []string{"head", "two"})
	s.Leave(3 * second)
	s.Leave(3 * second)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	want := []terminaltest.Recorded{
		{At: 0, Code: "o", Text: "\x1b[?2026h\x1b[?1049h\x1b[?25l\x1b[1;1H\x1b[m\x1b[2Khead\x1b[2;1H\x1b[m\x1b[2K\x1b[1mone\x1b[0m\x1b[m\x1b[3;1H\x1b[m\x1b[2Kfoot\x1b[?2026l"},
		{At: 2 * second, Code: "o", Text: "\x1b[?2026h\x1b[2;1H\x1b[m\x1b[2Ktwo\x1b[3;1H\x1b[m\x1b[2K\x1b[?2026l"},
		{At: 3 * second, Code: "o", Text: "\x1b[?25h\x1b[?1049l"},
	}
	if diff := cmp.Diff(want, eventsOf(t, out.Bytes())); diff != "" {
		t.Error(diff)
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space") }

func TestCloseReportsFailedWrite(t *testing.T) {
	w := cast.NewWriter(full{}, cast.Header{Columns: 80, Rows: 24})
	w.Output(0, "text")
	if err := w.Close(); err == nil || !strings.Contains(err.Error(), "no space") {
		t.Errorf("error %v", err)
	}
}
