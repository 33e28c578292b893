package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/runner"
	"github.com/ralph-loop/ralph/internal/secret"
	"github.com/ralph-loop/ralph/internal/units"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/render"
)

// sayLoaded says which files the settings come from and what they come to.
func sayLoaded(e *env, loaded config.Loaded) error {
	for _, file := range loaded.Files {
		fmt.Fprintf(e.stderr, "[ralph] Loading settings from %s\n", clean(file))
	}
	frozen, err := config.Freeze(loaded.Settings, nil)
	if err != nil {
		return err
	}
	masker := secret.New(slices.Concat(e.environ, runner.Secrets(loaded.Settings)))
	masked, _ := masker.Mask(frozen)
	fmt.Fprintln(e.stderr, "[ralph] Merged configuration:")
	for line := range strings.Lines(string(masked)) {
		fmt.Fprintf(e.stderr, "[ralph]   %s\n", render.Clean(strings.TrimSuffix(line, "\n")))
	}
	return nil
}

// voice says step by step what a loop does and how long each step takes, one line for each,
// beside a viewer that shows the loop. Like that one it knows the loop from events alone;
// of the types that it has no words for it says nothing.
type voice struct {
	viewer
	to    io.Writer
	shown *edge // what the viewer writes to; nil where that is another place

	lines   []byte
	rules   event.Rules
	given   int                  // iterations that were refunded
	decided map[string]time.Time // when each kind of effect was last decided
	started time.Time            // the agent's turn
	began   time.Time            // the loop
	claimed bool                 // in this iteration
}

// voiced puts a voice on stderr beside a viewer on stdout.
func voiced(e *env, o followOptions) *voice {
	shown := &edge{Writer: e.stdout}
	v := &voice{to: e.stderr, decided: map[string]time.Time{}}
	if e.sharedTerminal() {
		v.shown = shown
	}
	v.viewer = o.viewer(e, shown)
	return v
}

// edge is a writer that knows whether it stands within a line.
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

// Event shows an event, then says what there is to say about it.
func (v *voice) Event(e event.Event) error {
	if err := v.viewer.Event(e); err != nil {
		return err
	}
	v.lines = v.lines[:0]
	if err := v.hear(e); err != nil {
		v.say("event %d %s: %v", e.Seq, e.Type, err)
	}
	if len(v.lines) == 0 {
		return nil
	}
	// What was shown before stands before.
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

// say adds one line, whatever its words hold.
func (v *voice) say(format string, args ...any) {
	text := strings.ReplaceAll(strings.TrimSpace(fmt.Sprintf(format, args...)), "\n", " ")
	v.lines = append(append(append(v.lines, "[ralph] "...), render.Clean(text)...), '\n')
}

// hear takes in an event of the loop, of its iterations or of their guardrails.
func (v *voice) hear(e event.Event) error {
	switch e.Type {
	case event.TypeLoopStarted:
		return heard(e, func(p event.LoopStarted) { v.rules, v.began = p.Rules, e.At; v.loopStarted(p) })
	case event.TypeLoopConfigured:
		return heard(e, func(p event.LoopConfigured) { v.rules = p.Rules; v.say("Setting %s is now %s", p.Key, p.Value) })
	case event.TypeLoopResumed:
		return heard(e, func(p event.LoopResumed) {
			if p.Rules != nil {
				v.rules = *p.Rules
			}
		})
	case event.TypeLoopPaused:
		return heard(e, func(p event.LoopPaused) {
			if p.For == "person" {
				v.say("Waiting for a person: %s", p.Why)
				return
			}
			v.say("Paused: %s", p.Why)
		})
	case event.TypeLoopUnpaused:
		v.say("Going on")
	case event.TypeLoopEnded:
		return heard(e, func(p event.LoopEnded) { v.loopEnded(p, e) })
	case event.TypeDecided:
		return heard(e, func(p event.Decided) { v.decided[p.Do] = e.At })
	case event.TypeEffectFailed:
		return heard(e, func(p event.EffectFailed) { v.say("%s failed after %s: %s", p.Do, v.since(p.Do, e), p.Error) })
	case event.TypeIterationStarted:
		return heard(e, func(p event.IterationStarted) { v.iterationStarted(p, e) })
	case event.TypeIterationEnded:
		return heard(e, func(p event.IterationEnded) { v.iterationEnded(p) })
	}
	return errors.Join(v.hearAgent(e), v.hearCheck(e), v.hearCompletion(e), v.hearLimit(e))
}

func (v *voice) hearAgent(e event.Event) error {
	switch e.Type {
	case event.TypeAgentStarted:
		return heard(e, func(p event.AgentStarted) {
			v.started = e.At
			how := "started"
			if p.Reused {
				how = "given a fresh context"
			}
			v.say("Agent %s after %s, pid %d: %s", how, v.since(event.DoStart, e), p.PID, commandLine(p.Argv))
		})
	case event.TypeAgentFinished:
		return heard(e, func(p event.AgentFinished) {
			v.say("Agent finished its turn: %s (%s)", strings.TrimSpace(p.Outcome+" "+p.Error), took(e.At.Sub(v.started)))
		})
	case event.TypeAgentExited:
		return heard(e, func(p event.AgentExited) {
			if p.Signal != "" {
				v.say("Agent ended by signal %s (%s)", p.Signal, tookMillis(p.Took))
				return
			}
			v.say("Agent exited with code %d (%s)", p.Code, tookMillis(p.Took))
		})
	case event.TypeAgentRested:
		v.say("Agent kept for the next iteration")
	case event.TypeTimerFired:
		return heard(e, func(p event.TimerFired) { v.say("Deadline passed: %s", p.Name) })
	}
	return nil
}

func (v *voice) hearCompletion(e event.Event) error {
	switch e.Type {
	case event.TypeCompletionClaimed:
		return heard(e, func(p event.CompletionClaimed) {
			v.claimed = true
			v.say("Completion looked for: %s; claimed by %s", v.markers(), p.How)
		})
	case event.TypeCompletionIgnored:
		return heard(e, func(p event.CompletionIgnored) { v.say("Completion ignored: %s %s: %s", p.How, p.Text, p.Why) })
	case event.TypeCompletionRefused:
		return heard(e, func(p event.CompletionRefused) { v.say("Completion refused: %s", strings.Join(p.Missing, "; ")) })
	case event.TypeCompletionAccepted:
		return heard(e, func(p event.CompletionAccepted) {
			v.say("Completion accepted by %s", p.How)
			if p.Warning != "" {
				v.say("Warning: %s", p.Warning)
			}
		})
	}
	return nil
}

// heard decodes an event's payload for a function.
func heard[P event.Payload](e event.Event, say func(P)) error {
	p, err := event.As[P](e)
	if err == nil {
		say(p)
	}
	return err
}

// since is how long ago an effect was decided.
func (v *voice) since(do string, e event.Event) string {
	at, ok := v.decided[do]
	if !ok {
		at = e.At
	}
	return took(e.At.Sub(at))
}

// took spells how long a step took; most of ralph's own take milliseconds.
func took(d time.Duration) string {
	if d < time.Second {
		return units.Took(max(d, 0))
	}
	return units.Span(d)
}

func tookMillis(n int64) string { return took(time.Duration(n) * time.Millisecond) }

func (v *voice) loopStarted(p event.LoopStarted) {
	v.say("Loop %s in %s", p.Name, p.Dir)
	v.say("Agent command: %s (spoken to as %s)", commandLine(p.Agent.Command), p.Agent.Protocol)
}

// commandMost and promptMost are how much of a command and a prompt is said, in characters.
const (
	commandMost = 400
	promptMost  = 200
)

func commandLine(words []string) string { return cutTo(commandMost, strings.Join(words, " ")) }

func (v *voice) iterationStarted(p event.IterationStarted, e event.Event) {
	v.claimed = false
	v.say("Iteration %s starting", v.count(p.N))
	begin := []rune(p.Prompt.Text)
	begin = begin[:min(len(begin), promptMost)]
	more := ""
	if len(string(begin)) < p.Prompt.Bytes {
		more = " …"
	}
	v.say("Prompt of %s, made in %s: %s%s", render.Bytes(int64(p.Prompt.Bytes)), v.since(event.DoBegin, e), strconv.Quote(string(begin)), more)
}

func (v *voice) count(n int) string {
	c := units.Count{Begun: n, Refunded: v.given, Maximum: v.rules.MaximumIterations}
	if c.Refunded == 0 {
		return c.Short()
	}
	return c.Number()
}

func (v *voice) iterationEnded(p event.IterationEnded) {
	if p.Outcome == event.OutcomeDone && !v.claimed {
		v.say("Completion looked for: %s; not claimed", v.markers())
	}
	text := string(p.Outcome)
	if p.Error != "" {
		text += ": " + p.Error
	}
	notes := tookMillis(p.Took)
	switch p.Progress {
	case "yes":
		notes += ", progress"
	case "no":
		notes += ", no progress"
	}
	if p.Refunded {
		notes += ", refunded"
	}
	v.say("Iteration %s ended: %s (%s)", v.count(p.N), text, notes)
	if p.Refunded {
		v.given++
	}
}

// markers are what completion is claimed with.
func (v *voice) markers() string {
	var markers []string
	if text := v.rules.CompletionPromise; text != "" {
		markers = append(markers, "<promise>"+text+"</promise>")
	}
	if text := v.rules.CompletionResponse; text != "" {
		markers = append(markers, "<response>"+text+"</response>")
	}
	return strings.Join(markers, " or ")
}

func (v *voice) loopEnded(p event.LoopEnded, e event.Event) {
	v.say("Loop %s: %s (%s)", p.Status, p.Why, took(e.At.Sub(v.began)))
	if p.Hint != "" {
		v.say("Hint: %s", p.Hint)
	}
	v.say("Result: %s, exit code %d", cmp.Or(p.Result, string(p.Reason)), p.Reason.ExitCode())
}
