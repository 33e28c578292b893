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
// Two runners never share a loop: the second gets a *registry.HeldError. Nor do two loops share a work tree where
// the second does not ask for it: a *SharedTreeError. What an
// earlier runner's agent left running is gone before the agent is started again. A
// command's file is removed only after its receipt is durable. Run returns when
// the agent's process tree is gone and the journal is sealed, or when the journal
// cannot be written any more.
//
// Nothing outlives a loop, other loops not excepted: a detached loop that an agent starts is a
// process like any other that the agent leaves behind. When the iteration ends that started it, its
// runner is asked with TERM to stop, which it does in good order where its own agent
// leaves in time, and is killed otherwise. It is counted in the strays of
// agent.exited, its journal is whole, and 'ralph start NAME --resume' goes on with it from outside. Where agent.outlive
// says so, a loop that was started with --outlive is taken for nobody's, and lives on: LetOutlive.
//
// What a starter saw before the lock was taken is held against what is there: a loop that another one
// began or ended meanwhile is an *ExistsError, and config.json is written under the lock.
//
// # Not here
//
// Making and detaching the process (cmd/ralph), and every decision (internal/loop).
package runner
