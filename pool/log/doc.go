// Package log reads the log of a loop: its chunks, in their order, verified. [Journal] makes of
// them the journal of the loop as it was on its host, byte for byte.
//
// What is verified: the number, loop, epoch and host of each chunk, that its events follow those of
// the chunk before, that it names the one before by its hash, and, once the journal is assembled,
// the checksum of each line, the hash of each segment, and the blobs (package journal).
//
// # A damaged chunk
//
// The next chunk has the hash of the bytes that were stored, among them the time and the nonce of a
// header that no journal has. So a chunk that is gone cannot be stored again as it was, and nothing
// pretends that it was. A host whose journal has its lines stores them as a [Repair] beside the
// log, once, with its name and the reason. A reader takes the lines from there. What proves them is
// not the note but the journal: each line continues the checksum of the line before, and the seal
// of each segment and the first line of the next one have its hash. They count only if the complete
// journal, with them, verifies.
package log
