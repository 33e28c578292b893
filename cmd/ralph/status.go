package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/policy"
	"github.com/ralph-loop/ralph/projector"
	"github.com/ralph-loop/ralph/registry"
	"github.com/ralph-loop/ralph/render"
)

type statusVerb struct {
	Name string `arg:"" optional:"" help:"The loop; without it the one that runs here."`
	JSON bool   `help:"Print the state as state.json has it."`
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
		_, err = e.stdout.Write(projector.Encode(&state))
		return err
	}
	d := details{now: e.now(), status: s, State: &state}
	d.all()
	for _, f := range d.fields {
		lines := strings.Split(f.value, "\n")
		for i, line := range lines {
			name := f.name
			if i > 0 {
				name = ""
			}
			fmt.Fprintf(e.stdout, "%-10s %s\n", name, render.Clean(line))
		}
	}
	return nil
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
	switch {
	case d.Life.Ended != nil:
		d.add("status", "%s (%s): %s", d.Status(), d.Life.Ended.Reason, d.Life.Ended.Why)
		d.add("ended", "%s", d.clock(d.At))
	case !live.Alive:
		d.add("status", "died: it was %s and no runner has it; 'ralph start %s --resume' goes on with it", d.Status(), d.status.Name)
		d.add("last event", "%s", d.clock(d.At))
	default:
		d.add("status", "%s", d.Status())
		d.add("runner", "pid %d on %s since %s", live.PID, live.Host, d.clock(live.Since))
	}
	d.add("started", "%s", d.clock(d.Life.Started))
	if d.Life.Resumed > 0 {
		d.add("resumed", "%s", times(d.Life.Resumed))
	}
	if !live.Alive || d.Life.Ended != nil {
		return
	}
	if waiting := d.Waiting(); waiting != "" {
		d.add("waits for", "%s", waiting)
	}
	if d.Mail.Pausing && !d.Life.Paused {
		d.add("then", "pause")
	}
	if next, ok := d.Deadline(); ok {
		d.add("next", "%s at %s (in %s)", deadlines[next.Name], d.clock(next.At), render.Span(next.At.Sub(d.now)))
	}
}

// deadlines says what a deadline would do.
var deadlines = map[string]string{
	policy.TimerIdle:        "limits.idle cuts the iteration short",
	policy.TimerIteration:   "limits.iteration cuts the iteration short",
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
}

func (d *details) iteration() {
	if d.Life.Iteration == 0 {
		return
	}
	text := iterations(d.Life.Iteration, d.Budget.Rules.MaximumIterations)
	d.add("iteration", "%s, %s; began %s", strings.TrimPrefix(text, "iteration "), phases[d.Life.Phase], d.clock(d.Life.Since))
	if m := d.Budget.Current; d.Life.Phase != policy.Between {
		d.add("", "%s (%d failed) · %s", quantity(m.Tools, "tool"), m.Failed, render.Usage(m.Spent()))
	}
	if l := d.Last; l != nil {
		d.add("last one", "%d %s in %s · %s (%d failed) · %s", l.N, l.Outcome, render.Span(time.Duration(l.Took)*time.Millisecond),
			quantity(l.Tools, "tool"), l.ToolsFailed, render.Usage(l.Usage))
		if l.Error != "" {
			d.add("", "%s", l.Error)
		}
		for _, missing := range l.Refused {
			d.add("", "completion refused: %s", missing)
		}
	}
	if n := d.Restart.Failures; n > 0 {
		d.add("failures", "%d in a row: %s", n, d.Restart.Error)
	}
}

func (d *details) agent() {
	a := d.Life.Agent
	text := strings.TrimSpace(a.Protocol + " " + a.Version)
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
}

func (d *details) account() { d.add("used", "%s", render.Usage(d.Budget.Used())) }

func (d *details) limits() {
	r := d.Budget.Rules
	var parts []string
	if r.MaximumIterations > 0 {
		parts = append(parts, quantity(r.MaximumIterations, "iteration"))
	}
	if r.LimitCost > 0 {
		parts = append(parts, render.Cost(&r.LimitCost))
	}
	if r.LimitTokens > 0 {
		parts = append(parts, render.Tokens(r.LimitTokens)+" tokens")
	}
	for _, l := range []struct {
		name string
		ms   int64
	}{{"duration", r.LimitDuration}, {"iteration", r.IterationLimit}, {"idle", r.IdleAfter}} {
		if l.ms > 0 {
			parts = append(parts, l.name+" "+(time.Duration(l.ms)*time.Millisecond).String())
		}
	}
	d.add("limits", "%s", strings.Join(parts, ", "))
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
}

// clock spells a moment: the time of day, with the date where it is not today.
func (d *details) clock(at time.Time) string {
	at = at.In(d.now.Location())
	if y, m, day := d.now.Date(); at.Year() == y && at.Month() == m && at.Day() == day {
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
