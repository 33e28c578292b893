package policy

import (
	"fmt"
	"slices"

	"github.com/ralph-loop/ralph/journal/event"
)

// Person says whether the loop needs one. An agent that waits for something only a person can
// do says so by its exit code (restart.waitExitCode), by the file WAIT_WITHOUT_RESTART in
// the loop's folder, or by a message of the kind wait: it is not started again until a
// person resumes the loop, or the loop ends where nobody is there to do so. A file that lies there when
// an iteration begins was answered by whoever let it begin. An agent that
// cannot go on without an answer says <blocked>why</blocked> alone on a line of its
// final message, or sends a message of the kind blocked: the loop ends with the reason.
type Person struct {
	Waits   string `json:"waits,omitempty"`   // why the agent waits
	Blocked string `json:"blocked,omitempty"` // why it cannot go on
	// Asked are messages that have no answer yet. They take effect when they are answered: a resume
	// that came before does not take them back, and a runner that dies leaves them to the next one.
	Asked []Request `json:"asked,omitempty"`
	// Opening says that the next iteration is being begun: a file that lies there is an old one.
	Opening bool `json:"opening,omitempty"`
}

// Request is a message by which an agent asks for a person.
type Request struct {
	ID   string `json:"id"`
	Kind string `json:"kind"`
	Why  string `json:"why"`
}

// askedMost bounds what is kept: messages are answered as soon as they come.
const askedMost = 64

// Words of the inbox by which an agent asks for a person.
const (
	Wait    = "wait"
	Blocked = "blocked"
)

// whyMost bounds what is kept of an agent's reason.
const whyMost = 1000

// Apply folds one event. The rules are those in force when it happened.
func (p *Person) Apply(e event.Event, r event.Rules) error {
	switch e.Type {
	case event.TypeLoopUnpaused, event.TypeLoopResumed:
		*p = Person{Asked: p.Asked}
	case event.TypeCommandDelivered:
		d, err := event.As[event.CommandDelivered](e)
		if err != nil {
			return err
		}
		p.obey(d.ID)
	case event.TypeDecided:
		d, err := event.As[event.Decided](e)
		if err != nil {
			return err
		}
		if d.Do == event.DoBegin {
			p.Opening = true
		}
	case event.TypeIterationStarted, event.TypeEffectFailed:
		p.Opening = false
	case event.TypeAgentExited:
		exit, err := event.As[event.AgentExited](e)
		if err != nil {
			return err
		}
		if waitExit(exit, r) {
			p.Waits = fmt.Sprintf("the agent exited with code %d", exit.Code)
		}
	case event.TypeFolderSeen:
		seen, err := event.As[event.FolderSeen](e)
		if err != nil {
			return err
		}
		if seen.Wait && !p.Opening {
			p.Waits = "the agent left the file WAIT_WITHOUT_RESTART"
			if seen.Text != "" && !seen.Done {
				p.Waits += ": " + firstBytes(seen.Text, whyMost)
			}
		}
	case event.TypeCommandReceived:
		c, err := event.As[event.CommandReceived](e)
		if err != nil {
			return err
		}
		if (c.Kind == Wait || c.Kind == Blocked) && len(p.Asked) < askedMost {
			p.Asked = append(p.Asked, Request{c.ID, c.Kind, firstBytes(c.Text, whyMost)})
		}
	}
	return nil
}

// obey lets a message take effect.
func (p *Person) obey(id string) {
	at := slices.IndexFunc(p.Asked, func(r Request) bool { return r.ID == id })
	if at < 0 {
		return
	}
	r := p.Asked[at]
	p.Asked = slices.Delete(slices.Clone(p.Asked), at, at+1)
	switch r.Kind {
	case Wait:
		p.Waits = orElse(r.Why, "the agent asked for a person")
	case Blocked:
		p.Blocked = orElse(r.Why, "the agent did not say by what")
	}
}

// waitExit reports whether this is how an agent says that it waits for a person.
func waitExit(exit event.AgentExited, r event.Rules) bool {
	return r.WaitExitCode != 0 && exit.Code == r.WaitExitCode && exit.Signal == ""
}
