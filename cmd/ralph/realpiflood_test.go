//go:build realagents && unix

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/core/loopstate"
	"github.com/ralph-loop/ralph/internal/effect/registration"
	"github.com/ralph-loop/ralph/journal"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/registry"
)

// piFlood is a loop that the test itself writes.
type piFlood struct {
	*piPerson
	writer *journal.Writer
	state  loopstate.State
	iter   int
	want   []uint64 // the numbers of the messages
}

func newPiFlood(t *testing.T) *piFlood {
	f := &piFlood{piPerson: newPiPerson(t)}
	dir := f.loop("demo")
	f.must(os.MkdirAll(dir, 0o700))
	const id = "01JD0000000000000000000000"
	f.must(registry.Put(f.home, registry.Entry{Name: "demo", Dir: dir, Project: f.dir, ID: id, Agent: "pi", Started: time.Now()}))
	lock, err := registration.Acquire(dir)
	f.must(err)
	rec, err := journal.Recover(dir, journal.Options{})
	f.must(err)
	var opened []event.Event
	f.writer, opened, err = journal.Create(dir, rec, 0, nil, journal.Options{Notify: true, Compress: true})
	f.must(err)
	f.folds(opened)
	t.Cleanup(func() { _ = f.writer.Close(); _ = lock.Release() })
	task := event.Blob{Text: "work", Bytes: 4}
	f.happens(event.LoopStarted{Name: "demo", Dir: dir, Project: f.dir, ID: id, Agent: event.Agent{Protocol: "pi"}, Rules: event.Rules{MaximumIterations: 99}, Task: event.Source{Text: &task}})
	return f
}

// folds keeps the state that the next segment begins with.
func (f *piFlood) folds(events []event.Event) {
	f.Helper()
	for _, e := range events {
		f.must(f.state.Fold(e))
	}
}

func (f *piFlood) happens(payloads ...event.Payload) {
	f.Helper()
	for _, p := range payloads {
		d := event.Encode(p, "loop")
		d.Iter = f.iter
		f.appends(d)
	}
}

func (f *piFlood) appends(d event.Draft) {
	f.Helper()
	events, err := f.writer.Append([]event.Draft{d})
	f.must(err)
	f.folds(events)
	if d.Type == event.TypeAgentSaid {
		f.want = append(f.want, uint64(events[0].Seq))
	}
}

// iterations writes as fast as it can, and a new segment before every second one.
func (f *piFlood) iterations(n, messages int) {
	f.Helper()
	for range n {
		if f.iter++; f.iter%2 == 0 {
			events, err := f.writer.Rotate(f.iter, f.state.Checkpoint())
			f.must(err)
			f.folds(events)
		}
		f.happens(event.IterationStarted{N: f.iter})
		for m := range messages {
			f.happens(event.AgentSaid{Block: fmt.Sprintf("%d.%d", f.iter, m), Text: event.Text(fmt.Sprintf(`"N-%d-%d"`, f.iter, m)), Final: true})
		}
		f.happens(event.IterationEnded{N: f.iter, Outcome: event.OutcomeDone})
	}
}

// shown returns the numbers of the messages in pi's session, in order, and all that it has shown of
// other kinds.
func (f *piFlood) shown() (said []uint64, notes string) {
	f.Helper()
	files, err := filepath.Glob(filepath.Join(valueOf(f.env, "PI_CODING_AGENT_DIR"), "sessions", "*", "*.jsonl"))
	f.must(err)
	for _, name := range files {
		text, err := os.ReadFile(name)
		f.must(err)
		for line := range bytes.Lines(text) {
			var entry struct {
				CustomType string
				Data       piShown
			}
			if json.Unmarshal(line, &entry) != nil || entry.CustomType != "ralph" {
				continue // pi is writing it
			}
			if entry.Data.Unit.Kind == "said" {
				said = append(said, entry.Data.Seq)
			} else {
				notes += entry.Data.Unit.Text + "\n"
			}
		}
	}
	return said, notes
}

// More than 10,000 events come at once, in several segments, one of a newer ralph, and pi is killed
// in the middle. Each message is shown once, in order.
func TestRealPiExtensionMissesNothing(t *testing.T) {
	f := newPiFlood(t)
	first := f.pi()
	first.shows("/ commands")
	first.sends("before the loop")
	first.shows("PI-ANSWERS")
	first.sends("/ralph attach demo")
	first.shows("enter steers")
	f.iterations(6, 900)
	f.until("some of it to be shown", func() bool {
		said, _ := f.shown()
		return len(said) > 100
	})
	f.must(first.cmd.Process.Kill())
	<-first.done
	f.iterations(6, 900)
	f.appends(event.Draft{Type: "comet.seen", By: "loop", Iter: f.iter, Data: []byte(`{"text":"x"}`)})
	second := f.pi("--continue")
	second.sees("Attached to demo again")
	f.iterations(1, 900)
	f.until("all to be shown", func() bool {
		said, _ := f.shown()
		return len(said) >= len(f.want)
	})
	second.shows("enter steers")
	said, notes := f.shown()
	if !slices.Equal(said, f.want) {
		t.Errorf("%d messages are shown, not %d, or out of order", len(said), len(f.want))
	}
	if !bytes.Contains([]byte(notes), []byte("comet.seen")) {
		t.Error("the event of a newer ralph is not named")
	}
}

// A runner that dies in the middle of a line is named, and the loop goes on in the same session.
func TestRealPiExtensionRunnerDies(t *testing.T) {
	p := newPiPerson(t)
	screen := p.pi()
	screen.shows("/ commands")
	screen.sends("/ralph start demo -p work --agent 'ralph rehearse wait.rehearsal'")
	screen.sees("TOOL-1")
	runner, err := registry.Probe(p.loop("demo"))
	p.must(err)
	p.must(syscall.Kill(runner.PID, syscall.SIGKILL))
	segments, err := filepath.Glob(filepath.Join(p.loop("demo"), "journal", "*.jsonl"))
	p.must(err)
	last, err := os.OpenFile(slices.Max(segments), os.O_APPEND|os.O_WRONLY, 0)
	p.must(err)
	_, err = last.WriteString(`{"v":1,"seq":99999,"at":"2026-11-21T01:5`)
	p.must(err)
	p.must(last.Close())
	screen.sees("the runner of demo has died")
	screen.sends("/ralph start demo --resume")
	screen.sees("The loop is resumed; its runner had died.")
	screen.sees("TOOL-2")
	screen.sends("/ralph stop --now")
	screen.sees("Detached: the loop demo has ended")
}

// A session shows so much of loops and no more, and says so. So pi stays quick, and what it keeps
// in memory has a limit.
func TestRealPiExtensionFull(t *testing.T) {
	const most = 15_000
	f := newPiFlood(t)
	screen := f.pi()
	screen.shows("/ commands")
	screen.sends("before the loop")
	screen.shows("PI-ANSWERS")
	screen.sends("/ralph attach demo")
	screen.shows("enter steers")
	for range 12 {
		f.iterations(1, 1400)
		f.until("pi to come along", func() bool {
			said, _ := f.shown()
			return len(said) >= min(len(f.want), most-100)
		})
	}
	screen.sees("This session has shown as much of loops as pi can hold")
	if said, _ := f.shown(); len(said) > most || len(said) < most-100 {
		t.Errorf("%d messages are kept", len(said))
	} else if !slices.Equal(said, f.want[:len(said)]) {
		t.Error("messages are missing before the last one that is shown")
	}
	screen.sends("/ralph detach")
	screen.sees("Detached from demo")
	screen.sends("/new")
	screen.sees("New session started")
	screen.sends("/ralph attach demo")
	screen.sees("N-12-1399")
}

// A folder that vanishes ends the attachment, and no resume is offered.
func TestRealPiExtensionFolderVanishes(t *testing.T) {
	p := newPiPerson(t)
	screen := p.pi()
	screen.shows("/ commands")
	screen.sends("/ralph start demo -p work --agent 'ralph rehearse wait.rehearsal'")
	screen.sees("TOOL-1")
	p.must(os.Rename(p.loop("demo"), p.loop("gone")))
	screen.sees("Detached: the folder of the loop demo is gone")
	screen.sends("a plain question")
	screen.sees("PI-ANSWERS")
}
