package plain

import (
	"fmt"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/projector"
	"github.com/ralph-loop/ralph/render"
	"github.com/ralph-loop/ralph/render/phrase"
	"github.com/ralph-loop/ralph/render/transcript"
)

// totals are the sums of a loop.
type totals struct {
	since event.Seq // events up to this one are in the sums already
	from  event.Seq // the sums as they were before this event are not known

	count     units.Count
	usage     event.Usage
	unpriced  bool // the cost of some iteration is unknown
	uncounted bool // the tokens of some iteration are unknown
	started   time.Time

	tools, toolsFailed int
	toolsKnown         bool // all events of the loop were shown
	failed             int  // tools of this iteration
	whole              bool // the events of this iteration are all shown
}

func (a *totals) resume(v projector.View) {
	*a = totals{
		since: v.Seq, from: v.Seq + 1,
		count: units.Count{Begun: v.Begun, Refunded: v.Refunded, Maximum: v.MaximumIterations},
		usage: v.Used, unpriced: v.CostUnknown, uncounted: v.TokensUnknown, started: v.Since,
	}
	if v.Ended != nil {
		a.from = v.Seq - 1 // only a seal may follow the end
	}
}

// add adds the usage of an iteration.
func (a *totals) add(u event.Usage) {
	a.usage.In += u.In
	a.usage.Out += u.Out
	a.usage.CacheRead += u.CacheRead
	a.usage.CacheWrite += u.CacheWrite
	a.uncounted = a.uncounted || u.TokensUnknown
	if u.USD == nil {
		a.unpriced = a.unpriced || u.TokensUnknown || u.Tokens() > 0
		return
	}
	sum := *u.USD
	if a.usage.USD != nil {
		sum += *a.usage.USD
	}
	a.usage.USD = &sum
}

// tokens formats those of all iterations. A count that is partly unknown is "at least" what is
// known.
func (a *totals) tokens() string {
	switch {
	case a.uncounted && a.usage.Tokens() == 0:
		return "tokens unknown"
	case a.uncounted:
		return "at least " + phrase.Counts(a.usage)
	case a.usage.Tokens() == 0 && a.usage.USD != nil && *a.usage.USD == 0:
		return "nothing used"
	}
	return phrase.Counts(a.usage)
}

// banner is a line between iterations: "── iteration 2 of 10 ── 01:52:28 ──". It has the date if
// that differs from the last banner's.
func (t *Text) banner(style, title string) {
	t.part(heading)
	at := t.now.At.In(t.opt.Location)
	clock := at.Format("15:04:05")
	if t.day.IsZero() || at.YearDay() != t.day.YearDay() || at.Year() != t.day.Year() {
		clock = at.Format("2006-01-02 15:04:05")
	}
	t.day = at
	line := "── " + title + " ── " + clock + " ──"
	if t.width > 0 && render.Columns(line) > t.width {
		line = "── " + title + " ── " + at.Format("15:04") + " ──"
	}
	t.paint(style, render.Cut(line, t.left()))
	t.newline()
}

// remark writes a clean text below a banner.
func (t *Text) remark(style, text string) {
	if text != "" {
		t.entry(style, "", []byte(text))
	}
}

// ofLoop shows what happens to the loop and its iterations.
func (t *Text) ofLoop(e transcript.Entry) {
	switch b := e.Body.(type) {
	case transcript.Loop:
		t.loopBegan(e, b)
	case transcript.Iteration:
		t.iterationStarted(e, b)
	case transcript.IterationEnd:
		t.iterationEnded(e, b)
	case transcript.Wait:
		t.wait(e, b)
	case transcript.Pause:
		said := e.Phrase(t.known())
		t.banner(yellow, said.Text)
		t.remark(dim, said.Why)
	case transcript.End:
		t.loopEnded(e, b)
	}
}

func (t *Text) loopBegan(e transcript.Entry, b transcript.Loop) {
	a := &t.totals
	t.ended = false
	said := e.Phrase(t.known())
	if b.Maximum > 0 || !b.Resumed {
		a.count.Maximum = b.Maximum
	}
	style := yellow
	if !b.Resumed {
		style, t.loop = dim, b.Name
		if e.Seq > a.since {
			*a = totals{since: a.since, from: a.from, count: units.Count{Maximum: b.Maximum}, started: e.At}
		}
		a.tools, a.toolsFailed, a.toolsKnown = 0, 0, true
	}
	t.banner(bold, said.Text)
	t.remark(style, said.Why)
}

func (t *Text) iterationStarted(e transcript.Entry, b transcript.Iteration) {
	a := &t.totals
	a.failed, a.whole = 0, true
	t.plan, t.problems = "", ""
	a.count.Maximum = b.Maximum
	b.Refunded = a.count.Refunded
	if e.Seq > a.since {
		a.count.Begun++
	} else if b.Refunded > 0 {
		b.Refunded, b.Maximum = 0, 0 // how many of these came before this one is unknown
	}
	e.Body = b
	said := e.Phrase(t.known())
	title := said.Text
	if b.Agent != "" {
		title += " · " + b.Agent
	}
	t.banner(bold, title)
	if b.Story != "" {
		t.remark(cyan, strings.TrimSpace(b.Story+" "+b.Title))
		t.newline()
		t.before = nothing
	}
	t.remark(yellow, said.Why)
	if t.opt.Verbose {
		t.entry(dim, "  | ", []byte(b.Prompt))
		t.before = nothing
		t.newline()
	}
}

func (t *Text) iterationEnded(e transcript.Entry, b transcript.IterationEnd) {
	a := &t.totals
	if e.Seq > a.since {
		a.add(b.Usage)
		if b.Refunded && a.count.Used() > 0 { // else it began before what is shown
			a.count.Refunded++
		}
	}
	if b.ToolsFailed = a.failed; !a.whole {
		b.ToolsFailed, a.toolsKnown = 0, false
	}
	a.tools, a.toolsFailed = a.tools+b.Tools, a.toolsFailed+b.ToolsFailed
	a.failed, a.whole = 0, false
	e.Body = b
	said := e.Phrase(t.known())
	style := dim
	if said.Tone != phrase.ToneGood {
		style = yellow
	}
	t.banner(style, said.Text)
	if !t.repeats(said.Why) {
		t.remark(red, said.Why)
	}
	t.remark(dim, strings.Join(said.Facts, " · "))
}

// shortWait is the longest wait that is not shown.
const shortWait = 2 * time.Second

func (t *Text) wait(e transcript.Entry, b transcript.Wait) {
	said := e.Phrase(t.known())
	needs := b.For == event.WaitPerson || b.For == event.WaitHeld
	switch {
	case !needs && (b.Over || b.Until.Sub(e.At) < shortWait):
	case !needs:
		t.mark(dim, "", said.String())
	case b.Over:
		t.banner(yellow, said.Text)
	default:
		t.banner(yellow, said.Text)
		t.remark(yellow, said.Why)
		if b.Question > 0 {
			t.remark(dim, t.answers(b.Question))
		}
		how := "continues the loop"
		if b.For == event.WaitHeld {
			how = "lets it go on at once"
		}
		t.remark(dim, "'"+t.call("resume")+"' "+how)
	}
}

// call is how a person calls a verb for the loop.
func (t *Text) call(verb string) string {
	return strings.TrimSpace("ralph " + verb + " " + t.loop)
}

func (t *Text) answers(question int) string {
	return fmt.Sprintf("'%s %d TEXT' answers it", t.call("answer"), question)
}

// loopEnded is the report. The seal after it adds the hash that covers the complete journal; other
// seals are not shown.
func (t *Text) loopEnded(e transcript.Entry, b transcript.End) {
	said := e.Phrase(t.known())
	style := map[phrase.Tone]string{phrase.ToneGood: green, phrase.ToneWarning: yellow}[said.Tone]
	if style == "" {
		style = red
	}
	t.banner(style, said.Text)
	a := &t.totals
	known := e.Seq >= a.from
	if known {
		took := time.Duration(0)
		if !a.started.IsZero() {
			took = e.At.Sub(a.started)
		}
		t.remark(style, render.CameTo(a.count, b.Changed, render.Paid(a.usage, a.unpriced), took))
	}
	t.remark(style, phrase.Phrase{Text: string(b.Reason), Why: said.Why}.String())
	t.remark(style, b.Strength)
	for _, f := range b.Edited {
		t.remark(yellow, f.String())
	}
	for _, q := range b.Questions {
		t.remark(yellow, q)
	}
	if b.Hint != "" {
		t.remark("", "hint: "+b.Hint)
	}
	t.remark("", b.Stories)
	t.ended = true
	if !known {
		return
	}
	text := a.tokens()
	if a.toolsKnown {
		text = phrase.ToolsUsed(a.tools, a.toolsFailed) + " · " + text
	}
	t.remark(dim, text)
}
