package main

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/ralph-loop/ralph/inbox"
	"github.com/ralph-loop/ralph/render"
)

// keyboard turns the bytes of a terminal in raw mode into lines.
type keyboard struct {
	line    []rune
	part    []byte // of a character that came in pieces
	escape  []byte // of a sequence that is not over
	pasting bool
}

// key takes one byte. It reports a line that was sent, and whether the person
// leaves: ctrl-d, or ctrl-c with nothing typed.
func (k *keyboard) key(b byte) (line string, sent, leaves bool) {
	if k.escape != nil {
		k.sequence(b)
		return "", false, false
	}
	switch {
	case b == 0x1B:
		k.escape = []byte{}
	case k.pasting && (b == '\r' || b == '\n'):
		k.line = append(k.line, '\n')
	case b == '\r' || b == '\n':
		line = strings.TrimSpace(string(k.line))
		k.line = nil
		return line, line != "", false
	case b == 3 && len(k.line) > 0, b == 21: // ctrl-c, ctrl-u
		k.line = nil
	case b == 3 || b == 4 && len(k.line) == 0:
		return "", false, true
	case b == 8 || b == 0x7F:
		k.line = k.line[:max(len(k.line)-1, 0)]
	case b == 23: // ctrl-w
		text := strings.TrimRight(string(k.line), " ")
		k.line = []rune(text[:strings.LastIndexByte(text, ' ')+1])
	case b == '\t':
		k.line = append(k.line, ' ')
	case b >= 0x20:
		k.character(b)
	}
	return "", false, false
}

func (k *keyboard) character(b byte) {
	k.part = append(k.part, b)
	if !utf8.FullRune(k.part) {
		return
	}
	if r, _ := utf8.DecodeRune(k.part); r != utf8.RuneError {
		k.line = append(k.line, r)
	}
	k.part = k.part[:0]
}

// sequence takes a byte of an escape sequence: cursor and function keys, which do
// nothing here, and the marks around a pasted text.
func (k *keyboard) sequence(b byte) {
	k.escape = append(k.escape, b)
	introduced := k.escape[0] == '[' || k.escape[0] == 'O'
	if introduced && (len(k.escape) == 1 || b < 0x40) && len(k.escape) < 16 {
		return
	}
	switch string(k.escape) {
	case "[200~":
		k.pasting = true
	case "[201~":
		k.pasting = false
	}
	k.escape = nil
}

const attachHelp = `type a line to steer the agent, or:
  /follow-up TEXT   tell it with its next prompt
  /pause  /resume   let the loop rest after this iteration, go on
  /stop  /stop now  end the loop after this iteration, or at once
  /set KEY=VALUE    change a setting, such as maximumIterations=30
  /kill             end the loop and its agent without asking
  /detach           leave; the loop goes on (also ctrl-d, ctrl-c)
a line that begins with // is sent with one /; while you type, the output waits`

// listen reads the keyboard until the person leaves.
func (a *attached) listen(cancel context.CancelCauseFunc) {
	var k keyboard
	buf := make([]byte, 4096)
	for {
		n, err := a.stdin.Read(buf)
		for _, b := range buf[:n] {
			line, sent, leaves := k.key(b)
			if sent {
				a.screen.typed("")
				leaves = a.obey(line)
			}
			if leaves {
				a.leave(cancel, errLeft)
				return
			}
		}
		if err != nil {
			a.leave(cancel, errLeft) // the terminal is gone
			return
		}
		a.screen.typed(string(k.line))
	}
}

// obey does what a typed line says, and reports whether that is to leave. What
// becomes of a command is told by the journal.
func (a *attached) obey(line string) (leaves bool) {
	command, problem := typedCommand(line)
	switch {
	case line == "/detach" || line == "/quit" || line == "/exit":
		return true
	case line == "/help":
		a.screen.say(attachHelp)
		return false
	case problem != "":
		a.screen.say("ralph: " + problem)
		return false
	}
	command.From = sender()
	if id, err := inbox.Drop(a.dir, command); err != nil && id == "" {
		a.screen.say(fmt.Sprintf("ralph: error: put the command into the inbox: %s", render.Clean(err.Error())))
	}
	return false
}

// typedCommand reads a line as a command; problem says what is wrong with it.
func typedCommand(line string) (c inbox.Command, problem string) {
	if strings.HasPrefix(line, "//") {
		return inbox.Command{Kind: inbox.Steer, Text: line[1:]}, ""
	}
	if !strings.HasPrefix(line, "/") {
		return inbox.Command{Kind: inbox.Steer, Text: line}, ""
	}
	verb, rest, _ := strings.Cut(line[1:], " ")
	rest = strings.TrimSpace(rest)
	switch verb {
	case "steer":
		c = inbox.Command{Kind: inbox.Steer, Text: rest}
	case "follow-up":
		c = inbox.Command{Kind: inbox.FollowUp, Text: rest}
	case "stop":
		c = inbox.Command{Kind: inbox.Stop, Text: rest}
		if now, why, _ := strings.Cut(rest, " "); now == "now" {
			c = inbox.Command{Kind: inbox.StopNow, Text: why}
		}
	case "pause":
		c = inbox.Command{Kind: inbox.Pause}
	case "resume":
		c = inbox.Command{Kind: inbox.Resume}
	case "kill":
		c = inbox.Command{Kind: inbox.Kill}
	case "set":
		key, value, ok := strings.Cut(rest, "=")
		if !ok {
			return c, "write it as in '/set maximumIterations=30'"
		}
		c = inbox.Command{Kind: inbox.Set, Key: strings.TrimSpace(key), Value: strings.TrimSpace(value)}
	default:
		return c, fmt.Sprintf("there is no /%s; /help shows what there is", render.Clean(verb))
	}
	if err := c.Check(); err != nil {
		problem = err.Error()
	}
	return c, problem
}
