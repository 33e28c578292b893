package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/ralph-loop/ralph/inbox"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/render"
)

// typist is the person at the keyboard of an attach: what is being typed, what was sent and the loop has not taken, and,
// once the loop is over, the answer to what is offered then.
type typist struct {
	mu   sync.Mutex
	keys *keyboard
	sent []sentCommand // what the loop has not answered for good
	over bool          // the loop is: nothing is sent any more

	// answer is what the person does then: a line that was sent, or none to leave. It is closed where the keyboard is gone.
	answer chan string
}

// sentCommand is one that was dropped into the inbox.
type sentCommand struct {
	inbox.Command

	refused, done bool
}

func newTypist() *typist { return &typist{keys: newKeyboard(), answer: make(chan string, 1)} }

// listen reads the keyboard until the person leaves.
func (a *attached) listen(cancel context.CancelCauseFunc) {
	buf := make([]byte, 4096)
	for {
		n, err := a.stdin.Read(buf)
		if a.strokes(buf[:n]) {
			a.leave(cancel, errLeft)
			return
		}
		if err != nil {
			close(a.typist.answer)
			a.leave(cancel, errLeft) // the terminal is gone
			return
		}
	}
}

// strokes does what was typed, and reports whether the person leaves, or the loop is over and the person has said what
// comes of that.
func (a *attached) strokes(typed []byte) (done bool) {
	t := a.typist
	t.mu.Lock()
	defer t.mu.Unlock()
	defer func() {
		t.keys.settle()
		a.screen.typed(t.keys.line, t.keys.pos)
	}()
	for _, b := range typed {
		line, does := t.keys.key(b)
		if t.over && b == 3 { // the line is what is offered: ctrl-c leaves with it
			does = leaves
		}
		switch {
		case does == suspends:
			a.suspend()
		case does == leaves || does == sends && leaving(line):
			if t.over {
				t.answer <- ""
			}
			return true
		case does == sends && t.over:
			if words := a.wordsOf(line); words != "" {
				t.answer <- words
				return true
			}
		case does == sends:
			a.obey(line)
		}
	}
	return false
}

// suspend gives the terminal to the shell. SIGCONT takes it back. Where no shell could stop this program, no SIGCONT comes,
// and suspend takes it back itself.
func (a *attached) suspend() {
	a.screen.suspend()
	suspendSelf()
	time.AfterFunc(notStopped, a.screen.unstopped)
}

// notStopped is when a program that wanted to be stopped and still runs goes on by itself.
const notStopped = 300 * time.Millisecond

// leaving reports whether a line says to leave.
func leaving(line string) bool { return line == "/detach" || line == "/quit" || line == "/exit" }

// obey does what a typed line says. The journal tells what becomes of a command.
func (a *attached) obey(line string) {
	command, problem := typedCommand(line)
	switch {
	case line == "/help":
		a.screen.say(attachHelp)
		return
	case problem != "":
		a.screen.say("ralph: " + problem)
		return
	}
	command.From = sender()
	id, err := inbox.Drop(a.dir, command)
	if err != nil && id == "" {
		a.screen.say(fmt.Sprintf("ralph: error: put the command into the inbox: %s", render.Clean(err.Error())))
		return
	}
	command.ID = id
	a.typist.sent = append(a.typist.sent, sentCommand{Command: command})
}

// told notes what the loop says of what was sent. Words that it has are done with; those that it refuses with its last
// words, because it ends, are not.
func (a *attached) told(ev event.Event) {
	t := a.typist
	if t == nil || a.ended != nil {
		return
	}
	var id string
	switch ev.Type {
	case event.TypeCommandDelivered:
		if p, err := event.As[event.CommandDelivered](ev); err == nil {
			id = p.ID
		}
	case event.TypeCommandRefused:
		if p, err := event.As[event.CommandRefused](ev); err == nil {
			id = p.ID
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := range t.sent {
		if t.sent[i].ID == id {
			t.sent[i].refused = ev.Type == event.TypeCommandRefused
			t.sent[i].done = !t.sent[i].refused
		} else if ev.Type != event.TypeCommandRefused && t.sent[i].refused {
			t.sent[i].done = true // the loop goes on
		}
	}
	t.sent = slices.DeleteFunc(t.sent, func(c sentCommand) bool { return c.done })
}

// unsent returns what a person was typing, or had sent, when the loop was over: the words for a resume. What the loop has
// not taken is withdrawn. From here on, nothing is sent.
func (a *attached) unsent() (words string) {
	t := a.typist
	if t == nil {
		return ""
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.over = true
	for _, c := range slices.Backward(t.sent) {
		withdrawn, err := inbox.Withdraw(a.dir, c.ID)
		if (err != nil || !withdrawn) && !c.refused {
			continue // the loop's next runner has it
		}
		if c.Kind != inbox.Steer && c.Kind != inbox.FollowUp {
			if c.refused {
				continue // that is said
			}
			a.screen.say(fmt.Sprintf("ralph: loop %s ended before it took the %s, which is withdrawn", a.name, c.Kind))
			continue
		}
		t.keys.insert(c.Text)
	}
	t.sent = nil
	t.keys.settle()
	a.screen.typed(t.keys.line, t.keys.pos)
	return t.keys.line
}

// wordsOf returns the words of a line for a resume; the problem with others is said.
func (a *attached) wordsOf(line string) string {
	command, problem := typedCommand(line)
	if problem == "" && (command.Kind == inbox.Steer || command.Kind == inbox.FollowUp) {
		return command.Text
	}
	a.screen.say(a.offered("a line of words and enter resume it"))
	return ""
}

// offered says what can be done with the words.
func (a *attached) offered(how string) string {
	what := "has ended"
	if a.ended == nil {
		what = "has no runner any more"
	}
	return fmt.Sprintf("ralph: loop %s %s; %s, ctrl-c leaves", a.name, what, how)
}

// offer keeps what was being typed when the loop was over until the person sends it, which resumes the loop with it, or
// leaves. ended is what attach returns otherwise.
func (a *attached) offer(words string, signals <-chan os.Signal, ended error) error {
	a.screen.footer("", nil)
	a.screen.say(a.offered("enter resumes it with these words"))
	answer, answered := "", false
	select {
	case answer, answered = <-a.typist.answer:
	case <-signals:
	}
	a.screen.restore()
	if !answered || answer == "" {
		return ended
	}
	return a.resumeWith(answer)
}

// resumeWith goes on with the loop, whose next prompt has the words, and attaches to it.
func (a *attached) resumeWith(words string) error {
	there := *a.env
	there.cwd = a.project
	id, err := inbox.Drop(a.dir, inbox.Command{Kind: inbox.FollowUp, Text: words, From: sender()})
	if err != nil && id == "" {
		return fmt.Errorf("put the words into the inbox: %w", err)
	}
	start := &startVerb{Name: a.dir, Resume: true, shown: attachOptions{plain: a.pulse == nil, verbose: a.verbose, time: a.time}}
	if err = start.Run(&there); err == nil {
		return nil
	}
	if withdrawn, gone := inbox.Withdraw(a.dir, id); withdrawn && gone == nil { // no runner has taken it
		tell(a.stderr, "not sent: %s", words)
	}
	return err
}
