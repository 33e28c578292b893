package policy

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/journal/event"
)

// Fleet is how far the tasks of a fleet are, and what its agent does next. It is empty for a loop
// that is none. The fleet's agent folds it from the journal of its own loop, asks [Fleet.Next],
// records the answer and carries it out.
type Fleet struct {
	Tasks    []FleetTask `json:"tasks,omitempty"`
	Parallel int         `json:"parallel,omitempty"`
	Branch   string      `json:"branch,omitempty"`
	ByPerson bool        `json:"byPerson,omitempty"` // a person resolves conflicts
	Closed   string      `json:"closed,omitempty"`   // why no task may begin
	// Over is the action that ended the agent; empty while it works.
	Over event.FleetAction `json:"over,omitempty"`
	// Events counts the events of the fleet, so that its agent knows when its own are recorded.
	Events int `json:"events,omitempty"`
}

// A FleetTask is how far one task is.
type FleetTask struct {
	ID        string          `json:"id"`
	Loop      string          `json:"loop"`
	Step      event.FleetStep `json:"step"`
	Tries     int             `json:"tries,omitempty"` // how often its loop was resumed
	Commit    string          `json:"commit,omitempty"`
	Why       string          `json:"why,omitempty"` // it failed
	DependsOn []string        `json:"dependsOn,omitempty"`
	// Doing is an action that is recorded, and whose result is not: it may have been carried out.
	Doing *event.FleetDecided `json:"doing,omitempty"`
	// Result is what the last action or the loop came to, if an action has to follow, and Said its
	// words.
	Result event.FleetResult `json:"result,omitempty"`
	Said   string            `json:"said,omitempty"`
	Seq    event.Seq         `json:"seq,omitempty"`   // the last event of the loop when it was seen to have ended
	Share  float64           `json:"share,omitempty"` // limits.cost of the loop
	USD    float64           `json:"usd,omitempty"`   // what the loop is known to have spent
	Base   string            `json:"base,omitempty"`  // the commit before the merge that is being made
}

const (
	// fleetTries is how often a loop is resumed before its task is left to a person.
	fleetTries = 3
	// fleetWhy bounds the words that are kept of one task, in characters.
	fleetWhy = 1000
	// leastShare is the smallest share, and all others are multiples of it: 0 would be no limit.
	leastShare = 0.0001
)

// Apply folds one event.
func (f *Fleet) Apply(p event.Payload) {
	switch p := p.(type) {
	case event.FleetOpened:
		f.Events++
		f.open(p)
	case event.FleetObserved:
		f.Events++
		if t := f.Task(p.Task); t != nil {
			t.observed(p)
		}
	case event.FleetDecided:
		f.Events++
		f.decided(p)
	}
}

// Task returns the task with that id; nil if there is none.
func (f *Fleet) Task(id string) *FleetTask {
	at := slices.IndexFunc(f.Tasks, func(t FleetTask) bool { return t.ID == id })
	if at < 0 {
		return nil
	}
	return &f.Tasks[at]
}

// open takes the tasks as the agent found them. What failed is tried again: a person who resumes
// the fleet wants to see that.
func (f *Fleet) open(p event.FleetOpened) {
	tasks := make([]FleetTask, 0, len(p.Tasks))
	for _, found := range p.Tasks {
		t := FleetTask{ID: found.ID, Loop: found.Loop, Step: found.Step, Tries: found.Tries, Commit: found.Commit, Why: units.Cut(found.Why, fleetWhy)}
		if known := f.Task(found.ID); known != nil {
			t = *known
		}
		if t.DependsOn = found.DependsOn; found.Begun { // else its start may be under way, with its share
			t.USD, t.Share = found.USD, found.Share
		}
		switch {
		case t.Step == "":
			t.Step = event.FleetWaiting
		case t.Step == event.FleetFailed && !found.Begun:
			t.Step, t.Tries, t.Why = event.FleetWaiting, 0, ""
		case t.Step == event.FleetFailed:
			t.Step, t.Tries, t.Why = event.FleetWorking, 0, ""
		case t.Step == event.FleetMerging && t.Doing == nil && t.Result == "":
			t.Step = event.FleetWorking // of an earlier version: what its loop came to is seen again
		}
		tasks = append(tasks, t)
	}
	*f = Fleet{Tasks: tasks, Parallel: p.Parallel, Branch: p.Branch, ByPerson: p.ByPerson, Closed: p.Closed, Events: f.Events}
}

func (t *FleetTask) observed(p event.FleetObserved) {
	switch p.What {
	case event.FleetSpent:
		t.USD, t.Share = p.USD, p.Share
		return
	case event.FleetBased:
		t.Base = p.Commit
		return
	}
	t.Doing, t.Result, t.Said = nil, "", ""
	switch p.What {
	case event.FleetStarted:
	case event.FleetAbsent:
		t.Step = event.FleetWaiting
	case event.FleetAccepted:
		t.Step, t.Commit, t.Base = event.FleetMerged, p.Commit, ""
	default:
		t.Result, t.Said, t.Base = p.What, units.Cut(p.Why, fleetWhy), ""
		if p.Seq > 0 {
			t.Seq, t.USD = event.Seq(p.Seq), p.USD
		}
	}
}

func (f *Fleet) decided(p event.FleetDecided) {
	t := f.Task(p.Task)
	if t == nil {
		f.Over = p.Do
		return
	}
	t.Result, t.Said, t.Doing = "", "", &p
	switch p.Do {
	case event.FleetBegin:
		t.Step, t.Share = event.FleetWorking, p.Share
	case event.FleetResume:
		t.Step = event.FleetWorking
		t.Tries++
	case event.FleetMerge:
		t.Step = event.FleetMerging
	case event.FleetGiveUp:
		t.Step, t.Why, t.Doing = event.FleetFailed, p.Why, nil
	}
}

// Pending returns the task with an action that is recorded and whose result is not; nil if there is
// none. After the agent was killed, that action is carried out again: whether it was before is seen
// from its traces.
func (f *Fleet) Pending() *FleetTask {
	at := slices.IndexFunc(f.Tasks, func(t FleetTask) bool { return t.Doing != nil })
	if at < 0 {
		return nil
	}
	return &f.Tasks[at]
}

// Next returns the next action; false if the fleet has to wait for its loops, or an action is under
// way. stopping says that a person stops the fleet; limit is its limits.cost, 0 for none.
//
// First, in the order of the tasks, comes what follows from a result: a merge, another try, or that
// a person is left with it. Then tasks begin. At last, when no loop works, the fleet ends.
func (f *Fleet) Next(stopping bool, limit float64) (event.FleetDecided, bool) {
	if f.Over != "" || f.Parallel == 0 || f.Pending() != nil {
		return event.FleetDecided{}, false
	}
	for i := range f.Tasks {
		if f.Tasks[i].Result != "" {
			return f.follow(&f.Tasks[i]), true
		}
	}
	ready, working, closed := f.ready(), f.Count(event.FleetWorking), f.Closed
	switch {
	case closed != "":
	case stopping:
		closed = "a person stops the fleet"
	case limit > 0 && f.free(limit) <= 0:
		closed = "its loops have spent " + units.Of(limit-f.free(limit), limit)
	}
	switch {
	case closed == "" && len(ready) > 0 && working < f.Parallel:
		d := event.FleetDecided{Do: event.FleetBegin, Task: ready[0]}
		if limit > 0 { // an equal part of what is free for each loop that may begin now
			d.Share = max(math.Round(f.free(limit)/float64(f.Parallel-working)/leastShare)*leastShare, leastShare)
		}
		return d, true
	case working > 0:
		return event.FleetDecided{}, false
	}
	return f.end(len(ready) > 0, stopping, closed), true
}

// follow returns what follows from the result of a task.
func (f *Fleet) follow(t *FleetTask) event.FleetDecided {
	resume := func(why, message string) event.FleetDecided {
		if t.Tries >= fleetTries {
			return event.FleetDecided{Do: event.FleetGiveUp, Task: t.ID, Why: fmt.Sprintf("%s, and it was tried %s already", why, units.Times(t.Tries))}
		}
		return event.FleetDecided{Do: event.FleetResume, Task: t.ID, Why: why, Message: message}
	}
	switch t.Result {
	case event.FleetCompleted:
		return event.FleetDecided{Do: event.FleetMerge, Task: t.ID}
	case event.FleetDied:
		return resume("its runner died", "")
	case event.FleetInterrupted:
		return resume("it was interrupted", "")
	case event.FleetUnchanged:
		return resume("it changed nothing", "You said that the task is done, and no file was changed. Do it; or, if nothing is to be done, say so with 'ralph blocked'.")
	case event.FleetUncommitted:
		return resume("its work could not be committed", "Your work could not be committed: "+t.Said+"\nCommit it yourself.")
	case event.FleetRejected:
		return resume("its work does not pass once it is merged",
			fmt.Sprintf("Merged with what others have done, your work is refused: %s\nRun 'git merge %s' here, correct it, and commit.", t.Said, f.Branch))
	case event.FleetConflicting:
		if !f.ByPerson {
			return resume("its work conflicts with what was merged meanwhile",
				fmt.Sprintf("Your branch conflicts with %s, to which others have merged their work. "+
					"Run 'git merge %s' here, resolve the conflicts so that both sides' work is kept, and commit.", f.Branch, f.Branch))
		}
	}
	return event.FleetDecided{Do: event.FleetGiveUp, Task: t.ID, Why: t.Said}
}

// end returns how the agent ends when no loop works. ready says that tasks could begin, and closed
// why they may not.
func (f *Fleet) end(ready, stopping bool, closed string) event.FleetDecided {
	merged := fmt.Sprintf("%d of %d tasks are merged", f.Count(event.FleetMerged), len(f.Tasks))
	switch {
	case f.Count(event.FleetMerged) == len(f.Tasks):
		return event.FleetDecided{Do: event.FleetComplete}
	case ready, f.Closed != "":
		d := event.FleetDecided{Do: event.FleetBlock, Why: fmt.Sprintf("%s, and no other begins: %s", merged, closed)}
		if ready && stopping {
			d.Do = event.FleetStop
		}
		return d
	}
	kept := f.kept()
	lines := []string{merged + ". Left to you:"}
	for _, t := range f.Tasks {
		switch {
		case t.Step == event.FleetFailed:
			lines = append(lines, fmt.Sprintf("%s (loop %s): %s", t.ID, t.Loop, t.Why))
		case kept[t.ID] != "":
			lines = append(lines, fmt.Sprintf("%s: it depends on %s", t.ID, kept[t.ID]))
		}
	}
	return event.FleetDecided{Do: event.FleetBlock, Why: strings.Join(lines, "\n")}
}

// Count returns how many tasks are at one of these steps.
func (f *Fleet) Count(steps ...event.FleetStep) int {
	n := 0
	for _, t := range f.Tasks {
		if slices.Contains(steps, t.Step) {
			n++
		}
	}
	return n
}

// ready are the tasks that could begin, in order: all that they depend on is merged.
func (f *Fleet) ready() (ids []string) {
	merged := map[string]bool{}
	for _, t := range f.Tasks {
		merged[t.ID] = t.Step == event.FleetMerged
	}
	for _, t := range f.Tasks {
		if t.Step == event.FleetWaiting && !slices.ContainsFunc(t.DependsOn, func(on string) bool { return !merged[on] }) {
			ids = append(ids, t.ID)
		}
	}
	return ids
}

// kept are the tasks that cannot begin, because one that they depend on has failed, with that one.
func (f *Fleet) kept() map[string]string {
	found, failed := map[string]string{}, map[string]bool{}
	for _, t := range f.Tasks {
		failed[t.ID] = t.Step == event.FleetFailed
	}
	for again := true; again; {
		again = false
		for _, t := range f.Tasks {
			if t.Step != event.FleetWaiting || found[t.ID] != "" {
				continue
			}
			for _, on := range t.DependsOn {
				if failed[on] || found[on] != "" {
					found[t.ID], again = on, true
				}
			}
		}
	}
	return found
}

// free is what is left of the budget without what loops that work may still spend. A loop spends
// more than its share by its last turn at most.
func (f *Fleet) free(limit float64) float64 {
	for _, t := range f.Tasks {
		if t.Step == event.FleetWorking {
			limit -= max(t.USD, t.Share)
		} else {
			limit -= t.USD
		}
	}
	return limit
}

// A FleetLoop is what is to be seen of the loop of a task.
type FleetLoop struct {
	Alive bool // a runner holds its lock
	Begun bool
	Seq   event.Seq // its last event
	Ended *event.LoopEnded
	USD   float64 // what it has spent
	Share float64 // its limits.cost
}

// Observe returns what is to be recorded of the loop of a task; false if it is known, or the loop
// works.
func (t *FleetTask) Observe(l FleetLoop) (event.FleetObserved, bool) {
	if t.Step != event.FleetWorking || t.Doing != nil || t.Result != "" {
		return event.FleetObserved{}, false
	}
	o := event.FleetObserved{Task: t.ID, Seq: uint64(l.Seq), USD: l.USD}
	switch {
	case l.Alive && t.Share > 0 && l.Begun && (l.USD > max(t.USD, t.Share) || l.Share != t.Share):
		return event.FleetObserved{Task: t.ID, What: event.FleetSpent, USD: l.USD, Share: l.Share}, true
	case l.Alive:
		return event.FleetObserved{}, false
	case !l.Begun: // the agent was killed before it was there
		o = event.FleetObserved{Task: t.ID, What: event.FleetAbsent}
	case l.Ended == nil:
		o.What = event.FleetDied
	case l.Ended.Status == event.StatusCompleted:
		o.What = event.FleetCompleted
	case l.Ended.Reason == event.ReasonInterrupt:
		o.What = event.FleetInterrupted
	default:
		o.What, o.Why = event.FleetEnded, fmt.Sprintf("its loop ended as %s: %s", l.Ended.Status, l.Ended.Why)
	}
	return o, true
}
