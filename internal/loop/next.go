package loop

import (
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/projector"
)

// Decision is one step that follows from a state: an event that the loop itself
// makes true by recording it, or an effect for a hand.
type Decision struct {
	Record event.Payload
	Do     *event.Decided
}

// State is what decisions are made from.
type State = projector.State

// Rules in the order in which they are asked. The first that answers decides;
// after its decisions are folded, the table is asked again from the top. A rule
// answers an empty slice, not nil, to say: there is nothing to do until something happens.
var table = []struct {
	name string
	rule func(*State) []Decision
}{
	{"an ended loop does nothing", ended},
	{"an iteration whose runner died is closed", interrupted},
	{"every command gets its answer", answer},
	{"kill ends the agent at once", killed},
	{"stop --now ends the agent politely", cutShort},
	{"a limit that is near is told once", warned},
	{"a turn that uses too much is ended", overspent},
	{"a deadline that passed ends the turn", overdue},
	{"the end of the loop's time cuts short what goes on", timeUp},
	{"a fault of ralph's own ends the loop", faulty},
	{"after its turn the agent rests or goes", release},
	{"what the agent left behind is checked", examined},
	{"work that passed is committed", committed},
	{"an iteration ends when nothing is left to do for it", concluded},
	{"an open iteration goes on", working},
	{"a file DONE that is there already is a claim", early},
	{"an accepted claim completes the loop", completed},
	{"a person's stop ends the loop", stopped},
	{"what can never start is not tried again", hopeless},
	{"an agent that is blocked ends the loop", blocked},
	{"a limit ends the loop", limited},
	{"an agent that cannot work makes way for one that can", replaced},
	{"a loop that gets nowhere is told so, slowed and stopped", stuck},
	{"an agent that waits for a person is not started again", waiting},
	{"a paused loop waits", paused},
	{"an iteration waits for its time", delayed},
	{"otherwise the next iteration begins", begin},
}

// Next returns what follows from a state: nothing where the loop has to wait for
// something to happen. It is pure.
func Next(s *State) []Decision {
	_, decisions := Why(s)
	return decisions
}

// Why returns the same decisions and the name of the rule that made them.
func Why(s *State) (rule string, decisions []Decision) {
	for _, row := range table {
		if decisions := row.rule(s); decisions != nil {
			return row.name, decisions
		}
	}
	return "", nil
}

var wait = []Decision{}

func record(p ...event.Payload) []Decision {
	decisions := make([]Decision, len(p))
	for i := range p {
		decisions[i].Record = p[i]
	}
	return decisions
}

func do(d event.Decided) []Decision { return []Decision{{Do: &d}} }
