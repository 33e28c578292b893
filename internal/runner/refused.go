package runner

import (
	"fmt"
	"slices"

	"github.com/ralph-loop/ralph/inbox"
	"github.com/ralph-loop/ralph/internal/core/loop"
	"github.com/ralph-loop/ralph/internal/core/loopstate"
	"github.com/ralph-loop/ralph/internal/effect/executor"
	"github.com/ralph-loop/ralph/internal/effect/sandbox"
	"github.com/ralph-loop/ralph/internal/effect/task"
	"github.com/ralph-loop/ralph/internal/ground/process"
	"github.com/ralph-loop/ralph/journal/event"
)

// refusedError says that a loop was not resumed, because it would end before an agent works.
// Nothing is recorded, so that the loop keeps its last end. ended has the reason.
type refusedError struct{ ended event.LoopEnded }

func (e *refusedError) Error() string { return e.ended.Why }

// tryResume returns a *refusedError if a resume with these rules would lead to nothing.
func (r *runner) tryResume(state *loopstate.State, resumed event.LoopResumed) error {
	if !state.Begun() {
		return nil
	}
	ended, err := r.limited(state, resumed)
	if err == nil && ended == nil {
		ended = r.unable(state)
	}
	if err != nil || ended == nil {
		return err
	}
	return &refusedError{*ended}
}

// limited returns the end of a loop that may have no other iteration by its rules and by what waits
// in its inbox.
func (r *runner) limited(state *loopstate.State, resumed event.LoopResumed) (*event.LoopEnded, error) {
	drafts := []event.Draft{event.Encode(resumed, "loop")}
	box, err := inbox.Open(r.Dir)
	if err != nil {
		return nil, err
	}
	items, err := box.Pending()
	if err != nil {
		return nil, err
	}
	for _, item := range items {
		if c := item.Command; c != nil && !state.Commands.Has(c.ID) {
			drafts = append(drafts, event.Encode(r.received(c), "inbox:"+c.ID))
		}
	}
	return loop.Refusal(state, drafts, r.clock())
}

// unable returns the end of a loop whose prompt or none of whose agents can be had.
func (r *runner) unable(state *loopstate.State) *event.LoopEnded {
	ended := func(reason event.Reason, f event.EffectFailed) *event.LoopEnded {
		return &event.LoopEnded{Status: reason.Status(), Reason: reason, Result: reason.Result(), Why: f.Error, Hint: f.Hint}
	}
	if file := r.promptFile(state); file != "" && !state.Rules.Stories {
		_, err := executor.ReadPrompt(file, r.readFile)
		if marks, markErr := task.ReadMarks(r.Dir); err != nil && (markErr != nil || !marks.Done) { // else it has to be checked only
			return ended(event.ReasonConfig, executor.Failure(event.DoBegin, err))
		}
	}
	if sandbox.Mode(r.Settings.Sandbox.Mode).Contained() {
		return nil // its programs are those of the image
	}
	var missing error
	for _, a := range slices.Backward(r.Settings.Candidates()) {
		_, command, err := Prepared(a, r.WorkDir, nil)
		if err != nil {
			return nil // the starter has checked it
		}
		if missing = process.CheckProgram(command.Argv[0], r.WorkDir); missing == nil {
			return nil
		}
	}
	return ended(event.ReasonAgent, executor.Failure(event.DoStart, fmt.Errorf("start agent: %w", missing)))
}
