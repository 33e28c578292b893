package plain

import (
	"bytes"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/projector"
	"github.com/ralph-loop/ralph/render"
	"github.com/ralph-loop/ralph/render/phrase"
	"github.com/ralph-loop/ralph/render/transcript"
)

// Text shows a loop as a person wants to read it. It belongs to one goroutine.
type Text struct {
	w   io.Writer
	opt render.Options
	wrapper

	builder *transcript.Builder
	now     event.Event // that is shown
	before  group
	open    event.Seq         // the block of words whose line is open; 0 for none
	style   string            // of that block
	printed map[event.Seq]int // bytes of the blocks that may grow
	scratch []byte
	called  string // the call whose line is the last one printed
	plan    string

	problems string       // those shown in this iteration
	doubted  bool         // that the sender of a command is not known was printed
	newer    render.Newer // events that are not shown
	day      time.Time    // of the last banner
	loop     string       // its name
	totals   totals
	ended    bool // the report was the last thing shown
}

// group is a kind of entries. A blank line separates entries of different groups.
type group uint8

const (
	nothing group = iota
	words
	thoughts
	work
	heading
)

// batch is the size from which output is written without a Flush.
const batch = 16 << 10

const (
	printedKept  = 1024 // blocks; all are forgotten when there are more
	subagentMost = 4 << 10
)

// New returns a Text that writes to w.
func New(w io.Writer, opt render.Options) *Text {
	if opt.Location == nil {
		opt.Location = time.Local
	}
	return &Text{
		w: w, opt: opt, wrapper: wrapper{width: columns(opt.Width)}, printed: map[event.Seq]int{},
		builder: transcript.New(transcript.Options{Verbose: opt.Verbose, Location: opt.Location}),
	}
}

// Resume sets what came before the first event that will be shown, so that the totals at the end
// are those of the complete loop. v is of the same loop; the events that it knows may be shown
// again.
func (t *Text) Resume(v projector.View) {
	t.builder.Resume(v)
	t.loop = render.Clean(v.Name)
	t.totals.resume(v)
}

// SetWidth changes the columns of the lines that follow: the terminal has another
// size.
func (t *Text) SetWidth(n int) { t.width = columns(n) }

func columns(width int) int {
	if width <= 0 {
		return 0
	}
	return max(width, render.Narrowest)
}

// Event shows an event. The error is the writer's.
func (t *Text) Event(e event.Event) error {
	t.now = e
	t.builder.Add(e)
	t.builder.TakeEach(t.show)
	if e.Type == event.TypeSegmentSealed && t.ended {
		t.ended = false
		if p, err := event.As[event.SegmentSealed](e); err == nil {
			t.remark(dim, render.Clean(phrase.Of(p, phrase.Known{}).String()))
		}
	}
	if len(t.out) >= batch {
		return t.Flush()
	}
	return nil
}

// Flush writes all text so far. The last word of an unfinished line may be withheld until it is
// complete.
func (t *Text) Flush() error {
	if len(t.out) == 0 {
		return nil
	}
	_, err := t.w.Write(t.out)
	t.out = t.out[:0]
	return err
}

// Close ends the last line and writes it. The writer is not closed.
func (t *Text) Close() error {
	t.closeText()
	return t.Flush()
}

// show prints what is new of an entry. The entries are taken after each event, so what is new is
// what the present event did.
func (t *Text) show(e transcript.Entry) {
	switch b := e.Body.(type) {
	case transcript.Words:
		t.said(e, b, false)
	case transcript.Thinking:
		t.said(e, transcript.Words(b), true)
	case transcript.Tools:
		t.tools(e, b)
	case transcript.Plan:
		t.planned(e, b)
	case transcript.Guardrail:
		t.guardrail(e, b)
	case transcript.Message:
		t.message(e, b)
	case transcript.Question:
		t.question(e, b)
	case transcript.Note:
		t.note(e, b)
	case transcript.Detail:
		t.part(work)
		t.line(dim, "  ", strings.TrimSpace(render.Clean(string(b.Type))+" "+b.Text))
	case transcript.Claim, transcript.Commit:
		t.say(e.Phrase(t.known()))
	default:
		t.ofLoop(e)
	}
}

func (t *Text) known() phrase.Known {
	return phrase.Known{Day: t.now.At, Location: t.opt.Location, Verbose: t.opt.Verbose}
}

// note shows what an event says in words. An event that this version does not know is named once.
func (t *Text) note(e transcript.Entry, b transcript.Note) {
	switch {
	case !slices.Contains(event.Types(), t.now.Type):
		t.ofNewer(t.now.Type)
	case t.opt.Quiet && b.Type == event.TypeAgentNoticed:
	default:
		t.say(e.Phrase(t.known()))
	}
}

// ofNewer says once of a type that its events are not shown.
func (t *Text) ofNewer(typ event.Type) {
	before := t.newer
	t.newer.Add(typ)
	if news := t.newer.Since(before); news != "" {
		t.say(phrase.Phrase{Tone: phrase.ToneWarning, Text: news})
	}
}

// say prints a phrase as an entry of the loop itself.
func (t *Text) say(p phrase.Phrase) {
	switch p.Tone {
	case phrase.ToneGood:
		t.mark(green, "> ", p.String())
	case phrase.ToneFailure:
		t.complain(red, p.String())
	default:
		t.complain(yellow, p.String())
	}
}

// problemsMost bounds what is remembered of the problems of one iteration.
const problemsMost = 8 << 10

// complain is a mark that a person should not miss.
func (t *Text) complain(style, text string) {
	if len(t.problems)+len(text) < problemsMost {
		t.problems += text + "\n"
	}
	t.mark(style, "! ", text)
}

// repeats reports whether the text of a problem was shown in this iteration: the exit of the
// agent's process often shows what its iteration ends with.
func (t *Text) repeats(problem string) bool {
	if _, words, ok := strings.Cut(problem, ": "); ok {
		problem = words
	}
	return strings.Contains(t.problems, strings.TrimSpace(problem))
}

// mark prints a clean text after a mark.
func (t *Text) mark(style, mark, text string) {
	t.part(work)
	t.entry(style, mark, []byte(text))
}

// part begins an entry: it closes what was open, and writes a blank line before an entry of another
// kind and between paragraphs.
func (t *Text) part(g group) {
	t.closeText()
	switch {
	case t.before == nothing, t.before == heading && g != heading:
	case g != t.before, g != work:
		t.newline()
	}
	t.before = g
	if t.opt.Time && g != heading {
		t.paint(dim, t.now.At.In(t.opt.Location).Format("15:04:05 "))
	}
}

// closeText ends the open text and the line.
func (t *Text) closeText() {
	if t.open != 0 {
		t.styled(t.style, t.end)
		t.open = 0
	}
	if t.col > 0 {
		t.newline()
	}
	t.called = ""
}

// said shows words and thoughts. Pieces of one block continue its line.
func (t *Text) said(e transcript.Entry, b transcript.Words, thought bool) {
	from := t.printed[e.Seq]
	if len(t.printed) >= printedKept {
		clear(t.printed)
	}
	switch {
	case t.opt.Quiet:
		return
	case e.Parent != "":
		from = t.subagentSaid(b, from)
	case from < len(b.Text):
		t.scratch = append(t.scratch[:0], b.Text[from:]...)
		t.grow(e, t.scratch, thought)
		from = len(b.Text)
	}
	if !b.Done {
		t.printed[e.Seq] = from
		return
	}
	delete(t.printed, e.Seq)
	if t.open == e.Seq {
		t.closeText()
	}
}

// grow adds to a block of words, and begins a paragraph unless it is the one that is open.
func (t *Text) grow(e transcript.Entry, text []byte, thought bool) {
	if t.open != e.Seq {
		margin := 0
		if thought {
			t.part(thoughts)
			t.paint(dim, "~ ")
			t.style, margin = dim, 2
		} else {
			t.part(words)
			t.style = ""
		}
		t.open = e.Seq
		t.begin(margin)
	}
	t.styled(t.style, func() { t.text(text) })
}

// subagentSaid shows the text of a subagent in complete lines, since several may write at once.
func (t *Text) subagentSaid(b transcript.Words, from int) (to int) {
	said := b.Text[from:]
	cut := len(said)
	if !b.Done && cut < subagentMost {
		cut = strings.LastIndexByte(said, '\n') + 1
	}
	if line := strings.TrimRight(said[:cut], "\r\n"); line != "" {
		t.part(work)
		t.entry(dim, "  | ", []byte(line))
	}
	return from + cut
}

// entry writes a marker and a clean text. Further lines are indented by the width of the marker.
func (t *Text) entry(style, marker string, text []byte) {
	t.paint(style, marker)
	t.styled(style, func() {
		t.begin(t.col)
		t.text(bytes.TrimRight(text, "\n"))
		t.end()
	})
}

// line writes one entry that is cut where the line ends.
func (t *Text) line(style, marker, text string) {
	t.paint(style, marker)
	t.paint(style, render.Cut(text, t.left()))
	t.newline()
}

// left is how many columns the present line has left.
func (t *Text) left() int {
	if t.width <= 0 {
		return max(unbrokenMost-t.col, 1)
	}
	return max(t.width-t.col, 1)
}

// unbrokenMost is where an entry of one line is cut when lines are not broken.
const unbrokenMost = 240

// Styles.
const (
	dim    = "\x1b[2m"
	bold   = "\x1b[1m"
	red    = "\x1b[31m"
	green  = "\x1b[32m"
	yellow = "\x1b[33m"
	cyan   = "\x1b[36m"
	reset  = "\x1b[0m"
)

// styled runs write with a style on, then ends the style, so that no written batch leaves the
// terminal in a style.
func (t *Text) styled(style string, write func()) {
	if !t.opt.Color || style == "" {
		write()
		return
	}
	before := len(t.out)
	t.code(style)
	began := len(t.out)
	if write(); len(t.out) == began {
		t.out = t.out[:before]
		return
	}
	t.code(reset)
}

// paint adds clean text that is not broken.
func (t *Text) paint(style, s string) { t.styled(style, func() { t.raw(s) }) }
