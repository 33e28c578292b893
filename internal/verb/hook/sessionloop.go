package hook

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/ground/units"
)

// A SessionLoop holds one session of an interactive agent until it writes a promise. Its state is a
// file in .ralph/session of the project.
type SessionLoop struct {
	ID            string    `json:"id"`
	Task          string    `json:"task"`
	Promise       string    `json:"promise"`          // without <promise> around it
	Prefix        string    `json:"prefix,omitempty"` // put before each continuation
	MaxIterations int       `json:"maxIterations"`
	MinToolCalls  int       `json:"minToolCalls"`
	OnNoWork      NoWork    `json:"onPromiseNoWork"`
	Cwd           string    `json:"cwd"`                // where it was started
	Sessions      []string  `json:"sessions,omitempty"` // names of the agent's session; empty until a session has it
	Started       time.Time `json:"started"`
	// Files identifies the state of the repository when the loop was started; empty if unknown.
	Files string `json:"files,omitempty"`

	Iteration int        `json:"iteration"` // stops that were blocked
	ToolCalls int        `json:"toolCalls"` // of the agent since the start
	Scanned   time.Time  `json:"scanned"`   // up to here the transcript was read
	Result    Result     `json:"result,omitempty"`
	Ended     *time.Time `json:"ended,omitempty"`
	Decisions []Decision `json:"decisions,omitempty"` // the last of them, oldest first
}

// A Decision is what a stop of the agent led to.
type Decision struct {
	At        time.Time `json:"at"`
	Iteration int       `json:"iteration"`
	Promise   string    `json:"promise"` // missing, found or rejected
	Blocked   bool      `json:"blocked"`
	Why       string    `json:"why"`
	ToolCalls int       `json:"toolCalls"`
}

// A Result is how a session loop ended; empty while it is active.
type Result string

// The results.
const (
	PromiseAccepted Result = "PROMISE_ACCEPTED"
	LimitReached    Result = "MAX_ITERATIONS_REACHED"
	Cancelled       Result = "CANCELLED"
)

// NoWork says what becomes of a promise that comes without enough tool calls.
type NoWork string

// The policies.
const (
	RejectNoWork NoWork = "reject"
	AcceptNoWork NoWork = "accept"
)

const (
	mostDecisions = 100
	mostTask      = 64 << 10 // bytes
	mostPromise   = 200      // bytes
)

// Check returns what is wrong with a loop that is to be started.
func (l *SessionLoop) Check() error {
	switch {
	case strings.TrimSpace(l.Task) == "":
		return fmt.Errorf("the task is empty")
	case len(l.Task)+len(l.Prefix) > mostTask:
		return fmt.Errorf("the task has more than %d bytes", mostTask)
	case l.Promise == "" || l.Promise != strings.TrimSpace(l.Promise) || strings.ContainsAny(l.Promise, "<>\r\n") ||
		len(l.Promise) > mostPromise || !utf8.ValidString(l.Promise):
		return fmt.Errorf("the promise %q is not one line of at most %d bytes, without < and >", l.Promise, mostPromise)
	case l.MaxIterations < 1:
		return fmt.Errorf("a session loop needs at least 1 iteration")
	case l.MinToolCalls < 0:
		return fmt.Errorf("the number of tool calls cannot be negative")
	case l.OnNoWork != RejectNoWork && l.OnNoWork != AcceptNoWork:
		return fmt.Errorf("%q is neither reject nor accept", l.OnNoWork)
	}
	return nil
}

// Marker is the text that ends the loop, exactly.
func (l *SessionLoop) Marker() string { return "<promise>" + l.Promise + "</promise>" }

// Active reports whether the loop still holds its session.
func (l *SessionLoop) Active() bool { return l.Result == "" }

// Holds reports whether the loop holds the session that has one of these names.
func (l *SessionLoop) Holds(names ...string) bool {
	return slices.ContainsFunc(names, l.holds)
}

func (l *SessionLoop) holds(session string) bool { return slices.Contains(l.Sessions, session) }

// SessionNames returns the names of the session that this process belongs to, as agents give them
// to the commands that they run. A hook may receive any of them.
func SessionNames(variable func(string) string) []string {
	var names []string
	for _, key := range []string{"CLAUDE_CODE_SESSION_ID", "CODEX_SESSION_ID", "CODEX_THREAD_ID"} {
		if name := variable(key); name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// Seen is what the agent did since the last decision.
type Seen struct {
	Text      string // of the assistant, tools and thinking left out
	Last      string // the last message of it; empty if it is not known
	ToolCalls int
	// Uncounted says that there is no transcript: whether files changed then counts as work.
	Uncounted    bool
	FilesChanged bool
}

// decide judges an attempt to stop. It returns the message that keeps the agent at work, and
// whether it is kept.
func (l *SessionLoop) decide(now time.Time, seen Seen) (message string, block bool) {
	l.ToolCalls += seen.ToolCalls
	l.Scanned = now
	found := strings.Contains(seen.Text, l.Marker())
	worked := l.ToolCalls >= l.MinToolCalls || seen.Uncounted && seen.FilesChanged
	but := policy.Contradiction(seen.Last)
	switch {
	case found && but == "" && (worked || l.OnNoWork == AcceptNoWork):
		why := "the promise was written after " + units.Quantity(l.ToolCalls, "tool call")
		if seen.Uncounted {
			why = "the promise was written; tool calls could not be counted"
		}
		l.end(now, PromiseAccepted, "found", why)
		return "", false
	case l.Iteration >= l.MaxIterations:
		promise := "missing"
		if found {
			promise = "rejected"
		}
		l.end(now, LimitReached, promise, fmt.Sprintf("the limit of %s is reached", units.Quantity(l.MaxIterations, "iteration")))
		return "", false
	case found && but != "":
		return l.hold(now, "rejected", fmt.Sprintf("You wrote %s, and the same message says: %q.", l.Marker(), but)), true
	case found:
		return l.hold(now, "rejected", l.rejection(seen)), true
	case strings.Contains(strings.ToLower(seen.Text), "<promise>"):
		return l.hold(now, "missing", "You wrote a promise, but it is not exactly "+l.Marker()+": no blank, no other letters and no other case is accepted."), true
	}
	return l.hold(now, "missing", "You did not write "+l.Marker()+", so the loop goes on."), true
}

// rejection says why a promise does not count.
func (l *SessionLoop) rejection(seen Seen) string {
	if seen.Uncounted {
		return "You wrote " + l.Marker() + ", but nothing shows that work was done: no transcript can be read, and no file of the repository has changed since the loop began."
	}
	return fmt.Sprintf("You wrote %s, but you made only %s since the loop began, and at least %d must be made: no work was done. Do the task first, then write it again.",
		l.Marker(), units.Quantity(l.ToolCalls, "tool call"), l.MinToolCalls)
}

// hold records that the agent is kept, and returns the message to it.
func (l *SessionLoop) hold(now time.Time, promise, why string) string {
	l.Iteration++
	l.note(Decision{At: now, Iteration: l.Iteration, Promise: promise, Blocked: true, Why: why, ToolCalls: l.ToolCalls})
	var text strings.Builder
	if l.Prefix != "" {
		text.WriteString(l.Prefix + "\n\n")
	}
	fmt.Fprintf(&text, "%s\n\nContinue with the task below (iteration %d of %d). Write %s only when the task is done completely.\n\nTask:\n%s", why, l.Iteration, l.MaxIterations, l.Marker(), l.Task)
	return text.String()
}

// end records the result.
func (l *SessionLoop) end(now time.Time, result Result, promise, why string) {
	l.Result, l.Ended = result, &now
	l.note(Decision{At: now, Iteration: l.Iteration, Promise: promise, Why: why, ToolCalls: l.ToolCalls})
}

func (l *SessionLoop) note(d Decision) {
	l.Decisions = append(l.Decisions, d)
	if more := len(l.Decisions) - mostDecisions; more > 0 {
		l.Decisions = l.Decisions[more:]
	}
}

// Contract is what the agent has to read when the loop begins.
func (l *SessionLoop) Contract() string {
	text := fmt.Sprintf(`You work in a loop of ralph: this session cannot stop before the task is done.

- When the task is done completely, and only then, write %s
- It must match exactly: the same letters and case, no blank inside of the tag, no variant.
- If the task is not done, do not write it. If you stop without it, you are sent back to the task, %s at most.`,
		l.Marker(), units.Times(l.MaxIterations))
	if l.MinToolCalls > 0 && l.OnNoWork == RejectNoWork {
		text += fmt.Sprintf("\n- It does not count before you have made at least %s.", units.Quantity(l.MinToolCalls, "tool call"))
	}
	if l.Prefix != "" {
		text = l.Prefix + "\n\n" + text
	}
	return text + "\n\nTask:\n" + l.Task
}
