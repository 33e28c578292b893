// Package loop decides what happens next, and makes it happen.
//
//	decisions := loop.Next(&state) // pure: the same state gives the same decisions
//
// [Next] is the mind: a table of rules that fits on a screen. [Engine] appends events
// to the journal, folds them, asks Next until it has no more to say, and hands
// effects to [Hands] only after they are recorded. [Driver] is the one goroutine
// around an Engine: it receives what agents, people and timers report on one
// channel and arms one timer for the earliest deadline.
//
// # Guarantees
//
// An event is in the kernel before anything acts on it. An effect that cannot be
// undone is on disk as decided before it is done, and its outcome comes back
// as an event whose cause it is. A journal that cannot be written ends the loop:
// the agent is ended and nothing more is done.
//
// The simulation holds them, and those of the journal, the policies and the projector,
// through nights of crashes and full disks:
//
//	go test ./internal/loop -run TestSimulation
//	make sim SEEDS=10000
//
// # Not here
//
// The questions themselves (internal/policy), the state (projector), and how
// effects are done (internal/effect).
package loop
