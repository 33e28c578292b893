package attach

import (
	"context"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/ralph-loop/ralph/client"

	"github.com/ralph-loop/ralph/inbox"
	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/projector"
	"github.com/ralph-loop/ralph/registry"
	"github.com/ralph-loop/ralph/render"
	"github.com/ralph-loop/ralph/render/tui"
)

// input is the state of the keyboard: what is being typed, what was sent and not taken by the loop,
// and, once the loop is over, the person's answer to the offer to resume it.
type input struct {
	mu   sync.Mutex
	keys *lineEditor
	sent []sentCommand // without those that are delivered or refused
	over bool          // the loop is over: nothing is sent any more

	offered string // the line about which the person was asked whether it resumes the loop

	// answer is a line that was sent after that, or empty to leave. It is closed if the keyboard is
	// gone.
	answer chan string
}

// sentCommand is a command that was put into the inbox.
type sentCommand struct {
	inbox.Command

	refused bool
}

func newInput() *input { return &input{keys: newLineEditor(), answer: make(chan string, 1)} }

// listen reads the keyboard until the person leaves.
func (a *session) listen(leave context.CancelCauseFunc) {
	buf := make([]byte, 4096)
	for {
		n, err := a.Stdin.Read(buf)
		left := a.handleKeys(buf[:n])
		if err != nil && !left { // the terminal is gone
			close(a.input.answer)
		}
		if err != nil || left {
			leave(errLeft)
			return
		}
	}
}

// handleKeys processes what was typed, and reports whether the person leaves, or has answered the
// offer after the end of the loop.
func (a *session) handleKeys(typed []byte) (done bool) {
	t := a.input
	t.mu.Lock()
	defer t.mu.Unlock()
	defer a.showLine()
	for _, b := range typed {
		line, does := t.keys.key(b)
		if t.over && b == 3 { // ctrl-c leaves, although the line is not empty
			does = actionLeave
		}
		switch {
		case does == actionSuspend:
			a.suspend()
		case does == actionLeave || does == actionSend && leaving(line):
			if t.over {
				t.answer <- ""
			}
			return true
		case does == actionSend && t.over:
			text := a.textFor(line)
			if text != "" && line == t.offered {
				t.answer <- text
				return true
			}
			if t.offered = ""; text != "" { // the line may have been meant for the loop as it ran
				t.offered = line
				t.keys.insert(line)
				a.screen.say("ralph: " + render.AskResume("loop "+a.name, a.loop().More, true) + " · enter again resumes it, ctrl-c leaves")
			}
		case does == actionSend:
			a.sendLine(line)
		}
	}
	return false
}

// showLine draws what is typed. The input's lock is held.
func (a *session) showLine() {
	a.input.keys.settle()
	a.screen.typed(a.input.keys.line, a.input.keys.pos)
}

// suspend gives the terminal to the shell. SIGCONT takes it back. If no shell stops this program,
// no SIGCONT comes, and a timer takes the terminal back.
func (a *session) suspend() {
	a.screen.suspend()
	suspendSelf()
	time.AfterFunc(notStopped, a.screen.unstopped)
}

// notStopped is how long to wait for the program to be stopped.
const notStopped = 300 * time.Millisecond

// leaving reports whether a line is a command to leave.
func leaving(line string) bool { return line == "/detach" || line == "/quit" || line == "/exit" }

// sendLine sends a typed line. Its outcome is an event in the journal.
func (a *session) sendLine(line string) {
	typed := tui.Parse(line, a.loop())
	switch {
	case typed.Help:
		a.screen.say(attachHelp)
		return
	case typed.Problem != "":
		a.screen.say("ralph: " + typed.Problem)
		return
	}
	for _, command := range typed.Commands {
		id, err := client.Drop(a.name, a.dir, command)
		if err != nil {
			a.screen.say("ralph: error: " + render.Clean(err.Error()))
			return
		}
		command.ID = id
		a.input.sent = append(a.input.sent, sentCommand{Command: command})
	}
}

// loop reads the loop as it is now, whose questions an answer may be about.
func (a *session) loop() (v projector.View) {
	if loop, err := projector.Load(a.dir); err == nil {
		v = loop.View()
	}
	return v
}

// noteOutcome notes the outcome of what was sent. A command that is refused in the loop's last
// moments, because it ends, is kept for a resume.
func (a *session) noteOutcome(ev event.Event) {
	t := a.input
	if t == nil || a.ended != nil {
		return
	}
	payload, _ := event.Decode(ev)
	delivered, _ := payload.(event.CommandDelivered)
	withdrawn, _ := payload.(event.CommandWithdrawn)
	refused, isRefused := payload.(event.CommandRefused)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.sent = slices.DeleteFunc(t.sent, func(c sentCommand) bool {
		return c.ID == delivered.ID || c.ID == withdrawn.ID || c.refused && !isRefused // the loop goes on after it refused
	})
	for i := range t.sent {
		t.sent[i].refused = t.sent[i].refused || t.sent[i].ID == refused.ID
	}
}

// unsent returns what a person was typing, or had sent, when the loop ended: the text for a resume.
// Commands that the loop has not taken are withdrawn. Nothing is sent from now on.
func (a *session) unsent() string {
	t := a.input
	if t == nil {
		return ""
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.over = true
	for _, c := range slices.Backward(t.sent) {
		withdrawn, err := inbox.Withdraw(a.dir, c.ID)
		switch {
		case (err != nil || !withdrawn) && !c.refused: // the loop's next runner gets it
		case c.Kind.IsMessage():
			t.keys.insert(c.Text)
		case !c.refused: // else the event is shown
			a.screen.say(fmt.Sprintf("ralph: loop %s ended before it took the %s, which is withdrawn", a.name, c.Kind))
		}
	}
	t.sent = nil
	a.showLine()
	return t.keys.line
}

// textFor returns the text of a line for a resume; it is empty if the line is another command.
func (a *session) textFor(line string) string {
	if commands := tui.Parse(line, a.loop()).Commands; len(commands) > 0 && commands[0].Kind.IsMessage() {
		return commands[0].Text
	}
	a.sayOffer("a line of words and enter resume it")
	return ""
}

// sayOffer prints how the loop can be resumed.
func (a *session) sayOffer(how string) {
	what := "has ended"
	if a.ended == nil {
		what = "has no runner any more"
	}
	a.screen.say(fmt.Sprintf("ralph: loop %s %s; %s, ctrl-c leaves", a.name, what, how))
}

// offer keeps what was typed when the loop ended until the person sends it, which resumes the loop
// with it, or leaves. ended is what attach returns otherwise.
func (a *session) offer(text string, signals <-chan os.Signal, ended error) error {
	a.screen.footer("", nil)
	a.sayOffer("enter resumes it with these words")
	answer := ""
	select {
	case answer = <-a.input.answer:
	case <-signals:
	}
	a.screen.restore()
	if answer == "" {
		return ended
	}
	resumed, kept, err := a.resume(answer, a.loop().Raise)
	if !resumed && kept != "" {
		cli.Tell(a.Stderr, "not sent: %s", kept)
	}
	return err
}

// resume resumes the loop with a text in its next prompt, and attaches to it. If it could not be
// resumed, kept is the text, unless the loop has it.
func (a *session) resume(text string, raise map[string]string) (resumed bool, kept string, err error) {
	project := *a.Env
	project.Cwd = a.project
	id, err := client.Drop(a.name, a.dir, inbox.Command{Kind: inbox.FollowUp, Text: text})
	if err != nil {
		return false, text, err
	}
	o := a.Options
	o.Head = registry.Summary{}
	if !a.fills() {
		o.NoStatus, o.Plain = a.status == nil, true
	}
	if err = a.Resume(&project, a.dir, raise); err == nil {
		return true, "", Run(&project, a.name, a.dir, o)
	}
	if withdrawn, gone := inbox.Withdraw(a.dir, id); withdrawn && gone == nil { // no runner has taken it
		kept = text
	}
	return false, kept, err
}
