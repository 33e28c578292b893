package why

import (
	"bytes"
	"fmt"

	"github.com/ralph-loop/ralph/internal/core/loop"
	"github.com/ralph-loop/ralph/internal/ground/jsonscan"
	"github.com/ralph-loop/ralph/journal/event"
)

// A trace folds the events of a loop and remembers those that decisions depend on.
type trace struct {
	state   loop.State
	origins origins
	// early are the rules that the loop started with, if events after its start are not read.
	early *event.Rules
	// exactFrom is the event from which the state is right, which restores it; 0 if it always is.
	// Before it, what streams is not folded.
	exactFrom event.Seq
	pending   []loop.Decision // decided at the last event, and not yet found in the journal
	rule      string          // that decided them

	trigger event.Event // the last event that is no decision: the one that led to the decisions after it
	began   event.Event // the last iteration.begin
	// made are the decisions of the present iteration and the one before, by their number.
	made map[event.Seq]decision

	last     map[event.Type]event.Event // the last event of each type
	heard    event.Event                // the agent's last line in this iteration
	streamed map[event.Type][]byte      // the last lines of frequent types, which settle parses
	newest   event.Type                 // of them
	ends     []event.Event              // the last ends of iterations
	used     []event.Event              // the last reports of usage that had a price or tokens
	trips    []event.Event              // of the breaker
	checks   []event.Event              // what the last check found
	commands map[string]event.Event     // received ones, by their id
}

// A decision is an event that the rules recorded.
type decision struct {
	event   event.Event
	rule    string // empty if today's rules decide something else
	trigger event.Event
}

const (
	endsKept     = 64
	tripsKept    = 8
	checksKept   = 32
	usedKept     = 4
	commandsKept = 1024
)

func newTrace() *trace {
	return &trace{
		origins: origins{}, made: map[event.Seq]decision{},
		last: map[event.Type]event.Event{}, commands: map[string]event.Event{}, streamed: map[event.Type][]byte{},
	}
}

// add folds an event. before, which may be nil, is called with the state that the event was decided
// from; the decision is the zero value for an event that the rules did not decide.
func (t *trace) add(e event.Event, before func(event.Event, decision)) error {
	switch {
	case !frequent[e.Type]:
		t.settle()
	case e.Seq < t.exactFrom:
		t.stream(e)
		return nil
	}
	if e.Seq == t.exactFrom {
		t.state = loop.State{} // its checkpoint restores it
	}
	var d decision
	if loop.IsDecision(&t.state, e) {
		d = t.decide(e)
	}
	if before != nil {
		before(e, d)
	}
	had := t.state.Rules
	if err := t.state.Fold(e); err != nil {
		return fmt.Errorf("fold event %d: %w", e.Seq, err)
	}
	return t.remember(e, d, had)
}

// frequent are the types of most events. None is a decision.
var frequent = map[event.Type]bool{
	event.TypeAgentSaid: true, event.TypeAgentThought: true, event.TypeAgentNoticed: true,
	event.TypeToolCalled: true, event.TypeToolProgressed: true, event.TypeToolReturned: true,
}

// stream remembers the line of a frequent event.
func (t *trace) stream(e event.Event) {
	t.streamed[e.Type] = append(t.streamed[e.Type][:0], e.Line()...)
	t.newest, t.pending = e.Type, nil
}

// settle makes the remembered lines the last events of their types: one in thousands is asked for.
func (t *trace) settle() {
	for of, line := range t.streamed {
		t.last[of], _ = event.Parse(line) // it was parsed before
	}
	if t.newest != "" {
		t.heard, t.trigger = t.last[t.newest], t.last[t.newest]
	}
	clear(t.streamed)
	t.newest = ""
}

// decide finds the rule that decided an event.
func (t *trace) decide(e event.Event) decision {
	if len(t.pending) == 0 {
		t.rule, t.pending = loop.Why(&t.state)
	}
	d := decision{event: e.Clone(), trigger: t.trigger}
	if len(t.pending) == 0 {
		return d
	}
	if now := event.Encode(t.pending[0], e.By()); now.Type == e.Type && bytes.Equal(now.Data, e.Data()) {
		d.rule, t.pending = t.rule, t.pending[1:]
	} else {
		t.pending = nil
	}
	return d
}

// remember keeps what later decisions may depend on. had are the rules before the event.
func (t *trace) remember(e event.Event, d decision, had event.Rules) error {
	switch e.Type {
	case event.TypeSegmentOpened, event.TypeSegmentSealed:
		return nil // the journal's own
	}
	if frequent[e.Type] {
		t.stream(e)
		return nil
	}
	kept := t.keep(e)
	if d.event.Seq != 0 {
		t.made[e.Seq] = d
	} else {
		t.trigger, t.pending = kept, nil
	}
	switch e.Type {
	case event.TypeLoopStarted:
		p, err := event.As[event.LoopStarted](e)
		if err != nil {
			return err
		}
		t.origins.given(e.Seq, p.Settings, had, p.Rules)
	case event.TypeLoopResumed:
		p, err := event.As[event.LoopResumed](e)
		if err != nil {
			return err
		}
		t.origins.given(e.Seq, p.Settings, had, t.state.Rules)
	case event.TypeLoopConfigured:
		p, err := event.As[event.LoopConfigured](e)
		if err != nil {
			return err
		}
		t.origins.changed(e.Seq, p, t.settersName(p.Key))
	case event.TypeCommandReceived:
		if len(t.commands) >= commandsKept {
			clear(t.commands)
		}
		t.commands[jsonscan.Unquote(e.Field("id"))] = kept
	case event.TypeAgentUsed:
		t.used = latest(append(t.used, kept), usedKept)
		t.heard = kept
	case event.TypeIterationEnded:
		t.ends = latest(append(t.ends, kept), endsKept)
	case event.TypeBreakerTripped:
		t.trips = latest(append(t.trips, kept), tripsKept)
	case event.TypeGuardrailEnded, event.TypeGuardrailEdited, event.TypeFolderInspected, event.TypeRepoInspected, event.TypeRepoUnreadable:
		t.checks = latest(append(t.checks, kept), checksKept)
	case event.TypeDecided:
		t.decided(e, kept)
	}
	return nil
}

func (t *trace) decided(e, kept event.Event) {
	switch event.Effect(jsonscan.Unquote(e.Field("do"))) {
	case event.DoBegin:
		for seq := range t.made {
			if seq < t.began.Seq {
				delete(t.made, seq)
			}
		}
		t.began, t.checks = kept, nil
	case event.DoCheck:
		t.checks = nil
	}
}

// keep remembers an event as the last one of its type.
func (t *trace) keep(e event.Event) event.Event {
	kept := e.Clone()
	t.last[e.Type] = kept
	return kept
}

// settersName is who asked for the change of a setting that is recorded now.
func (t *trace) settersName(key string) string {
	for _, c := range t.state.Commands.Open {
		if c.Kind == event.CommandSet && c.Key == key {
			return c.From
		}
	}
	return "a person"
}

func latest(events []event.Event, most int) []event.Event {
	return events[max(0, len(events)-most):]
}

// since returns the last event of a type if it came after another event.
func (t *trace) since(of event.Type, after event.Event) event.Event {
	if e := t.last[of]; e.Seq > after.Seq {
		return e
	}
	return event.Event{}
}

// here returns the last event of a type if it is of the present iteration.
func (t *trace) here(of event.Type) event.Event { return t.since(of, t.began) }
