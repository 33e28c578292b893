package inbox

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/oklog/ulid/v2"

	"github.com/ralph-loop/ralph/internal/ground/process"
	"github.com/ralph-loop/ralph/journal/event"
)

// version is the v of the wire format.
const version = 1

// MaxSize is the largest command file in bytes.
const MaxSize = 1 << 20

// Kind is what a command asks for; package event has the list.
type Kind = event.CommandKind

// The kinds of commands.
const (
	Steer    = event.CommandSteer
	FollowUp = event.CommandFollowUp
	Stop     = event.CommandStop
	StopNow  = event.CommandStopNow
	Pause    = event.CommandPause
	Resume   = event.CommandResume
	Set      = event.CommandSet
	Kill     = event.CommandKill
	Wait     = event.CommandWait
	Blocked  = event.CommandBlocked
	Ask      = event.CommandAsk
	Answer   = event.CommandAnswer
	TakeBack = event.CommandWithdraw
	Fence    = event.CommandFence
)

// Limits of questions and answers, in bytes but for MaxChoices.
const (
	MaxQuestion = 2000
	MaxChoices  = 16
	MaxChoice   = 200
	MaxAnswer   = 8000
	maxHost     = 255
)

// Command is what a person or a program asks of a loop.
type Command struct {
	ID   string `json:"id"` // ULID, given by Drop
	Kind Kind   `json:"kind"`
	// interface and sender, such as cli:ada@mill, mcp:claude, hook:stop
	From string `json:"from,omitempty"`
	// when it was given; Drop sets the time of dropping, unless set
	At    time.Time `json:"at,omitzero"`
	Text  string    `json:"text,omitempty"`
	Key   string    `json:"key,omitempty"`
	Value string    `json:"value,omitempty"`
	// of an Ask: at most MaxChoices answers that the agent expects, of at most MaxChoice bytes each
	Choices  []string `json:"choices,omitempty"`
	Blocks   bool     `json:"blocks,omitempty"`   // of an Ask: the work is not done without an answer
	Question int      `json:"question,omitempty"` // of an Answer: the number of the question, from 1
	Host     string   `json:"host,omitempty"`     // of a Fence: which has the loop
	// Epoch is that of a Fence: under which Host has the loop. For any other command it is the one
	// that the sender saw, or 0: after a take-over the loop refuses the command.
	Epoch uint64 `json:"epoch,omitempty"`
	// Process is the process that dropped it, then those that it descended from, its parent first;
	// empty where that is not known.
	Process []Process `json:"process,omitempty"`
}

// Process names a process for as long as the machine is up. Start is when it began, in the system's
// own unit (Linux: clock ticks since boot; macOS: microseconds since 1970).
type Process struct {
	PID   int    `json:"pid"`
	Start uint64 `json:"start"`
}

// lineageMost bounds Process in a file.
const lineageMost = 256

// lineage is this process with those that it descends from, as far as the kernel names them.
func lineage() (all []Process) {
	found, _ := process.Lineage(os.Getpid()) // the reader asks the kernel again
	for _, p := range found[:min(len(found), lineageMost)] {
		all = append(all, Process(p))
	}
	return all
}

// wire is the content of the file.
type wire struct {
	V int `json:"v"`
	Command
}

// Check reports what Command c lacks for its kind: Steer, FollowUp, Ask and Answer need a Text, Set
// a Key, Answer a Question, and Fence a Host and an Epoch. It checks the limits of questions and
// answers, but not ID and At.
func (c Command) Check() error {
	switch {
	case !slices.Contains(event.CommandKinds, c.Kind):
		return wrong("kind-unknown", "unknown kind %.40q", c.Kind)
	case (c.Kind.IsMessage() || c.Kind == Ask) && strings.TrimSpace(c.Text) == "":
		return wrong("text-missing", "%s without text", c.Kind)
	case c.Kind == Set && c.Key == "":
		return wrong("key-missing", "set without key")
	case c.Kind == Ask:
		return c.checkAsk()
	case c.Kind == Answer:
		return c.checkAnswer()
	case c.Kind == Fence && (c.Host == "" || len(c.Host) > maxHost || c.Epoch < 2):
		return wrong("fence-incomplete", "fence without a host, or without an epoch above 1")
	}
	return nil
}

func (c Command) checkAsk() error {
	switch {
	case len(c.Text) > MaxQuestion:
		return wrong("question-size", "the question has %d bytes: at most %d are possible", len(c.Text), MaxQuestion)
	case len(c.Choices) > MaxChoices:
		return wrong("choices-count", "the question has %d choices: at most %d are possible", len(c.Choices), MaxChoices)
	}
	for _, choice := range c.Choices {
		switch {
		case strings.TrimSpace(choice) == "":
			return wrong("choice-empty", "a choice of the question is empty")
		case len(choice) > MaxChoice:
			return wrong("choice-size", "a choice of the question has %d bytes: at most %d are possible", len(choice), MaxChoice)
		}
	}
	return nil
}

func (c Command) checkAnswer() error {
	switch {
	case c.Question < 1:
		return wrong("question-missing", "answer without the number of its question")
	case len(c.Text) > MaxAnswer:
		return wrong("answer-size", "the answer has %d bytes: at most %d are possible", len(c.Text), MaxAnswer)
	}
	return nil
}

// encode returns the content of the file of c.
func encode(c Command) ([]byte, error) {
	for _, s := range append([]string{c.From, c.Text, c.Key, c.Value, c.Host}, c.Choices...) {
		if !utf8.ValidString(s) {
			return nil, errNotUTF8 // encoding/json would change it silently
		}
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(wire{version, c}); err != nil {
		return nil, err
	}
	if b.Len() > MaxSize {
		return nil, errTooLarge
	}
	return b.Bytes(), nil
}

var (
	errNotUTF8  = wrong("command-utf8", "not valid UTF-8")
	errTooLarge = wrong("command-size", "larger than %d bytes", MaxSize)
)

// decode reads a command's file. Its errors are reasons for a person to read. If the name has the
// kind, the content may leave out kind and version, and must not have an id; empty content is an
// object without keys.
func decode(f file, b []byte) (Command, error) {
	if !utf8.Valid(b) {
		return Command{}, errNotUTF8
	}
	var w wire
	id := f.id // the one that the content must have
	if f.kind != "" {
		w = wire{version, Command{Kind: f.kind}}
		id = ""
		if b = bytes.TrimSpace(b); len(b) == 0 {
			b = []byte("{}")
		} else if b[0] != '{' {
			return Command{}, wrong("command-json", "not a command: not a JSON object")
		}
	}
	if err := json.Unmarshal(b, &w); err != nil {
		return Command{}, wrong("command-json", "not a command: %w", err)
	}
	switch {
	case w.V != version:
		return Command{}, wrong("command-version", "version %d: this ralph reads version %d", w.V, version)
	case w.ID != id:
		return Command{}, wrong("command-id", "its id %.40q is not its file's name", w.ID)
	case f.kind != "" && w.Kind != f.kind:
		return Command{}, wrong("command-kind", "its kind %.40q is not its file's name", w.Kind)
	}
	w.ID = f.id
	return w.Command, w.Check()
}

// wrongError is why a file is not a command.
type wrongError struct {
	error
	code string // in docs/reference/format.md
}

func (e *wrongError) Unwrap() error { return e.error }

func wrong(code, format string, args ...any) error {
	return &wrongError{fmt.Errorf(format, args...), code}
}

// codeOf returns the code of the error of a file that is refused. One without a code of its own is
// about the file as such: it is a folder, or cannot be read or renamed.
func codeOf(err error) string {
	if e, ok := errors.AsType[*wrongError](err); ok {
		return e.code
	}
	return "command-file"
}

// canonicalID reports whether s is a ULID in upper case, as it must be for names to sort by time
// and to be one for each id.
func canonicalID(s string) bool {
	id, err := ulid.ParseStrict(s)
	return err == nil && id.String() == s
}
