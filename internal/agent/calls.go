package agent

import (
	"slices"

	"github.com/ralph-loop/ralph/journal/event"
)

// Calls are the tool calls of one conversation that have not returned. An agent may drop a call without
// a word: an answer that broke off and was asked for again, a turn that was aborted, a subagent that died. Nobody
// must take such a tool for one that is still at work.
type Calls struct{ open []Call }

// Call is one of them.
type Call struct {
	ID     string
	Parent string // the call under which a subagent made it; empty for the agent's own
}

// callsMost bounds them against an agent whose calls never return; the oldest go first.
const callsMost = 1024

// Called notes a call.
func (c *Calls) Called(call Call) {
	if len(c.open) == callsMost {
		c.open = slices.Delete(c.open, 0, 1)
	}
	c.open = append(c.open, call)
}

// Returned notes that a call has its result.
func (c *Calls) Returned(id string) {
	c.open = slices.DeleteFunc(c.open, func(call Call) bool { return call.ID == id })
}

// Open reports whether a call has not returned.
func (c *Calls) Open(id string) bool {
	return slices.ContainsFunc(c.open, func(call Call) bool { return call.ID == id })
}

// NoResult is the output of a call that is over and whose result was never told.
const NoResult = "no result of this call was told"

// Lose returns the calls that are over, with all that was called under them, as failed.
func (c *Calls) Lose(out *Decoded, over func(Call) bool) {
	if !slices.ContainsFunc(c.open, over) {
		return
	}
	lost := map[string]bool{}
	for again := true; again; {
		again = false
		c.open = slices.DeleteFunc(c.open, func(call Call) bool {
			if !over(call) && (call.Parent == "" || !lost[call.Parent]) {
				return false
			}
			lost[call.ID], again = true, true
			out.Add(event.ToolReturned{ID: call.ID, Output: event.Plain(NoResult)})
			return true
		})
	}
}

// Reset forgets all calls.
func (c *Calls) Reset() { c.open = c.open[:0] }
