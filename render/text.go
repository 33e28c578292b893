package render

import (
	"bytes"
	"fmt"
	"io"
	"time"

	"github.com/ralph-loop/ralph/internal/policy"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/projector"
)

// Options say for whom and how much. The zero value is for a file: no colours, no
// line broken.
type Options struct {
	Color    bool           // escape sequences of this package's own
	Width    int            // columns of a line, at least Narrowest; 0 leaves lines and tabs as they are
	Verbose  bool           // also prompts, decisions, notices, what tools print as they run
	Quiet    bool           // nothing of what the agent says and does
	Diffs    bool           // the first lines of what a tool changes in a file
	Time     bool           // the time of day before each entry
	Location *time.Location // of times of day; nil is the system's
}

// Narrowest is the least width that text is laid out for. Less counts as this.
const Narrowest = 20

// Text shows a loop as a person wants to read it. It belongs to one goroutine.
type Text struct {
	w   io.Writer
	opt Options
	flow
	clean   cleaner
	scratch []byte
	cleaned []byte

	before  group
	block   string // the block of words that is open
	speaker event.Type
	asides  map[string][]byte // what subagents have begun to say

	calls    map[string]call
	called   string // the call whose line is the last one printed
	commands map[string]string
	current  int // the iteration that runs, 0 between two
	plan     string
	boxes    [2]int            // ticked and all, as last seen
	repos    map[string]string // where each repository was last seen
	ahead    ahead
	problems string // those that were told in this iteration

	day           time.Time
	loop, project string
	sum           account
	since         uint64 // what came up to this event is in sum already
	// accounted is the first event at which an end may be the one that the account is of: what was used at earlier ones is not known.
	accounted uint64
	ended     bool // the report was the last thing shown
}

// group of entries that stand together; a blank line parts them.
type group uint8

const (
	nothing group = iota
	words
	thoughts
	work
	heading
)

// batch is the size from which output is written without being asked for.
const batch = 16 << 10

// The oldest of a kind are forgotten when there are more than this.
const (
	callsKept    = 1024
	commandsKept = 512
	asidesKept   = 64
	reposKept    = 256
	asideMost    = 4 << 10
)

// New returns a Text that writes to w.
func New(w io.Writer, opt Options) *Text {
	if opt.Location == nil {
		opt.Location = time.Local
	}
	return &Text{
		w: w, opt: opt, flow: flow{width: columns(opt.Width)},
		calls: map[string]call{}, commands: map[string]string{}, asides: map[string][]byte{},
		repos: map[string]string{},
	}
}

// Resume tells what came before the first event that will be shown, so that the
// account at the end is of the whole loop. s is the state of the same loop; the
// events that it has taken in may be shown again.
func (t *Text) Resume(s *projector.State) {
	t.since, t.accounted = s.Seq, s.Seq+1
	if s.Life.Ended != nil {
		t.accounted = s.Seq - 1 // only a seal may follow the end
	}
	t.loop, t.project = s.Life.Name, s.Life.Project
	t.sum = accountOf(s)
	t.ahead.resume(s)
	if s.Life.Phase != policy.Between {
		t.current = s.Life.Iteration
	}
	t.boxes = [2]int{s.Completion.Ticked, s.Completion.Boxes}
	for _, c := range s.Mail.Open {
		t.commands[c.ID] = c.Kind
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
	if e.Seq > t.since {
		t.ahead.apply(e)
	}
	if err := t.show(e); err != nil {
		t.warn(e, fmt.Sprintf("event %d %s: %v", e.Seq, e.Type, err))
	}
	if len(t.out) >= batch {
		return t.Flush()
	}
	return nil
}

// Flush writes what there is. The last word of an unfinished line may be held back
// until it is whole.
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
	t.hush()
	return t.Flush()
}

func (t *Text) show(e event.Event) error {
	if t.opt.Quiet && ofAgent(e.Type) {
		return nil
	}
	switch e.Type {
	case event.TypeAgentSaid, event.TypeAgentThought:
		return t.said(e)
	case event.TypeToolCalled:
		return t.toolCalled(e)
	case event.TypeToolProgressed:
		return t.toolProgressed(e)
	case event.TypeToolReturned:
		return t.toolReturned(e)
	case event.TypeAgentPlanned:
		return t.planned(e)
	case event.TypeCommandReceived:
		return t.commandReceived(e)
	case event.TypeCommandDelivered:
		return t.commandDelivered(e)
	case event.TypeCommandRefused:
		return t.commandRefused(e)
	case event.TypeIterationStarted:
		return t.iterationStarted(e)
	case event.TypeIterationEnded:
		return t.iterationEnded(e)
	case event.TypeSegmentSealed:
		return t.sealed(e)
	case event.TypeAgentUsed, event.TypeSegmentOpened:
		return nil
	}
	before := len(t.out)
	shown, err := t.ofLoop(e)
	if !shown {
		shown, err = t.ofGate(e)
	}
	if shown {
		if err == nil && t.opt.Verbose && len(t.out) == before {
			t.detail(e)
		}
		return err
	}
	return t.ofRest(e)
}

// ofAgent says which events are left out when the agent's output is not wanted.
func ofAgent(t event.Type) bool {
	switch t {
	case event.TypeAgentSaid, event.TypeAgentThought, event.TypeAgentPlanned, event.TypeAgentNoticed, event.TypeAgentUnread,
		event.TypeToolCalled, event.TypeToolProgressed, event.TypeToolReturned:
		return true
	}
	return false
}

// part begins an entry: what was open is closed, and a blank line stands before an
// entry of another kind and between paragraphs.
func (t *Text) part(e event.Event, g group) {
	t.hush()
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

// hush ends the words that are open, and the line.
func (t *Text) hush() {
	if t.block != "" {
		t.styled(t.tone(), t.end)
		t.block = ""
		t.clean.reset()
	}
	if t.col > 0 {
		t.newline()
	}
	t.called = ""
}

// tone is the style of the words that are open.
func (t *Text) tone() string {
	if t.speaker == event.TypeAgentThought {
		return dim
	}
	return ""
}

// said shows words and thoughts. Pieces of one block continue its line.
func (t *Text) said(e event.Event) error {
	p, err := saying(e)
	if err != nil {
		return err
	}
	switch {
	case p.Parent != "":
		t.aside(e, p)
		return nil
	case p.Text.IsZero() && p.Block != t.block:
		return nil
	case p.Block != t.block || e.Type != t.speaker:
		t.open(e, p.Block)
	}
	t.styled(t.tone(), func() { t.text(t.plain(p.Text)) })
	if p.Final {
		t.hush()
	}
	return nil
}

// saying reads either kind of words; they have the same fields.
func saying(e event.Event) (event.AgentSaid, error) {
	if e.Type == event.TypeAgentThought {
		p, err := event.As[event.AgentThought](e)
		return event.AgentSaid(p), err
	}
	return event.As[event.AgentSaid](e)
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

// aside shows what a subagent says, in whole lines: several may speak at once.
func (t *Text) aside(e event.Event, p event.AgentSaid) {
	key := string(e.Type) + p.Block
	said := p.Text.AppendTo(t.asides[key])
	if len(t.asides) >= asidesKept && t.asides[key] == nil {
		clear(t.asides)
	}
	t.asides[key] = said
	cut := len(said)
	if !p.Final && cut < asideMost {
		cut = bytes.LastIndexByte(said, '\n') + 1
	}
	if line := bytes.TrimRight(said[:cut], "\r\n"); len(line) > 0 {
		t.part(e, work)
		t.entry(dim, "  | ", whole(string(line)))
	}
	t.asides[key] = append(said[:0], said[cut:]...)
	if p.Final {
		delete(t.asides, key)
	}
}

// plain returns the clean text of the open block's next piece, valid until the
// next call.
func (t *Text) plain(text event.Text) []byte {
	t.scratch = text.AppendTo(t.scratch[:0])
	t.cleaned = t.clean.append(t.cleaned[:0], t.scratch)
	return t.cleaned
}

// whole returns a foreign text that is complete, clean, with its newlines.
func whole(s string) []byte {
	var c cleaner
	return c.append(nil, []byte(s))
}

// entry writes one entry behind its marker; what is broken or has lines goes on
// below the text. The text is clean.
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

// note is an entry of the loop itself.
func (t *Text) note(e event.Event, style, marker, text string) {
	t.part(e, work)
	t.entry(style, marker, whole(text))
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

// styled runs write with a style on, and ends it: no batch that is written leaves
// the terminal in a style.
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
