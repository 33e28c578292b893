package agent

import (
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/journal/event"
)

// Calls are the tool calls of one conversation that have not returned. An agent may drop a call
// without notice: after an answer that broke off, an aborted turn, a subagent that died. Such a
// tool must not count as one that still works.
type Calls struct{ open []Call }

// Call is one of them.
type Call struct {
	ID     string
	Parent string // the call under which a subagent made it; empty for the agent's own
	// printed is what it has printed so far, the end of it.
	printed []byte
}

// printedMost bounds what is kept of a call's output, in bytes.
const printedMost = 64 << 10

// callsMost limits them for an agent whose calls never return; the oldest go first.
const callsMost = 1024

// Called reports a call.
func (c *Calls) Called(out *Decoded, p event.ToolCalled) {
	out.Add(p)
	if len(c.open) == callsMost {
		c.open = slices.Delete(c.open, 0, 1)
	}
	c.open = append(c.open, Call{ID: p.ID, Parent: p.Parent})
}

// Printed reports what a call printed, and keeps it for the case that its result never comes.
func (c *Calls) Printed(out *Decoded, p event.ToolProgressed) {
	out.Add(p)
	at := slices.IndexFunc(c.open, func(call Call) bool { return call.ID == p.ID })
	if at < 0 {
		return
	}
	printed := append(c.open[at].printed, p.Text.String()...)
	c.open[at].printed = printed[max(0, len(printed)-printedMost):]
}

// Returned reports the result of a call.
func (c *Calls) Returned(out *Decoded, p event.ToolReturned) {
	out.Add(p)
	c.open = slices.DeleteFunc(c.open, func(call Call) bool { return call.ID == p.ID })
}

// Open reports whether a call has not returned.
func (c *Calls) Open(id string) bool {
	return slices.ContainsFunc(c.open, func(call Call) bool { return call.ID == id })
}

// NoResult ends the output of a call that is over and whose result was never reported.
const NoResult = "no result of this call was reported"

// Lose reports the calls that are over, with all calls under them, as failed.
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
			out.Add(event.ToolReturned{ID: call.ID, Output: event.Plain(call.lost())})
			return true
		})
	}
}

// lost is the output of a call without a result.
func (c Call) lost() string {
	printed := strings.ToValidUTF8(string(c.printed), "") // its beginning may be cut
	if printed != "" && !strings.HasSuffix(printed, "\n") {
		printed += "\n"
	}
	return printed + NoResult
}

// Reset forgets all calls.
func (c *Calls) Reset() { c.open = c.open[:0] }
