// Package process runs an agent as an operating-system process and answers for everything it leaves behind: its output in
// whole lines, its input without ever blocking, its ending, and the ending of every process it started.
//
//	p, err := process.Start(process.Spec{
//		Argv:   []string{"pi", "--mode", "rpc"},
//		Dir:    project,
//		Env:    process.Environment(os.Environ(), nil, []string{"RALPH_LOOP=night"}),
//		Mark:   runID,
//		KeepStdin:   true,
//		ParentDeath: syscall.SIGTERM,
//		Output: func(c process.Chunk) {
//			for _, line := range c.Lines { decode(line) }
//		},
//	})
//	if err != nil { … errors.Is(err, exec.ErrNotFound) … }
//	err = p.Write([]byte(`{"type":"prompt","message":"go on"}` + "\n"))
//	report := p.Terminate(ctx, 5*time.Second) // or, when it ends by itself: exit := p.Wait()
//
// # Guarantees
//
//   - Every byte the agent wrote before it ended is delivered, once and in order per stream, in lines of any length. Memory is
//     bounded by [Spec.MaxLine], never by what the agent prints.
//   - There is exactly one [Exit], and it comes: a descendant that holds the agent's output open delays it by at most a quarter
//     of a second, one that ignores TERM by [Spec.StrayGrace], one that cannot be killed by three seconds.
//   - When Done is closed, no descendant is left that can be found by one of four traces: the agent's session and process group,
//     parentage, adoption (see [EnableSubreaper]) and the mark in the environment ([Spec.Mark]). Those that had to be ended, or
//     could not be, are listed in [Exit.Strays]. This holds after a normal exit as well as after [Process.Terminate].
//     Where there is adoption, no process is missed because it was forked while we looked: a look counts as "nobody is left" only if
//     no adopted process ended during it. One that forks in ever new groups faster than a look takes, a millisecond or two, may outlast
//     KILL; [Exit.Err] then says so. Out of reach is what shows none of the four traces: a wiped environment in a session of its own,
//     where there is no adoption.
//   - What was let live on (see [LetOutlive]) is nobody's stray, and neither is what it starts.
//   - [Process.EndOthers] ends between two turns what [Process.Spare] has not found to be the agent's own, by pid and start time.
//   - A signal never reaches a process that merely inherited a pid: the start time is compared while the process is pinned
//     (pidfd on Linux), and the agent's own pid stays reserved until its group has been dealt with.
//   - [Process.Write] returns at once, whatever the agent does with its input.
//
// # Not here
//
// What a line means, when an agent is done, and which signal an agent deserves first: those are the dialects' and the session's.
// Deadlines and restarts are policies. Confinement is package sandbox. On Windows a process can be started, fed, read and killed;
// its descendants are not followed.
package process
