package tui

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/journal"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/render/transcript"
)

// long writes a journal of so many iterations, of which each says some sentences.
func long(t *testing.T, iterations, sentences int) string {
	t.Helper()
	dir := t.TempDir()
	w, _, err := journal.Create(dir, journal.Recovery{NextSeq: 1}, 0, nil, journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	add := func(n int, payloads ...event.Payload) {
		var drafts []event.Draft
		for _, p := range payloads {
			d := event.Encode(p, "loop")
			d.Iter = n
			drafts = append(drafts, d)
		}
		if _, err := w.Append(drafts); err != nil {
			t.Fatal(err)
		}
	}
	add(0, event.LoopStarted{Name: "long"})
	for n := 1; n <= iterations; n++ {
		if _, err := w.Rotate(n, nil); err != nil {
			t.Fatal(err)
		}
		all := []event.Payload{event.IterationStarted{N: n, Prompt: event.Blob{Text: "go"}}}
		for i := range sentences {
			all = append(all, event.AgentSaid{Block: fmt.Sprintf("%d.%d", n, i), Text: event.Plain(fmt.Sprintf("sentence %d of %d", i, n)), Final: true})
		}
		add(n, append(all, event.IterationEnded{N: n, Outcome: event.OutcomeDone})...)
	}
	return dir
}

func TestSeekReadsAllSegments(t *testing.T) {
	dir := long(t, 12, 300)
	find := func(text string, from event.Seq, forward bool) string {
		t.Helper()
		s := seeker{dir: dir, match: containing(text)}
		seq, err := s.find(t.Context(), from, forward)
		if err != nil {
			t.Fatal(err)
		}
		if seq == 0 {
			return ""
		}
		page, err := around(dir, seq, 0, transcript.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range page.Entries {
			if e.Seq == seq {
				return plainText(e)
			}
		}
		t.Fatalf("the page of event %d does not have it", seq)
		return ""
	}
	const end = 1 << 40
	for _, tt := range []struct {
		text    string
		from    event.Seq
		forward bool
		want    string
	}{
		{"SENTENCE 7 of", end, false, "sentence 7 of 12"},
		{"sentence 299 of 3", end, false, "sentence 299 of 3"},
		{"sentence 0 of 1", 2, true, "sentence 0 of 1"},
		{"sentence 5 of", 1000, true, "sentence 5 of 5"},
		{"sentence 5 of", 1000, false, "sentence 5 of 4"},
		{"nowhere", end, false, ""},
	} {
		if got := find(tt.text, tt.from, tt.forward); got != tt.want {
			t.Errorf("%q from %d (forward %v): %q, want %q", tt.text, tt.from, tt.forward, got, tt.want)
		}
	}
	seq, err := beginningOf(dir, 7)
	if err != nil || find("iteration 7", seq, true) == "" {
		t.Errorf("iteration 7 begins at %d, %v", seq, err)
	}
}

// A person scrolls from the end to the beginning and back: everything is shown, in order, and no
// more than a window of it is kept.
func TestScrollingLoadsPages(t *testing.T) {
	b := newBench(t, Options{})
	b.o.Dir = long(t, 10, 700)
	page, _, _, err := transcript.Tail(b.o.Dir, firstEvents, transcript.Options{})
	if err != nil {
		t.Fatal(err)
	}
	b.recent = nil
	b.do(openedMsg{page: page, view: running3(), follower: b.follower})
	seen := map[string]bool{}
	look := func() {
		for _, line := range b.conv.Lines(noon) {
			if at := strings.Index(line, "sentence"); at >= 0 {
				seen[line[at:]] = true
			}
		}
	}
	for range 2000 { // as far as needed
		look()
		if b.win.start && b.conv.AtStart() {
			break
		}
		b.conv.Scroll(-15)
		b.run(b.more())
	}
	if len(seen) != 7000 {
		t.Errorf("%d of 7000 sentences are shown on the way up", len(seen))
	}
	if b.conv.Len() > windowMost+pageEvents {
		t.Errorf("%d entries are kept", b.conv.Len())
	}
	clear(seen)
	for range 2000 { // as far as needed
		look()
		if b.win.live && b.conv.AtEnd() {
			break
		}
		b.conv.Scroll(15)
		b.run(b.more())
	}
	if look(); len(seen) != 7000 {
		t.Errorf("%d of 7000 sentences are shown on the way down", len(seen))
	}
}
