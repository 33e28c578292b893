// Package safefile opens regular files and replaces them. All packages do both through it.
//
//	text, err := safefile.Read(path, 1<<20)           // a regular file of at most 1 MiB
//	err = safefile.WriteFile(path, text, 0o600)       // the old content or the new one, never half
//	err = safefile.SyncFolder(filepath.Dir(path))     // after it, a loss of power keeps the new one
//
// # Reading
//
// [Open], [Read] and their variants open nothing but regular files: no folder, link, pipe, socket
// or device. They never block. [OpenLinked] and [ReadLinked] follow links, the others do not. An
// [Error] names the path and the problem.
//
// # Writing
//
// [Replace] writes a temporary file, syncs it and renames it. After a loss of power the file has
// the old content or the new one. [Folder.Sync] makes the new name durable. The name of a temporary
// file begins with a dot; a process that was killed may leave one ([Leftover]).
//
// A [Folder] belongs to the operating system ([Dir], [Within]), or to the simulated disk that tests
// use (package simfs).
//
// # Not here
//
// Files that grow: package journal appends, rotates and repairs.
package safefile
