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

	"github.com/ralph-loop/ralph/client"
	"github.com/ralph-loop/ralph/internal/core/loopstate"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/front/send"
	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/internal/runner"
	"github.com/ralph-loop/ralph/internal/verb/launch"
	"github.com/ralph-loop/ralph/journal"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/registry"
	"github.com/ralph-loop/ralph/render"
)

// Write shows one loop to a person, in lines of so many columns; a negative number breaks none.
func Write(w io.Writer, now time.Time, s registry.Status, state *loopstate.State, kept []Kept, width int) error {
	d := page{now: now, status: s, State: state}
	d.all()
	d.kept(kept)
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

// JSON returns state.json with the facts that are in no file.
func JSON(s registry.Status, state *loopstate.State, kept []Kept) any {
	r := liveRunner{Alive: s.Live.Alive}
	if s.Live.PID != 0 {
		r.Liveness = &s.Live
	}
	return struct {
		loopstate.File
		Runner  liveRunner    `json:"runner"`
		Stories *storiesTable `json:"stories,omitempty"`
		Kept    []Kept        `json:"kept,omitempty"`
	}{loopstate.FileOf(state), r, tableOf(state), kept}
}

// liveRunner says whether a loop's runner lives, and which process it is or, if it died, was. For
// one that ended in good order there is no process.
type liveRunner struct {
	Alive bool `json:"alive"`
	*registry.Liveness
}

// nameColumns are the columns of a field's name and the blank after it.
const nameColumns = 11

// A page describes the state of a loop.
type page struct {
	*loopstate.State
	status registry.Status
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
	d.add("loop", "%s", d.status.Name)
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
}

// fleet: the tasks of a fleet, with what all of their loops cost.
func (d *page) fleet() {
	tasks := d.State.Fleet.Tasks
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
		if s, err := loopstate.Open(filepath.Join(filepath.Dir(d.status.Dir), t.Loop)); err == nil && s.Begun() {
			line += " (loop " + t.Loop + ")"
			if used := s.Budget.Used(); used.USD != nil {
				total, known = total+*used.USD, true
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
	live := d.status.Live
	switch ended := d.Lifecycle.Ended; {
	case ended != nil:
		d.add("status", "%s (%s): %s", d.Status(), ended.Reason, ended.Why)
		if fence, err := launch.ReadFence(d.status.Dir); err == nil && fence != nil {
			d.addText("moved", fence.Text())
		} else {
			d.addText("hint", client.NextStep(d.status.Name, ended))
		}
		d.addText("result", ended.Result)
		d.add("exit code", "%d", ended.Reason.ExitCode())
		if head, err := journal.Head(d.status.Dir); err == nil && head != "" {
			d.add("journal", "sha256 %s", head)
		}
		d.add("ended", "%s", d.clock(d.At))
	case !live.Alive:
		d.add("status", "died: it was %s and no runner has it; 'ralph start %s --resume' resumes it", d.Status(), d.status.Name)
		d.add("last event", "%s", d.clock(d.At))
		d.left()
	default:
		d.add("status", "%s", cli.WithPending(d.Status().String(), d.Pending()))
		d.add("runner", "pid %d on %s since %s", live.PID, live.Host, d.clock(live.Since))
	}
	d.add("started", "%s", d.clock(d.Lifecycle.Started))
	if d.Lifecycle.Resumed > 0 {
		d.add("resumed", "%s", units.Times(d.Lifecycle.Resumed))
	}
	if !live.Alive || d.Lifecycle.Ended != nil {
		return
	}
	if d.Status() == event.StatusWaiting {
		d.waits()
	}
	if next, ok := d.Deadline(); ok {
		d.add("next", "%s at %s (in %s)", deadlines[next.Name], d.clock(next.At), units.Span(next.At.Sub(d.now)))
	}
}

// left: the processes that outlived the runner. They still work, and no journal records their work.
func (d *page) left() {
	left, err := send.LeftBy(d.status)
	switch {
	case err != nil:
		d.add("left over", "not known: %v", err)
	case len(left) > 0:
		d.add("left over", "%s", send.SpellStrays(left))
		d.add("", "'ralph kill %s' ends it, and so does a resume", d.status.Name)
	}
}

// waits: for what, until when, and the cause.
func (d *page) waits() {
	d.add("waits for", "%s", cli.Local(d.Waiting(), d.now))
	switch d.Wait.For {
	case event.WaitPerson:
		if n := d.Questions.Waits; len(n) > 0 {
			d.add("", "'ralph answer %s %d TEXT' continues it", d.status.Name, n[0])
			break
		}
		d.add("", "'ralph resume %s' continues it", d.status.Name)
	case event.WaitBreaker:
		d.add("", "%s", d.Breaker.Hint)
	case event.WaitRestart:
	case event.WaitHeld:
		d.add("", "'ralph resume %s' lets it go on at once", d.status.Name)
	default:
		text := d.Failover.Limits.Error
		if n := d.Failover.Limits.Attempt; n > 1 {
			text = fmt.Sprintf("%d in a row: %s", n, text)
		}
		d.add("", "%s", text)
	}
}

// deadlines says what a deadline would do.
var deadlines = map[string]string{
	policy.TimerIdle:       "limits.idle cuts the iteration short",
	policy.TimerIteration:  "limits.iteration cuts the iteration short",
	policy.TimerBackground: "limits.tool cuts the iteration short",
	policy.TimerTool:       "limits.tool cuts the iteration short",
	policy.TimerLimit:      "it is tried again",
	policy.TimerBreaker:    "the next iteration begins",
	policy.TimerExitGrace:  "limits.exitGrace ends the agent's process",
	policy.TimerRestart:    "the next iteration",
	policy.TimerHeld:       "its turn comes",
	policy.TimerDuration:   "limits.duration ends the loop",
}

func (d *page) iteration() {
	if d.Lifecycle.Iteration == 0 {
		return
	}
	d.add("iteration", "%s, %s; began %s", d.Budget.Count(d.Rules).Number(), d.Doing(), d.clock(d.Lifecycle.Since))
	if m := d.Budget.Current; d.Lifecycle.Phase != policy.Between {
		d.add("", "%s (%d failed) · %s", units.Quantity(m.Tools, "tool"), m.Failed, render.Usage(m.Spent()))
	}
	if d.Phase.Verifying() {
		d.guardrails()
	}
	if d.Last != nil {
		d.lastOne(d.Last)
	}
	if n := d.Failover.Restart.Failures; n > 0 {
		d.add("failures", "%d in a row: %s", n, d.Failover.Restart.Error)
	}
	if b := d.Breaker; b.Stuck > 0 && d.Rules.Breaker.NoProgress > 0 {
		d.add("progress", "none for %s; at %d the loop ends", units.Quantity(b.Stuck, "iteration"), d.Rules.Breaker.NoProgress)
		if b.Refusal != "" {
			d.add("refused", "again for the same reason: %s", b.Refusal)
		}
	}
	if why := d.Breaker.Blind; why != "" {
		d.add("repository", "cannot be read, so progress is unknown: %s", why)
	}
	if c := d.Completion; c.Boxes > 0 {
		d.add("task.md", "%d of %d boxes ticked", c.Ticked, c.Boxes)
	}
	addAll(d, "changed", d.FileChanges.Unaccepted())
	addAll(d, "edited", d.Verification.Edited)
}

// guardrails: which of them run, and for how long. The state does not contain that, so it is read
// from the end of the journal, if that can be read.
func (d *page) guardrails() {
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
	var lines []string
	for _, e := range running {
		if p, err := event.As[event.GuardrailStarted](e); err == nil {
			lines = append(lines, firstLine(p.Name)+", for "+units.Span(d.now.Sub(e.At)))
		}
	}
	addAll(d, "guardrail", lines)
}

// lastOne: the result of the last iteration that ended.
func (d *page) lastOne(l *loopstate.Telemetry) {
	text := fmt.Sprintf("%d %s in %s · %s (%d failed) · %s", l.N, l.Outcome, units.Span(time.Duration(l.Took)*time.Millisecond),
		units.Quantity(l.Tools, "tool"), l.ToolsFailed, render.Usage(l.Usage))
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
	if pr := d.Lifecycle.PullRequest; pr != nil {
		d.addText("published", pr.URL)
		if pr.Error != "" {
			d.add("published", "failed: %s", pr.Error)
		}
	}
}

func (d *page) agent() {
	a := d.Lifecycle.Agent
	text := strings.TrimSpace(cmp.Or(a.Name, a.Protocol) + " " + a.Version)
	if len(a.Command) > 0 {
		text += " (" + strings.Join(a.Command, " ") + ")"
	}
	text += d.role(d.Failover.Agent)
	if p := d.Lifecycle.Process; p.Alive && d.status.Live.Alive {
		text += fmt.Sprintf(", pid %d", p.PID)
		if p.Live {
			text += ", can be steered in mid-turn"
		}
	}
	d.add("agent", "%s", text)
	for i, other := range d.Rules.Agents {
		if i != d.Failover.Agent {
			d.add("", "%s", d.otherAgent(other.Name+d.role(i), d.Failover.Of(i, policy.Availability{}, d.Rules)))
		}
	}
}

// role is what the agent at a place does, where others review.
func (d *page) role(place int) string {
	switch {
	case d.Rules.Reviewers == 0:
		return ""
	case policy.IsReviewer(d.Rules, place):
		return " (reviews)"
	}
	return " (implements)"
}

// otherAgent: whether an agent that is not in use is tried again.
func (d *page) otherAgent(name string, a policy.Availability) string {
	switch {
	case a.Gone():
		return name + " is not tried again before the loop is resumed: " + a.Why
	case a.Until.After(d.now):
		return fmt.Sprintf("%s is tried again at %s: %s", name, d.clock(a.Until), a.Why)
	}
	return name + " is available"
}

// commands: those without an outcome yet.
func (d *page) commands() {
	for _, c := range d.Commands.Open {
		where := "received"
		switch {
		case c.Prompt > 0:
			where = fmt.Sprintf("in the prompt of iteration %d", c.Prompt)
		case c.Sent:
			where = "sent into the running turn"
		case c.Held, c.Kind == event.CommandFollowUp:
			where = "waits for the next prompt"
		}
		text := string(c.Kind)
		if c.Key != "" {
			text += " " + c.Key + "=" + c.Val
		}
		if c.Text != "" {
			text += ": " + render.Cut(render.Clean(c.Text), 60)
		}
		d.add("open", "%s (%s), %s", text, c.From, where)
	}
}

// questions are those of the agent that have no answer, or whose answer it does not have yet.
func (d *page) questions() {
	for _, q := range d.Questions.List {
		if q.Read {
			continue
		}
		text := render.Clean(q.Brief())
		if len(q.Choices) > 0 {
			text += " (" + render.Clean(strings.Join(q.Choices, " | ")) + ")"
		}
		if q.Blocks {
			text += "; the work is not done without an answer"
		}
		d.add("question", "%d: %s", q.Number, text)
		switch {
		case !q.Open():
			d.add("", "answered: %s; the agent does not have it yet", render.Cut(render.Clean(q.Answer), 60))
		case d.status.Live.Alive && d.Lifecycle.Ended == nil:
			d.add("", "'ralph answer %s %d TEXT' answers it", d.status.Name, q.Number)
		default:
			d.add("", "it has no answer")
		}
	}
}

func (d *page) places() {
	if file := runner.PromptFile(d.State, d.status.Dir); file != "" {
		d.add("task", "%s", file)
	} else if d.Lifecycle.Task.Text != nil {
		d.add("task", "%s", render.Cut(render.Clean(d.Lifecycle.Task.Text.Text), 100))
	}
	d.add("folder", "%s", d.status.Dir)
	d.add("project", "%s", d.status.Project)
	switch at := d.Lifecycle.Project; {
	case at == d.status.Project, at == "":
	case d.status.Found: // it came here, and no runner has worked here
		d.add("begun in", "%s", at)
	default:
		d.add("works in", "%s", at)
	}
}

// firstLine is what is shown of the name of a guardrail, which is a command.
func firstLine(name string) string { return render.Cut(render.Clean(units.FirstLine(name)), 100) }

// clock spells a moment: the time of day, with the date where it is not today.
func (d *page) clock(at time.Time) string { return cli.Clock(at, d.now) }

func (d *page) account() {
	b := &d.Budget
	d.add("used", "%s · %s · %s", b.Count(d.Rules).Iterations(), units.Span(b.Ran()), render.Usage(b.Used()))
	if changed := render.Changed(d.Changes.Whole()); changed != "" {
		d.add("changed", "%s", changed)
	}
	var away []string
	for _, seen := range d.Changes.Away() {
		root := filepath.Join(d.Lifecycle.Project, filepath.FromSlash(seen.Root))
		if filepath.IsAbs(seen.Root) {
			root = seen.Root
		}
		away = append(away, render.Clean(fmt.Sprintf("%s: 'git -C %s switch %s' goes back", seen.Away(), root, seen.Left)))
	}
	addAll(d, "branch", away)
	if len(d.Rules.Agents) > 1 { // else it was resumed with one, whose share is not kept
		for i := range b.Agents {
			s := &b.Agents[i]
			d.add("", "%s: %s · %s", s.Name, s.Count().Iterations(), render.Usage(s.Spent()))
		}
	}
	var warnings []string
	for _, limit := range b.Warned {
		warnings = append(warnings, d.warning(limit))
	}
	addAll(d, "warned", warnings)
}

// warning says how near the limit of a warning is.
func (d *page) warning(limit string) string {
	b, r := &d.Budget, &d.Rules
	used := b.Used()
	switch limit {
	case "limits.cost":
		if !d.Lifecycle.Process.Costs || used.USD == nil {
			return limit + ": not all costs are reported, and what is not reported cannot stop the loop"
		}
		return fmt.Sprintf("%s: %s of %s", limit, units.Cost(used.USD), units.Cost(&r.Limits.Cost))
	case "limits.tokens":
		if d.Lifecycle.Process.Uncounted || used.TokensUnknown {
			return limit + ": not all tokens are reported, and what is not reported cannot stop the loop"
		}
		return fmt.Sprintf("%s: %s of %s", limit, units.Tokens(used.Tokens()), units.Tokens(r.Limits.Tokens))
	case "limits.duration":
		return fmt.Sprintf("%s: %s of %s", limit, units.Span(b.Ran()), units.Span(r.Limits.Duration.Std()))
	case "maximumIterations":
		return fmt.Sprintf("%s: %d of %d", limit, b.Counted, r.MaximumIterations)
	}
	return limit + " is near"
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
