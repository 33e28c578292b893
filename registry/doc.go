// Package registry lists the loops of this machine and says whether each of them is alive. A runner
// writes the entry of its loop; a list adds one that it finds without an entry.
//
//	statuses, err := registry.Survey(home, nil)
//	for _, s := range statuses {
//		fmt.Println(s.Name, s.Head.Status, s.Live.Alive)
//	}
//
// # Guarantees
//
//   - Two project folders never share an entry: the name of its file contains a slug of the folder
//     and a hash of all of it.
//   - A reader never sees half an entry.
//   - The kernel decides liveness. A loop is alive exactly while a process holds the exclusive lock
//     on its run.lock. A runner that was killed in any way is dead at once, also while processes
//     that it started live on.
//   - A free run.lock with content was left by a runner that died: an orderly end empties it.
//   - A file that is not an entry is reported and left where it is.
//   - No symbolic link is followed at the name of an entry, a run.lock or a state.json, and nothing
//     blocks on a FIFO.
//   - All functions may be called at the same time from any number of goroutines and processes.
//
// Entries, lock files and the first line of state.json are a promise to other programs: their keys
// keep their meaning, new keys may be added, and readers ignore keys that they do not know.
//
// # Not here
//
// Taking locks (the runner does that), what a loop did (journal), the rest of
// state.json (projector), commands (inbox). Strings from entries and states are returned as the
// files have them: the printer neutralises control characters.
package registry
