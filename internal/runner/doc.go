// Package runner assembles one running loop: it takes the loop's lock, opens or creates its
// journal, and connects the driver with the agent, the inbox, signals and projections until the
// loop ends.
//
//	ended, err := runner.Run(ctx, runner.Config{Dir: dir, Project: cwd, Settings: s, …})
//	os.Exit(ended.Reason.ExitCode())
//
// The detached runner, a foreground start and 'ralph run' all call this function.
//
// # Files
//
//	runner.go     Config, Run: from the lock to the sealed journal
//	open.go       recovers the journal, connects the parts, begins or resumes
//	register.go   settings, reserved space, registry entry, all durable before an agent starts
//	inbox.go      commands and signals to the driver, receipts back
//	agent.go      settings to an agent's session; probe.go asks its program for abilities
//	commands.go   guardrails, version control, and their environment
//	resume.go     what a resumed loop keeps; refused.go: a resume that leads to nothing
//	pool.go       which host of a pool has the loop
//	diskfull.go   an end without a journal; vanished.go as well
//	worktree.go   one loop per work tree
//	sandbox.go    what the agent may do; schedule.go: what an iteration may wait for
//	quota.go      accounts: what vendors said; spending.go: what loops spent
//	nesting.go    loops that agents start; follow.go: comments on the pull request
//	notify.go     messages to people; trace.go: the trace; retention.go: old segments
//
// # Guarantees
//
// Two runners never share a loop: the second gets a *registration.HeldError. Two loops do not share
// a work tree unless the second allows it: it gets a *SharedTreeError, or waits if it comes after
// another loop. Processes that an earlier runner's agent left are terminated before an agent is
// started. A command's file is removed only after its receipt is durable. Run returns when the
// agent's process tree has ended and the journal is sealed, or when the journal can no longer be
// written; no goroutine of it is left then.
//
// A loop that an agent starts does not outlive the iteration that started it: its runner gets TERM
// when the iteration ends, and is killed if its own agent does not exit in time. agent.exited
// counts it as a stray process, its journal is intact, and 'ralph start NAME --resume' continues
// it. If outlive of an agent is set, a loop that was started with --outlive continues: LetOutlive.
//
// The starter's checks are repeated under the lock: a loop that was started or ended meanwhile is
// an *ExistsError, and config.json is written under the lock.
//
// # Not here
//
// Creating and detaching the process (internal/verb/launch), credentials
// (internal/agent/credentials), and every decision (internal/core/loop).
package runner
