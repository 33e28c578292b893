package playback

import "github.com/ralph-loop/ralph/journal/event"

// Failed reports whether something did not go well at an event: a tool or a guardrail failed, a
// claim was refused, an iteration or the loop ended otherwise than it should, ralph had an error.
func Failed(e event.Event) bool {
	switch e.Type {
	case event.TypeToolReturned, event.TypeGuardrailEnded:
		return string(e.Field("ok")) == "false"
	case event.TypeCompletionRefused, event.TypeFaultRaised:
		return true
	case event.TypeIterationEnded:
		return string(e.Field("outcome")) != `"`+string(event.OutcomeDone)+`"`
	case event.TypeLoopEnded:
		return string(e.Field("status")) != `"`+event.StatusCompleted.String()+`"`
	}
	return false
}
