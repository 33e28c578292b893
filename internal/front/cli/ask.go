package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"unicode"
	"unicode/utf8"

	"github.com/ralph-loop/ralph/render"
)

// ErrGone means that the person has left: ctrl-c, ctrl-d, or the terminal was closed.
var ErrGone = errors.New("left")

// Asker asks a person at a terminal. The terminal stays in its line mode: it shows and
// erases what is typed by itself, and no way of ending leaves it broken.
type Asker struct {
	in      *bufio.Reader
	Out     io.Writer
	signals chan os.Signal
	Ended   bool // the input has ended, as it does with ctrl-d
}

// NewAsker returns an Asker, which takes the signals that end a program until Close.
func NewAsker(in io.Reader, out io.Writer) *Asker {
	a := &Asker{in: bufio.NewReader(in), Out: out, signals: make(chan os.Signal, 1)}
	signal.Notify(a.signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	return a
}

// Close gives the signals back.
func (a *Asker) Close() { signal.Stop(a.signals) }

// Left reports whether the person has left between two questions.
func (a *Asker) Left() bool {
	select {
	case <-a.signals:
		return true
	default:
		return false
	}
}

// Say writes one line of ralph's own.
func (a *Asker) Say(format string, args ...any) { fmt.Fprintf(a.Out, "ralph: "+format+"\n", args...) }

// Ask asks for one line. An empty answer is the fallback, which is shown.
func (a *Asker) Ask(label, fallback string) (string, error) {
	text, err := a.AskOver(label, fallback)
	if text == "" && err == nil {
		text = fallback
	}
	return text, err
}

// AskOver is Ask, but an empty answer stays empty.
func (a *Asker) AskOver(label, shown string) (string, error) {
	if shown != "" {
		label += " [" + render.Clean(shown) + "]"
	}
	return a.Line(label + ": ")
}

// Consent is the answer to a question of yes or no.
type Consent uint8

// The answers. Unsaid is an empty line.
const (
	Unsaid Consent = iota
	Yes
	No
)

// Confirm asks until the answer is yes, no or an empty line. The error is ErrGone.
func (a *Asker) Confirm(label string) (Consent, error) {
	for {
		text, err := a.Line(label)
		if err != nil {
			return Unsaid, err
		}
		switch strings.ToLower(text) {
		case "":
			return Unsaid, nil
		case "y", "yes":
			return Yes, nil
		case "n", "no":
			return No, nil
		}
		a.Say("answer y or n")
	}
}

// Line asks until it gets a line that a settings file can contain, without the blanks around it.
// The error is ErrGone.
func (a *Asker) Line(label string) (string, error) {
	for {
		_, _ = io.WriteString(a.Out, label) // a person who cannot read it can still leave
		text, err := a.read()
		if err != nil {
			a.Ended = errors.Is(err, io.EOF)
			return "", ErrGone
		}
		text = strings.TrimSpace(text)
		switch {
		case len(text) > answerMost:
			a.Say("an answer may have %d bytes, since terminals cut longer ones; write it into %s later", answerMost, SettingsName)
		case !utf8.ValidString(text):
			a.Say("that is not UTF-8 text")
		case strings.ContainsFunc(text, unicode.IsControl):
			a.Say("that contains control characters; only the keys that erase work here")
		default:
			return text, nil
		}
	}
}

// answerMost is the longest answer in bytes. Linux passes on the first 4095 of a typed line and
// drops the others silently.
const answerMost = 4000

// read reads one line, or returns that the person has left. The goroutine of a line that
// is not waited for ends with the process.
func (a *Asker) read() (string, error) {
	type line struct {
		text string
		err  error
	}
	got := make(chan line, 1)
	go func() {
		text, err := readAnswer(a.in)
		got <- line{text, err}
	}()
	select {
	case <-a.signals:
		return "", ErrGone
	case l := <-got:
		return l.text, l.err
	}
}

// readAnswer reads to the end of a line, and keeps a little more of it than an answer may have. A
// terminal that another program left in raw mode ends lines with CR, and ctrl-c and ctrl-d are
// bytes there.
func readAnswer(r *bufio.Reader) (string, error) {
	var line []byte
	for {
		c, err := r.ReadByte()
		switch {
		case err != nil:
			return "", err // an incomplete line is no answer
		case c == '\x03', c == '\x04' && len(line) == 0:
			return "", ErrGone
		case c == '\r':
			if next, err := r.Peek(min(1, r.Buffered())); err == nil && len(next) > 0 && next[0] == '\n' {
				_, _ = r.Discard(1)
			}
			return string(line), nil
		case c == '\n':
			return string(line), nil
		}
		if len(line) <= answerMost {
			line = append(line, c)
		}
	}
}
