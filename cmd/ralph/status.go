package main

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/policy"
	"github.com/ralph-loop/ralph/journal"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/projector"
	"github.com/ralph-loop/ralph/registry"
	"github.com/ralph-loop/ralph/render"
)

type statusVerb struct {
	placed
	Name string `arg:"" optional:"" help:"The loop; without it the one that runs here."`
	JSON bool   `help:"Print the state as state.json has it, and who runs the loop."`
}

// Run shows where one loop stands. How the loop fares is no error of this verb: it
// is 0 whatever it shows.
func (v *statusVerb) Run(e *env) error {
	s, err := e.find(v.Name)
	if err != nil {
		return err
	}
	state, err := openState(s)
	if err != nil {
		return err
	}
	if v.JSON {
		return printJSON(e.stdout, statusFile{projector.FileOf(&state), runnerOf(s.Live)}, "")
	}
	d := details{now: e.now(), status: s, State: &state}
	d.all()
	width := e.look().Width
	var page bytes.Buffer
	for _, f := range d.fields {
		name := f.name
		for line := range strings.SplitSeq(f.value, "\n") {
			for _, row := range wrapped(render.Clean(line), width-namesWide) {
				fmt.Fprintf(&page, "%-*s%s\n", namesWide, name, row)
				name = ""
			}
		}
	}
	_, err = e.stdout.Write(page.Bytes())
	return err
}

// statusFile is state.json with what no file can say.
type statusFile struct {
	projector.File
	Runner runnerNow `json:"runner"`
}

// runnerNow says whether a loop's runner lives, and who it is or, where it died, was. One that has left in good order has no pid.
type runnerNow struct {
	Alive bool       `json:"alive"`
	PID   int        `json:"pid,omitempty"`
	Host  string     `json:"host,omitempty"`
	Since *time.Time `json:"since,omitempty"`
}

func runnerOf(live registry.Liveness) runnerNow {
	r := runnerNow{Alive: live.Alive, PID: live.PID, Host: live.Host}
	if !live.Since.IsZero() {
		r.Since = &live.Since
	}
	return r
}

// namesWide are the columns of a detail's name and the blank behind it, narrowest those that are
// always left for its value.
const namesWide, narrowest = 11, 20

// wrapped breaks a clean line between words, where the terminal has less room; without a terminal it
// stays whole. A word that is longer stays whole as well: it may be a path that is to be copied.
func wrapped(line string, room int) []string {
	if room < 0 {
		return []string{line}
	}
	room = max(room, narrowest)
	var rows []string
	row := ""
	for word := range strings.SplitSeq(line, " ") {
		if row != "" && render.Columns(row)+1+render.Columns(word) > room {
			rows, row = append(rows, row), word
			continue
		}
		if row != "" {
			row += " "
		}
		row += word
	}
	return append(rows, row)
}

// details puts a state into words.
type details struct {
	*projector.State
	status registry.Status
	now    time.Time
	fields []detail
}

type detail struct{ name, value string }

func (d *details) add(name, format string, args ...any) {
	d.fields = append(d.fields, detail{name, fmt.Sprintf(format, args...)})
}

func (d *details) all() {
	d.add("loop", "%s", d.status.Name)
	d.standing()
	d.iteration()
	d.agent()
	d.account()
	d.limits()
	d.commands()
	d.places()
}

// standing: its status, who runs it, what it waits for.
func (d *details) standing() {
	live := d.status.Live
	switch ended := d.Life.Ended; {
	case ended != nil:
		d.add("status", "%s (%s): %s", d.Status(), ended.Reason, ended.Why)
		if hint := nextStep(d.status.Name, ended); hint != "" {
			d.add("hint", "%s", hint)
		}
		if ended.Result != "" {
			d.add("result", "%s", ended.Result)
		}
		d.add("exit code", "%d", ended.Reason.ExitCode())
		if head, err := journal.Head(d.status.Dir); err == nil && head != "" {
			d.add("journal", "sha256 %s", head)
		}
		d.add("ended", "%s", d.clock(d.At))
	case !live.Alive:
		d.add("status", "died: it was %s and no runner has it; 'ralph start %s --resume' goes on with it", d.Status(), d.status.Name)
		d.add("last event", "%s", d.clock(d.At))
		d.left()
	default:
		d.add("status", "%s", withPending(d.Status(), d.Pending()))
		d.add("runner", "pid %d on %s since %s", live.PID, live.Host, d.clock(live.Since))
	}
	d.add("started", "%s", d.clock(d.Life.Started))
	if d.Life.Resumed > 0 {
		d.add("resumed", "%s", times(d.Life.Resumed))
	}
	if !live.Alive || d.Life.Ended != nil {
		return
	}
	d.waits()
	if next, ok := d.Deadline(); ok {
		d.add("next", "%s at %s (in %s)", deadlines[next.Name], d.clock(next.At), render.Span(next.At.Sub(d.now)))
	}
}

// withPending is a loop's status with the pause or stop that is still to come: "running, pausing after iteration 9".
func withPending(status, pending string) string {
	switch {
	case pending == "":
		return status
	case status == event.StatusStopping: // the one word says the other
		return pending
	}
	return status + ", " + pending
}

// left: what outlived the runner. It works on, and nobody records what it does.
func (d *details) left() {
	left, err := leftBy(d.status)
	switch {
	case err != nil:
		d.add("left over", "not known: %v", err)
	case len(left) > 0:
		d.add("left over", "%s", spellStrays(left))
		d.add("", "'ralph kill %s' ends it, and so does a resume", d.status.Name)
	}
}

// waits: for what, until when, and what brought that about.
func (d *details) waits() {
	if d.Status() != event.StatusWaiting {
		return
	}
	if d.Life.Person {
		d.add("waits for", "a person: %s", d.Person.Waits)
		d.add("", "'ralph resume %s' lets it go on", d.status.Name)
		return
	}
	d.add("waits for", "%s", local(d.Waiting(), d.now))
	switch d.Delay().Name {
	case policy.TimerLimit:
		text := d.Limits.Error
		if n := d.Limits.Attempt; n > 1 {
			text = fmt.Sprintf("%d in a row: %s", n, text)
		}
		d.add("", "%s", text)
	case policy.TimerBreaker:
		d.add("", "%s", d.Breaker.Hint)
	}
}

// local spells the moment at the end of what a loop waits for as a person here reads it.
func local(waiting string, now time.Time) string {
	at := strings.LastIndexByte(waiting, ' ') + 1
	until, err := time.Parse(time.RFC3339, waiting[at:])
	if err != nil {
		return waiting
	}
	return waiting[:at] + clock(until, now)
}

// deadlines says what a deadline would do.
var deadlines = map[string]string{
	policy.TimerIdle:        "limits.idle cuts the iteration short",
	policy.TimerIteration:   "limits.iteration cuts the iteration short",
	policy.TimerBackground:  "limits.tool cuts the iteration short",
	policy.TimerTool:        "limits.tool cuts the iteration short",
	policy.TimerLimit:       "it is tried again",
	policy.TimerBreaker:     "the next iteration begins",
	policy.TimerAfterResult: "limits.afterResult ends the agent's process",
	policy.TimerRestart:     "the next iteration",
	policy.TimerDuration:    "limits.duration ends the loop",
}

// phases says what an iteration is doing.
var phases = map[policy.Phase]string{
	policy.Between:   "ended",
	policy.Beginning: "its prompt is being composed",
	policy.Opened:    "its prompt is ready",
	policy.Starting:  "the agent is being started",
	policy.Turning:   "the agent works",
	policy.Finished:  "the agent has finished",
	policy.Leaving:   "the agent's process is being ended",
	policy.Gone:      "the agent is gone or at rest",

	policy.Checking:   "what it left is being checked",
	policy.Checked:    "what it left is checked",
	policy.Committing: "its work is being committed",
	policy.Settled:    "its work is committed or left as it is",
	policy.Verifying:  "ended; the file DONE is being verified",
}

func (d *details) iteration() {
	if d.Life.Iteration == 0 {
		return
	}
	d.add("iteration", "%s, %s; began %s", d.Budget.Count().Number(), phases[d.Life.Phase], d.clock(d.Life.Since))
	if m := d.Budget.Current; d.Life.Phase != policy.Between {
		d.add("", "%s (%d failed) · %s", quantity(m.Tools, "tool"), m.Failed, render.Usage(m.Spent()))
	}
	if d.Life.Phase == policy.Checking || d.Life.Phase == policy.Verifying {
		d.guardrails()
	}
	if l := d.Last; l != nil {
		d.lastOne(l)
	}
	if n := d.Restart.Failures; n > 0 {
		d.add("failures", "%d in a row: %s", n, d.Restart.Error)
	}
	if b := d.Breaker; b.Stuck > 0 && d.Budget.Rules.NoProgress > 0 {
		d.add("progress", "none for %s; at %d the loop ends", quantity(b.Stuck, "iteration"), d.Budget.Rules.NoProgress)
	}
	if why := d.Breaker.Blind; why != "" {
		d.add("repository", "not seen, so that progress is not known: %s", why)
	}
	if c := d.Completion; c.Boxes > 0 {
		d.add("task.md", "%d of %d boxes ticked", c.Ticked, c.Boxes)
	}
	for i, file := range d.Seal.Unaccepted() {
		d.add(map[bool]string{true: "changed"}[i == 0], "%s", file)
	}
	for i, edited := range d.Gate.Edited {
		d.add(map[bool]string{true: "edited"}[i == 0], "%s", edited)
	}
}

// guardrails: which of them run, and for how long. The state does not say, so the end of the journal is asked; where
// it cannot be read, what the state says is enough.
func (d *details) guardrails() {
	events, _, err := journal.Last(d.status.Dir, 64)
	if err != nil {
		return
	}
	var running []event.Event
	for _, e := range events {
		switch e.Type {
		case event.TypeGuardrailStarted:
			running = append(running, e)
		case event.TypeGuardrailEnded:
			name := string(e.Field("name"))
			if i := slices.IndexFunc(running, func(r event.Event) bool { return string(r.Field("name")) == name }); i >= 0 {
				running = slices.Delete(running, i, i+1)
			}
		case event.TypeDecided:
			running = nil // of another check
		}
	}
	for i, e := range running {
		p, err := event.As[event.GuardrailStarted](e)
		if err != nil {
			continue
		}
		d.add(map[bool]string{true: "guardrail"}[i == 0], "%s, for %s", render.Cut(render.Clean(firstLine(p.Name)), 100), render.Span(d.now.Sub(e.At)))
	}
}

// lastOne: what the last iteration that ended came to.
func (d *details) lastOne(l *projector.Telemetry) {
	text := fmt.Sprintf("%d %s in %s · %s (%d failed) · %s", l.N, l.Outcome, render.Span(time.Duration(l.Took)*time.Millisecond),
		quantity(l.Tools, "tool"), l.ToolsFailed, render.Usage(l.Usage))
	switch l.Progress {
	case "yes":
		text += " · progress"
	case "no":
		text += " · no progress"
	}
	if l.Refunded {
		text += " · refunded"
	}
	d.add("last one", "%s", text)
	if l.Error != "" {
		d.add("", "%s", l.Error)
	}
	for _, missing := range l.Refused {
		d.add("", "completion refused: %s", missing)
	}
	switch {
	case len(l.Failed) > 0:
		d.add("guardrails", "%d of %d passed", l.Guardrails-len(l.Failed), l.Guardrails)
		for _, name := range l.Failed {
			d.add("", "failed: %s", render.Cut(render.Clean(firstLine(name)), 100))
		}
	case l.Guardrails > 0:
		d.add("guardrails", "all %d passed", l.Guardrails)
	}
	switch {
	case l.Commit == nil:
	case l.Commit.SHA == "":
		d.add("commit", "%s (which commit is not known)", l.Commit.Subject)
	default:
		d.add("commit", "%.10s %s", l.Commit.SHA, l.Commit.Subject)
	}
	if l.Unkept != "" {
		d.add("commit", "failed: %s", l.Unkept)
	}
}

func (d *details) agent() {
	a := d.Life.Agent
	text := strings.TrimSpace(cmp.Or(a.Name, a.Protocol) + " " + a.Version)
	if len(a.Command) > 0 {
		text += " (" + strings.Join(a.Command, " ") + ")"
	}
	if p := d.Life.Process; p.Alive && d.status.Live.Alive {
		text += fmt.Sprintf(", pid %d", p.PID)
		if p.Live {
			text += ", can be steered in mid-turn"
		}
	}
	d.add("agent", "%s", text)
	rules := d.Budget.Rules
	for i, other := range rules.Agents {
		if i != d.Failover.Agent {
			d.add("", "%s", d.otherAgent(other.Name, d.Failover.Standing(i, policy.Standing{}, rules)))
		}
	}
}

// otherAgent: whether one that does not work now is tried again.
func (d *details) otherAgent(name string, standing policy.Standing) string {
	switch {
	case standing.Gone():
		return name + " is not tried again before the loop is resumed: " + standing.Why
	case standing.Until.After(d.now):
		return fmt.Sprintf("%s is tried again at %s: %s", name, d.clock(standing.Until), standing.Why)
	}
	return name + " stands by"
}

// commands: those that nobody has answered yet.
func (d *details) commands() {
	for _, c := range d.Mail.Open {
		where := "received"
		switch {
		case c.Prompt > 0:
			where = fmt.Sprintf("in the prompt of iteration %d", c.Prompt)
		case c.Sent:
			where = "sent into the running turn"
		case c.Held, c.Kind == policy.FollowUp:
			where = "waits for the next prompt"
		}
		text := c.Kind
		if c.Key != "" {
			text += " " + c.Key + "=" + c.Val
		}
		if c.Text != "" {
			text += ": " + render.Cut(render.Clean(c.Text), 60)
		}
		d.add("open", "%s (%s), %s", text, c.From, where)
	}
}

func (d *details) places() {
	if d.Life.Task.File != "" {
		d.add("task", "%s", d.Life.Task.File)
	} else if d.Life.Task.Text != nil {
		d.add("task", "%s", render.Cut(render.Clean(d.Life.Task.Text.Text), 100))
	}
	d.add("folder", "%s", d.status.Dir)
	d.add("project", "%s", d.status.Project)
	if d.Life.Project != d.status.Project && d.Life.Project != "" {
		d.add("works in", "%s", d.Life.Project)
	}
}

// clock spells a moment: the time of day, with the date where it is not today.
func (d *details) clock(at time.Time) string { return clock(at, d.now) }

func clock(at, now time.Time) string {
	at = at.In(now.Location())
	if y, m, day := now.Date(); at.Year() == y && at.Month() == m && at.Day() == day {
		return at.Format("15:04:05")
	}
	return at.Format("2006-01-02 15:04:05")
}

func quantity(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}
