package web

import (
	"cmp"
	"encoding/json"
	"errors"
	"html/template"
	"net/http"
	"strconv"
	"strings"

	"github.com/ralph-loop/ralph/journal"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/projector"
	"github.com/ralph-loop/ralph/render/markup"
	"github.com/ralph-loop/ralph/render/transcript"
)

// A page of a conversation is made of so many events, unless the client asks for another number. It
// is made of more if these are few entries, since most events only continue one.
const (
	pageEvents    = 500
	pageEntries   = 30 // that are enough
	maxPageEvents = 20_000
)

// entry is an entry for a client.
type entry struct {
	// Key names what the entry is about: a later entry with this key is a later state of it.
	Key string
	// HTML shows it; empty unless it was asked for.
	HTML template.HTML
	transcript.Entry
}

// MarshalJSON writes the entry as package transcript does, with its key; with HTML, it leaves out
// what that shows.
func (e entry) MarshalJSON() ([]byte, error) {
	type head struct {
		Key  string          `json:"key"`
		Kind transcript.Kind `json:"kind,omitempty"`
		Seq  event.Seq       `json:"seq,omitempty"`
		HTML template.HTML   `json:"html,omitempty"`
	}
	if e.HTML != "" {
		return json.Marshal(head{e.Key, e.Body.Kind(), e.Seq, e.HTML})
	}
	all, err := json.Marshal(e.Entry)
	if err != nil {
		return nil, err
	}
	key, err := json.Marshal(e.Key)
	return append(append(append([]byte(`{"key":`), key...), ','), all[1:]...), err
}

// entriesFor gives entries their keys.
func entriesFor(all []transcript.Entry, asHTML bool) []entry {
	entries := make([]entry, 0, len(all))
	for i, e := range all {
		key := e.Seq.String()
		for back := i - 1; back >= 0 && all[back].Seq == e.Seq; back-- { // notes of one event
			key = e.Seq.String() + "." + strconv.Itoa(i-back)
		}
		// A message has the same key on the page where it was sent and on the one where it was
		// delivered. What was received before the first event that is known has no text.
		if m, ok := e.Body.(transcript.Message); ok && m.ID != "" && m.Command != "" {
			key = m.ID
		}
		if q, ok := e.Body.(transcript.Question); ok { // the same on the page where it was asked
			key = "question-" + strconv.Itoa(q.Number)
		}
		made := entry{Key: key, Entry: e}
		if asHTML {
			made.HTML = asMarkup(e)
		}
		entries = append(entries, made)
	}
	return entries
}

// shownBytes is how much of an output or a prompt a page shows.
const shownBytes = 64 << 10

func asMarkup(e transcript.Entry) template.HTML {
	var text strings.Builder
	_ = markup.Entry(&text, e, markup.Options{Most: shownBytes}) // writing to memory does not fail
	return template.HTML(text.String())                          //nolint:gosec // package markup escapes what is foreign
}

// entryPage is the answer to GET /api/loops/{id}/entries.
type entryPage struct {
	Entries []entry   `json:"entries"`
	First   event.Seq `json:"first"` // the events that it shows; 0 if there are none
	Last    event.Seq `json:"last"`
	Start   bool      `json:"start"`             // there is nothing before it
	Problem string    `json:"problem,omitempty"` // what cannot be read before it
}

// getEntries answers with a part of a conversation: the one before an event, or the end.
func (s *Server) getEntries(w http.ResponseWriter, r *http.Request) {
	l, ok := s.loopOf(w, r)
	if !ok {
		return
	}
	before, err := seqOf(r, "before", 0)
	if err != nil {
		refuse(w, http.StatusBadRequest, err.Error(), "")
		return
	}
	limit, err := seqOf(r, "limit", 0)
	if err != nil || limit > maxPageEvents {
		refuse(w, http.StatusBadRequest, "limit has to be a number of events, "+strconv.Itoa(maxPageEvents)+" at most", "")
		return
	}
	p, problem, err := readBefore(l, before, int(limit))
	if err != nil {
		refuse(w, http.StatusInternalServerError, err.Error(), "'ralph journal verify' shows what is wrong")
		return
	}
	answer(w, http.StatusOK, pageFor(p, problem, r.URL.Query().Get("html") != ""))
}

func pageFor(p transcript.Page, problem string, asHTML bool) entryPage {
	return entryPage{entriesFor(p.Entries, asHTML), p.First, p.Last, p.Start, problem}
}

func optionsFor(l *projector.View) transcript.Options {
	return transcript.Options{Project: l.Project, Maximum: l.MaximumIterations}
}

// enough reports whether a page needs no more events than n.
func enough(p transcript.Page, n int) bool {
	return p.Start || len(p.Entries) >= pageEntries || n > maxPageEvents/4
}

// readTail reads the end, of limit events or of as many as are enough if that is 0. It returns the
// builder of the page and the position after it. problem is damage before the page.
func readTail(l *projector.View, limit int) (p transcript.Page, b *transcript.Builder, from journal.Position, problem string, err error) {
	for n := cmp.Or(limit, pageEvents); ; n *= 4 {
		p, b, from, err = transcript.Tail(l.Dir, n, optionsFor(l))
		if damage, ok := errors.AsType[*journal.CorruptError](err); ok && len(p.Entries) > 0 {
			return p, b, from, damage.Error() + "; " + damage.Hint(), nil
		}
		if err != nil || limit > 0 || enough(p, n) {
			return p, b, from, "", err
		}
	}
}

// readBefore reads the part before an event, or the end if before is 0.
func readBefore(l *projector.View, before event.Seq, limit int) (p transcript.Page, problem string, err error) {
	if before == 0 {
		p, _, _, problem, err = readTail(l, limit)
		return p, problem, err
	}
	for n := cmp.Or(limit, pageEvents); ; n *= 4 {
		p, err = transcript.Before(l.Dir, before, n, optionsFor(l))
		if later, ok := errors.AsType[*journal.RangeError](err); ok && before > later.Last {
			return readBefore(l, 0, limit) // the end comes before it
		}
		if err != nil || limit > 0 || enough(p, n) {
			return p, "", err
		}
	}
}
