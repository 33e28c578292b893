package phrase

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/testkit/testevent"
	"github.com/ralph-loop/ralph/journal/event"
)

// Each type of event has one phrase. That none has two, the compiler checks: the book is a map.
func TestEachTypeHasPhrase(t *testing.T) {
	types := event.Types()
	for _, typ := range types {
		if book[typ] == nil {
			t.Errorf("%s has no phrase", typ)
		}
	}
	for typ := range book {
		if !slices.Contains(types, typ) {
			t.Errorf("%s has a phrase and is no type of event", typ)
		}
	}
	said := map[event.Type]string{}
	for _, e := range testevent.Read(t, "../../journal/event/testdata/catalogue.jsonl") {
		p, err := event.Decode(e)
		if err != nil {
			t.Fatal(err)
		}
		text := Of(p, Known{}).String()
		if said[e.Type] = text; strings.TrimSpace(text) == "" || strings.HasSuffix(text, ":") {
			t.Errorf("%s is said as %q", e.Type, text)
		}
		if line := Of(p, Known{}).Line(); strings.Contains(line, "\n") {
			t.Errorf("%s is not one line: %q", e.Type, line)
		}
	}
	if len(said) != len(types) {
		t.Errorf("%d types of %d are in the catalogue", len(said), len(types))
	}
	if got := Of(nil, Known{}); got.String() != "" {
		t.Errorf("an event of a newer ralph is said as %q", got)
	}
}

func TestPhraseIsSpelled(t *testing.T) {
	for want, p := range map[string]Phrase{
		"waiting":                  {Text: "waiting"},
		"waiting: lunch":           {Text: "waiting", Why: "lunch"},
		"done (3s · refunded)":     {Text: "done", Facts: []string{"3s", "refunded"}},
		"failed (3s): out of disk": {Text: "failed", Facts: []string{"3s"}, Why: "out of disk"},
	} {
		if got := p.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	several := Phrase{Text: "the process failed", Why: "\nTraceback:\n  boom"}
	if got := several.Line(); got != "the process failed: Traceback: boom" {
		t.Errorf("%q", got)
	}
}

func TestTimesAreLocal(t *testing.T) {
	until := time.Date(2026, 11, 22, 4, 30, 0, 0, time.UTC)
	wait := event.LoopWaiting{For: event.WaitRate, Until: until}
	for want, k := range map[string]Known{
		"waiting: rate limit until 2026-11-22T04:30:00Z": {},
		"waiting: rate limit until 04:30:00 (30m0s)":     {At: until.Add(-30 * time.Minute), Location: time.UTC},
		"waiting: rate limit until 2026-11-22 04:30:00":  {Day: until.Add(-24 * time.Hour), Location: time.UTC},
		"waiting: rate limit until 2026-11-22 05:30:00":  {Day: until.Add(-24 * time.Hour), Location: time.FixedZone("", 3600)},
	} {
		if got := Of(wait, k).String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// What a reader who follows a loop knows already is not said again.
func TestNewsIsSaidOnce(t *testing.T) {
	left := event.RepoInspected{Root: ".", When: event.MomentEnd, Fingerprint: "a", Files: 1, Branch: "x", Left: "main"}
	back := event.RepoInspected{Root: ".", When: event.MomentEnd, Fingerprint: "a", Branch: "main"}
	boxes := event.FolderInspected{Boxes: 2, Ticked: 1}
	gone := event.RepoUnreadable{Root: "y", Error: "no git"}
	var n News
	for i, step := range []struct {
		p    event.Payload
		want string
	}{
		{boxes, "task.md: 1 of 2 boxes ticked"},
		{boxes, ""},
		{left, "repository: 1 file not committed (+0 −0)\non the branch x, no longer on the loop's branch main"},
		{left, ""},
		{back, "repository: back on the loop's branch main"},
		{back, ""},
		{gone, "repository y: the changes of the iteration are unknown: no git"},
		{gone, ""},
		{event.BreakerTripped{Rule: "sameError", Step: "hint", Count: 2, Evidence: "shown above"}, "2 iterations in a row ended with this error\nthe next prompt says so"},
		{event.BreakerTripped{Rule: "noProgress", Step: "stop", Count: 5, Evidence: "nothing moved"}, ""},
	} {
		said := n.Of(step.p, Known{})
		if got := said.String(); said.Tone == ToneQuiet && step.want != "" || said.Tone != ToneQuiet && got != step.want {
			t.Errorf("step %d: %q, want %q", i, got, step.want)
		}
	}
}
