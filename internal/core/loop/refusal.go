package loop

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/ralph-loop/ralph/internal/ground/frame"
	"github.com/ralph-loop/ralph/journal/event"
)

// Refusal returns how an ended loop would end again if it was resumed with these drafts, before it
// does anything; nil if it would do something. The caller refuses such a resume and records nothing
// of it, so that the loop keeps its last end. A loop whose runner died has none to keep. A person's
// stop is no refusal: it would be lost.
func Refusal(s *State, drafts []event.Draft, now time.Time) (*event.LoopEnded, error) {
	if s.Lifecycle.Ended == nil {
		return nil, nil
	}
	var trial State
	if err := json.Unmarshal(s.Checkpoint(), &trial); err != nil {
		return nil, fmt.Errorf("try to resume: %w", err)
	}
	effects := &untried{}
	engine := Engine{Journal: &unwritten{seq: trial.Seq, now: now}, Executor: effects, Segment: trial.Iteration + 1}
	engine.Restore(trial)
	if err := engine.Step(drafts); err != nil {
		return nil, fmt.Errorf("try to resume: %w", err)
	}
	if effects.decided || engine.State().Commands.Stopping != "" {
		return nil, nil
	}
	return engine.State().Lifecycle.Ended, nil
}

// unwritten is a journal that keeps nothing.
type unwritten struct {
	seq event.Seq
	now time.Time
	crc uint32
}

func (u *unwritten) Append(drafts []event.Draft) (events []event.Event, err error) {
	for _, d := range drafts {
		u.seq++
		var line []byte
		line, u.crc = frame.Append(nil, frame.Stamp{Seq: u.seq, At: u.now}, d, u.crc)
		e, err := event.Parse(line)
		if err != nil {
			return nil, err
		}
		events = append(events, e)
	}
	return events, nil
}

func (u *unwritten) Rotate(int, json.RawMessage) ([]event.Event, error) { return nil, nil }
func (u *unwritten) Full() bool                                         { return false }
func (u *unwritten) Sync() error                                        { return nil }

// untried is an executor that only notes whether it was asked for anything.
type untried struct{ decided bool }

func (u *untried) Do(event.Decided, event.Seq, *State) { u.decided = true }
