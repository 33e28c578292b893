package why

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"sort"

	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/journal"
	"github.com/ralph-loop/ralph/journal/event"
)

// windowMost is how many bytes of journal are read before the segment that is asked about. The
// checkpoint there has the state of everything earlier; only facts that are older are not shown.
const windowMost = 64 << 20

// packed is how many bytes a byte of a compressed segment is reckoned as.
const packed = 8

// explainAt explains the event seq of the journal at path.
func explainAt(path string, seq event.Seq) (*Answer, error) {
	t := newTrace()
	from, err := t.window(path, seq)
	if err != nil {
		return nil, err
	}
	return t.explainAt(path, from, seq)
}

// explainAt is explainAt of a journal that is read from an event on.
func (t *trace) explainAt(path string, from, seq event.Seq) (*Answer, error) {
	var found *Answer
	for e, err := range events(path, from, t) {
		if err != nil {
			return nil, err
		}
		if found != nil {
			if found.followed(t, e) {
				break
			}
			continue
		}
		var failed error
		err = t.add(e, func(e event.Event, d decision) {
			if e.Seq == seq {
				found, failed = t.explain(e, d)
			}
		})
		if err := cmp.Or(err, failed); err != nil {
			return nil, err
		}
	}
	if found == nil {
		return nil, noEvent(seq, 0, t.state.Seq)
	}
	return found, nil
}

// followMost is how many events after a decision are searched for its outcome.
const followMost = 5000

// followed adds an event to the outcomes of a decision, if it is one. It reports that nothing more
// has to be read.
func (a *Answer) followed(t *trace, e event.Event) (last bool) {
	if e.Cause == a.Event.Seq {
		a.Outcome = append(a.Outcome, t.note(e))
	}
	return len(a.Outcome) == outcomeMost || e.Seq > a.Event.Seq+followMost || e.Type == event.TypeIterationEnded || e.Type == event.TypeLoopEnded
}

// explainLast explains what matters most about the present state of a loop: its end, what it waits
// for, why its iteration began, or why the guardrails are tried. alive says that the loop has a
// runner.
func explainLast(path string, isLoop, alive bool) (*Answer, error) {
	t := newTrace()
	from, err := t.window(path, 0)
	if err != nil {
		return nil, err
	}
	latest, began := map[event.Type]*Answer{}, false // began: the last decision begins an iteration
	for e, err := range events(path, from, t) {
		if err != nil {
			return nil, err
		}
		var failed error
		err = t.add(e, func(e event.Event, d decision) {
			switch e.Type {
			case event.TypeLoopEnded, event.TypeLoopWaiting, event.TypeLoopPaused, event.TypeCommandDelivered, event.TypeCompletionRefused:
			case event.TypeDecided:
				p, err := event.As[event.Decided](e)
				if err != nil || p.Do != event.DoProve && p.Do != event.DoBegin {
					return
				}
				began = p.Do == event.DoBegin
			default:
				return
			}
			latest[e.Type], failed = t.explain(e, d)
		})
		if err := cmp.Or(err, failed); err != nil {
			return nil, err
		}
	}
	s := &t.state
	var found *Answer
	switch {
	case s.Started.IsZero():
		return nil, cli.Refuse("'ralph start' begins it", "the loop has not begun: its journal has no decision")
	case s.Ended != nil:
		found = latest[event.TypeLoopEnded]
	case isLoop && !alive:
		return t.died(), nil
	case s.Wait != nil:
		found = latest[event.TypeLoopWaiting]
	case s.Paused:
		found = latest[event.TypeLoopPaused]
	case s.Commands.Stopping != "":
		found = latest[event.TypeCommandDelivered]
	default:
		found = latest[event.TypeDecided]
		if refused := latest[event.TypeCompletionRefused]; refused != nil && found != nil && began && refused.Event.Iteration == s.Iteration-1 {
			refused.Outcome = append(refused.Outcome, *found.Event)
			found = refused
		}
	}
	if found == nil {
		return nil, cli.Refuse("name the event, as in 'ralph why 12'; 'ralph logs' shows the events",
			"the journal from event %d on has no decision that explains the state of the loop", from)
	}
	return found, nil
}

// died explains a loop whose runner ended without recording an end.
func (t *trace) died() *Answer {
	t.settle()
	a := &Answer{
		Loop: t.state.Name, Question: "Why does the loop not run?",
		Answer: fmt.Sprintf("No rule decided that: its runner ended without recording an end, because it was killed or crashed, or the machine stopped. The last event is %d.", t.state.Seq),
		Hint:   fmt.Sprintf("'ralph start %s --resume' resumes it; 'ralph status' shows what it left running", t.state.Name),
	}
	t.addFacts(a, []event.Event{t.began, t.trigger, t.heard})
	return a
}

// events reads a journal from an event on. If that is not the first one, the settings are taken
// from the beginning.
func events(path string, from event.Seq, t *trace) iter.Seq2[event.Event, error] {
	if from > 1 {
		for e, err := range journal.Read(path, journal.ReadOptions{}) {
			if err != nil || e.Type != event.TypeSegmentOpened {
				if p, err := event.As[event.LoopStarted](e); err == nil {
					t.origins.given(e.Seq, p.Settings, p.Rules, p.Rules)
					t.early = &p.Rules
				}
				break
			}
		}
	}
	return journal.Read(path, journal.ReadOptions{FromSeq: from})
}

// window returns the event from which the journal is read to explain the event seq, or for 0 the
// last ones: the first of a segment, or 0 for the beginning. The decisions that an answer names are
// of the iteration that is asked about and of the one before, which the one before that began: the
// state has to be right from there on.
func (t *trace) window(path string, seq event.Seq) (event.Seq, error) {
	if seq > 0 {
		if err := exists(path, seq); err != nil {
			return 0, err
		}
	}
	list, err := journal.Segments(path)
	if err != nil || len(list) < 2 {
		return 0, nil //nolint:nilerr // a file of another name is read from its beginning, and reading reports errors
	}
	at := len(list) - 1
	if seq > 0 {
		var failed error
		at = sort.Search(len(list), func(i int) bool {
			first, err := firstOf(path, list[i])
			failed = cmp.Or(failed, err)
			return first.Seq > seq
		}) - 1
		if failed != nil {
			return 0, failed
		}
	}
	at = max(at, 0)
	exact := sort.Search(at, func(i int) bool { return list[i].Iteration >= list[at].Iteration-2 })
	for size := int64(0); at > 0; at-- {
		info := list[at-1]
		if size += reckoned(info); size > windowMost {
			break
		}
	}
	if exact > at {
		if first, err := firstOf(path, list[exact]); err == nil && first.Field("checkpoint") != nil {
			t.exactFrom = first.Seq
		}
	}
	if at == 0 {
		return 0, nil
	}
	first, err := firstOf(path, list[at])
	return first.Seq, err
}

func reckoned(info journal.SegmentInfo) int64 {
	if info.Packed {
		return info.Size * packed
	}
	return info.Size
}

// firstOf returns a segment's first event.
func firstOf(path string, info journal.SegmentInfo) (event.Event, error) {
	name := info.Name
	if info.Packed {
		name += ".zst"
	}
	for _, folder := range []string{filepath.Join(path, "journal"), path} {
		file := filepath.Join(folder, name)
		if !cli.Exists(file) {
			continue
		}
		for e, err := range journal.Read(file, journal.ReadOptions{}) {
			return e.Clone(), err
		}
	}
	return event.Event{}, nil
}

// exists returns an error unless the journal has the event.
func exists(path string, seq event.Seq) error {
	for _, err := range journal.Read(path, journal.ReadOptions{FromSeq: seq}) {
		if missing, ok := errors.AsType[*journal.RangeError](err); ok {
			return noEvent(seq, missing.First, missing.Last)
		}
		return err
	}
	return nil
}

func noEvent(seq, first, last event.Seq) error {
	if last == 0 {
		return cli.Refuse("'ralph start' begins a loop", "there is no event %d: the journal is empty", seq)
	}
	return cli.Refuse("'ralph logs' shows the events with their numbers", "there is no event %d: the journal has the events %d to %d", seq, max(first, 1), last)
}
