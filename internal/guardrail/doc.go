// Package guardrail runs the shell commands that must exit with 0 after an agent's iteration, tells the agent what failed, and notices
// when the files that define these commands were changed.
//
//	guards := []guardrail.Guardrail{{Command: "make lint"}, {Command: "./check.sh", Timeout: time.Minute}}
//	seal, err := guardrail.NewSeal(project, guards) // before the agent works
//	err = seal.Keep(loopDir, nil)                   // for the process after this one: guardrail.Reopen
//	…
//	changes, err := seal.Changed()
//	err = seal.Restore(changes)
//	results, err := guardrail.Run(ctx, guardrail.Config{
//		Dir: project, LoopDir: loopDir, Iteration: 3, Guardrails: guards, TruncateChars: 5000,
//	})
//	for _, r := range results { … r.OK, r.Message … } // what the agent is to be told
//
// # Guarantees
//
//   - What a command writes to its two outputs is in its log whole and in the order written, as long as the disk takes it
//     ([Result.Warning] says when it did not), but for secrets ([Config.Redact]): neither it nor its name holds one. Memory is
//     bounded by [Config.TruncateChars], never by what is written.
//   - A log is a new file, mode 0600: nothing that stands under its name is followed, emptied or added to.
//   - A result arrives. When the shell has ended, or its time is over, its whole process group is ended: TERM, a grace, KILL,
//     and a look that finds nobody left. What outlives KILL is told in [Result.Warning].
//   - A verdict is the command's. What kept it from being given (no shell, a missing folder, a cancelled context) is
//     [Result.Err], and never a failure that the agent is blamed for.
//   - A copy that Keep wrote is used by the next process only where its SHA-256 is that of the record; the records are the caller's to
//     keep out of the agent's reach.
//   - [Result.Message] and what [Truncate] returns are valid UTF-8 without NUL, so that they can be an argument of a program.
//
// # Not here
//
// Processes that moved to another group or session (a build tool's daemon, job control) are not followed: they belong to
// whoever looks for the loop's processes by a mark in their environment. Nor is a guardrail confined: it runs with the runner's
// own rights. When to run guardrails, whether to put changed files back, and what a failure means for the loop is decided
// elsewhere. A seal knows the files that a command names and those that well-known build tools read first, not what these
// include. Logs are not synced: the journal says what came of a guardrail. On Windows the
// shell itself is ended, and what it started is not followed.
package guardrail
