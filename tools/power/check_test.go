//go:build linux

package power

import (
	"bytes"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/ralph-loop/ralph/internal/core/loopstate"
	"github.com/ralph-loop/ralph/internal/effect/task"
	"github.com/ralph-loop/ralph/journal"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/registry"
)

// certainEvents returns the lines of events that a sync covered before the power was cut. A segment
// counts once it has been synced under its own name: until then no process knew of it.
func (d *disk) certainEvents() map[event.Seq]string {
	d.mu.Lock()
	defer d.mu.Unlock()
	lines := map[event.Seq]string{}
	for _, n := range d.nodes {
		if folder, name := path.Split(n.synced); folder != loopPath+"/journal/" || path.Ext(name) != ".jsonl" {
			continue
		}
		for line := range bytes.Lines(n.base) {
			if e, err := event.Parse(bytes.TrimSuffix(line, []byte("\n"))); err == nil && line[len(line)-1] == '\n' {
				lines[e.Seq] = string(line[:len(line)-1])
			}
		}
	}
	return lines
}

// saved copies the disk to where this process can read it.
func (n *loopRun) saved() string {
	to, err := os.MkdirTemp(n.root, "saved-")
	n.must(err)
	n.must(n.disk.save(to))
	return to
}

// checkBeforeRepair compares the disk that a cut left with what was observed before the cut.
// Nothing is repaired yet.
func (n *loopRun) checkBeforeRepair() {
	at := n.saved()
	dir := filepath.Join(at, loopPath)
	n.hasEvents(dir)
	loops := n.registered(at)
	if n.started && len(loops) != 1 {
		n.Errorf("ralph start said that the loop runs, and the registry has %d", len(loops))
	}
	// The next start would take the content as the task.
	if text, err := os.ReadFile(filepath.Join(dir, task.TaskFile)); err == nil && !bytes.Equal(text, task.Template(prompt)) {
		n.Errorf("half of task.md is there: %q", text)
	}
	if _, err := os.Stat(filepath.Join(dir, "journal")); errors.Is(err, fs.ErrNotExist) {
		return
	}
	torn, whole, last := int64(0), false, ""
	err := journal.Verify(dir, func(r journal.SegmentReport) { torn, whole, last = r.Torn, r.Events > 0, r.Name })
	if err != nil && whole {
		n.Errorf("verify: %v", err)
	}
	if torn > 0 {
		n.torn++
		text, err := os.ReadFile(filepath.Join(dir, "journal", last))
		n.must(err)
		if bytes.IndexByte(text, 0) >= 0 {
			n.holes++
		}
	}
	if _, err := loopstate.Open(dir); err != nil {
		n.Errorf("open the state: %v", err)
	}
	n.hasCommands(at)
}

// hasEvents finds every event in the journal that a sync had covered, as it was, and no number
// twice.
func (n *loopRun) hasEvents(dir string) (events []event.Event) {
	missing := maps.Clone(n.synced)
	ids := map[string]bool{}
	for e, err := range journal.Read(dir, journal.ReadOptions{}) {
		if errors.Is(err, fs.ErrNotExist) && len(n.synced) == 0 {
			return nil
		}
		if err != nil {
			n.Errorf("read the journal: %v", err)
			break
		}
		if ids[string(e.Line()[:60])] {
			n.Errorf("event %d is there twice", e.Seq)
		}
		ids[string(e.Line()[:60])] = true
		if line, known := missing[e.Seq]; known && line != string(e.Line()) {
			n.Errorf("event %d was synced as\n%.300s\nand is\n%.300s", e.Seq, line, e.Line())
		}
		delete(missing, e.Seq)
		events = append(events, e.Clone())
	}
	if n.drops() && len(events) > 0 {
		maps.DeleteFunc(missing, func(seq event.Seq, _ string) bool { return seq < events[0].Seq })
	}
	if len(missing) > 0 {
		seqs := slices.Sorted(maps.Keys(missing))
		n.Errorf("%d events that a sync had covered are gone, of %d in all: %d to %d", len(missing), len(n.synced), seqs[0], seqs[len(seqs)-1])
	}
	return events
}

// hasCommands finds each command whose sender got an acknowledgement, in the inbox or the journal.
func (n *loopRun) hasCommands(at string) {
	if n.drops() {
		return // the receipt may be dropped
	}
	received := map[string]bool{}
	for e, err := range journal.Read(filepath.Join(at, loopPath), journal.ReadOptions{}) {
		if err != nil {
			return // reported already
		}
		if p, err := event.As[event.CommandReceived](e); err == nil && e.Type == event.TypeCommandReceived {
			received[p.ID] = true
		}
	}
	for id, text := range n.dropped {
		waiting := false
		for _, name := range []string{id + ".json", id + ".claimed"} {
			if _, err := os.Stat(filepath.Join(at, loopPath, "inbox", name)); err == nil {
				waiting = true
			}
		}
		if !received[id] && !waiting {
			n.Errorf("command %s (%s) was said to be there, and is neither in the inbox nor in the journal", id, text)
		}
	}
}

// check compares the end of a run with what was observed.
func (n *loopRun) check() {
	if !n.completed {
		n.Error("the loop did not complete")
		return
	}
	at := n.saved()
	dir := filepath.Join(at, loopPath)
	events := n.hasEvents(dir)
	n.events = len(events)
	if err := journal.Verify(dir, func(r journal.SegmentReport) {
		if r.Torn > 0 {
			n.Errorf("segment %s still has %d bytes of an unfinished line", r.Name, r.Torn)
		}
	}); err != nil {
		n.Errorf("verify: %v", err)
	}
	n.checkState(dir)
	n.checkCommands(events)
	n.checkWorld(events)
	n.checkRepairs(dir, events)
	if loops := n.registered(at); len(loops) != 1 || loops[0].Name != "one" {
		n.Errorf("the registry has %v", loops)
	}
}

// registered returns the loops in the registry. What is not an entry is an error.
func (n *loopRun) registered(at string) []registry.Status {
	loops, err := registry.Survey(filepath.Join(at, homePath), nil)
	if err != nil {
		n.Errorf("survey: %v", err)
	}
	for _, s := range loops {
		if wrong, ok := errors.AsType[*registry.EntryError](s.Err); ok {
			n.Errorf("the registry holds what is no entry: %v", wrong)
		}
	}
	return loops
}

// checkState compares the projections with a fold of all events, byte for byte.
func (n *loopRun) checkState(dir string) {
	var s loopstate.State
	saved, err := os.ReadFile(filepath.Join(dir, loopstate.StateFile))
	n.must(err)
	same := false
	for e, err := range journal.Read(dir, journal.ReadOptions{}) {
		n.must(err)
		n.must(s.Fold(e))
		same = same || bytes.Equal(saved, loopstate.Encode(&s))
	}
	if !same {
		n.Errorf("state.json is what the journal says at no event:\n%s\n%s", saved, loopstate.Encode(&s))
	}
	if s.Lifecycle.Ended == nil || s.Lifecycle.Ended.Reason != event.ReasonPromise {
		n.Errorf("attach said that the loop completed, and the journal that it %s", s.Status())
	}
	if rebuilt, err := loopstate.Rebuild(dir); err != nil || !bytes.Equal(loopstate.Encode(&rebuilt), loopstate.Encode(&s)) {
		n.Errorf("the state from its checkpoint differs: %v", err)
	}
}

// checkCommands checks that each command was received once and answered once.
func (n *loopRun) checkCommands(events []event.Event) {
	received, answered := map[string]int{}, map[string]int{}
	for _, e := range events {
		switch e.Type {
		case event.TypeCommandReceived:
			p, err := event.As[event.CommandReceived](e)
			n.must(err)
			received[p.ID]++
		case event.TypeCommandDelivered:
			p, err := event.As[event.CommandDelivered](e)
			n.must(err)
			answered[p.ID]++
		case event.TypeCommandRefused:
			p, err := event.As[event.CommandRefused](e)
			n.must(err)
			answered[p.ID]++
		}
	}
	for id, times := range received {
		if times != 1 || answered[id] > 1 {
			n.Errorf("command %s was received %d times and answered %d times", id, times, answered[id])
		}
	}
	for id, text := range n.dropped {
		if received[id] != 1 && !n.drops() {
			n.Errorf("command %s (%s) was received %d times", id, text, received[id])
		}
	}
}

// checkWorld compares the journal with what was seen outside of the disk: an iteration started its
// agent at most once and ran its guardrails at most once, and neither before the journal said so.
func (n *loopRun) checkWorld(events []event.Event) {
	begun, dropped := map[string]bool{}, 0
	for _, e := range events {
		if e.Type == event.TypeIterationStarted {
			p, err := event.As[event.IterationStarted](e)
			n.must(err)
			begun[strconv.Itoa(p.N)] = true
		}
	}
	if n.drops() && len(events) > 0 {
		dropped = events[0].Iter
	}
	for _, who := range []string{"agent", "guardrail"} {
		text, err := os.ReadFile(n.on("world/" + who))
		n.must(err)
		seen := map[string]bool{}
		for _, iteration := range strings.Fields(string(text)) {
			if seen[iteration] {
				n.Errorf("the %s of iteration %s ran twice", who, iteration)
			}
			seen[iteration] = true
			if number, _ := strconv.Atoi(iteration); !begun[iteration] && number > dropped {
				n.Errorf("the %s of iteration %s ran, and the journal knows of no such iteration", who, iteration)
			}
		}
	}
}

// checkRepairs checks that each repair is reported: the bytes that were cut off are beside the
// journal, and loop.resumed names them.
func (n *loopRun) checkRepairs(dir string, events []event.Event) {
	reported := map[string]bool{}
	begun := ""
	for _, e := range events {
		switch e.Type {
		case event.TypeSegmentOpened:
			p, err := event.As[event.SegmentOpened](e)
			n.must(err)
			if begun == "" && p.Prev != nil {
				reported[p.Prev.Name] = true // the loop had not begun: there is nothing to report
			}
			continue
		case event.TypeLoopStarted:
			begun = string(e.Type)
			continue
		case event.TypeLoopResumed:
		default:
			continue
		}
		p, err := event.As[event.LoopResumed](e)
		n.must(err)
		for lost := p.Lost; lost != nil; lost = lost.Before {
			reported[lost.Segment] = true
			n.reported++
		}
	}
	kept, err := filepath.Glob(filepath.Join(dir, "journal", "*.torn-*"))
	n.must(err)
	for _, file := range kept {
		// A repair that died before its end left the same bytes twice.
		if segment, _, _ := strings.Cut(filepath.Base(file), ".torn-"); !reported[segment] {
			n.Errorf("%s was cut off, and no event reports it", filepath.Base(file))
		}
	}
}
