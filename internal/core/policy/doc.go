// Package policy answers the questions of a loop: is the work done, may it go on, is the agent
// alive, what do people want of it. Each policy is one file: a struct of counters that
// [event.Event]s are folded into, and a question.
//
//	var l policy.Lifecycle
//	var c policy.Completion
//	for e := range events {
//		p, err := event.Decode(e)
//		…
//		was := l
//		l.Apply(e.At, p)
//		c.Apply(e.Iter, p, &was)
//	}
//	if how := c.Claim(l.Rules); how != "" {
//		…
//	}
//
// [Lifecycle] holds what several policies need: the rules, the phase, which agent works and its
// process. A policy that needs such a fact is given the Lifecycle as it was before the event, and
// changes only itself. So the order in which policies receive an event does not matter.
//
// # Guarantees
//
// A policy is a pure function of the events it was given: no clock, no file, no goroutine, no
// random number. Time is the time of the event. Its size is bounded whatever the number of events,
// and it survives a trip through JSON unchanged, because it is part of every segment's checkpoint.
//
// # Not here
//
// The order in which the questions are asked (internal/core/loop) and the struct that holds the
// policies together (internal/core/loopstate).
package policy
