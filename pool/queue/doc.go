// Package queue keeps the loops that people submit to a pool until a worker begins them.
//
// A specification is one object, written once. Chunk 0 of its loop's log is the claim, and has the
// specification: which worker writes it first has the loop, and claim and first record cannot come
// apart. The chunk has no events, so the mirror of that host goes on with chunk 1. A specification
// that is withdrawn is claimed the same way, with a record that says so instead.
//
// # Finished entries
//
// A store deletes nothing. The cursor says, for each priority, up to which ID all specifications are
// claimed, and readers begin after it. A worker moves it by compare and swap, from a revision that
// it has read before it listed the queue. A submitter writes its specification first and then the
// cursor: so either the worker's swap fails, or the submitter sees that the cursor has passed its
// specification, withdraws it, and submits it under a later ID. No clock decides. It costs one write
// for each submission and one for [Batch] claims. A reader lists what waits, at most that many claimed
// ones before it, and those behind the oldest one that waits.
//
// # Accounts
//
// An account has what its loops have spent and what is reserved for those that run, by their IDs: to
// reserve or to settle twice changes nothing, so whoever does not know whether it has does it again.
package queue
