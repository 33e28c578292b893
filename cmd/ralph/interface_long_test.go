//go:build linux

package main

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/core/loopstate"
	"github.com/ralph-loop/ralph/internal/effect/registration"
	"github.com/ralph-loop/ralph/internal/ground/safefile"
	"github.com/ralph-loop/ralph/internal/testkit/terminaltest"
	"github.com/ralph-loop/ralph/journal"
	"github.com/ralph-loop/ralph/journal/event"
)

const (
	promisedFirst  = 100 * time.Millisecond
	promisedMemory = 150 << 20
)

// What the agent of a long loop says at its beginning, in its middle and at its end.
const (
	firstWords  = "The very first words."
	middleWords = "A needle in the middle."
	lastWords   = "The newest words of all."
)

// longLoop makes a loop that has not ended, with an iteration for each segment.
func (s *stage) longLoop(name string, size int64) {
	s.Helper()
	dir := s.dir(name)
	s.must(os.MkdirAll(dir, 0o700))
	s.enlist(s.T, name, "claude")
	lock, err := registration.Acquire(dir)
	s.must(err)
	s.Cleanup(func() { lock.Release() })
	w, events, err := journal.Create(dir, journal.Recovery{NextSeq: 1}, 1, nil, journal.Options{Notify: true})
	s.must(err)
	s.Cleanup(func() { w.Close() })
	var state loopstate.State
	iteration := 1
	fold := func(events []event.Event, err error) {
		for _, e := range events {
			err = errors.Join(err, state.Fold(e))
		}
		s.must(err)
	}
	record := func(payloads ...event.Payload) {
		var drafts []event.Draft
		for _, p := range payloads {
			draft := event.Encode(p, "loop")
			draft.Iter = iteration
			drafts = append(drafts, draft)
		}
		fold(w.Append(drafts))
	}
	says := func(text string) {
		record(event.AgentSaid{Block: "said-" + strconv.Itoa(iteration) + ".0", Text: event.Plain(text), Final: true})
	}
	begins := func() {
		record(event.IterationStarted{N: iteration, Mode: "work"}, event.AgentStarted{PID: os.Getpid(), Tools: true})
	}
	fold(events, nil)
	record(event.LoopStarted{
		Name: name, ID: "01M7ZG7MMYVFD9GXSY2ZE2N2KQ", Dir: dir, Project: s.project, Agent: event.Agent{Protocol: "claude"},
		Rules: event.Rules{MaximumIterations: 1000},
	})
	begins()
	says(firstWords)
	var sealed int64
	middle := false
	for drafts := streamDrafts(s.T); sealed+w.Position().Offset < size; {
		for batch := range slices.Chunk(drafts, 64) {
			fold(w.Append(batch))
		}
		if !middle && sealed+w.Position().Offset > size/2 {
			middle = true
			says(middleWords)
		}
		if w.Full() {
			record(event.AgentFinished{Outcome: "done"}, event.AgentParked{}, event.IterationEnded{N: iteration, Outcome: event.OutcomeDone})
			sealed += w.Position().Offset
			iteration++
			fold(w.Rotate(iteration, state.Checkpoint()))
			begins()
		}
	}
	says(lastWords)
	s.must(errors.Join(w.Sync(), safefile.WriteFile(filepath.Join(dir, loopstate.StateFile), loopstate.Encode(&state), 0o600)))
}

// The first screen of a long loop comes as fast as that of a short one.
func TestInterfaceFirstScreen(t *testing.T) {
	s := newStage(t)
	s.longLoop("short", 1<<20)
	s.longLoop("long", *interfaceJournal<<20)
	s.measuresLoad()
	best := map[string]time.Duration{}
	for range 9 {
		for _, name := range []string{"short", "long"} {
			session := s.show(modern, nil, "attach", name)
			took := s.sees(session, lastWords).Sub(session.Began)
			if best[name] == 0 || took < best[name] {
				best[name] = took
			}
			session.End()
		}
	}
	t.Logf("first screen: %s with 1 MB, %s with %d MB", best["short"].Round(100*time.Microsecond), best["long"].Round(100*time.Microsecond), *interfaceJournal)
	if best["long"] > 2*best["short"] {
		t.Error("the first screen takes longer with a long journal")
	}
	s.inTime("the first screen", best["long"], promisedFirst)
	s.travel("long")
}

// travel goes to the beginning, to the middle and to the end of a loop, and looks for what is not
// there.
func (s *stage) travel(name string) {
	s.Helper()
	session := s.show(modern, nil, "attach", name)
	s.sees(session, lastWords)
	for _, step := range []struct{ name, keys, text string }{
		{"the beginning", ctrlHome, firstWords},
		{"the middle, by a search", ctrlF + "needle in the" + enter, middleWords},
		{"the end", ctrlEnd, lastWords},
		{"a text that is not there", ctrlF + "no such text anywhere" + enter, "no other"},
		{"the beginning again", ctrlHome, firstWords},
	} {
		took := s.presses(session, step.keys, step.text)
		s.Logf("%s: %s, memory %d MB", step.name, took.Round(time.Millisecond), s.memory(session)>>20)
	}
	for range 50 { // page by page through what is loaded, and further
		_, err := session.Type(pageDown)
		s.must(err)
		s.must(session.Quiet(40*time.Millisecond, patience))
	}
	memory := s.memory(session)
	s.Logf("memory %d MB", memory>>20)
	if memory > promisedMemory {
		s.Errorf("memory %d MB, promised %d", memory>>20, promisedMemory>>20)
	}
	var clears int
	if session.Look(func(e *terminaltest.Emulator) { clears = e.Clears }); clears > 0 {
		s.Errorf("%d clears of the screen", clears)
	}
	session.End()
}
