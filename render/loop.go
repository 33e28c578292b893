package render

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/units"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/projector"
)

// account is what a loop came to.
type account struct {
	count     units.Count
	usage     event.Usage
	unpriced  bool // some iteration's cost is not known
	uncounted bool // some iteration's tokens are not known
	started   time.Time
	// worker is whose the next iteration is, where the loop has several agents; first the one that it would rather have.
	worker, first string
}

func accountOf(s *projector.State) account {
	total := s.Budget.Total
	a := account{
		count: s.Budget.Count(),
		usage: total, unpriced: s.Budget.Unknown, uncounted: s.Budget.TokensUnknown,
		started: s.Life.Started,
	}
	a.hire(s.Budget.Rules)
	if a.first != "" {
		a.worker = s.Life.Agent.Name
	}
	return a
}

// hire notes whose the next iteration is when a runner takes the loop up.
func (a *account) hire(r event.Rules) {
	a.worker, a.first = "", ""
	if len(r.Agents) > 1 {
		a.worker, a.first = r.Agents[0].Name, r.Agents[0].Name
	}
}

// add takes in an iteration.
func (a *account) add(p event.IterationEnded) {
	a.usage.In += p.Usage.In
	a.usage.Out += p.Usage.Out
	a.usage.CacheRead += p.Usage.CacheRead
	a.usage.CacheWrite += p.Usage.CacheWrite
	a.uncounted = a.uncounted || p.Usage.TokensUnknown
	if p.Usage.USD == nil {
		a.unpriced = a.unpriced || p.Usage.TokensUnknown || p.Usage.Tokens() > 0
		return
	}
	sum := *p.Usage.USD
	if a.usage.USD != nil {
		sum += *a.usage.USD
	}
	a.usage.USD = &sum
}

// Usage spells tokens and money.
func Usage(u event.Usage) string {
	text := "tokens unknown"
	if !u.TokensUnknown {
		text = counts(u)
	}
	text += " · "
	if u.USD == nil {
		text += "cost "
	}
	return text + Cost(u.USD)
}

// counts spells tokens, as far as they are known.
func counts(u event.Usage) string {
	text := Tokens(u.In+u.CacheRead+u.CacheWrite) + " tokens in"
	if u.CacheRead > 0 {
		text += " (" + Tokens(u.CacheRead) + " cached)"
	}
	return text + " · " + Tokens(u.Out) + " out"
}

// total spells what all iterations used. What is known of a cost, or of tokens, that is partly
// unknown is said to be at least that.
func (a *account) total() string {
	usage := a.usage
	usage.TokensUnknown = a.uncounted
	text := Usage(usage)
	if rest, ok := strings.CutPrefix(text, "tokens unknown"); ok && usage.Tokens() > 0 {
		text = "at least " + counts(usage) + rest
	}
	if a.unpriced && a.usage.USD != nil {
		cost := Cost(a.usage.USD)
		text = strings.TrimSuffix(text, cost) + "cost at least " + cost
	}
	return text
}

// banner is a line between iterations: "── iteration 2 of 10 ── 01:52:28 ──". The
// date stands there when it is another than at the last one.
func (t *Text) banner(e event.Event, style, title string) {
	t.part(e, heading)
	at := e.At.In(t.opt.Location)
	clock := at.Format("15:04:05")
	if day := at.Truncate(0); t.day.IsZero() || day.YearDay() != t.day.YearDay() || day.Year() != t.day.Year() {
		clock = at.Format("2006-01-02 15:04:05")
	}
	t.day = at
	line := "── " + title + " ── " + clock + " ──"
	if t.width > 0 && Columns(line) > t.width {
		line = "── " + title + " ── " + at.Format("15:04") + " ──"
	}
	t.paint(style, Cut(line, t.left()))
	t.newline()
}

// below a banner stand lines of their own.
func (t *Text) remark(style, text string) { t.entry(style, "", whole(text)) }

func (t *Text) iterationStarted(e event.Event) error {
	p, err := event.As[event.IterationStarted](e)
	if err != nil {
		return err
	}
	t.current = p.N
	count := t.sum.count
	count.Begun = p.N
	if e.Seq > t.since {
		t.sum.count.Begun++
	} else if count.Refunded > 0 {
		count.Refunded, count.Maximum = 0, 0 // how many of these were before this one is not known
	}
	title := "iteration " + count.Number()
	if t.sum.worker != "" {
		title += " · " + Clean(t.sum.worker)
	}
	t.plan, t.problems = "", ""
	t.banner(e, bold, title)
	if t.opt.Verbose {
		t.entry(dim, "  | ", whole(strings.TrimRight(p.Prompt.Text, "\n")))
		t.before = nothing
		t.newline()
	}
	return nil
}

func (t *Text) iterationEnded(e event.Event) error {
	p, err := event.As[event.IterationEnded](e)
	if err != nil {
		return err
	}
	t.current = 0
	if e.Seq > t.since {
		t.sum.add(p)
		if p.Refunded && t.sum.count.Used() > 0 { // else it began before what is shown
			t.sum.count.Refunded++
		}
	}
	style := dim
	if p.Outcome != event.OutcomeDone {
		style = yellow
	}
	t.banner(e, style, fmt.Sprintf("iteration %d %s", p.N, Clean(string(p.Outcome))))
	if p.Error != "" && !t.told(p.Error) {
		t.remark(red, p.Error)
	}
	text := Span(time.Duration(p.Took)*time.Millisecond) + " · " + count(p.Tools, "tool", "tools") + " · " + Usage(p.Usage)
	switch p.Progress {
	case "yes":
		text += " · progress"
	case "no":
		text += " · no progress"
	}
	if p.Refunded {
		text += " · refunded"
	}
	if p.GuardrailsSkipped {
		text += " · guardrails did not run"
	}
	t.remark(dim, text)
	if at, ok := t.ahead.next(e); ok && e.Seq > t.since && p.Outcome != event.OutcomeDone {
		t.remark(dim, "the next one not before "+t.clock(at.Format(time.RFC3339))+" (in "+Span(at.Sub(e.At))+")")
	}
	return nil
}

// told reports whether the last problem that was told has the words of this one: of the agent's process
// its end tells already what its iteration ends with.
func (t *Text) told(problem string) bool {
	if _, words, ok := strings.Cut(problem, ": "); ok {
		problem = words
	}
	return strings.Contains(t.problems, strings.TrimSpace(problem))
}

// problemsMost bounds what is remembered of the problems of one iteration.
const problemsMost = 8 << 10

func (t *Text) complained(problem string) {
	if len(t.problems)+len(problem) < problemsMost {
		t.problems += problem + "\n"
	}
}

// ofLoop shows the life of the loop.
func (t *Text) ofLoop(e event.Event) (shown bool, err error) {
	switch e.Type {
	case event.TypeLoopStarted:
		err = t.loopStarted(e)
	case event.TypeLoopResumed:
		err = t.loopResumed(e)
	case event.TypeLoopConfigured:
		err = t.loopConfigured(e)
	case event.TypeLoopPaused:
		var p event.LoopPaused
		p, err = event.As[event.LoopPaused](e)
		if p.For == "person" {
			t.banner(e, yellow, "waiting for a person")
			t.remark(yellow, p.Why)
			t.remark(dim, strings.TrimSpace("'ralph resume "+t.loop)+"' lets the loop go on")
			break
		}
		t.banner(e, yellow, "paused")
		if p.Why != "" {
			t.remark(dim, p.Why)
		}
	case event.TypeLoopUnpaused:
		t.banner(e, yellow, "going on")
	case event.TypeLoopEnded:
		err = t.loopEnded(e)
	default:
		return false, nil
	}
	return true, err
}

func (t *Text) loopStarted(e event.Event) error {
	p, err := event.As[event.LoopStarted](e)
	if err != nil {
		return err
	}
	t.loop, t.project = p.Name, p.Project
	if e.Seq > t.since {
		t.sum = account{started: e.At}
	}
	t.sum.count.Maximum = p.Rules.MaximumIterations
	t.sum.hire(p.Rules)
	t.banner(e, bold, "loop "+Clean(p.Name))
	about := agentName(p.Agent)
	if n := len(p.Rules.Agents); n > 1 {
		about = "in order of preference"
		for i, agent := range p.Rules.Agents {
			about += fmt.Sprintf(", %d. %s", i+1, agentName(agent))
		}
	}
	about += " in " + p.Project
	if n := p.Rules.MaximumIterations; n > 0 {
		about += ", at most " + count(n, "iteration", "iterations")
	}
	t.remark(dim, about)
	return nil
}

// agentName spells which agent that is.
func agentName(a event.Agent) string {
	name := cmp.Or(a.Name, a.Protocol)
	if len(a.Command) > 0 && a.Command[0] != a.Protocol {
		name += " (" + strings.Join(a.Command, " ") + ")"
	}
	if a.Version != "" {
		name += " " + a.Version
	}
	return name
}

func (t *Text) loopResumed(e event.Event) error {
	p, err := event.As[event.LoopResumed](e)
	if err != nil {
		return err
	}
	t.ended = false
	t.sum.worker = t.sum.first
	if p.Rules != nil {
		t.sum.count.Maximum = p.Rules.MaximumIterations
		t.sum.hire(*p.Rules)
	}
	t.banner(e, bold, strings.Join(strings.Fields("loop "+Clean(t.loop)+" resumed"), " "))
	if p.Died {
		t.remark(yellow, "the runner before had died")
	}
	for lost := p.Lost; lost != nil; lost = lost.Before {
		t.remark(yellow, fmt.Sprintf("%d bytes of an unfinished line were cut off segment %s and kept in %s", lost.Bytes, lost.Segment, lost.Kept))
	}
	if p.Swept > 0 {
		t.remark(yellow, "ended "+count(p.Swept, "process", "processes")+" of its agent that still ran")
	}
	return nil
}

func (t *Text) loopConfigured(e event.Event) error {
	p, err := event.As[event.LoopConfigured](e)
	if err != nil {
		return err
	}
	t.sum.count.Maximum = p.Rules.MaximumIterations
	t.note(e, "", "> ", p.Key+" is now "+p.Value)
	return nil
}

// loopEnded is the report.
func (t *Text) loopEnded(e event.Event) error {
	p, err := event.As[event.LoopEnded](e)
	if err != nil {
		return err
	}
	style := green
	switch p.Status {
	case event.StatusStopped:
		style = yellow
	case event.StatusFailed:
		style = red
	}
	title := "loop " + Clean(p.Status)
	if t.loop != "" {
		title = "loop " + Clean(t.loop) + " " + Clean(p.Status)
	}
	t.banner(e, style, title)
	why := string(p.Reason)
	if p.Result != "" {
		why += " (" + p.Result + ")"
	}
	t.remark(style, colon(why, p.Why))
	for _, f := range p.Edited {
		t.remark(yellow, f.String())
	}
	if p.Hint != "" {
		t.remark("", "hint: "+p.Hint)
	}
	t.ended = true
	if e.Seq < t.accounted {
		return nil
	}
	text := t.sum.count.Iterations()
	if !t.sum.started.IsZero() {
		text += " · " + Span(e.At.Sub(t.sum.started))
	}
	t.remark("", text+" · "+t.sum.total())
	return nil
}

// sealed adds to the report the hash that stands for the whole journal. Only the seal behind the end of a loop does.
func (t *Text) sealed(e event.Event) error {
	if !t.ended {
		return nil
	}
	t.ended = false
	p, err := event.As[event.SegmentSealed](e)
	if err != nil {
		return err
	}
	t.remark(dim, "journal sha256 "+Clean(p.SHA256))
	return nil
}
