package plain_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/render"
	"github.com/ralph-loop/ralph/render/plain"
)

// writes notes how it is written to.
type writes struct {
	sizes []int
	bytes.Buffer
}

func (w *writes) Write(p []byte) (int, error) {
	w.sizes = append(w.sizes, len(p))
	return w.Buffer.Write(p)
}

func TestTextBatchesWritesInReplay(t *testing.T) {
	var w writes
	shown := plain.New(&w, render.Options{Width: 80})
	pieces := make([]any, 5000)
	for i := range pieces {
		pieces[i] = event.AgentSaid{Block: "1", Text: event.Plain("some words ")}
	}
	events := script(pieces...)
	for _, e := range events {
		if err := shown.Event(e); err != nil {
			t.Fatal(err)
		}
	}
	for _, n := range w.sizes {
		if n < 4096 {
			t.Errorf("a write of %d bytes while there was more", n)
		}
	}
	if err := shown.Flush(); err != nil {
		t.Fatal(err)
	}
	before := w.Len()
	if err := errors.Join(shown.Event(script(event.AgentSaid{Block: "1", Text: event.Plain("\nnow ")})[0]), shown.Flush()); err != nil {
		t.Fatal(err)
	}
	if got := w.String()[before:]; !strings.HasSuffix(got, "\nnow") {
		t.Errorf("a live word came out as %q", got)
	}
}

func TestTextReportsFailedWrite(t *testing.T) {
	full := errors.New("no space left on device")
	shown := plain.New(failing{full}, render.Options{})
	if err := shown.Event(script(event.LoopPaused{})[0]); err != nil {
		t.Fatalf("nothing was written yet, and still: %v", err)
	}
	if err := shown.Close(); !errors.Is(err, full) {
		t.Errorf("Close: %v, want %v", err, full)
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

func TestTextShowsUnreadablePayload(t *testing.T) {
	line := []byte(`{"v":1,"seq":7,"id":"01JD","at":"2026-11-21T01:52:28.123456Z","iter":3,"by":"loop","type":"loop.ended","data":{"status":5},"crc":"00000000"}`)
	e, err := event.Parse(line)
	if err != nil {
		t.Fatal(err)
	}
	if got := text(t, render.Options{}, []event.Event{e}); !strings.HasPrefix(got, "! event 7 loop.ended: ") {
		t.Errorf("shown as %q", got)
	}
}

// The last word of a piece is withheld near the edge only, until it is known to be complete.
func TestLastWordIsWithheld(t *testing.T) {
	for name, c := range map[string]struct {
		pieces []string
		shown  string // before the block is over
		closed string
	}{
		"far from the edge it shows at once":             {[]string{"inter"}, "inter", "inter\n"},
		"near the edge it waits":                         {[]string{strings.Repeat("x", 30) + " inter"}, strings.Repeat("x", 30), strings.Repeat("x", 30) + " inter\n"},
		"and goes to the next line where it has to":      {[]string{strings.Repeat("x", 30) + " inter", "national"}, strings.Repeat("x", 30) + "\ninternational", strings.Repeat("x", 30) + "\ninternational\n"},
		"a blank completes it":                           {[]string{strings.Repeat("x", 30) + " inter", " "}, strings.Repeat("x", 30) + " inter", strings.Repeat("x", 30) + " inter\n"},
		"a word longer than a line is broken":            {[]string{strings.Repeat("x", 50)}, strings.Repeat("x", 40) + "\n" + strings.Repeat("x", 10), strings.Repeat("x", 40) + "\n" + strings.Repeat("x", 10) + "\n"},
		"a wide character does not straddle the edge":    {[]string{strings.Repeat("x", 39) + "値"}, strings.Repeat("x", 39) + "\n値", strings.Repeat("x", 39) + "\n値\n"},
		"an escape sequence in two pieces is removed":    {[]string{"\x1b[3", "1mred\x1b", "[0m."}, "red.", "red.\n"},
		"a carriage return and newline in two pieces":    {[]string{"a\r", "\nb"}, "a\nb", "a\nb\n"},
		"a broken line keeps its indentation":            {[]string{"  " + strings.Repeat("word ", 9)}, "  word word word word word word word\n  word word", "  word word word word word word word\n  word word\n"},
		"blanks at the end of a line are not kept":       {[]string{"a   \n\n\nb"}, "a\n\n\nb", "a\n\n\nb\n"},
		"a tab goes to the next column of eight":         {[]string{"a\tb"}, "a       b", "a       b\n"},
		"combining characters take no room of their own": {[]string{strings.Repeat("e\u0301", 40)}, "", strings.Repeat("e\u0301", 40) + "\n"},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			shown := plain.New(&out, render.Options{Width: 40})
			for _, piece := range c.pieces {
				if err := shown.Event(script(event.AgentSaid{Block: "1", Text: event.Plain(piece)})[0]); err != nil {
					t.Fatal(err)
				}
			}
			if err := shown.Flush(); err != nil {
				t.Fatal(err)
			}
			if got := out.String(); got != c.shown {
				t.Errorf("live: %q, want %q", got, c.shown)
			}
			if err := shown.Close(); err != nil {
				t.Fatal(err)
			}
			if got := out.String(); got != c.closed {
				t.Errorf("closed: %q, want %q", got, c.closed)
			}
		})
	}
}

func TestToolLines(t *testing.T) {
	for input, want := range map[string]string{
		`{"command":"make test","timeout":5}`: "make test",
		`{"changes":[{"path":"/p/a.go","kind":{"type":"add"},"diff":"one\ntwo\n"},{"path":"/p/b.go","kind":{"type":"update"},"diff":"@@ -1,2 +1,1 @@\n one\n-two\n"}]}`: "/p/a.go and 1 more file  -1 +2",
		`{"changes":[{"path":"new.txt","kind":"add"}]}`: "new.txt",
		`{"changes":3}`:                                                `{"changes":3}`,
		`{"command":["bash","-lc","ls"]}`:                              "bash -lc ls",
		`{"command":"\n\n  cd x\nls"}`:                                 "cd x …",
		`{"file_path":"a.go","old_string":"a\nb\n","new_string":"c"}`:  "a.go  -2 +1",
		`{"path":"a.go","offset":10}`:                                  "a.go:10-",
		`{"path":"a.go","offset":10,"limit":5}`:                        "a.go:10-14",
		`{"pattern":"x+","path":"src","glob":"*.go"}`:                  "x+ in src",
		`{"pattern":"*.go"}`:                                           "*.go",
		`{"url":"https://example.org","prompt":"what is it"}`:          "https://example.org",
		`{"description":"look around","prompt":"Look at everything."}`: "look around",
		`{"x":1,"y":[2]}`:                                              `{"x":1,"y":[2]}`,
		`"ls -l"`:                                                      "ls -l",
		`[1,2]`:                                                        "[1,2]",
		`{"command":""}`:                                               `{"command":""}`,
		`{"command":"\u001b]0;owned\u0007ls"}`:                         "ls",
	} {
		t.Run(input, func(t *testing.T) {
			got := text(t, render.Options{}, script(event.ToolCalled{ID: "1", Name: "tool", Input: []byte(input)}))
			if want := "- tool  " + want + "\n"; got != want {
				t.Errorf("%q, want %q", got, want)
			}
		})
	}
}

func TestPauseSaysWhenItBegins(t *testing.T) {
	taken := func(id string, kind event.CommandKind) []any {
		return []any{event.CommandReceived{ID: id, Kind: kind}, event.CommandDelivered{ID: id, How: "loop"}}
	}
	story := []any{event.IterationStarted{N: 3}}
	story = append(story, taken("a", "pause")...)
	story = append(story, taken("b", "stop")...)
	story = append(story, event.IterationEnded{N: 3, Outcome: event.OutcomeDone})
	story = append(story, taken("c", "stop")...)
	var out bytes.Buffer
	shown := plain.New(&out, render.Options{})
	for _, e := range script(story...) {
		if err := shown.Event(e); err != nil {
			t.Fatal(err)
		}
	}
	if err := shown.Close(); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"> pause noted: pausing after iteration 3\n", "> stop noted: stopping after iteration 3\n", "> stop done\n"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing in\n%s", want, out.String())
		}
	}
}

// future is an event of a version that does not exist yet.
type future struct{ Type event.Type }

func (f future) EventType() event.Type { return f.Type }

func TestTextNamesNewerTypesOnce(t *testing.T) {
	var w writes
	shown := plain.New(&w, render.Options{Width: 100})
	var steps []any
	for range 3 {
		for i := range 20 {
			steps = append(steps, future{event.Type("dream" + string(rune('a'+i)) + ".began")})
		}
	}
	for _, e := range script(steps...) {
		if err := shown.Event(e); err != nil {
			t.Fatal(err)
		}
	}
	if err := shown.Close(); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(w.String(), "\n"); n != 9 || !strings.HasPrefix(w.String(), "! events of a newer ralph are not shown: dreama.began; 'ralph logs' has them\n") {
		t.Errorf("%d lines:\n%s", n, w.String())
	}
}

func TestEndShowsStories(t *testing.T) {
	approved := event.StoryState{ID: "US-001", Passes: true, ReviewStatus: event.StoryApproved, ReviewCount: 1}
	events := script(
		event.LoopStarted{Name: "notes"}, event.StoriesRead{Mode: event.ModeReview, Story: "US-001", Stories: []event.StoryState{{ID: "US-001"}}},
		event.IterationStarted{N: 1}, event.StoriesJudged{Mode: event.ModeReview, Stories: []event.StoryState{approved}},
		event.IterationEnded{N: 1, Outcome: event.OutcomeDone},
		event.LoopEnded{Status: event.StatusStopped, Reason: event.ReasonIterations, Why: "1 of 1 iterations is used"},
	)
	if got := text(t, render.Options{Width: 80}, events); !strings.Contains(got, "is used\n1 of 1 story pass · 1 review\n") {
		t.Error(got)
	}
}
