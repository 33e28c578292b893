// Package runner is one runner of one loop: it takes the loop's lock, takes up or
// begins its journal, and joins the driver to the agent, the inbox, the signals and the
// projections until the loop has ended.
//
//	ended, err := runner.Run(ctx, runner.Config{Dir: dir, Project: cwd, Settings: s, …})
//	os.Exit(ended.Reason.ExitCode())
//
// The detached runner, a foreground start and 'ralph run' are all this one function.
//
// # Guarantees
//
// Two runners never share a loop: the second gets a *registry.HeldError. What an
// earlier runner's agent left running is gone before the agent is started again. A
// command's file is removed only after its receipt is durable. Run returns when
// the agent's process tree is gone and the journal is sealed, or when the journal
// cannot be written any more.
//
// # Not here
//
// Making and detaching the process (cmd/ralph), and every decision (internal/loop).
package runner
