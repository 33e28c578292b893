// Package simfs is a file system in memory that crashes on command, for tests of what survives a
// crash.
//
//	disk := simfs.New(rand.New(rand.NewPCG(seed, 0)))
//	disk.Plan(simfs.Plan{CrashAt: 17})
//	run(journal.Options{FS: disk}) // its 17th change is cut off, and every later one is refused
//	disk = disk.Crash(simfs.PowerLost)
//	resume(journal.Options{FS: disk}) // as the next process sees it
//
// It implements [journalfs.FS] and the folders of package safefile ([FS.Folder]), and holds other
// files as well through WriteFile, ReadFile, List, Rename and Remove.
//
// # Guarantees
//
// The same source of random numbers, plan and sequence of calls give the same
// outcome. A change is one call that creates, writes, cuts, renames, removes or
// syncs; changes are counted from 1.
//
// After a kill, every completed change is there, and the write in flight stopped at some byte.
// After a loss of power, a folder has its names of its last sync and some of the first later
// changes, in order; a file has its bytes of its last sync and some of the first bytes appended
// later. A rename is complete or has not happened. [PowerLostAnyOrder] promises less about names,
// like POSIX. A failed sync discards its bytes: a later successful one does not make them durable.
//
// # Not here
//
// Times, modes, links, and anything that is not needed by a journal and an inbox.
package simfs
