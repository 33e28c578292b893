package web

import (
	"errors"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/front/listing"
	"github.com/ralph-loop/ralph/internal/front/remote"
	"github.com/ralph-loop/ralph/projector"
	"github.com/ralph-loop/ralph/registry"
)

// Loop is what is true of a loop, with what a page shows beside it.
type Loop struct {
	*projector.View
	// About is what it asks, does, or why it ended, since when; in the list.
	About      string     `json:"about,omitempty"`
	AboutSince time.Time  `json:"aboutSince,omitzero"`
	Today      *float64   `json:"today"` // what it has cost since midnight, in USD, in the list; null if it is not known
	Shown      shown      `json:"shown"`
	Now        *time.Time `json:"now,omitempty"` // by the clock of this machine; of one loop
}

// shown are amounts as a person reads them.
type shown struct {
	Iteration string `json:"iteration"` // "3 of 10"; empty before the first
	Cost      string `json:"cost"`      // "unknown" if it is not known
	Tokens    string `json:"tokens"`
	Today     string `json:"today,omitempty"`   // the cost since midnight, in the list
	Project   string `json:"project,omitempty"` // a short path, in the list
}

// survey lists the loops of this machine. Requests within a short time share one look at the disk.
type survey struct {
	env    *cli.Env
	loader *listing.Loader

	mu     sync.Mutex
	at     time.Time
	loops  []Loop
	err    error
	wanted []string // the loops whose facts are read, by the files of their entries
}

// surveyEvery is the shortest time between two looks at all loops.
const surveyEvery = 700 * time.Millisecond

// all returns the loops, those that need a person first. The slice is shared: it must not be
// changed.
func (s *survey) all() ([]Loop, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now := s.env.Now(); s.at.IsZero() || now.Sub(s.at) >= surveyEvery || now.Before(s.at) {
		s.loops, s.err = s.look()
		s.at = now
	}
	return s.loops, s.err
}

// mostFacts is how many loops have facts in the list: the first, which are the most urgent.
const mostFacts = 200

func (s *survey) look() ([]Loop, error) {
	found, err := s.loader.Load(s.wanted)
	if err != nil {
		return nil, err
	}
	wanted, known := first(found.Loops)
	s.wanted = wanted
	if !known { // there is a new loop, or this is the first look
		if found, err = s.loader.Load(wanted); err != nil {
			return nil, err
		}
	}
	loops := make([]Loop, 0, len(found.Loops))
	for _, l := range found.Loops {
		shown := describe(l.View)
		shown.Today, shown.Shown.Today, shown.Shown.Project = l.Today, listing.Cost(l.Today), l.Path
		if facts := l.Facts; facts != nil {
			shown.About, shown.AboutSince = facts.Text, facts.Since
			if facts.Asked.Number > 0 || len(l.Questions) > 0 {
				asks := *l.View // the loader keeps its own
				if asks.Questions = nil; facts.Asked.Number > 0 {
					asks.Questions = []projector.Question{facts.Asked}
				}
				shown.View = &asks
			}
		}
		loops = append(loops, shown)
	}
	return loops, nil
}

// first returns the files of the first loops, and whether their facts are known.
func first(loops []listing.Loop) (files []string, known bool) {
	known = true
	for _, l := range loops[:min(len(loops), mostFacts)] {
		files = append(files, l.Found.File)
		known = known && l.Facts != nil
	}
	return files, known
}

// describe adds the amounts to a view.
func describe(v *projector.View) Loop {
	l := Loop{View: v, Shown: shown{Cost: listing.Cost(v.Cost), Tokens: listing.Tokens(v)}}
	if v.Iteration > 0 {
		l.Shown.Iteration = cli.CountOf(v.Summary).Number()
	}
	return l
}

// at is a loop at this moment.
func (s *Server) at(v *projector.View) Loop {
	l, now := describe(v), s.env.Now()
	l.Now = &now
	return l
}

var (
	errNoLoop    = errors.New("there is no such loop on this machine")
	errAmbiguous = errors.New("several projects have a loop of this name")
	errElsewhere = errors.New("the loop is on another machine: only its state is known here, and it takes commands")
)

// find returns the loop of an id: its ULID, or its name if that is unique on this machine.
func (s *Server) find(id string) (*projector.View, error) {
	found, err := registry.Survey(s.env.Home, func(e registry.Entry) bool { return e.ID == id || e.Name == id })
	if err != nil {
		return nil, err
	}
	var named []registry.Status
	for _, l := range found {
		switch {
		case l.Name == "": // no entry
		case l.ID == id:
			return projector.Brief(l), nil
		default:
			named = append(named, l)
		}
	}
	switch len(named) {
	case 0:
		if s.distant.Find(id) != nil {
			return nil, errElsewhere
		}
		return nil, errNoLoop
	case 1:
		return projector.Brief(named[0]), nil
	}
	return nil, errAmbiguous
}

// firstAnswers is how long a page of a loop of another machine waits for the machines to answer.
const firstAnswers = 5 * time.Second

// elsewhere returns the loop of another machine that a request names as HOST:NAME or HOST:ID; ok is
// false for any other. A name of this machine has no colon. Only machines that are sources are
// reached.
func (s *Server) elsewhere(r *http.Request) (v *projector.View, l remote.Loop, ok bool) {
	id := r.PathValue("id")
	if !strings.Contains(id, ":") {
		return nil, l, false
	}
	if v = s.distant.Find(id); v == nil {
		s.distant.Await(r.Context(), firstAnswers)
		v = s.distant.Find(id)
	}
	if v == nil {
		return nil, l, false
	}
	l, ok = remote.Of(v.Found)
	return v, l, ok
}

// loopOf returns the loop that a request is about, or answers it.
func (s *Server) loopOf(w http.ResponseWriter, r *http.Request) (*projector.View, bool) {
	l, err := s.find(r.PathValue("id"))
	switch {
	case errors.Is(err, errNoLoop):
		refuse(w, http.StatusNotFound, err.Error(), "GET /api/loops lists them")
	case errors.Is(err, errElsewhere):
		refuse(w, http.StatusConflict, err.Error(), "'ralph attach "+r.PathValue("id")+"' shows it in a terminal, where ssh reaches it")
	case errors.Is(err, errAmbiguous):
		refuse(w, http.StatusConflict, err.Error(), "use the id that GET /api/loops shows")
	case err != nil:
		refuse(w, http.StatusInternalServerError, err.Error(), "")
	default:
		return l, true
	}
	return l, false
}

// loopList is the answer to GET /api/loops.
type loopList struct {
	Loops []Loop `json:"loops"`
	// Silent says which sources of loops of other machines do not answer, and why.
	Silent []string  `json:"silent,omitempty"`
	Write  bool      `json:"write"`        // the token may send commands
	Now    time.Time `json:"now,omitzero"` // by the clock of this machine
}

// list is that answer, without the time.
func (s *Server) list(r *http.Request) (l loopList, err error) {
	_, errs := s.distant.Loops()
	for _, err := range errs {
		l.Silent = append(l.Silent, cli.Clean(err.Error()))
	}
	l.Write = visitOf(r).write
	l.Loops, err = s.loops.all()
	return l, err
}

// getLoops answers with all loops: once, or as a stream that sends them again when they change.
func (s *Server) getLoops(w http.ResponseWriter, r *http.Request) {
	if wantsStream(r) {
		s.streamLoops(w, r)
		return
	}
	list, err := s.list(r)
	if err != nil {
		refuse(w, http.StatusInternalServerError, err.Error(), "")
		return
	}
	list.Now = s.env.Now()
	answer(w, http.StatusOK, list)
}

// getLoop answers with the state of one loop.
func (s *Server) getLoop(w http.ResponseWriter, r *http.Request) {
	if v, l, ok := s.elsewhere(r); ok {
		now, err := l.Read(r.Context(), s.env, v)
		if err != nil {
			refuseFor(w, http.StatusBadGateway, err)
			return
		}
		answer(w, http.StatusOK, s.at(now))
		return
	}
	l, ok := s.loopOf(w, r)
	if !ok {
		return
	}
	v, err := projector.Read(l.Found)
	if err != nil {
		refuse(w, http.StatusInternalServerError, err.Error(), "")
		return
	}
	answer(w, http.StatusOK, s.at(v))
}
