// Package playground plays one loop in simulated time: the core of ralph decides, and the agent,
// the clock, the disk and the people are simulated. A person adds faults and commands while it
// runs.
//
//	run := playground.New(7)
//	run.Act("kill", "")                  // kill -9 of the runner
//	lines := run.Advance(time.Minute)    // what the journal has got by then
//
// Folder wasm is the program for a browser, and folder page the page around it:
//
//	make playground                      # bin/site/playground
//
// # Guarantees
//
// The engine, the policies, the journal and its recovery are those of ralph, and so are the words
// for events and the view of the loop. Nothing reads a clock or a random number other than the
// seed's: the same seed with the same acts at the same moments writes the same journal, byte for
// byte. Each journal passes 'ralph replay --verify', as a test checks.
//
// # Not here
//
// Invariants over thousands of runs: those are checked by the simulation of internal/core/loop.
package playground
