package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/testkit/terminaltest"
	"github.com/ralph-loop/ralph/journal/event"
)

// recording replays a loop into a recording on stdout.
func (r *recorded) recording(v replayVerb) (head string, events []terminaltest.Recorded) {
	r.t.Helper()
	if v.Size == "" {
		v.Size = "100x30"
	}
	v.Cast = "-"
	head, events, err := terminaltest.ReadRecording([]byte(r.printed(&v)))
	r.must(err)
	return head, events
}

// events is recording without its first line.
func (r *recorded) events(v replayVerb) []terminaltest.Recorded {
	_, events := r.recording(v)
	return events
}

// terminalText is what the terminal got, and the labels of the markers.
func terminalText(events []terminaltest.Recorded) (text string, markers []string) {
	for _, e := range events {
		switch e.Code {
		case "o":
			text += e.Text
		case "m":
			markers = append(markers, e.Text)
		}
	}
	return text, markers
}

func TestCastOfCompleteLoop(t *testing.T) {
	r := threeIterations(t)
	head, events := r.recording(replayVerb{Source: "night"})
	text, markers := terminalText(events)
	for _, want := range []string{"\x1b[?1049h", "iteration 2 of 10", "Three.", "completed: promise"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
	if strings.Contains(text, "\x1b[2J") || strings.Contains(text, "\x1b[J") {
		t.Error("it clears the screen")
	}
	plain, _ := terminalText(r.events(replayVerb{Source: "night", Plain: true, Color: "never"}))
	want := strings.ReplaceAll(r.printed(&replayVerb{Source: "night", Speed: "max"}), "\n", "\r\n")
	if last := want[strings.LastIndex(want, "3 iterations"):]; !strings.HasSuffix(plain, last) || strings.Contains(plain, "\x1b") {
		t.Errorf("as text it ends with\n%s\nwant\n%s", plain, last)
	}
	if got := strings.Join(markers, ", "); got != "iteration 1, iteration 2, iteration 3" {
		t.Errorf("markers: %s", got)
	}
	if last := events[len(events)-1]; last.Code != "x" || last.Text != "0" {
		t.Errorf("it ends with %+v", last)
	}
	if !strings.HasPrefix(head, `{"version":3,"term":{"cols":100,"rows":30},`) {
		t.Errorf("it begins with %s", head)
	}
	if _, some := terminalText(r.events(replayVerb{Source: "night", Iteration: "2.."})); len(some) != 2 {
		t.Errorf("markers of two iterations: %v", some)
	}
	if coloured, _ := terminalText(r.events(replayVerb{Source: "night", Color: "auto"})); !strings.Contains(coloured, "\x1b[9") {
		t.Error("it has no colours")
	}
}

func TestCastPausesAreBounded(t *testing.T) {
	r := threeIterations(t)
	length := func(v replayVerb) time.Duration {
		events := r.events(v)
		return events[len(events)-1].At
	}
	all := length(replayVerb{Source: "night"})
	if faster := length(replayVerb{Source: "night", Speed: "10"}); faster < all/11 || faster > all/9 {
		t.Errorf("ten times as fast it takes %v instead of %v", faster, all)
	}
	if bounded := length(replayVerb{Source: "night", Idle: 100 * time.Millisecond}); bounded >= all/2 || bounded == 0 {
		t.Errorf("with short pauses it takes %v instead of %v", bounded, all)
	}
}

func TestCastOverwritesNothing(t *testing.T) {
	r := threeIterations(t)
	file := filepath.Join(t.TempDir(), "night.cast")
	r.must(os.WriteFile(file, []byte("mine"), 0o600))
	verb := replayVerb{Source: "night", Cast: file, Size: "80x24"}
	if err := verb.Run(r.env); codeOf(err) != event.ExitUsage || !strings.Contains(err.Error(), "is there already") {
		t.Errorf("error %v", err)
	}
	verb.Overwrite = true
	r.must(verb.Run(r.env))
	text, err := os.ReadFile(file)
	r.must(err)
	if _, _, err := terminaltest.ReadRecording(text); err != nil {
		t.Error(err)
	}
}

func TestCastRefusesMeaninglessOptions(t *testing.T) {
	r := threeIterations(t)
	for name, verb := range map[string]replayVerb{
		"no delay":         {Speed: "max", Size: "80x24"},
		"no size":          {Size: "large"},
		"too small":        {Size: "10x4"},
		"nothing to show":  {Size: "80x24", From: 1000},
		"a missing folder": {Size: "80x24", Cast: "no/such/folder/x.cast"},
	} {
		verb.Source = "night"
		if verb.Cast == "" {
			verb.Cast = filepath.Join(t.TempDir(), "x.cast")
		}
		if err := verb.Run(r.env); err == nil {
			t.Errorf("%s is accepted", name)
		}
		if _, err := os.Lstat(verb.Cast); err == nil {
			t.Errorf("%s: there is a file", name)
		}
	}
}

// What can be read of a damaged journal is recorded.
func TestCastOfDamagedJournal(t *testing.T) {
	r := threeIterations(t)
	segment := filepath.Join(r.dir, "journal", "000002-i0002.jsonl")
	text, err := os.ReadFile(segment)
	r.must(err)
	r.must(os.WriteFile(segment, []byte(strings.Replace(string(text), "Two.", "Too.", 1)), 0o600))
	file := filepath.Join(t.TempDir(), "night.cast")
	if err := (&replayVerb{Source: "night", Cast: file, Size: "80x24"}).Run(r.env); codeOf(err) != event.ExitFailed {
		t.Errorf("error %v", err)
	}
	text, err = os.ReadFile(file)
	r.must(err)
	_, events, err := terminaltest.ReadRecording(text)
	r.must(err)
	if got, _ := terminalText(events); !strings.Contains(got, "One.") || strings.Contains(got, "Three.") {
		t.Errorf("recorded is\n%s", got)
	}
}
