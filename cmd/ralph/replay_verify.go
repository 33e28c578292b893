package main

import (
	"encoding/json"
	"fmt"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/journal"
	"github.com/ralph-loop/ralph/journal/event"
)

// decidedAgain is what replay --verify found.
type decidedAgain struct {
	OK        bool             `json:"ok"`
	Events    int              `json:"events"`
	Decisions int              `json:"decisions"` // those that were compared
	Seq       uint64           `json:"seq,omitempty"`
	Rule      string           `json:"rule,omitempty"`     // that decides now
	Recorded  *decisionOfEvent `json:"recorded,omitempty"` // absent where the journal goes on without a decision
	Decided   *decisionOfEvent `json:"decided,omitempty"`  // absent where nothing is to be decided
	Version   string           `json:"version,omitempty"`  // of the ralph that wrote it
}

type decisionOfEvent struct {
	Type event.Type      `json:"type"`
	Data json.RawMessage `json:"data"`
}

func decisionOf(d event.Draft) *decisionOfEvent {
	if d.Type == "" {
		return nil
	}
	return &decisionOfEvent{Type: d.Type, Data: d.Data}
}

func (d *decisionOfEvent) String() string {
	if d == nil {
		return "no decision"
	}
	return fmt.Sprintf("%s %s", d.Type, d.Data)
}

// decideAgain folds a journal and holds each recorded decision against what the rules decide now. A difference is exit code 3.
func decideAgain(e *env, src source, asJSON bool) error {
	var v loop.Verifier
	var r decidedAgain
	var read uint64
	for ev, err := range src.events(journal.ReadOptions{}) {
		if err != nil {
			return readUpTo(err, read)
		}
		read = ev.Seq
		r.Events++
		switch ev.Type {
		case event.TypeLoopStarted:
			p, _ := event.As[event.LoopStarted](ev)
			r.Version = p.Version
		case event.TypeLoopResumed:
			p, _ := event.As[event.LoopResumed](ev)
			r.Version = p.Version
		}
		found, err := v.Event(ev)
		if err != nil {
			return fmt.Errorf("fold event %d: %w", ev.Seq, err)
		}
		if r.Decisions = v.Decisions; found != nil {
			r.Seq, r.Rule, r.Recorded, r.Decided = found.Seq, found.Rule, decisionOf(found.Recorded), decisionOf(found.Decided)
			break
		}
	}
	r.OK = r.Seq == 0
	return r.tell(e, asJSON)
}

func (r decidedAgain) tell(e *env, asJSON bool) error {
	if asJSON {
		if err := printJSON(e.stdout, r, ""); err != nil {
			return err
		}
	} else if r.OK {
		fmt.Fprintf(e.stdout, "%d events with %d decisions, which are the same today\n", r.Events, r.Decisions)
	} else {
		fmt.Fprintf(e.stdout, "event %d\n  recorded  %s\n  today     %s\n", r.Seq, clean(r.Recorded.String()), clean(r.Decided.String()))
		if r.Rule != "" {
			fmt.Fprintf(e.stdout, "  because   %s\n", r.Rule)
		}
	}
	if r.OK {
		return nil
	}
	return &failure{
		err: fmt.Errorf("today's rules decide something else at event %d, after %d decisions that are the same", r.Seq, r.Decisions), code: event.ExitFailed,
		hint: fmt.Sprintf("it was written by ralph %s, and this is %s: where both are the same, the journal was changed or the rules are not pure", clean(r.Version), buildVersion()),
	}
}
