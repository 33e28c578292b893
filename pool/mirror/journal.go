package mirror

import (
	"encoding/json"
	"errors"
	"fmt"
	"iter"

	"github.com/ralph-loop/ralph/journal"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/pool/chunk"
)

// A piece is lines of the journal that are sealed together; last is before first if there are none.
type piece struct {
	text        []byte
	first, last event.Seq
	full        bool                 // it has to be sealed, and what follows is another piece
	iteration   bool                 // it ends with the end of an iteration,
	number      int                  // which is this one
	ended       bool                 // an iteration, or the loop, ends in it
	received    map[string]event.Seq // the receipts of commands, by their IDs
}

// lines reads pieces of a journal, one after the other.
type lines struct {
	dir  string
	at   event.Seq // the last event that was read
	next func() (event.Event, error, bool)
	stop func()
	err  error // the journal cannot be read on
}

func (l *lines) close() {
	if l.stop != nil {
		l.stop()
	}
}

// A gapError says that events were removed before they were mirrored.
type gapError struct{ from, first event.Seq }

func (e *gapError) Error() string {
	return fmt.Sprintf("its journal begins with event %d, and the events from %d on are not in the pool: "+
		"journal.keepIterations has removed them, so this loop cannot be mirrored any more", e.first, e.from)
}

// after returns the lines after an event, up to where they have to be sealed. The lines before
// damage are a piece.
func (l *lines) after(seq event.Seq) (p piece) {
	if l.next == nil || l.at != seq {
		l.close()
		l.at, l.err = seq, nil
		l.next, l.stop = iter.Pull2(journal.Read(l.dir, journal.ReadOptions{FromSeq: seq + 1}))
	}
	p.first, p.last = seq+1, seq
	for !p.full && l.err == nil {
		e, err, more := l.next()
		if !more {
			break
		}
		if missing, ok := errors.AsType[*journal.RangeError](err); ok {
			if missing.First > p.first {
				l.err = &gapError{p.first, missing.First}
			}
			break
		}
		if err != nil {
			l.err, p.full = err, p.last >= p.first
			break
		}
		p.add(e)
		l.at = e.Seq
	}
	return p
}

func (p *piece) add(e event.Event) {
	p.text = append(append(p.text, e.Line()...), '\n')
	p.last = e.Seq
	switch e.Type {
	case event.TypeIterationEnded:
		p.ended, p.iteration, p.number = true, true, e.Iter
	case event.TypeLoopEnded:
		p.ended = true
	case event.TypeCommandReceived:
		if p.received == nil {
			p.received = map[string]event.Seq{}
		}
		receipt(e, p.received)
	}
	p.full = p.iteration || len(p.text) >= chunk.MaxLines
}

// linesBetween returns the lines of these events as they are in the journal, nil if it does not
// have the first any more, and fewer if it never had them.
func linesBetween(dir string, first, last event.Seq) ([]byte, error) {
	text := []byte{}
	for e, err := range journal.Read(dir, journal.ReadOptions{FromSeq: first}) {
		if missing, ok := errors.AsType[*journal.RangeError](err); ok {
			if missing.First > first {
				return nil, nil
			}
			return text, nil
		}
		if err != nil {
			return nil, err
		}
		text = append(append(text, e.Line()...), '\n')
		if e.Seq >= last {
			break
		}
	}
	return text, nil
}

// receipts returns the IDs of all commands that the journal has, with their events.
func receipts(dir string) (map[string]event.Seq, error) {
	ids := map[string]event.Seq{}
	for e, err := range journal.Read(dir, journal.ReadOptions{}) {
		if err != nil {
			return nil, err
		}
		receipt(e, ids)
	}
	return ids, nil
}

func receipt(e event.Event, ids map[string]event.Seq) {
	var c event.CommandReceived
	if e.Type == event.TypeCommandReceived && json.Unmarshal(e.Data(), &c) == nil {
		ids[c.ID] = e.Seq
	}
}
