// Package agent runs one agent: a process that speaks a [Dialect].
//
//	s, err := agent.Start(agent.Config{Dialect: pi.New(), Spec: spec, Deliver: deliver})
//	s.Begin(agent.Prompt{Text: "…", Iteration: 1}, cause)
//	s.Steer(id, "use the other branch", cause)
//	s.Release(cause)
//
// A [Session] owns the process and its dialect: it writes what the dialect wants
// written, has it decode what the process prints, and delivers the facts as drafts for the
// journal, in the order in which they happened.
//
// # Guarantees
//
// Every line that an agent prints is delivered, understood or not. agent.started
// comes before any fact of its turn. agent.exited comes after all of them, exactly
// once for each process, when the process and everything it started are gone.
//
// # Not here
//
// What the facts mean for the loop (internal/core/policy), how processes are started
// and ended (internal/ground/process), and each agent's protocol (one folder each).
package agent
