package loop

import (
	"bytes"
	"time"

	"github.com/ralph-loop/ralph/journal/event"
)

// Verifier folds a journal and decides again: it holds each decision that was recorded against what the rules
// decide now, with the state as it was then. It is pure.
//
// The engine decides when it has recorded everything that happened together. A journal shows that by the time, which is
// the same for all of one write; where two writes have the same, a missing decision between them is not
// noticed, and a wrong one is. What a runner did not come to before it died, or before its journal failed, is no difference.
type Verifier struct {
	Decisions int // those that were held against the rules so far

	state   State
	pending []Decision // decided now and not met yet
	rule    string     // which decided them
	last    time.Time  // of the event before
	made    bool       // it is a decision
	began   bool       // it begins an iteration, whose segment may follow
	unsure  bool       // what was decided when the last event was recorded is not known
}

// A Difference is the first place where a journal and today's rules disagree. Either side is the zero Draft where it has
// nothing: Recorded where the journal goes on without a decision, Decided where nothing is to be decided.
type Difference struct {
	Seq      uint64      // of the event at which it shows
	Rule     string      // that decides now; empty for none
	Recorded event.Draft // a decision of the journal
	Decided  event.Draft
	Met      event.Type // of the event at Seq
}

// Event takes the next event of the journal. After a difference the verifier is of no more use.
func (v *Verifier) Event(e event.Event) (*Difference, error) {
	switch e.Type {
	case event.TypeSegmentOpened, event.TypeSegmentSealed:
		return nil, v.segment(e)
	case event.TypeLoopStarted, event.TypeLoopResumed:
		return nil, v.fold(e, false) // a new runner: the one before may have died in the middle of its decisions
	}
	made, found := v.compare(e)
	if found != nil {
		return found, nil
	}
	return nil, v.fold(e, made)
}

// compare holds an event against what is decided now. made says that it is a decision.
func (v *Verifier) compare(e event.Event) (made bool, found *Difference) {
	made = decision(e)
	if v.unsure {
		return made, nil
	}
	found = &Difference{Seq: e.Seq, Met: e.Type}
	if made {
		found.Recorded = event.Draft{Type: e.Type, By: e.By(), Data: bytes.Clone(e.Data())}
	}
	if len(v.pending) == 0 {
		if !made {
			found = nil
		}
		return made, found
	}
	found.Rule, found.Decided = v.rule, draft(v.pending[0])
	if found.Decided.Type == e.Type && bytes.Equal(found.Decided.Data, e.Data()) {
		v.Decisions++
		return true, nil
	}
	// Of what happened together only the last is decided upon.
	if !made && !v.made && v.last.Equal(e.At) {
		return false, nil
	}
	return made, found
}

// fold takes an event into the state, and decides where all that was decided before is recorded.
func (v *Verifier) fold(e event.Event, made bool) error {
	if err := v.state.Fold(e); err != nil {
		return err
	}
	v.last, v.made, v.began = e.At, made, begins(e)
	if v.unsure && made {
		return nil
	}
	v.unsure = false
	if made && len(v.pending) > 1 {
		v.pending = v.pending[1:]
		return nil
	}
	v.rule, v.pending = Why(&v.state)
	return nil
}

// segment takes an event that the journal wrote about itself. A segment that is full ends between a decision and its
// record; where an iteration begins nothing is decided before its segment is open. One that follows a segment without a seal
// was opened by another runner, or after a failure, and what was decided before it is lost.
func (v *Verifier) segment(e event.Event) error {
	first := v.state.Seq == 0
	if err := v.state.Fold(e); err != nil || e.Type == event.TypeSegmentSealed {
		return err
	}
	opened, err := event.As[event.SegmentOpened](e)
	if err != nil {
		return err
	}
	switch {
	case first || opened.Prev == nil || !opened.Prev.Sealed:
		v.pending, v.unsure = nil, true
	case v.began:
		v.rule, v.pending = Why(&v.state)
	}
	return nil
}

func begins(e event.Event) bool {
	if e.Type != event.TypeDecided {
		return false
	}
	d, err := event.As[event.Decided](e)
	return err == nil && d.Do == event.DoBegin
}

// decision reports whether an event is one that the rules record. Executors record some of the same types, with the decision
// as their cause. A fault is not among them: whoever meets one records it.
func decision(e event.Event) bool {
	return e.Type == event.TypeDecided || e.By() == byLoop && e.Cause == 0 && deciding[e.Type]
}

var deciding = map[event.Type]bool{
	event.TypeAgentReplaced: true, event.TypeBreakerTripped: true, event.TypeBudgetWarned: true,
	event.TypeCommandDelivered: true, event.TypeCommandRefused: true,
	event.TypeCompletionAccepted: true, event.TypeCompletionClaimed: true, event.TypeCompletionIgnored: true, event.TypeCompletionRefused: true,
	event.TypeIterationEnded: true, event.TypeLoopConfigured: true, event.TypeLoopEnded: true,
	event.TypeLoopPaused: true, event.TypeLoopUnpaused: true,
}

// byLoop is who says what the engine records.
const byLoop = "loop"

func draft(d Decision) event.Draft {
	if d.Record != nil {
		return event.Encode(d.Record, byLoop)
	}
	return event.Encode(*d.Do, byLoop)
}
