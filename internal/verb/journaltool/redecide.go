package journaltool

// This file runs today's rules on a journal: it folds it and decides again.

import (
	"encoding/json"
	"fmt"
	"path/filepath"

	"github.com/ralph-loop/ralph/internal/core/loop"
	"github.com/ralph-loop/ralph/internal/core/loopstate"
	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/front/logs"
	"github.com/ralph-loop/ralph/internal/ground/jsonscan"
	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/projector"
)

// redecided is the result of Redecide.
type redecided struct {
	OK        bool      `json:"ok"`
	Events    int       `json:"events"`
	Decisions int       `json:"decisions"` // those that were compared
	Seq       event.Seq `json:"seq,omitempty"`
	Rule      string    `json:"rule,omitempty"` // that decides now
	// absent where the journal continues without a decision
	Recorded *draft `json:"recorded,omitempty"`
	Decided  *draft `json:"decided,omitempty"` // absent where nothing is to be decided
	Version  string `json:"version,omitempty"` // of the ralph that wrote it

	Checkpoints int `json:"checkpoints"` // those that were compared
	// State is the event at which state.json was compared, Iterations how many of their files were;
	// 0 where there is no state.json.
	State      event.Seq `json:"state,omitempty"`
	Iterations int       `json:"iterations,omitempty"`
	// Differ are the places in which checkpoints or projections differ from the fold.
	Differ []string `json:"differ,omitempty"`

	foldSeq event.Seq // of the checkpoint that differs
}

// draft is an event without its envelope.
type draft struct {
	Type event.Type      `json:"type"`
	Data json.RawMessage `json:"data"`
}

func draftOf(d event.Draft) *draft {
	if d.Type == "" {
		return nil
	}
	return &draft{Type: d.Type, Data: d.Data}
}

func (d *draft) String() string {
	if d == nil {
		return "no decision"
	}
	return fmt.Sprintf("%s %s", d.Type, d.Data)
}

// Redecide folds a journal and compares with it what is recorded: each decision with what the rules
// decide now, each checkpoint, and the projections where they are beside the journal. A difference
// is exit code 3.
func Redecide(e *cli.Env, src logs.Source, asJSON bool) error {
	var r redecided
	done := e.Busy("deciding again, event by event")
	defer done()
	if err := r.compare(src); err != nil {
		return err
	}
	var files projector.Projections
	complete := r.Seq == 0 && r.foldSeq == 0
	if complete && src.Path != "" && cli.Exists(filepath.Join(src.Path, loopstate.StateFile)) {
		var err error
		if files, err = projector.Compare(src.Path); err != nil {
			return logs.ReadableUpTo(err, files.Seq)
		}
		r.State, r.Iterations, r.Differ = files.State, files.Iterations, files.Differ
	}
	done()
	r.OK = complete && len(r.Differ) == 0
	err := r.print(e, asJSON)
	switch {
	case err != nil || r.OK:
		return err
	case complete:
		return differ(files)
	}
	return r.failure()
}

// compare reads the journal up to the first difference of a decision or a checkpoint.
func (r *redecided) compare(src logs.Source) error {
	var v loop.Verifier
	var sealed json.RawMessage // the state before the last seal
	for ev, err := range src.Events(0) {
		if err != nil {
			return err
		}
		r.Events++
		switch ev.Type {
		case event.TypeLoopStarted, event.TypeLoopResumed:
			_ = json.Unmarshal(ev.Field("version"), &r.Version)
		case event.TypeSegmentSealed:
			sealed = v.State().Checkpoint()
		case event.TypeSegmentOpened:
			if r.checkpoint(ev, v.State(), sealed); r.foldSeq > 0 {
				return nil
			}
		}
		found, err := v.Event(ev)
		if err != nil {
			return fmt.Errorf("fold event %d: %w", ev.Seq, err)
		}
		if r.Decisions = v.Decisions; found != nil {
			r.Seq, r.Rule, r.Recorded, r.Decided = found.Seq, found.Rule, draftOf(found.Recorded), draftOf(found.Decided)
			return nil
		}
	}
	return nil
}

// checkpoint compares a checkpoint with the fold of all events before it. The runner makes it
// before or after the seal of the segment before.
func (r *redecided) checkpoint(opens event.Event, s *loopstate.State, sealed json.RawMessage) {
	recorded := opens.Field("checkpoint")
	if s.Seq == 0 || len(recorded) == 0 {
		return
	}
	var at struct {
		Seq event.Seq `json:"seq"`
	}
	want := s.Checkpoint()
	if err := json.Unmarshal(recorded, &at); err == nil && at.Seq < s.Seq && sealed != nil {
		want = sealed
	}
	r.Checkpoints++
	if found := jsonscan.Differences(fmt.Sprintf("checkpoint of event %d:", opens.Seq), recorded, want); len(found) > 0 {
		r.foldSeq, r.Differ = opens.Seq, found
	}
}

func (r *redecided) print(e *cli.Env, asJSON bool) error {
	out := e.Stdout
	switch {
	case asJSON:
		return cli.PrintJSON(out, r, "")
	case r.Seq > 0:
		fmt.Fprintf(out, "event %d\n  recorded  %s\n  today     %s\n", r.Seq, cli.Clean(r.Recorded.String()), cli.Clean(r.Decided.String()))
		if r.Rule != "" {
			fmt.Fprintf(out, "  because   %s\n", r.Rule)
		}
		return nil
	case r.foldSeq == 0:
		fmt.Fprintf(out, "%d events with %d decisions, which are the same today\n", r.Events, r.Decisions)
		if r.Checkpoints > 0 {
			fmt.Fprintf(out, "%s, which are the same folded today\n", units.Quantity(r.Checkpoints, "checkpoint"))
		}
		if r.State > 0 && len(r.Differ) == 0 {
			fmt.Fprintf(out, "state.json at event %d, and the file of each of %s: the same folded today\n", r.State,
				units.Count{Begun: r.Iterations}.Iterations())
		}
	}
	for _, place := range r.Differ {
		fmt.Fprintln(out, cli.Clean(place))
	}
	return nil
}

// failure is the error of a decision or a checkpoint that differs.
func (r *redecided) failure() error {
	err := fmt.Errorf("today's rules decide something else at event %d, after %d decisions that are the same", r.Seq, r.Decisions)
	if r.foldSeq > 0 {
		err = fmt.Errorf("the events before event %d fold to another state today than its checkpoint has", r.foldSeq)
	}
	return &cli.Failure{
		Err: err, Code: event.ExitFailed,
		NextStep: fmt.Sprintf("it was written by ralph %s, and this is %s: where both are the same, the journal was changed or the rules are not pure", cli.Clean(r.Version), cli.BuildVersion()),
	}
}
