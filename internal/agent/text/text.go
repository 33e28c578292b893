package text

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/agent/fault"
	"github.com/ralph-loop/ralph/journal/event"
)

// Placeholder is where the prompt goes in its command and flags.
const Placeholder = "{prompt}"

// longestArgument is what one argument can hold: Linux gives it 32 pages with its
// final NUL (MAX_ARG_STRLEN), and other systems give all arguments together more.
const longestArgument = 32*4096 - 1

// block is the only block of text: nothing shows where the agent begins another.
const block = "1.1"

// Dialect is the conversation with one process.
type Dialect struct {
	// how an agent that is known by name is made to print; nil for any other
	known      func(agent.Spec) (agent.Command, error)
	asArgument bool // the prompt is in argv
	stdout     stream
	stderr     stream
}

// stream is what one stream's last piece left unfinished, and its last line.
type stream struct {
	rune   []byte    // the beginning of a character whose rest is in the next piece
	inLine bool      // the next piece continues the line
	last   string    // the last line with a word, at most lastMost bytes of it
	open   bool      // the next piece continues that line
	at     time.Time // when that line came
}

// lastMost bounds the last line that is kept.
const lastMost = 1000

// New returns a dialect for one process.
func New() *Dialect { return &Dialect{} }

// NewKnown returns a dialect for one process of an agent that is known by name: command adds what
// makes it take a prompt, print its answer and end. It closes the prompt's way in itself where the
// prompt is an argument ([agent.Command].CloseStdin).
func NewKnown(command func(agent.Spec) (agent.Command, error)) *Dialect {
	return &Dialect{known: command}
}

// Command returns the user's command with the prompt in its place. A command with the placeholder
// gets no other help.
func (d *Dialect) Command(spec agent.Spec) (agent.Command, error) {
	if len(spec.Command) == 0 {
		return agent.Command{}, errors.New("text: its command is empty")
	}
	argv := slices.Concat(spec.Command, spec.Flags)
	if d.known != nil && !slices.ContainsFunc(argv, func(arg string) bool { return strings.Contains(arg, Placeholder) }) {
		command, err := d.known(spec)
		d.asArgument = command.CloseStdin
		command.Text, command.CloseStdin = true, true
		return command, err
	}
	for i, arg := range argv {
		if !strings.Contains(arg, Placeholder) {
			continue
		}
		d.asArgument = true
		argv[i] = strings.ReplaceAll(arg, Placeholder, spec.Prompt)
		if err := fits(argv[i]); err != nil {
			return agent.Command{}, err
		}
	}
	return agent.Command{Argv: argv, Text: true, CloseStdin: true, ParentDeath: true, Lax: spec.Confined()}, nil
}

func fits(argument string) error {
	switch {
	case len(argument) > longestArgument:
		return fmt.Errorf("text: an argument of %d bytes is longer than the system takes: without %s in its command the prompt comes on stdin",
			len(argument), Placeholder)
	case strings.ContainsRune(argument, 0):
		return fmt.Errorf("text: the prompt holds a NUL and cannot be an argument: without %s in its command it comes on stdin", Placeholder)
	}
	return nil
}

// Open returns the prompt, unless it is an argument already.
func (d *Dialect) Open(p agent.Prompt) [][]byte {
	if d.asArgument {
		return nil
	}
	return [][]byte{[]byte(p.Text)}
}

// Decode takes a piece of output: standard output is said, standard error is shown.
func (d *Dialect) Decode(piece []byte, from agent.Stream, out *agent.Decoded) {
	// No line is taken for JSON, even if it looks so.
	out.DropRaw = true
	if from == agent.Stderr {
		if line, ok := d.stderr.line(piece, out.At); ok {
			out.Add(event.AgentNoticed{What: "stderr", Text: line})
		}
		return
	}
	if text := d.stdout.complete(piece); len(text) > 0 {
		d.stdout.keep(string(text), out.At)
		out.Add(event.AgentSaid{Block: block, Text: event.Plain(string(text))})
	}
}

// line returns a piece without its newline, and false where there is nothing in it
// that has not been reported.
func (s *stream) line(piece []byte, at time.Time) (string, bool) {
	continued, ended := s.inLine, len(piece) == 0
	text := s.complete(piece)
	s.keep(string(text), at)
	cut, complete := strings.CutSuffix(string(text), "\n")
	s.inLine = !complete && !ended
	return cut, cut != "" || complete && !continued
}

// keep remembers the last line.
func (s *stream) keep(text string, at time.Time) {
	if s.open {
		text = s.last + text
	}
	if strings.TrimSpace(text) == "" {
		return
	}
	s.open = !strings.HasSuffix(text, "\n")
	s.last, s.at = text[:min(len(text), lastMost)], at
}

// End reports the limit that a failed command names in its last line, if that states when the limit
// ends: until then, trying again does not help. All else that a command prints is text.
func (d *Dialect) End(code int, out *agent.Decoded) {
	if code == 0 {
		return
	}
	for _, s := range []*stream{&d.stderr, &d.stdout} {
		said := strings.TrimSpace(strings.ToValidUTF8(s.last, ""))
		if kind := fault.Text.Kind(fault.Fault{Words: said}); kind != "" && fault.States(said) {
			out.Limit(event.AgentLimited{Kind: kind, Text: said, Until: fault.Until(said, s.at)})
			return
		}
	}
}

// complete joins the beginning of a character to the piece that brings its rest. An
// empty piece is the end of the stream: what is still held is all that came.
func (s *stream) complete(piece []byte) []byte {
	if len(piece) == 0 {
		held := s.rune
		s.rune = nil
		return held
	}
	if len(s.rune) > 0 {
		piece = append(s.rune, piece...)
	}
	cut := len(piece) - unfinished(piece)
	s.rune = slices.Clone(piece[cut:])
	return piece[:cut]
}

// unfinished returns how many bytes at the end may begin a character.
func unfinished(piece []byte) int {
	for n := 1; n <= min(utf8.UTFMax-1, len(piece)); n++ {
		if tail := piece[len(piece)-n:]; utf8.RuneStart(tail[0]) {
			if utf8.FullRune(tail) {
				return 0
			}
			return n
		}
	}
	return 0
}

// Steer says that nothing can be put into a running turn.
func (d *Dialect) Steer(id, text string) ([][]byte, bool) { return nil, false }

// Reset says that each iteration needs a process of its own.
func (d *Dialect) Reset() ([][]byte, bool) { return nil, false }

// Abort has no lines: signals end the turn.
func (d *Dialect) Abort() [][]byte { return nil }

// Stop has no lines: stdin is closed already.
func (d *Dialect) Stop() [][]byte { return nil }

// Abilities of an unknown command.
func (d *Dialect) Abilities() agent.Abilities { return agent.Abilities{ExitEnds: true} }
