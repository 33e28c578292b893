// Package registry is the machine-wide list of loops, and the answer to "is this one alive?".
//
// A runner puts an entry when its loop begins and holds the loop's lock for as long as it runs:
//
//	lock, err := registry.Acquire(loopDir)
//	if held, ok := errors.AsType[*registry.HeldError](err); ok {
//		return held // "loop fix-login is already run by pid 4711 on mill since 2026-11-21T01:52:28Z"
//	}
//	defer lock.Release()
//	err = registry.Put(home, registry.Entry{Name: "fix-login", Dir: loopDir, Project: cwd, ...})
//
// Anyone else, from any directory, asks what there is:
//
//	statuses, err := registry.Survey(home, nil)
//	for _, s := range statuses {
//		fmt.Println(s.Name, s.Head.Status, s.Live.Alive)
//	}
//
// A runner also says in which work tree it is at work, so that no two are in one that did not ask for it: [AcquireTree].
//
// # Guarantees
//
//   - Liveness is the kernel's word. A loop is alive exactly while some process holds the exclusive lock on its run.lock; a runner
//     that was killed in any way is dead at once, also while processes it started live on. No heartbeat, no pid check, no timeout.
//   - run.lock is created once and never unlinked or replaced, so that no two runners can hold locks on two files of one name.
//     Holder facts are its content: written after the lock is taken, emptied by an orderly Release. A free lock with facts in it
//     was left by a runner that died.
//   - Two project folders never share an entry: its file name holds a readable slug of the folder and a hash of all of it.
//   - A reader never sees half an entry. A file that is not an entry is reported and left where it is.
//   - Nothing here follows a symbolic link at the name of an entry, a run.lock or a state.json, and nothing blocks on a FIFO.
//   - All functions may be called at the same time from any number of goroutines and processes.
//
// Entries and lock files are a promise to other programs: their keys keep their meaning, new keys may be added, and readers
// ignore keys they do not know.
//
// # Not here
//
// What a loop did (journal), what is true about it beyond the first keys of state.json (projector), commands to it (inbox).
// Strings from entries and states are returned as they stand in the files: a terminal's control characters are the printer's
// to neutralise.
package registry
