// Package mirror copies the journals of a host's loops into the store of their pool, and brings
// commands from there: one process for all loops of the host.
//
//	m := mirror.New(mirror.Options{Store: s, Host: "mill", Home: home, Program: "ralph"})
//	err := m.Run(ctx)
//
// What is decided about a loop's log is package decide; this package carries it out. It sleeps
// until a journal is written to, a command comes, or a moment has come that is due for some loops:
// there is one timer, and no goroutine for a loop that waits. A loop that writes nothing costs no
// call: each 30 s the time of its last write is compared, and one key of the host says which loops
// the store has something for. Whose the loop is, the store is asked each ten minutes.
//
// # Guarantees
//
//   - Lines are sealed as a chunk at 256 KiB, at the end of an iteration and of the loop, and after
//     30 s. They are durable in the journal, and the blobs that they name are in the store, before.
//   - Nothing of the mirror's own decides where it goes on: at each start it reads the end of the
//     log and compares the last lines there with the journal.
//   - A loop that another host has taken over is fenced by 'ralph fence' within 30 s of the store
//     being reached, and no chunk of this host follows the claim. Such a host wakes this one before
//     its claim, and from then on the store is asked each 30 s. One that does not is found when the
//     loop writes next, and else within ten minutes.
//   - A command gets into the inbox once: one whose receipt is in the journal, or that is in the
//     inbox, is not dropped again. It is dropped only after the store has said that the loop is this
//     host's.
//   - A store that cannot be reached stops no loop. Lines wait in the journal, and what the mirror
//     holds of them is four pieces of 256 KiB, or of one line if that is longer.
//   - A loop that cannot be mirrored (damaged, removed, its log broken) is reported, and the others
//     are mirrored.
//
// # What leaves the host
//
// The lines of journals and their blobs, in which secrets were masked when they were written; the
// view, which is made of them, and of the loop's paths and process; names of loops and of this
// host. A tree has the repository's files and history as they are, ignored files apart: what is
// committed there is not masked.
package mirror
