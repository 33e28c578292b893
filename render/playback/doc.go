// Package playback decides when each event of a recorded loop is shown again.
//
//	c := playback.NewClock(10, now)
//	c.Await(e.At)               // the next event of the journal
//	due, runs := c.Due()        // when to show it; runs is false during a pause
//	c.Shown(now)
//
// # Guarantees
//
// A Clock reads no time: every moment is an argument. The same calls give the same answers.
//
// # Not here
//
// Reading events (package journal), timers, and how events look.
package playback
