package logs

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/ground/jsonscan"
	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/registry"
)

// everywhere prints the events of all loops, one loop after the other in the order in which they
// were started. A journal that cannot be read is reported, and the next one is read.
func (p *printing) everywhere(name string) error {
	switch {
	case name != "":
		return cli.Refuse("leave the name or --all out", "--all means every loop, and %q is one", name)
	case p.Follow:
		return cli.Refuse("follow one loop: 'ralph logs NAME --follow'", "--all and --follow exclude each other")
	}
	loops, err := registry.Survey(p.env.Home, nil)
	if err != nil {
		return err
	}
	loops = slices.DeleteFunc(loops, func(s registry.Status) bool { return s.Gone || s.Name == "" })
	slices.SortStableFunc(loops, func(a, b registry.Status) int { return a.Started.Compare(b.Started) })
	names := p.env.NamesToType(loops)
	p.progress.loops = len(loops)
	found, unread := 0, 0
	for i, s := range loops {
		if !p.keep.From.IsZero() && lastWritten(s.Dir, p.env.Now()).Before(p.keep.From) {
			continue
		}
		l := p.log(Source{Path: s.Dir, Loop: true}, names(s))
		p.progress.loop(i, names(s))
		err := l.read()
		p.progress.clear()
		if err != nil {
			unread++
			cli.Tell(p.env.Stderr, "loop %s: %v", names(s), err)
		}
		found += l.matches()
	}
	if unread > 0 {
		return cli.Failed("'ralph journal verify NAME' says what is damaged", "%s of %d could not be read completely",
			units.Quantity(unread, "journal"), len(loops))
	}
	return p.outcome(found)
}

// lastWritten is when something in a journal was last written, or now if that is unknown. A copy
// may be newer than its events.
func lastWritten(dir string, now time.Time) (at time.Time) {
	entries, err := os.ReadDir(filepath.Join(dir, "journal"))
	if err != nil {
		return now // reading reports what is wrong
	}
	for _, entry := range entries {
		if info, err := entry.Info(); err == nil && info.ModTime().After(at) {
			at = info.ModTime()
		}
	}
	return at
}

// namedLines prints a JSON line for each event, with the name of its loop.
type namedLines struct {
	w        io.Writer
	buffered *bufio.Writer
	name     string
	terminal bool
	head     []byte
}

// Event prints {"loop":NAME,"event":LINE}.
func (n *namedLines) Event(e event.Event) error {
	if n.buffered == nil {
		n.buffered = bufio.NewWriterSize(n.w, 64<<10)
		n.head = append(jsonscan.AppendString([]byte(`{"loop":`), n.name), `,"event":`...)
	}
	line := append(slices.Clone(n.head), e.Line()...)
	if n.terminal {
		line = cli.AppendEscaped(nil, line)
	}
	_, err := n.buffered.Write(append(line, "}\n"...))
	return err
}

// Flush writes all lines so far.
func (n *namedLines) Flush() error {
	if n.buffered == nil {
		return nil
	}
	return n.buffered.Flush()
}

// Close is Flush.
func (n *namedLines) Close() error { return n.Flush() }

// progress shows on a terminal how far a search is, when it takes longer than progressAfter. The
// line is removed before anything else is printed.
type progress struct {
	env      *cli.Env
	loops    int
	at       string
	number   int
	begun    time.Time
	shown    time.Time // when the line was printed; zero if it is not there
	last     time.Time
	events   int
	disabled bool
}

const (
	progressAfter = time.Second
	progressEvery = 200 * time.Millisecond
	progressCheck = 4096 // events between two looks at the clock
)

func newProgress(e *cli.Env, name string) *progress {
	return &progress{env: e, loops: 1, number: 1, at: name, begun: e.Now(), disabled: !cli.OnTerminal(e.Stderr)}
}

// Write removes the line and prints to stdout.
func (p *progress) Write(text []byte) (int, error) {
	p.clear()
	return p.env.Stdout.Write(text)
}

func (p *progress) loop(i int, name string) {
	p.number, p.at = i+1, name
	p.tick()
}

// event counts an event that was read.
func (p *progress) event() {
	if p.events++; p.events%progressCheck == 0 {
		p.tick()
	}
}

func (p *progress) tick() {
	if p.disabled {
		return
	}
	now := p.env.Now()
	if now.Sub(p.begun) < progressAfter || now.Sub(p.last) < progressEvery {
		return
	}
	p.last, p.shown = now, now
	columns, _ := p.env.Size()
	text := fmt.Sprintf("ralph: loop %d of %d: %s, %d events", p.number, p.loops, cli.Clean(p.at), p.events)
	fmt.Fprintf(p.env.Stderr, "\r\x1b[K%s", units.Cut(text, columns-1))
}

// clear removes the line.
func (p *progress) clear() {
	if p.shown.IsZero() {
		return
	}
	p.shown = time.Time{}
	fmt.Fprint(p.env.Stderr, "\r\x1b[K")
}
