package policy

import (
	"cmp"
	"fmt"

	"github.com/ralph-loop/ralph/journal/event"
)

// Escalation says whether the loop needs a person. An agent asks for one by its exit code
// (restart.waitExitCode), by the file WAIT_WITHOUT_RESTART in the loop's folder, or by the command
// wait: it is not started again until a person resumes the loop, or the loop ends if it runs
// unattended. A file that exists before an iteration begins is an old one. An agent that cannot
// continue without an answer writes <blocked>why</blocked> alone on a line of its final message, or
// sends the command blocked: the loop ends with the reason.
type Escalation struct {
	Waits   string `json:"waits,omitempty"`   // why the agent waits
	Blocked string `json:"blocked,omitempty"` // why it cannot go on
	// Asked is the agent's last unanswered command: if the runner dies before it answers, the next
	// one answers, and an earlier resume does not end the wait.
	Asked string `json:"asked,omitempty"`
}

// whyMost bounds the kept part of an agent's reason.
const whyMost = 1000

// Apply folds one event. was is the loop before it.
func (p *Escalation) Apply(happened event.Payload, was *Lifecycle) {
	switch e := happened.(type) {
	case event.LoopUnpaused, event.LoopWaited, event.LoopResumed:
		_, resumed := e.(event.LoopResumed)
		if p.Asked == "" && (resumed || resumedByPerson(happened)) {
			*p = Escalation{}
		}
	case event.CommandDelivered:
		if e.ID == p.Asked {
			p.Asked = ""
		}
	case event.AgentExited:
		if waitExit(e, was.Rules) {
			p.Waits = fmt.Sprintf("the agent exited with code %d", e.Code)
		}
	case event.FolderInspected:
		if e.Wait && was.Phase != Beginning { // it existed before the iteration: an old one
			p.Waits = "the agent left the file WAIT_WITHOUT_RESTART"
			if e.Text != "" && !e.Done {
				p.Waits += ": " + firstBytes(e.Text, whyMost)
			}
		}
	case event.CommandReceived:
		if unauthorized(e) != "" {
			return
		}
		switch e.Kind {
		case event.CommandWait:
			p.Asked = e.ID
			p.Waits = cmp.Or(firstBytes(e.Text, whyMost), "the agent asked for a person")
		case event.CommandBlocked:
			p.Asked = e.ID
			p.Blocked = cmp.Or(firstBytes(e.Text, whyMost), "the agent did not say by what")
		}
	}
}

// waitExit reports whether this is how an agent says that it waits for a person.
func waitExit(exit event.AgentExited, r event.Rules) bool {
	return r.Restart.WaitExitCode != 0 && exit.Code == r.Restart.WaitExitCode && exit.Signal == ""
}
