// Package loop decides what happens next, and has it done.
//
//	decisions := loop.Next(&state) // pure: the same state gives the same decisions
//
// [Next] is the core: a table of rules that fits on a screen. [Engine] appends events to the
// journal, folds them, asks Next until it returns no decision, and passes effects to [Executor]
// only after they are recorded. [Driver] is the one goroutine around an Engine: it receives reports
// of agents, people and timers on one channel and arms one timer for the earliest deadline.
//
// # Guarantees
//
// An event is written before anything acts on it. The decision for an effect that cannot be undone
// is on disk before the effect, and the effect's outcome comes back as an event with that cause. If
// the journal cannot be written, the loop ends: the agent is terminated and nothing else is done.
//
// The simulation checks these guarantees, and those of the journal, the policies and the
// state, in runs with crashes and full disks:
//
//	go test ./internal/core/loop -run TestSimulation
//	make sim SEEDS=10000
//
// # Not here
//
// The policies (internal/core/policy), the state (internal/core/loopstate), and the effects
// (internal/effect/executor).
package loop
