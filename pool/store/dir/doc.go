// Package dir keeps a pool's state in a folder: for tests, and for hosts that share a disk.
//
// A key is the path of a file. The file has the revision of its last write in the first line and
// the value after it. Files are never written in place: a finished, synced one gets its name by
// link(2), which fails where the name exists, or replaces the file of that name by rename(2)
// while a lock of flock(2) is held. The folder is synced before a write is acknowledged. Names
// that begin with a dot are the engine's own: no key has such a part.
//
//	FOLDER/loops/01K…/log/000000000000    a key
//	FOLDER/.new/                          files that have no name yet
//	FOLDER/.lock/17                       the lock of the keys with this hash
//
// On a network disk PutIfAbsent, which is what decides whose a loop is, relies on link(2) alone.
// CompareAndSwap relies on the disk's locks: a server that gives the lock of a host that is only
// slow to another loses writes of beats and accounts, but no chunk of a journal.
//
// The folder's permissions say who may use the pool; a file may be read and written by its group
// as far as the umask allows. What is not a plain file of the folder is refused: the folder's
// other users cannot lead this one out of it.
package dir
