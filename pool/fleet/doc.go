// Package fleet lets the loops of a fleet run on the workers of a pool: each task is an entry of
// the queue that names those that it needs.
//
//	specs, err := fleet.Submit(ctx, s, "demo", tasks, key)
//	need, err := fleet.Observe(ctx, s, id)       // what became of one that another needs
//	d := fleet.Decide(needs)                     // whether that other one may begin
//
// # What decides
//
// Nothing runs a fleet: each worker decides about each part that waits, from what the store has of
// those that it needs. A part is done when its log ends with loop.ended and the status completed; a
// view that says so is only why the log is read. The claim is that of any entry of the queue, a
// conditional write, so no two hosts begin a part. A part that needs one that failed stays in the
// queue and begins if that one completes after all, resumed by a person.
//
// # What is stored
//
// fleets/NAME has the IDs of all parts. It is written before them, once, so a submission that was
// killed is completed by the same command: what is in the queue under its ID is not put there
// again.
package fleet
