// Package worker runs the loops of a pool on one host: it claims specifications from the queue,
// makes a work tree for each, starts 'ralph start' there, and watches until the loop ends.
//
//	w := worker.New(worker.Options{Store: s, Host: "mill", Home: home, Slots: 4})
//	err := w.Run(ctx)
//
// Loops live on when the worker ends. What the next one has to know is in files of ralph's home:
//
//	pool/loops/ID/claim.json    written before the claim; it says which chunk 0 is this host's
//	pool/loops/ID/work/         a clone of the repository; the loop is in its .ralph
//	pool/repositories/HASH.git  one copy of each repository, from which the clones are made
//
// # Guarantees
//
//   - A loop is begun by the one host whose claim is in its log, and only once that was read.
//   - A worker that is killed at any point continues where it was: a claim whose answer was not
//     read is known by its nonce, a work tree gets its name when it is complete, and a loop has the
//     ID of its specification, under which a second start is refused.
//   - No more loops run than there are slots, but those that the host had before.
//   - Nothing of a specification gets to a program before the worker trusts the key that signed it,
//     and then only what package spec allows. git gets no option from it, and runs no helper.
//   - A worker claims nothing while the host's mirror gives no sign of life: such a loop would
//     have no copy elsewhere, and no fence.
//
// Each loop that runs has a goroutine, which follows its journal. The queue is read when a
// submission is seen, and each half minute. Whether a host is alive is judged by whether its beat
// changes, on this host's clock. The time in a beat says only which hosts are asked about often:
// of all others, each minute 20 in turn. The loops of a dead host are those noted under its name,
// and those in the queue after the cursor.
package worker
