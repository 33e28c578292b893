package tui

import (
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/ralph-loop/ralph/inbox"
	"github.com/ralph-loop/ralph/render/transcript"
)

// sent is a command that this person sent, from the moment of typing.
type sent struct {
	number  int // in the order of typing
	command inbox.Command
	state   transcript.MessageState // empty until it is in the inbox
	note    string                  // what became of it
	failed  bool                    // it is not in the inbox
	until   time.Time               // when it is no longer shown; zero as long as it is not settled
}

// sentMsg says that a command is in the inbox, or why not.
type sentMsg struct {
	number int
	id     string
	err    error
}

// settledShown is how long the outcome of a command is shown above the line.
const settledShown = 6 * time.Second

// send puts commands into the inbox, in order, and shows them at once.
func (m *model) send(commands ...inbox.Command) tea.Cmd {
	put := m.o.Send
	var steps []tea.Cmd
	for _, c := range commands {
		m.numbered++
		number := m.numbered
		m.sent = append(m.sent, sent{number: number, command: c})
		steps = append(steps, func() tea.Msg {
			id, err := put(c)
			return sentMsg{number, id, err}
		})
	}
	return tea.Sequence(steps...)
}

// wasSent notes that a command is in the inbox. One that is not stays in the line.
func (m *model) wasSent(s sentMsg) {
	at := slices.IndexFunc(m.sent, func(c sent) bool { return c.number == s.number })
	if at < 0 {
		return
	}
	c := &m.sent[at]
	if s.err != nil {
		c.failed, c.note, c.until = true, s.err.Error(), m.now.Add(settledShown)
		m.say(toneFailure, "not sent: "+s.err.Error())
		if m.line.empty() && c.command.Kind.IsMessage() {
			m.line.set(c.command.Text)
		}
		return
	}
	c.command.ID, c.state = s.id, transcript.MessageQueued
	for _, e := range m.recent { // its outcome may have come first
		m.settle(e)
	}
}

// takeBack withdraws the last message that waits, which then is in the line again.
func (m *model) takeBack() tea.Cmd {
	if m.over {
		return nil
	}
	return m.send(inbox.Command{Kind: inbox.TakeBack})
}

// settle notes what became of a command.
func (m *model) settle(e transcript.Entry) {
	message, ok := e.Body.(transcript.Message)
	if !ok || message.ID == "" || message.State == transcript.MessageQueued {
		return
	}
	for i := range m.sent {
		c := &m.sent[i]
		if c.command.Kind == inbox.TakeBack && c.state != transcript.MessageDelivered && message.State == transcript.MessageWithdrawn && m.line.empty() {
			m.line.set(message.Text)
		}
		if c.command.ID == message.ID && c.until.IsZero() {
			c.state, c.note, c.until = message.State, message.Became().String(), m.now.Add(settledShown)
		}
	}
}

// forget removes the commands whose outcome was shown long enough.
func (m *model) forget() {
	m.sent = slices.DeleteFunc(m.sent, func(c sent) bool { return !c.until.IsZero() && !m.now.Before(c.until) })
}

// outstandingMost is how many commands are shown above the line.
const outstandingMost = 3

// outstanding are the lines about commands that this person sent.
func (m *model) outstanding() (lines []string) {
	for _, c := range m.sent[max(len(m.sent)-outstandingMost, 0):] {
		what := string(c.command.Kind)
		if text := describe(c.command); text != "" {
			what += "  " + text
		}
		state, style := c.note, m.theme.Dim
		switch {
		case c.failed, c.state == transcript.MessageRefused:
			style = m.theme.Failure
		case c.state == transcript.MessageDelivered:
			style = m.theme.Good
		case c.state == transcript.MessageWithdrawn:
		case c.state == "":
			state = "sending"
		default:
			state = "queued"
		}
		lines = append(lines, m.pair("↑ "+what, state, m.theme.Person, style))
	}
	return lines
}

// describe is what a command says, in one line.
func describe(c inbox.Command) string {
	if c.Kind == inbox.Set {
		return c.Key + " " + c.Value
	}
	return strings.Join(strings.Fields(c.Text), " ")
}

// unsent returns the messages that the loop has not taken, after it has ended. Commands that it did
// not take are withdrawn from the inbox.
func unsent(dir string, all []sent) (texts []string) {
	for _, c := range all {
		if !c.command.Kind.IsMessage() || c.state == transcript.MessageDelivered || c.state == transcript.MessageWithdrawn {
			continue
		}
		taken := false
		if c.command.ID != "" && c.state == transcript.MessageQueued {
			withdrawn, err := inbox.Withdraw(dir, c.command.ID)
			taken = err != nil || !withdrawn // the loop's next runner gets it
		}
		if !taken {
			texts = append(texts, c.command.Text)
		}
	}
	return texts
}
