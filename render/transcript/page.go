package transcript

import (
	"errors"

	"github.com/ralph-loop/ralph/journal"
	"github.com/ralph-loop/ralph/journal/event"
)

// Page is a part of a loop as entries.
type Page struct {
	Entries     []Entry
	First, Last event.Seq // the events that it shows; 0 if there are none
	Start       bool      // the journal has no event before it
	End         bool      // the journal had no event after it
	Use         Use       // as its events report it
}

// Use is what an agent reported last about its context.
type Use struct {
	Context int64 // tokens; 0 if not known
	Model   string
}

// Add takes in an event.
func (u *Use) Add(e event.Event) {
	switch e.Type {
	case event.TypeAgentUsed:
		if p, err := event.As[event.AgentUsed](e); err == nil {
			if all := p.In + p.CacheRead + p.CacheWrite + p.Out; all > 0 {
				u.Context = all
			}
			if p.Model != "" {
				u.Model = p.Model
			}
		}
	case event.TypeAgentCompacted:
		if p, err := event.As[event.AgentCompacted](e); err == nil {
			u.Context = p.After
		}
	case event.TypeIterationStarted:
		u.Context = 0
	}
}

// Tail returns the last n events of a loop as a page, the builder that made it, and the position
// after them, from which journal.Follow continues with that builder. Its time depends on n and not
// on the size of the journal. For a journal that is damaged before these events, the page is
// returned together with the *journal.CorruptError.
func Tail(dir string, n int, o Options) (Page, *Builder, journal.Position, error) {
	events, from, err := journal.Last(dir, n)
	b := New(o)
	p := Page{End: true, Start: len(events) < n}
	if len(events) == n {
		events = events[beginning(events):]
	}
	for _, e := range events {
		b.Add(e)
		p.Use.Add(e)
	}
	p.Entries = b.Take()
	if len(events) > 0 {
		p.First, p.Last = events[0].Seq, events[len(events)-1].Seq
	}
	p.Start = p.Start || p.First == 1
	return p, b, from, err
}

// At returns at most n events up to seq as a page, and the builder that made it, for which the
// event after seq is the next one.
func At(dir string, seq event.Seq, n int, o Options) (Page, *Builder, error) {
	b := New(o)
	if seq == 0 {
		return Page{Start: true}, b, nil
	}
	from := event.Seq(1)
	if seq >= event.Seq(n) {
		from = seq - event.Seq(n) + 1
	}
	p, err := span(dir, from, seq+1, b)
	if gone, ok := errors.AsType[*journal.RangeError](err); ok && gone.First > from && gone.First <= seq {
		p, err = span(dir, gone.First, seq+1, b)
		p.Start = true
	}
	return p, b, err
}

// Before returns at most n events before seq as a page.
func Before(dir string, seq event.Seq, n int, o Options) (Page, error) {
	from := event.Seq(1)
	if seq > event.Seq(n) {
		from = seq - event.Seq(n)
	}
	p, err := span(dir, from, seq, New(o))
	if gone, ok := errors.AsType[*journal.RangeError](err); ok && gone.First > from {
		if p, err = (Page{}), nil; gone.First < seq {
			p, err = span(dir, gone.First, seq, New(o))
		}
		p.Start = true
	}
	return p, err
}

// Read returns at most n events from seq on as a page. If the journal no longer has the event seq,
// the page begins with the first that it has.
func Read(dir string, seq event.Seq, n int, o Options) (Page, error) {
	seq = max(seq, 1)
	p, err := span(dir, seq, seq+event.Seq(n), New(o))
	if gone, ok := errors.AsType[*journal.RangeError](err); ok && gone.First > seq {
		p, err = span(dir, gone.First, gone.First+event.Seq(n), New(o))
		p.Start = true
	}
	return p, err
}

// span returns the events from a number up to the one before another, as b makes entries of them. A
// page that begins in the middle of a loop begins where an entry does, as far as that can be seen.
func span(dir string, from, before event.Seq, b *Builder) (Page, error) {
	p := Page{End: true}
	var held []event.Event // until the beginning is found
	whole := from == 1
	add := func(e event.Event) {
		if p.First == 0 {
			p.First = e.Seq
		}
		p.Last = e.Seq
		b.Add(e)
	}
	release := func() {
		for _, e := range held[beginning(held):] {
			add(e)
		}
		held, whole = nil, true
	}
	for e, err := range journal.Read(dir, journal.ReadOptions{FromSeq: from}) {
		if err != nil {
			return p, err
		}
		if e.Seq >= before {
			p.End = false
			break
		}
		switch {
		case whole:
			add(e)
		default:
			if held = append(held, e.Clone()); len(held) > int(before-from)/2 {
				release()
			}
		}
	}
	release()
	p.Entries = b.Take()
	p.Start = p.Start || p.First <= 1
	return p, nil
}

// beginning returns the index of the first event after which no entry is open, as far as the
// events show it; 0 if none is in the first half.
func beginning(events []event.Event) int {
	for i, e := range events[:len(events)/2] {
		switch e.Type {
		case event.TypeAgentSaid, event.TypeAgentThought:
			if string(e.Field("final")) == "true" {
				return i + 1
			}
		case event.TypeToolReturned, event.TypeIterationEnded, event.TypeSegmentOpened, event.TypeAgentFinished:
			return i + 1
		case event.TypeIterationStarted:
			return i
		}
	}
	return 0
}
