package web

import (
	"html/template"
	"net/http"
	"strings"

	"github.com/ralph-loop/ralph/journal"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/projector"
	"github.com/ralph-loop/ralph/render"
	"github.com/ralph-loop/ralph/render/markup"
	"github.com/ralph-loop/ralph/render/transcript"
)

// changedMost is how many bytes of edits one page shows, about.
const changedMost = 4 << 20

// changed are the edits of one iteration.
type changed struct {
	N     int
	Edits []template.HTML
}

// changesPage is what the page of changes shows.
type changesPage struct {
	pageData
	Changes []changed
	Problem string // why it does not have all
}

// showChanges shows what the agent's tools changed in files. It reads the journal alone: a visitor
// starts no program, and sees no file of the project besides.
func (s *Server) showChanges(w http.ResponseWriter, r *http.Request) {
	v := visitOf(r)
	l, err := s.find(r.PathValue("id"))
	if err != nil {
		s.page(w, http.StatusNotFound, "missing.html", pageData{Base: base(v)})
		return
	}
	p := changesPage{pageData: pageData{Base: base(v), Write: v.write, Loop: describe(l)}}
	p.read(l)
	s.page(w, http.StatusOK, "changes.html", p)
}

// read collects the edits that were done.
func (p *changesPage) read(l *projector.View) {
	b, size := transcript.New(optionsFor(l)), 0
	for e, err := range journal.Read(l.Dir, journal.ReadOptions{}) {
		if err != nil {
			p.Problem = "What follows cannot be read: " + render.Clean(err.Error())
			return
		}
		switch e.Type {
		case event.TypeLoopStarted, event.TypeIterationStarted, event.TypeIterationEnded, event.TypeToolCalled, event.TypeToolReturned:
			b.Add(e)
		}
		if e.Type != event.TypeToolReturned {
			continue
		}
		for _, entry := range b.Take() {
			text, edits := editOf(entry)
			if !edits {
				continue
			}
			if size += len(text); size > changedMost {
				p.Problem = "Later edits are left out, to keep this page small."
				return
			}
			if n := len(p.Changes); n == 0 || p.Changes[n-1].N != entry.Iteration {
				p.Changes = append(p.Changes, changed{N: entry.Iteration})
			}
			last := &p.Changes[len(p.Changes)-1]
			last.Edits = append(last.Edits, text)
		}
	}
}

// editOf returns an entry with its lines, if it is an edit that was done.
func editOf(e transcript.Entry) (text template.HTML, ok bool) {
	tools, ok := e.Body.(transcript.Tools)
	if !ok || tools.State() != transcript.StateOK || len(tools.Calls) != 1 || len(tools.Calls[0].Diff) == 0 {
		return "", false
	}
	var to strings.Builder
	_ = markup.Entry(&to, e, markup.Options{Most: shownBytes, Diffs: true}) // writing to memory does not fail
	return template.HTML(to.String()), true                                 //nolint:gosec // package markup escapes what is foreign
}
