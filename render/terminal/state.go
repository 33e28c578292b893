package terminal

import (
	"encoding/base64"
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/render"
)

// Show says what a terminal may be given outside of the program's screen.
type Show struct {
	Title    bool // the title of its window
	Progress bool // a progress bar (OSC 9;4)
	Status   bool // the program's status (OSC 7501)
	Notify   bool // notifications (OSC 9 or OSC 777)
}

// Status is what a program does, as a terminal that lists programs shows it.
type Status string

// The statuses of OSC 7501. Blocked means that a person has to act.
const (
	StatusIdle    Status = "idle"
	StatusWorking Status = "working"
	StatusBlocked Status = "blocked"
	StatusDone    Status = "done"
	StatusError   Status = "error"
)

// Kind is what a blocked program needs of a person.
type Kind string

// The kinds of OSC 7501.
const (
	KindQuestion   Kind = "question"
	KindPermission Kind = "permission"
	KindAuth       Kind = "auth"
)

// State is what a terminal shows of a program outside of its screen. The zero State shows nothing.
type State struct {
	Title   string
	Status  Status
	Kind    Kind   // of StatusBlocked
	Message string // one line for a person
	// Done of Total is how far the work is; a Total of 0 means that this is unknown.
	Done, Total int
}

// percent is how far the work is, -1 if that is unknown.
func (s State) percent() int {
	if s.Total <= 0 {
		return -1
	}
	return min(max(s.Done*100/s.Total, 0), 100)
}

// progress is the progress bar of a state. It is nil without one.
func (s State) progress() *tea.ProgressBar {
	at := s.percent()
	switch {
	case s.Status == StatusError:
		return tea.NewProgressBar(tea.ProgressBarError, max(at, 0))
	case s.Status == StatusBlocked:
		return tea.NewProgressBar(tea.ProgressBarWarning, max(at, 0))
	case s.Status != StatusWorking:
		return nil
	case at < 0:
		return tea.NewProgressBar(tea.ProgressBarIndeterminate, 0)
	}
	return tea.NewProgressBar(tea.ProgressBarDefault, at)
}

// maxMessage is the longest message of OSC 7501, in bytes.
const maxMessage = 2048

// statusReport is the sequence that reports a state to the terminal.
func statusReport(s State) string {
	if s.Status == "" {
		return "\x1b]7501;state=clear\x1b\\"
	}
	pairs := []string{"state=" + string(s.Status), "app=ralph"}
	if s.Status == StatusBlocked && s.Kind != "" {
		pairs = append(pairs, "kind="+string(s.Kind))
	}
	if at := s.percent(); at >= 0 && (s.Status == StatusWorking || s.Status == StatusBlocked) {
		pairs = append(pairs, fmt.Sprintf("progress=%d", at))
	}
	if text := units.Prefix(oneLine(s.Message), maxMessage); text != "" {
		pairs = append(pairs, "msg="+base64.StdEncoding.EncodeToString([]byte(text)))
	}
	return "\x1b]7501;" + strings.Join(pairs, ":") + "\x1b\\"
}

// notification is the sequence that shows a notification: OSC 777 where that is what a terminal
// knows, else OSC 9. A terminal that knows both would show two.
func notification(environ []string, title, text string) string {
	title, text = units.Cut(oneLine(title), 80), units.Cut(oneLine(text), 200)
	term := variable(environ, "TERM")
	if strings.HasPrefix(term, "foot") || strings.HasPrefix(term, "rxvt") || variable(environ, "VTE_VERSION") != "" {
		return "\x1b]777;notify;" + strings.ReplaceAll(title, ";", ",") + ";" + text + "\x1b\\"
	}
	return "\x1b]9;" + title + ": " + text + "\x1b\\"
}

// oneLine is a text without anything that a terminal could take for a command.
func oneLine(text string) string { return strings.TrimSpace(render.Clean(text)) }

// toOuter passes a sequence through tmux, which does not know it, to the terminal around it.
func toOuter(environ []string, sequence string) string {
	if variable(environ, "TMUX") != "" {
		return ansi.TmuxPassthrough(sequence)
	}
	return sequence
}

// variable returns a variable of an environment, the last if it is there twice.
func variable(environ []string, name string) string {
	for i := len(environ) - 1; i >= 0; i-- {
		if key, value, _ := strings.Cut(environ[i], "="); key == name {
			return value
		}
	}
	return ""
}
