// Package decide is what hosts decide about the log of one loop in a pool's store. It is pure: it
// reads no clock, no file and no store, and has no goroutine. Its caller does one step at a time
// and says what came of it. The mirror drives a [Mirror], a take-over drives a [Claim], and a
// simulation of hosts drives both while everything fails.
//
//	m := decide.NewMirror(loop, host, epoch, tail)
//	for {
//		switch step := m.Next(journal); step.Do {
//		case decide.Wait: // until more is written, a command comes, or an interval has passed
//		case decide.Read: // get chunk step.Number, then m.Found or m.Missing
//		case decide.Seal: // make lines from event step.First on durable, then m.Seal
//		case decide.Put:  // put step.Stored as chunk step.Number if absent, then m.Answered
//		case decide.Fence: // 'ralph fence NAME --host step.Host --epoch step.Epoch', then m.Fenced
//		case decide.Stop: // the log is not what it must be: say step.Why, and mirror the loop no more
//		}
//	}
//
// What holds, whatever is slow, cut off, killed, lost or doubled, and whatever clocks say:
//
//   - A host writes a chunk only at the end of a chain that it has read or written itself, and only
//     while the last chunk has its own epoch. The first write of a number has it.
//   - After a put without a clear answer, the same bytes are put again until they, or another
//     chunk, are there. A chunk counts as the host's own by its nonce, or, if an earlier process
//     of the host wrote it, by its epoch, its host and its lines.
//   - A chunk with a higher epoch fences. Nothing is written after it.
//   - A claim has no lines, so that a take-over that is given up loses nothing: the next claim
//     follows it.
package decide
