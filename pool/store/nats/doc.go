// Package nats keeps a pool's state in a bucket of NATS JetStream.
//
// A bucket is a stream of the form that NATS calls a key-value store: a key is a subject, a revision
// the sequence number of its last message, and PutIfAbsent and CompareAndSwap name the sequence
// number that they expect. Slashes and dots of a key change places, so that each part is a token of
// the subject and the server itself selects keys by their prefix.
//
// Reads go to the leader of the stream and never to a replica (direct get is off), because a
// replica may not know yet of a write that was acknowledged. One server is linearizable. In a
// cluster, a leader that was cut off from the others may answer reads, but acknowledges no write,
// until it notices, which takes seconds: so a read may be old there, and a loop has one owner still.
//
// A watch is a subscription to what the server publishes after it has stored a write. It costs no
// state at the server and no request while nothing happens. What was missed while the connection
// was away, and what was more than the watcher could take, is told of by an empty key. A new leader
// in a cluster may publish nothing for the last writes of the one before, so there the watch asks
// for the last sequence number as well, every ten seconds.
//
// A call waits for a connection that is away, ten seconds at most. A write whose connection is lost
// before its answer ends with an error at once, and is not sent again. Reads are.
package nats
