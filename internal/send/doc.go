// Package send sends commands to loops through their inboxes, and reads the outcome of each from
// the journal. It also ends loops whose runner does not answer, and processes that an agent left
// running.
package send
