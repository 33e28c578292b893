// Package process is the one place for processes of the operating system: it starts an agent or
// runs a command, delivers its output, ends it with all of its descendants, and reaps them.
//
//	p, err := process.Start(process.Spec{
//		Argv:        []string{"pi", "--mode", "rpc"},
//		Dir:         project,
//		Env:         process.Environment(os.Environ(), nil, []string{"RALPH_LOOP=fix"}),
//		Mark:        runID,
//		KeepStdin:   true,
//		ParentDeath: syscall.SIGTERM,
//		Output: func(c process.Chunk) {
//			for _, line := range c.Lines { decode(line) }
//		},
//	})
//	if err != nil { … errors.Is(err, exec.ErrNotFound) … }
//	err = p.Write([]byte(`{"type":"prompt","message":"continue"}` + "\n"))
//	err = p.Terminate(ctx, 5*time.Second)
//	exit := p.Wait()
//
//	exit, err = process.Run(ctx, process.Command{Argv: []string{"git", "status"}, Stdout: &out})
//
// # Guarantees
//
//   - Every byte that a process wrote before it ended is delivered, once and in order per stream,
//     in lines of any length. Memory is bounded, whatever the process prints.
//   - There is exactly one [Exit]. A descendant that holds the output open delays it by at most a
//     quarter of a second, one that ignores TERM by the grace, one that cannot be killed by three
//     seconds.
//   - When Done is closed, no descendant of an agent is left that can be found by one of four
//     traces: the agent's session and process group, parentage, adoption (see [EnableSubreaper])
//     and the mark in the environment ([Spec.Mark]). Those that had to be ended, or could not be,
//     are listed in [Exit.Strays]. This holds after a normal exit as well as after
//     [Process.Terminate].
//   - Where orphans become children of this process, a scan never misses a descendant because it
//     was forked during the scan: it counts as empty only if no adopted process ended during it. A
//     process that forks in ever new groups faster than a scan takes, some milliseconds, may
//     outlast KILL; [Exit.Err] then reports that. A process with a wiped environment in a session
//     of its own is not found without adoption.
//   - [Run] ends what is left of the command's process group or, with [Command.Mark], all
//     descendants.
//   - Processes with a mark of [LetOutlive] are no strays, and neither are their descendants.
//   - Between two turns [Process.EndOthers] ends what is not in the agent's baseline
//     ([Process.SetBaseline]), by pid and start time.
//   - A signal never reaches a process that has inherited a pid: the start time is compared while
//     the process is pinned (pidfd on Linux), and the agent's own pid stays reserved until its
//     group has been ended.
//   - [Process.Write] returns at once, whatever the agent does with its input.
//
// # Not here
//
// What a line means, when an agent is done, and which signal an agent gets first: dialects and the
// session decide that. Deadlines and restarts are policies. On Windows a process can be started,
// written to, read and killed; its descendants are not followed.
package process
