// Package check reads all that a pool stores and says what of it cannot be relied on: 'ralph pool
// check'. With a home it compares logs with the journals there, and can repair from them.
//
// Of each loop the log is assembled to a journal, which is verified as one on a disk is, with its
// blobs, and the newest tree is unpacked. The store is read once; the disk needs space for the
// largest loop.
//
// A repair replaces nothing that a host has stored as a chunk: see package log. A blob is its own
// name, so what is stored again is what was there. A tree cannot be made again, because it is of a
// moment that is over: the host that has the loop stores a new one, for the next chunk.
package check
