package logs

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/render"
)

// A finder is a viewer that shows the events whose texts match a pattern, each with the text around
// the match, and with the events around it if they are wanted.
type finder struct {
	*pattern
	texts *texts
	lines *render.Log   // nil for JSON
	json  render.Viewer // nil for lines
	color bool
	found int // events
	// ofJournal says that the events of the journal about itself were asked for.
	ofJournal bool
	// prompt says that each match is shown at once, for a person who waits.
	prompt bool

	around int           // how many events before and after a match are shown
	before []event.Event // the last ones that are not shown yet
	after  int           // how many more to show
	gap    bool          // events were left out since the last one that was shown

	last int // only the last so many matches; 0 for all
	tail []shown
}

// shown is an event with its matches; none for an event around a match.
type shown struct {
	event   event.Event
	matches []string
	gap     bool // events were left out before it
}

// matchesMost is how many matches of one event are shown.
const matchesMost = 3

const (
	matchOn  = "\x1b[1;31m"
	matchOff = "\x1b[0m"
)

var hasBlob = []byte(`"sha256":"`)

// Event searches an event.
func (f *finder) Event(e event.Event) error {
	matches, found := f.search(e)
	switch {
	case found:
		f.found++
		gap := f.gap && f.around > 0 && f.found > 1
		for _, b := range f.before {
			if err := f.show(shown{event: b, gap: gap}); err != nil {
				return err
			}
			gap = false
		}
		f.before, f.after, f.gap = nil, f.around, false
		return f.show(shown{event: e, matches: matches, gap: gap})
	case f.after > 0:
		f.after--
		return f.show(shown{event: e})
	case f.around > 0:
		if len(f.before) == f.around {
			f.before = f.before[1:]
			f.gap = true
		}
		f.before = append(f.before, e.Clone())
	}
	return nil
}

// search returns the text around each of the first matches in an event.
func (f *finder) search(e event.Event) (matches []string, found bool) {
	if strings.HasPrefix(string(e.Type), "segment.") && !f.ofJournal {
		return nil, false // a checkpoint repeats what earlier events say
	}
	if piece, old, ok := f.texts.piece(e); ok {
		// What came before was searched with the event before. A match may begin there.
		if f.reach > 0 && !f.maybeIn(piece[max(0, old-f.reach):]) {
			return nil, false
		}
		return f.matches(nil, []text{{"text", string(piece), old}})
	}
	line := e.Line()
	if !f.maybe(line) && !bytes.Contains(line, hasBlob) && !bytes.Contains(line, []byte(`"blob":"`)) {
		return nil, false
	}
	return f.matches(nil, f.texts.of(e))
}

func (f *finder) matches(matches []string, all []text) ([]string, bool) {
	count := 0
	for _, t := range all {
		for _, at := range f.find(t.text, -1) {
			if at[1] <= t.old {
				continue // it was found in the piece before
			}
			count++
			if f.lines != nil && count <= matchesMost {
				matches = append(matches, f.place(t, at))
			}
		}
	}
	if count > matchesMost && f.lines != nil {
		matches = append(matches, fmt.Sprintf("and %d more", count-matchesMost))
	}
	return matches, count > 0
}

// place is one match with its key.
func (f *finder) place(t text, at []int) string {
	columns := f.lines.Left()
	if columns == 0 {
		columns = excerptColumns
	}
	key := ""
	if t.key != "text" && t.key != "" {
		key = render.Cut(render.Clean(t.key), columns/3) + ": "
	}
	on, off := "", ""
	if f.color {
		on, off = matchOn, matchOff
	}
	return key + excerpt(t.text, at[0], at[1], columns-render.Columns(key), on, off)
}

func (f *finder) show(s shown) error {
	if f.last == 0 {
		err := f.print(s)
		if f.prompt && err == nil {
			err = f.flush()
		}
		return err
	}
	s.event = s.event.Clone()
	f.tail = append(f.tail, s)
	matches := 0
	for i, t := range slices.Backward(f.tail) {
		if t.matches == nil && f.json == nil {
			continue
		}
		if matches++; matches > f.last {
			f.tail = withoutRest(f.tail[i+1:])
			break
		}
	}
	return nil
}

// withoutRest removes the events that were shown only because of a match before them.
func withoutRest(tail []shown) []shown {
	for i, s := range tail {
		if s.gap {
			tail[i].gap = false
			return tail[i:]
		}
		if s.matches != nil {
			break
		}
	}
	return tail
}

func (f *finder) print(s shown) error {
	if f.json != nil {
		return f.json.Event(s.event)
	}
	if s.gap {
		if err := f.lines.Separator(); err != nil {
			return err
		}
	}
	if len(s.matches) == 0 {
		return f.lines.Event(s.event)
	}
	for _, match := range s.matches {
		if err := f.lines.EventText(s.event, match); err != nil {
			return err
		}
	}
	return nil
}

// Flush shows the last matches; later ones are shown at once.
func (f *finder) Flush() error {
	for _, s := range f.tail {
		if err := f.print(s); err != nil {
			return err
		}
	}
	f.tail, f.last = nil, 0
	return f.flush()
}

func (f *finder) flush() error {
	if f.json != nil {
		return f.json.Flush()
	}
	return f.lines.Flush()
}

// Close is Flush.
func (f *finder) Close() error {
	f.texts.Close()
	return f.Flush()
}
