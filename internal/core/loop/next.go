package loop

import (
	"github.com/ralph-loop/ralph/internal/core/loopstate"
	"github.com/ralph-loop/ralph/journal/event"
)

// Decision is one step that follows from a state: an event that becomes true by being recorded. An
// [event.Decided] is an effect for the executor as well.
type Decision = event.Payload

// State is what decisions are made from.
type State = loopstate.State

// The rules, in the order in which they are asked. The first that returns decisions decides. After
// they are folded, the table is asked again from the top. An empty slice, unlike nil, means that
// nothing is to be done until another event happens.
var table = []struct {
	name string
	rule func(*State) []Decision
}{
	{"an ended loop does nothing", ended},
	{"a loop that another host has ends at once", fencedOff},
	{"a fence comes before all else", fenced},
	{"an iteration whose runner died is closed", interrupted},
	{"every command is answered", answer},
	{"kill ends the agent at once", killed},
	{"stop --now ends the agent politely", stoppedNow},
	{"a limit that is near is reported once", warned},
	{"a turn that uses too much is ended", overspent},
	{"a deadline that passed ends the turn", overdue},
	{"the end of the loop's time ends what runs", timeUp},
	{"a fault of ralph's own ends the loop", faulty},
	{"after its turn the agent is parked or ended", release},
	{"the work of the agent is checked", checked},
	{"work that passed is committed", committed},
	{"a claim that lacks nothing else is tried by held-out guardrails", heldOut},
	{"an iteration ends when nothing is left to do for it", concluded},
	{"a person's stop ends the proof of the guardrails", proofStopped},
	{"an open iteration goes on", working},
	{"a claim that lacks nothing else waits for the proof of the guardrails", proved},
	{"what is done before an iteration is a claim", doneAlready},
	{"an accepted claim completes the loop", completed},
	{"a person's stop ends the loop", stopped},
	{"a disk or a folder that fails the loop ends it", diskless},
	{"an agent that cannot be started ends the loop", unstartable},
	{"an agent that is blocked ends the loop", blocked},
	{"a limit ends the loop", limited},
	{"what the next iteration may have to wait for is observed", scheduled},
	{"an agent that cannot work, or does not do this, is replaced", replaced},
	{"a loop without progress is warned, slowed and stopped", stuck},
	{"a paused loop waits", paused},
	{"an iteration waits for its time or for a person", waiting},
	{"otherwise the next iteration begins", begin},
}

// Next returns the decisions that follow from a state, or none if the loop has to wait for another
// event. It is pure.
func Next(s *State) []Decision {
	_, decisions := Why(s)
	return decisions
}

// Why returns the decisions of Next and the name of the rule that made them.
func Why(s *State) (rule string, decisions []Decision) {
	for _, row := range table {
		if decisions := row.rule(s); decisions != nil {
			return row.name, decisions
		}
	}
	return "", nil
}

var wait = []Decision{}

func record(p ...Decision) []Decision { return p }
