package render

import (
	"bytes"
	"fmt"
	"io"
	"time"

	"github.com/ralph-loop/ralph/internal/ground/jsonscan"
	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/projector"
)

// Options say how and how much is shown. The zero value is for a file: without colours and without
// line breaks.
type Options struct {
	Color bool // escape sequences of this package's own
	// columns of a line, at least Narrowest; 0 leaves lines and tabs as they are
	Width    int
	Verbose  bool           // also prompts, decisions, notices, what tools print as they run
	Quiet    bool           // nothing of what the agent says and does
	Diffs    bool           // the first lines of what a tool changes in a file
	Lines    int            // of a tool's output, at most and not negative; 0 is 3, and 40 if Verbose
	Time     bool           // the time of day before each entry
	Location *time.Location // of times of day; nil is the system's
}

// Narrowest is the smallest width. A smaller Width is the same as this.
const Narrowest = 20

// Text shows a loop as a person wants to read it. It belongs to one goroutine.
type Text struct {
	w   io.Writer
	opt Options
	wrapper
	clean   Cleaner
	scratch []byte
	cleaned []byte

	before    group
	block     string // the block of words that is open
	speaker   event.Type
	subagents map[string][]byte // incomplete lines of subagents

	calls    map[string]call
	called   string // the call whose line is the last one printed
	commands map[string]string
	doubted  bool // that the sender of a command is not known was printed
	current  int  // the iteration that runs, 0 between two
	plan     string
	notes    Notes
	problems string // those shown in this iteration
	story    string // what the next iteration does with which story
	stories  string // what the stories came to so far
	newer    Newer  // events that are not shown

	day           time.Time
	loop, project string
	totals        totals
	since         event.Seq // events up to this one are in totals already
	failed        int       // tools of this iteration
	sawStart      bool      // the events of this iteration are all counted
	// totalsFrom: for a loop.ended before this event, the totals of that moment are unknown.
	totalsFrom event.Seq
	ended      bool // the report was the last thing shown
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

// The oldest of a kind are forgotten when there are more than this.
const (
	callsKept     = 1024
	commandsKept  = 512
	subagentsKept = 64
	subagentMost  = 4 << 10
)

// New returns a Text that writes to w.
func New(w io.Writer, opt Options) *Text {
	if opt.Location == nil {
		opt.Location = time.Local
	}
	return &Text{
		w: w, opt: opt, wrapper: wrapper{width: columns(opt.Width)},
		calls: map[string]call{}, commands: map[string]string{}, subagents: map[string][]byte{},
		notes: Notes{Location: opt.Location, Verbose: opt.Verbose},
	}
}

// Resume sets what came before the first event that will be shown, so that the totals at the end
// are those of the complete loop. v is of the same loop; the events that it knows may be shown
// again.
func (t *Text) Resume(v projector.View) {
	t.since, t.totalsFrom = v.Seq, v.Seq+1
	if v.Ended != nil {
		t.totalsFrom = v.Seq - 1 // only a seal may follow the end
	}
	t.loop, t.project = v.Name, v.Project
	t.totals = totals{
		count: units.Count{Begun: v.Begun, Refunded: v.Refunded, Maximum: v.MaximumIterations},
		usage: v.Used, unpriced: v.CostUnknown, uncounted: v.TokensUnknown, started: v.Since,
	}
	t.totals.prefer(v.Agents)
	if t.totals.first != "" {
		t.totals.worker = v.Agent
	}
	if v.Open {
		t.current = v.Iteration
	}
	t.notes.Resume(v)
	for _, c := range v.Commands {
		t.commands[c.ID] = string(c.Kind)
	}
}

// SetWidth changes the columns of the lines that follow: the terminal has another
// size.
func (t *Text) SetWidth(n int) { t.width = columns(n) }

func columns(width int) int {
	if width <= 0 {
		return 0
	}
	return max(width, Narrowest)
}

// Event shows an event. The error is the writer's.
func (t *Text) Event(e event.Event) error {
	t.count(e)
	if err := t.show(e); err != nil {
		t.warn(e, fmt.Sprintf("event %d %s: %v", e.Seq, e.Type, err))
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

// show decodes an event that will be shown. A payload that cannot be read is an error.
func (t *Text) show(e event.Event) error {
	if t.unshown(e) {
		return nil
	}
	p, err := event.Decode(e)
	if err != nil {
		return err
	}
	if p == nil && !t.opt.Verbose {
		t.ofNewer(e)
		return nil
	}
	before := len(t.out)
	if t.ofAgent(e, p) || t.rare(e, p) {
		return nil
	}
	if shown := t.ofLoop(e, p) || t.ofVerification(e, p); t.opt.Verbose && (!shown || len(t.out) == before) {
		t.part(e, work)
		t.line(dim, "  ", string(fields(nil, e)))
	}
	return nil
}

// unshown reports whether an event is left out whatever it says: some types occur by the thousand.
func (t *Text) unshown(e event.Event) bool {
	switch e.Type {
	case event.TypeAgentUsed, event.TypeSegmentOpened:
		return true
	case event.TypeSegmentSealed:
		return !t.ended
	case event.TypeToolProgressed:
		return t.opt.Quiet || !t.opt.Verbose
	case event.TypeAgentNoticed:
		return t.opt.Quiet || !t.opt.Verbose && !important[jsonscan.Unquote(e.Field("what"))]
	case event.TypeAgentUnparsed:
		return t.opt.Quiet || !t.opt.Verbose
	case event.TypeAgentSaid, event.TypeAgentThought, event.TypeAgentPlanned, event.TypeToolCalled, event.TypeToolReturned:
		return t.opt.Quiet
	}
	return false
}

// ofAgent shows what the agent says and does, and what people ask for.
func (t *Text) ofAgent(e event.Event, p event.Payload) bool {
	switch p := p.(type) {
	case event.AgentSaid:
		t.said(e, p)
	case event.AgentThought:
		t.said(e, event.AgentSaid(p))
	case event.AgentPlanned:
		t.planned(e, p)
	case event.ToolCalled:
		t.toolCalled(e, p)
	case event.ToolProgressed:
		t.toolProgressed(e, p)
	case event.ToolReturned:
		t.toolReturned(e, p)
	case event.CommandReceived:
		t.commandReceived(e, p)
	case event.CommandDelivered:
		t.commandDelivered(e, p)
	case event.CommandRefused:
		t.commandRefused(e, p)
	case event.CommandWithdrawn:
		t.note(e, dim, "> ", t.command(p.ID)+" withdrawn: "+p.Text)
	case event.QuestionAsked:
		t.questionAsked(e, p)
	case event.QuestionAnswered:
		t.questionAnswered(e, p)
	default:
		return false
	}
	return true
}

// part begins an entry: it closes what was open, and writes a blank line before an entry of another
// kind and between paragraphs.
func (t *Text) part(e event.Event, g group) {
	t.closeText()
	switch {
	case t.before == nothing, t.before == heading && g != heading:
	case g != t.before, g != work:
		t.newline()
	}
	t.before = g
	if t.opt.Time && g != heading {
		t.paint(dim, e.At.In(t.opt.Location).Format("15:04:05 "))
	}
}

// closeText ends the open text and the line.
func (t *Text) closeText() {
	if t.block != "" {
		t.styled(t.textStyle(), t.end)
		t.block = ""
		t.clean.Reset()
	}
	if t.col > 0 {
		t.newline()
	}
	t.called = ""
}

// textStyle is the style of the open text.
func (t *Text) textStyle() string {
	if t.speaker == event.TypeAgentThought {
		return dim
	}
	return ""
}

// said shows words and thoughts. Pieces of one block continue its line.
func (t *Text) said(e event.Event, p event.AgentSaid) {
	switch {
	case p.Parent != "":
		t.subagentSaid(e, p)
		return
	case p.Text.IsZero() && p.Block != t.block:
		return
	case p.Block != t.block || e.Type != t.speaker:
		t.open(e, p.Block)
	}
	t.styled(t.textStyle(), func() { t.text(t.plain(p.Text)) })
	if p.Final {
		t.closeText()
	}
}

// open begins a block of words.
func (t *Text) open(e event.Event, block string) {
	margin := 0
	if e.Type == event.TypeAgentThought {
		t.part(e, thoughts)
		t.paint(dim, "~ ")
		margin = 2
	} else {
		t.part(e, words)
	}
	t.block, t.speaker = block, e.Type
	t.begin(margin)
}

// subagentSaid shows the text of a subagent in complete lines, since several may write at once.
func (t *Text) subagentSaid(e event.Event, p event.AgentSaid) {
	key := string(e.Type) + p.Block
	said := p.Text.AppendTo(t.subagents[key])
	if len(t.subagents) >= subagentsKept && t.subagents[key] == nil {
		clear(t.subagents)
	}
	t.subagents[key] = said
	cut := len(said)
	if !p.Final && cut < subagentMost {
		cut = bytes.LastIndexByte(said, '\n') + 1
	}
	if line := bytes.TrimRight(said[:cut], "\r\n"); len(line) > 0 {
		t.part(e, work)
		t.entry(dim, "  | ", CleanText(string(line)))
	}
	t.subagents[key] = append(said[:0], said[cut:]...)
	if p.Final {
		delete(t.subagents, key)
	}
}

// plain returns the clean text of the open block's next piece, valid until the
// next call.
func (t *Text) plain(text event.Text) []byte {
	t.scratch = text.AppendTo(t.scratch[:0])
	t.cleaned = t.clean.Append(t.cleaned[:0], t.scratch)
	return t.cleaned
}

// entry writes a marker and a clean text. Further lines are indented by the width of the marker.
func (t *Text) entry(style, marker string, text []byte) {
	t.paint(style, marker)
	t.styled(style, func() {
		t.begin(t.col)
		t.text(text)
		t.end()
	})
}

// line writes one entry that is cut where the line ends.
func (t *Text) line(style, marker, text string) {
	t.paint(style, marker)
	t.paint(style, Cut(text, t.left()))
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

// note writes an entry of the loop itself; nothing for an empty text.
func (t *Text) note(e event.Event, style, marker, text string) {
	if text == "" {
		return
	}
	t.part(e, work)
	t.entry(style, marker, CleanText(text))
}

// warn is a note that a person should not miss.
func (t *Text) warn(e event.Event, text string) {
	t.complained(text)
	t.note(e, yellow, "! ", text)
}

// fail is a note about what went wrong.
func (t *Text) fail(e event.Event, text string) {
	t.complained(text)
	t.note(e, red, "! ", text)
}

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
	t.style(style)
	began := len(t.out)
	if write(); len(t.out) == began {
		t.out = t.out[:before]
		return
	}
	t.style(reset)
}

// paint adds clean text that is not broken.
func (t *Text) paint(style, s string) { t.styled(style, func() { t.raw(s) }) }
