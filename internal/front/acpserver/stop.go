package acpserver

import (
	"cmp"

	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/projector"
)

// Why a turn is over, in ACP's words.
const (
	endTurn     = "end_turn"          // the work is done, or a person is needed
	maxTokens   = "max_tokens"        // limits.tokens or limits.cost
	maxRequest  = "max_turn_requests" // any other limit
	wasStopped  = "cancelled"         // a person stopped the loop
	wentWrong   = "error"             // version 2 only: version 1 answers with an error
	stillAtWork = ""
)

// outcome says whether a loop does nothing more before a person prompts it: because it has ended,
// because it waits for a person, or because its runner is gone. A failure is a problem.
func outcome(s *projector.View, gone bool) (stop string, failed *problem, over bool) {
	switch {
	case s.Ended != nil:
		stop, failed = ending(s.Name, s.Ended)
		return stop, failed, true
	case gone:
		return wentWrong, &problem{Code: codeInternal, Message: "the runner of loop " + s.Name + " died; another prompt resumes it"}, true
	case s.Resting:
		return endTurn, nil, true
	}
	return stillAtWork, nil, false
}

// ending is the end of a loop in ACP's words.
func ending(name string, e *event.LoopEnded) (string, *problem) {
	switch e.Reason {
	case event.ReasonTokens, event.ReasonCost:
		return maxTokens, nil
	case event.ReasonIterations, event.ReasonDuration, event.ReasonRestarts:
		return maxRequest, nil
	case event.ReasonBlocked, event.ReasonWait:
		return endTurn, nil
	}
	switch e.Reason.ExitCode() {
	case event.ExitCompleted:
		return endTurn, nil
	case event.ExitInterrupted:
		return wasStopped, nil
	}
	why := cmp.Or(clean(e.Why), string(e.Reason))
	p := &problem{Code: codeInternal, Message: "loop " + name + " failed: " + why}
	if hint := projector.NextStep(name, e); hint != "" {
		p.Data = object{"reason": e.Reason, "hint": clean(hint)}
		p.Message += " (" + cli.Clean(hint) + ")"
	}
	return wentWrong, p
}
