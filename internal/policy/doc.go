// Package policy answers the questions a loop has to ask: is the work done, may
// it go on, is the agent alive, what do people want of it. Each policy is one
// file: a struct of counters that [event.Event]s are folded into, and a question.
//
//	var b policy.Budget
//	for e := range events {
//		b.Apply(e)
//	}
//	if reason, why := b.Over(); reason != "" {
//		…
//	}
//
// # Guarantees
//
// A policy is a pure function of the events it was given: no clock, no file, no
// goroutine, no random number. Time is the time of the event. Its size is bounded
// whatever the number of events, and it survives a trip through JSON unchanged,
// because it stands in the checkpoint of every segment.
//
// # Not here
//
// The order in which the questions are asked (internal/loop) and the struct that holds the
// policies together (projector).
package policy
