package web

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/projector"
	"github.com/ralph-loop/ralph/registry"
	"github.com/ralph-loop/ralph/render/reading"
	"github.com/ralph-loop/ralph/render/report"
)

// Reviews is the desk at which a person reviews the work of loops. It reads their repositories,
// which a front end does not.
type Reviews interface {
	List(ctx context.Context, loop registry.Status) (reading.List, error)
	Act(ctx context.Context, loop registry.Status, act reading.Act) (said string, err error)
}

// review is what there is to read of a loop, with what a page shows beside it.
type review struct {
	reading.List
	Done  bool   `json:"done"`
	Alive bool   `json:"alive"`          // the loop has a runner
	More  string `json:"more,omitempty"` // what it may use once it is resumed
	Write bool   `json:"write"`          // the token may decide
	Said  string `json:"said,omitempty"` // what became of a decision
}

// showReview shows the page on which a person goes through the work of a loop.
func (s *Server) showReview(w http.ResponseWriter, r *http.Request) {
	v := visitOf(r)
	l, err := s.find(r.PathValue("id"))
	if err != nil {
		s.page(w, http.StatusNotFound, "missing.html", pageData{Base: base(v)})
		return
	}
	s.page(w, http.StatusOK, "review.html", pageData{Base: base(v), Write: v.write, Loop: describe(l)})
}

// getReview answers with what there is to read of a loop.
func (s *Server) getReview(w http.ResponseWriter, r *http.Request) {
	if l, ok := s.reviewed(w, r); ok {
		s.answerReview(w, r, l, "")
	}
}

// postReview does what a person decided about an item.
func (s *Server) postReview(w http.ResponseWriter, r *http.Request) {
	l, ok := s.reviewed(w, r)
	if !ok {
		return
	}
	var act reading.Act
	from := json.NewDecoder(r.Body)
	from.DisallowUnknownFields()
	if err := from.Decode(&act); err != nil {
		refuse(w, http.StatusBadRequest, err.Error(), `such as {"do":"approve","item":"3f2a91c0"}`)
		return
	}
	// A browser that is closed meanwhile ends nothing.
	s.reviewing.Lock()
	said, err := s.reviews.Act(context.WithoutCancel(r.Context()), l.Found, act)
	s.reviewing.Unlock()
	if err != nil {
		hint := ""
		if refused, ok := errors.AsType[*cli.Failure](err); ok {
			hint = refused.NextStep
		}
		refuse(w, http.StatusConflict, err.Error(), hint)
		return
	}
	s.answerReview(w, r, l, said)
}

// reviewed returns the loop that is reviewed, or answers the request.
func (s *Server) reviewed(w http.ResponseWriter, r *http.Request) (*projector.View, bool) {
	if s.reviews == nil {
		refuse(w, http.StatusForbidden, "a review is up to a person, and an agent started this server", "a person runs 'ralph web'")
		return nil, false
	}
	return s.loopOf(w, r)
}

func (s *Server) answerReview(w http.ResponseWriter, r *http.Request, l *projector.View, said string) {
	list, err := s.listOf(r.Context(), l)
	var now *projector.View
	if err == nil {
		if l, err = s.find(l.ID); err == nil { // it may have been resumed
			now, err = projector.Read(l.Found)
		}
	}
	if err != nil {
		refuse(w, http.StatusInternalServerError, err.Error(), "")
		return
	}
	answer(w, http.StatusOK, review{list, list.Done(), now.Alive, now.More, visitOf(r).write, said})
}

// listOf compares the work trees of a loop, one at a time: that may take the machine a while.
func (s *Server) listOf(ctx context.Context, l *projector.View) (reading.List, error) {
	s.reviewing.Lock()
	defer s.reviewing.Unlock()
	return s.reviews.List(ctx, l.Found)
}

// facts are what is known of a loop besides its journal, for its report.
func (s *Server) facts(ctx context.Context, l *projector.View) report.Facts {
	f := report.Facts{Name: l.Name, Alive: l.Alive, Now: s.env.Now()}
	if s.reviews != nil {
		if list, err := s.listOf(ctx, l); err == nil {
			f.Reading = &list
		}
	}
	return f
}
