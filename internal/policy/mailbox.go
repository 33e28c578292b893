package policy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/journal/event"
)

// Mailbox holds what people asked for and what has become of it. Every command
// is answered once: delivered or refused. A steer goes into the running turn where
// the agent can take it there, else into the next prompt; a follow-up waits for the next
// prompt. What was sent into a turn and not confirmed when the turn was over
// waits again, so that it is never lost; what reached an iteration that was given back is told
// again in the next. Stop, pause and kill are wishes that
// take effect when they are answered, in the order in which they came, and stay until
// they are fulfilled or a new runner takes the loop up.
type Mailbox struct {
	// Open are the commands that nobody has answered yet, oldest first.
	Open []Message `json:"open,omitempty"`
	// Told are the words that the open iteration's agent was given. Where that iteration is given back, the
	// next one's prompt says them Again: its context is a fresh one, and nothing came of the other.
	Told  []Message `json:"told,omitempty"`
	Again []Message `json:"again,omitempty"`
	// Stopping is what kind of end a person asked for: stop, stop-now or kill; the
	// strongest wins.
	Stopping string `json:"stopping,omitempty"`
	// Signal says that the wish to stop came from a signal in the foreground.
	Signal bool `json:"signal,omitempty"`
	// Pausing says that the loop should rest between two iterations.
	Pausing bool `json:"pausing,omitempty"`
	// Seen are the ids of the latest commands, so that one whose file outlived a
	// crash is not taken twice. The runner removes each file right after its receipt
	// is on disk, so that no more than a pass of the inbox can be left over.
	Seen []string `json:"seen,omitempty"`
}

// Message is one command that waits for its answer.
type Message struct {
	ID   string `json:"id"`
	Kind string `json:"kind"`
	Text string `json:"text,omitempty"`
	Key  string `json:"key,omitempty"`
	Val  string `json:"value,omitempty"`
	From string `json:"from,omitempty"`
	// Sent says that it was put into the running turn and not confirmed yet.
	Sent bool `json:"sent,omitempty"`
	// Held says that the running turn did not take it: it waits for the next prompt.
	Held bool `json:"held,omitempty"`
	// Stale says that it was a signal to a runner that is gone.
	Stale bool `json:"stale,omitempty"`
	// Prompt is the iteration whose prompt holds it, 0 for none.
	Prompt int `json:"prompt,omitempty"`
}

// Kinds of commands: the words of the inbox.
const (
	Steer    = "steer"
	FollowUp = "follow-up"
	Stop     = "stop"
	StopNow  = "stop-now"
	Pause    = "pause"
	Resume   = "resume"
	Set      = "set"
	Kill     = "kill"
)

// FromSignal marks a command that a signal to the runner stands for. Only the runner itself may say so: of a file that
// says it, the sender is not known.
const FromSignal = "signal"

// Sender is who a command's file says that it is from, without what it cannot know.
func Sender(from string) string {
	if from == FromSignal {
		return "a file"
	}
	return from
}

const (
	seenKept = 1024
	// MaxOpen is how many messages may wait, and MaxBytes how long they may be
	// together; more are refused. Both stand in every checkpoint.
	MaxOpen  = 256
	MaxBytes = 1 << 20
)

var strength = map[string]int{Stop: 1, StopNow: 2, Kill: 3}

// Has reports whether the command with that id was received before.
func (m *Mailbox) Has(id string) bool { return slices.Contains(m.Seen, id) }

// Apply folds one event.
func (m *Mailbox) Apply(e event.Event) error {
	switch e.Type {
	case event.TypeCommandReceived:
		p, err := event.As[event.CommandReceived](e)
		if err != nil {
			return err
		}
		if strings.HasPrefix(e.By(), "inbox") {
			p.From = Sender(p.From)
		}
		m.receive(p)
	case event.TypeCommandDelivered:
		p, err := event.As[event.CommandDelivered](e)
		if err != nil {
			return err
		}
		m.obey(p.ID)
		m.tell(p)
		m.answer(p.ID)
	case event.TypeCommandRefused:
		p, err := event.As[event.CommandRefused](e)
		if err != nil {
			return err
		}
		m.answer(p.ID)
	case event.TypeDecided:
		p, err := event.As[event.Decided](e)
		if err != nil {
			return err
		}
		if p.Do == event.DoSteer {
			m.edit(p.Command, func(c *Message) { c.Sent = true })
		}
	case event.TypeEffectFailed:
		p, err := event.As[event.EffectFailed](e)
		if err != nil {
			return err
		}
		if p.Do == event.DoSteer {
			m.edit(p.Command, func(c *Message) { c.Sent, c.Held = false, true })
		}
	case event.TypeIterationStarted:
		p, err := event.As[event.IterationStarted](e)
		if err != nil {
			return err
		}
		m.Told, m.Again = m.Again, nil
		for _, id := range p.Commands {
			m.edit(id, func(c *Message) { c.Prompt = p.N })
		}
	case event.TypeIterationEnded:
		p, err := event.As[event.IterationEnded](e)
		if err != nil {
			return err
		}
		if p.Refunded {
			m.Again = m.Told
		}
		m.Told = nil
		for i := range m.Open {
			m.Open[i].Sent, m.Open[i].Held, m.Open[i].Prompt = false, false, 0
		}
	case event.TypeLoopPaused:
		m.Pausing = true
	case event.TypeLoopUnpaused:
		m.Pausing = false
	case event.TypeLoopResumed:
		m.resume()
	}
	return nil
}

// resume forgets the wishes that were granted. One that the runner before had received
// and not answered is answered by this one; a signal was meant for the runner that it
// reached, and is refused.
func (m *Mailbox) resume() {
	m.Stopping, m.Signal, m.Pausing = "", false, false
	for i := range m.Open {
		m.Open[i].Stale = m.Open[i].From == FromSignal
	}
}

func (m *Mailbox) receive(p event.CommandReceived) {
	m.Seen = append(m.Seen, p.ID)
	if len(m.Seen) > seenKept {
		m.Seen = slices.Delete(m.Seen, 0, len(m.Seen)-seenKept)
	}
	m.Open = append(m.Open, Message{ID: p.ID, Kind: p.Kind, Text: p.Text, Key: p.Key, Val: p.Val, From: p.From})
}

// tell notes the words that an agent has. They are bounded as those are that wait.
func (m *Mailbox) tell(p event.CommandDelivered) {
	length := 0
	for _, c := range m.Told {
		length += len(c.Text)
	}
	for _, c := range m.Open {
		if c.ID == p.ID && (c.Kind == Steer || c.Kind == FollowUp) && len(m.Told) < MaxOpen && length+len(c.Text) <= MaxBytes {
			m.Told = append(m.Told, Message{ID: c.ID, Kind: c.Kind, Text: c.Text, From: c.From})
		}
	}
}

// obey takes a wish for granted. It is not done when the wish comes: one that came
// just before its runner died would be forgotten, and a resume would
// take back a pause that came behind it.
func (m *Mailbox) obey(id string) {
	for _, c := range m.Open {
		if c.ID != id {
			continue
		}
		switch c.Kind {
		case Stop, StopNow, Kill:
			if strength[c.Kind] > strength[m.Stopping] {
				m.Stopping = c.Kind
			}
			m.Signal = m.Signal || c.From == FromSignal
		case Pause:
			m.Pausing = true
		}
	}
}

func (m *Mailbox) answer(id string) {
	m.Open = slices.DeleteFunc(m.Open, func(c Message) bool { return c.ID == id })
}

func (m *Mailbox) edit(id string, change func(*Message)) {
	for i := range m.Open {
		if m.Open[i].ID == id {
			change(&m.Open[i])
		}
	}
}

// Pending says what people asked for and the loop has taken, but not yet done, with iteration n open; n is 0 where
// none is. It is empty where nothing is.
func (m *Mailbox) Pending(n int) string {
	after := ""
	if n > 0 {
		after = fmt.Sprintf(" after iteration %d", n)
	}
	switch {
	case m.Stopping == StopNow || m.Stopping == Kill:
		return "stopping now"
	case m.Stopping == Stop:
		return "stopping" + after
	case m.Pausing:
		return "pausing" + after
	}
	return ""
}

// Words returns the steers and follow-ups that no prompt holds and no turn has
// been given, oldest first.
func (m *Mailbox) Words() []Message {
	var words []Message
	for _, c := range m.Open {
		if (c.Kind == Steer || c.Kind == FollowUp) && !c.Sent && c.Prompt == 0 {
			words = append(words, c)
		}
	}
	return words
}
