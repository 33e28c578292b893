// Package send sends commands to loops through their inboxes, and says in words what became of
// each. It also finds processes that the agent of a dead loop left running.
package send
