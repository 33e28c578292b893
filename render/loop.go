package render

import (
	"fmt"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/journal/event"
)

// totals are the sums of a loop.
type totals struct {
	count     units.Count
	usage     event.Usage
	unpriced  bool // the cost of some iteration is unknown
	uncounted bool // the tokens of some iteration are unknown
	started   time.Time
	// If the loop has several agents, worker runs the next iteration, and first is the preferred
	// one.
	worker, first string

	// Tools that were used and that failed; known if all events of the loop were shown.
	tools, toolsFailed int
	toolsKnown         bool
}

// prefer sets the agent of the next iteration when a runner begins or resumes the loop.
func (a *totals) prefer(agents []event.Agent) {
	a.worker, a.first = "", ""
	if len(agents) > 1 {
		a.worker, a.first = agents[0].Name, agents[0].Name
	}
}

// add adds the usage of an iteration.
func (a *totals) add(p event.IterationEnded) {
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

// Usage formats tokens and money. Nothing at all has no price, also where the agent reports 0 for
// it: a request that was refused.
func Usage(u event.Usage) string {
	if !u.TokensUnknown && u.Tokens() == 0 && u.USD != nil && *u.USD == 0 {
		return "nothing used"
	}
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

// counts formats tokens, as far as they are known.
func counts(u event.Usage) string {
	text := Tokens(u.In+u.CacheRead+u.CacheWrite) + " tokens in"
	if u.CacheRead > 0 {
		text += " (" + Tokens(u.CacheRead) + " cached)"
	}
	return text + " · " + Tokens(u.Out) + " out"
}

// tokens formats those of all iterations. A count that is partly unknown is "at least" what is
// known.
func (a *totals) tokens() string {
	switch {
	case a.uncounted && a.usage.Tokens() == 0:
		return "tokens unknown"
	case a.uncounted:
		return "at least " + counts(a.usage)
	case a.usage.Tokens() == 0 && a.usage.USD != nil && *a.usage.USD == 0:
		return "nothing used"
	}
	return counts(a.usage)
}

// banner is a line between iterations: "── iteration 2 of 10 ── 01:52:28 ──". It has the date if
// that differs from the last banner's.
func (t *Text) banner(e event.Event, style, title string) {
	t.part(e, heading)
	at := e.At.In(t.opt.Location)
	clock := at.Format("15:04:05")
	if day := at.Truncate(0); t.day.IsZero() || day.YearDay() != t.day.YearDay() || day.Year() != t.day.Year() {
		clock = at.Format("2006-01-02 15:04:05")
	}
	t.day, t.notes.Day = at, at
	line := "── " + title + " ── " + clock + " ──"
	if t.width > 0 && Columns(line) > t.width {
		line = "── " + title + " ── " + at.Format("15:04") + " ──"
	}
	t.paint(style, Cut(line, t.left()))
	t.newline()
}

// remark writes a line below a banner.
func (t *Text) remark(style, text string) { t.entry(style, "", CleanText(text)) }

func (t *Text) iterationStarted(e event.Event, p event.IterationStarted) {
	t.current = p.N
	t.failed, t.sawStart = 0, true
	count := t.totals.count
	count.Begun = p.N
	if e.Seq > t.since {
		t.totals.count.Begun++
	} else if count.Refunded > 0 {
		count.Refunded, count.Maximum = 0, 0 // how many of these came before this one is unknown
	}
	title := "iteration " + count.Number()
	if t.totals.worker != "" {
		title += " · " + Clean(t.totals.worker)
	}
	t.plan, t.problems = "", ""
	t.banner(e, bold, title)
	if t.story != "" {
		t.remark(cyan, t.story)
		t.newline()
		t.before, t.story = nothing, ""
	}
	if p.Unkept != "" {
		t.remark(yellow, "no snapshot: "+p.Unkept)
	}
	if t.opt.Verbose {
		t.entry(dim, "  | ", CleanText(strings.TrimRight(p.Prompt.Text, "\n")))
		t.before = nothing
		t.newline()
	}
}

func (t *Text) iterationEnded(e event.Event, p event.IterationEnded) {
	t.current = 0
	if e.Seq > t.since {
		t.totals.add(p)
		if p.Refunded && t.totals.count.Used() > 0 { // else it began before what is shown
			t.totals.count.Refunded++
		}
	}
	style := dim
	if p.Outcome != event.OutcomeDone {
		style = yellow
	}
	t.banner(e, style, fmt.Sprintf("iteration %d %s", p.N, Clean(string(p.Outcome))))
	if p.Error != "" && !t.repeats(p.Error) {
		t.remark(red, p.Error)
	}
	about := append([]string{Span(milliseconds(p.Took)), t.tools(p), Usage(p.Usage)}, gained(p)...)
	if p.GuardrailsSkipped {
		about = append(about, "guardrails did not run")
	}
	t.remark(dim, strings.Join(about, " · "))
}

// count counts the tools that failed, whether they are shown or not.
func (t *Text) count(e event.Event) {
	if e.Type == event.TypeToolReturned && string(e.Field("ok")) == "false" {
		t.failed++
	}
}

// tools says how many tools an iteration used, and adds them to the totals.
func (t *Text) tools(p event.IterationEnded) string {
	failed := t.failed
	if t.failed = 0; !t.sawStart {
		failed, t.totals.toolsKnown = 0, false
	}
	t.totals.tools, t.totals.toolsFailed, t.sawStart = t.totals.tools+p.Tools, t.totals.toolsFailed+failed, false
	return used(p.Tools, failed)
}

// used says how many tools were used, and how many of them failed.
func used(tools, failed int) string {
	text := units.Quantity(tools, "tool")
	if failed > 0 {
		text += fmt.Sprintf(" (%d failed)", failed)
	}
	return text
}

// gained says whether an iteration made progress, and whether it counts.
func gained(p event.IterationEnded) (notes []string) {
	switch p.Progress {
	case event.ProgressYes:
		notes = append(notes, "progress")
	case event.ProgressNo:
		note := "no progress"
		if p.Refusal != "" {
			note += ", refused again for the same reason"
		}
		notes = append(notes, note)
	}
	if p.Refunded {
		notes = append(notes, "refunded")
	}
	return notes
}

// repeats reports whether the text of a problem was shown in this iteration: the exit of the
// agent's process often shows what its iteration ends with.
func (t *Text) repeats(problem string) bool {
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

// ofLoop shows what happens to the loop and its iterations.
func (t *Text) ofLoop(e event.Event, p event.Payload) bool {
	switch p := p.(type) {
	case event.LoopStarted:
		t.loopStarted(e, p)
	case event.LoopResumed:
		t.loopResumed(e, p)
	case event.LoopConfigured:
		t.totals.count.Maximum = p.Rules.MaximumIterations
		t.note(e, "", "> ", p.Key+" is now "+p.Value)
	case event.LoopPaused:
		t.banner(e, yellow, "paused")
		if p.Why != "" {
			t.remark(dim, p.Why)
		}
	case event.LoopUnpaused:
		t.banner(e, yellow, "continuing")
	case event.LoopWaiting:
		t.loopWaiting(e, p)
	case event.LoopWaited:
		if p.For == event.WaitPerson || p.For == event.WaitHeld {
			t.banner(e, yellow, "continuing")
		}
	case event.LoopEnded:
		t.loopEnded(e, p)
	case event.IterationStarted:
		t.iterationStarted(e, p)
	case event.IterationEnded:
		t.iterationEnded(e, p)
	case event.SegmentSealed:
		t.ended = false
		t.remark(dim, "journal sha256 "+Clean(p.SHA256))
	default:
		return false
	}
	return true
}

// lasts reports whether a wait that begins now is long enough to be shown.
func lasts(p event.LoopWaiting, now time.Time) bool {
	return p.For == event.WaitPerson || p.For == event.WaitHeld || p.Until.Sub(now) >= 2*time.Second
}

func (t *Text) loopWaiting(e event.Event, p event.LoopWaiting) {
	if p.For == event.WaitPerson {
		t.banner(e, yellow, "waiting for a person")
		t.remark(yellow, p.Why)
		if p.Question > 0 {
			t.remark(dim, fmt.Sprintf("'%s %d TEXT' answers it", t.call("answer"), p.Question))
		}
		t.remark(dim, "'"+t.call("resume")+"' continues the loop")
		return
	}
	if p.For == event.WaitHeld {
		t.banner(e, yellow, "waiting for its turn")
		t.remark(yellow, p.Why)
		t.remark(dim, "'"+t.call("resume")+"' lets it go on at once")
		return
	}
	if lasts(p, e.At) {
		t.note(e, dim, "", fmt.Sprintf("waiting until %s (%s): %s", t.notes.clock(p.Until.Format(time.RFC3339)), Span(p.Until.Sub(e.At)), p.For))
	}
}

func (t *Text) loopStarted(e event.Event, p event.LoopStarted) {
	t.loop, t.project = p.Name, p.Project
	if e.Seq > t.since {
		t.totals = totals{started: e.At}
	}
	t.totals.tools, t.totals.toolsFailed, t.totals.toolsKnown = 0, 0, true
	t.totals.count.Maximum = p.Rules.MaximumIterations
	t.totals.prefer(p.Rules.Agents)
	t.banner(e, bold, "loop "+Clean(p.Name))
	about := agentsInWords(p)
	about += " in " + p.Project
	if n := p.Rules.MaximumIterations; n > 0 {
		about += ", at most " + units.Quantity(n, "iteration")
	}
	t.remark(dim, about)
}

func (t *Text) loopResumed(e event.Event, p event.LoopResumed) {
	t.ended = false
	t.totals.worker = t.totals.first
	if p.Rules != nil {
		t.totals.count.Maximum = p.Rules.MaximumIterations
		t.totals.prefer(p.Rules.Agents)
	}
	t.banner(e, bold, strings.Join(strings.Fields("loop "+Clean(t.loop)+" resumed"), " "))
	if p.Died {
		t.remark(yellow, "the previous runner had died")
	}
	for lost := p.Lost; lost != nil; lost = lost.Before {
		t.remark(yellow, fmt.Sprintf("%d bytes of an unfinished line were cut off segment %s and kept in %s", lost.Bytes, lost.Segment, lost.Kept))
	}
	if p.Swept > 0 {
		t.remark(yellow, "ended "+units.Quantity(p.Swept, "process")+" of its agent that still ran")
	}
}

// loopEnded is the report. The seal after it adds the hash that covers the complete journal; other
// seals are not shown.
func (t *Text) loopEnded(e event.Event, p event.LoopEnded) {
	style := green
	switch p.Status {
	case event.StatusStopped:
		style = yellow
	case event.StatusFailed:
		style = red
	}
	title := "loop " + Clean(p.Status.String())
	if t.loop != "" {
		title = "loop " + Clean(t.loop) + " " + Clean(p.Status.String())
	}
	t.banner(e, style, title)
	known := e.Seq >= t.totalsFrom
	if a := &t.totals; known {
		took := time.Duration(0)
		if !a.started.IsZero() {
			took = e.At.Sub(a.started)
		}
		t.remark(style, cameTo(a.count, p.Changed, paid(a.usage, a.unpriced), took))
	}
	t.remark(style, colon(string(p.Reason), p.Why))
	for _, f := range p.Edited {
		t.remark(yellow, f.String())
	}
	for _, q := range p.Questions {
		t.remark(yellow, q.String())
	}
	if p.Hint != "" {
		t.remark("", "hint: "+p.Hint)
	}
	if t.stories != "" && p.Status != event.StatusCompleted { // else Why says it
		t.remark("", t.stories)
	}
	t.ended = true
	if !known {
		return
	}
	text := t.totals.tokens()
	if t.totals.toolsKnown {
		text = used(t.totals.tools, t.totals.toolsFailed) + " · " + text
	}
	t.remark(dim, text)
}
