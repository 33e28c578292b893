// Package send sends commands to loops through their inboxes and reports the outcome of each, which
// it learns from the journal. It also ends loops whose runner does not answer, and what an agent
// left running.
package send
