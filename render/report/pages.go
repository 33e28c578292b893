package report

import (
	"io"

	"github.com/ralph-loop/ralph/journal"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/render/markup"
	"github.com/ralph-loop/ralph/render/transcript"
)

// takeEvery is after how many events the entries are taken: what changes often is taken rarely.
const takeEvery = 256

// pages writes the iterations of a page, one after the other.
type pages struct {
	page
	w       io.Writer
	builder *transcript.Builder
	chunk   chunk
	written event.Seq // the entries of the events up to this one are written
	skip    bool      // the iteration is shown as a summary only
	at      int       // index of the iteration that runs or comes next
	all     []Iteration
	open    map[int]bool // the iterations that are unfolded
}

// openMost is how many iterations are unfolded at most, because they failed: in some loops all do.
const openMost = 5

// iterations writes the entries of the journal: those of an iteration in a folded section, those
// between two iterations beside them.
func (p page) iterations(w io.Writer, dir string) error {
	s := &pages{page: p, w: w, all: p.Iterations(),
		builder: transcript.New(transcript.Options{Project: p.Project, Maximum: p.Maximum, Location: p.opt.Location})}
	s.open = map[int]bool{}
	for n := len(s.all) - 1; n >= 0 && len(s.open) < openMost; n-- {
		if s.all[n].Failing() {
			s.open[s.all[n].N] = true
		}
	}
	n := 0
	for e, err := range journal.Read(dir, journal.ReadOptions{}) {
		if err != nil {
			if p.Damage != "" {
				break // the page says so
			}
			return err
		}
		if e.Seq > p.Last {
			break
		}
		if err := s.add(e); err != nil {
			return err
		}
		if n++; n%takeEvery == 0 {
			s.take()
		}
	}
	if s.at < len(s.all) && s.all[s.at].Outcome == "" {
		return s.iteration(&s.all[s.at])
	}
	return s.between()
}

func (s *pages) add(e event.Event) error {
	switch e.Type {
	case event.TypeIterationStarted:
		if err := s.between(); err != nil {
			return err
		}
		s.skip = s.at < len(s.all) && !s.full[s.all[s.at].N]
	case event.TypeAgentSaid, event.TypeAgentThought, event.TypeToolCalled, event.TypeToolProgressed, event.TypeToolReturned, event.TypeAgentPlanned:
		if s.skip {
			return nil
		}
	}
	s.builder.Add(e)
	if e.Type != event.TypeIterationEnded {
		return nil
	}
	s.skip = false
	if s.at >= len(s.all) { // it is not in the report
		return s.between()
	}
	i := &s.all[s.at]
	s.at++
	return s.iteration(i)
}

// take collects the entries. One that was written before is shown again as what happened now.
func (s *pages) take() {
	for _, e := range s.builder.Take() {
		if e.Seq <= s.written {
			e.Seq, e.At = e.Last, e.Changed
		}
		s.chunk.put(e)
	}
}

// section is an iteration with its entries.
type section struct {
	page
	Iteration

	Full, Open, Failing bool
}

// gap says that entries are left out.
type gap struct {
	page

	Left int
	From event.Seq
}

func (s *pages) iteration(i *Iteration) error {
	s.take()
	c := &section{page: s.page, Iteration: *i, Full: s.full[i.N], Failing: i.Failing()}
	c.Open = i.N == s.all[len(s.all)-1].N || s.open[i.N]
	if err := templates().ExecuteTemplate(s.w, "iteration", c); err != nil {
		return err
	}
	if c.Full {
		if err := s.entries(); err != nil {
			return err
		}
	}
	s.done()
	return templates().ExecuteTemplate(s.w, "iterationFoot", c)
}

// between writes the entries since the last iteration.
func (s *pages) between() error {
	s.take()
	defer s.done()
	return s.entries()
}

func (s *pages) done() {
	for _, part := range [][]transcript.Entry{s.chunk.first, s.chunk.failing, s.chunk.last} {
		if len(part) > 0 {
			s.written = max(s.written, part[len(part)-1].Last)
		}
	}
	s.chunk = chunk{}
}

func (s *pages) entries() error {
	o := markup.Options{Location: s.opt.Location, Heading: 4, Most: textMost}
	for n, part := range [][]transcript.Entry{s.chunk.first, s.chunk.failing, s.chunk.last} {
		if n == 1 && s.chunk.Left > 0 {
			if err := templates().ExecuteTemplate(s.w, "gap", gap{s.page, s.chunk.Left, s.chunk.LeftFrom}); err != nil {
				return err
			}
		}
		for _, e := range part {
			if err := markup.Entry(s.w, e, o); err != nil {
				return err
			}
		}
	}
	return nil
}
