package tui

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/ralph-loop/ralph/journal"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/render/playback"
	"github.com/ralph-loop/ralph/render/transcript"
)

// journalOf writes the journal of a loop with some iterations of eight seconds. In the second, a
// tool fails.
func journalOf(t *testing.T, iterations int) (dir string) {
	t.Helper()
	dir = t.TempDir()
	at := time.Date(2026, 11, 21, 1, 0, 0, 0, time.UTC)
	opt := journal.Options{Now: func() time.Time { return at }}
	rec, err := journal.Recover(dir, opt)
	if err != nil {
		t.Fatal(err)
	}
	w, _, err := journal.Create(dir, rec, 0, nil, opt)
	if err != nil {
		t.Fatal(err)
	}
	add := func(iteration int, payloads ...event.Payload) {
		t.Helper()
		for _, p := range payloads {
			at = at.Add(time.Second)
			d := event.Encode(p, "loop")
			d.Iter = iteration
			if _, err := w.Append([]event.Draft{d}); err != nil {
				t.Fatal(err)
			}
		}
	}
	add(0, event.LoopStarted{Name: "night"})
	for n := 1; n <= iterations; n++ {
		if _, err := w.Rotate(n, nil); err != nil {
			t.Fatal(err)
		}
		add(n, event.IterationStarted{N: n},
			event.AgentSaid{Block: "1", Text: event.Plain("some ")}, event.AgentSaid{Block: "1", Text: event.Plain("words"), Final: true},
			event.AgentUsed{}, event.ToolCalled{ID: "t", Name: "bash"}, event.ToolReturned{ID: "t", OK: n != 2, Output: event.Plain("done")},
			event.IterationEnded{N: n, Outcome: event.OutcomeDone})
	}
	add(0, event.LoopEnded{Status: event.StatusCompleted, Reason: event.ReasonPromise})
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

// playing is a model that plays a journal, in a bubble of synthetic time.
type playing struct {
	*testing.T
	m *model
}

// replayed runs a test with a model that plays a journal of three iterations.
func replayed(t *testing.T, r Replay, test func(p playing)) {
	dir := journalOf(t, 3)
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		p := playing{t, newModel(ctx, Options{Name: "night", Dir: dir, Replay: &r, Now: time.Now})}
		p.m.Update(tea.WindowSizeMsg{Width: 100, Height: 24})
		p.m.Update(openReplay(ctx, p.m.o)())
		test(p)
	})
}

// see waits until the player has nothing to do at this moment, and takes in what changed.
func (p playing) see() string {
	p.Helper()
	synctest.Wait()
	p.m.Update(p.m.follower.take())
	return p.m.View().Content
}

func (p playing) press(keys ...string) string {
	p.Helper()
	for _, k := range keys {
		code, text := []rune(k)[0], k
		if k == "enter" {
			code, text = tea.KeyEnter, ""
		}
		p.m.Update(tea.KeyPressMsg{Code: code, Text: text})
		p.see()
	}
	return p.see()
}

// at checks which event was shown last.
func (p playing) at(want event.Seq) {
	p.Helper()
	if p.see(); p.m.progress.at != want {
		p.Errorf("at event %d, want %d\n%s", p.m.progress.at, want, p.m.View().Content)
	}
}

// seqs are the numbers of events of a type in the journal of the test.
func (p playing) seqs(types ...event.Type) (all []event.Seq) {
	for e, err := range journal.Read(p.m.o.Dir, journal.ReadOptions{}) {
		if err != nil {
			p.Fatal(err)
		}
		for _, t := range types {
			if e.Type == t {
				all = append(all, e.Seq)
			}
		}
	}
	return all
}

func (p playing) says(text string) {
	p.Helper()
	if got := p.see(); !strings.Contains(got, text) {
		p.Errorf("%q is missing in\n%s", text, got)
	}
}

func TestReplayFollowsTheClock(t *testing.T) {
	replayed(t, Replay{Speed: 1}, func(p playing) {
		started := p.seqs(event.TypeIterationStarted)
		p.says("plays at 1x")
		time.Sleep(2500 * time.Millisecond)
		p.at(started[0])
		time.Sleep(time.Second)
		p.at(started[0] + 1)
		time.Sleep(time.Hour)
		p.at(p.m.progress.last)
		p.says("at the end")
		p.says("completed")
	})
}

func TestReplayPausesAndSteps(t *testing.T) {
	replayed(t, Replay{Speed: 1}, func(p playing) {
		started := p.seqs(event.TypeIterationStarted)[0]
		time.Sleep(2500 * time.Millisecond)
		p.press("space")
		p.says("paused, 1x")
		time.Sleep(time.Hour)
		p.at(started)
		p.press(".")
		p.at(started + 1)
		p.press(".")
		p.at(started + 2)
		p.press(".") // the usage is not seen
		p.at(started + 4)
		p.press(">") // the next entry is the end of the iteration
		p.at(started + 6)
		p.press("space")
		time.Sleep(time.Hour)
		p.at(p.m.progress.last)
	})
}

func TestReplaySpeedKeys(t *testing.T) {
	replayed(t, Replay{Speed: 1}, func(p playing) {
		p.press("+", "+", "+")
		p.says("plays at 10x")
		time.Sleep(3 * time.Second) // 26 s of the loop
		p.at(p.m.progress.last)
		p.press("-", "-", "-", "-", "-", "-")
		if p.m.progress.speed != 0.1 {
			p.Errorf("speed %v", p.m.progress.speed)
		}
	})
}

func TestReplayJumps(t *testing.T) {
	replayed(t, Replay{Speed: 1}, func(p playing) {
		started := p.seqs(event.TypeIterationStarted)
		p.press("space", "]")
		p.at(started[0])
		p.press("]", "]")
		p.at(started[2])
		p.press("]")
		p.at(started[2])
		p.says("the journal has no iteration 4")
		time.Sleep(time.Minute)
		p.press("[") // back to where it began
		p.at(started[2])
		p.press("[") // soon after
		p.at(started[1])
		p.press("f")
		p.at(p.seqs(event.TypeToolReturned)[1])
		p.press("f")
		p.says("nothing fails after this event")
		p.press("g", "i", "1", "enter")
		p.at(started[0])
		p.press("g", "7", "enter")
		p.at(7)
		p.press("g", "9", "9", "9", "enter")
		p.says("the last event is ")
		p.press("g", "x", "enter")
		p.says("type the number of an event")
		if strings.Contains(p.see(), "iteration 2") {
			t.Error("it shows what is to come")
		}
	})
}

// At the end, space plays again from the beginning.
func TestReplayPlaysAgain(t *testing.T) {
	replayed(t, Replay{Speed: playback.NoDelay}, func(p playing) {
		p.at(p.seqs(event.TypeSegmentSealed)[3])
		p.press("-", "-", "-", "-", "-", "-", "-", "-") // 1x
		p.press("space")
		p.at(1)
		if all := p.m.conv.Len(); all != 0 {
			t.Errorf("%d entries are left", all)
		}
	})
}

func TestReplayOfAPart(t *testing.T) {
	replayed(t, Replay{Speed: playback.NoDelay, First: 2, Last: 2}, func(p playing) {
		p.at(p.seqs(event.TypeSegmentSealed)[2])
		p.says("at the end")
		p.says(" · iteration 2 · ")
	})
	replayed(t, Replay{Speed: 1, From: 14}, func(p playing) { p.at(13) })
}

// While a replay is at an event, no key shows a later one.
func TestReplayShowsNothingToCome(t *testing.T) {
	replayed(t, Replay{Speed: 1}, func(p playing) {
		p.press("space", "]", "]")
		for e := range eachEntry(p.m) {
			if e.Seq > p.m.progress.at {
				t.Errorf("entry %d at event %d", e.Seq, p.m.progress.at)
			}
		}
		page, err := readUpTo(p.m.o.Dir, 1, p.m.limit(), 1000, transcript.Options{})
		if err != nil || page.Last != p.m.progress.at || !page.End {
			t.Errorf("a page up to event %d: %v", page.Last, err)
		}
	})
}

func eachEntry(m *model) func(func(transcript.Entry) bool) {
	return func(yield func(transcript.Entry) bool) {
		for _, e := range m.recent {
			if !yield(e) {
				return
			}
		}
	}
}
