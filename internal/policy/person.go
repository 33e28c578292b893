package policy

import (
	"fmt"
	"strconv"

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
	// Asked is the last message by which the agent asked, until that is answered: a runner that dies
	// before leaves it to the next one, and a resume that came before it does not take it back.
	Asked string `json:"asked,omitempty"`
	// Opening says that the next iteration is being begun: a file that lies there is an old one.
	Opening bool `json:"opening,omitempty"`
}

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
		if p.Asked == "" {
			*p = Person{}
		}
		p.Opening = false
	case event.TypeCommandDelivered:
		if string(e.Field("id")) == strconv.Quote(p.Asked) {
			p.Asked = ""
		}
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
		switch c.Kind {
		case Wait:
			p.Asked = c.ID
			p.Waits = orElse(firstBytes(c.Text, whyMost), "the agent asked for a person")
		case Blocked:
			p.Asked = c.ID
			p.Blocked = orElse(firstBytes(c.Text, whyMost), "the agent did not say by what")
		}
	}
	return nil
}

// waitExit reports whether this is how an agent says that it waits for a person.
func waitExit(exit event.AgentExited, r event.Rules) bool {
	return r.WaitExitCode != 0 && exit.Code == r.WaitExitCode && exit.Signal == ""
}
