// Package safefile puts files in place so that whoever comes after a loss of power finds the old file
// or the new one, never half of one.
//
//	folder := safefile.Dir(dir)
//	err := safefile.Replace(folder, "state.json", text, 0o600) // whole
//	err = folder.Sync()                                        // and sure to be the new one
//
// A [Folder] is one of the operating system ([Dir], [Within]) or a simulated one that loses its power
// (package simfs).
//
// # Guarantees
//
// What [Fill] returned without an error is on the disk, under the name that the file has on the disk. Names
// are on the disk after [Folder.Sync]. A name that begins with a dot is being written; who dies meanwhile leaves it.
//
// # Not here
//
// Reading, and files that grow (package journal).
package safefile
