// Package statuspage shows the state of one loop.
package statuspage

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/front/send"
	"github.com/ralph-loop/ralph/internal/ground/fence"
	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/journal"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/projector"
	"github.com/ralph-loop/ralph/render"
	"github.com/ralph-loop/ralph/render/phrase"
)

// Write shows one loop to a person, in lines of so many columns; a negative number breaks none.
func Write(w io.Writer, now time.Time, v *projector.View, width int) error {
	d := page{now: now, View: v}
	d.all()
	var text bytes.Buffer
	for _, f := range d.fields {
		name := f.name
		for line := range strings.SplitSeq(f.value, "\n") {
			for _, row := range cli.Wrapped(render.Clean(line), width-nameColumns) {
				fmt.Fprintf(&text, "%-*s%s\n", nameColumns, name, strings.TrimRight(row, " "))
				name = ""
			}
		}
	}
	_, err := w.Write(text.Bytes())
	return err
}

// nameColumns are the columns of a field's name and the blank after it.
const nameColumns = 11

// A page describes a loop.
type page struct {
	*projector.View
	now    time.Time
	fields []field
}

type field struct{ name, value string }

func (d *page) add(name, format string, args ...any) {
	d.fields = append(d.fields, field{name, fmt.Sprintf(format, args...)})
}

// addText adds a field unless it has no text.
func (d *page) addText(name, text string) {
	if text != "" {
		d.add(name, "%s", text)
	}
}

// addAll adds a field with a line for each value.
func addAll[T any](d *page, name string, values []T) {
	for _, v := range values {
		d.add(name, "%v", v)
		name = ""
	}
}

func (d *page) all() {
	d.add("loop", "%s", d.Name)
	d.lifecycle()
	d.iteration()
	d.stories()
	d.fleet()
	d.agent()
	d.account()
	d.limits()
	d.commands()
	d.questions()
	d.places()
	d.heldOut()
	d.kept()
}

// heldOut: the guardrails that the agent cannot read.
func (d *page) heldOut() {
	h := d.HeldOut
	if h == nil {
		return
	}
	says := units.Quantity(h.Guardrails, "guardrail")
	if h.Passed+h.Failed > 0 {
		says += fmt.Sprintf(", %d of %d passed", h.Passed, h.Passed+h.Failed)
	}
	if h.ByConvention {
		says += ", by convention: no sandbox"
	}
	if h.Error != "" {
		says += "; they could not run: " + h.Error
	}
	d.add("held out", "%s", says)
	addAll(d, "output", h.Outputs)
}

// fleet: the tasks of a fleet, with what all of their loops cost.
func (d *page) fleet() {
	tasks := d.Fleet
	if len(tasks) == 0 {
		return
	}
	var total float64
	known := false
	steps := map[event.FleetStep]int{}
	var lines []string
	for _, t := range tasks {
		steps[t.Step]++
		line := fmt.Sprintf("%s: %s", t.ID, t.Step)
		if l, err := projector.Load(filepath.Join(filepath.Dir(d.Dir), t.Loop)); err == nil && l.Begun() {
			line += " (loop " + t.Loop + ")"
			v := l.View()
			if v.Strength != "" && t.Why == "" {
				line += ", " + string(v.Strength)
			}
			if v.Cost != nil {
				total, known = total+*v.Cost, true
			}
		}
		if t.Why != "" {
			line += ": " + t.Why
		}
		lines = append(lines, line)
	}
	summary := fmt.Sprintf("%d of %d merged", steps[event.FleetMerged], len(tasks))
	for _, step := range []event.FleetStep{event.FleetWorking, event.FleetMerging, event.FleetWaiting, event.FleetFailed} {
		if steps[step] > 0 {
			summary += fmt.Sprintf(", %d %s", steps[step], step)
		}
	}
	if known {
		summary += "; together " + units.Cost(&total)
	}
	d.add("tasks", "%s", summary)
	addAll(d, "", lines)
}

// lifecycle: its status, its runner, what it waits for.
func (d *page) lifecycle() {
	switch ended := d.Ended; {
	case ended != nil:
		if d.ContinuesOn != "" {
			d.add("status", "%s; here it is %s (%s)", d.State, d.Status, ended.Reason)
		} else {
			d.add("status", "%s (%s): %s", d.Status, ended.Reason, ended.Why)
		}
		d.addText("strength", d.Done)
		if to, err := fence.Read(d.Dir); err == nil && to != nil && to.To == "" {
			d.addText("moved", to.Text())
		} else {
			d.addText("hint", d.NextStep)
		}
		d.addText("result", ended.Result)
		d.add("exit code", "%d", ended.Reason.ExitCode())
		if head, err := journal.Head(d.Dir); err == nil && head != "" {
			d.add("journal", "sha256 %s", head)
		}
		d.add("ended", "%s", d.clock(d.At))
	case !d.Alive:
		d.add("status", "died: it was %s and no runner has it; %s", d.Status, d.NextStep)
		d.add("last event", "%s", d.clock(d.At))
		d.left()
	default:
		live := d.Found.Live
		d.add("status", "%s", d.State)
		d.add("runner", "pid %d on %s since %s", live.PID, live.Host, d.clock(live.Since))
	}
	d.add("started", "%s", d.clock(d.Since))
	if d.Resumed > 0 {
		d.add("resumed", "%s", units.Times(d.Resumed))
	}
	if !d.Alive || d.Ended != nil {
		return
	}
	if d.Wait != nil {
		d.waits()
	}
	if next := d.Deadline; next != nil {
		d.add("next", "%s at %s (in %s)", next.What, d.clock(next.At), units.Span(next.At.Sub(d.now)))
	}
}

// left: the processes that outlived the runner. They still work, and no journal records their work.
func (d *page) left() {
	left, err := send.LeftBy(d.Found)
	switch {
	case err != nil:
		d.add("left over", "not known: %v", err)
	case len(left) > 0:
		d.add("left over", "%s", send.SpellStrays(left))
		d.add("", "'ralph kill %s' ends it, and so does a resume", d.Name)
	}
}

// waits: for what, until when, and the cause.
func (d *page) waits() {
	d.add("waits for", "%s", cli.Local(d.Waiting, d.now))
	switch d.Wait.For {
	case event.WaitPerson, event.WaitHeld:
		d.add("", "%s", d.NextStep)
	case event.WaitBreaker:
		d.add("", "%s", d.Wait.Hint)
	case event.WaitRestart:
	default:
		text := d.Wait.Error
		if n := d.Wait.Attempt; n > 1 {
			text = fmt.Sprintf("%d in a row: %s", n, text)
		}
		d.add("", "%s", text)
	}
}

func (d *page) iteration() {
	if d.Iteration == 0 {
		return
	}
	d.add("iteration", "%s, %s; began %s", d.count().Number(), d.Doing, d.clock(d.OpenSince))
	if d.Open {
		d.add("", "%s (%d failed) · %s", units.Quantity(d.Tools, "tool"), d.Failed, phrase.Usage(d.OpenUsage))
	}
	if d.Checking {
		d.guardrails()
	}
	if d.Last != nil {
		d.lastOne(d.Last)
	}
	t := &d.Trouble
	if t.Failures > 0 {
		d.add("failures", "%d in a row: %s", t.Failures, t.Failure)
	}
	if most := d.Rules.Breaker.NoProgress; t.Stuck > 0 && most > 0 {
		d.add("progress", "none for %s; at %d the loop ends", units.Quantity(t.Stuck, "iteration"), most)
		if t.Refusal != "" {
			d.add("refused", "again for the same reason: %s", t.Refusal)
		}
	}
	if t.Blind != "" {
		d.add("repository", "cannot be read, so progress is unknown: %s", t.Blind)
	}
	if d.Boxes > 0 {
		d.add("task.md", "%d of %d boxes ticked", d.Ticked, d.Boxes)
	}
	addAll(d, "changed", d.Edited)
	addAll(d, "edited", d.Checked)
}

// count are the iterations of the loop.
func (d *page) count() units.Count {
	return units.Count{Begun: d.Begun, Refunded: d.Refunded, Maximum: d.MaximumIterations}
}

// guardrails: which of them run, and for how long. The state does not contain that, so it is read
// from the end of the journal, if that can be read.
func (d *page) guardrails() {
	events, _, err := journal.Last(d.Dir, 64)
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
	var lines []string
	for _, e := range running {
		if p, err := event.As[event.GuardrailStarted](e); err == nil {
			lines = append(lines, firstLine(p.Name)+", for "+units.Span(d.now.Sub(e.At)))
		}
	}
	addAll(d, "guardrail", lines)
}

// lastOne: the result of the last iteration that ended.
func (d *page) lastOne(l *projector.Iteration) {
	text := fmt.Sprintf("%d %s in %s · %s (%d failed) · %s", l.N, l.Outcome, units.Span(time.Duration(l.Took)*time.Millisecond),
		units.Quantity(l.Tools, "tool"), l.ToolsFailed, phrase.Usage(l.Usage))
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
	d.addText("", l.Error)
	for _, missing := range l.Refused {
		d.add("", "completion refused: %s", missing)
	}
	switch {
	case len(l.Failed) > 0:
		d.add("guardrails", "%d of %d passed", l.Guardrails-len(l.Failed), l.Guardrails)
		for _, name := range l.Failed {
			d.add("", "failed: %s", firstLine(name))
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
	if pr := d.PullRequest; pr != nil {
		for _, line := range pr.Lines() {
			d.addText("published", line)
		}
		if pr.Error != "" {
			d.add("published", "failed: %s", pr.Error)
		}
	}
}

// agent: the one that works, and whether the others are tried again.
func (d *page) agent() {
	name := "agent"
	for _, a := range d.Workers {
		if a.Current {
			text := strings.TrimSpace(cmp.Or(a.Name, a.Protocol) + " " + a.Version)
			if len(a.Command) > 0 {
				text += " (" + strings.Join(a.Command, " ") + ")"
			}
			text += role(&a)
			if a.PID > 0 && d.Alive {
				text += fmt.Sprintf(", pid %d", a.PID)
				if a.Steerable {
					text += ", can be steered in mid-turn"
				}
			}
			d.add(name, "%s", text)
		}
	}
	for _, a := range d.Workers {
		if !a.Current {
			d.add("", "%s", d.otherAgent(a.Name+role(&a), &a))
		}
	}
}

// role is what an agent does, where others do something else.
func role(a *projector.Worker) string {
	if a.Role == "" {
		return ""
	}
	return " (" + a.Role + ")"
}

// otherAgent: whether an agent that is not in use is tried again.
func (d *page) otherAgent(name string, a *projector.Worker) string {
	switch {
	case a.Gone:
		return name + " is not tried again before the loop is resumed: " + a.Why
	case a.Until.After(d.now):
		return fmt.Sprintf("%s is tried again at %s: %s", name, d.clock(a.Until), a.Why)
	}
	return name + " is available"
}

// commands: those without an outcome yet.
func (d *page) commands() {
	where := map[string]string{
		projector.CommandReceived: "received", projector.CommandSent: "sent into the running turn", projector.CommandWaits: "waits for the next prompt",
	}
	for _, c := range d.Commands {
		text, at := string(c.Kind), where[c.State]
		if c.Prompt > 0 {
			at = fmt.Sprintf("in the prompt of iteration %d", c.Prompt)
		}
		if c.Key != "" {
			text += " " + c.Key + "=" + c.Val
		}
		if c.Text != "" {
			text += ": " + render.Cut(render.Clean(c.Text), 60)
		}
		d.add("open", "%s (%s), %s", text, c.From, at)
	}
}

// questionMost is how much of a question is shown, in characters.
const questionMost = 200

// questions are those of the agent that have no answer, or whose answer it does not have yet.
func (d *page) questions() {
	for _, q := range d.Questions {
		if q.Read {
			continue
		}
		text := units.Cut(strings.Join(strings.Fields(q.Text), " "), questionMost)
		if len(q.Choices) > 0 {
			text += " (" + strings.Join(q.Choices, " | ") + ")"
		}
		if q.Blocks {
			text += "; the work is not done without an answer"
		}
		d.add("question", "%d: %s", q.Number, render.Clean(text))
		switch {
		case !q.Open():
			d.add("", "answered: %s; the agent does not have it yet", render.Cut(render.Clean(q.Answer), 60))
		case d.Alive && d.Ended == nil:
			d.add("", "'ralph answer %s %d TEXT' answers it", d.Name, q.Number)
		default:
			d.add("", "it has no answer")
		}
	}
}

func (d *page) places() {
	d.addText("task", cmp.Or(d.Task.File, render.Cut(render.Clean(d.Task.Text), 100)))
	d.add("folder", "%s", d.Dir)
	d.add("project", "%s", d.Project)
	switch {
	case d.WorkDir == "":
	case d.Found.Found: // it came here, and no runner has worked here
		d.add("begun in", "%s", d.WorkDir)
	default:
		d.add("works in", "%s", d.WorkDir)
	}
}

// firstLine is what is shown of the name of a guardrail, which is a command.
func firstLine(name string) string { return render.Cut(render.Clean(units.FirstLine(name)), 100) }

// clock spells a moment: the time of day, with the date where it is not today.
func (d *page) clock(at time.Time) string { return cli.Clock(at, d.now) }

func (d *page) account() {
	d.add("used", "%s · %s · %s", d.count().Iterations(), units.Span(time.Duration(d.Ran)*time.Millisecond), phrase.Usage(d.Spent))
	if changed := phrase.Changed(d.Changed); changed != "" {
		d.add("changed", "%s", changed)
	}
	if d.Reviewed != nil {
		d.add("review", "%s; 'ralph review %s' shows it", d.Reviewed, d.Name)
	}
	var away []string
	for _, a := range d.Away {
		away = append(away, a.Text+": '"+a.Back+"' goes back")
	}
	addAll(d, "branch", away)
	for _, s := range d.Shares {
		d.add("", "%s: %s · %s", s.Name, units.Count{Begun: s.Iterations + s.Refunded, Refunded: s.Refunded}.Iterations(), phrase.Usage(s.Usage))
	}
	addAll(d, "warned", d.Trouble.Warnings)
}

func (d *page) limits() {
	r, l := d.Rules, d.Rules.Limits
	var limits, ends parts
	limits.add(r.MaximumIterations > 0, units.Quantity(r.MaximumIterations, "iteration"))
	limits.add(l.Cost > 0, units.Cost(&l.Cost))
	limits.add(l.Tokens > 0, units.Tokens(l.Tokens)+" tokens")
	limits.add(l.IterationCost > 0, units.Cost(&l.IterationCost)+" an iteration")
	limits.add(l.IterationTokens > 0, units.Tokens(l.IterationTokens)+" tokens an iteration")
	limits.add(l.Duration > 0, "duration "+l.Duration.String())
	limits.add(l.Iteration > 0, "iteration "+l.Iteration.String())
	limits.add(l.Idle > 0, "idle "+l.Idle.String())
	limits.add(l.Tool > 0, "tool "+l.Tool.String())
	limits.add(l.ExitGrace > 0, "exitGrace "+l.ExitGrace.String())
	limits.add(l.MaxOutage > 0, "maxOutage "+l.MaxOutage.String())
	d.add("limits", "%s", strings.Join(limits, ", "))
	ends.add(r.Breaker.NoProgress > 0, units.Quantity(r.Breaker.NoProgress, "iteration")+" without progress")
	ends.add(r.Breaker.SameError > 0, units.Quantity(r.Breaker.SameError, "iteration")+" with the same error")
	ends.add(r.Restart.Max > 0, "more than "+units.Quantity(r.Restart.Max, "failure")+" in a row")
	d.addText("ends at", strings.Join(ends, ", "))
}

// parts are the limits that are set.
type parts []string

func (p *parts) add(set bool, limit string) {
	if set {
		*p = append(*p, limit)
	}
}
