package cast_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/render/cast"
)

const second = time.Second

func TestRecordingAsWritten(t *testing.T) {
	var out bytes.Buffer
	w := cast.NewWriter(&out, cast.Header{Columns: 80, Rows: 24, Title: "a <loop>", Command: "ralph attach", At: time.Unix(1504467315, 0)})
	w.Output(248*time.Millisecond, "\x1b[1mOne.\x1b[0m\r\n")
	w.Marker(second, "iteration 2")
	w.Resize(3*second, 90, 30)
	w.Output(2*second, "späte Ausgabe") // a clock that was set back
	w.Exit(4500*time.Millisecond, 3)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	want := `{"version":3,"term":{"cols":80,"rows":24},"timestamp":1504467315,"command":"ralph attach","title":"a <loop>"}
[0.248, "o", "\u001b[1mOne.\u001b[0m\r\n"]
[0.752, "m", "iteration 2"]
[2.000, "r", "90x30"]
[0.000, "o", "späte Ausgabe"]
[1.500, "x", "3"]
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Error(diff)
	}
}

func TestParseReadsWhatWriterWrote(t *testing.T) {
	var out bytes.Buffer
	head := cast.Header{Columns: 100, Rows: 30, Title: "demo", At: time.Unix(1504467315, 0).UTC()}
	w := cast.NewWriter(&out, head)
	w.Marker(0, "iteration 1")
	w.Output(second, "\u2028 \x00 界\r\n")
	w.Exit(2*second, 0)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	got, err := cast.Parse(out.Bytes())
	want := cast.Recording{Header: head, Events: []cast.Event{
		{0, cast.CodeMarker, "iteration 1"},
		{second, cast.CodeOutput, "\u2028 \x00 界\r\n"},
		{2 * second, cast.CodeExit, "0"},
	}}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
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
	got, err := cast.Parse(out.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if last := got.Events[len(got.Events)-1].At; last != 3330*time.Millisecond {
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
		if got := output(t, out.Bytes()); got != text {
			t.Errorf("cut after %d bytes: %q", cut, got)
		}
	}
}

func output(t *testing.T, recording []byte) string {
	t.Helper()
	r, err := cast.Parse(recording)
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for _, e := range r.Events {
		if e.Code == cast.CodeOutput {
			text.WriteString(e.Text)
		}
	}
	return text.String()
}

func TestParseRefusesOtherFiles(t *testing.T) {
	const head = `{"version":3,"term":{"cols":80,"rows":24}}` + "\n"
	for name, text := range map[string]string{
		"nothing":               "",
		"version 2":             `{"version":2,"width":80,"height":24}` + "\n",
		"no size":               `{"version":3,"term":{"cols":80}}` + "\n",
		"a torn line":           head + `[0.1, "o", "x"`,
		"two parts":             head + `[0.1, "o"]` + "\n",
		"four parts":            head + `[0.1, "o", "x", 1]` + "\n",
		"a negative interval":   head + `[-1, "o", "x"]` + "\n",
		"an interval as text":   head + `["1", "o", "x"]` + "\n",
		"no code":               head + `[1, "", "x"]` + "\n",
		"data that is no text":  head + `[1, "x", 0]` + "\n",
		"no exit code":          head + `[1, "x", "ok"]` + "\n",
		"a size without a rows": head + `[1, "r", "80"]` + "\n",
	} {
		if _, err := cast.Parse([]byte(text)); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
	if _, err := cast.Parse([]byte(head + "# a comment\n\n" + `[1, "z", "of a later version"]` + "\n")); err != nil {
		t.Error(err)
	}
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
	r, err := cast.Parse(out.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	want := []cast.Event{
		{0, cast.CodeOutput, "\x1b[?2026h\x1b[?1049h\x1b[?25l\x1b[1;1H\x1b[m\x1b[2Khead\x1b[2;1H\x1b[m\x1b[2K\x1b[1mone\x1b[0m\x1b[m\x1b[3;1H\x1b[m\x1b[2Kfoot\x1b[?2026l"},
		{2 * second, cast.CodeOutput, "\x1b[?2026h\x1b[2;1H\x1b[m\x1b[2Ktwo\x1b[3;1H\x1b[m\x1b[2K\x1b[?2026l"},
		{3 * second, cast.CodeOutput, "\x1b[?25h\x1b[?1049l"},
	}
	if diff := cmp.Diff(want, r.Events); diff != "" {
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

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"version":3,"term":{"cols":80,"rows":24}}` + "\n" + `[0.1, "o", "x"]` + "\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := cast.Parse(data)
		if err != nil {
			return
		}
		var at time.Duration
		for _, e := range r.Events {
			if e.At < at || e.Code == "" {
				t.Errorf("event %+v after %v", e, at)
			}
			at = e.At
		}
	})
}
