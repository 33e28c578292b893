// Package guardrail runs the shell commands that must exit with 0 after an agent's iteration,
// composes the message about a failure for the agent, and detects changes of the files that define
// these commands.
//
//	guards := []guardrail.Guardrail{{Command: "make lint"}, {Command: "./check.sh", Timeout: time.Minute}}
//	snapshot, err := guardrail.NewSnapshot(guardrail.Place{Work: project}, guards) // before the agent works
//	err = snapshot.Keep(loopDir, nil)                       // for a later process: guardrail.Reopen
//	…
//	changes, err := snapshot.Changed()
//	aside, err := snapshot.Restore(changes)
//	results, err := guardrail.Run(ctx, guardrail.Config{
//		Dir: project, LoopDir: loopDir, Iteration: 3, Guardrails: guards, TruncateChars: 5000,
//	})
//	for _, r := range results { … r.OK, r.Message … }
//
// # Guarantees
//
//   - All that a command writes to its two outputs is in its log, in the order written, as long as
//     the disk accepts it ([Result.Warning] reports when it did not), without secrets
//     ([Config.Redact]): neither the log nor its name contains one. Memory is bounded by
//     [Config.TruncateChars].
//   - A log is a new file with mode 0600. A link or file under its name is neither followed nor
//     changed.
//   - Every guardrail ends. When the shell has ended, or its time is over, its process group is
//     ended: TERM, a grace, KILL, and a scan that finds no process. [Result.Warning] reports what
//     outlives KILL.
//   - A verdict is the command's. What prevented a verdict (no shell, a missing folder, a canceled
//     context) is [Result.Err], and never a failure that the agent has to fix.
//   - A later process uses a copy that Keep wrote only if its SHA-256 is that of the record. The
//     caller keeps the records where the agent cannot change them.
//   - [Result.Message] and the result of [Truncate] are valid UTF-8 without NUL, so that they can
//     be a program's argument.
//
// # Not here
//
// Processes that moved to another group or session (a build tool's daemon, job control) are not
// followed here: internal/ground/process finds the processes of a loop by a mark in their
// environment. A guardrail is not confined: it runs with the runner's own rights. When to run
// guardrails, whether to restore changed files, and what a failure means for the loop is decided
// elsewhere. A snapshot has the files that a command names and those that well-known build tools
// read first, not what these include. Logs are not synced: the journal has the results. On Windows
// only the shell is ended.
package guardrail
