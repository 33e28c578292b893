// Package simfs is a file system in memory that dies on command, for tests of
// what survives.
//
//	disk := simfs.New(rand.New(rand.NewPCG(seed, 0)))
//	disk.Plan(simfs.Plan{CrashAt: 17})
//	run(journal.Options{FS: disk}) // its 17th change is cut, and every later one refused
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
// After a kill every completed change is there, and the write in flight stopped at some byte. After
// a loss of power the names of a folder are as of its last sync plus some first part of what came
// later, in order, and a file has its bytes as of its last sync plus some first part of what was
// appended later. A rename is seen whole or not at all. [PowerLostAnyOrder] promises less of names,
// as POSIX does. A sync that failed has thrown its bytes away: a later one that succeeds does not
// make them durable.
//
// # Not here
//
// Times, modes, links, and anything that is not needed by a journal and an inbox.
package simfs
