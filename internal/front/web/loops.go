package web

import (
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/ralph-loop/ralph/internal/front/board"
	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/front/listing"
	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/registry"
	"github.com/ralph-loop/ralph/render"
)

// Loop is a loop in the list.
type Loop struct {
	ID string `json:"id"` // its ULID
	// Parent is the id of the loop that started it, such as a fleet; empty if a person did.
	Parent string `json:"parent,omitempty"`
	// Group is "needs you", "working" or "ended".
	Group string `json:"group"`
	// State is the status in words, with what a person has to know before it: "died", "gone",
	// "pausing after iteration 3".
	State string `json:"state"`
	// Question is what the agent asks a person; empty if it asks nothing.
	Question string `json:"question,omitempty"`
	// Asked is the first question of its agent that has no answer; its text is About.
	Asked *asked `json:"asked,omitempty"`
	// About is what it asks, does, or why it ended, since when.
	About      string    `json:"about,omitempty"`
	AboutSince time.Time `json:"aboutSince,omitzero"`
	Today      *float64  `json:"today"` // what it has cost since midnight, in USD; null if it is not known
	Shown      shown     `json:"shown"`
	listing.Loop
}

// asked is a question, and the answers that the agent expects.
type asked struct {
	Number  int      `json:"number"`
	Choices []string `json:"choices"`
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
	loader *board.Loader

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
	statuses := make([]registry.Status, len(found.Loops))
	for i, l := range found.Loops {
		statuses[i] = l.Status
	}
	loops := describe(s.env, statuses)
	for i := range loops {
		l := &loops[i]
		l.Today, l.Shown.Today, l.Shown.Project = found.Loops[i].Today, listing.Cost(found.Loops[i].Today), found.Loops[i].Path
		if facts := found.Loops[i].Facts; facts != nil {
			l.About, l.AboutSince = facts.Text, facts.Since
			if facts.Question > 0 {
				l.Asked = &asked{facts.Question, append([]string{}, facts.Choices...)}
			}
		}
	}
	return loops, nil
}

// first returns the files of the first loops, and whether their facts are known.
func first(loops []board.Loop) (files []string, known bool) {
	known = true
	for _, l := range loops[:min(len(loops), mostFacts)] {
		files = append(files, l.File)
		known = known && l.Facts != nil
	}
	return files, known
}

// describe returns loops as they are in the list.
func describe(e *cli.Env, found []registry.Status) []Loop {
	loops := make([]Loop, 0, len(found))
	for i, l := range listing.JSON(e, found) {
		s := found[i]
		l.Waiting = render.Clean(l.Waiting) // an agent's words would reorder the page
		loops = append(loops, Loop{
			ID: s.ID, Parent: s.Parent, Group: listing.GroupOf(s).String(), State: stateOf(s), Question: render.Clean(listing.Question(s)), Shown: shownOf(s.Head), Loop: l,
		})
	}
	return loops
}

func shownOf(h registry.Summary) shown {
	w := shown{Cost: listing.Cost(h.Cost), Tokens: "unknown"}
	if h.Iteration > 0 {
		w.Iteration = cli.CountOf(h).Number()
	}
	if h.TokensIn != nil && h.TokensOut != nil {
		w.Tokens = units.Tokens(*h.TokensIn + *h.TokensOut)
	}
	return w
}

// stateOf is the state of a loop in words.
func stateOf(s registry.Status) string {
	switch {
	case s.Err != nil:
		return "unreadable"
	case s.Gone:
		return "gone"
	case s.Died:
		return "died"
	case s.Live.Alive:
		return cli.WithPending(s.Head.Status.String(), s.Head.Pending)
	}
	return s.Head.Status.String()
}

var (
	errNoLoop    = errors.New("there is no such loop on this machine")
	errAmbiguous = errors.New("several projects have a loop of this name")
)

// find returns the loop of an id: its ULID, or its name if that is unique on this machine.
func (s *Server) find(id string) (registry.Status, error) {
	found, err := registry.Survey(s.env.Home, func(e registry.Entry) bool { return e.ID == id || e.Name == id })
	if err != nil {
		return registry.Status{}, err
	}
	var named []registry.Status
	for _, l := range found {
		switch {
		case l.Name == "": // no entry
		case l.ID == id:
			return cli.Refreshed(l), nil
		default:
			named = append(named, l)
		}
	}
	switch len(named) {
	case 0:
		return registry.Status{}, errNoLoop
	case 1:
		return cli.Refreshed(named[0]), nil
	}
	return registry.Status{}, errAmbiguous
}

// loopOf returns the loop that a request is about, or answers it.
func (s *Server) loopOf(w http.ResponseWriter, r *http.Request) (registry.Status, bool) {
	l, err := s.find(r.PathValue("id"))
	switch {
	case errors.Is(err, errNoLoop):
		refuse(w, http.StatusNotFound, err.Error(), "GET /api/loops lists them")
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
	Loops []Loop    `json:"loops"`
	Write bool      `json:"write"` // the token may send commands
	Now   time.Time `json:"now"`   // by the clock of this machine
}

// getLoops answers with all loops: once, or as a stream that sends them again when they change.
func (s *Server) getLoops(w http.ResponseWriter, r *http.Request) {
	if wantsStream(r) {
		s.streamLoops(w, r)
		return
	}
	loops, err := s.loops.all()
	if err != nil {
		refuse(w, http.StatusInternalServerError, err.Error(), "")
		return
	}
	answer(w, http.StatusOK, loopList{loops, visitOf(r).write, s.env.Now()})
}

// getLoop answers with the state of one loop.
func (s *Server) getLoop(w http.ResponseWriter, r *http.Request) {
	l, ok := s.loopOf(w, r)
	if !ok {
		return
	}
	d, err := s.detail(l)
	if err != nil {
		refuse(w, http.StatusInternalServerError, err.Error(), "")
		return
	}
	answer(w, http.StatusOK, d)
}
