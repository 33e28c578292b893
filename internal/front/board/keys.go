package board

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/inbox"
	"github.com/ralph-loop/ralph/internal/front/display"
	"github.com/ralph-loop/ralph/internal/front/listing"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/registry"
)

// Key is a key that was pressed. Text is what it types; it is empty for a key that types nothing,
// which Name names: "enter", "esc", "ctrl+c".
type Key struct{ Name, Text string }

// command is what a key is called where it types no text.
func (k Key) command() string {
	if k.Text != "" {
		return k.Text
	}
	return k.Name
}

// Effect is what a person asked for. The zero Effect is nothing.
type Effect struct {
	Do   Deed
	Loop registry.Status
	Call string // what to type for the loop
	// Commands are sent to the loop in this order. The next runner of a loop that is resumed takes
	// them.
	Commands []inbox.Command
	// Raise are the settings that a resume raises, with their new values.
	Raise map[string]string
}

// Deed is a kind of effect.
type Deed int

// The deeds.
const (
	Nothing Deed = iota
	Leave        // end the board
	Attach       // show the loop
	Send         // send commands to the loop's runner
	Resume       // start a runner for the loop
	Begin        // start a new loop, whose task is the text of the only command
	Dismiss      // the person has seen what the loop needs
	Peek         // read the end of the loop's conversation
)

// Press does what a key means now.
func (m *Model) Press(k Key) Effect {
	if k.Name == "ctrl+c" && m.mode == browsing {
		return Effect{Do: Leave}
	}
	m.notice = notice{}
	var effect Effect
	switch m.mode {
	case browsing:
		effect = m.browse(k.command())
	case filtering:
		m.typeFilter(k)
	case answering, steering:
		effect = m.typeText(k)
	case beginning:
		effect = m.typeTask(k)
	case peeking:
		effect = m.peekKey(k.command())
	case stopping:
		effect = m.confirmStop(k.command())
	case resuming:
		effect = m.confirmResume(k)
	case reading:
		m.turn(k.command())
	}
	m.scroll() // the list may have another height
	return effect
}

// Paste takes a text that came at once.
func (m *Model) Paste(text string) {
	switch m.mode {
	case filtering, answering, steering, beginning, resuming:
		m.Press(Key{Text: text})
	}
}

func (m *Model) browse(key string) Effect {
	switch key {
	case "q":
		return Effect{Do: Leave}
	case "esc":
		m.setFilter("")
	case "?":
		m.mode, m.page = reading, 0
	case "/":
		m.mode, m.input = filtering, display.NewLine(m.filter)
	case "n":
		m.mode, m.input = beginning, display.Line{}
	case "h":
		m.Here = !m.Here
		m.arrange()
	case "up", "k":
		m.move(-1)
	case "down", "j":
		m.move(1)
	case "pgup":
		m.move(-max(m.bodyHeight()/2, 1))
	case "pgdown":
		m.move(max(m.bodyHeight()/2, 1))
	case "home", "g":
		m.move(-len(m.items))
	case "end", "G":
		m.move(len(m.items))
	default:
		return m.act(key)
	}
	return Effect{}
}

// turn scrolls the manual, or leaves it.
func (m *Model) turn(key string) {
	switch key {
	case "down", "j":
		m.page++
	case "up", "k":
		m.page--
	case "pgdown":
		m.page += m.Height / 2
	case "pgup":
		m.page -= m.Height / 2
	default:
		m.mode = browsing
	}
}

// act does what a key means for the chosen loop.
func (m *Model) act(key string) Effect {
	l := m.chosen()
	if n := digit(key); n > 0 && l != nil && n <= choicesOf(l) {
		m.begin(answering, l)
		m.choose(n)
		return Effect{}
	}
	if l == nil || !slices.Contains([]string{"enter", "a", "s", "x", "p", "r", "d", "space", " "}, key) {
		return Effect{}
	}
	if key == "d" {
		return Effect{Do: Dismiss, Loop: l.Found, Call: l.Call}
	}
	if l.Gone || l.Error != "" {
		m.Say(fmt.Sprintf("%s is %s: nothing can be done with it here", nameOf(l), stateOf(l, m.snapshot.At)), true)
		return Effect{}
	}
	switch key {
	case "enter":
		return Effect{Do: Attach, Loop: l.Found, Call: l.Call}
	case "space", " ":
		m.mode, m.peeked = peeking, []string{"…"}
		return m.peek()
	case "a":
		m.beginAnswer(l)
	case "s":
		if !l.Alive {
			m.Say(nameOf(l)+" has no runner; a resumes it with a text", true)
			return Effect{}
		}
		m.begin(steering, l)
	case "x":
		if !l.Alive {
			m.Say(nameOf(l)+" has no runner: there is nothing to stop", true)
			return Effect{}
		}
		m.begin(stopping, l)
	case "p":
		return m.pauseOrResume(l)
	case "r":
		if l.Alive {
			return m.resumeLive(l)
		}
		m.begin(resuming, l)
	}
	return Effect{}
}

// peek reads the chosen loop for the peek at it.
func (m *Model) peek() Effect {
	if l := m.chosen(); l != nil && m.mode == peeking {
		return Effect{Do: Peek, Loop: l.Found, Call: l.Call}
	}
	return Effect{}
}

// Peeked takes the end of a loop's conversation, as clean lines.
func (m *Model) Peeked(file string, lines []string) {
	if m.mode == peeking && file == m.selected {
		m.peeked = lines
	}
}

// peekKey does what a key means while the chosen loop is peeked at: another loop is chosen, or it
// does what it does in the list.
func (m *Model) peekKey(key string) Effect {
	switch key {
	case "up", "k", "down", "j":
		m.browse(key)
		m.peeked = []string{"…"}
		return m.peek()
	case "esc", "space", " ", "q", "ctrl+c":
		m.mode = browsing
		return Effect{}
	}
	m.mode = browsing
	return m.browse(key)
}

// typeTask edits the task of a new loop, and begins it.
func (m *Model) typeTask(k Key) Effect {
	switch {
	case k.Text != "":
		m.input = m.input.Insert(k.Text)
	case k.Name == "esc", k.Name == "ctrl+c":
		m.finish()
	case k.Name != "enter":
		m.input, _ = m.input.Edit(k.Name)
	case strings.TrimSpace(m.input.String()) == "":
		m.Say("there is no task yet; esc leaves", true)
	default:
		task := strings.TrimSpace(m.input.String())
		m.finish()
		m.Say("a loop is being started…", false)
		return Effect{Do: Begin, Commands: []inbox.Command{{Kind: inbox.FollowUp, Text: task}}}
	}
	return Effect{}
}

// begin begins a question to the person about a loop.
func (m *Model) begin(mode mode, l *listing.Loop) {
	m.mode, m.input, m.about, m.asked, m.live = mode, display.Line{}, l.Found.File, questionOf(l), l.Alive
}

// digit is the number that a key types, from 1 to 9; 0 for any other key.
func digit(key string) int {
	if len(key) == 1 && key >= "1" && key <= "9" {
		return int(key[0] - '0')
	}
	return 0
}

// choicesOf is how many answers the agent of a loop expects to what it asks.
func choicesOf(l *listing.Loop) int {
	if l.Facts == nil || questionOf(l) != l.Facts.Asked.Number {
		return 0
	}
	return len(l.Facts.Asked.Choices)
}

// choose puts the nth answer that the agent expects into the line. A line of the person's own words
// stays.
func (m *Model) choose(n int) {
	l := m.loopOf(m.about)
	if l == nil || n > choicesOf(l) || m.asked != l.Facts.Asked.Number {
		return
	}
	if text := m.input.String(); text != "" && !slices.Contains(l.Facts.Asked.Choices, text) {
		m.Say("the line is not empty; ctrl+u clears it", true)
		return
	}
	m.input = display.NewLine(l.Facts.Asked.Choices[n-1])
}

// beginAnswer begins an answer to a loop that waits for one, or the text that resumes a loop.
func (m *Model) beginAnswer(l *listing.Loop) {
	if l.Alive && !held(l) && questionOf(l) == 0 {
		m.Say(nameOf(l)+" asks nothing; s steers its agent", true)
		return
	}
	m.begin(answering, l)
}

func (m *Model) pauseOrResume(l *listing.Loop) Effect {
	switch {
	case !l.Alive:
		m.Say(nameOf(l)+" has no runner; r resumes it", true)
		return Effect{}
	case held(l):
		return m.resumeLive(l)
	}
	return m.send(l, inbox.Command{Kind: inbox.Pause})
}

// held reports whether a loop has a runner that does nothing before a person resumes it.
func held(l *listing.Loop) bool {
	return l.WaitsForPerson() || l.Alive && l.Status == event.StatusPaused
}

// resumeLive resumes a loop that has a runner and is paused or waits for a person.
func (m *Model) resumeLive(l *listing.Loop) Effect {
	if !held(l) {
		m.Say(nameOf(l)+" is running: there is nothing to resume", true)
		return Effect{}
	}
	return m.send(l, inbox.Command{Kind: inbox.Resume})
}

func (m *Model) send(l *listing.Loop, commands ...inbox.Command) Effect {
	m.Say(fmt.Sprintf("%s: %s is being sent…", nameOf(l), commands[len(commands)-1].Kind), false)
	return Effect{Do: Send, Loop: l.Found, Call: l.Call, Commands: commands}
}

// typeFilter filters as the person types.
func (m *Model) typeFilter(k Key) {
	switch {
	case k.Text != "":
		m.input = m.input.Insert(strings.ReplaceAll(k.Text, "\n", " "))
	case k.Name == "enter":
		m.mode = browsing
		return
	case k.Name == "esc", k.Name == "ctrl+c":
		m.mode, m.input = browsing, display.Line{}
	case k.Name == "up":
		m.move(-1)
		return
	case k.Name == "down":
		m.move(1)
		return
	default:
		m.input, _ = m.input.Edit(k.Name)
	}
	m.setFilter(m.input.String())
}

func (m *Model) setFilter(text string) {
	m.filter = text
	m.arrange()
}

// typeText edits a text for an agent, and sends it.
func (m *Model) typeText(k Key) Effect {
	l := m.loopOf(m.about)
	switch {
	case k.Text != "":
		m.input = m.input.Insert(k.Text)
		return Effect{}
	case k.Name == "esc", k.Name == "ctrl+c", l == nil:
		m.finish()
		return Effect{}
	case m.mode == answering && digit(strings.TrimPrefix(k.Name, "alt+")) > 0:
		m.choose(digit(strings.TrimPrefix(k.Name, "alt+")))
		return Effect{}
	case k.Name != "enter":
		m.input, _ = m.input.Edit(k.Name)
		return Effect{}
	}
	text := strings.TrimSpace(m.input.String())
	switch {
	case text == "" && m.mode == steering:
		m.Say("there is no text yet; esc leaves", true)
		return Effect{}
	case text == "":
		m.Say("there is no text yet; r resumes without one, esc leaves", true)
		return Effect{}
	case !l.Alive && m.mode == steering:
		m.Say(nameOf(l)+" has ended meanwhile; esc leaves", true)
		return Effect{}
	case m.mode == answering && questionOf(l) > 0 && questionOf(l) != m.asked:
		m.asked = questionOf(l)
		m.Say(nameOf(l)+" asks something else now; enter again answers that, esc leaves", true)
		return Effect{}
	}
	mode, asked := m.mode, m.asked
	if !l.Alive {
		if m.mode = resuming; m.live {
			m.live = false
			m.Say(nameOf(l)+" has ended meanwhile", true)
		}
		return Effect{}
	}
	m.finish()
	switch {
	case mode == steering:
		return m.send(l, inbox.Command{Kind: inbox.Steer, Text: text})
	case asked > 0: // the runner refuses it if another person was faster
		return m.send(l, inbox.Command{Kind: inbox.Answer, Question: asked, Text: text})
	case held(l):
		return m.send(l, inbox.Command{Kind: inbox.Steer, Text: text}, inbox.Command{Kind: inbox.Resume})
	}
	return m.send(l, inbox.Command{Kind: inbox.Steer, Text: text}) // another person was faster
}

// confirmStop takes the answer to the question how a loop is stopped.
func (m *Model) confirmStop(key string) Effect {
	l := m.loopOf(m.about)
	m.finish()
	switch {
	case l == nil:
	case key == "enter":
		return m.send(l, inbox.Command{Kind: inbox.Stop})
	case key == "!":
		return m.send(l, inbox.Command{Kind: inbox.StopNow})
	case key == "ctrl+c", key == "esc", key == "n", key == "q":
	default:
		m.Say(nameOf(l)+" is left as it is", false)
	}
	return Effect{}
}

// confirmResume takes the answer to the question whether a loop is resumed, with the text that was
// typed. Any other key than enter is for the text again.
func (m *Model) confirmResume(k Key) Effect {
	l, text := m.loopOf(m.about), strings.TrimSpace(m.input.String())
	switch {
	case l != nil && l.Facts == nil && k.Name == "enter":
		return Effect{} // what it may use is not on the screen yet
	case l == nil, text == "":
		m.finish()
		if l == nil || k.Name != "enter" {
			return Effect{}
		}
		return m.resume(l)
	case l.Alive, k.Name != "enter":
		if m.mode = answering; k.Name == "esc" {
			return Effect{}
		}
		return m.typeText(k)
	}
	command := inbox.Command{Kind: inbox.FollowUp, Text: text}
	if m.asked > 0 && m.asked == questionOf(l) {
		command = inbox.Command{Kind: inbox.Answer, Question: m.asked, Text: text}
	}
	m.finish()
	return m.resume(l, command)
}

func (m *Model) resume(l *listing.Loop, commands ...inbox.Command) Effect {
	if l.Alive { // another person was faster
		return m.resumeLive(l)
	}
	m.Say(nameOf(l)+" is being resumed…", false)
	return Effect{Do: Resume, Loop: l.Found, Call: l.Call, Commands: commands, Raise: l.Facts.Raise}
}

// GiveBack lets a person edit a text again that was not sent, unless another question is open.
func (m *Model) GiveBack(e Effect) {
	if m.mode != browsing || len(e.Commands) == 0 || e.Commands[0].Text == "" {
		return
	}
	mode, first := answering, e.Commands[0]
	if e.Do == Begin {
		mode = beginning
	}
	if e.Do == Send && len(e.Commands) == 1 && first.Question == 0 {
		mode = steering
	}
	m.mode, m.input, m.about, m.asked, m.live = mode, display.NewLine(first.Text), e.Loop.File, first.Question, e.Loop.Live.Alive
	m.scroll()
}

// finish ends a question.
func (m *Model) finish() {
	m.mode, m.input, m.about, m.asked, m.live = browsing, display.Line{}, "", 0, false
}
