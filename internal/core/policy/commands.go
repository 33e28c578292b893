package policy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/journal/event"
)

// Commands holds what people asked for. Every command is answered once: delivered, refused or
// withdrawn. A steer, or the answer to a question, goes into the running turn if the agent can take
// it there, else into the next prompt; a follow-up waits for the next prompt. A message that was
// sent into a turn and not confirmed by the turn's end waits again: no message is lost. A message
// that reached a refunded iteration, or an agent that did not work, is repeated in the next one.
// One that waits can be withdrawn. Stop, pause and kill take effect when they are answered, in the
// order in which they came, and last until they are fulfilled or another runner resumes the loop.
type Commands struct {
	// Open are the unanswered commands, oldest first.
	Open []Message `json:"open,omitempty"`
	// Delivered are the messages that the open iteration's agent was given. If it did not read
	// them, the next prompt repeats them, because its context is fresh: they are Again.
	Delivered []Message `json:"delivered,omitempty"`
	Again     []Message `json:"again,omitempty"`
	// Stopping is the end that a person asked for: stop, stop-now or kill; the strongest wins.
	Stopping event.CommandKind `json:"stopping,omitempty"`
	// Signal says that the stop came from a signal in the foreground.
	Signal bool `json:"signal,omitempty"`
	// Pausing says that the loop should pause between two iterations.
	Pausing bool `json:"pausing,omitempty"`
	// Seen are the ids of the latest commands, so that one whose file outlived a crash is not taken
	// twice. The runner removes each file right after its receipt is on disk, so that at most one
	// pass of the inbox is left after a crash.
	Seen []string `json:"seen,omitempty"`
}

// Message is one command that waits for its answer.
type Message struct {
	ID   string            `json:"id"`
	Kind event.CommandKind `json:"kind"`
	Text string            `json:"text,omitempty"`
	Key  string            `json:"key,omitempty"`
	Val  string            `json:"value,omitempty"`
	From string            `json:"from,omitempty"`
	// Choices and Blocks are those of an ask.
	Choices []string `json:"choices,omitempty"`
	Blocks  bool     `json:"blocks,omitempty"`
	// Question is the number that an answer is for. Bound says that question.answered is recorded:
	// Text is then what the agent is given.
	Question int  `json:"question,omitempty"`
	Bound    bool `json:"bound,omitempty"`
	// Host and Epoch are those of a fence; Epoch, 0 for any, is also what the sender of another
	// command saw.
	Host  string `json:"host,omitempty"`
	Epoch uint64 `json:"epoch,omitempty"`
	// Unauthorized says why its sender may not give it.
	Unauthorized string `json:"unauthorized,omitempty"`
	// Sent says that it was put into the running turn and not confirmed yet.
	Sent bool `json:"sent,omitempty"`
	// Held says that the running turn did not take it: it waits for the next prompt.
	Held bool `json:"held,omitempty"`
	// Stale says that it was a signal to an earlier runner.
	Stale bool `json:"stale,omitempty"`
	// Prompt is the iteration whose prompt holds it, 0 for none.
	Prompt int `json:"prompt,omitempty"`
}

// FromSignal is the sender of a command that was a signal to the runner. Only the runner may use
// it: a file with this sender has an unknown one.
const FromSignal = "signal"

// FromPullRequest begins the sender of a review comment on the loop's pull request. Its text is
// foreign.
const FromPullRequest = "pr:"

// IsComment reports whether the message is a review comment.
func (m Message) IsComment() bool { return strings.HasPrefix(m.From, FromPullRequest) }

// Sender returns the sender of a command from a file, which cannot be FromSignal.
func Sender(from string) string {
	if from == FromSignal {
		return "a file"
	}
	return from
}

const (
	seenKept = 1024
	// MaxOpen is how many messages may wait, and MaxBytes how long they may be together; more are
	// refused. Every checkpoint contains them.
	MaxOpen  = 256
	MaxBytes = 1 << 20
)

var strength = map[event.CommandKind]int{event.CommandStop: 1, event.CommandStopNow: 2, event.CommandKill: 3}

// Has reports whether the command with that id was received before.
func (m *Commands) Has(id string) bool { return slices.Contains(m.Seen, id) }

// Apply folds one event. was is the loop before it.
func (m *Commands) Apply(by string, p event.Payload, was *Lifecycle) {
	switch p := p.(type) {
	case event.CommandReceived:
		if strings.HasPrefix(by, "inbox") {
			p.From = Sender(p.From)
		}
		m.receive(p)
	case event.CommandDelivered:
		m.deliver(p.ID)
		m.answer(p.ID)
	case event.CommandRefused:
		m.answer(p.ID)
	case event.CommandWithdrawn:
		m.answer(p.ID)
	case event.QuestionAnswered:
		m.edit(p.Command, func(c *Message) { c.Text, c.Bound = p.Message(), true })
	case event.Decided:
		if p.Do == event.DoSteer {
			m.edit(p.Command, func(c *Message) { c.Sent = true })
		}
	case event.EffectFailed:
		if p.Do == event.DoSteer {
			m.edit(p.Command, func(c *Message) { c.Sent, c.Held = false, true })
		}
	case event.IterationStarted:
		m.Delivered, m.Again = m.Again, nil
		for _, id := range p.Commands {
			m.edit(id, func(c *Message) { c.Prompt = p.N })
		}
	case event.IterationEnded:
		if was.unread(p) {
			m.Again = m.Delivered
		}
		m.Delivered = nil
		for i := range m.Open {
			m.Open[i].Sent, m.Open[i].Held, m.Open[i].Prompt = false, false, 0
		}
	case event.LoopPaused:
		m.Pausing = true
	case event.LoopUnpaused, event.LoopWaited:
		m.Pausing = m.Pausing && !resumedByPerson(p)
	case event.LoopResumed:
		m.resume()
	}
}

// resume forgets the commands that took effect. This runner answers a command that the previous one
// received and did not answer. A signal is refused: it was meant for the previous runner.
func (m *Commands) resume() {
	m.Stopping, m.Signal, m.Pausing = "", false, false
	for i := range m.Open {
		m.Open[i].Stale = m.Open[i].From == FromSignal
	}
}

func (m *Commands) receive(p event.CommandReceived) {
	m.Seen = append(m.Seen, p.ID)
	if len(m.Seen) > seenKept {
		m.Seen = slices.Delete(m.Seen, 0, len(m.Seen)-seenKept)
	}
	m.Open = append(m.Open, Message{
		ID: p.ID, Kind: p.Kind, Text: p.Text, Key: p.Key, Val: p.Val, From: p.From,
		Choices: p.Choices, Blocks: p.Blocks, Question: p.Question, Host: p.Host, Epoch: p.Epoch, Unauthorized: unauthorized(p),
	})
}

// deliver lets a command take effect, and notes the messages that the agent has, bounded like open
// ones. A command takes effect when it is answered, not when it is received: otherwise one that
// came just before its runner died would be forgotten, and a resume would end a later pause.
func (m *Commands) deliver(id string) {
	at := slices.IndexFunc(m.Open, func(c Message) bool { return c.ID == id })
	if at < 0 {
		return
	}
	c := m.Open[at]
	switch {
	case c.Kind == event.CommandPause:
		m.Pausing = true
	case strength[c.Kind] > 0:
		if strength[c.Kind] > strength[m.Stopping] {
			m.Stopping = c.Kind
		}
		m.Signal = m.Signal || c.From == FromSignal
	case c.Kind.IsMessage():
		length := len(c.Text)
		for _, other := range m.Delivered {
			length += len(other.Text)
		}
		if len(m.Delivered) < MaxOpen && length <= MaxBytes {
			m.Delivered = append(m.Delivered, Message{ID: c.ID, Kind: c.Kind, Text: c.Text, From: c.From})
		}
	}
}

func (m *Commands) answer(id string) {
	m.Open = slices.DeleteFunc(m.Open, func(c Message) bool { return c.ID == id })
}

func (m *Commands) edit(id string, change func(*Message)) {
	for i := range m.Open {
		if m.Open[i].ID == id {
			change(&m.Open[i])
		}
	}
}

// Withdrawn returns the message that a withdraw takes back. If there is none, why is the reason.
func (m *Commands) Withdrawn(w Message) (target Message, why string) {
	for _, c := range m.Open {
		mine := c.ID == w.Key || w.Key == "" && c.From == w.From
		if mine && (c.Kind == event.CommandSteer || c.Kind == event.CommandFollowUp) && c.Unauthorized == "" {
			target = c
		}
	}
	switch {
	case target.ID == "" && w.Key == "":
		why = "no message of yours waits: the agent has them all"
	case target.ID == "":
		why = "this message does not wait any more"
	case target.Sent:
		why = "the message is on its way into the turn of the agent"
	case target.Prompt > 0:
		why = fmt.Sprintf("the message is in the prompt of iteration %d", target.Prompt)
	}
	return target, why
}

// Pending names an accepted stop or pause that has not happened yet; empty if there is none. n is
// the open iteration, or 0.
func (m *Commands) Pending(n int) string {
	after := ""
	if n > 0 {
		after = fmt.Sprintf(" after iteration %d", n)
	}
	switch {
	case m.Stopping.EndsNow():
		return "stopping now"
	case m.Stopping == event.CommandStop:
		return "stopping" + after
	case m.Pausing:
		return "pausing" + after
	}
	return ""
}

// Messages returns the steers, follow-ups and answers that are in no prompt and no turn, oldest
// first.
func (m *Commands) Messages() []Message {
	var words []Message
	for _, c := range m.Open {
		if c.Kind.IsMessage() && c.Unauthorized == "" && !c.Sent && c.Prompt == 0 && (c.Bound || c.Kind != event.CommandAnswer) {
			words = append(words, c)
		}
	}
	return words
}

// Unread says for each message that no agent has read that it is missing.
func (m *Commands) Unread() (missing []string) {
	for _, message := range m.Open {
		if message.Kind.IsMessage() {
			missing = append(missing, "a message has not been read yet: "+lastBytes(message.Text, 200))
		}
	}
	return missing
}
