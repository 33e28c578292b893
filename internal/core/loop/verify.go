package loop

import (
	"bytes"
	"time"

	"github.com/ralph-loop/ralph/journal/event"
)

// Verifier folds a journal and decides again: it compares each recorded decision with the decision
// that the rules make now from the state at that event. It is pure.
//
// The engine decides after each write. All events of a write have the same time. If two writes have
// the same time, a missing decision between them goes unnoticed; a wrong one does not. A decision
// that a runner did not record, because it died or its journal failed, is no difference.
type Verifier struct {
	Decisions int // compared so far

	state         State
	pending       []Decision // decided now, and not yet found in the journal
	rule          string     // the rule that decided them
	last          time.Time  // of the previous event
	afterDecision bool       // it is a decision
	afterBegin    bool       // it begins an iteration, whose segment may follow
	unknown       bool       // the decisions at the last event are unknown
}

// A Difference is the first event at which a journal and the present rules disagree. Recorded is
// the zero Draft if the journal has no decision there, Decided if the rules have none.
type Difference struct {
	Seq      event.Seq   // of the event at which it shows
	Rule     string      // the rule that decides now; empty for none
	Recorded event.Draft // a decision of the journal
	Decided  event.Draft
	Met      event.Type // of the event at Seq
}

// Event takes the next event of the journal. It must not be called after a difference.
func (v *Verifier) Event(e event.Event) (*Difference, error) {
	switch e.Type {
	case event.TypeSegmentOpened, event.TypeSegmentSealed:
		return nil, v.segment(e)
	case event.TypeLoopStarted, event.TypeLoopMoved, event.TypeLoopResumed:
		// The runner before this one may have died in the middle of its decisions.
		return nil, v.fold(e, false)
	}
	made, found := v.compare(e)
	if found != nil {
		return found, nil
	}
	return nil, v.fold(e, made)
}

// compare compares an event with the pending decision. made says that the event is a decision.
func (v *Verifier) compare(e event.Event) (made bool, found *Difference) {
	made = decision(&v.state, e)
	if v.unknown {
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
	found.Rule, found.Decided = v.rule, event.Encode(v.pending[0], byLoop)
	if found.Decided.Type == e.Type && bytes.Equal(found.Decided.Data, e.Data()) {
		v.Decisions++
		return true, nil
	}
	// Decisions follow only the last event of a write.
	if !made && !v.afterDecision && v.last.Equal(e.At) {
		return false, nil
	}
	return made, found
}

// fold folds an event, and decides if no earlier decision is pending.
func (v *Verifier) fold(e event.Event, made bool) error {
	if err := v.state.Fold(e); err != nil {
		return err
	}
	v.last, v.afterDecision, v.afterBegin = e.At, made, begins(e)
	if v.unknown && made {
		return nil
	}
	v.unknown = false
	if made && len(v.pending) > 1 {
		v.pending = v.pending[1:]
		return nil
	}
	v.rule, v.pending = Why(&v.state)
	return nil
}

// segment takes an event that the journal wrote about itself. A full segment can end between a
// decision and its record. At the begin of an iteration nothing is decided before its segment is
// open. A segment after one without a seal was opened by another runner, or after a failure, and
// earlier decisions are lost.
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
		v.pending, v.unknown = nil, true
	case v.afterBegin:
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

// decision reports whether the rules recorded an event from a state. Executors record some of the
// same types, with the decision as their cause. Faults are not decisions.
func decision(s *State, e event.Event) bool {
	if e.Type == event.TypeDecided {
		return true
	}
	return e.By() == byLoop && e.Cause == 0 && (deciding[e.Type] || holding[e.Type] && s.Rules.Schedule != nil)
}

// holding are decisions only in a loop with a schedule: runners of older versions recorded such
// events by themselves.
var holding = map[event.Type]bool{event.TypeLoopHeld: true, event.TypeLoopReleased: true, event.TypeAgentHeld: true}

var deciding = map[event.Type]bool{
	event.TypeAgentReplaced: true, event.TypeBreakerTripped: true, event.TypeBudgetWarned: true,
	event.TypeCommandDelivered: true, event.TypeCommandRefused: true, event.TypeCommandWithdrawn: true,
	event.TypeQuestionAsked: true, event.TypeQuestionAnswered: true,
	event.TypeCompletionAccepted: true, event.TypeCompletionClaimed: true, event.TypeCompletionIgnored: true, event.TypeCompletionRefused: true,
	event.TypeIterationEnded: true, event.TypeLoopConfigured: true, event.TypeLoopEnded: true, event.TypeLoopFenced: true,
	event.TypeLoopPaused: true, event.TypeLoopUnpaused: true, event.TypeLoopWaited: true, event.TypeLoopWaiting: true,
}

// byLoop is the source of what the engine records.
const byLoop = "loop"
