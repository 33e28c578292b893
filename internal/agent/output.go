package agent

import (
	"bytes"
	"slices"
	"sync"
	"time"

	"github.com/ralph-loop/ralph/internal/ground/jsonscan"
	"github.com/ralph-loop/ralph/internal/ground/process"
	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/journal/event"
)

// blobAbove is the length of a tool's output, in bytes of its JSON spelling, above which
// the line holds only its beginning.
const (
	blobAbove = 64 << 10
	blobHead  = 4 << 10
)

// batch is the drafts of one read and their memory.
type batch struct {
	drafts []event.Draft
	memory []byte
}

// batches are used again: new ones for each read cost ingest a fifth more processor time.
var batches = sync.Pool{New: func() any { return new(batch) }}

// batchKept limits the memory that a batch keeps when it is used again.
const batchKept = 4 << 20

// expect makes room for the lines, their facts, which repeat some of them, and names.
func (b *batch) expect(lines [][]byte) {
	size := 256 * len(lines)
	for _, line := range lines {
		size += len(line) + len(line)/2
	}
	b.memory = slices.Grow(b.memory, size)
	b.drafts = slices.Grow(b.drafts, len(lines)+len(lines)/4)
}

func (b *batch) release() {
	if cap(b.memory) > batchKept {
		return
	}
	clear(b.drafts)
	b.drafts, b.memory = b.drafts[:0], b.memory[:0]
	batches.Put(b)
}

// add encodes a fact. Memory that grows leaves earlier drafts where they are.
func (b *batch) add(p event.Payload, by string) {
	from := len(b.memory)
	b.memory = event.AppendData(b.memory, p)
	b.drafts = append(b.drafts, event.Draft{
		Type: p.EventType(), By: by, Data: b.memory[from:len(b.memory):len(b.memory)],
	})
}

// keep copies an agent's line, which is valid only during the call that delivers it.
func (b *batch) keep(line []byte) []byte {
	from := len(b.memory)
	b.memory = append(b.memory, line...)
	return b.memory[from:len(b.memory):len(b.memory)]
}

// output takes one read of the process's output.
func (s *Session) output(chunk process.Chunk) {
	<-s.opened
	b := batches.Get().(*batch)
	b.expect(chunk.Lines)
	from := Stdout
	if chunk.Stream == process.Stderr {
		from = Stderr
	}
	var at time.Time
	if s.cfg.Now != nil {
		at = s.cfg.Now()
	}
	s.mu.Lock()
	for i, line := range chunk.Lines {
		open := i == len(chunk.Lines)-1 && (chunk.Partial || chunk.End)
		if from == Stderr {
			s.stderr.write(s.cfg.Secrets, line)
			if !open {
				s.stderr.write(s.cfg.Secrets, []byte{'\n'})
			}
		}
		if s.command.Text && !open {
			s.complete = append(append(s.complete[:0], line...), '\n')
			line = s.complete
		}
		s.queue(s.line(b, line, from, at))
	}
	if s.command.Text && chunk.End {
		s.queue(s.line(b, nil, from, at))
	}
	s.mu.Unlock()
	if s.knows() || b.works() {
		// The turn continues after its agent.started.
		s.name.Do(func() { close(s.named) })
		<-s.announced
	}
	// The agent must not wait for the journal. One that cannot be written to is about to exit,
	// which agent.exited reports.
	_ = s.send()
	s.after(b)
}

// line decodes one line, read at that time, into b and returns what has to be answered.
func (s *Session) line(b *batch, line []byte, from Stream, at time.Time) [][]byte {
	d := &s.decoded
	d.Reset()
	d.At = at
	if from == Stdout && !s.command.Text && isTooDeep(line) {
		d.Add(event.AgentUnparsed{Line: event.Plain(string(line))})
	} else {
		s.cfg.Dialect.Decode(line, from, d)
	}
	if len(d.Facts) == 0 && !d.DropRaw && len(line) > 0 {
		d.Add(event.AgentNoticed{What: kindOf(line)})
	}
	before := len(b.drafts)
	for _, fact := range d.Facts {
		if p, ok := fact.(event.AgentUnparsed); ok && len(p.Line) == 0 && !s.keeps(line, from, d) {
			p.Line = event.Plain(string(line)) // or nothing of it would be kept
			fact = p
		}
		s.redactor.pass(fact, func(fact event.Payload) {
			b.add(s.shorten(fact), s.by)
			if p, ok := fact.(event.CommandDelivered); ok {
				b.drafts[len(b.drafts)-1].Cause = s.steers[p.ID]
			}
		})
		if fact.EventType() == event.TypeAgentFinished && s.finished != nil {
			close(s.finished)
			s.finished = nil
		}
	}
	if len(b.drafts) > before && s.keeps(line, from, d) {
		b.drafts[before].Raw = b.keep(line)
	}
	s.signal(b, len(b.drafts) > before, len(line) > 0 && from == Stdout, at)
	if d.Own {
		// before anything of the turn is written; if it fails, park fails, and the process is
		// replaced
		_ = s.proc.SetBaseline()
	}
	if s.reset != nil && (d.Fresh || d.Stale) {
		s.reset <- d.Fresh
		s.reset = nil
	}
	return d.Reply
}

// signEvery is how often a sign of life is reported for lines that come to no event.
const signEvery = time.Second

// signal reports now and then that the agent is alive although its lines come to no event, such as
// the pieces of something that is reported when it is complete. Deadlines are counted from events.
func (s *Session) signal(b *batch, reported, printed bool, at time.Time) {
	switch {
	case reported:
		s.reported = at
	case printed && !at.IsZero() && at.Sub(s.reported) >= signEvery:
		b.add(event.AgentNoticed{What: event.NoticeWriting}, s.by)
		s.reported = at
	}
}

// kindOf returns a name for a line that came to no fact: the type that it states.
func kindOf(line []byte) string {
	if kind := jsonscan.Get(line, "type"); jsonscan.IsString(kind) {
		return jsonscan.Unquote(kind)
	}
	return "line"
}

// keeps reports whether the line itself goes into the journal beside its facts.
func (s *Session) keeps(line []byte, from Stream, d *Decoded) bool {
	if !s.cfg.KeepRaw || d.DropRaw || from == Stderr || slices.ContainsFunc(d.Facts, isPiece) {
		return false
	}
	// A reference to a blob that an agent prints would be taken for one of the writer's.
	return (d.JSON || jsonscan.Valid(line)) && !isTooDeep(line) && event.RawBlob(line) == ""
}

// around is how many objects and arrays of an event may be around a part of a line.
const around = 8

// isTooDeep reports whether so many arrays and objects of a line are in each other that an event
// with a part of it would not be JSON: readers have a limit ([jsonscan.MaxDepth]).
func isTooDeep(line []byte) bool {
	if len(line) < 2*(jsonscan.MaxDepth-around) || bytes.Count(line, []byte("["))+bytes.Count(line, []byte("{")) <= jsonscan.MaxDepth-around {
		return false
	}
	return !jsonscan.Valid(slices.Concat(bytes.Repeat([]byte("["), around), line, bytes.Repeat([]byte("]"), around)))
}

// isPiece reports whether a fact is a piece of a longer text. Its line is not kept: a secret that
// is cut in two by two pieces could be masked in neither line.
func isPiece(fact event.Payload) bool {
	switch p := fact.(type) {
	case event.AgentSaid:
		return !p.Final && !p.Text.IsZero()
	case event.AgentThought:
		return !p.Final && !p.Text.IsZero()
	case event.ToolProgressed:
		return !p.Text.IsZero()
	}
	return false
}

// shorten moves a tool's long output into a blob. If that fails, the line remains long.
func (s *Session) shorten(fact event.Payload) event.Payload {
	p, ok := fact.(event.ToolReturned)
	if !ok || len(p.Output) <= blobAbove || s.cfg.Blob == nil {
		return fact
	}
	output := p.Output.AppendTo(nil)
	blob, err := s.cfg.Blob(output)
	if err != nil || blob.SHA256 == "" {
		return fact
	}
	p.Output = event.Plain(string(s.head(output)))
	p.Blob, p.Bytes = blob.SHA256, len(output)
	return p
}

// head returns the beginning of a text, up to a complete character. It is masked as part of the
// text: it may end within a secret.
func (s *Session) head(text []byte) []byte {
	if s.cfg.Secrets != nil {
		text, _ = s.cfg.Secrets.Text(text)
	}
	return units.Prefix(text, blobHead)
}
