package worker

import (
	"context"
	"errors"
	"fmt"

	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/pool/live"
	"github.com/ralph-loop/ralph/pool/queue"
)

// FinalCodes are the exit codes of a worker for one loop that has ended otherwise than completed:
// that of its reason, and kong's code for wrong arguments. The next worker would end the same way.
var FinalCodes = []int{event.ExitLimit, event.ExitUsage, event.ExitFailed, event.ExitPerson, 80, event.ExitInterrupted}

// exitAgain is the exit code when a worker for one loop cannot say how the loop has ended. Another
// one may.
const exitAgain = 75

// Ended is the error of a worker whose only loop has not completed.
type Ended struct {
	Loop, State string
	Code        int
}

func (e *Ended) Error() string {
	return fmt.Sprintf("loop %s: %s; 'ralph pool list' shows it", e.Loop, e.State)
}

// ExitCode is that of the program.
func (e *Ended) ExitCode() int { return e.Code }

// onlyEnded reports whether the only loop of this worker has ended. The state is what the mirror of
// its host has written.
func (w *Worker) onlyEnded(ctx context.Context) (ended bool, err error) {
	w.mu.Lock()
	problem := w.problems[w.Only]
	w.mu.Unlock()
	if problem != "" {
		return true, &Ended{w.Only, problem, exitAgain}
	}
	v, err := live.ReadView(ctx, w.Store, w.Only)
	if err == nil && v != nil && v.View.Status.Ended() {
		if v.View.ExitCode == nil || *v.View.ExitCode == 0 {
			return true, nil
		}
		return true, &Ended{w.Only, v.View.State, *v.View.ExitCode}
	}
	held, holdErr := queue.Hold(ctx, w.Store, w.Only)
	if err = errors.Join(err, holdErr); err != nil {
		w.say("only", "%v; the worker tries again", err)
	}
	if held.Withdrawn {
		return true, &Ended{w.Only, "it was withdrawn from the queue", event.ExitInterrupted}
	}
	return false, nil
}

// Again is the error of a worker for one loop that another one may not have.
func Again(loop string, err error) error {
	if _, known := errors.AsType[*Ended](err); known || err == nil {
		return err
	}
	return &Ended{loop, err.Error(), exitAgain}
}
