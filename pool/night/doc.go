// Package night simulates hosts that share one loop, while everything fails.
//
//	stats, err := night.Run(seed, night.Sound)
//
// Two or three hosts have disks, clocks that are an hour off, a runner with an agent, a mirror and
// take-overs. They reach one store through a network that delays, loses and doubles requests and
// loses answers. Hosts are cut off, stopped and woken, lose their power or their disk; processes
// are killed; hosts take a loop over although its host is alive. Everything happens in one queue,
// ordered by time, and every choice comes from the seed. What mirrors and take-overs decide is the
// code that the real ones run: package decide.
//
// During each run, and after it, these hold:
//
//   - The log is one chain. An event that a host knows to be in the store is in it, with the same
//     content, at the end.
//   - The journal of the host that has the loop begins with all that the log has.
//   - Each command is in the log once, when all hosts have been up for long enough.
//   - A host that is fenced runs no agent after the next answer of the store that tells it so.
//   - No mirror gives up, and one host runs the loop at last.
//
// The variants are broken on purpose: the tests show that each is noticed.
//
// Not simulated: the engines of stores (package storetest), and the files of a loop's tree.
package night
