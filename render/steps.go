package render

import (
	"cmp"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/journal/event"
)

// Steps writes one line for each step of a loop, with how long it took, beside a viewer that shows
// the loop. Like the viewer it needs the events alone; it ignores types of events that it does not
// know.
type Steps struct {
	Viewer
	to    io.Writer
	shown *edge // what the viewer writes to; nil if that is not where the steps go

	lines   []byte
	rules   event.Rules
	given   int                        // iterations that were refunded
	decided map[event.Effect]time.Time // when each kind of effect was last decided
	started time.Time                  // the agent's turn
	began   time.Time                  // the loop
	claimed bool                       // in this iteration
}

// NewSteps returns a Steps that writes to to, beside the viewer that view makes for out. shared
// says that both writers are the same terminal.
func NewSteps(out, to io.Writer, shared bool, view func(io.Writer) Viewer) *Steps {
	shown := &edge{Writer: out}
	v := &Steps{Viewer: view(shown), to: to, decided: map[event.Effect]time.Time{}}
	if shared {
		v.shown = shown
	}
	return v
}

// Event shows an event in the viewer, then writes the steps that it completes.
func (v *Steps) Event(e event.Event) error {
	if err := v.Viewer.Event(e); err != nil {
		return err
	}
	v.lines = v.lines[:0]
	if p, err := event.Decode(e); err != nil {
		v.say("event %d %s: %v", e.Seq, e.Type, err)
	} else {
		v.ofLoop(e, p)
		v.ofAgent(e, p)
		v.ofVerification(e, p)
		v.ofStories(p)
	}
	if len(v.lines) == 0 {
		return nil
	}
	// The viewer's text comes first.
	if err := v.Flush(); err != nil {
		return err
	}
	if v.shown != nil && v.shown.midline {
		if _, err := v.shown.Write([]byte("\n")); err != nil {
			return err
		}
	}
	_, err := v.to.Write(v.lines)
	return err
}

// say adds one line; newlines and control characters in args cannot break it.
func (v *Steps) say(format string, args ...any) {
	text := strings.ReplaceAll(strings.TrimSpace(fmt.Sprintf(format, args...)), "\n", " ")
	v.lines = append(append(append(v.lines, "[ralph] "...), Clean(text)...), '\n')
}

// ofLoop says what happens to the loop, its iterations and its limits.
func (v *Steps) ofLoop(e event.Event, p event.Payload) {
	switch p := p.(type) {
	case event.LoopStarted:
		v.rules, v.began = p.Rules, e.At
		v.say("Loop %s in %s", p.Name, p.Dir)
		v.say("Agent command: %s (protocol %s)", commandLine(p.Agent.Command), p.Agent.Protocol)
	case event.LoopConfigured:
		v.rules = p.Rules
		v.say("Setting %s is now %s", p.Key, p.Value)
	case event.LoopResumed:
		if p.Rules != nil {
			v.rules = *p.Rules
		}
	case event.LoopPaused:
		v.say("Paused: %s", p.Why)
	case event.LoopWaiting:
		if lasts(p, e.At) {
			v.say("Waiting for %s", p)
		}
	case event.LoopWaited:
		if p.For == event.WaitPerson || p.For == event.WaitHeld {
			v.say("Going on")
		}
	case event.LoopUnpaused:
		v.say("Going on")
	case event.LoopEnded:
		v.say("Loop %s: %s (%s)", p.Status, p.Why, took(e.At.Sub(v.began)))
		if p.Hint != "" {
			v.say("Hint: %s", p.Hint)
		}
		v.say("Result: %s, exit code %d", cmp.Or(p.Result, string(p.Reason)), p.Reason.ExitCode())
	case event.Decided:
		v.decided[p.Do] = e.At
	case event.EffectFailed:
		v.say("%s failed after %s: %s", p.Do, v.since(p.Do, e), p.Error)
	case event.IterationStarted:
		v.iterationStarted(p, e)
	case event.IterationEnded:
		v.iterationEnded(p)
	case event.AgentLimited:
		until := ""
		if p.Until != "" {
			until = " until " + p.Until
		}
		v.say("Agent limited (%s)%s: %s", p.Kind, until, p.Text)
	case event.BudgetWarned:
		v.say("Limit %s: %s", p.Limit, p.Why)
	case event.BreakerTripped:
		wait := ""
		if p.Delay > 0 {
			wait = " for " + tookMillis(p.Delay)
		}
		v.say("Breaker %s, %s%s: %s", p.Rule, p.Step, wait, p.Evidence)
	case event.NotificationSent:
		v.say("Notified by %s (%s)", p.Channel, p.Occasion)
	case event.NotificationFailed:
		v.say("Not notified by %s (%s): %s", p.Channel, p.Occasion, p.Why)
	case event.AgentQuota:
		v.say("Quota used: %s", quotaText(p))
	case event.SandboxOpened:
		v.say("Sandbox: %s", sandboxed(p))
	case event.SandboxCorrected:
		v.say("Sandbox: %s", corrected(p))
	case event.TelemetryFailed:
		v.say("Trace not sent: %s", p.Why)
	case event.TelemetryRestored:
		v.say("Trace sent again")
	case event.ClockJumped:
		v.say("Clock jumped by %s", tookMillis(p.By))
	}
}

// ofAgent says what the agent's process does, and what becomes of its claims.
func (v *Steps) ofAgent(e event.Event, p event.Payload) {
	switch p := p.(type) {
	case event.AgentStarted:
		v.started = e.At
		how := "started"
		if p.Reused {
			how = "given a fresh context"
		}
		v.say("Agent %s after %s, pid %d: %s", how, v.since(event.DoStart, e), p.PID, commandLine(p.Argv))
	case event.AgentFinished:
		v.say("Agent finished its turn: %s (%s)", strings.TrimSpace(string(p.Outcome)+" "+p.Error), took(e.At.Sub(v.started)))
	case event.AgentExited:
		how := fmt.Sprintf("exited with code %d", p.Code)
		if p.Signal != "" {
			how = "ended by signal " + p.Signal
		}
		v.say("Agent %s (%s)", how, tookMillis(p.Took))
	case event.AgentParked:
		v.say("Agent kept for the next iteration")
	case event.TimerFired:
		v.say("Deadline passed: %s", p.Name)
	case event.CompletionClaimed:
		v.claimed = true
		v.say("Completion looked for: %s; claimed by %s", v.markers(), p.How)
	case event.CompletionIgnored:
		v.say("Completion ignored: %s %s: %s", p.How, p.Text, p.Why)
	case event.CompletionRefused:
		v.say("Completion refused: %s", strings.Join(p.Missing, "; "))
	case event.CompletionAccepted:
		v.say("Completion accepted by %s", p.How)
		if p.Warning != "" {
			v.say("Warning: %s", p.Warning)
		}
	}
}

// since is how long ago an effect was decided.
func (v *Steps) since(do event.Effect, e event.Event) string {
	at, ok := v.decided[do]
	if !ok {
		at = e.At
	}
	return took(e.At.Sub(at))
}

// took formats how long a step took; most of ralph's own take milliseconds.
func took(d time.Duration) string {
	if d < time.Second {
		return units.Took(max(d, 0))
	}
	return units.Span(d)
}

func tookMillis(n int64) string { return took(milliseconds(n)) }

// stepCommandMost and promptMost are how much of a command and a prompt is shown, in characters.
const (
	stepCommandMost = 400
	promptMost      = 200
)

func commandLine(words []string) string { return units.Cut(strings.Join(words, " "), stepCommandMost) }

func (v *Steps) iterationStarted(p event.IterationStarted, e event.Event) {
	v.claimed = false
	v.say("Iteration %s starting", v.count(p.N))
	begin := []rune(p.Prompt.Text)
	begin = begin[:min(len(begin), promptMost)]
	more := ""
	if len(string(begin)) < p.Prompt.Bytes {
		more = " …"
	}
	v.say("Prompt of %s, made in %s: %s%s", Bytes(int64(p.Prompt.Bytes)), v.since(event.DoBegin, e), strconv.Quote(string(begin)), more)
}

func (v *Steps) count(n int) string {
	c := units.Count{Begun: n, Refunded: v.given, Maximum: v.rules.MaximumIterations}
	if c.Refunded == 0 {
		return c.Short()
	}
	return c.Number()
}

func (v *Steps) iterationEnded(p event.IterationEnded) {
	if p.Outcome == event.OutcomeDone && !v.claimed {
		v.say("Completion looked for: %s; not claimed", v.markers())
	}
	text := string(p.Outcome)
	if p.Error != "" {
		text += ": " + p.Error
	}
	v.say("Iteration %s ended: %s (%s)", v.count(p.N), text, strings.Join(append([]string{tookMillis(p.Took)}, gained(p)...), ", "))
	if p.Refunded {
		v.given++
	}
}

// markers are what completion is claimed with.
func (v *Steps) markers() string {
	var markers []string
	if text := v.rules.Completion.Promise; text != "" {
		markers = append(markers, "<promise>"+text+"</promise>")
	}
	if text := v.rules.CompletionResponse; text != "" {
		markers = append(markers, "<response>"+text+"</response>")
	}
	return strings.Join(markers, " or ")
}

// edge is a writer that knows whether it is in the middle of a line.
type edge struct {
	io.Writer
	midline bool
}

func (w *edge) Write(p []byte) (int, error) {
	if len(p) > 0 {
		w.midline = p[len(p)-1] != '\n'
	}
	return w.Writer.Write(p)
}

// Viewer shows events. What it holds back is written on Flush, and all on Close.
type Viewer interface {
	Event(event.Event) error
	Flush() error
	Close() error
}
