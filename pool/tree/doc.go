// Package tree stores what a host needs of a loop beside its journal: the history of the
// repository and the files of the work tree, the loop's own files, and the project's settings.
//
// A tree is a tar archive, compressed by Zstandard, with the files of an export without journal and
// blobs (format.md, "The file of an export"). 'ralph export --files' writes it, also while the loop
// runs, and changes neither index, branches nor files. [Put] leaves out the commits that the tree
// before it has; after [mostBefore] such trees there is one with all of them. A frame that other
// programs skip says so at the beginning.
package tree
