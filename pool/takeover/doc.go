// Package takeover makes a loop of another host one of this host: 'ralph pool take'.
//
// First everything is read and verified: the log, the journal that is assembled of it, its blobs
// and the newest tree. Then comes the claim, which is the only write to the store (package decide).
// After it, the loop is imported with its epoch, and resumed.
//
// # Killed at any step
//
// A record in ralph's home has the nonce of the claim before it is put. The next call finds by it
// whether the claim is in the log. If it is the last, and its loop was not put on the disk yet or
// is there, the take-over goes on; a lock keeps a second process from doing so as well, and an
// import that outlived its parent has the same lock. In any other case there is a new claim, under
// the next epoch. What a killed import has left is moved aside, never removed.
//
// # What is asked
//
// A host that was heard of in the last minute keeps its loop, unless the caller says otherwise.
// Clocks may be wrong: an older sign of life, or one from the future, is watched for a while. That
// decides only whether one tries; whose the loop is, the log decides.
package takeover
